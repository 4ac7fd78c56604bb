"""Read workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) with calamine, after `xlsx_check`."""

import datetime
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import python_calamine

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import ProblemKind, Row, Source
from cfbatch_gui.core.inputs.readers.xlsx_check import (
    check_archive,
    check_other_workbook,
    damaged,
    is_xlsx,
    sheet_extent,
)

CellValue = bool | float | int | str | datetime.date | datetime.time | datetime.timedelta
_EXACT_INTEGERS = 2.0**53  # above, a float cannot distinguish neighbouring integers
_PROGRESS_EVERY = 1000  # rows


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
    formulas = sheet_extent(path, sheet).formulas if is_xlsx(path) else {}
    with _open(path) as workbook:
        try:
            rows = workbook.get_sheet_by_name(sheet).iter_rows()
            started = False
            for number, values in enumerate(rows, 1):
                cells = tuple([text_of(value) for value in values])
                started = started or any(cells) or number in formulas
                if number in formulas:
                    yield Row(number, cells, _no_value(formulas[number], number), ProblemKind.FORMULA_WITHOUT_VALUE)
                elif started:
                    yield Row(number, cells)
        except python_calamine.CalamineError as exc:
            raise damaged(path, exc) from exc


def sheets_of(path: Path) -> tuple[tuple[str, bool], ...]:
    """Return (name, visible) of every sheet with cells, in the workbook's order. Raises InputError."""
    if is_xlsx(path):
        check_archive(path)
    else:
        check_other_workbook(path)
    with _open(path) as workbook:
        return tuple(
            (sheet.name, sheet.visible == python_calamine.SheetVisibleEnum.Visible)
            for sheet in workbook.sheets_metadata
            if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet
        )


def _open(path: Path) -> python_calamine.CalamineWorkbook:
    try:
        return python_calamine.CalamineWorkbook.from_path(str(path))
    except python_calamine.PasswordError as exc:
        raise InputError(
            f"{path.name} is protected by a password. Remove the password in your spreadsheet program, save it, "
            "and choose it again.",
        ) from exc
    except (python_calamine.CalamineError, OSError) as exc:
        raise damaged(path, exc) from exc


def text_of(value: CellValue) -> str:
    """Write a value as text: 42 and not 42.0, dates and times as ISO 8601, durations as 36:30:00, TRUE and FALSE."""
    if type(value) is str:
        return value if "\0" not in value else value.replace("\0", "\ufffd")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return str(int(value))
    if isinstance(value, datetime.date | datetime.time):  # datetime is a date
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    return repr(value)


def _duration(value: datetime.timedelta) -> str:
    sign = "-" if value < datetime.timedelta() else ""
    minutes, seconds = divmod(round(abs(value).total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}:{minutes:02}:{seconds:02}"


def _no_value(column: str, row: int) -> str:
    return (
        f"The formula in {column}{row} has no stored value. Open the file in a spreadsheet program, save it, "
        "and choose it again."
    )
