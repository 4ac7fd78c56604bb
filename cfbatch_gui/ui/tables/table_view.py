"""The view of a table: its header, its columns, whose layout is remembered, and what is copied."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from PySide6 import QtCore, QtGui
from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QMenu, QStyle, QTableView

from cfbatch_gui.ui import icons
from cfbatch_gui.ui.memory import memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tables.cells import CELL_MARGIN, ICON, ICON_GAP, CellDelegate
from cfbatch_gui.ui.tables.table_rows import Column, ColumnRows
from cfbatch_gui.ui.theme import ROW_HEIGHT, scaled
from cfbatch_gui.ui.widgets import QuietButton
from cfbatch_gui.ui.widgets.keyboard import came_by_keyboard
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr

MOST_ROWS_TO_COPY = 100_000


HEADER_HEIGHT = 34


class Header(QHeaderView):
    def __init__(self, parent: QTableView) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)
        self.setSectionsMovable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(36)
        self.setFixedHeight(scaled(HEADER_HEIGHT))
        self.setSortIndicatorClearable(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        section = self.logicalIndexAt(event.position().toPoint())
        model = self.model()
        columns = model.columns if isinstance(model, ColumnRows) else ()
        clickable = not (0 <= section < len(columns)) or columns[section].sortable
        self.setSectionsClickable(clickable)
        super().mouseReleaseEvent(event)
        self.setSectionsClickable(True)

    def paintSection(self, painter: QtGui.QPainter, rect: QtCore.QRect, section: int) -> None:
        super().paintSection(painter, rect, section)
        if self.sortIndicatorSection() == section:
            up = self.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
            spot = QtCore.QRect(rect.right() - CELL_MARGIN, rect.center().y() - 6, 12, 12)  # in the padding at its end
            spot = QStyle.visualRect(self.layoutDirection(), rect, spot)
            icons.paint_icon(painter, spot, "chevron-up" if up else "chevron-down", "quiet")

    def sizeHint(self) -> QSize:
        return QSize(self.length(), scaled(HEADER_HEIGHT))  # Qt's own would measure the text of every column


_LEAST_ROWS = 2
_ROUNDING = 2  # pixels; a text may be some part of one wider than its whole number, and is cut then
_LEAST_TEXT, _FEWEST_LETTERS = 180, 90  # pixels of a text, some five words; and where even that is not to be had


class TableView(QTableView):
    """`picked` carries the new current row, `opened` one of Enter or a double click; with a name its layout is kept."""

    picked = QtCore.Signal(int)
    opened = QtCore.Signal(int)
    on_menu: Callable[[QMenu, int], None] | None = None  # adds entries to the context menu of a row
    own_keys: Mapping[int, Callable[[], object]] = {}  # what else keys do here, also where the window has them

    def __init__(
        self,
        name: str = "",
        title: str = "",
        rows: ColumnRows[Any] | None = None,
        *,
        inset: bool = False,
        on_picked: Callable[[int], object] | None = None,
        on_opened: Callable[[int], object] | None = None,
    ) -> None:
        super().__init__()
        self._name = name
        self._restoring = False
        self._narrowed: dict[int, int] = {}  # the usual widths of columns that are narrower for want of room
        self._gone: set[int] = set()  # columns that give way now
        self.setProperty("inset", "true" if inset else "false")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.cells = CellDelegate(self)
        self.setItemDelegate(self.cells)
        header = Header(self)
        self.setHorizontalHeader(header)
        header.customContextMenuRequested.connect(self._columns_menu)
        for changed in (header.sectionResized, header.sectionMoved, header.sortIndicatorChanged):
            changed.connect(lambda *_: self._remember())
        vertical = self.verticalHeader()
        vertical.hide()
        vertical.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        vertical.setDefaultSectionSize(scaled(ROW_HEIGHT))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._context_menu)
        self.doubleClicked.connect(lambda index: self.opened.emit(index.row()))
        if title:
            self.setAccessibleName(title)
        if rows is not None:
            self.show_rows(rows)
        if on_picked is not None:
            self.picked.connect(on_picked)
        if on_opened is not None:
            self.opened.connect(on_opened)

    def show_rows(self, rows: ColumnRows[Any]) -> None:
        before = self.model()
        with self._unremembered():
            self.setModel(rows)
        if before is not None:
            before.deleteLater()
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self._arrange()

    @contextmanager
    def _unremembered(self) -> Iterator[None]:
        """What changes in the meantime is not the user's doing."""
        was, self._restoring = self._restoring, True
        try:
            yield
        finally:
            self._restoring = was

    def _arrange(self) -> None:
        """Lay the columns out as they are declared, and then as they are remembered."""
        header = self.horizontalHeader()
        with self._unremembered():
            for section, column in enumerate(self.columns()):
                mode = QHeaderView.ResizeMode.Stretch if column.stretch else QHeaderView.ResizeMode.Interactive
                header.setSectionResizeMode(section, mode)
                header.moveSection(header.visualIndex(section), section)
                header.resizeSection(section, self._usual_width(column))
                self.setColumnHidden(section, column.hidden)
            header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            self.setSortingEnabled(any(column.sortable for column in self.columns()))
            self._restore()
        self._narrowed, self._gone = {}, set()
        self._make_room()

    def mark(self, sought: str) -> None:
        delegate = self.itemDelegate()
        if isinstance(delegate, CellDelegate) and delegate.sought != sought:
            delegate.sought = sought
            self.viewport().update()

    def columns(self) -> tuple[Column[Any], ...]:
        model = self.model()
        return model.columns if isinstance(model, ColumnRows) else ()

    def selectRow(self, row: int) -> None:
        """Make it the current row and select it; Qt's own finds no column where they go from right to left."""
        model, header = self.model(), self.horizontalHeader()
        shown = (header.logicalIndex(at) for at in range(header.count()))
        column = next((section for section in shown if not self.isColumnHidden(section)), -1)
        index = model.index(row, column) if self.columns() else QModelIndex()
        if index.isValid():
            flags = QtCore.QItemSelectionModel.SelectionFlag
            self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)

    def selected_rows(self) -> list[int]:
        return sorted({row for top, bottom in self._selected_ranges() for row in range(top, bottom + 1)})

    def copy(self) -> None:
        """Copy the selected rows and their header as a spreadsheet reads them; above MOST_ROWS_TO_COPY only say so."""
        count = sum(bottom - top + 1 for top, bottom in self._selected_ranges())
        if count > MOST_ROWS_TO_COPY:
            words = tr("{n} rows are too many for the clipboard, which takes {most}. Export them instead.")
            words = figures.filled(words, {"n": count, "most": MOST_ROWS_TO_COPY})
            for notices in self.window().findChildren(Notices):
                notices.show_notice(words, "attention")
            return
        model, header = self.model(), self.horizontalHeader()
        if not isinstance(model, ColumnRows) or not count:
            return
        shown = [header.logicalIndex(at) for at in range(header.count())]
        shown = [section for section in shown if not self.isColumnHidden(section)]
        titles = [self.columns()[section].title for section in shown]
        lines = io.StringIO()
        writer = csv.writer(lines, dialect="excel-tab", lineterminator="\n")
        writer.writerow(titles)
        writer.writerows([model.copied(row, section) for section in shown] for row in self.selected_rows())
        QtGui.QGuiApplication.clipboard().setText(lines.getvalue().removesuffix("\n"))

    def focusInEvent(self, event: QtGui.QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.columns() and not self._selected_ranges() and came_by_keyboard(self, event):
            self.selectRow(max(0, self.currentIndex().row()))  # so that the current row is visible

    def event(self, event: QtCore.QEvent) -> bool:
        is_asked = event.type() == QtCore.QEvent.Type.ShortcutOverride
        if is_asked and isinstance(event, QtGui.QKeyEvent) and event.key() in self.own_keys:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.matches(QtGui.QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() in self.own_keys:
            self.own_keys[event.key()]()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.opened.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def fill_columns_menu(self, menu: QMenu) -> None:
        for section, column in enumerate(self.columns()):
            if not column.title:
                continue
            action = menu.addAction(column.title)
            if column.badge:
                action.setIcon(icons.icon(column.badge, "accent"))
            action.setCheckable(True)
            action.setChecked(not self.isColumnHidden(section))
            action.toggled.connect(lambda shown, section=section: self.show_column(section, shown=shown))
        menu.addSeparator()
        menu.addAction(tr("Reset columns")).triggered.connect(lambda _checked=False: self.reset_columns())

    def reset_columns(self) -> None:
        memory.set(f"table/{self._name}", "")
        self._arrange()

    def _usual_width(self, column: Column[Any]) -> int:
        words = max((self.fontMetrics().horizontalAdvance(text) + _ROUNDING for text in column.widest), default=0)
        icon = scaled(ICON) + ICON_GAP if column.icon else 0
        return max(scaled(column.width), self._title_width(column), words + icon + 2 * CELL_MARGIN)

    def _title_width(self, column: Column[Any]) -> int:
        return QtGui.QFontMetrics(self.font()).horizontalAdvance(column.title) + 2 * CELL_MARGIN

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), scaled(HEADER_HEIGHT) + _LEAST_ROWS * scaled(ROW_HEIGHT))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._make_room()

    def _make_room(self) -> None:
        """Leave texts the room that some words take, by columns that are narrower or give way; give it back later."""
        columns, header = self.columns(), self.horizontalHeader()
        with self._unremembered():
            for section in self._gone:
                self.setColumnHidden(section, False)
            for section, width in self._narrowed.items():
                header.resizeSection(section, width)
            self._narrowed, self._gone = {}, set()
            shown = [section for section in range(len(columns)) if not self.isColumnHidden(section)]
            texts = [section for section in shown if columns[section].stretch]
            fixed = [section for section in shown if not columns[section].stretch]
            wanted = len(texts) * scaled(_LEAST_TEXT) + sum(map(header.sectionSize, fixed))
            missing = wanted - self.viewport().width()
            if not texts:
                return
            for section in reversed(fixed):
                column, width = columns[section], header.sectionSize(section)
                least = max(scaled(column.least), self._title_width(column))
                if missing > 0 and column.least and least < width:
                    self._narrowed[section] = width
                    header.resizeSection(section, max(least, width - missing))
                    missing -= width - header.sectionSize(section)
            for section in reversed(fixed):
                if missing > 0 and columns[section].gives_way:
                    self._gone.add(section)
                    missing -= header.sectionSize(section)
                    self.setColumnHidden(section, True)
            least_text = max([scaled(_FEWEST_LETTERS), *(self._title_width(columns[section]) for section in texts)])
            is_too_narrow = missing > len(texts) * (scaled(_LEAST_TEXT) - least_text)
            for section in texts:  # which scroll rather than to be narrower still
                mode = QHeaderView.ResizeMode.Interactive if is_too_narrow else QHeaderView.ResizeMode.Stretch
                header.setSectionResizeMode(section, mode)
                if is_too_narrow:
                    header.resizeSection(section, max(self._title_width(columns[section]), scaled(_LEAST_TEXT)))

    def show_column(self, section: int, *, shown: bool) -> None:
        """Show or hide a column; the last visible one is not hidden."""
        visible = [at for at in range(len(self.columns())) if not self.isColumnHidden(at)]
        if shown or visible != [section]:
            self.setColumnHidden(section, not shown)
            self._remember()

    def _selected_ranges(self) -> list[tuple[int, int]]:
        if self.model() is None:
            return []
        selection = self.selectionModel().selection()
        return [(selection.at(at).top(), selection.at(at).bottom()) for at in range(selection.count())]

    def _current_changed(self, current: QModelIndex, before: QModelIndex) -> None:
        if current.isValid():
            self.picked.emit(current.row())

    def _columns_menu(self, position: QtCore.QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill_columns_menu(menu)
        menu.popup(self.horizontalHeader().mapToGlobal(position))

    def _context_menu(self, position: QtCore.QPoint) -> None:
        index = self.indexAt(position)
        model = self.model()
        if not index.isValid() or not isinstance(model, ColumnRows):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icons.icon("copy"), tr("Copy rows")).triggered.connect(self.copy)
        whole = model.copied(index.row(), index.column())
        menu.addAction(tr("Copy this cell")).triggered.connect(lambda: QtGui.QGuiApplication.clipboard().setText(whole))
        self.add_to_menu(menu, index.row())
        menu.popup(self.viewport().mapToGlobal(position))

    def add_to_menu(self, menu: QMenu, index: int) -> None:
        """Add entries to the context menu of a row."""
        if self.on_menu is not None:
            self.on_menu(menu, index)

    def _remember(self) -> None:
        """Keep the columns in their order, each with its width for the usual font and whether it is shown; 0 and None
        for what is as declared.
        """
        if not self._name or self._restoring or not self.columns():
            return
        header, names = self.horizontalHeader(), self._names()
        by, kept = header.sortIndicatorSection(), []
        for section in map(header.logicalIndex, range(len(names))):
            column, is_gone = self.columns()[section], section in self._gone
            width = self._narrowed.get(section, header.sectionSize(section))
            is_usual = column.stretch or width == self._usual_width(column)
            shown = is_gone or not self.isColumnHidden(section)
            kept_width = 0 if is_usual else round(width * 100 / scaled(100))
            kept.append((names[section], kept_width, shown if shown is column.hidden else None))
        is_descending = header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder
        layout = {"columns": kept, "sort": names[by] if 0 <= by < len(names) else "", "descending": is_descending}
        memory.set(f"table/{self._name}", json.dumps(layout))

    def _restore(self) -> None:
        """A column that is not remembered, as in another language, keeps its place among the others."""
        text = memory.get(f"table/{self._name}") if self._name else ""
        header, names = self.horizontalHeader(), self._names()
        try:
            kept = json.loads(text or "{}")
            known = [each for each in kept.get("columns", ()) if each[0] in names]
            places = sorted(header.visualIndex(names.index(name)) for name, *_ in known)
            for at, (name, width, shown) in zip(places, known, strict=True):
                section = names.index(name)
                header.moveSection(header.visualIndex(section), at)
                if shown is not None:
                    self.setColumnHidden(section, not shown)
                if width and not self.columns()[section].stretch:
                    header.resizeSection(section, scaled(int(width)))
            if (by := kept.get("sort")) and by in names:
                order = Qt.SortOrder.DescendingOrder if kept["descending"] else Qt.SortOrder.AscendingOrder
                header.setSortIndicator(names.index(by), order)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            return  # changed by hand: the columns stay as they are declared

    def _names(self) -> list[str]:
        """What columns are remembered by: their titles, the later ones of equal titles with a number."""
        titles = [column.title for column in self.columns()]
        return [f"{title} {titles[:at].count(title) or ''}".strip() for at, title in enumerate(titles)]


class ColumnsButton(QuietButton):
    def __init__(self, table: TableView) -> None:
        super().__init__(tr("Columns"), "columns-3")
        menu = QMenu(self)
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(lambda: table.fill_columns_menu(menu))
        self.setMenu(menu)
