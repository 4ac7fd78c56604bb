"""Qt's table models over frozen rows: all of them in memory, or page by page for a million.

A column says how to get a value from a row, and how the value shows. Sorting permutes an index array; a
QSortFilterProxyModel over Python takes a minute for a million rows.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from cfbatch_gui.ui import display

R = TypeVar("R")
Index = QModelIndex | QPersistentModelIndex
Align = Literal["left", "right", "center"]

_ROOT = QModelIndex()
_PAGE, _PAGES_KEPT = 256, 64
SORT_ROLE = Qt.ItemDataRole.UserRole
ICON_ROLE = Qt.ItemDataRole.UserRole + 1  # (icon's name, colour role) or None
BAR_ROLE = Qt.ItemDataRole.UserRole + 2  # 0..1 or None
COLOUR_ROLE = Qt.ItemDataRole.UserRole + 3  # a colour role, "" for the usual one
ALIGN_ROLE = Qt.ItemDataRole.TextAlignmentRole

ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
    "right": Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
    "center": Qt.AlignmentFlag.AlignCenter,
}


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """One column. `value` sorts, `show` makes its text (None shows as ""); `key` names it where it is remembered.

    `bar` draws a share between 0 and 1 beside the text. `width` is in pixels; a stretching column takes what is left.
    """

    title: str
    value: Callable[[R], Any]
    show: Callable[[Any], str] = str
    key: str = ""
    align: Align = "left"
    icon: Callable[[R], tuple[str, str] | None] | None = None
    bar: Callable[[R], float | None] | None = None
    colour: Callable[[R], str] | None = None
    width: int = 120
    stretch: bool = False
    sortable: bool = True
    hidden: bool = False  # until the user wants it
    tip: str = ""  # of the header
    text: Callable[[R], str] | None = None  # instead of `show`, where the text needs the whole row

    @property
    def name(self) -> str:
        """What the column is remembered by."""
        return self.key or self.title


class ColumnRows(QAbstractTableModel, Generic[R]):
    """What both models share: everything but where a row comes from."""

    def __init__(self, columns: Sequence[Column[R]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)

    def row(self, index: int) -> R:
        """The row that stands at this place now."""
        raise NotImplementedError

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def text(self, index: int, column: int) -> str:
        """A cell's whole text, as it is copied."""
        each = self.columns[column]
        if each.text is not None:
            return each.text(self.row(index))
        value = each.value(self.row(index))
        return "" if value is None else each.show(value)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        column = self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(index.row(), index.column())
        if role == SORT_ROLE:
            return column.value(self.row(index.row()))
        if role == ICON_ROLE:
            return column.icon(self.row(index.row())) if column.icon else None
        if role == BAR_ROLE:
            return column.bar(self.row(index.row())) if column.bar else None
        if role == COLOUR_ROLE:
            return column.colour(self.row(index.row())) if column.colour else ""
        if role == ALIGN_ROLE:
            return ALIGNMENTS[column.align]
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == ALIGN_ROLE:
            return ALIGNMENTS[column.align]
        if role == Qt.ItemDataRole.ToolTipRole:
            return display.plain_tip(column.tip)
        return None


class Rows(ColumnRows[R]):
    """A table over a tuple of frozen rows. With `key`, an update that keeps the keys keeps selection and place."""

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
        """All rows, in their own order."""
        return self._rows

    def row(self, index: int) -> R:
        return self._rows[int(self._order[index])]

    def place_of(self, row: R) -> int:
        """Where a row stands now, -1 when it is not here. Compared by key, else by identity."""
        for place, at in enumerate(self._order):
            each = self._rows[at]
            if each is row or (self._key is not None and self._key(each) == self._key(row)):
                return place
        return -1

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def set_rows(self, rows: Sequence[R]) -> None:
        """Show other rows. The sorting stays."""
        fresh = tuple(rows)
        if self._is_same_set(fresh):
            before, self._rows = self._rows, fresh
            if self._sorted_by is not None and before != fresh:
                self._apply_order()
            self._tell_changes(before)
            return
        self.beginResetModel()
        self._rows = fresh
        self._order = self._sorted_order()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """By a column's values; -1 gives the rows' own order back. Rows without a value come last either way."""
        wanted = (column, order == Qt.SortOrder.DescendingOrder) if column >= 0 else None
        if wanted != self._sorted_by:  # Qt asks twice for one click
            self._sorted_by = wanted
            self._apply_order()

    def _apply_order(self) -> None:
        order = self._sorted_order()
        if np.array_equal(order, self._order):
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        after = [self.index(int(place[self._order[each.row()]]), each.column()) for each in before]
        self._order = order
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _sorted_order(self) -> npt.NDArray[np.intp]:
        if self._sorted_by is None:
            return np.arange(len(self._rows))
        column, descending = self._sorted_by
        value = self.columns[column].value
        return stable_order([value(row) for row in self._rows], descending=descending)

    def _is_same_set(self, fresh: tuple[R, ...]) -> bool:
        key = self._key
        if key is None or len(fresh) != len(self._rows):
            return False
        return all(key(one) == key(other) for one, other in zip(fresh, self._rows, strict=True))

    def _tell_changes(self, before: tuple[R, ...]) -> None:
        last = len(self.columns) - 1
        for place, at in enumerate(self._order):
            if before[at] != self._rows[at]:
                self.dataChanged.emit(self.index(place, 0), self.index(place, last))


class PagedRows(ColumnRows[R]):
    """A table of any length whose rows are fetched as they are looked at.

    `fetch(start, stop)` gives that slice in the order asked for last (quickly: it is called while painting), `sort_by`
    is called with the column's name ("" for the own order) and whether it descends, before the rows are fetched again.
    """

    def __init__(
        self,
        columns: Sequence[Column[R]],
        *,
        count: int,
        fetch: Callable[[int, int], Sequence[R]],
        sort_by: Callable[[str, bool], None] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(columns, parent)
        self._count = count
        self._fetch = fetch
        self._sort_by = sort_by
        self._pages: OrderedDict[int, Sequence[R]] = OrderedDict()
        self._sorted_by = ("", False)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else self._count

    def row(self, index: int) -> R:
        number = index // _PAGE
        page = self._pages.get(number)
        if page is None:
            start = number * _PAGE
            page = self._pages[number] = self._fetch(start, min(start + _PAGE, self._count))
            if len(self._pages) > _PAGES_KEPT:
                self._pages.popitem(last=False)
        self._pages.move_to_end(number)
        return page[index - number * _PAGE]

    def refresh(self, count: int) -> None:
        """Forget what was fetched; the table now has `count` rows."""
        self.beginResetModel()
        self._pages.clear()
        self._count = count
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        wanted = (self.columns[column].name if column >= 0 else "", order == Qt.SortOrder.DescendingOrder)
        if self._sort_by is not None and wanted != self._sorted_by:  # Qt asks twice for one click
            self._sorted_by = wanted
            self._sort_by(*wanted)
            self.refresh(self._count)


def stable_order(values: Sequence[Any], *, descending: bool = False) -> npt.NDArray[np.intp]:
    """The places of `values` in sorted order: equal ones keep theirs, None and NaN come last, case is ignored."""
    if values and all(type(value) in (int, float) for value in values):
        numbers = np.asarray(values, dtype=np.float64)
        return np.argsort(-numbers if descending else numbers, kind="stable")
    present = [place for place, value in enumerate(values) if not _is_missing(value)]
    missing = [place for place, value in enumerate(values) if _is_missing(value)]
    keys = {place: _sort_key(values[place]) for place in present}
    present.sort(key=keys.__getitem__, reverse=descending)  # reverse keeps equal ones in place, too
    return np.asarray(present + missing, dtype=np.intp)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _sort_key(value: Any) -> tuple[int, Any]:
    """Numbers before text, so that a mixed column has an order at all."""
    return (0, value) if isinstance(value, (int, float)) else (1, str(value).casefold())
