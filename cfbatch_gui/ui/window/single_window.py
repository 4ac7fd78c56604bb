"""One window for each data folder: it takes the files of later starts over a socket that only this user can reach."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.system.later_start import Answer, Request, addresses
from cfbatch_gui.core.system.paths import Paths

_log = logging.getLogger(__name__)


class SingleWindow(QObject):
    """Receives the requests of later starts; the process must hold the lock of the ledger in `paths`."""

    def __init__(self, paths: Paths, environ: Mapping[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._requests: asyncio.Queue[tuple[QLocalSocket, Request]] = asyncio.Queue()
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        for address in addresses(paths, environ):
            QLocalServer.removeServer(address)  # left by a crash: no other process has this data folder open
            if self._server.listen(address):
                return
        _log.warning("A later start will not find this window: no socket could be made.")

    async def serve(self, take: Callable[[Request], Awaitable[object]], failed: Callable[[UserError], object]) -> None:
        """Answer requests until cancelled: when `take` returns, or `failed` has shown why the files were not taken."""
        while True:
            socket, request = await self._requests.get()
            if not _is_waiting(socket):
                continue
            try:
                await take(request)
            except UserError as error:
                failed(error)
            except Exception as error:  # noqa: BLE001 - later requests are to be answered all the same
                handled = {"message": "The files of a later start could not be opened", "exception": error}
                asyncio.get_running_loop().call_exception_handler(handled)
            _answer(socket, Answer.TAKEN)

    def close(self) -> None:
        self._server.close()

    def _connected(self) -> None:
        socket = self._server.nextPendingConnection()
        socket.disconnected.connect(socket.deleteLater)
        socket.readyRead.connect(lambda: self._read(socket))
        if socket.bytesAvailable():
            self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            return
        try:
            request = Request.decoded(bytes(socket.readLine().data()))
        except ValueError:
            _log.warning("A start of another version has asked this window for something, and was not understood.")
            socket.abort()
            return
        self._requests.put_nowait((socket, request))


def _is_waiting(socket: QLocalSocket) -> bool:
    try:
        socket.waitForReadyRead(0)  # hears that the other end is closed, which may have been after the request
        return socket.state() == QLocalSocket.LocalSocketState.ConnectedState
    except RuntimeError:  # it has gone, and Qt has deleted the socket
        return False


def _answer(socket: QLocalSocket, answer: Answer) -> None:
    with suppress(RuntimeError):  # who asked has gone, and Qt has deleted the socket
        socket.write(answer.encode() + b"\n")
        socket.flush()
