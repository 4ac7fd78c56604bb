"""The CSV file of the rows that were left out, to be corrected and loaded again."""

import csv
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind, ReadOptions
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import DRAFT, JobFolder, SavedDraft
from cfbatch_gui.core.job_folder.row_problems import problem_columns, problems, save_problems
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.results.embeddings import Embeddings
from tests.support.inputs import as_suggested


def filled(folder: Path, first: Path, second: Path | None = None) -> JobFolder:
    job = JobFolder(folder)
    source, mapping, other = as_suggested(first, Kind.RANK, second)
    fill(job, source, mapping, other)
    draft = SavedDraft(str(first), ReadOptions(separator=source.separator), mapping)
    job.keep_fact(DRAFT, msgspec.to_builtins(draft))
    return job


def test_cells_stand_as_they_were_under_row_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        'question;answer;note\nwhy;because;x\nhow;;"=1+1; ""so"""\n;an answer;0012\nwhat;this\n', encoding="utf-8"
    )
    job = filled(tmp_path / "job", path)
    target = tmp_path / "out.csv"
    assert save_problems(job, target) == 3
    assert target.read_bytes().startswith(b"\xef\xbb\xbf")
    lines = target.read_text("utf-8-sig").splitlines()
    assert lines[0] == "row;reason;question;answer;note;in the file"
    assert lines[1] == '3;There is no text in “answer”.;how;;"=1+1; ""so""";'
    assert lines[2].endswith(";;an answer;0012;")
    assert lines[3].startswith("5;") and lines[3].endswith(';what;this;;"what;this"')


def test_one_kind_of_problem_alone(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("question,answer\nwhy,because\nhow,\n,an answer\n", encoding="utf-8")
    job = filled(tmp_path / "job", path)
    assert save_problems(job, tmp_path / "out.csv", kind=ProblemKind.EMPTY_QUERY) == 1
    assert (tmp_path / "out.csv").read_text("utf-8-sig").splitlines()[1:] == [
        "4,There is no query in “question”.,,an answer"
    ]


def test_a_second_file_has_its_own_columns(tmp_path: Path) -> None:
    first, second = tmp_path / "queries.csv", tmp_path / "answers.csv"
    first.write_text("id,question\n1,why\n2,how\n", encoding="utf-8")
    second.write_text("sku,answer,more\nA,because,x\nB,,y\n", encoding="utf-8")
    job = filled(tmp_path / "job", first, second)
    assert problem_columns(job, file=2) == ("sku", "answer", "more")
    assert save_problems(job, tmp_path / "out.csv") == 1
    assert (tmp_path / "out.csv").read_text("utf-8-sig").splitlines() == [
        "file,row,reason,sku,answer,more",
        "2,3,There is no text in “answer”.,B,,y",
    ]


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
