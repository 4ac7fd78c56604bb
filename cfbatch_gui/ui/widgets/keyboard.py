"""The focus ring, which is shown only while the user works with the keyboard.

When the focused widget is hidden or disabled, Qt moves the focus to another one and reports the Tab key as the reason.
After a mouse click this must not show a ring, so the kind of the last input is recorded too.
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
    """Records whether the last input was a key or a pointer.

    It filters the events of the active window, which are few; an event filter of the application would be called for
    every event of every widget.
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
    """Start to record keys and clicks, once for an application. Before this, every input counts as a key."""
    if LastInput.instance is None:
        LastInput.instance = LastInput(app)


def came_by_keyboard(event: QFocusEvent) -> bool:
    last = LastInput.instance
    return event.reason() in _BY_KEYS and (last is None or last.was_key)


def follow_in_tab_order(before: QWidget, *widgets: QWidget) -> None:
    """Let Tab come to these right after what stands before them; Qt puts whatever is made later at the very end.

    `before` may be a widget that takes no focus. Its neighbours are not asked for: PySide takes a widget that
    `previousInFocusChain` returns for owned by the one that was asked, and it is gone with that.
    """
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
