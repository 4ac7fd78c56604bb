"""The ways in which cells are quoted, as options of the csv module and as changes of the lines it gets."""

import csv
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import Any

from cfbatch_gui.core.inputs.input_values import Quoting

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
    """Return a csv.reader for a way of quoting. It does not decode the escapes of PostgreSQL's COPY."""
    if quoting is Quoting.OUTFILE:
        lines = _with_empty_cells(lines, separator)
    elif quoting is Quoting.WRAPPED:
        lines = map(unwrapped, lines)
    return csv.reader(lines, delimiter=separator, strict=strict, **_READER_OPTIONS[quoting])


def unwrapped(line: str) -> str:
    """Remove the quotation marks around a whole line; another line stays unchanged."""
    found = WRAPPED_LINE.fullmatch(line)
    return found[1].replace('""', '"') + found[2] if found else line


def _with_empty_cells(lines: Iterable[str], separator: str) -> Iterator[str]:
    r"""Replace whole cells \N by empty ones; within quotation marks MySQL writes \\N."""
    return map(partial(null_cell(separator).sub, ""), lines)


@lru_cache(maxsize=8)
def null_cell(separator: str) -> re.Pattern[str]:
    r"""Return the pattern of a whole cell \N without quotation marks."""
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
