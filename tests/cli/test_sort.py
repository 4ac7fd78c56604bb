"""`cfbatch sort`, from a list and categories to the own sheet, on the practice service."""

import csv
from pathlib import Path

import openpyxl
import pytest

from tests.journeys.terminal import Terminal

LETTERS = """id,letter,kind
1,my parcel is late,Delivery
2,the parcel is still not here,Delivery
3,,Damage
4,the teapot is broken,Damage
5,hello everybody,none
6,=1+1,
"""
LINES = "Delivery: the parcel is late | the parcel is not here\n\nDamage: the pot is broken\n"


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    (tmp_path / "letters.csv").write_text(LETTERS)
    return tmp_path / "letters.csv"


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("form", ["txt", "csv", "options"])
def test_each_row_comes_back_in_its_place_with_its_category(
    terminal: Terminal, letters: Path, tmp_path: Path, form: str
) -> None:
    categories, sheet, book = tmp_path / f"codes.{form}", tmp_path / "sorted.csv", tmp_path / "sorted.xlsx"
    said = ["--categories", categories]
    if form == "txt":
        categories.write_text(LINES)
    elif form == "csv":
        lines = [line.split(": ") for line in LINES.replace(" | ", "\nDelivery: ").split("\n") if line]
        with categories.open("w", newline="") as file:
            csv.writer(file).writerows([["category", "what belongs there"], *lines])
    else:
        said = [part for line in LINES.splitlines() if line for part in ("--category", line)]
    found = terminal.run("sort", letters, *said, "--threshold", "0.2", "--out", sheet, "--out", book, "--right", "KIND")
    assert found.status == 0, found.err
    header, *cells = rows(sheet)
    assert header == ["id", "letter", "kind", "category", "score", "second_best", "margin", "state"]
    assert [row[:3] for row in cells] == [line.split(",") for line in LETTERS.splitlines()[1:]]
    assert [row[3] for row in cells] == ["Delivery", "Delivery", "", "Damage", "", ""]
    assert [bool(row[4]) for row in cells] == [bool(row[3]) for row in cells] and cells[2][7]
    own, counts, *_ = openpyxl.load_workbook(book).worksheets
    assert own.max_row == 7 and all(cell.data_type != "f" for row in own.iter_rows() for cell in row)
    assert [row[1] for row in counts.iter_rows(min_row=2, values_only=True)] == [2, 1, 2, 1]


def test_what_is_said_is_decided_and_shown_again(terminal: Terminal, letters: Path, tmp_path: Path) -> None:
    given, kept, sheet = tmp_path / "said.csv", tmp_path / "kept.csv", tmp_path / "sorted.jsonl"
    given.write_text("query,text,grade\nhello everybody,Delivery,1\nmy parcel is late,Delivery,0\n")
    categories = ("--category", "Delivery: the parcel", "--category", "Damage: broken", "--threshold", "-1")
    files = ("--decisions", given, "--write-decisions", kept)
    found = terminal.run("sort", letters, *categories, *files, "--right", "kind", "--json").json
    assert [row["state"] for row in found["categories"]["rows"]][::4] == ["none", "accepted"]
    agreement = found["categories"]["agreement"]
    assert (agreement["checked"], agreement["right"]) == (4, 3)  # whatever was decided
    assert agreement["confusions"][0][0] == "" and agreement["low"] < 0.75 < agreement["high"]
    shown = terminal.run("show", found["job"], "--json").json
    assert shown["categories"] == found["categories"]
    assert "Damage" in terminal.run("show", found["job"]).out
    assert {"hello everybody", "my parcel is late"} <= {cell for row in rows(kept) for cell in row}
    assert terminal.run("export", found["job"], "--out", sheet).status == 0
    assert len(sheet.read_text().splitlines()) == 6


def test_categories_are_said_once_and_the_right_ones_are_a_column(terminal: Terminal, letters: Path) -> None:
    assert terminal.run("sort", letters).codes == {"say_categories"}
    both = terminal.run("sort", letters, "--categories", letters, "--category", "Delivery")
    assert (both.status, both.codes) == (2, {"say_categories"})
    refused = terminal.run("sort", letters, "--category", "Delivery", "--right", "Kinds")
    assert (refused.status, refused.codes) == (2, {"list_has_no_column"})
