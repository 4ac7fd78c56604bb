"""Notices on the desktop: over the session bus by jeepney (Qt cannot write the call's unsigned number), or the tray."""

import asyncio
import html
import logging
import sys
from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from cfbatch_gui.core.jobs.states import STOPPED, Job, JobState, account_progress
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.job_actions import AT_WORK
from cfbatch_gui.ui.notices import announce
from cfbatch_gui.ui.window.main_window import DESKTOP_ID, MainWindow, keep_token
from cfbatch_gui.words.states import state_words

_log = logging.getLogger(__name__)

_SERVER, _PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
_PATIENCE = 5.0  # seconds for a server that is started by the call
_NORMAL = 1  # urgency


class NotificationBus:
    """The server of notices on the session bus; `pressed` gets the key of a notice that was clicked."""

    def __init__(self, pressed: Callable[[str], object]) -> None:
        self._pressed = pressed
        self.connection: Any = None  # while there is a server
        self._has_markup = False
        self._awaited: dict[int, str] = {}  # the keys of notices that have no number yet, by the serial of their call
        self._numbers: dict[str, int] = {}  # as the server counts them, by key

    async def serve(self) -> None:
        """Until cancelled. Raises whatever says that there is no server, or none any more."""
        from jeepney import MatchRule, message_bus
        from jeepney.io.asyncio import DBusRouter, Proxy, open_dbus_connection
        from jeepney.wrappers import unwrap_msg

        async with await open_dbus_connection("SESSION") as connection:
            async with asyncio.timeout(_PATIENCE), DBusRouter(connection) as router:
                (abilities,) = unwrap_msg(await router.send_and_get_reply(_call("GetCapabilities")))
                await Proxy(message_bus, router).AddMatch(MatchRule(type="signal", interface=_SERVER, path=_PATH))
            self._has_markup = "body-markup" in abilities
            self.connection = connection
            try:
                while True:
                    self._take(await connection.receive())
            finally:
                self.connection = None

    def show(self, key: str, title: str, text: str, *, action: str) -> bool:
        """Replace an earlier notice with this key; False while there is no server."""
        if self.connection is None:
            return False
        body = html.escape(text, quote=False) if self._has_markup else text
        hints = {
            "desktop-entry": ("s", DESKTOP_ID),
            "category": ("s", "transfer.complete"),
            "urgency": ("y", _NORMAL),
        }
        # "default" is a click on the notice itself.
        arguments = ("CF Batch", self._numbers.get(key, 0), "cfbatch", title, body, ["default", action], hints, -1)
        serial = next(self.connection.outgoing_serial)
        self._awaited[serial] = key
        self.connection.writer.write(_call("Notify", "susssasa{sv}i", arguments).serialise(serial))
        return True

    def _take(self, message: Any) -> None:
        from jeepney import HeaderFields, MessageType

        fields, kind = message.header.fields, message.header.message_type
        if kind in (MessageType.method_return, MessageType.error):
            key = self._awaited.pop(fields.get(HeaderFields.reply_serial, -1), "")
            if key and kind is MessageType.method_return:
                self._numbers[key] = int(message.body[0])
            return
        if kind is not MessageType.signal or fields.get(HeaderFields.interface) != _SERVER:
            return
        key = next((key for key, number in self._numbers.items() if number == message.body[0]), "")
        match fields.get(HeaderFields.member):
            case "ActivationToken" if key:  # what a Wayland desktop wants to see before a window comes to the front
                keep_token(str(message.body[1]))
            case "ActionInvoked" if key:
                self._pressed(key)
            case "NotificationClosed":
                self._numbers.pop(key, None)


def _call(name: str, *arguments: Any) -> Any:
    from jeepney import DBusAddress, new_method_call

    return new_method_call(DBusAddress(_PATH, bus_name=_SERVER, interface=_SERVER), name, *arguments)


class Announcements(QObject):
    """What happens to jobs, for a screen reader and on the desktop: on Linux over the session bus, else by the tray.

    `opened` brings the id of a job whose notice on the desktop was clicked.
    """

    opened = Signal(str)

    def __init__(self, program: Program, window: MainWindow) -> None:
        super().__init__(window)
        self._program, self._window = program, window
        self._known: dict[str, tuple[JobState | None, bool]] = {}  # its state, and whether it is with the account
        self.bus = NotificationBus(self.opened.emit)
        self._tray: QSystemTrayIcon | None = None
        self._last = ""

    def begin(self, jobs: Iterable[Job]) -> None:
        self._known = {job.id: (job.state, _is_with_account(job)) for job in jobs}

    async def serve_desktop(self) -> None:
        """Until cancelled, or there is no server of notices on the bus; from then on the tray shows them."""
        if sys.platform not in ("win32", "darwin"):
            try:
                await self.bus.serve()
            except Exception as error:  # noqa: BLE001 - no jeepney, no bus, no server; and whatever a bus says
                _log.info("No server of notifications: %s", type(error).__name__)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._tray = QSystemTrayIcon(QApplication.windowIcon(), self)
            self._tray.messageClicked.connect(lambda: self.opened.emit(self._last))

    def job_changed(self, job: Job) -> None:
        """Tell what changed, unless it is being looked at or is the user's own doing."""
        before, was_with_account = self._known.get(job.id, (None, False))
        self._known[job.id] = job.state, _is_with_account(job)
        if before is not job.state and job.is_sent and job.state is not JobState.WAITING:
            announce(self._window, f"{job.name}: {state_words(job.state).text}", is_urgent=job.needs_user)
        if _is_with_account(job) and not was_with_account:
            words = self.tr("{name}: with your account. You can close this computer.")
            announce(self._window, words.format(name=job.name))
        if before in AT_WORK and job.state not in AT_WORK:
            self._tell_desktop(job)

    def _tell_desktop(self, job: Job) -> None:
        is_looked_at = self._window.isActiveWindow() and self._window.library.opened_job() == job.id
        is_by_user = job.state is JobState.PAUSED and job.paused_because in STOPPED
        if not self._program.settings.system_notices or is_looked_at or is_by_user:
            return
        pattern = self.tr("“{name}” is finished.") if job.state is JobState.DONE else self.tr("“{name}” needs you.")
        text, self._last = pattern.format(name=job.name), job.id
        if not self.bus.show(job.id, self.tr("CF Batch"), text, action=self.tr("Open")) and self._tray is not None:
            self._tray.show()
            self._tray.showMessage(self.tr("CF Batch"), text, QApplication.windowIcon())


def _is_with_account(job: Job) -> bool:
    """Whether it needs this computer no more until it is fetched."""
    return job.state is JobState.WORKING and account_progress(job).lid_may_close
