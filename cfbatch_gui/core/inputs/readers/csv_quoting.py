"""How cells are quoted, as options of the csv module, and when a quotation mark makes a row doubtful."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from cfbatch_gui.core.inputs.input_values import Quoting, RowHabits
from cfbatch_gui.core.messages import message

WRAPPED_LINE = re.compile(r'"((?:[^"]|"")*)"(\r?\n|\r|)')
LONGEST_CELL = 16 * 1024 * 1024  # characters; a request holds under 10 MB, so nothing longer can ever be sent
_READER_OPTIONS: dict[Quoting, dict[str, Any]] = {
    Quoting.DOUBLED: {},
    Quoting.ESCAPED: {"escapechar": "\\"},
    Quoting.OUTFILE: {"escapechar": "\\"},
    Quoting.WRAPPED: {},
    Quoting.SINGLE: {"quotechar": "'"},
    Quoting.SPACED: {"skipinitialspace": True},
    Quoting.NONE: {"quoting": csv.QUOTE_NONE},
    Quoting.COPY: {"quoting": csv.QUOTE_NONE},
}
BACKSLASH = (Quoting.ESCAPED, Quoting.OUTFILE)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
csv.field_size_limit(LONGEST_CELL)  # the default of 131,072 is less than a chapter of a book; the limit is per process


def csv_rows(lines: Iterable[str], separator: str, quoting: Quoting, *, strict: bool = False) -> Any:
    """A csv.reader for a way of quoting, before the escapes of PostgreSQL's COPY."""
    if quoting is Quoting.OUTFILE:
        lines = _with_empty_cells(lines, separator)
    elif quoting is Quoting.WRAPPED:
        lines = map(unwrapped, lines)
    return csv.reader(lines, delimiter=separator, strict=strict, **_READER_OPTIONS[quoting])


def unwrapped(line: str) -> str:
    found = WRAPPED_LINE.fullmatch(line)
    return found[1].replace('""', '"') + found[2] if found else line


def _with_empty_cells(lines: Iterable[str], separator: str) -> Iterator[str]:
    return map(partial(null_cell(separator).sub, ""), lines)


@lru_cache(maxsize=8)
def null_cell(separator: str) -> re.Pattern[str]:
    sign = re.escape(separator)
    return re.compile(rf"(?<![^{sign}\r\n])\\N(?![^{sign}\r\n])")


def copied(cell: str) -> str:
    """Decode a cell of PostgreSQL's COPY: \\N is empty, \\t a tab, \\n a line end."""
    if "\\" not in cell:
        return cell
    if cell == "\\N":
        return ""
    return _ESCAPE.sub(_meant, cell)


def _meant(found: re.Match[str]) -> str:
    if found[3] is not None:
        return _ESCAPED.get(found[3], found[3])
    code = int(found[1], 8) if found[1] else int(found[2], 16)
    return chr(code) if 0 < code < 128 else found[0]


AFTER_QUOTE = message(
    "After a closing quotation mark this row goes on without a separator. Cells may have run together."
)
STRAY_QUOTE = message("There is a quotation mark in this row that belongs to no pair. Cells may have run together.")
LINE_BREAK = message("A cell of this row goes on over several lines, which may be rows of their own.")
CUT_SHORT = message(
    "A cell of several lines seems to end too early: the line below this row goes on with quotation marks."
)
CHECKED = (Quoting.DOUBLED, Quoting.ESCAPED, Quoting.OUTFILE, Quoting.SPACED)  # every mark of a sound row has its place
_UNQUOTED = (Quoting.NONE, Quoting.COPY)


@lru_cache(maxsize=16)
def _sound(separator: str, quoting: Quoting) -> re.Pattern[str]:
    """The pattern of records in which quotation marks stand around whole cells only; the last cell may be open."""
    quote, body, before, sign = _parts(separator, quoting)
    begin = rf"(?:(?<=[{sign}\r\n])|\A){before}{quote}"
    end = rf"{quote}(?= *+(?:[{sign}\r\n]|\Z))"
    other = rf"[^{quote}]*+"
    if before:  # spaces before the mark are part of what stands between quoted cells
        begin = rf"(?:(?<=[{sign}\r\n ])|\A){quote}"
    return re.compile(rf"{other}(?:{begin}{body}{end}{other})*+(?:{begin}{body}\Z)?")


@lru_cache(maxsize=16)
def _cell(separator: str, quoting: Quoting) -> re.Pattern[str]:
    """The pattern of one cell of a record with the separator after it, as the csv module reads it."""
    quote, body, before, sign = _parts(separator, quoting)
    return re.compile(
        rf"(?:{before}{quote}(?P<quoted>{body})(?:{quote}(?P<after>[^{sign}\r\n]*+)|\Z)|(?P<plain>[^{sign}\r\n]*+))"
        rf"(?P<end>[{sign}]|\r\n|\n|\r|\Z)"
    )


def _parts(separator: str, quoting: Quoting) -> tuple[str, str, str, str]:
    quote = "'" if quoting is Quoting.SINGLE else '"'
    if quoting in BACKSLASH:
        body = rf"[^{quote}\\]*+(?:(?:\\.|{quote}{quote})[^{quote}\\]*+)*+"
    else:
        body = rf"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
    return quote, f"(?s:{body})", " *+" if quoting is Quoting.SPACED else "", re.escape(separator)


def has_sound_quotes(text: str, separator: str, quoting: Quoting) -> bool:
    """`text` begins with a record, and may end within one."""
    quote = "'" if quoting is Quoting.SINGLE else '"'
    if quoting in _UNQUOTED or quote not in text:
        return True
    return quoting is not Quoting.WRAPPED and bool(_sound(separator, quoting).fullmatch(text))


def doubt_about(raw: str, separator: str, quoting: Quoting, habits: RowHabits) -> str:
    """Why the quotation marks of a record, as it stands in the file, are doubtful; "" if they are not."""
    if quoting in _UNQUOTED:
        return ""
    if quoting is Quoting.WRAPPED:
        raw = unwrapped(raw)
    quote = "'" if quoting is Quoting.SINGLE else '"'
    is_stray = False
    position = 0
    pattern = _cell(separator, quoting)
    while found := pattern.match(raw, position):
        if (found["after"] or "").strip():
            return AFTER_QUOTE
        is_stray = is_stray or _marks(found["plain"] or "", quote, quoting) % 2 == 1
        position = found.end()
        if not found["end"]:
            break
    # An apostrophe within a cell is ordinary.
    return STRAY_QUOTE if is_stray and quote == '"' and not habits.has_stray_quotes else ""


def _marks(cell: str, quote: str, quoting: Quoting) -> int:
    escaped = cell.count(f"\\{quote}") if quoting in BACKSLASH else 0
    return cell.count(quote) - escaped


def is_fused(cells: Sequence[str], breaks: int, separator: str) -> bool:
    """Whether the `breaks` line breaks in a record's cells may have been ends of rows."""
    return len(cells) > 1 and sum(cell.count(separator) for cell in cells) >= (len(cells) - 1) * breaks


def is_made_of_rows(raw: str, width: int, separator: str, quoting: Quoting) -> bool:
    return all(width_of_line(line, separator, quoting) == width for line in raw.splitlines())


def width_of_line(line: str, separator: str, quoting: Quoting) -> int:
    """The number of cells of a line by itself, 0 where its quotation marks are not in order."""
    if not has_sound_quotes(line, separator, quoting):
        return 0
    try:
        return len(next(iter(csv_rows([line], separator, quoting, strict=True)), ()))
    except csv.Error:
        return 0


def rows_of_header(rows: Sequence[Sequence[str]]) -> int:
    """How many rows belong to the header, with sqlcmd's dashes and the extra rows of surveys."""
    width = len(rows[0])
    if len(rows) > 2 and _are_import_ids(rows[2], width):
        return 3
    return 2 if len(rows) > 1 and (_is_underline(rows[1], width) or _are_forms(rows[1], width)) else 1


def is_repeated(cells: Sequence[str], header: Sequence[str]) -> bool:
    return len(header) > 1 and tuple(cells) == tuple(header)


def _is_underline(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width > 1 and all(len(cell) > 1 and not cell.strip("-") for cell in cells)


def _are_forms(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width > 1 and not cells[0] and "Open-Ended Response" in cells


def _are_import_ids(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width > 1 and all(cell.startswith('{"ImportId":') for cell in cells)
