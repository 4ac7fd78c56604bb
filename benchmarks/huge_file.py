"""A file of 10 GB, and one that unpacks to as much: how soon its first rows are there, and how soon its loading ends
when it is stopped."""

import gzip
import sys
import tempfile
import threading
import time
from pathlib import Path

from cfbatch_gui.core.inputs.columns.layouts import suggest_mapping
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, Source
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder

SIZE = 10_000_000_000
WRITTEN = 500_000_000  # bytes that are really on the disk; what is loaded until it is stopped is less
STOPPED_AFTER = (0.3, 1.0, 2.0)  # seconds
_ROW = '{number:09},"How do I change the address on my invoice, and who is told? The settings have a page, {number}."\n'


class _Stopped(Exception):
    pass


def main() -> None:
    """Print seconds."""
    written = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else WRITTEN
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in (_huge(folder / "huge.csv", written), _packed(folder / "huge.csv.gz")):
            print(f"{path.name}, {path.stat().st_size / 1e9:.1f} GB")
            start = time.perf_counter()
            source = open_source(path)
            rows = preview(source)
            mapping = suggest_mapping(source, Kind.EMBED, rows)
            print(f"preview    {time.perf_counter() - start:6.3f} s for {len(rows)} rows of {source.size / 1e9:.1f} GB")
            for seconds in STOPPED_AFTER:
                read, late = _stop(source, mapping, folder / "job", seconds)
                print(f"stopped    {late:6.3f} s after the word, {read / 1e6:,.0f} MB into the file")


def _packed(path: Path) -> Path:
    """The same rows over and over, packed once."""
    block = "".join(_ROW.format(number=number) for number in range(500_000)).encode()
    packed = gzip.compress(block, 1)
    with path.open("wb") as file:
        file.write(gzip.compress(b"id,text\n"))
        for _ in range(SIZE // len(block)):
            file.write(packed)
    return path


def _huge(path: Path, written: int) -> Path:
    """Rows at the beginning and at the end, and a hole between them that takes no room on the disk."""
    block = "".join(_ROW.format(number=number) for number in range(10_000)).encode()
    with path.open("wb") as file:
        file.write(b"id,text\n")
        for _ in range(written // len(block)):
            file.write(block)
        file.seek(SIZE - len(block) - 1)
        file.write(b"\n" + block)
    return path


def _stop(source: Source, mapping: Mapping, folder: Path, seconds: float) -> tuple[int, float]:
    """How far it came, and how long after the word to stop everything was over, unfinished files removed."""
    word, told, reached = threading.Event(), [0.0], [0]

    def progress(position: int) -> None:
        reached[0] = position
        if word.is_set():
            raise _Stopped

    def tell() -> None:
        told[0] = time.perf_counter()
        word.set()

    timer = threading.Timer(seconds, tell)
    timer.start()
    try:
        fill(JobFolder(folder), source, mapping, progress=progress)
    except _Stopped:
        return reached[0], time.perf_counter() - told[0]
    finally:
        timer.cancel()
    raise AssertionError("the file was loaded before it could be stopped")


if __name__ == "__main__":
    main()
