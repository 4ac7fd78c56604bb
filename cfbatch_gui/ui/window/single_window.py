"""One window for each data folder: a second start raises the first one, and hands it its file."""

import hashlib
import json
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_WAIT = 500  # milliseconds for the window that is open to answer


def _name(root: Path) -> str:
    return f"cfbatch-{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:20]}"


def raise_the_open_one(root: Path, file: Path | None) -> bool:
    """Tell the window that has this data folder open to come forward; False when there is none."""
    socket = QLocalSocket()
    socket.connectToServer(_name(root))
    if not socket.waitForConnected(_WAIT):
        return False
    socket.write(json.dumps({"file": str(file.resolve()) if file else ""}).encode() + b"\n")
    is_told = socket.waitForBytesWritten(_WAIT)
    socket.disconnectFromServer()
    return is_told


class SingleWindow(QObject):
    """Listens for later starts. `wanted` brings the file that one was given, or None."""

    wanted = Signal(object)

    def __init__(self, root: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        QLocalServer.removeServer(_name(root))  # what a crash has left; who holds the ledger may do so
        self._server.listen(_name(root))

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    def _connected(self) -> None:
        socket = self._server.nextPendingConnection()
        socket.readyRead.connect(lambda: self._read(socket))
        socket.disconnected.connect(socket.deleteLater)
        if socket.canReadLine():
            self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            return
        try:
            file = json.loads(bytes(socket.readLine().data())).get("file", "")
        except (ValueError, AttributeError):
            return
        self.wanted.emit(Path(file) if file else None)
