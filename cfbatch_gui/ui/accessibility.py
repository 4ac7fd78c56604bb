"""What a screen reader is told beyond names and descriptions: roles of our own widgets, and what has just happened."""

from functools import cache
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget


@runtime_checkable
class HasRole(Protocol):
    """A widget that is painted by us and is none of Qt's own kinds, for which Qt would know the role."""

    accessible_role: QAccessible.Role


@cache
def install_roles() -> None:
    """Let Qt ask our widgets for their `accessible_role`; once for an application."""
    QAccessible.installFactory(_with_role)


def announce(source: QObject, text: str, *, is_urgent: bool = False) -> None:
    """Have a text spoken that has come up by itself; an urgent one interrupts what is being spoken."""
    event = QAccessibleAnnouncementEvent(source, text)
    if is_urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)


def _with_role(_class: str, owner: QObject) -> QAccessibleInterface | None:
    if isinstance(owner, QWidget) and isinstance(owner, HasRole):
        return QAccessibleWidget(owner, owner.accessible_role)
    return None
