"""Qt's table models over frozen rows: in memory, or fetched in pages, for up to a million rows.

Sorting permutes an index array: a QSortFilterProxyModel that calls Python takes a minute for a million rows.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from cfbatch_gui.ui import display, icons
from cfbatch_gui.words import figures

R = TypeVar("R")
Index = QModelIndex | QPersistentModelIndex
Align = Literal["left", "right", "center"]

_ROOT = QModelIndex()
_PAGE, _PAGES_KEPT = 256, 64
ICON_ROLE = Qt.ItemDataRole.UserRole + 1  # (icon's name, colour role) or None
BAR_ROLE = Qt.ItemDataRole.UserRole + 2  # 0..1 or None
COLOUR_ROLE = Qt.ItemDataRole.UserRole + 3  # a colour role; None and "" are the usual one
SEARCHED_ROLE = Qt.ItemDataRole.UserRole + 4  # whether the page's search looks at the cell
BELOW_ROLE = Qt.ItemDataRole.UserRole + 5  # a second, quiet line, or None
ALIGN_ROLE = Qt.ItemDataRole.TextAlignmentRole
_OF_ROWS = {ICON_ROLE: "icon", BAR_ROLE: "bar", COLOUR_ROLE: "colour", BELOW_ROLE: "below"}

ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
    "right": Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
    "center": Qt.AlignmentFlag.AlignCenter,
}


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """`value` is what it sorts by, `show` makes its text; `bar` is from 0 to 1, `width` and `least` are in pixels."""

    title: str
    value: Callable[[R], Any]
    show: Callable[[Any], str] = str
    align: Align = "left"
    icon: Callable[[R], tuple[str, str] | None] | None = None
    bar: Callable[[R], float | None] | None = None
    colour: Callable[[R], str] | None = None
    below: Callable[[R], str] | None = None
    width: int = 120
    least: int = 0
    gives_way: bool = False
    stretch: bool = False
    widest: Sequence[str] = ()  # texts that are never cut, whatever the width
    sortable: bool = True
    hidden: bool = False  # until the user shows it
    tip: str = ""  # of the header
    text: Callable[[R], str] | None = None  # instead of `show`, where the text needs the whole row
    is_searched: bool = False  # by the search of its page, whose finds are marked
    badge: str = ""  # the icon of its header
    copies_text: bool = False  # where the number that it sorts by is none that a spreadsheet could use


@dataclass(frozen=True, slots=True)
class NumberColumn(Column[R]):
    show: Callable[[Any], str] = figures.number
    align: Align = "right"


@dataclass(frozen=True, slots=True)
class ScoreColumn(NumberColumn[R]):
    show: Callable[[Any], str] = figures.score_text


class ColumnRows(QAbstractTableModel, Generic[R]):
    def __init__(self, columns: Sequence[Column[R]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)

    def row(self, index: int) -> R:
        raise NotImplementedError

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def text(self, index: int, column: int) -> str:
        each = self.columns[column]
        if each.text is not None:
            return each.text(self.row(index))
        value = each.value(self.row(index))
        return "" if value is None else each.show(value)

    def copied(self, index: int, column: int) -> str:
        """The whole text of a cell for a spreadsheet: all digits, and the decimal sign of the locale."""
        each = self.columns[column]
        value = None if each.copies_text else each.value(self.row(index))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return "" if math.isnan(value) else display.copied_number(value)
        return self.text(index, column)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        column = self.columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            text = self.text(index.row(), index.column())
            return text or self.tr("empty") if role == Qt.ItemDataRole.AccessibleTextRole else text
        if role in _OF_ROWS:
            made = getattr(column, _OF_ROWS[role])
            return made(self.row(index.row())) if made is not None else None
        return {ALIGN_ROLE: ALIGNMENTS[column.align], SEARCHED_ROLE: column.is_searched}.get(role)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == ALIGN_ROLE:
            return ALIGNMENTS[column.align]
        if role == Qt.ItemDataRole.DecorationRole and column.badge:
            return icons.icon(column.badge, "accent")
        if role == Qt.ItemDataRole.ToolTipRole:
            return display.plain_tip(column.tip)
        return None


class Rows(ColumnRows[R]):
    """With `key`, an update with the same keys keeps selection and scrolling."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        rows: Sequence[R] = (),
        *,
        key: Callable[[R], Hashable] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(columns, parent)
        self._rows: tuple[R, ...] = tuple(rows)
        self._key = key
        self._sorted_by: tuple[int, bool] | None = None  # column, descending
        self._order: npt.NDArray[np.intp] = np.arange(len(self._rows))

    def rows(self) -> tuple[R, ...]:
        return self._rows

    def row(self, index: int) -> R:
        return self._rows[int(self._order[index])]

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def set_rows(self, rows: Sequence[R]) -> None:
        """Replace the rows; they are sorted as before."""
        fresh, key = tuple(rows), self._key
        if key is not None and [key(row) for row in fresh] == [key(row) for row in self._rows]:
            before, self._rows = self._rows, fresh
            if self._sorted_by is not None and before != fresh:
                self._apply_order()
            last = len(self.columns) - 1
            for index, at in enumerate(self._order):
                if before[at] != fresh[at]:
                    self.dataChanged.emit(self.index(index, 0), self.index(index, last))
            return
        self.beginResetModel()
        self._rows = fresh
        self._order = self._sorted_order()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """-1 restores the original order; rows without a value always come last."""
        wanted = (column, order == Qt.SortOrder.DescendingOrder) if column >= 0 else None
        if wanted != self._sorted_by:  # Qt calls this twice for one click
            self._sorted_by = wanted
            self._apply_order()

    def _apply_order(self) -> None:
        order = self._sorted_order()
        if np.array_equal(order, self._order):
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        after = [self.index(int(rank[self._order[each.row()]]), each.column()) for each in before]
        self._order = order
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _sorted_order(self) -> npt.NDArray[np.intp]:
        if self._sorted_by is None:
            return np.arange(len(self._rows))
        column, descending = self._sorted_by
        value = self.columns[column].value
        return stable_order([value(row) for row in self._rows], descending=descending)


class PagedRows(ColumnRows[R]):
    """`fetch(start, stop)` is called while painting; no column sorts."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        *,
        count: int,
        fetch: Callable[[int, int], Sequence[R]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__([replace(each, sortable=False) for each in columns], parent)
        self._count = count
        self._page = lru_cache(_PAGES_KEPT)(lambda start: fetch(start, min(start + _PAGE, self._count)))

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else self._count

    def row(self, index: int) -> R:
        return self._page(index - index % _PAGE)[index % _PAGE]

    def refetch(self) -> None:
        """Fetch what is shown once more; the rows are the same."""
        self._page.cache_clear()

    def refresh(self, count: int) -> None:
        self.beginResetModel()
        self._page.cache_clear()
        self._count = count
        self.endResetModel()


def stable_order(values: Sequence[Any], *, descending: bool = False) -> npt.NDArray[np.intp]:
    """The indices of `values` in sorted order: stable, ignoring case, with None and NaN last in both directions."""
    if values and all(type(value) in (int, float) for value in values):
        numbers = np.asarray(values, dtype=np.float64)
        return np.argsort(-numbers if descending else numbers, kind="stable")
    present = [index for index, value in enumerate(values) if not _is_missing(value)]
    missing = [index for index, value in enumerate(values) if _is_missing(value)]
    keys = {index: _sort_key(values[index]) for index in present}
    present.sort(key=keys.__getitem__, reverse=descending)  # `reverse` keeps the order of equal ones
    return np.asarray(present + missing, dtype=np.intp)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _sort_key(value: Any) -> tuple[int, Any]:
    return (0, value) if isinstance(value, (int, float)) else (1, str(value).casefold())
