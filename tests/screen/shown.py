"""Windows that are shown: a widget that is shown before it stands in a page is a window of its own for a moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget


class _Shown(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.stray: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is not QEvent.Type.Show or not isinstance(watched, QWidget) or not watched.isWindow():
            return False
        # Dialogs, menus, tips and lists of choices are windows of other types.
        if watched.windowType() is Qt.WindowType.Window and not isinstance(watched, QMainWindow):
            self.stray.append(type(watched).__name__)
        return False


@contextmanager
def stray_windows(application: QApplication) -> Iterator[list[str]]:
    """The classes of the windows that are shown within the block, but for main windows and those over one."""
    shown = _Shown()
    application.installEventFilter(shown)
    try:
        yield shown.stray
    finally:
        application.removeEventFilter(shown)
