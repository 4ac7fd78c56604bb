"""If the disk is full at the first byte, the last, or in between, DiskFull is raised and the old export is intact."""

import errno
import gc
import io
import sys
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DiskFull
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import TARGETS, Target, export
from cfbatch_gui.core.results.exports.workbooks import Sheet, workbook
from tests.core.results.folders import FAILED, Pair, Table, room_for, unit_vectors

# All targets of all kinds of jobs, so that a new target is tested, too.
CASES = [(target.kind, target) for target in TARGETS]
NAMES = [f"{kind.value}-{target.name}" for kind, target in CASES]
SHARES = (0.0, 0.4, 0.999)


def filled(path: Path, kind: Kind, count: int) -> Table:
    """Results and failed rows, so that every target has something to write."""
    table = Table(path)
    outcomes = [FAILED if row % 3 == 2 else row / count for row in range(count)]
    if kind is Kind.RANK:
        pairs = [Pair(f"query {row % 9}", f"text {row}", each, label="1") for row, each in enumerate(outcomes)]
        return table.rank(pairs)
    return table.embed([("", f"text {row}", each) for row, each in enumerate(outcomes)], unit_vectors(count, 8))


def content(folder: Path) -> dict[str, bytes]:
    """The content of all files except the manifest, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "manifest" not in path.name
    }


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX")
@pytest.mark.parametrize(("kind", "target"), CASES, ids=NAMES)
def test_a_disk_that_is_full_at_any_byte(tmp_path: Path, kind: Kind, target: Target) -> None:
    out = tmp_path / "out"
    out.mkdir()
    path = out / (target.suffixes[0].removeprefix(".") if target.suffixes else "folder")
    older = filled(tmp_path / "older", kind, 40)
    export(older.folder, older.metadata(kind), path, target)
    before = content(out)
    table = filled(tmp_path / "newer", kind, 250)
    exported = export(table.folder, table.metadata(kind), tmp_path / path.name, target)
    largest = max(found.stat().st_size for found in exported.files)
    for share in SHARES:
        with room_for(int(largest * share)), pytest.raises(DiskFull) as caught:
            export(table.folder, table.metadata(kind), path, target)
        assert caught.value.message.startswith("The disk is full")
        assert content(out) == before
    export(table.folder, table.metadata(kind), path, target)
    assert content(out) != before


class FullFile(io.BytesIO):
    """A file on a full disk: writing raises ENOSPC."""

    def write(self, _data: object, /) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_workbook_that_could_not_be_written_leaves_nothing_that_complains_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    stream = FullFile()
    with pytest.raises(OSError, match="No space left"), workbook(stream) as book:
        Sheet(book, "Ranking", ("id",)).add(["one"])
    stream.close()
    gc.collect()
    assert complaints == []
