"""Which sheet of a workbook is read: the first, unless it holds only notes and a later one holds the table."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import xlsxwriter

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import preview, read_rows
from cfbatch_gui.core.inputs.input_values import ReadOptions
from cfbatch_gui.core.inputs.readers.formats import explain
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

Rows = Sequence[Sequence[str]]
TABLE: Rows = [["sku", "text"], *[[f"A-{n}", f"A lamp with {n} bulbs"] for n in range(5)]]
NOTE: Rows = [
    ["Lamps of the year"],
    [],
    ["This workbook holds all lamps."],
    ["Ask the shop for more."],
    [],
    ["Last change:", "2024-05-01"],
]
MEANINGS: Rows = [["Column", "Meaning"], ["sku", "the number in the shop"], ["text", "what it is like"]]
LIST: Rows = [[f"The lamp number {n} is warm, and I like it."] for n in range(12)]


def book(path: Path, *sheets: tuple[str, Rows], hidden: Sequence[str] = ()) -> Path:
    with xlsxwriter.Workbook(path) as written:
        for name, rows in sheets:
            sheet = written.add_worksheet(name)
            for number, cells in enumerate(rows):
                sheet.write_row(number, 0, cells)
            if name in hidden:
                sheet.hide()
            else:
                sheet.activate()  # Excel requires a visible sheet
    return path


@pytest.mark.parametrize(
    "note",
    [
        ("Sheet1", NOTE),
        ("READ ME", MEANINGS),
        ("Instructions", [["text"], ["Do not change the columns"]]),
    ],
)
def test_a_note_before_the_table_is_not_read(tmp_path: Path, note: tuple[str, Rows]) -> None:
    path = book(tmp_path / "a.xlsx", ("Empty", []), note, ("Codes", [["x"]]), ("Lamps", TABLE), ("More", TABLE))
    source = open_source(path)
    assert (source.sheet, source.columns, len(preview(source))) == ("Lamps", ("sku", "text"), 5)
    assert source.sheets == ("Empty", note[0], "Codes", "Lamps", "More")
    assert source.notices == (f"The sheet “Lamps” is read, for “{note[0]}” looks like a note.",)
    assert explain(source) == "The sheet “Lamps”, with a header."
    chosen = open_source(path, ReadOptions(sheet=note[0]))
    assert (chosen.sheet, chosen.notices) == (note[0], ())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("Sheet1", LIST), ("Lamps", TABLE)),
        (("Sheet1", MEANINGS), ("Lamps", TABLE)),
        (("Sheet1", NOTE), ("Codes", [["A"], ["B"], ["C"]])),
        (("Read me", NOTE), ("Info", TABLE)),
    ],
)
def test_in_doubt_the_first_sheet_is_read(tmp_path: Path, first: tuple[str, Rows], second: tuple[str, Rows]) -> None:
    source = open_source(book(tmp_path / "a.xlsx", first, second))
    assert (source.sheet, source.notices) == (first[0], ())


def test_hidden_sheets_come_last(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("Lookup", TABLE), ("Sheet1", NOTE), ("Lamps", TABLE), hidden=["Lookup"])
    assert open_source(path).sheet == "Lamps"
    path = book(tmp_path / "b.xlsx", ("Lookup", TABLE), ("Sheet1", NOTE), hidden=["Lookup"])
    assert open_source(path).sheet == "Sheet1"
    path = book(tmp_path / "c.xlsx", ("Sheet1", []), ("Old", NOTE), ("Lookup", TABLE), hidden=["Old", "Lookup"])
    source = open_source(path)
    assert source.sheet == "Lookup"
    assert source.notices == ("The sheet “Lookup” is hidden; those that are not are empty.",)
    with pytest.raises(InputError, match="is empty"):
        open_source(book(tmp_path / "d.xlsx", ("Sheet1", []), ("Old", []), hidden=["Old"]))


TITLED: Rows = [["Lamps of May"], ["As of 2024-05-31"], [], *TABLE]


def test_titles_above_the_table_are_left_aside(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("Sheet1", TITLED))
    source = open_source(path)
    assert (source.columns, source.has_header) == (("sku", "text"), True)
    assert source.notices == ("2 lines above the table are not read: “Lamps of May” and more.",)
    rows = list(read_rows(source))
    assert [(row.number, row.cells[0]) for row in rows] == [(n + 5, f"A-{n}") for n in range(5)]
    again = open_source(path, ReadOptions(has_header=False))
    assert [row.number for row in read_rows(again)] == list(range(4, 10))
    behind = open_source(book(tmp_path / "b.xlsx", ("Read me", NOTE), ("Lamps", TITLED)))
    assert (behind.sheet, behind.columns, len(behind.notices)) == ("Lamps", ("sku", "text"), 2)


PAIRS: Rows = [["id", "query", "text"], *[[str(n), f"How is lamp {n}?", "It is warm"] for n in range(5)]]


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ([["Report:", "Lamps"], ["As of:", "2024-05-31"], []], "2 lines above the table are not read: “Report: Lamps”"),
        ([["", "What was said", ""]], "1 line above the table is not read: “What was said”."),
    ],
)
def test_what_else_stands_above_a_table(tmp_path: Path, above: Rows, said: str) -> None:
    source = open_source(book(tmp_path / "a.xlsx", ("Sheet1", [*above, *PAIRS])))
    assert (source.columns, source.notices[0].startswith(said)) == (("id", "query", "text"), True)
    assert len(list(read_rows(source))) == 5


@pytest.mark.parametrize(
    "rows",
    [
        [["", "query", "text"], *PAIRS[1:]],  # a header with one name missing
        [["1", "", "A lamp"], ["2", "title", "A chair"], ["3", "name", "A table"]],
        [["Lamps", ""], ["warm", ""], ["cold", ""], ["bright", ""]],
    ],
)
def test_what_may_be_a_row_is_no_title(tmp_path: Path, rows: Rows) -> None:
    source = open_source(book(tmp_path / "a.xlsx", ("Sheet1", rows)), ReadOptions(has_header=False))
    assert len(list(read_rows(source))) == len(rows)
    assert source.notices == ()
