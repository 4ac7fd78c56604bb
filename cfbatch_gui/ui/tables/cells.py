"""Paints table cells: an icon, one elided line of text or a text with a bar, the selection and a hairline below."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
)

from cfbatch_gui.core.results.numbers import score_text
from cfbatch_gui.ui import display, icons, theme
from cfbatch_gui.ui.tables.table_rows import ALIGN_ROLE, BAR_ROLE, COLOUR_ROLE, ICON_ROLE
from cfbatch_gui.ui.theme import ROW_HEIGHT, scaled
from cfbatch_gui.ui.widgets.bars import paint_bar

CELL_MARGIN = 11
_ICON, _ICON_GAP = 16, 6
_BAR_HEIGHT, _BAR_GAP = 6, 10
_WIDEST_SCORE = score_text(-0.0)  # with its sign, the widest of the usual scores
_LONGEST = 400  # characters; the rest of a text is not painted


class CellDelegate(QStyledItemDelegate):
    """Paints the model's data of DisplayRole, ICON_ROLE, BAR_ROLE and COLOUR_ROLE in the colours of the theme."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        box: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.colour("selection"))
        painter.fillRect(QRect(box.left(), box.bottom(), box.width(), 1), theme.colour("line"))
        inner = box.adjusted(CELL_MARGIN, 0, -CELL_MARGIN, -1)
        role = str(index.data(COLOUR_ROLE) or "text")
        if (named := index.data(ICON_ROLE)) is not None:
            spot = QRect(QPoint(inner.left(), inner.center().y() - _ICON // 2 + 1), QSize(_ICON, _ICON))
            icons.paint_icon(painter, spot, *named)
            inner.setLeft(spot.right() + _ICON_GAP)
        painter.setPen(theme.colour(role))
        painter.setFont(option.font)
        text = self.line_of(str(index.data() or ""), _LONGEST)
        if (share := index.data(BAR_ROLE)) is not None:
            self._paint_bar(painter, inner, text, float(share))
        else:
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, inner.width())
            align = index.data(ALIGN_ROLE) or Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            # The direction follows the script of the text, the alignment its column.
            painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
            painter.drawText(inner, Qt.AlignmentFlag(align) | Qt.AlignmentFlag.AlignAbsolute, shown)
        painter.restore()

    def line_of(self, text: str, longest: int) -> str:
        """The line that is painted of a cell's text, of which no more than `longest` characters are needed."""
        return display.one_line(text, longest)

    def _paint_bar(self, painter: QPainter, inner: QRect, text: str, share: float) -> None:
        width = painter.fontMetrics().horizontalAdvance(text)
        painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        left = inner.left() + width + _BAR_GAP
        if left < inner.right() - 2 * _BAR_HEIGHT:
            top = inner.center().y() - _BAR_HEIGHT / 2 + 1
            paint_bar(painter, QRectF(left, top, inner.right() - left, _BAR_HEIGHT), share)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        hint = super().sizeHint(option, index)
        return QSize(min(hint.width() + 2 * CELL_MARGIN, scaled(600)), scaled(ROW_HEIGHT))

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        """Show the whole text of an elided cell as a plain tooltip."""
        if event.type() != QEvent.Type.ToolTip or not index.isValid():
            return super().helpEvent(event, view, option, index)
        text = str(index.data() or "")
        room = view.visualRect(index).width() - 2 * CELL_MARGIN
        fits = len(text) < _LONGEST and view.fontMetrics().horizontalAdvance(display.one_line(text)) <= room
        QToolTip.showText(event.globalPos(), "" if fits else display.plain_tip(text), view)
        return True


class FigureDelegate(CellDelegate):
    """Paints right-aligned figures at least as wide as `sample`, so that all bars of a column begin at the same x."""

    def __init__(self, parent: QObject, *, sample: str = _WIDEST_SCORE) -> None:
        super().__init__(parent)
        self._sample = sample

    def _paint_bar(self, painter: QPainter, inner: QRect, text: str, share: float) -> None:
        width = max(painter.fontMetrics().horizontalAdvance(sample) for sample in (self._sample, text))
        figures = QRect(inner.left(), inner.top(), width, inner.height())
        painter.drawText(figures, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        left = figures.right() + 1 + _BAR_GAP
        if left < inner.right() - 2 * _BAR_HEIGHT:
            top = inner.center().y() - _BAR_HEIGHT / 2 + 1
            paint_bar(painter, QRectF(left, top, inner.right() - left, _BAR_HEIGHT), share)
