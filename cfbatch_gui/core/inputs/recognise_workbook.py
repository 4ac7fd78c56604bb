"""Recognise a workbook: which sheet, and whether its first row names the columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.headers import complete_names, has_header
from cfbatch_gui.core.inputs.model import FileFormat, ReadOptions, Source
from cfbatch_gui.core.inputs.readers.xlsx import read_records, sheets_of
from cfbatch_gui.core.inputs.readers.xlsx_check import is_xlsx
from cfbatch_gui.core.inputs.refusals import only_header, without_rows
from cfbatch_gui.core.inputs.sheet_choice import is_note, is_table

_ROWS_FOR_HEADER = 100


def open_workbook(path: Path, size: int, options: ReadOptions) -> Source:
    """Take the sheet asked for, else the first that is a table and no note. Raises InputError, UsageError."""
    if options.separator or options.encoding:
        raise UsageError(f"{path.name} is a workbook. It has no separator and no encoding to choose.")
    sheets = sheets_of(path)
    names = tuple(name for name, _ in sheets)
    if options.sheet and options.sheet not in names:
        raise InputError(f"{path.name} has no sheet “{options.sheet}”. It has {_list(names)}.")
    chosen = _first_rows(path, options.sheet) if options.sheet else _choose(path, sheets)
    if not chosen.rows:
        raise _empty_sheets(path, options.sheet, names)
    cells = [row for row in chosen.rows if any(row)]
    header = has_header(cells) if options.has_header is None else options.has_header
    if header and len(chosen.rows) == 1:
        raise only_header(path)
    columns = complete_names(chosen.rows[0] if header else (), len(chosen.rows[0]))
    file_format = FileFormat.XLSX if is_xlsx(path) else FileFormat.SHEET
    return Source(
        path, file_format, columns, size, has_header=header, sheet=chosen.name, sheets=names, notices=chosen.notices
    )


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet and its first rows. `notices` say why it was chosen where one might expect another."""

    name: str
    rows: Sequence[tuple[str, ...]]
    notices: tuple[str, ...] = ()


def _first_rows(path: Path, name: str) -> _Sheet:
    return _Sheet(name, [row.cells for row in islice(read_records(path, name), _ROWS_FOR_HEADER)])


def _choose(path: Path, sheets: Sequence[tuple[str, bool]]) -> _Sheet:
    """The first sheet with rows, unless that is a note and a later one a table. Hidden ones come last."""
    visible = _better([name for name, is_visible in sheets if is_visible], path)
    if visible.rows:
        return visible
    hidden = _better([name for name, is_visible in sheets if not is_visible], path)
    is_news = hidden.rows and any(is_visible for _, is_visible in sheets)
    said = f"The sheet “{hidden.name}” is hidden; those that are not are empty."
    return replace(hidden, notices=(said,)) if is_news else hidden


def _better(names: Sequence[str], path: Path) -> _Sheet:
    note: _Sheet | None = None
    for name in names:
        try:
            sheet = _first_rows(path, name)
        except InputError:
            if note is None:
                raise
            continue  # what is wrong there does not matter as long as nobody wants that sheet
        if note is None and sheet.rows:
            if not is_note(name, sheet.rows):
                return sheet
            note = sheet
        elif note and is_table(name, sheet.rows):
            return replace(sheet, notices=(f"The sheet “{name}” is read, for “{note.name}” looks like a note.",))
    return note or _Sheet("", ())


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:10])
    return f"{shown} and {len(names) - 10:,} more" if len(names) > 10 else shown


def _empty_sheets(path: Path, sheet: str | None, names: tuple[str, ...]) -> InputError:
    if not sheet:
        return without_rows(path)
    others = tuple(name for name in names if name != sheet)
    cure = f"Choose another: {_list(others)}." if others else "Choose a file with at least one row."
    return InputError(f"The sheet “{sheet}” of {path.name} is empty. {cure}")
