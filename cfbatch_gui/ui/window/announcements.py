"""Notices on the desktop: over the session bus by jeepney (Qt cannot write the call's unsigned number), or the tray."""

import asyncio
import html
import logging
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from cfbatch_gui.core.jobs.states import STOPPED, Job, JobState, account_progress
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.job_actions import AT_WORK
from cfbatch_gui.ui.notices import announce
from cfbatch_gui.ui.state_names import state_words
from cfbatch_gui.ui.window.main_window import DESKTOP_ID, MainWindow, keep_token

_log = logging.getLogger(__name__)

_SERVER, _PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
_PATIENCE = 5.0  # seconds for a server that is started by the call
_NORMAL = 1  # urgency


class NotificationBus(QObject):
    """One connection to the session bus; what cannot be shown is logged and forgotten."""

    pressed = Signal(str)  # the key of a notice that was clicked
    activation_token = Signal(str)  # what a Wayland desktop wants to see before it brings a window to the front

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bus: Any = None
        self._readable: QSocketNotifier | None = None
        self._has_markup = False
        self._awaited: dict[int, str] = {}  # the keys of notices that have no number yet, by the serial of their call
        self._numbers: dict[str, int] = {}  # as the server counts them, by key

    async def connect_to_server(self) -> bool:
        try:
            self._bus, abilities = await asyncio.to_thread(_connected)
        except Exception as error:  # noqa: BLE001 - no jeepney, no bus, no server; and whatever a bus says
            _log.info("No server of notifications: %s", type(error).__name__)
            return False
        self._has_markup = "body-markup" in abilities
        self._readable = QSocketNotifier(self._bus.sock.fileno(), QSocketNotifier.Type.Read, self)
        self._readable.activated.connect(self._read)
        return True

    def show(self, key: str, title: str, text: str, *, action: str) -> bool:
        """Replace an earlier notice with this key; False when there is no server any more."""
        if self._bus is None:
            return False
        from jeepney import DBusAddress, new_method_call

        server = DBusAddress(_PATH, bus_name=_SERVER, interface=_SERVER)
        body = html.escape(text, quote=False) if self._has_markup else text
        hints = {
            "desktop-entry": ("s", DESKTOP_ID),
            "category": ("s", "transfer.complete"),
            "urgency": ("y", _NORMAL),
        }
        # "default" is a click on the notice itself.
        arguments = ("CF Batch", self._numbers.get(key, 0), "cfbatch", title, body, ["default", action], hints, -1)
        call = new_method_call(server, "Notify", "susssasa{sv}i", arguments)
        serial = next(self._bus.outgoing_serial)
        try:
            self._bus.send(call, serial=serial)
        except OSError as error:
            self._lose(error)
            return False
        self._awaited[serial] = key
        return True

    def close(self) -> None:
        """Leave the bus. Notices that are shown stay."""
        if self._readable is not None:
            self._readable.setEnabled(False)
            self._readable = None
        if self._bus is not None:
            with suppress(OSError):
                self._bus.close()
            self._bus = None

    def _read(self) -> None:
        while self._bus is not None:
            try:
                message = self._bus.receive(timeout=0)
            except TimeoutError:
                return
            except (OSError, ValueError) as error:
                self._lose(error)
                return
            self._take(message)

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
            case "ActivationToken" if key:
                self.activation_token.emit(str(message.body[1]))
            case "ActionInvoked" if key:
                self.pressed.emit(key)
            case "NotificationClosed":
                self._numbers.pop(key, None)

    def _lose(self, error: Exception) -> None:
        _log.info("The server of notifications is gone: %s", type(error).__name__)
        self.close()


def _connected() -> tuple[Any, list[str]]:
    from jeepney import DBusAddress, MatchRule, MessageType, message_bus, new_method_call
    from jeepney.io.blocking import Proxy, open_dbus_connection

    bus = open_dbus_connection("SESSION")
    server = DBusAddress(_PATH, bus_name=_SERVER, interface=_SERVER)
    try:
        answer = bus.send_and_get_reply(new_method_call(server, "GetCapabilities"), timeout=_PATIENCE)
        if answer.header.message_type is MessageType.method_return:
            Proxy(message_bus, bus).AddMatch(MatchRule(type="signal", interface=_SERVER, path=_PATH))
            return bus, list(answer.body[0])
    except BaseException:
        bus.close()
        raise
    bus.close()
    raise ConnectionError(str(answer.body))


_TOGETHER = 700  # milliseconds; jobs that end within this time are announced in one notice


class Announcements(QObject):
    """What happens to jobs, for a screen reader and on the desktop: on Linux over the session bus, else by the tray.

    `opened` brings the id of a job whose notice on the desktop was clicked.
    """

    opened = Signal(str)

    def __init__(self, program: Program, window: MainWindow) -> None:
        super().__init__(window)
        self._program, self._window = program, window
        self._known: dict[str, tuple[JobState | None, bool]] = {}  # its state, and whether it is with the account
        self._bus: NotificationBus | None = None
        self._tray: QSystemTrayIcon | None = None
        self._last = ""
        self._waiting: dict[str, Job] = {}  # to be told together, the newest state of each job alone
        self._together = QTimer(self, singleShot=True, interval=_TOGETHER)
        self._together.timeout.connect(self._show)

    def begin(self, jobs: Iterable[Job]) -> None:
        self._known = {job.id: (job.state, _is_with_account(job)) for job in jobs}

    async def connect_to_desktop(self) -> None:
        if sys.platform not in ("win32", "darwin"):
            bus = NotificationBus(self)
            bus.pressed.connect(self.opened)
            bus.activation_token.connect(keep_token)
            if await bus.connect_to_server():
                self._bus = bus
                return
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._tray = QSystemTrayIcon(QApplication.windowIcon(), self)
            self._tray.messageClicked.connect(lambda: self.opened.emit(self._last))

    def close(self) -> None:
        if self._together.isActive():
            self._together.stop()
            self._show()
        if self._bus is not None:
            self._bus.close()
            self._bus = None

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
        if self._program.settings.system_notices and not is_looked_at and not is_by_user:
            self._waiting.pop(job.id, None)
            self._waiting[job.id] = job
            self._together.start()

    def _show(self) -> None:
        waiting, self._waiting = list(self._waiting.values()), {}
        if not waiting:
            return
        first = next((job for job in waiting if job.state is not JobState.DONE), waiting[0])
        text = self._words(waiting)
        self._last = first.id
        if self._bus is not None and self._bus.show(first.id, self.tr("CF Batch"), text, action=self.tr("Open")):
            return
        if self._tray is not None:
            self._tray.show()
            self._tray.showMessage(self.tr("CF Batch"), text, QApplication.windowIcon())

    def _words(self, waiting: list[Job]) -> str:
        done = sum(job.state is JobState.DONE for job in waiting)
        if len(waiting) == 1:
            pattern = self.tr("“{name}” is finished.") if done else self.tr("“{name}” needs you.")
            return pattern.format(name=waiting[0].name)
        return self.tr("{done} finished, {others} need you.").format(done=done, others=len(waiting) - done)


def _is_with_account(job: Job) -> bool:
    """Whether it needs this computer no more until it is fetched."""
    return job.state is JobState.WORKING and account_progress(job).lid_may_close
