"""Columns that the user chooses, and texts that were sent in parts."""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import ExportOptions, columns_of, export, target_for
from tests.core.results.folders import FAILED, Pair, Table, unit_vectors

CHOSEN = ExportOptions(columns=("mine", "text", "score"))


def ranked(path: Path) -> Table:
    pairs = [Pair("q", "one\ntwo", 0.5, kept=("a",)), Pair("q", "three", FAILED, kept=("b",))]
    return Table(path, kept=("mine",)).rank(pairs, skipped=[(Pair("q", "", 0.0, kept=("c",)), "The text is empty.")])


def embedded(path: Path) -> Table:
    table = Table(path, kept=("mine", "vector"))
    return table.embed([("k1", "one", 1.0), ("k2", "two", 1.0)], unit_vectors(2, 3), kept=[("a", "v"), ("b", "w")])


def split(table: Table) -> Table:
    """Make the first two items the parts of one text."""
    with closing(sqlite3.connect(table.folder.data)) as database, database:
        database.executemany("INSERT INTO parts VALUES(?, ?, 0, 3, 1, 0, ?)", [(1, 1, 0.25), (2, 2, None)])
        database.execute("UPDATE texts SET text_id = 'k1'")
    return table


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_ranking_with_the_columns_and_in_the_order_that_were_asked_for(tmp_path: Path) -> None:
    table = ranked(tmp_path / "job")
    assert columns_of(table.folder, Kind.RANK)[-2:] == ("error", "mine")
    export(table.folder, table.metadata(), tmp_path / "out.csv", options=CHOSEN)
    assert rows(tmp_path / "out.csv") == [
        ["mine", "text", "score"], ["a", "one\ntwo", "0.5"], ["b", "three", ""], ["c", "", ""],
    ]  # fmt: skip
    export(table.folder, table.metadata(), tmp_path / "out.xlsx", options=CHOSEN)
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert [cell.value for cell in book["Ranking"][2]] == ["a", "one\ntwo", 0.5]
    assert [cell.value for cell in book["Problems"]["A"]] == ["mine", "b", "c"]
    export(table.folder, table.metadata(), tmp_path / "out.jsonl", options=CHOSEN)
    assert json.loads((tmp_path / "out.jsonl").read_text("utf-8")) == {
        "contexts": [
            {"text": "one\ntwo", "score": 0.5, "columns": {"mine": "a"}},
            {"text": "three", "score": None, "columns": {"mine": "b"}},
        ]
    }


@pytest.mark.interop
def test_parquet_of_one_column(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = ranked(tmp_path / "job")
    export(table.folder, table.metadata(), tmp_path / "out.parquet", options=ExportOptions(columns=("score",)))
    assert parquet.read_table(tmp_path / "out.parquet").to_pylist() == [
        {"score": 0.5},
        {"score": None},
        {"score": None},
    ]


def test_vectors_with_the_columns_that_were_asked_for(tmp_path: Path) -> None:
    table = embedded(tmp_path / "job")
    metadata = table.metadata(Kind.EMBED)
    assert columns_of(table.folder, Kind.EMBED) == ("text", "mine", "vector")
    export(table.folder, metadata, tmp_path / "out.csv", options=ExportOptions(columns=("mine",)))
    assert rows(tmp_path / "out.csv")[0] == ["id", "mine", "dim_0", "dim_1", "dim_2"]
    export(table.folder, metadata, tmp_path / "none.csv", options=ExportOptions(columns=()))
    assert rows(tmp_path / "none.csv")[0] == ["id", "dim_0", "dim_1", "dim_2"]
    # The text column of a format is always written. A column of the user's with a reserved name is renamed.
    path = tmp_path / "out.llm.db"
    export(
        table.folder, metadata, path, target_for(path, Kind.EMBED, "llm"), options=ExportOptions(columns=("vector",))
    )
    with closing(sqlite3.connect(path)) as database:
        found = database.execute("SELECT content, metadata FROM embeddings").fetchall()
    assert found == [("one", '{"vector": "v"}'), ("two", '{"vector": "w"}')]


@pytest.mark.parametrize("wanted", [("score", "Mine"), ("",)])
def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path, wanted: tuple[str, ...]) -> None:
    table = ranked(tmp_path / "job")
    with pytest.raises(UsageError, match=r"There are: “query_id”, .*“mine”"):
        export(table.folder, table.metadata(), tmp_path / "out.csv", options=ExportOptions(columns=wanted))
    with pytest.raises(UsageError, match="at least one column"):
        export(table.folder, table.metadata(), tmp_path / "out.csv", options=ExportOptions(columns=()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job"]


def test_a_ranking_of_split_texts_says_which_part_scored_best(tmp_path: Path) -> None:
    table = split(ranked(tmp_path / "job"))
    export(table.folder, table.metadata(), tmp_path / "out.csv")
    header, *found = rows(tmp_path / "out.csv")
    assert header[-2:] == ["part", "mine"]
    assert [row[-2:] for row in found] == [["1", "a"], ["", "b"], ["", "c"]]


def test_vectors_of_split_texts_say_which_part_they_are(tmp_path: Path) -> None:
    table = split(embedded(tmp_path / "job"))
    metadata = table.metadata(Kind.EMBED)
    export(table.folder, metadata, tmp_path / "out.csv")
    assert [row[:2] for row in rows(tmp_path / "out.csv")] == [["id", "part"], ["k1", "1"], ["k1", "2"]]
    folder = tmp_path / "vectorize"
    export(table.folder, metadata, folder, target_for(folder, Kind.EMBED, "vectorize"))
    lines = (folder / "vectors-0001.ndjson").read_text("utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["k1#1", "k1#2"]
