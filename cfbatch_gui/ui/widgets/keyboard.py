"""The focus ring, shown only while the user works with the keyboard.

When the focused widget is hidden, Qt moves the focus and reports the Tab key as the reason, so the last input is
recorded too.
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
    """Filters the events of the active window: a filter of the application would get every event of every widget."""

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
    """Once for an application; before this, every input counts as a key."""
    if LastInput.instance is None:
        LastInput.instance = LastInput(app)


def came_by_keyboard(event: QFocusEvent) -> bool:
    last = LastInput.instance
    return event.reason() in _BY_KEYS and (last is None or last.was_key)


def follow_in_tab_order(before: QWidget, *widgets: QWidget) -> None:
    """Let Tab come to these right after `before` and what is in it; Qt puts whatever is made later at the very end."""
    anchor = before
    for widget in widgets:
        policy = anchor.focusPolicy()
        anchor.setFocusPolicy(policy | Qt.FocusPolicy.TabFocus)  # Qt orders only what takes the focus
        QWidget.setTabOrder(anchor, widget)
        anchor.setFocusPolicy(policy)
        anchor = widget


class KeyboardRing(_Widget):
    """A mixin that sets `has_ring` while the widget has the focus by a key; the widget paints the ring."""

    has_ring = False

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.has_ring = came_by_keyboard(event)
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.has_ring = False
        self.update()
        super().focusOutEvent(event)
