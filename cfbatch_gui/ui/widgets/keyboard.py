"""Where the keyboard stands is marked only for a hand that is on the keyboard.

Qt moves the focus by itself when a widget that had it is hidden or cannot be used any more, and says that the Tab key
did it. After a click nobody wants a ring around something else.
"""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent, QWindow
from PySide6.QtWidgets import QApplication

_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
    Qt.FocusReason.OtherFocusReason,
)
_KEYS = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride)
_POINTERS = (QEvent.Type.MouseButtonPress, QEvent.Type.TouchBegin, QEvent.Type.TabletPress)


class Hand(QObject):
    """Sees what comes to the window in front from the system: a few events, unlike a filter over the application."""

    instance: "Hand | None" = None

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self.is_on_keyboard = False
        app.focusWindowChanged.connect(self._watch)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _KEYS:
            self.is_on_keyboard = True
        elif event.type() in _POINTERS:
            self.is_on_keyboard = False
        return False

    def _watch(self, window: QWindow | None) -> None:
        if window is not None:
            window.installEventFilter(self)


def watch(app: QApplication) -> None:
    """Begin to look; once for an application. Before that every hand counts as one on the keyboard."""
    if Hand.instance is None:
        Hand.instance = Hand(app)


def came_by_keyboard(event: QFocusEvent) -> bool:
    """Whether to mark the widget that this focus comes to."""
    hand = Hand.instance
    return event.reason() in _BY_KEYS and (hand is None or hand.is_on_keyboard)
