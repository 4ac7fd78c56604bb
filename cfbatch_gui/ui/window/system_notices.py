"""Notifications of the desktop when a job is finished or needs the user; a click opens the job."""

import sys
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QSystemTrayIcon

from cfbatch_gui.ui.window.activation import keep_token
from cfbatch_gui.ui.window.notification_bus import NotificationBus

_TOGETHER = 700  # milliseconds; jobs that end within this time are announced in one notice


@dataclass(frozen=True, slots=True)
class Announcement:
    """A job that is to be announced; without `is_finished` it needs the user."""

    job_id: str
    name: str
    is_finished: bool


class SystemNotices(QObject):
    """On Linux over the session bus, elsewhere and without a server by the tray; without either nothing is shown."""

    opened = Signal(str)  # the id of the job of a notice that was clicked

    def __init__(self, icon: QIcon, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._icon = icon
        self._bus: NotificationBus | None = None
        self._tray: QSystemTrayIcon | None = None
        self._last = ""
        self._waiting: list[Announcement] = []
        self._together = QTimer(self, singleShot=True)
        self._together.setInterval(_TOGETHER)
        self._together.timeout.connect(self._show)

    async def connect_to_desktop(self) -> None:
        """Find out who shows notices here."""
        if sys.platform not in ("win32", "darwin"):
            bus = NotificationBus(self)
            bus.pressed.connect(self.opened)
            bus.activation_token.connect(keep_token)
            if await bus.connect_to_server():
                self._bus = bus
                return
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._tray = QSystemTrayIcon(self._icon, self)
            self._tray.messageClicked.connect(lambda: self.opened.emit(self._last))

    def announce(self, announcement: Announcement) -> None:
        """Show this soon, together with others that come in the meantime; the newest of each job alone."""
        self._waiting = [each for each in self._waiting if each.job_id != announcement.job_id] + [announcement]
        self._together.start()

    def close(self) -> None:
        """Show what waits, and leave the desktop's bus."""
        if self._together.isActive():
            self._together.stop()
            self._show()
        if self._bus is not None:
            self._bus.close()
            self._bus = None

    def _show(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        first = next((each for each in waiting if not each.is_finished), waiting[0])
        text = self._words(waiting)
        self._last = first.job_id
        if self._bus is not None and self._bus.show(first.job_id, self.tr("CF Batch"), text, action=self.tr("Open")):
            return
        if self._tray is not None:
            self._tray.show()
            self._tray.showMessage(self.tr("CF Batch"), text, self._icon)

    def _words(self, waiting: list[Announcement]) -> str:
        if len(waiting) == 1:
            pattern = self.tr("“{name}” is finished.") if waiting[0].is_finished else self.tr("“{name}” needs you.")
            return pattern.format(name=waiting[0].name)
        done = sum(each.is_finished for each in waiting)
        if done == len(waiting):
            return self.tr("{n} jobs are finished.").format(n=done)
        if not done:
            return self.tr("{n} jobs need you.").format(n=len(waiting))
        return self.tr("{done} finished, {others} need you.").format(done=done, others=len(waiting) - done)
