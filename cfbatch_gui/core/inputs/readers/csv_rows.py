r"""The csv module, set up for each way of quoting: MySQL's \N and lines that were quoted whole are put right before."""

import csv
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import Any

from cfbatch_gui.core.inputs.input_values import Quoting

_WRAPPED = re.compile(r'"((?:[^"]|"")*)"(\r?\n|\r|)')


def unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """The lines as they were before; others as they stand."""
    return map(_unwrapped, lines)


def _unwrapped(line: str) -> str:
    found = _WRAPPED.fullmatch(line)
    return found[1].replace('""', '"') + found[2] if found else line


def with_empty_cells(lines: Iterable[str], separator: str) -> Iterator[str]:
    r"""The lines with nothing where \N stands for a whole cell; within quotation marks MySQL writes \\N."""
    return map(partial(_null_cell(separator).sub, ""), lines)


@lru_cache(maxsize=8)
def _null_cell(separator: str) -> re.Pattern[str]:
    sign = re.escape(separator)
    return re.compile(rf"(?<![^{sign}\r\n])\\N(?![^{sign}\r\n])")


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


def csv_rows(lines: Iterable[str], separator: str, quoting: Quoting, *, strict: bool = False) -> Any:
    """A reader of the csv module for a way of quoting; COPY's escapes are still in the cells."""
    if quoting is Quoting.OUTFILE:
        lines = with_empty_cells(lines, separator)
    elif quoting is Quoting.WRAPPED:
        lines = unwrapped(lines)
    return csv.reader(lines, delimiter=separator, strict=strict, **_READER_OPTIONS[quoting])
