"""Recognise a workbook: which sheet, and whether its first row names the columns."""

from itertools import islice
from pathlib import Path

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.headers import complete_names, has_header
from cfbatch_gui.core.inputs.model import FileFormat, ReadOptions, Source
from cfbatch_gui.core.inputs.readers.xlsx import read_records, sheets_of
from cfbatch_gui.core.inputs.readers.xlsx_check import is_xlsx
from cfbatch_gui.core.inputs.refusals import only_header, without_rows

_ROWS_FOR_HEADER = 100


def open_workbook(path: Path, size: int, options: ReadOptions) -> Source:
    """Take the sheet asked for, else the first visible one with rows. Raises InputError, UsageError."""
    if options.separator or options.encoding:
        raise UsageError(f"{path.name} is a workbook. It has no separator and no encoding to choose.")
    sheets = sheets_of(path)
    names = tuple(name for name, _ in sheets)
    if options.sheet and options.sheet not in names:
        raise InputError(f"{path.name} has no sheet “{options.sheet}”. It has {_list(names)}.")
    visible = [name for name, is_visible in sheets if is_visible] or list(names)
    for sheet in [options.sheet] if options.sheet else visible:
        rows = list(islice(read_records(path, sheet), _ROWS_FOR_HEADER))
        if rows:
            break
    else:
        raise _empty_sheets(path, options.sheet, names)
    cells = [row.cells for row in rows if any(row.cells)]
    header = has_header(cells) if options.has_header is None else options.has_header
    if header and len(rows) == 1:
        raise only_header(path)
    columns = complete_names(rows[0].cells if header else (), len(rows[0].cells))
    file_format = FileFormat.XLSX if is_xlsx(path) else FileFormat.SHEET
    return Source(path, file_format, columns, size, has_header=header, sheet=sheet, sheets=names)


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:10])
    return f"{shown} and {len(names) - 10:,} more" if len(names) > 10 else shown


def _empty_sheets(path: Path, sheet: str | None, names: tuple[str, ...]) -> InputError:
    if not sheet:
        return without_rows(path)
    others = tuple(name for name in names if name != sheet)
    cure = f"Choose another: {_list(others)}." if others else "Choose a file with at least one row."
    return InputError(f"The sheet “{sheet}” of {path.name} is empty. {cure}")
