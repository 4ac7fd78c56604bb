"""The header of a table: its column titles, and the menu that shows and hides columns."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QMenu, QStyle, QTableView

from cfbatch_gui.ui import icons, theme
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.tables.table_rows import ALIGN_ROLE, Column
from cfbatch_gui.ui.theme import scaled

HEADER_HEIGHT = 34


class Header(QHeaderView):
    """The column titles above a hairline; a chevron marks the sorted column. `changed` follows every change of it."""

    changed = Signal()

    def __init__(
        self, parent: QTableView, columns: Callable[[], Sequence[Column[Any]]], fill_menu: Callable[[QMenu], None]
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._columns, self._fill_menu = columns, fill_menu
        self.setSectionsClickable(True)
        self.setSectionsMovable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(36)
        self.setFixedHeight(scaled(HEADER_HEIGHT))
        self.setSortIndicatorClearable(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)
        self.sectionResized.connect(lambda *_: self.changed.emit())
        self.sectionMoved.connect(lambda *_: self.changed.emit())
        self.sortIndicatorChanged.connect(lambda *_: self.changed.emit())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        section = self.logicalIndexAt(event.position().toPoint())
        columns = self._columns()
        clickable = not (0 <= section < len(columns)) or columns[section].sortable
        self.setSectionsClickable(clickable)
        super().mouseReleaseEvent(event)
        self.setSectionsClickable(True)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.save()
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
        font = QFont(self.font())
        font.setPixelSize(max(9, self.fontInfo().pixelSize() - 1))
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(theme.colour("quiet"))
        model = self.model()
        align = model.headerData(section, self.orientation(), ALIGN_ROLE) or Qt.AlignmentFlag.AlignLeft
        box = rect.adjusted(CELL_MARGIN, 0, -CELL_MARGIN, 0)
        is_sorted = self.sortIndicatorSection() == section
        text = str(model.headerData(section, self.orientation()) or "")
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width() - 16 * is_sorted)
        width = painter.fontMetrics().horizontalAdvance(shown)
        at_right = bool(align & Qt.AlignmentFlag.AlignRight)
        painter.drawText(box, align | Qt.AlignmentFlag.AlignVCenter, shown)
        if is_sorted:
            up = self.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
            left = box.right() - width - 15 if at_right else box.left() + width + 3
            icon_box = QStyle.visualRect(self.layoutDirection(), box, QRect(left, rect.center().y() - 6, 12, 12))
            icons.paint_icon(painter, icon_box, "chevron-up" if up else "chevron-down", "quiet")
        painter.restore()

    def sizeHint(self) -> QSize:
        return QSize(self.length(), scaled(HEADER_HEIGHT))  # Qt's own would measure the text of every column

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.HoverMove:
            self.viewport().update()
        return handled

    def setModel(self, model: QAbstractItemModel | None) -> None:
        super().setModel(model)
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def _menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._fill_menu(menu)
        menu.popup(self.mapToGlobal(position))
