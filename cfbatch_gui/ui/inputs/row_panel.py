"""A row as it stands in its file beside what was read from it: one row in a panel, and a column of a table."""

import re
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QFontInfo,
    QHelpEvent,
    QPainter,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QAbstractItemView, QBoxLayout, QStyleOptionViewItem, QToolTip, QWidget

from cfbatch_gui.core.inputs.input_values import LONGEST_RAW
from cfbatch_gui.core.job_folder.row_problems import LINE_END, TAB, StoredProblem, with_signs
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display, theme
from cfbatch_gui.ui.tables.cells import CellDelegate
from cfbatch_gui.ui.theme import LARGE, SMALL, TINY
from cfbatch_gui.ui.widgets import Label, boxed, column
from cfbatch_gui.ui.widgets.text_panel import PlainText

_BESIDE_FROM = 640  # pixels of width; below, one part stands under the other
_FEWEST_LINES, _MOST_LINES, _MOST_LINES_UNDER = 2, 6, 4
_SIGNS = re.compile(f'(["{LINE_END}{TAB}])')


class RowPanel(QWidget):
    """Shows one row: why it is doubted, how it stands in the file, and its cells as they were read.

    Its height depends on the number of columns only, so that the page stays still from row to row.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[StoredProblem, Sequence[str]] | None = None
        self._reason = Label("", "body", wrap=True)
        self._raw = PlainText(self.tr("In the file"))
        self._raw.setFont(fixed_font(self._raw.font()))
        self._cells = PlainText(self.tr("As read"))
        self._parts = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._parts.setSpacing(LARGE)
        for caption, text in ((self.tr("In the file"), self._raw), (self.tr("As read"), self._cells)):
            part = column(Label(caption, "small"), text, gap=2)
            part.addStretch(1)  # captions stand on one line although the heights of the fonts differ
            self._parts.addWidget(boxed(part), 1)
        layout = column(self._reason, gap=SMALL, margins=(0, SMALL, 0, TINY))
        layout.addLayout(self._parts)
        self.setLayout(layout)

    def show_row(self, problem: StoredProblem, columns: Sequence[str]) -> None:
        """Show a row; `columns` are the names of its cells."""
        self._shown = problem, columns
        self._fill()
        self._fit()

    def raw(self) -> str:
        """How the row stands in the file, as it is shown."""
        return self._raw.toPlainText()

    def cells(self) -> str:
        """What was read from the row, one column on each line, as it is shown."""
        return self._cells.toPlainText()

    def reason(self) -> str:
        """The number of the row and why it is doubted, as they are shown."""
        return self._reason.text()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and self._shown is not None:
            self._fill()  # text that is there keeps the colours of the theme before

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fill(self) -> None:
        if self._shown is None:
            return
        problem, columns = self._shown
        self._reason.setText(self.tr("Row {n}: {why}").format(n=display.number(problem.row), why=said(problem.reason)))
        _write(self._raw, _marked(problem.raw))
        cells = list(zip(columns, problem.cells, strict=False))
        if any(cell for _, cell in cells):
            _write(self._cells, _named(cells))
        else:
            _write(self._cells, [(self.tr("nothing"), "quiet")])

    def _fit(self) -> None:
        is_beside = self.width() >= _BESIDE_FROM
        direction = QBoxLayout.Direction.LeftToRight if is_beside else QBoxLayout.Direction.TopToBottom
        self._parts.setDirection(direction)
        self._parts.setSpacing(LARGE if is_beside else TINY)
        wanted = 1 + len(self._shown[1]) if self._shown else _FEWEST_LINES  # a cell may have two lines
        lines = max(_FEWEST_LINES, min(wanted, _MOST_LINES if is_beside else _MOST_LINES_UNDER))
        self._raw.set_lines(lines if is_beside else _FEWEST_LINES)
        self._cells.set_lines(lines)


class RawDelegate(CellDelegate):
    """Paints rows as they stand in the file: letters of one width, with a sign for each line end and each tab."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        fixed = QStyleOptionViewItem(option)
        fixed.font = fixed_font(option.font)
        super().paint(painter, fixed, index)

    def line_of(self, text: str, longest: int) -> str:
        return with_signs(text[:longest])

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        """Show the whole row as a plain tooltip, also where it fits: its line ends are easier to see there."""
        if event.type() != QEvent.Type.ToolTip or not index.isValid():
            return super().helpEvent(event, view, option, index)
        text = with_signs(str(index.data() or ""), breaks=True)
        QToolTip.showText(event.globalPos(), display.plain_tip(text), view)
        return True


def fixed_font(like: QFont) -> QFont:
    """The system's font with letters of one width, as large as another."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(QFontInfo(like).pixelSize())
    return font


Piece = tuple[str, str]  # a text and the role of its colour


def _marked(text: str) -> Iterator[Piece]:
    """The text with its quotation marks, about which most doubts are, and the signs for what is not printed."""
    for piece in _SIGNS.split(with_signs(text, breaks=True)):
        yield piece, "attention" if piece == '"' else "quiet" if _SIGNS.fullmatch(piece) else "text"


def _named(cells: Sequence[tuple[str, str]]) -> Iterator[Piece]:
    for index, (name, cell) in enumerate(cells):
        yield f"\n{name}: " if index else f"{name}: ", "quiet"
        cut = cell if len(cell) <= LONGEST_RAW else f"{cell[:LONGEST_RAW]}…"
        for piece in _SIGNS.split(with_signs(cut, breaks=True)):
            yield piece, "quiet" if piece in (LINE_END, TAB) else "text"


def _write(into: PlainText, pieces: Iterator[Piece] | Sequence[Piece]) -> None:
    into.clear()
    cursor = QTextCursor(into.document())
    cursor.beginEditBlock()
    for text, role in pieces:
        style = QTextCharFormat()
        style.setForeground(theme.colour(role))
        cursor.insertText(text, style)
    cursor.endEditBlock()
    into.moveCursor(QTextCursor.MoveOperation.Start)
