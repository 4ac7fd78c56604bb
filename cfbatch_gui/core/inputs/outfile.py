"""What MySQL writes by SELECT … INTO OUTFILE with OPTIONALLY ENCLOSED BY '"': told from other CSV, and made like it."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial

from cfbatch_gui.core.inputs.headers import is_number_or_date

_NULL = r"\N"
_TIME = re.compile(r"-?\d{1,3}:\d\d:\d\d(?:\.\d+)?")
_CUT_CELL = re.compile(r'"(?:[^"\\]|\\.)*\\?|[^"\n]*', re.DOTALL)


def is_outfile(sample: str, separator: str, *, is_whole: bool) -> bool:
    r"""Return whether all texts are quoted, all figures are not, some cells are \N, and no backslash stands within
    quotation marks but before a sign that needs one.

    Elsewhere \N may be two letters of a text, and C:\new has lost nothing.
    """
    if _NULL not in sample or not _null_cell(separator).search(sample):
        return False
    end, has_text = 0, False
    for cell in _cell(separator).finditer(sample):
        if cell.start() != end or not (cell["quoted"] or _is_unquoted(cell["plain"])):
            break
        end = cell.end()
        has_text = has_text or bool(cell["quoted"])
    is_read = end == len(sample) or (not is_whole and bool(_CUT_CELL.fullmatch(sample, end)))
    return has_text and is_read


def _is_unquoted(cell: str) -> bool:
    return cell == _NULL or is_number_or_date(cell) or bool(_TIME.fullmatch(cell))


def with_empty_cells(lines: Iterable[str], separator: str) -> Iterator[str]:
    r"""The lines with nothing where \N stands for a whole cell; within quotation marks MySQL writes \\N."""
    return map(partial(_null_cell(separator).sub, ""), lines)


@lru_cache(maxsize=8)
def _cell(separator: str) -> re.Pattern[str]:
    sign = re.escape(separator)
    return re.compile(
        rf'(?:(?P<quoted>"(?:[^"\\]|\\["\\\r\n0{sign}])*")|(?P<plain>[^"{sign}\r\n]+))(?:{sign}|\r?\n|\Z)'
    )


@lru_cache(maxsize=8)
def _null_cell(separator: str) -> re.Pattern[str]:
    sign = re.escape(separator)
    return re.compile(rf"(?<![^{sign}\r\n])\\N(?![^{sign}\r\n])")
