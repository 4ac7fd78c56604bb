"""Excel, JSON Lines and NumPy files, read by independent libraries."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pytest
import python_calamine
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import ExportOptions, export
from cfbatch_gui.core.results.exports import excel as excel_target
from tests.core.results.folders import NASTY, THERE, Pair, Table, unit_vectors
from tests.core.results.test_exports_csv import manifest


def test_excel_has_four_sheets_of_plain_cells(mixed: Table, tmp_path: Path) -> None:
    path = tmp_path / "ranked.xlsx"
    exported = export(mixed.folder, mixed.metadata(), path)
    assert (exported.rows, exported.format) == (9, "xlsx")
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Ranking", "Problems", "Per query", "About"]
    header, *rows = book["Ranking"].iter_rows(values_only=True)
    assert (header[0], header[1:3], header[4:]) == (
        "question",
        ("Rank (CF Batch)", "Score"),
        ("number", "stars", "rank"),
    )
    assert [(row[1], row[4], row[3], row[2]) for row in rows] == [
        (1, "B", "second", 0.5),
        (2, "D", "third\nline", 0.25),
        (2, "007", "first", 0.25),
        (4, "H", "seventh", 0.125),
        (1, "C", "メール", 0.125),
    ]
    assert [row[6] for row in rows] == ["=1+1", "-3", "x", "h", None]
    assert all(cell.data_type != "f" for row in book["Ranking"].iter_rows() for cell in row)
    problems = list(book["Problems"].iter_rows(values_only=True))
    assert problems[0][-1] == "Reason" and len(problems) == 5
    for sheet in book:
        assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref.startswith("A1:")
    per_query = list(book["Per query"].iter_rows(min_row=2, values_only=True))
    assert per_query == [("how do I reset", 7, 4, 0.5, 0.25), ("パスワードを忘れた", 1, 1, 0.125, None)]
    about = list(book["About"].iter_rows(min_row=2, values_only=True))
    metadata = dict(about)
    assert metadata["Model"] == "@cf/baai/bge-m3"
    assert (metadata["Texts with a score"], metadata["Not back yet"]) == ("5", "1")
    assert "request-1" not in metadata.values(), "that is for programs, and in the manifest"


def test_excel_keeps_every_text_and_every_double(table: Table, tmp_path: Path) -> None:
    scores = np.random.default_rng(3).random(len(NASTY)).tolist()
    table.rank([Pair("q", text, score, id=text, kept=(text,)) for text, score in zip(NASTY, scores, strict=True)])
    path = tmp_path / "nasty.xlsx"
    export(table.folder, table.metadata(), path)
    rows = python_calamine.load_workbook(path).get_sheet_by_name("Ranking").to_python()[1:]
    found = {row[4]: row for row in rows}
    for text, score in zip(NASTY, scores, strict=True):
        assert found[text][3] == text
        assert found[text][5] == text
        assert found[text][2] == score


def test_excel_refuses_what_it_cannot_hold(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table.rank([Pair("q", "😀" * 16_384, 0.5, kept=("",)), Pair("q", "b", 0.25, kept=("",))])
    path = tmp_path / "long.xlsx"
    path.write_bytes(b"old")
    with pytest.raises(ExportError, match="32,767 characters a cell"):
        export(table.folder, table.metadata(), path)
    with table.folder.open() as database:
        database.execute("UPDATE texts SET text = ? WHERE text_no = 1", ("😀" * 16_383,))
    monkeypatch.setattr(excel_target, "MOST_ROWS", 2)
    with pytest.raises(ExportError, match="needs more"):
        export(table.folder, table.metadata(), path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["job", "long.xlsx"]
    assert path.read_bytes() == b"old"
    monkeypatch.undo()
    assert export(table.folder, table.metadata(), path).counts.is_complete


def test_json_lines_of_rankings(mixed: Table, tmp_path: Path) -> None:
    path = tmp_path / "ranked.jsonl"
    exported = export(mixed.folder, mixed.metadata(), path, options=ExportOptions(top_k=2))
    first, second = (json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1])
    assert exported.rows == 2
    assert (first["query"], second["query"]) == ("how do I reset", "パスワードを忘れた")
    assert [(context["rank"], context["doc_id"]) for context in first["contexts"]] == [
        (1, "B"), (2, "D"), (2, "007"), (None, "E"), (None, "F"), (None, "G"),
    ]  # fmt: skip
    assert first["contexts"][2] == {
        "rank": 2, "doc_id": "007", "text": "first", "score": 0.25, "tie_group": 1, "initial_rank": 1,
        "rank_change": -1, "label": "1", "external_reference": "reference-1", "request_id": "request-1",
        "status": "done", "error": "", "columns": {"rank": "x"},
    }  # fmt: skip


def in_lines(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    found = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    assert [line["text"] for line in found] == [line["columns"]["dim_3"] for line in found]
    assert [line["text"] for line in found] == [NASTY[index] for index in THERE]
    return [line["id"] for line in found], np.array([line["embedding"] for line in found], dtype=np.float32)


def in_an_array(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    return path.with_suffix(".ids.txt").read_text("utf-8").split("\n")[:-1], np.load(path, allow_pickle=False)


def in_an_archive(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    with np.load(path, allow_pickle=False) as found:
        assert sorted(found.files) == ["ids", "vectors"]
        return found["ids"].tolist(), found["vectors"]


@pytest.mark.parametrize(("suffix", "read"), [(".jsonl", in_lines), (".npy", in_an_array), (".npz", in_an_archive)])
def test_vectors_and_their_ids_bit_for_bit(
    embedded: Table, tmp_path: Path, suffix: str, read: Callable[[Path], tuple[list[str], NDArray[np.float32]]]
) -> None:
    path = tmp_path / f"vectors{suffix}"
    exported = export(embedded.folder, embedded.metadata(Kind.EMBED), path)
    ids, vectors = read(path)
    assert ids == [f"id {index} 東" for index in THERE]
    assert (vectors.dtype.str, vectors.flags.c_contiguous) == ("<f4", True)
    assert vectors.tobytes() == unit_vectors(len(NASTY), 16)[THERE].tobytes()
    assert (exported.rows, exported.counts.is_complete, exported.files[0]) == (len(THERE), False, path)


def test_npy_refuses_an_id_of_two_lines(tmp_path: Path) -> None:
    table = Table(tmp_path / "job").embed([("a\nb", "text", 1.0)], unit_vectors(1, 4))
    with pytest.raises(ExportError, match="one id a line"):
        export(table.folder, table.metadata(Kind.EMBED), tmp_path / "vectors.npy")
    assert [entry.name for entry in tmp_path.iterdir()] == ["job"]
    export(table.folder, table.metadata(Kind.EMBED), tmp_path / "vectors.npz")
    assert np.load(tmp_path / "vectors.npz")["ids"].tolist() == ["a\nb"]


def test_a_vector_with_a_nan_is_never_written(tmp_path: Path) -> None:
    vectors = unit_vectors(3, 4)
    vectors[1, 2] = np.nan
    table = Table(tmp_path / "job").embed([("", "text", 1.0)] * 3, vectors)
    for name in ("a.csv", "a.npy", "a.npz", "a.jsonl"):
        with pytest.raises(ExportError, match="row 3"):
            export(table.folder, table.metadata(Kind.EMBED), tmp_path / name)
    assert [entry.name for entry in tmp_path.iterdir()] == ["job"]


def test_the_manifest_says_where_it_came_from(embedded: Table, tmp_path: Path) -> None:
    path = tmp_path / "vectors.npy"
    export(embedded.folder, embedded.metadata(Kind.EMBED), path, clock=lambda: 1_800_000_000.0)
    said = manifest(path)
    assert said["program"] == "CF Batch 0.1.0"
    assert said["written_at"] == "2027-01-15T08:00:00Z"
    assert said["rows"] == {
        "in": len(NASTY), "items": len(NASTY), "done": len(NASTY) - 2, "failed": 1, "waiting": 1, "left_out": 0,
        "skipped": 0, "doubtful_sent": 0,
    }  # fmt: skip
    assert said["source"] == {
        "name": "articles.csv",
        "sha256": "ab" * 32,
        "columns": {"file 1": {"key": "id", "text": "text", "dim_3": "keep", "id": "keep"}},
    }
    job = said["job"]
    assert isinstance(job, dict)
    assert job["request_ids"] == ["request-1", "request-2"]
    assert job["truncate_inputs"] is True
    wanted = {"format": "npy", "dimension": 16, "dtype": "float32", "rows": len(THERE), "complete": False}
    assert isinstance(said["export"], dict)
    assert wanted.items() <= said["export"].items()
