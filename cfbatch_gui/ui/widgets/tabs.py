"""A tab bar with a line under the chosen tab."""

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QStyle, QTabBar, QToolButton, QWidget

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.theme import WIDE, scaled
from cfbatch_gui.ui.widgets.keyboard import KeyboardRing

_HEIGHT = 36
_GAP = 24


class Tabs(KeyboardRing, QTabBar):
    """A tab bar whose tabs have keys; `chosen` carries the key of the new tab. `margin` is before them, in pixels.

    Where there is no room for all, arrows at its end lead to the others; those that are shown are shown whole.
    A tab that is not shown is not in the bar at all: Qt would still offer a hidden one to screen readers.
    """

    chosen = Signal(str)

    def __init__(self, *, margin: int = WIDE, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._margin = margin
        self._titles: dict[str, str] = {}  # by key, in the order of the tabs, of those that are not shown too
        self._keys: list[str] = []  # of the tabs that are shown
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        self.setMouseTracking(True)
        self.setFixedHeight(scaled(_HEIGHT))
        self.currentChanged.connect(self._emit)

    def add(self, key: str, title: str) -> None:
        """Add a tab at the end."""
        self._titles[key] = title
        self._keys.append(key)
        self.addTab(title)

    def current(self) -> str:
        """The key of the chosen tab, "" when there is none."""
        index = self.currentIndex()
        return self._keys[index] if 0 <= index < len(self._keys) else ""

    def choose(self, key: str) -> None:
        """Choose a tab by its key; ValueError when it is not shown."""
        self.setCurrentIndex(self._keys.index(key))

    def set_shown(self, key: str, shown: bool) -> None:
        """Show or hide a tab."""
        if shown and key not in self._keys:
            before = list(self._titles)[: list(self._titles).index(key)]
            index = sum(each in self._keys for each in before)
            self._keys.insert(index, key)
            self.insertTab(index, self._titles[key])
        elif not shown and key in self._keys:
            index = self._keys.index(key)
            del self._keys[index]
            self.removeTab(index)

    def is_shown(self, key: str) -> bool:
        """Whether there is such a tab, and it is not hidden."""
        return key in self._keys

    def set_title(self, key: str, title: str) -> None:
        """Change the title of a tab."""
        self._titles[key] = title
        if key in self._keys:
            self.setTabText(self._keys.index(key), title)

    def _emit(self, index: int) -> None:
        if 0 <= index < len(self._keys):
            self.chosen.emit(self._keys[index])

    def _bold(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def tabSizeHint(self, index: int) -> QSize:
        width = QFontMetrics(self._bold()).horizontalAdvance(self.tabText(index)) + 5
        lead = self._lead(index)
        return QSize(lead + width + _GAP - 4, scaled(_HEIGHT))

    def minimumTabSizeHint(self, index: int) -> QSize:
        return self.tabSizeHint(index)

    def _lead(self, index: int) -> int:
        """The margin before a tab, in pixels: the page's for the first one, 0 for all others."""
        return 0 if index else self._margin

    def _text_box(self, index: int) -> QRect:
        box = self.tabRect(index)
        lead = self._lead(index)
        words = QRect(box.left() + lead, box.top(), box.width() - lead - _GAP + 4, box.height() - 1)
        return QStyle.visualRect(self.layoutDirection(), box, words)

    def is_whole(self, index: int) -> bool:
        """Whether a tab has all of its room."""
        arrows = [each.geometry() for each in self.findChildren(QToolButton) if each.isVisible()]
        room = self.rect()
        for arrow in arrows:
            if arrow.left() > room.center().x():
                room.setRight(min(room.right(), arrow.left() - 1))
            else:
                room.setLeft(max(room.left(), arrow.right() + 1))
        words = self._text_box(index)
        return room.left() - 1 <= words.left() and words.right() <= room.right() + 1

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.colour("line"))
        hovered = self.tabAt(self.mapFromGlobal(self.cursor().pos())) if self.underMouse() else -1
        for index in range(self.count()):
            if not self.is_whole(index):
                continue
            box = self._text_box(index)
            is_chosen = index == self.currentIndex()
            painter.setFont(self._bold() if is_chosen else self.font())
            painter.setPen(theme.colour("text" if is_chosen or index == hovered else "quiet"))
            painter.drawText(box.adjusted(0, 0, 0, -2), Qt.AlignmentFlag.AlignCenter, self.tabText(index))
            if is_chosen:
                painter.fillRect(box.left(), self.height() - 2, box.width(), 2, theme.colour("accent"))
            if is_chosen and self.has_ring:
                painter.setPen(theme.colour("accent"))
                painter.drawRoundedRect(box.adjusted(-4, 5, 4, -6), 4, 4)

    def leaveEvent(self, event: object) -> None:
        self.update()

    def mouseMoveEvent(self, event: object) -> None:
        self.update()
