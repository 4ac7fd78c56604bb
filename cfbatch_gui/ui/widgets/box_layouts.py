"""Layouts with the distances of the visual system: rows, columns, flowing lines, splitters, scrolled pages."""

from collections.abc import Sequence
from typing import TypeVar

from PySide6 import QtWidgets
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QFormLayout, QFrame, QHBoxLayout, QLayout, QLayoutItem, QScrollArea, QSizePolicy, QWidget

from cfbatch_gui.ui.memory import memory
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE

BoxT = TypeVar("BoxT", bound=QtWidgets.QBoxLayout)
PAGE_MARGINS = (WIDE, LARGE, WIDE, LARGE)
Item = QWidget | QLayout | int | None | tuple[QWidget | QLayout, int]
"""A widget or a layout, also with its share of the room; a distance in pixels; None for space that stretches."""


def row(*items: Item, gap: int = SMALL, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QHBoxLayout:
    """`gap` and `margins` (left, top, right, bottom) are in pixels."""
    return _fill(QHBoxLayout(), items, gap, margins)


def column(*items: Item, gap: int = SMALL, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QtWidgets.QVBoxLayout:
    """`gap` and `margins` (left, top, right, bottom) are in pixels."""
    return _fill(QtWidgets.QVBoxLayout(), items, gap, margins)


def form(*, gap: int = MEDIUM) -> QFormLayout:
    """Lines of a label and a field or a text; `gap`, between them, is in pixels."""
    lines = QFormLayout(horizontalSpacing=gap, verticalSpacing=SMALL)
    lines.setContentsMargins(0, 0, 0, 0)
    lines.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    lines.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    return lines


def boxed(layout: QLayout) -> QWidget:
    widget = QWidget()
    widget.setLayout(layout)
    return widget


def discard(layout: QLayout, *widgets: QWidget) -> None:
    """Take widgets out of their layout, and delete them once Qt's loop runs again."""
    for each in widgets:
        layout.removeWidget(each)
        each.hide()
        each.deleteLater()


def height_at(part: QWidget | QLayoutItem, width: int) -> int:
    """The height that it wants at this width, both in pixels."""
    return part.heightForWidth(width) if part.hasHeightForWidth() else part.sizeHint().height()


def line() -> QFrame:
    """A hairline, 1 pixel wide."""
    frame = QFrame()
    frame.setProperty("kind", "line")
    frame.setFixedHeight(1)
    return frame


def split(
    *parts: QWidget, name: str, sizes: Sequence[int], stretched: int | None = None, vertical: bool = False
) -> QtWidgets.QSplitter:
    """A splitter whose parts cannot be closed; part `stretched` takes the window's growth, all of them with None.

    `sizes` are those of the first time; what the user makes of them is remembered under `name`.
    """
    way = Qt.Orientation.Vertical if vertical else Qt.Orientation.Horizontal
    splitter = QtWidgets.QSplitter(way, childrenCollapsible=False, handleWidth=1)
    for index, part in enumerate(parts):
        splitter.addWidget(part)
        if stretched is not None:
            splitter.setStretchFactor(index, int(index == stretched))
    key = f"split/{name}"
    splitter.setSizes([int(size) for size in memory.get(key).split()] or list(sizes))
    splitter.splitterMoved.connect(lambda *_: memory.set(key, " ".join(map(str, splitter.sizes()))))
    return splitter


def scrolled(content: QWidget) -> QScrollArea:
    """An area around a widget, whose layout is already set; it scrolls sideways only with a large font."""
    area = QScrollArea(widgetResizable=True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    content.setProperty("kind", "page")
    area.setWidget(content)
    return area


class Flow(QLayout):
    """Lays out widgets in lines that wrap, like words; expanding ones share the width that is left, None is space."""

    def __init__(self, *widgets: QWidget | None, gap: int = SMALL) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}  # by width; Qt asks for each several times before it lays anything out
        self._gap = gap
        self._width = 0  # as last laid out
        self.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            self.addWidget(widget if widget is not None else _space())

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self._heights.clear()

    def invalidate(self) -> None:
        self._heights.clear()
        super().invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        self._heights.clear()
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def sizeHint(self) -> QSize:
        hints = [item.sizeHint() for item in self._shown()]
        width = sum(hint.width() for hint in hints) + self._gap * max(0, len(hints) - 1)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        """As high as the lines at the present width: splitters and dialogs know no heights that go by the width."""
        least = [item.minimumSize() for item in self._shown()]
        height = max((size.height() for size in least), default=0)
        if self._width:
            height = max(height, self.heightForWidth(self._width))
        return QSize(max((size.width() for size in least), default=0), height)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights:
            heights = [_height(line) for line in self._lines(width)]
            self._heights[width] = sum(heights) + self._gap * max(0, len(heights) - 1)
        return self._heights[width]

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        if (owner := self.parentWidget()) is None:
            return
        before, self._width = self._width, rect.width()
        if self.heightForWidth(before) != self.heightForWidth(self._width):
            owner.updateGeometry()
        lines = self._lines(rect.width())
        # More height than all lines need is shared above and below, as a box layout does for a single widget.
        top = rect.top() + max(0, rect.height() - self.heightForWidth(rect.width())) // 2
        for line in lines:
            left, height = rect.left(), _height(line)
            for item, width in line:
                fills = item.expandingDirections() & Qt.Orientation.Vertical
                own = height if fills else min(height, height_at(item, width))
                above = 0 if item.alignment() & Qt.AlignmentFlag.AlignTop else (height - own) // 2
                box = QRect(left, top + above, width, own)
                item.setGeometry(QtWidgets.QStyle.visualRect(owner.layoutDirection(), rect, box))
                left += width + self._gap
            top += height + self._gap

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty() and item.sizeHint().width() > 0]

    def _lines(self, width: int) -> "list[list[tuple[QLayoutItem, int]]]":
        """The items of each line with their widths; `width` may be negative before a window is laid out."""
        width = max(0, width)
        lines: list[list[tuple[QLayoutItem, int]]] = []
        left = -1
        for item in self._shown():
            hint = item.minimumSize() if _expands(item) else item.sizeHint()
            wanted = min(hint.width(), width)
            if left < self._gap + wanted:
                lines.append([])
                left = width + self._gap
            lines[-1].append((item, wanted))
            left -= self._gap + wanted
        return [_filled(line, width, self._gap) for line in lines]


def _space() -> QWidget:
    space = QWidget()
    space.setMinimumWidth(1)
    space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return space


def _filled(line: list[tuple[QLayoutItem, int]], width: int, gap: int) -> list[tuple[QLayoutItem, int]]:
    free = max(0, width - sum(wanted for _, wanted in line) - gap * (len(line) - 1))
    widths = dict(line)
    expand = sorted((item for item in widths if _expands(item)), key=lambda item: item.maximumSize().width())
    for index, item in enumerate(expand):
        more = min(free // (len(expand) - index), max(0, item.maximumSize().width() - widths[item]))
        widths[item] += more
        free -= more
    return list(widths.items())


def _expands(item: QLayoutItem) -> bool:
    return bool(item.expandingDirections() & Qt.Orientation.Horizontal)


def _height(line: list[tuple[QLayoutItem, int]]) -> int:
    return max((height_at(item, width) for item, width in line), default=0)


def _fill(layout: BoxT, items: tuple[Item, ...], gap: int, margins: tuple[int, int, int, int]) -> BoxT:
    layout.setSpacing(gap)
    layout.setContentsMargins(*margins)
    for item in items:
        if item is None:
            layout.addStretch(1)
        elif isinstance(item, int):
            layout.addSpacing(item)
        else:
            part, stretch = item if isinstance(item, tuple) else (item, 0)
            if isinstance(part, QWidget):
                layout.addWidget(part, stretch)
            else:
                layout.addLayout(part, stretch)
    return layout


class Roomy(QScrollArea):
    """Gives its content all the room there is, and scrolls only what cannot get smaller; a stack, by its open page."""

    def __init__(self, content: QWidget) -> None:
        super().__init__(widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content.setProperty("kind", "page")
        self.setWidget(_Least(content))

    def minimumSizeHint(self) -> QSize:
        side = 2 * self.horizontalScrollBar().sizeHint().height()
        return QSize(side, side)


class _Least(QWidget):
    """Wants only the least height of its content, where a scroll area asks for the usual one."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.setProperty("kind", "page")
        self._content = content
        self.setLayout(column(content, gap=0))

    def minimumSizeHint(self) -> QSize:
        layout = self._page().layout()
        return layout.totalMinimumSize() if layout is not None else super().minimumSizeHint()

    def heightForWidth(self, width: int) -> int:
        layout = self._page().layout()
        return layout.totalMinimumHeightForWidth(width) if layout is not None else 0

    def _page(self) -> QWidget:
        page = self._content.currentWidget() if isinstance(self._content, QtWidgets.QStackedWidget) else None
        return page or self._content
