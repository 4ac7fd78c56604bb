"""Places of a text that are painted otherwise: what a search has found, and what a text has that another has not. The
texts are users', and never read as markup.
"""

from collections.abc import Iterable, Sequence

from PySide6 import QtGui
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QApplication, QSizePolicy, QStyle

from cfbatch_gui.core.results.matching import differing_numbers, differing_words
from cfbatch_gui.core.results.text_search import found_spans
from cfbatch_gui.ui import theme
from cfbatch_gui.ui.theme import small_font
from cfbatch_gui.ui.widgets.labels import Label
from cfbatch_gui.words import figures

Mark = tuple[int, int, QTextCharFormat]
"""Start and length of a place, in the UTF-16 code units that Qt counts, and its look."""

_MOST_CHARACTERS = 200_000  # of a text in which places are looked for
_LONGEST = 1_000  # characters of a text that are painted
_LINES = 1.8  # widths of text that fit on two lines, wherever the first one breaks


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


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def marked_spans(text: str, sought: str) -> list[tuple[int, int]]:
    """Start and length of each place, in the UTF-16 code units that Qt counts."""
    return spans_in_units(text, found_spans(text[:_MOST_CHARACTERS], sought))


def mark_format() -> QTextCharFormat:
    """Of what a search has found."""
    form = QTextCharFormat()
    form.setBackground(theme.colour("found"))
    form.setForeground(theme.colour("text"))
    return form


def number_format() -> QTextCharFormat:
    """Of a number that the other text has not."""
    form = QTextCharFormat()
    form.setForeground(theme.colour("attention"))
    form.setBackground(theme.colour("attention_back"))
    form.setFontWeight(QFont.Weight.DemiBold)
    return form


def word_format() -> QTextCharFormat:
    """Of a word that the other text has not."""
    form = QTextCharFormat()
    form.setFontUnderline(True)
    return form


def differences(text: str, than: str) -> list[Mark]:
    """The numbers and words of a text that another one has not."""
    numbers = differing_numbers(than, text)[1]
    words: list[tuple[int, int]] = []
    for start, stop in differing_words(than, text):
        if any(start < end and begin < stop for begin, end in numbers) or not any(map(str.isalpha, text[start:stop])):
            continue
        follows = bool(words) and not text[words[-1][1] : start].strip()
        words.append((words.pop()[0] if follows else start, stop))
    looks = ((numbers, number_format()), (words, word_format()))
    return [(*span, look) for places, look in looks for span in spans_in_units(text, places)]


def differing_marks(shown: str, text: str, like: str) -> list[Mark]:
    """The numbers that another text has not, in a line that may be a text which is cut in its middle."""
    spans, moved = differing_numbers(like, text)[1], len(shown) - len(text)
    cut = shown.rfind("…") if moved else len(shown)
    before = [span for span in spans if span[1] <= cut]
    after = [(start + moved, stop + moved) for start, stop in spans if start + moved > cut]
    return [(*span, number_format()) for span in spans_in_units(shown, before + after)]


def marked_layout(
    text: str, font: QFont, marks: Sequence[Mark], side: Qt.AlignmentFlag, width: int, *, lines: int = 1
) -> QTextLayout:
    """Laid out on so many lines at most; the direction follows the script of the text, the side does not."""
    option = QTextOption(side)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    option.setWrapMode(QTextOption.WrapMode.NoWrap if lines == 1 else QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout = QTextLayout(text, font)
    layout.setTextOption(option)
    ranges = []
    for start, length, look in marks:
        mark = QTextLayout.FormatRange()
        mark.start, mark.length, mark.format = start, length, look
        ranges.append(mark)
    layout.setFormats(ranges)
    layout.beginLayout()
    height = 0.0
    for _ in range(lines):
        line = layout.createLine()
        if line.isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, height))
            height += line.height()
    layout.endLayout()
    return layout


class MarkedText(Label):
    """A text on two lines at most, then cut with "…"; with `has_more` there is room for a small line below. `kind` is
    that of the stylesheet.
    """

    def __init__(self, kind: str, *, has_more: bool = False) -> None:
        super().__init__()
        self.setProperty("kind", kind)
        self._than, self._more, self._has_more = "", "", has_more
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str, *, than: str = "", more: str = "") -> None:
        """What the text has and `than` has not is marked; `more` is the small line."""
        self._unbroken, self._than, self._more = (figures.one_line(each, _LONGEST) for each in (text, than, more))
        self.setAccessibleName(self._unbroken)
        self.setAccessibleDescription(self._more)
        self.update()

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        return QSize(
            0, 2 * self.fontMetrics().height() + self._has_more * QFontMetrics(small_font(QApplication.font())).height()
        )

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        painter, room = QtGui.QPainter(self), self.width()
        side = QStyle.visualAlignment(self.layoutDirection(), Qt.AlignmentFlag.AlignLeft)
        side |= Qt.AlignmentFlag.AlignAbsolute
        shown = self.fontMetrics().elidedText(self._unbroken, Qt.TextElideMode.ElideRight, round(room * _LINES))
        layout = marked_layout(shown, self.font(), differences(shown, self._than), side, room, lines=2)
        small = QFontMetrics(small_font(QApplication.font()))
        height = layout.boundingRect().height()
        top = (self.height() - height - (small.height() if self._more else 0)) / 2
        painter.setPen(theme.colour("text"))
        layout.draw(painter, QPointF(0, top))
        painter.setFont(small_font(QApplication.font()))
        painter.setPen(theme.colour("quiet"))
        more = small.elidedText(self._more, Qt.TextElideMode.ElideRight, room)
        painter.drawText(0, round(top + height), room, small.height(), side, more)
