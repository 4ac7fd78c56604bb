"""Which sheet of a workbook is read, and where its table begins."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import xlsxwriter

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import ReadOptions
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

Rows = Sequence[Sequence[str]]
TABLE: Rows = [["sku", "text"], *[[f"A-{n}", f"A lamp with {n} bulbs"] for n in range(5)]]
NOTE: Rows = [["Lamps of the year"], [], ["This workbook holds all lamps."]]


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


def test_hidden_sheets_come_last(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", ("Lookup", TABLE), ("Sheet1", NOTE), hidden=["Lookup"])
    assert open_source(path).sheet == "Sheet1"
    path = book(tmp_path / "c.xlsx", ("Sheet1", []), ("Old", []), ("Lookup", TABLE), hidden=["Old", "Lookup"])
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
