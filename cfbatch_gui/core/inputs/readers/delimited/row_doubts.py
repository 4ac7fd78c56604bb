"""Rows that can be read, but perhaps not as they were meant: cells may have run together around a quotation mark.

A row is doubtful if a quotation mark stands where none belongs, or if a cell has line breaks that would otherwise
separate rows. Texts that hold quotation marks where the format wants none, or line breaks, are ordinary in some files:
`RowHabits` says what is ordinary in this one.
"""

import csv
import re
from collections.abc import Sequence
from functools import lru_cache

from cfbatch_gui.core.inputs.input_values import Quoting, RowHabits
from cfbatch_gui.core.inputs.readers.delimited.csv_quoting import BACKSLASH, csv_rows, unwrapped
from cfbatch_gui.core.messages import message

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
    """Patterns of the quotation mark, of what may stand in quotation marks and before them, and of the separator."""
    quote = "'" if quoting is Quoting.SINGLE else '"'
    if quoting in BACKSLASH:
        body = rf"[^{quote}\\]*+(?:(?:\\.|{quote}{quote})[^{quote}\\]*+)*+"
    else:
        body = rf"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
    return quote, f"(?s:{body})", " *+" if quoting is Quoting.SPACED else "", re.escape(separator)


def has_sound_quotes(text: str, separator: str, quoting: Quoting) -> bool:
    """Return whether every quotation mark is where this quoting allows one. `text` begins with a record, and may end
    within one."""
    quote = "'" if quoting is Quoting.SINGLE else '"'
    if quoting in _UNQUOTED or quote not in text:
        return True
    return quoting is not Quoting.WRAPPED and bool(_sound(separator, quoting).fullmatch(text))


def doubt_about(raw: str, separator: str, quoting: Quoting, habits: RowHabits) -> str:
    """Return why the quotation marks of a record, as it stands in the file, are doubtful; "" if they are not."""
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
    """Return whether the `breaks` line breaks in the cells of a record may have been the ends of rows.

    Whatever was between two rows is then in a cell, with as many separators as a row has: cells have run together in a
    row that has as many cells as others only if they hold that many. A table of one column has none.
    """
    return len(cells) > 1 and sum(cell.count(separator) for cell in cells) >= (len(cells) - 1) * breaks


def is_made_of_rows(raw: str, width: int, separator: str, quoting: Quoting) -> bool:
    """Return whether each line of a record has `width` cells by itself."""
    return all(width_of_line(line, separator, quoting) == width for line in raw.splitlines())


def width_of_line(line: str, separator: str, quoting: Quoting) -> int:
    """The number of cells of a line by itself, 0 where its quotation marks are not in order."""
    if not has_sound_quotes(line, separator, quoting):
        return 0
    try:
        return len(next(iter(csv_rows([line], separator, quoting, strict=True)), ()))
    except csv.Error:
        return 0
