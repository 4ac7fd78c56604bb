"""One window for each data folder: the window that is open takes the files of later starts.

The window listens on a socket that only this user can reach and notes its path in the data folder, where a later start
looks for it: `core/system/later_start.py`. Either side checks whose process the other one is before it believes or
tells it anything, and the later start ends itself only when the window has answered that it took the files.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.system.files import OWN_FOLDER, write_own_file
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.peers import is_private_folder
from cfbatch_gui.core.system.unfinished import temporary_folder
from cfbatch_gui.core.system.window_messages import (
    LONGEST_ADDRESS,
    LONGEST_REQUEST,
    Answer,
    Request,
    identity,
    pipe_name,
)

if sys.platform != "win32":
    from cfbatch_gui.core.system.peers import has_left, is_peer_ours

_log = logging.getLogger(__name__)


class SingleWindow(QObject):
    """Receives the requests of later starts of the program from its construction on; `serve` answers them.

    The process must hold the lock of the ledger in `paths`. `environ` names the user's runtime folder. Where no
    socket can be made, nothing is received, and a later start says that the program is open already.
    """

    def __init__(self, paths: Paths, environ: Mapping[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._paths, self._places = paths, ExitStack()
        self._requests: asyncio.Queue[tuple[QLocalSocket, Request]] = asyncio.Queue()
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        self._listen(environ)

    async def serve(self, take: Callable[[Request], Awaitable[object]], failed: Callable[[UserError], object]) -> None:
        """Answer requests until cancelled, one after the other: `take` brings the window forward with the files.

        The answer is sent when it returns, or when `failed` has shown in the window why the files were not taken; an
        unexpected error is shown by the loop's exception handler. Who has stopped waiting has told the user so, and
        the files are not opened.
        """
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
        """Stop listening."""
        self._server.close()
        self._places.close()
        with suppress(OSError):
            self._paths.window_address.unlink(missing_ok=True)
            self._paths.window_socket.rmdir()

    def _listen(self, environ: Mapping[str, str]) -> None:
        if sys.platform == "win32":
            self._server.listen(pipe_name(self._paths))
            return
        for address in _addresses(self._paths, environ, self._places):
            QLocalServer.removeServer(str(address))  # left by a crash: no other process has this data folder open
            if not self._server.listen(str(address)):
                continue
            try:
                write_own_file(self._paths.window_address, os.fsencode(address))
            except UserError as error:
                _log.warning("A later start will not find this window: %s", error.message)
            return
        _log.warning("A later start will not find this window: no socket could be made.")

    def _connected(self) -> None:
        socket = self._server.nextPendingConnection()
        socket.disconnected.connect(socket.deleteLater)
        if not _is_ours(socket):
            _log.warning("Another user's process has connected to this window, and was not heard.")
            socket.abort()
            return
        socket.readyRead.connect(lambda: self._read(socket))
        if socket.bytesAvailable():
            self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > LONGEST_REQUEST:
                socket.abort()
            return
        try:
            request = Request.decoded(bytes(socket.readLine().data()))
        except ValueError:
            _log.warning("A start of another version has asked this window for something, and was not understood.")
            socket.abort()
            return
        if request.root == identity(self._paths):  # not so for the note in a folder that is a copy of this one
            self._requests.put_nowait((socket, request))
        else:
            _answer(socket, Answer.NOBODY)


def _is_waiting(socket: QLocalSocket) -> bool:
    """Whether the process that asked still waits for the answer."""
    try:
        if socket.state() != QLocalSocket.LocalSocketState.ConnectedState:
            return False
        return sys.platform == "win32" or not has_left(int(socket.socketDescriptor()))
    except RuntimeError:  # it has gone, and Qt has deleted the socket
        return False


def _answer(socket: QLocalSocket, answer: Answer) -> None:
    with suppress(RuntimeError):  # who asked has gone, and Qt has deleted the socket
        socket.write(answer.encode() + b"\n")
        socket.flush()


def _addresses(paths: Paths, environ: Mapping[str, str], places: ExitStack) -> Iterator[Path]:
    """Paths for the socket, each in a folder that only this user may enter; the best one first."""
    runtime = Path(environ.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute() and is_private_folder(runtime):
        yield from _short(runtime / pipe_name(paths))
    with suppress(OSError):
        paths.window_socket.mkdir(mode=OWN_FOLDER, exist_ok=True)
    if is_private_folder(paths.window_socket):
        yield from _short(paths.window_socket.absolute() / "socket")
    with suppress(OSError):
        # The data folder's path is too long, or its file system has no sockets.
        yield from _short(places.enter_context(temporary_folder()) / "socket")


def _short(address: Path) -> Iterator[Path]:
    if len(os.fsencode(address)) <= LONGEST_ADDRESS:
        yield address


def _is_ours(socket: QLocalSocket) -> bool:
    """Whether the process at the other end is this user's; on Windows the rights of the pipe see to that."""
    return sys.platform == "win32" or is_peer_ours(int(socket.socketDescriptor()))
