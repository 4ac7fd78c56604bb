"""Notifications straight to the server of the desktop, over the session bus; it needs no tray.

By jeepney, which comes with keyring on Linux: Qt's own classes for the bus cannot write the unsigned number that the
call needs. The connection is made in a thread; afterwards what comes in is read when the window's loop says so, and
nothing waits for an answer.
"""

import asyncio
import html
import logging
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, QSocketNotifier, Signal

from cfbatch_gui.ui.window.application import DESKTOP_ID

_log = logging.getLogger(__name__)

_SERVER, _PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
_PATIENCE = 5.0  # seconds for a server that is started by the call
_NORMAL = 1  # urgency


class NotificationBus(QObject):
    """One connection to the session bus. What cannot be shown is logged and forgotten: a notice is a courtesy."""

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
        """Whether there is a bus, and a server of notifications on it."""
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
        """Show a notice, in place of an earlier one with this key; `action` is the word on its button.

        False when there is no server any more.
        """
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
    """In a thread: the connection, and what the server can do."""
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
