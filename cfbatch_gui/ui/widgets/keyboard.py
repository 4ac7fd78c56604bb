"""The ring around the widget that has the focus: shown only while the user works with the keyboard.

Qt moves the focus by itself when the widget that had it is hidden or disabled, and gives the Tab key as the reason.
After a mouse click that must not draw a ring around another widget, so the last key or click is watched too.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent, QWindow
from PySide6.QtWidgets import QApplication, QWidget

_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
    Qt.FocusReason.OtherFocusReason,
)
_KEYS = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride)
_POINTERS = (QEvent.Type.MouseButtonPress, QEvent.Type.TouchBegin, QEvent.Type.TabletPress)


if TYPE_CHECKING:
    _Widget = QWidget
else:
    _Widget = object  # a mixin: Qt allows one widget among the bases of a class


class LastInput(QObject):
    """Whether the last input was a key or a pointer.

    Filters the events of the window in front, which are few; a filter of the application would see all of every widget.
    """

    instance: "LastInput | None" = None

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self.was_key = False
        app.focusWindowChanged.connect(self._watch)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _KEYS:
            self.was_key = True
        elif event.type() in _POINTERS:
            self.was_key = False
        return False

    def _watch(self, window: QWindow | None) -> None:
        if window is not None:
            window.installEventFilter(self)


def watch(app: QApplication) -> None:
    """Start to watch keys and clicks, once for an application. Before that every input counts as a key."""
    if LastInput.instance is None:
        LastInput.instance = LastInput(app)


def came_by_keyboard(event: QFocusEvent) -> bool:
    """Whether the widget that gets this focus is to show a ring."""
    last = LastInput.instance
    return event.reason() in _BY_KEYS and (last is None or last.was_key)


class KeyboardRing(_Widget):
    """A mixin for widgets that paint a ring, while `has_ring` is set, when a key gave them the focus."""

    has_ring = False

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.has_ring = came_by_keyboard(event)
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.has_ring = False
        self.update()
        super().focusOutEvent(event)
