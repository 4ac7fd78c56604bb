"""Lines of CSV that were each taken for one cell and quoted as a whole: what a spreadsheet that separates cells by
another sign makes of a file when it saves it."""

import io
import re
from collections.abc import Iterable, Iterator

_WRAPPED = re.compile(r'"((?:[^"]|"")*)"(\r?\n|\r|)')
_LEAST = 2  # lines that show it


def has_wrapped_lines(sample: str, separator: str) -> bool:
    """Return whether lines stand in quotation marks as a whole and hold cells that do so too."""
    cell = re.compile(rf'(?:^|{re.escape(separator)})"(?:[^"]|"")*"(?:{re.escape(separator)}|$)')
    lines = (_WRAPPED.fullmatch(line) for line in io.StringIO(sample, newline=""))
    return sum(bool(line and cell.search(line[1].replace('""', '"'))) for line in lines) >= _LEAST


def unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """The lines as they were before; others as they stand."""
    return map(_unwrapped, lines)


def _unwrapped(line: str) -> str:
    found = _WRAPPED.fullmatch(line)
    return found[1].replace('""', '"') + found[2] if found else line
