"""After any failure of an export, one error is raised, the old file or folder is intact, and nothing else remains."""

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import DiskFull, ExportError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState
from cfbatch_gui.core.results.exports import TARGETS, ExportOptions, Target, export, target_for
from cfbatch_gui.core.results.exports.writing import manifest_path
from cfbatch_gui.core.system.files import atomic_folder
from cfbatch_gui.core.workers_ai import limits
from tests.core.results.folders import FAILED, WAITING, Outcome, Pair, Table, room_for, unit_vectors
from tests.core.results.test_exports_csv import manifest
from tests.support.sentences import refuses


def each_target(has: Callable[[Target], bool]) -> pytest.MarkDecorator:
    """A test for each target that has something, of all kinds of jobs, so that a new target is tested too."""
    targets = [target for target in TARGETS if has(target)]
    return pytest.mark.parametrize("target", targets, ids=lambda target: f"{target.kind.value}-{target.name}")


with_results = each_target(lambda target: target.needs_results)


ROWS = 1_000


def filled(path: Path, kind: Kind, count: int = ROWS, *, fails: int = 0) -> Table:
    """With `fails`, one row in so many has failed, so that every target has something to write."""
    table = Table(path)
    outcomes = [FAILED if fails and row % fails == fails - 1 else row / count for row in range(count)]
    if kind is Kind.RANK:
        return table.rank(
            [Pair(f"query {row % 50}", f"text {row}", each, label=str(row % 3)) for row, each in enumerate(outcomes)]
        )
    return table.embed([("", f"text {row}", each) for row, each in enumerate(outcomes)], unit_vectors(count, 8))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[Kind, Table]:
    """A job of each kind with many results; an export only reads it."""
    return {kind: filled(tmp_path_factory.mktemp("jobs") / "job", kind) for kind in Kind}


def content(folder: Path) -> dict[str, bytes]:
    """The content of all files except the manifest, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "manifest" not in path.name
    }


def out(folder: Path, target: Target) -> Path:
    return folder / (f"out{target.suffixes[0]}" if target.suffixes else "out")


@with_results
def test_progress_goes_up_to_the_end(tmp_path: Path, tables: dict[Kind, Table], target: Target) -> None:
    table = tables[target.kind]
    steps: list[tuple[int, int]] = []
    table.export(out(tmp_path, target), target, progress=lambda done, total: steps.append((done, total)))
    assert steps == sorted(steps)
    assert steps[-1] == (ROWS, ROWS)
    assert {total for _, total in steps} == {ROWS}


class Cancelled(Exception):
    pass


@with_results
def test_a_cancel_leaves_everything_as_it_was(tmp_path: Path, tables: dict[Kind, Table], target: Target) -> None:
    table, small = tables[target.kind], filled(tmp_path / "small", target.kind, 20)
    small.export(out(tmp_path, target), target)
    before = content(tmp_path)

    def stop(done: int, total: int) -> None:
        raise Cancelled

    for folder in (tmp_path, tmp_path / "small"):
        with pytest.raises(Cancelled):
            table.export(out(folder, target), target, progress=stop)
    assert content(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "kind", "form", "expected"),
    [
        ("a.csv", Kind.RANK, "", "csv"),
        ("a.txt", Kind.RANK, "csv-excel", "csv-excel"),
        ("a.ndjson", Kind.EMBED, "", "jsonl"),
        ("a.npy", Kind.EMBED, "NPY", "npy"),
        *(("a.npy", Kind.RANK, "", ""), ("a", Kind.RANK, "", ""), ("a.csv", Kind.RANK, "npz", "")),
    ],
)
def test_the_form_follows_the_suffix_or_the_name(name: str, kind: Kind, form: str, expected: str) -> None:
    if expected:
        assert target_for(Path(name), kind, form).name == expected
        return
    with refuses(UsageError, "name_is_no_form_results_choose"):
        target_for(Path(name), kind, form)


NAN = np.array([[0, 1], [np.nan, 0]], np.float32)
TWICE, ONE_VECTOR = [("a", "one", 1.0), ("a", "two", 1.0)], [("a\nb", "text", 1.0)]
REFUSED: list[tuple[str, Callable[[Table], Table], str]] = [
    ("csv", lambda table: table.rank([Pair("q", "a", WAITING)]), "there_is_nothing_write_yet_no"),
    ("failed", lambda table: table.rank([Pair("q", "a", 0.5)]), "no_row_failed_there_is_nothing"),
    ("qrels", lambda table: table.rank([Pair("q", "a", 0.5)]), "reason_nothing_was_written"),
    ("qrels", lambda table: table.rank([Pair("q", "a", 0.5, label="0.5")]), "reason_nothing_was_written"),
    ("vectorize", lambda table: table.embed(TWICE, unit_vectors(2, 4)), "id_identifier_comes_twice_again_row"),
    ("llm", lambda table: table.embed(TWICE, unit_vectors(2, 4)), "id_comes_twice_collection_keeps_one"),
    ("npy", lambda table: table.embed(ONE_VECTOR, unit_vectors(1, 4)), "id_row_row_line_break_name"),
    ("xlsx", lambda table: table.embed(ONE_VECTOR, unit_vectors(1, 16_384)), "excel_takes_most_columns_these_are"),
    *(
        (form, lambda table: table.embed(TWICE, NAN), "vector_row_row_holds_value_is")
        for form in ("csv", "npy", "npz", "jsonl")
    ),
]


@pytest.mark.parametrize(("form", "fill", "code"), REFUSED)
def test_what_cannot_be_written_is_said_and_leaves_nothing(
    tmp_path: Path, form: str, fill: Callable[[Table], Table], code: str
) -> None:
    table = fill(Table(tmp_path / "job"))
    with refuses(ExportError, code):
        table.export(tmp_path / "out", form, options=ExportOptions(has_numbers=True))
    assert [entry.name for entry in tmp_path.iterdir()] == ["job"]


def test_a_target_of_the_other_kind_is_refused(tmp_path: Path) -> None:
    table = filled(tmp_path / "job", Kind.RANK, 3)
    with refuses(UsageError, "format_is_results_job_none_choose"):
        table.export(tmp_path / "out.npy", next(target for target in TARGETS if target.name == "npy"))


SHARES = (0.0, 0.4, 0.999)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX")
@each_target(lambda _: True)
def test_a_disk_that_is_full_at_any_byte(tmp_path: Path, target: Target) -> None:
    out = tmp_path / "out"
    out.mkdir()
    path = out / (target.suffixes[0].removeprefix(".") if target.suffixes else "folder")
    older = filled(tmp_path / "older", target.kind, 40, fails=3)
    older.export(path, target)
    before = content(out)
    table = filled(tmp_path / "newer", target.kind, 250, fails=3)
    exported = table.export(tmp_path / path.name, target)
    largest = max(found.stat().st_size for found in exported.files)
    for share in SHARES:
        with room_for(int(largest * share)), pytest.raises(DiskFull):
            table.export(path, target)
        assert content(out) == before
    table.export(path, target)
    assert content(out) != before


@pytest.fixture
def ten(tmp_path: Path) -> Table:
    return Table(tmp_path / "job").rank([Pair("query", f"text {row}", row / 10) for row in range(10)])


def with_old(tmp_path: Path) -> Path:
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    manifest_path(path).write_bytes(b"old manifest")
    return path


def test_the_old_file_stays_when_its_manifest_cannot_be_removed(
    tmp_path: Path, ten: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, unlink = with_old(tmp_path), Path.unlink

    def refuse(self: Path, missing_ok: bool = False) -> None:
        if self == manifest_path(path):
            raise PermissionError(13, "in use", str(self))
        unlink(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    with refuses(ExportError, "name_could_not_be_written_reason"):
        ten.export(path)
    assert path.read_bytes() == b"old" and manifest_path(path).read_bytes() == b"old manifest"
    assert not list(tmp_path.glob(".*"))


with_folders = each_target(lambda target: target.is_folder)


@with_folders
def test_an_older_export_is_replaced_whole(tmp_path: Path, target: Target) -> None:
    big, small = filled(tmp_path / "big", target.kind, 600), filled(tmp_path / "small", target.kind, 20)
    path = tmp_path / "out"
    path.mkdir()
    big.export(path, target)
    exported = small.export(path, target)
    fresh = small.export(tmp_path / "fresh", target)
    found, expected = content(path), content(tmp_path / "fresh")
    assert found.keys() == expected.keys() == {file.relative_to(path).as_posix() for file in exported.files}
    assert found == expected
    assert exported.rows == fresh.rows
    said = manifest(path)["export"]
    assert sorted(said["files"]) == sorted(found)


@with_folders
def test_other_things_are_never_touched(tmp_path: Path, target: Target) -> None:
    table = filled(tmp_path / "job", target.kind, 20)
    path = tmp_path / "out"
    (path / "photos").mkdir(parents=True)
    (path / "photos" / "me.jpg").write_bytes(b"me")
    with refuses(ExportError, "folder_name_holds_other_things_would"):
        table.export(path, target)
    assert content(path) == {"photos/me.jpg": b"me"}
    (tmp_path / "file").write_bytes(b"old")
    with refuses(ExportError, "name_is_file_format_writes_folder"):
        table.export(tmp_path / "file", target)
    with refuses(ExportError, "name_could_not_be_written_reason"):
        table.export(tmp_path / "nowhere" / "out", target)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
def test_a_folder_through_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with atomic_folder(tmp_path / "link", lambda _name: True) as folder:
        (folder / "a").write_bytes(b"a")
    assert (tmp_path / "link").is_symlink()
    assert content(tmp_path / "real") == {"a": b"a"}


def test_vectorize_gets_files_that_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_UPLOAD_VECTORS", 3)
    monkeypatch.setattr(limits, "MAX_UPLOAD_BYTES", 9_400)
    texts: list[tuple[str, str, Outcome]] = [(str(index), "short", 1.0) for index in range(7)]
    texts += [("long" * 30, "text", 1.0), ("a", "x" * 9_000, 1.0), ("b", "x" * 9_000, 1.0), ("c", "x" * 11_000, 1.0)]
    table = Table(tmp_path / "job").embed(texts, unit_vectors(11, 4))
    exported = table.export(tmp_path / "out", "vectorize")
    lines = [[json.loads(line) for line in file.read_text("utf-8").splitlines()] for file in exported.files]
    assert [file.name for file in exported.files] == [f"vectors-000{number}.ndjson" for number in range(1, 6)]
    assert [len(found) for found in lines] == [3, 3, 2, 1, 2]
    found = {line["id"]: line["metadata"] for each in lines for line in each}
    (replaced,) = [metadata for name, metadata in found.items() if len(name) == 64]
    assert replaced == {"original_id": "long" * 30, "text": "text"}
    assert found["c"] == {}
    said = manifest(tmp_path / "out")["export"]
    assert (said["ids_replaced_by_their_sha256"], said["texts_too_long_for_metadata"]) == (1, 1)
    assert len(exported.next_command.splitlines()) == 6


def test_failed_rows_come_as_they_were(mixed: Table, tmp_path: Path) -> None:
    path = tmp_path / "mend.csv"
    exported = mixed.export(path, "failed")
    assert path.read_text("utf-8-sig") == (
        "question,article,number,stars,rank,Row,Reason\n"
        "how do I reset,fourth,E,,e,6,The service could not do this one.\n"
        "how do I reset,fifth,F,,f,7,The text is longer than the model reads.\n"
        "lonely,,I,,i,10,There is no text in “article”.\n"
    )
    assert exported.rows == 3


def test_failed_rows_of_a_job_that_failed_altogether(tmp_path: Path) -> None:
    table = Table(tmp_path / "job", kept=("Reason", "Row")).embed(
        [("a", "=1+1", WAITING), ("b", "two", FAILED)], None, kept=[("x", "y"), ("z", "")]
    )
    first, *others = table.job().batches
    first = replace(first, state=BatchState.FAILED, error="The service refused the batch.")
    path = tmp_path / "mend.csv"
    job = replace(table.job(), batches=(first, *others))
    export(table.folder, job, path, target_for(path, Kind.EMBED, "failed"))
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["key", "text", "Reason", "Row", "Row_", "Reason_"],
        ["a", "'=1+1", "x", "y", "2", "The service refused the batch."],
        ["b", "two", "z", "", "3", "The service could not do this one."],
    ]


def test_parquet_without_its_part_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arro3.io", None)
    table = filled(tmp_path / "job", Kind.EMBED, 3)
    with refuses(ExportError, "parquet_needs_part_program_is_not"):
        table.export(tmp_path / "out.parquet")
    assert [entry.name for entry in tmp_path.iterdir()] == ["job"]
