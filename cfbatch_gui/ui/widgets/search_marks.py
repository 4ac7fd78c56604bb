"""The places of what is searched for in a text, and how they are marked."""

from collections.abc import Iterable

from PySide6.QtGui import QTextCharFormat

from cfbatch_gui.core.results.text_search import found_spans
from cfbatch_gui.ui import theme

_MOST_CHARACTERS = 200_000  # of a text in which places are looked for


def marked_spans(text: str, sought: str) -> list[tuple[int, int]]:
    """Start and length of each place, in the UTF-16 code units that Qt counts."""
    return spans_in_units(text, found_spans(text[:_MOST_CHARACTERS], sought))


def spans_in_units(text: str, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Start and length in UTF-16 code units of places from and to a character, which ascend."""
    spans: list[tuple[int, int]] = []
    units = done = 0
    for start, stop in places:
        units += _units(text[done:start])
        length = _units(text[start:stop])
        spans.append((units, length))
        units, done = units + length, stop
    return spans


def mark_format() -> QTextCharFormat:
    """The look of a place that was found, readable also on a selected row."""
    form = QTextCharFormat()
    form.setBackground(theme.colour("found"))
    form.setForeground(theme.colour("text"))
    return form


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
