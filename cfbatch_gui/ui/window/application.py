"""The Qt application: its name for the desktop, files opened with it, and its leave to come to the front."""

import os
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent, QGuiApplication
from PySide6.QtWidgets import QApplication

# The name of the desktop file without its suffix; the last one of those that open tables by the alphabet. Where neither
# the user nor the desktop names a default for a type of files, GIO takes the first: CSV files would have gone to this
# program instead of a spreadsheet, which they do not with this name.
DESKTOP_ID = "workers-ai-cfbatch"


class Application(QApplication):
    """Keeps the files that come before there is a window, without a filter of all events."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        self._files: list[str] = []
        self._take: Callable[[Sequence[str]], object] | None = None

    def give_files_to(self, take: Callable[[Sequence[str]], object]) -> None:
        """Call `take` with the paths that have come, and from now on with each that comes."""
        self._take = take
        files, self._files = self._files, []
        if files:
            take(files)

    def event(self, event: QEvent) -> bool:
        if event.type() != QEvent.Type.FileOpen or not isinstance(event, QFileOpenEvent) or not event.file():
            return super().event(event)
        if self._take is None:
            self._files.append(event.file())
        else:
            self._take([event.file()])
        return True


def keep_token(token: str) -> None:
    """Use this token when the window is next activated; Qt on Wayland takes it from the environment alone."""
    if token and "\0" not in token and QGuiApplication.platformName().startswith("wayland"):
        os.environ["XDG_ACTIVATION_TOKEN"] = token
