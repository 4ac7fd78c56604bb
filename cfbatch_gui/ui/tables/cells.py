"""Paints table cells: an icon, one elided line of text or a text with a bar, the selection and a hairline below."""

from PySide6 import QtCore, QtWidgets
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from cfbatch_gui.core.results.text_search import found_spans
from cfbatch_gui.ui import display, icons, theme
from cfbatch_gui.ui.tables.table_rows import (
    ALIGN_ROLE,
    BAR_ROLE,
    BELOW_ROLE,
    COLOUR_ROLE,
    ICON_ROLE,
    SEARCHED_ROLE,
    Index,
)
from cfbatch_gui.ui.theme import ROW_HEIGHT, scaled, small_font
from cfbatch_gui.ui.widgets.bars import paint_bar
from cfbatch_gui.ui.widgets.marks import Mark, mark_format, marked_layout, marked_spans
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import score_text

CELL_MARGIN = 11
ICON, ICON_GAP = 16, 6
_BAR_HEIGHT, _BAR_GAP = 6, 10
_WIDEST_SCORE = score_text(-0.0)  # with its sign, the widest of the usual scores
_CONTEXT = 24  # characters before the first place that is marked
_LONGEST = 400  # characters; the rest of a text is not painted

_FIGURES = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute


def _placed(option: QStyleOptionViewItem, part: QRect) -> QRect:
    """Where a part of a cell is, mirrored where lines begin at the right."""
    return QStyle.visualRect(option.direction, option.rect, part)


class CellDelegate(QtWidgets.QStyledItemDelegate):
    """Paints DisplayRole, ICON_ROLE, BAR_ROLE and COLOUR_ROLE; the places of `sought` are marked."""

    sought = ""
    sample = _WIDEST_SCORE  # of the figures beside a bar
    elided = Qt.TextElideMode.ElideRight

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        box: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.colour("selection"))
        painter.fillRect(QRect(box.left(), box.bottom(), box.width(), 1), theme.colour("line"))
        inner = box.adjusted(CELL_MARGIN, 0, -CELL_MARGIN, -1)
        role = str(index.data(COLOUR_ROLE) or "text")
        if (named := index.data(ICON_ROLE)) is not None:
            side = scaled(ICON)
            spot = QRect(QtCore.QPoint(inner.left(), inner.center().y() - side // 2 + 1), QSize(side, side))
            icons.paint_icon(painter, _placed(option, spot), *named)
            inner.setLeft(spot.right() + ICON_GAP)
        painter.setPen(theme.colour(role))
        painter.setFont(option.font)
        if below := figures.one_line(str(index.data(BELOW_ROLE) or ""), _LONGEST):
            inner = self._paint_below(painter, inner, below, option)
        text = figures.one_line(str(index.data() or ""), _LONGEST)
        if (share := index.data(BAR_ROLE)) is not None:
            self._paint_bar(painter, inner, text, float(share), option)
        else:
            align = index.data(ALIGN_ROLE) or Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            side = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag(align))
            flags = side | Qt.AlignmentFlag.AlignAbsolute
            shown = painter.fontMetrics().elidedText(text, self.elided, inner.width())
            if self.sought and index.data(SEARCHED_ROLE):
                self._paint_found(painter, _placed(option, inner), flags, shown, str(index.data() or ""))
            else:
                self._paint_marked(painter, _placed(option, inner), flags, shown, self.marks(index, shown))
        painter.restore()

    def _paint_below(self, painter: QPainter, inner: QRect, text: str, option: QStyleOptionViewItem) -> QRect:
        """Paint the second line, and return the place of the first one."""
        height, middle = painter.fontMetrics().height(), inner.center().y() + 1
        lower = _placed(option, QRect(inner.left(), middle, inner.width(), height))
        painter.save()
        painter.setFont(small_font(option.font))
        painter.setPen(theme.colour("quiet"))
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        side = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter
        shown = painter.fontMetrics().elidedText(text, self.elided, inner.width())
        painter.drawText(lower, side | Qt.AlignmentFlag.AlignAbsolute, shown)
        painter.restore()
        return QRect(inner.left(), middle - height, inner.width(), height)

    def _paint_found(self, painter: QPainter, inner: QRect, flags: Qt.AlignmentFlag, shown: str, whole: str) -> None:
        """Paint the line with its marks; one cut before the first of them begins with a word shortly before it."""
        spans = marked_spans(shown, self.sought)
        if not spans and (places := found_spans(whole, self.sought)):
            start = max(0, places[0][0] - _CONTEXT)
            start = next((at + 1 for at in range(start, places[0][0]) if whole[at].isspace()), start)
            text = figures.one_line(whole[start:], _LONGEST)
            shown = painter.fontMetrics().elidedText(f"…{text}", Qt.TextElideMode.ElideRight, inner.width())
            spans = marked_spans(shown, self.sought)
        self._paint_marked(painter, inner, flags, shown, [(*span, mark_format()) for span in spans])

    def marks(self, index: Index, shown: str) -> list[Mark]:
        """What is marked in the painted line of a cell."""
        return []

    def _paint_marked(
        self, painter: QPainter, inner: QRect, flags: Qt.AlignmentFlag, shown: str, marks: list[Mark]
    ) -> None:
        if not marks:
            # The direction follows the script of the text, the alignment its column.
            painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
            painter.drawText(inner, flags, shown)
            return
        layout = marked_layout(shown, painter.font(), marks, flags, inner.width())
        above = (inner.height() - layout.boundingRect().height()) / 2
        layout.draw(painter, QtCore.QPointF(inner.left(), inner.top() + above))

    def _paint_bar(
        self, painter: QPainter, inner: QRect, text: str, share: float, option: QStyleOptionViewItem
    ) -> None:
        """The figures are at least as wide as the sample, so that all bars of a column begin at the same x."""
        width = max(painter.fontMetrics().horizontalAdvance(sample) for sample in (self.sample, text))
        figures = QRect(inner.left(), inner.top(), width, inner.height())
        painter.save()
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # figures have none of their own: “-0.0028”
        painter.drawText(_placed(option, figures), _FIGURES, text)
        painter.restore()
        left = figures.right() + 1 + _BAR_GAP
        if left < inner.right() - 2 * _BAR_HEIGHT:
            top = inner.center().y() - _BAR_HEIGHT // 2 + 1
            track = _placed(option, QRect(left, top, inner.right() - left, _BAR_HEIGHT))
            is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
            role = "quiet" if painter.pen().color() == theme.colour("quiet") else "accent"  # as the figures
            paint_bar(painter, QtCore.QRectF(track), share, option.direction, role=role, is_selected=is_selected)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        hint = super().sizeHint(option, index)
        return QSize(min(hint.width() + 2 * CELL_MARGIN, scaled(600)), scaled(ROW_HEIGHT))

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QtWidgets.QAbstractItemView,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        if event.type() != QtCore.QEvent.Type.ToolTip or not index.isValid():
            return super().helpEvent(event, view, option, index)
        text = str(index.data() or "")
        room = view.visualRect(index).width() - 2 * CELL_MARGIN
        fits = len(text) < _LONGEST and view.fontMetrics().horizontalAdvance(figures.one_line(text)) <= room
        QtWidgets.QToolTip.showText(event.globalPos(), "" if fits else display.plain_tip(text), view)
        return True
