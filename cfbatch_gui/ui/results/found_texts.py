"""The list of texts that a search has found, three lines each, with the words of the question marked."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6 import QtCore, QtGui
from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtWidgets import QMenu, QStyle, QStyleOptionViewItem

from cfbatch_gui.core.results.embeddings import EmbeddedText
from cfbatch_gui.core.results.text_search import word_spans
from cfbatch_gui.ui import theme
from cfbatch_gui.ui.tables.cells import CellDelegate
from cfbatch_gui.ui.tables.table_rows import Column, Index, NumberColumn, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import WIDE, scaled
from cfbatch_gui.ui.widgets.bars import paint_bar
from cfbatch_gui.ui.widgets.buttons import add_action
from cfbatch_gui.ui.widgets.marks import mark_format, marked_layout, spans_in_units
from cfbatch_gui.words.figures import one_line, worded
from cfbatch_gui.words.languages import tr

_TALL, _TOP, _RANK, _SCORE, _BAR, _GAP = 76, 10, 46, 84, 70, 14  # pixels
_LINE = _TALL // 4
_SHOWN, _CONTEXT = 1_000, 60  # characters of a text, and those before its first mark
_LINES = 1.85  # widths of text that fit on two lines, wherever the first one breaks


class Found(NamedTuple):
    rank: int
    text: EmbeddedText
    score: float

    def beside(self) -> str:
        """The user's own columns, or where there are none the row."""
        return " · ".join(filter(None, (*self.text.cells, self.text.id))) or worded("Row {n}", n=self.text.row)


class FoundCells(CellDelegate):
    words: Sequence[str] = ()  # those that are marked

    def paint(self, painter: QtGui.QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model, box = index.model(), QRect(option.rect)
        if not isinstance(model, Rows):
            return
        found: Found = model.row(index.row())
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if is_selected:
            painter.fillRect(box, theme.colour("selection"))
        painter.fillRect(QRect(box.left(), box.bottom(), box.width(), 1), theme.colour("line"))
        painter.setFont(option.font)
        line = scaled(_LINE)
        first = QRect(box.left(), box.top() + scaled(_TOP), box.width(), line)
        side = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        side |= Qt.AlignmentFlag.AlignAbsolute
        if index.column() == 0:
            side = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            first.setWidth(box.width() - scaled(_GAP))
            painter.setPen(theme.colour("quiet"))
            painter.drawText(self._placed(option, first), side | Qt.AlignmentFlag.AlignAbsolute, str(index.data()))
        elif index.column() == 1:
            painter.setPen(theme.colour("text"))
            painter.drawText(self._placed(option, first), side, str(index.data()))
            bar = self._placed(option, QRect(box.left(), box.top() + scaled(34), scaled(_BAR), 6))
            paint_bar(painter, QRectF(bar), found.score, option.direction, is_selected=is_selected)
        else:
            room = self._placed(option, first.adjusted(0, 0, -scaled(WIDE), 0))
            self._paint_text(painter, room, side, found)
        painter.restore()

    def _placed(self, option: QStyleOptionViewItem, part: QRect) -> QRect:
        return QStyle.visualRect(option.direction, option.rect, part)

    def _paint_text(self, painter: QtGui.QPainter, first: QRect, side: Qt.AlignmentFlag, found: Found) -> None:
        """Two lines from the beginning, or from shortly before the first mark where the beginning has none."""
        metrics, width = painter.fontMetrics(), round(first.width() * _LINES)
        shown = metrics.elidedText(one_line(found.text.text, _SHOWN), Qt.TextElideMode.ElideRight, width)
        spans = word_spans(shown, self.words)
        if not spans and (places := word_spans(found.text.text, self.words)):
            start = max(0, places[0][0] - _CONTEXT)
            before = found.text.text[start : places[0][0]]
            start += next((at + 1 for at, letter in enumerate(before) if letter.isspace()), 0)
            text = one_line(found.text.text[start:], _SHOWN)
            shown = metrics.elidedText(f"…{text}", Qt.TextElideMode.ElideRight, width)
            spans = word_spans(shown, self.words)
        marks = [(*span, mark_format()) for span in spans_in_units(shown, spans)]
        painter.setPen(theme.colour("text"))
        layout = marked_layout(shown, painter.font(), marks, side, first.width(), lines=2)
        layout.draw(painter, QPointF(first.left(), first.top()))
        small = QtGui.QFont(painter.font())
        small.setPixelSize(QtGui.QFontInfo(small).pixelSize() - 1)
        painter.setFont(small)
        painter.setPen(theme.colour("quiet"))
        last = first.translated(0, round(layout.boundingRect().height()) + 2)
        words = painter.fontMetrics().elidedText(one_line(found.beside()), Qt.TextElideMode.ElideRight, last.width())
        painter.drawText(last, side, words)


class FoundTable(TableView):
    """`left` is for Up in the first row; `opened` and `shown_in_table` for what the user wants of rows."""

    left, table_wanted = Signal(), Signal()

    def __init__(self) -> None:
        columns: tuple[Column[Found], ...] = (
            NumberColumn(tr("Rank"), lambda each: each.rank, width=_RANK, sortable=False),
            ScoreColumn(tr("Score"), lambda each: each.score, width=_SCORE, sortable=False),
            Column(tr("Text"), lambda each: each.text.text, stretch=True, sortable=False),
            NumberColumn(tr("Row"), lambda each: each.text.row, hidden=True, sortable=False),
            Column(tr("ID"), lambda each: each.text.id, hidden=True, sortable=False),
        )
        self.found: Rows[Found] = Rows(columns)
        super().__init__("", tr("Texts found"), self.found, inset=True)
        self.texts = FoundCells(self)
        self.setItemDelegate(self.texts)
        self.horizontalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(scaled(_TALL))
        for section, width in enumerate((_RANK, _SCORE)):
            self.horizontalHeader().resizeSection(section, scaled(width))

    def items(self) -> list[int]:
        return [each.text.item_no for each in self.found.rows()]

    def item(self, index: int) -> int:
        return self.found.row(index).text.item_no

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 0:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def add_to_menu(self, menu: QMenu, index: int) -> None:
        add_action(menu, tr("Texts like this"), lambda: self.opened.emit(index), "search")
        add_action(menu, tr("Show in table"), self.table_wanted.emit, "table")

    def minimumSizeHint(self) -> QtCore.QSize:
        return QtCore.QSize(0, scaled(_TALL))
