"""Exports to folders, and the export of failed rows."""

import csv
import json
import sys
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import ExportOptions, Target, export, target_for, targets_for, vector_files
from cfbatch_gui.core.system.files import atomic_folder
from tests.core.results.folders import FAILED, WAITING, Outcome, Pair, Table, unit_vectors
from tests.core.results.test_exports_csv import manifest
from tests.core.results.test_exports_writing import content, filled

CASES = [(kind, target) for kind in Kind for target in targets_for(kind) if target.is_folder]
NAMES = [target.name for _, target in CASES]


@pytest.mark.parametrize(("kind", "target"), CASES, ids=NAMES)
def test_an_older_export_is_replaced_whole(tmp_path: Path, kind: Kind, target: Target) -> None:
    big, small = filled(tmp_path / "big", kind, 600), filled(tmp_path / "small", kind, 20)
    path = tmp_path / "out"
    path.mkdir()
    export(big.folder, big.metadata(kind), path, target)
    exported = export(small.folder, small.metadata(kind), path, target)
    fresh = export(small.folder, small.metadata(kind), tmp_path / "fresh", target)
    found, expected = content(path), content(tmp_path / "fresh")
    assert found.keys() == expected.keys() == {file.relative_to(path).as_posix() for file in exported.files}
    assert found == expected
    assert exported.rows == fresh.rows
    said = manifest(path)["export"]
    assert isinstance(said, dict)
    assert sorted(said["files"]) == sorted(found)


@pytest.mark.parametrize(("kind", "target"), CASES, ids=NAMES)
def test_other_things_are_never_touched(tmp_path: Path, kind: Kind, target: Target) -> None:
    table = filled(tmp_path / "job", kind, 20)
    path = tmp_path / "out"
    (path / "photos").mkdir(parents=True)
    (path / "photos" / "me.jpg").write_bytes(b"me")
    with pytest.raises(ExportError, match="holds other things"):
        export(table.folder, table.metadata(kind), path, target)
    assert content(path) == {"photos/me.jpg": b"me"}
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(ExportError, match="is a file"):
        export(table.folder, table.metadata(kind), tmp_path / "file", target)
    with pytest.raises(ExportError, match="folder does not exist"):
        export(table.folder, table.metadata(kind), tmp_path / "nowhere" / "out", target)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
def test_a_folder_through_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with atomic_folder(tmp_path / "link", lambda _name: True) as folder:
        (folder / "a").write_bytes(b"a")
    assert (tmp_path / "link").is_symlink()
    assert content(tmp_path / "real") == {"a": b"a"}


def test_vectorize_gets_files_that_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_files, "MAX_UPLOAD_VECTORS", 3)
    monkeypatch.setattr(vector_files, "MAX_UPLOAD_BYTES", 9_400)
    texts: list[tuple[str, str, Outcome]] = [(str(index), "short", 1.0) for index in range(7)]
    texts += [("long" * 30, "text", 1.0), ("a", "x" * 9_000, 1.0), ("b", "x" * 9_000, 1.0), ("c", "x" * 11_000, 1.0)]
    table = Table(tmp_path / "job").embed(texts, unit_vectors(11, 4))
    exported = export(
        table.folder, table.metadata(Kind.EMBED), tmp_path / "out", target_for(tmp_path, Kind.EMBED, "vectorize")
    )
    lines = [[json.loads(line) for line in file.read_text("utf-8").splitlines()] for file in exported.files]
    assert [file.name for file in exported.files] == [f"vectors-000{number}.ndjson" for number in range(1, 6)]
    assert [len(found) for found in lines] == [3, 3, 2, 1, 2]
    found = {line["id"]: line["metadata"] for each in lines for line in each}
    (replaced,) = [metadata for name, metadata in found.items() if len(name) == 64]
    assert replaced == {"original_id": "long" * 30, "text": "text"}
    assert found["c"] == {}
    said = manifest(tmp_path / "out")["export"]
    assert isinstance(said, dict)
    assert (said["ids_replaced_by_their_sha256"], said["texts_too_long_for_metadata"]) == (1, 1)
    assert len(exported.next_command.splitlines()) == 6


@pytest.mark.parametrize("form", ["vectorize", "llm"])
def test_an_id_that_comes_twice_is_refused(tmp_path: Path, form: str) -> None:
    table = Table(tmp_path / "job").embed([("a", "one", 1.0), ("a", "two", 1.0)], unit_vectors(2, 4))
    with pytest.raises(ExportError, match="comes twice"):
        export(table.folder, table.metadata(Kind.EMBED), tmp_path / "out", target_for(tmp_path, Kind.EMBED, form))
    assert [entry.name for entry in tmp_path.iterdir()] == ["job"]


def test_failed_rows_come_as_they_were(mixed: Table, tmp_path: Path) -> None:
    path = tmp_path / "mend.csv"
    exported = export(mixed.folder, mixed.metadata(), path, target_for(path, Kind.RANK, "failed"))
    assert path.read_text("utf-8-sig") == (
        "question,article,number,stars,rank,row_number,reason\n"
        "how do I reset,fourth,E,,e,6,The service could not do this one.\n"
        "how do I reset,fifth,F,,f,7,The text is longer than the model reads.\n"
        "lonely,,I,,i,10,There is no text in “article”.\n"
    )
    assert exported.rows == 3


def test_failed_rows_of_a_job_that_failed_altogether(tmp_path: Path) -> None:
    table = Table(tmp_path / "job", kept=("reason", "row_number")).embed(
        [("a", "=1+1", WAITING), ("b", "two", FAILED)], None, kept=[("x", "y"), ("z", "")]
    )
    metadata = table.metadata(Kind.EMBED)
    metadata.failed_batches[1] = "The service refused the batch."
    path = tmp_path / "mend.csv"
    export(table.folder, metadata, path, target_for(path, Kind.EMBED, "failed"))
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["key", "text", "reason", "row_number", "row_number_", "reason_"],
        ["a", "'=1+1", "x", "y", "2", "The service refused the batch."],
        ["b", "two", "z", "", "3", "The service could not do this one."],
    ]


def test_nothing_to_mend_and_nothing_to_judge_is_said(tmp_path: Path) -> None:
    table = Table(tmp_path / "job").rank([Pair("q", "a", 0.5)])
    for form, sentence in (("failed", "No row failed"), ("qrels", "no labels")):
        with pytest.raises(ExportError, match=sentence):
            export(table.folder, table.metadata(), tmp_path / "out", target_for(tmp_path, Kind.RANK, form))
    half = Table(tmp_path / "half").rank([Pair("q", "a", 0.5, label="0.5")])
    with pytest.raises(ExportError, match=r"The label of row 2 is “0\.5”"):
        export(half.folder, half.metadata(), tmp_path / "out", target_for(tmp_path, Kind.RANK, "qrels"))


def test_parquet_without_its_part_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arro3.io", None)
    table = filled(tmp_path / "job", Kind.EMBED, 3)
    with pytest.raises(ExportError, match="pip install"):
        export(table.folder, table.metadata(Kind.EMBED), tmp_path / "out.parquet")
    assert [entry.name for entry in tmp_path.iterdir()] == ["job"]


def test_excel_refuses_vectors_that_do_not_fit(tmp_path: Path) -> None:
    table = Table(tmp_path / "job").embed([("a", "one", 1.0)], unit_vectors(1, 16_383))
    with pytest.raises(ExportError, match="16,384 columns"):
        metadata, options = table.metadata(Kind.EMBED), ExportOptions(has_numbers=True)
        export(table.folder, metadata, tmp_path / "out.xlsx", options=options)
