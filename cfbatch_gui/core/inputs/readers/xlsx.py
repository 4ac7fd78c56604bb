"""Read workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) with calamine, after `xlsx_check`."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec
import python_calamine

from cfbatch_gui.core.inputs.files.unsupported_files import protected
from cfbatch_gui.core.inputs.input_values import ProblemKind, Row, Source
from cfbatch_gui.core.inputs.readers import workbook_process
from cfbatch_gui.core.inputs.readers.decoding_process import DecodingError, decoding
from cfbatch_gui.core.inputs.readers.workbook_process import OUT_OF_RANGE, open_workbook, rows_in, sheets_in
from cfbatch_gui.core.inputs.readers.xlsx_check import (
    DAMAGE,
    check_archive,
    check_other_workbook,
    damaged,
    is_xlsx,
    sheet_extent,
)
from cfbatch_gui.core.inputs.readers.xlsx_texts import exact_copy
from cfbatch_gui.core.messages import message

_PROGRESS_EVERY = 1000  # rows
_TOO_LARGE = message(
    "This row has a number that is shown as a time, and is too large to be one. Format it as a number in a "
    "spreadsheet program, save the file, and choose it again."
)


def read_xlsx(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield the rows of `source.sheet` with the numbers that Excel shows.

    Rows above the table are left out; empty rows within it have empty cells. A row with a formula without a stored
    value, as programs write it that do not compute formulas, is a problem: treating the cell as empty would silently
    lose text. Cells with an error such as #N/A are empty.
    """
    skip_header = source.has_header
    blank = 0
    count = 0
    for row in read_records(source.path, source.sheet):
        count += 1
        if progress is not None and count % _PROGRESS_EVERY == 0:
            progress(count)
        if row.number < source.first_line:
            continue
        if skip_header:
            skip_header = False
        elif any(row.cells) or row.problem:
            yield from (Row(earlier, ("",) * len(row.cells)) for earlier in range(row.number - blank, row.number))
            blank = 0
            yield row
        else:
            blank += 1
    if progress is not None:
        progress(count)


def read_records(path: Path, sheet: str) -> Iterator[Row]:
    """Yield every row from the first that is not empty, header included. All have the same number of cells."""
    if is_xlsx(path):
        formulas, rows = sheet_extent(path, sheet).formulas, _rows_of_xlsx(path, sheet)
    else:
        formulas, rows = {}, _rows_of_other(path, sheet)
    started = False
    for number, cells in enumerate(rows, 1):
        started = started or any(cells) or number in formulas
        if cells and cells[0] == OUT_OF_RANGE:
            yield Row(number, ("",) * len(cells), _TOO_LARGE)
        elif number in formulas:
            yield Row(number, cells, _no_value(formulas[number], number), ProblemKind.FORMULA_WITHOUT_VALUE)
        elif started:
            yield Row(number, cells)


def sheets_of(path: Path) -> tuple[tuple[str, bool], ...]:
    """Return (name, visible) of every sheet with cells, in the workbook's order. Raises InputError."""
    if is_xlsx(path):
        check_archive(path)
        with _failures(path), open_workbook(path) as workbook:
            return sheets_in(workbook)
    check_other_workbook(path)
    with _decoded(path) as lines:
        return tuple((name, is_visible) for line in lines for name, is_visible in line)


def _rows_of_xlsx(path: Path, sheet: str) -> Iterator[tuple[str, ...]]:
    extent = sheet_extent(path, sheet)
    with _failures(path):
        exact = exact_copy(path, extent.member) if extent.has_inexact_texts else path
        with open_workbook(exact) as workbook:
            yield from rows_in(workbook, sheet)


def _rows_of_other(path: Path, sheet: str) -> Iterator[tuple[str, ...]]:
    with _decoded(path, msgspec.json.encode(sheet).decode()) as lines:
        for block in lines:
            yield from map(tuple, block)


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    """Raise an InputError for what the library says, and also for what it does not foresee (a panic)."""
    try:
        yield
    except (python_calamine.CalamineError, *DAMAGE) as exc:
        raise damaged(path, exc) from exc
    except BaseException as exc:
        if type(exc).__module__ != "pyo3_runtime":  # where alone the class of a panic is, a BaseException
            raise
        raise damaged(path, exc) from exc


@contextmanager
def _decoded(path: Path, *arguments: str) -> Iterator[Iterator[Any]]:
    """Give the lines that `workbook_process` writes about a workbook. Raises InputError if it ends early."""
    try:
        with decoding(workbook_process.__file__, workbook_process.WORD, path, arguments) as decoded:
            whole = takewhile(lambda line: line.endswith(b"\n"), decoded.stream)
            yield map(msgspec.json.decode, whole)
            decoded.finish()
    except DecodingError as exc:
        raise protected(path) if exc.status == workbook_process.PROTECTED else damaged(path, exc) from exc


def _no_value(column: str, row: int) -> str:
    return message(
        "The formula in {column}{row} has no stored value. Open the file in a spreadsheet program, save it, and "
        "choose it again.",
        column=column,
        row=row,
    )
