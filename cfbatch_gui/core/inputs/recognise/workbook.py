"""Recognise a workbook: which sheet, and whether its first row names the columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs import column_names as vocabulary
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.input_values import Candidate, Row, Source
from cfbatch_gui.core.inputs.readers.xlsx import is_xlsx, read_records, sheets_of
from cfbatch_gui.core.inputs.recognise.headers import ROWS_FOR_HEADER, has_header, judge_header
from cfbatch_gui.core.inputs.recognise.table_bounds import Record, below_groups, below_titles, notice_above
from cfbatch_gui.core.inputs.unsupported_files import only_header, without_rows
from cfbatch_gui.core.messages import cut_list, message, quoted

Cells = Sequence[str]
_NAMES = """
readme about info information cover instructions legend liesmich hinweise anleitung deckblatt legende lisezmoi
instrucciones leeme istruzioni leggimi leesmij instrucoes leiame instrukcja прочти инструкция 説明 说明 說明
"""
_NOTE_NAMES = frozenset(_NAMES.split())
_LONGEST_NOTE = 30  # rows, with a blank one


def _is_note(name: str, rows: Sequence[Cells]) -> bool:
    """Whether a sheet's first rows are a note: no table, and a blank row below its title."""
    if _is_note_name(name):
        return True
    filled = [row for row in rows if _filled(row)]
    if not filled or len(rows) > _LONGEST_NOTE or vocabulary.is_known(name) or _share_wide(filled) > 0.3:
        return False
    return len(rows) == 1 or not _filled(rows[1])


def is_table(name: str, rows: Sequence[Cells]) -> bool:
    """Whether the rows are certainly a table: several columns in most rows, below a header."""
    filled = [row for row in rows if _filled(row)]
    return not _is_note_name(name) and len(filled) > 2 and _share_wide(filled) > 0.7 and has_header(filled)


def _is_note_name(name: str) -> bool:
    return "".join(letter for letter in name.casefold() if letter.isalnum()) in _NOTE_NAMES


def _share_wide(rows: Sequence[Cells]) -> float:
    return sum(_filled(row) > 1 for row in rows) / len(rows) if rows else 0.0


def _filled(row: Cells) -> int:
    return sum(1 for cell in row if cell.strip())


def open_workbook(candidate: Candidate) -> Source:
    """Recognise the sheet that the options name, otherwise the first that is not a note.

    Raises InputError, UsageError.
    """
    path, options = candidate.path, candidate.options
    if options.separator or options.encoding:
        raise UsageError(
            message("{name} is a workbook. It has no separator and no encoding to choose.", name=path.name)
        )
    sheets = sheets_of(path)
    names = tuple(name for name, _ in sheets)
    if options.sheet and options.sheet not in names:
        raise InputError(
            message(
                "{name} has no sheet “{sheet}”. It has {list}.", name=path.name, sheet=options.sheet, list=_list(names)
            )
        )
    chosen = _first_rows(path, options.sheet) if options.sheet else _choose(path, sheets)
    if not chosen.rows:
        raise _empty_sheets(path, options.sheet, names)
    table = chosen.table
    cells = [row.cells for row in table if any(row.cells)]
    judgement = judge_header(cells, decided=options.has_header)
    header = judgement.is_header
    if header and len(table) == 1:
        raise only_header(path)
    columns = complete_names(table[0].cells if header else (), len(table[0].cells))
    above = notice_above([" ".join(" ".join(row.cells).split()) for row in chosen.rows[: chosen.begin]])
    notices = (*chosen.notices, above) if above else chosen.notices
    return Source(
        *(path, "xlsx" if is_xlsx(path) else "sheet", columns, candidate.size),
        has_header=header,
        sheet=chosen.name,
        sheets=names,
        first_line=table[0].number if chosen.begin else 1,
        notices=notices,
        is_header_sure=not judgement.is_close,
    )


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet and its first rows, of which the table begins at index `begin`; `notices` say why it was chosen."""

    name: str
    rows: Sequence[Row] = ()
    begin: int = 0
    notices: tuple[str, ...] = ()

    @property
    def table(self) -> Sequence[Row]:
        return self.rows[self.begin :]


def _first_rows(path: Path, name: str) -> _Sheet:
    rows = list(islice(read_records(path, name), ROWS_FOR_HEADER))
    return _Sheet(name, rows, _begin(rows))


def _begin(rows: Sequence[Row]) -> int:
    """The index of the table's first row: below titles, if a blank row or known column names follow them."""
    filled = [index for index, row in enumerate(rows) if any(cell.strip() for cell in row.cells)]
    records = [Record(index, rows[index].cells, after_blank=index - 1 not in filled) for index in filled]
    first = below_titles(records)
    is_sure = first and (records[first].after_blank or any(map(vocabulary.is_known, records[first].cells)))
    begin = first if is_sure else below_groups(records)
    return filled[begin] if begin else 0


def _choose(path: Path, sheets: Sequence[tuple[str, bool]]) -> _Sheet:
    visible = _better([name for name, is_visible in sheets if is_visible], path)
    if visible.rows:
        return visible
    hidden = _better([name for name, is_visible in sheets if not is_visible], path)
    is_unexpected = hidden.rows and any(is_visible for _, is_visible in sheets)
    notice = message("The sheet “{name}” is hidden; those that are not are empty.", name=hidden.name)
    return replace(hidden, notices=(notice,)) if is_unexpected else hidden


def _better(names: Sequence[str], path: Path) -> _Sheet:
    note: _Sheet | None = None
    for name in names:
        try:
            sheet = _first_rows(path, name)
        except InputError:
            if note is None:
                raise
            continue  # the sheet is only an alternative to the note, so its damage does not matter
        if note is None and sheet.rows:
            if not _is_note(name, [row.cells for row in sheet.rows]):
                return sheet
            note = sheet
        elif note and is_table(name, [row.cells for row in sheet.table]):
            return replace(
                sheet,
                notices=(
                    message("The sheet “{name}” is read, for “{note}” looks like a note.", name=name, note=note.name),
                ),
            )
    return note or _Sheet("")


def _list(names: tuple[str, ...]) -> str:
    return cut_list([quoted(name) for name in names[:10]], len(names) - 10)


def _empty_sheets(path: Path, sheet: str | None, names: tuple[str, ...]) -> InputError:
    if not sheet:
        return without_rows(path)
    others = tuple(name for name in names if name != sheet)
    cure = (
        message("Choose another: {list}.", list=_list(others))
        if others
        else message("Choose a file with at least one row.")
    )
    return InputError(message("The sheet “{sheet}” of {name} is empty. {cure}", sheet=sheet, name=path.name, cure=cure))
