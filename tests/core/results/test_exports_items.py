"""Only what was chosen is written, whatever the form."""

import json
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import TARGETS, ExportOptions, Measure, Target, export
from tests.core.results.folders import Pair, Table

CHOSEN = ExportOptions(items=frozenset({2, 3}))
_WHOLE = ("qrels", "qrels-beir", "beir")  # judgements, and a collection, which are no rows


def forms(kind: Kind) -> list[Target]:
    return [each for each in TARGETS if each.kind is kind and each.measure is not Measure.FAILED_ROWS]


_OF_ROWS = [each for each in forms(Kind.RANK) if each.name not in _WHOLE]


@pytest.mark.parametrize("target", _OF_ROWS, ids=lambda each: each.name)
def test_only_the_chosen_contexts_are_written(mixed: Table, tmp_path: Path, target: Target) -> None:
    path = tmp_path / f"out{target.suffixes[0]}"
    exported = export(mixed.folder, mixed.metadata(), path, target, options=CHOSEN)
    written = path.read_bytes()
    is_beside = exported.manifest.parent == tmp_path
    assert is_beside is not target.is_for_people, "beside a file for people there is nothing else"
    assert json.loads(exported.manifest.read_bytes())["export"]["chosen"] == 2
    if target.name != "xlsx" and target.name != "parquet":
        assert b"third" not in written and b"lonely" not in written
    if target.measure is Measure.SCORES or target.name in ("csv", "csv-excel", "xlsx", "parquet"):
        assert exported.rows == 2


def test_the_chosen_rows_of_a_workbook(mixed: Table, tmp_path: Path) -> None:
    export(mixed.folder, mixed.metadata(), tmp_path / "out.xlsx", options=CHOSEN)
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert book.sheetnames == ["Ranking", "Per query", "About"], "no row is without a score"
    assert [row[4] for row in book["Ranking"].iter_rows(min_row=2, values_only=True)] == ["B", "C"]


@pytest.mark.parametrize("target", forms(Kind.EMBED), ids=lambda each: each.name)
def test_only_the_chosen_texts_are_written(table: Table, tmp_path: Path, target: Target) -> None:
    texts = [(str(number), text, 1.0) for number, text in enumerate(("first", "second", "third", "fourth"))]
    table.embed(texts, np.eye(4, 8, dtype=np.float32), [("k",)] * 4)
    path = tmp_path / (f"out{target.suffixes[0]}" if target.suffixes else "out")
    exported = export(table.folder, table.metadata(Kind.EMBED), path, target, options=CHOSEN)
    assert exported.rows == 2
    if target.name in ("csv", "jsonl", "openai"):
        text = path.read_text("utf-8")
        assert "first" not in text and "fourth" not in text
    if target.name == "npy":
        assert np.array_equal(np.load(path), np.eye(4, 8, dtype=np.float32)[1:3])


def test_a_workbook_leaves_out_what_is_empty_throughout(tmp_path: Path) -> None:
    table = Table(tmp_path / "job", kept=("shelf", "colour"))
    table.rank([Pair("q", "a", 0.5, kept=("", "red")), Pair("q", "b", 0.25, kept=("", ""))])
    export(table.folder, table.metadata(), tmp_path / "out.xlsx")
    header = next(openpyxl.load_workbook(tmp_path / "out.xlsx")["Ranking"].iter_rows(values_only=True))
    assert "shelf" not in header and "colour" in header and "ID" not in header
