"""Rows read from a file, against the bare csv module, a plain loop over lines, and the library for workbooks."""

import csv
import json
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import python_calamine
import xlsxwriter

from benchmarks.limits import Figures, best_of, seconds
from cfbatch_gui.core.inputs.file_rows import read_blocks, read_rows
from cfbatch_gui.core.inputs.input_values import Block, FileFormat, Source
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

ROWS = 1_000_000
SHEET_ROWS = 50_000
TURNS = 3
_LINE = '{number:07},How do I change the address on my invoice?,"Settings → Billing, beside the address",{number}\n'


def main(figures: Figures) -> None:
    """One file, read in several ways; the best of several turns each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write("id,question,answer,number\n")
            file.writelines(_LINE.format(number=number) for number in range(ROWS))
        size = path.stat().st_size
        figures.add(f"{ROWS:,} rows, {size / 1e6:,.0f} MB: recognised", seconds(lambda: open_source(path)), "s")
        table = open_source(path)
        lines = Source(path, FileFormat.LINES, ("text",), size, "utf-8")
        ours, bare = best_of(TURNS, lambda: _count(read_rows(table)), lambda: _count(_csv_rows(path)))
        figures.versus("read as CSV", ours, "csv.reader alone", bare, limit=3.0)
        ours, bare = best_of(TURNS, lambda: _count(read_rows(lines)), lambda: _count(_plain_lines(path)))
        figures.versus("read as lines", ours, "a loop over the lines", bare, limit=5.0)
        spaced = replace(lines, path=_with_blank_lines(path))
        ours, bare = best_of(TURNS, lambda: _count(read_rows(spaced)), lambda: _count(read_rows(lines)))
        figures.versus(f"with {ROWS:,} blank lines", ours, "the lines without them", bare, limit=1.3)
        for name, other in (("JSON Lines", _as_json(table, "\n")), ("an array of JSON", _as_json(table, ",\n"))):
            ours, bare = best_of(TURNS, partial(_in_blocks, other), partial(_in_blocks, table))
            figures.versus(f"read as {name}, {other.size / 1e6:,.0f} MB", ours, "the same as CSV", bare, limit=1.3)
        book = _workbook(Path(folder) / "rows.xlsx")
        ours, bare = best_of(TURNS, lambda: _count(read_rows(open_source(book))), lambda: _count(_plain_sheet(book)))
        figures.versus(f"{SHEET_ROWS:,} rows of a workbook", ours, "calamine alone", bare, limit=4.0)


def _as_json(table: Source, between: str) -> Source:
    """The rows of a table as JSON Lines, or with commas between them as an array."""
    is_array = between.startswith(",")
    path = table.path.with_suffix(".json" if is_array else ".jsonl")
    with path.open("w", encoding="utf-8") as file:
        file.write("[" if is_array else "")
        for row in read_rows(table):
            fields = dict(zip(table.columns, row.cells, strict=True))
            file.write((between if row.number > 2 else "") + json.dumps(fields, ensure_ascii=False))
        file.write("]" if is_array else "\n")
    return open_source(path)


def _in_blocks(source: Source) -> int:
    return sum(len(each.rows) for each in read_blocks(source) if isinstance(each, Block))


def _with_blank_lines(path: Path) -> Path:
    spaced = path.with_suffix(".txt")
    with path.open(encoding="utf-8", newline="") as lines, spaced.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"{line}\n" for line in lines)
    return spaced


def _workbook(path: Path) -> Path:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ("id", "question", "answer", "number"))
        for number in range(1, SHEET_ROWS + 1):
            answer = f"Settings → Billing, beside the address {number}"
            sheet.write_row(number, 0, (f"{number:07}", "How do I change the address on my invoice?", answer, number))
    return path


def _plain_sheet(path: Path) -> Iterable[object]:
    with python_calamine.load_workbook(path) as book:
        yield from book.get_sheet_by_index(0).iter_rows()


def _csv_rows(path: Path) -> Iterable[object]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def _plain_lines(path: Path) -> Iterable[object]:
    with path.open(encoding="utf-8", newline="") as file:
        for line in file:
            yield line.rstrip("\r\n")


def _count(rows: Iterable[object]) -> int:
    count = 0
    for _ in rows:
        count += 1
    return count
