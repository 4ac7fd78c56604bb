"""The cells of rows, as they are stored beside the texts."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import problems
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.results.embeddings import Embeddings
from tests.support.inputs import as_suggested

Write = Callable[[str, str], Path]
LONG = "wort " * 20_000


def embedded(tmp_path: Path, path: Path) -> JobFolder:
    folder = JobFolder(tmp_path / "job")
    fill(folder, *as_suggested(path, Kind.EMBED))
    job = Job("abc", "n", Kind.EMBED, "@cf/baai/bge-m3", "practice", 0.0, options=JobOptions(truncate_inputs=False))
    packing.plan(folder, job)
    return folder


ROWS = [
    ["007", "an orange cloud", "5", "warm"],
    ["008", "", "6", "without a text"],
    ["", 'a "quoted" text\nin two lines', "7", ""],
    ["010", LONG, "8", "too long"],
    ["011", "2", "9", "a text that is a number"],
]


@pytest.mark.parametrize(
    "columns", [["id", "text"], ["id", "text", "label"], ["id", "text", "label", "note"], ["text"]]
)
def test_rows_come_back_as_they_were(tmp_path: Path, columns: list[str]) -> None:
    places = [("id", "text", "label", "note").index(column) for column in columns]
    rows = [[row[place] for place in places] for row in ROWS]
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([columns, *rows])
    folder = embedded(tmp_path, path)
    shown = Embeddings(folder)
    found = {text.row: dict(zip(shown.columns(), text.cells, strict=True)) for text in shown.page(0, 10)}
    expected = {
        number: {name: cell for name, cell in zip(columns, row, strict=True) if name != "id"}
        for number, row in zip(range(2, 7), rows, strict=True)
        if row[columns.index("text")]
    }
    assert found == expected
    left_out = {problem.row: list(problem.cells) for problem in problems(folder)}
    wanted = {5: rows[3]} if columns == ["text"] else {3: rows[1], 5: rows[3]}
    assert left_out == wanted or (columns == ["text"] and left_out == {3: [""], 5: rows[3]})


def test_rows_of_nothing_but_texts_are_not_stored_twice(tmp_path: Path, write: Write) -> None:
    folder = embedded(tmp_path, write("a.csv", "id,text\n1,one\n2,two\n3,\n"))
    with folder.open(read_only=True) as database:
        assert database.execute("SELECT row, cells FROM source_rows").fetchall() == [(4, '["3",""]')]
