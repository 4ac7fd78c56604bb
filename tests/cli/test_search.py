"""`cfbatch search`, from a finished job to a table of the best texts, on the practice service."""

import csv
import json
from pathlib import Path

import openpyxl
import pytest

from tests.journeys.terminal import Terminal
from tests.support.sentences import shows

TEXTS = """id,text,year
7,Honeybees find their way home,2011
8,=1+1 a garden hose,2012
9,A desk lamp of brass,2013
"""


@pytest.fixture
def job(terminal: Terminal, tmp_path: Path) -> str:
    (tmp_path / "texts.csv").write_text(TEXTS)
    assert terminal.run("run", tmp_path / "texts.csv", "--embed", "--name", "Abstracts").status == 0
    return "Abstracts"


def test_questions_are_asked_once_and_written_as_a_table(terminal: Terminal, job: str, tmp_path: Path) -> None:
    shown = terminal.run("search", job, "bees on their way home", "--top", "1")
    assert shown.status == 0 and "Honeybees find their way home" in shown.out and "desk lamp" not in shown.out
    (tmp_path / "questions.txt").write_text("a hose for the garden\nbees on their way home\n")
    sheet, table = tmp_path / "found.xlsx", tmp_path / "found.csv"
    outputs = ("--out", sheet, "--to", "search-csv-excel", table, "--json")
    found = json.loads(terminal.run("search", job, "--queries", tmp_path / "questions.txt", "--top", "2", *outputs).out)
    assert found["sent"] == 1
    assert [(row["query"], row["rank"], row["row"]) for row in found["found"]][::2] == [
        ("a hose for the garden", 1, 3), ("bees on their way home", 1, 2),
    ]  # fmt: skip
    header, *rows = openpyxl.load_workbook(sheet).worksheets[0].iter_rows(values_only=True)
    assert len(rows) == 4 and header[-1] == "year"
    assert rows[0][1:] == (1, found["found"][0]["score"], 3, "8", "=1+1 a garden hose", 2012)
    written = list(csv.reader(table.read_text("utf-8-sig").splitlines()))
    assert written[1][5] == "'=1+1 a garden hose"  # no formula
    every = tmp_path / "every.jsonl"
    assert terminal.run("export", job, "--to", "search-jsonl", every, "--top-k", "1").status == 0
    assert [json.loads(line)["id"] for line in every.read_text().splitlines()] == ["7", "8"]  # as they were asked


def test_what_cannot_be_searched_is_refused_before_anything_is_sent(
    terminal: Terminal, job: str, tmp_path: Path
) -> None:
    for words, code in (
        ((job,), "there_is_nothing_look_yet_type"),
        ((job, "bees", "--out", tmp_path / "a.doc"), "name_is_no_form_results_choose"),
    ):
        refused = terminal.run("search", *words)
        assert refused.status == 2 and shows(refused.err, code)
    nothing = terminal.run("export", job, "--to", "search", tmp_path / "a.xlsx")
    assert nothing.status == 1 and shows(nothing.err, "nothing_was_asked")
