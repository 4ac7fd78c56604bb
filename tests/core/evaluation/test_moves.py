"""The moves of texts between two rankings, and their CSV files."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.evaluation.comparison import Comparison, compare, query_moves, summary
from cfbatch_gui.core.evaluation.comparison_files import write_queries, write_texts
from cfbatch_gui.core.results.exports import ExportOptions, Preset
from tests.core.evaluation.runs import run_of, scored
from tests.core.results.folders import Pair

BASE = [
    Pair("reset", "first", 0.9, id="007", label="1"),
    Pair("reset", "=1+1", 0.5, id="B"),
    Pair("reset", "third\nline", 0.1, id="C"),
    Pair("refund", "fourth", 0.4, id="D"),
    Pair("refund", "fifth", 0.3, id="E"),
]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def compared(tmp_path: Path) -> Comparison:
    turned = scored(BASE, 0.1, 0.5, 0.9, 0.4, 0.3)
    runs = (BASE, turned, list(reversed(BASE)))
    return compare([run_of(tmp_path, pairs, f"job-{number}") for number, pairs in enumerate(runs)])


def test_each_query_and_all_of_them(compared: Comparison) -> None:
    moves = query_moves(compared, 1, top_k=2)
    reset, refund = moves
    assert (len(moves), moves[1]) == (2, refund)
    assert (reset.contexts, reset.first_kept, reset.largest_change) == (3, False, 2)
    assert reset.mean_change == pytest.approx(4 / 3)
    assert reset.rbo < refund.rbo == pytest.approx(1.0)
    assert reset.top == 0.5
    total = summary(moves)
    assert (total.queries, total.contexts, total.other_first, total.unmoved) == (2, 5, 1, 1)
    assert total.top == 0.75


def test_what_moved_most_comes_first(tmp_path: Path) -> None:
    turned = scored(BASE, 0.9, 0.5, 0.1, 0.3, 0.4)
    moves = query_moves(compare([run_of(tmp_path, BASE, "one"), run_of(tmp_path, turned, "two")]), 1)
    assert [moves[index].text for index in moves.most_moved_first().tolist()] == ["refund", "reset"]


def test_a_row_for_each_text(compared: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    seen: list[tuple[int, int]] = []
    assert write_texts(compared, path, progress=lambda *done: seen.append(done)) == 5
    rows = read(path)
    assert [row["doc_id"] for row in rows] == ["007", "B", "C", "D", "E"]
    assert rows[1]["text"] == "=1+1"
    first = rows[0]
    assert (first["query"], first["label"], first["score_1"], first["rank_1"]) == ("reset", "1", "0.9", "1")
    assert (first["score_2"], first["rank_2"], first["change_2"], first["change_3"]) == ("0.1", "3", "-2", "0")
    assert seen == [(5, 5)]


def test_no_live_formula_for_a_spreadsheet(compared: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    write_texts(compared, path, options=ExportOptions(preset=Preset.EXCEL, separator=";"))
    content = path.read_bytes()
    assert content.startswith("\ufeff".encode())
    assert b";'=1+1;" in content
    assert b";-2;" in content  # a negative number is not marked as a formula
    assert b";0,9;1;" in content  # with a decimal comma, as the separator is a semicolon


def test_a_row_for_each_query(compared: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "queries.csv"
    assert write_queries(compared, path, top_k=2) == 2
    rows = read(path)
    assert rows[0]["query"] == "reset"
    assert (rows[0]["top_2_2"], rows[0]["first_kept_2"], rows[0]["largest_change_2"]) == ("0.5", "0", "2")
    assert float(rows[0]["rbo_3"]) == pytest.approx(1.0)


def test_a_query_with_a_single_text_cannot_move(tmp_path: Path) -> None:
    pairs = [replace(BASE[0], outcome=0.2)]
    (move,) = query_moves(compare([run_of(tmp_path, BASE[:1], "one"), run_of(tmp_path, pairs, "two")]), 1)
    assert move.rbo == pytest.approx(1.0)
    assert (move.top, move.first_kept, move.largest_change) == (1.0, True, 0)
