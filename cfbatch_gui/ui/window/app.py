"""The composition root: creates and connects loop, program and window, with one window for each data folder."""

import asyncio
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication, QMessageBox

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system import logs
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.resources import resource
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.widgets import keyboard
from cfbatch_gui.ui.window import loop
from cfbatch_gui.ui.window.crash import CrashHandler
from cfbatch_gui.ui.window.workspace import Workspace

_WAIT = 500  # milliseconds to wait for the window that is already open


@dataclass(frozen=True, slots=True)
class Start:
    """How to open the window: the data folder, and a file or the example to open in a new job."""

    root: Path
    file: Path | None = None
    with_example: bool = False


def open_window(start: Start, environ: Mapping[str, str]) -> int:
    """Run the window until it is closed, and return the exit status.

    A window that is already open for the same data folder is raised instead.
    """
    QGuiApplication.setDesktopFileName("cfbatch")
    app = QApplication.instance() or QApplication(sys.argv[:1])
    if not isinstance(app, QApplication):
        raise TypeError("a Qt application without windows is running in this process")
    app.setApplicationName("cfbatch-gui")
    app.setApplicationDisplayName("CF Batch")
    app.setApplicationVersion(__version__)
    app.setWindowIcon(QIcon(str(resource("cfbatch.svg"))))
    if raise_the_open_one(start.root, start.file):
        return 0
    theme = Theme(Scheme(Settings.load(Paths(start.root).settings).theme))
    theme.apply(app)
    keyboard.watch(app)
    return loop.run(app, lambda: _main(start, environ, theme))


async def _main(start: Start, environ: Mapping[str, str], theme: Theme) -> int:
    logs.set_up(Paths(start.root))  # first: before this, warnings are written to standard error unformatted
    crash = CrashHandler(__version__)
    crash.install(asyncio.get_running_loop())
    listeners: list[Callable[[Job], None]] = []  # empty until there is a workspace

    def notify(job: Job) -> None:
        for each in listeners:
            each(job)

    try:
        program = await Program.open(start.root, environ=environ, on_change=notify)
    except UserError as error:
        await _say(error)
        return 2
    workspace = Workspace(program, theme)
    single = SingleWindow(start.root)
    single.wanted.connect(workspace.come_forward)
    crash.crashed.connect(workspace.window.notices.show_crash)
    listeners.append(workspace.job_changed)
    try:
        await workspace.begin(start.file, with_example=start.with_example)
        loop.favour_window()
        await workspace.closed.wait()
    finally:
        single.close()
        await workspace.close()
        await program.close()
        workspace.window.finish()
        crash.uninstall()
    return 0


async def _say(error: UserError) -> None:
    box = QMessageBox(QMessageBox.Icon.Warning, "CF Batch", error.message)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setDetailedText(error.detail)
    await dialogs.finished(box)


def raise_the_open_one(root: Path, file: Path | None) -> bool:
    """Ask the window that has this data folder open to raise itself and open `file`; False when there is none."""
    socket = QLocalSocket()
    socket.connectToServer(_name(root))
    if not socket.waitForConnected(_WAIT):
        return False
    socket.write(json.dumps({"file": str(file.resolve()) if file else ""}).encode() + b"\n")
    is_sent = socket.waitForBytesWritten(_WAIT)
    socket.disconnectFromServer()
    return is_sent


class SingleWindow(QObject):
    """Receives the requests of later starts of the program; `wanted` carries the path of the file to open, or None."""

    wanted = Signal(object)

    def __init__(self, root: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        QLocalServer.removeServer(_name(root))  # left by a crash; safe, because this process has locked the ledger
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


def _name(root: Path) -> str:
    return f"cfbatch-{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:20]}"
