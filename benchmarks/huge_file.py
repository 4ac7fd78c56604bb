"""A file of 10 GB, and one that unpacks to as much: its first rows, and how soon its loading ends when stopped."""

import gzip
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.limits import Figures, best_of, peak_memory
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, Source
from cfbatch_gui.core.inputs.open_file import MOST_TRIED
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder

SIZE = 10_000_000_000
WRITTEN = 500_000_000  # bytes that are on the disk; no stop comes so late that more are read
STOPPED_AFTER = (0.3, 1.0, 2.0)  # seconds
TURNS = 3
_ROW = '{number:09},"How do I change the address on my invoice, and who is told? The settings have a page, {number}."\n'


class _Stopped(Exception):
    pass


def main(figures: Figures) -> None:
    """A file of 10 GB against one of a few rows; a stop against the work that was done before it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small.csv"
        small.write_text("id,text\n" + "".join(_ROW.format(number=number) for number in range(1_000)))
        huge, packed = _huge(folder / "huge.csv"), _packed(folder / "huge.csv.gz")
        ways: tuple[tuple[Path, str, Callable[[], object]], ...] = (
            (huge, "of a file of 1,000 rows", lambda: _open(small)),
            (packed, "the beginning unpacked by gzip", lambda: _unpack(packed)),
        )
        for path, name_of_way, way in ways:
            figures.add(path.name, path.stat().st_size / 1e9, "GB")
            ours, plain = best_of(TURNS, partial(_open, path), way)
            figures.versus("  first rows and columns", ours, name_of_way, plain, limit=10.0)
            source, mapping = _open(path)
            for after in STOPPED_AFTER:
                read, late = _stop(source, mapping, folder / "job", after)
                title = f"  stopped after {after:g} s, {read / 1e6:,.0f} MB into it"
                figures.versus(title, late, "the work until then", after, limit=0.5)
        figures.add("memory", peak_memory(), "MB", limit=300)


def _open(path: Path) -> tuple[Source, Mapping]:
    """What is known of a file once its preview is shown."""
    source = open_source(path)
    return source, suggest_mapping(source, Kind.EMBED, preview(source))


def _unpack(path: Path) -> bytes:
    """As many bytes as are unpacked to recognise the file."""
    with gzip.open(path) as file:
        return file.read(MOST_TRIED)


def _packed(path: Path) -> Path:
    """The same packed rows over and over."""
    block = "".join(_ROW.format(number=number) for number in range(500_000)).encode()
    packed = gzip.compress(block, 1)
    with path.open("wb") as file:
        file.write(gzip.compress(b"id,text\n"))
        for _ in range(SIZE // len(block)):
            file.write(packed)
    return path


def _huge(path: Path) -> Path:
    """A sparse file: rows at its beginning and at its end."""
    block = "".join(_ROW.format(number=number) for number in range(10_000)).encode()
    with path.open("wb") as file:
        file.write(b"id,text\n")
        for _ in range(WRITTEN // len(block)):
            file.write(block)
        file.seek(SIZE - len(block) - 1)
        file.write(b"\n" + block)
    return path


def _stop(source: Source, mapping: Mapping, folder: Path, seconds: float) -> tuple[int, float]:
    """How many bytes were read, and the seconds from the stop until all unfinished files were removed."""
    stop, stopped_at, reached = threading.Event(), [0.0], [0]

    def progress(position: int) -> None:
        reached[0] = position
        if stop.is_set():
            raise _Stopped

    def set_stop() -> None:
        stopped_at[0] = time.perf_counter()
        stop.set()

    timer = threading.Timer(seconds, set_stop)
    timer.start()
    try:
        fill(JobFolder(folder), source, mapping, progress=progress)
    except _Stopped:
        return reached[0], time.perf_counter() - stopped_at[0]
    finally:
        timer.cancel()
    raise AssertionError("the file was loaded before it could be stopped")
