"""Widgets side by side that go on in the next line where the place is too narrow for all of them."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from cfbatch_gui.ui.theme import SMALL


class Flow(QLayout):
    """Like words in a paragraph; in each line, the widgets that expand share what is left.

    Use it as the layout of a widget (`boxed`): a box layout around it asks it for its height by its width.
    """

    def __init__(self, *widgets: QWidget, gap: int = SMALL) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def sizeHint(self) -> QSize:
        hints = [item.sizeHint() for item in self._shown()]
        width = sum(hint.width() for hint in hints) + self._gap * max(0, len(hints) - 1)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        least = [item.minimumSize() for item in self._shown()]
        return QSize(
            max((size.width() for size in least), default=0), max((size.height() for size in least), default=0)
        )

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        heights = [_height(line) for line in self._lines(width)]
        return sum(heights) + self._gap * max(0, len(heights) - 1)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        lines = self._lines(rect.width())
        # More height than all lines need is shared above and below, as a box layout does for a single widget.
        needed = sum(map(_height, lines)) + self._gap * max(0, len(lines) - 1)
        top = rect.top() + max(0, rect.height() - needed) // 2
        for line in lines:
            left, height = rect.left(), _height(line)
            for item, width in line:
                own = min(height, _height_of(item, width))
                item.setGeometry(QRect(left, top + (height - own) // 2, width, own))
                left += width + self._gap
            top += height + self._gap

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty() and item.sizeHint().width() > 0]

    def _lines(self, width: int) -> "list[list[tuple[QLayoutItem, int]]]":
        """The items of each line with their widths."""
        lines: list[list[tuple[QLayoutItem, int]]] = []
        left = -1
        for item in self._shown():
            wanted = min(item.sizeHint().width(), width)
            if left < self._gap + wanted:
                lines.append([])
                left = width + self._gap
            lines[-1].append((item, wanted))
            left -= self._gap + wanted
        return [_filled(line, width, self._gap) for line in lines]


def _filled(line: list[tuple[QLayoutItem, int]], width: int, gap: int) -> list[tuple[QLayoutItem, int]]:
    expand = [bool(item.expandingDirections() & Qt.Orientation.Horizontal) for item, _ in line]
    free = width - sum(wanted for _, wanted in line) - gap * (len(line) - 1)
    more = max(0, free) // max(1, sum(expand))
    return [(item, wanted + more * grows) for (item, wanted), grows in zip(line, expand, strict=True)]


def _height(line: list[tuple[QLayoutItem, int]]) -> int:
    return max((_height_of(item, width) for item, width in line), default=0)


def _height_of(item: QLayoutItem, width: int) -> int:
    return item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()
