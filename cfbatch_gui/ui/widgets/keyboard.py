"""The focus ring, shown only while the user works with the keyboard.

When the focused widget is hidden, Qt moves the focus and reports the Tab key as the reason; but it also notes for each
window whether Tab was pressed since the last click.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget

_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
    Qt.FocusReason.OtherFocusReason,
)

if TYPE_CHECKING:
    _Widget = QWidget
else:
    _Widget = object  # a mixin: Qt allows one widget among the bases of a class


def came_by_keyboard(widget: QWidget, event: QFocusEvent) -> bool:
    by_key = widget.window().testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
    return by_key and event.reason() in _BY_KEYS


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
        self.has_ring = came_by_keyboard(self, event)
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.has_ring = False
        self.update()
        super().focusOutEvent(event)
