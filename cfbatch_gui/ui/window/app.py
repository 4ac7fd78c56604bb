"""Starts the window: language, signals, unexpected errors, later starts, and what is said where there is no window."""

import asyncio
import hashlib
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import msgspec
from PySide6 import QtCore
from PySide6.QtCore import QEvent, QLibraryInfo, QLocale, QObject, Qt, QtMsgType, QTranslator, qInstallMessageHandler
from PySide6.QtGui import QFileOpenEvent, QGuiApplication, QIcon
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import DataInUse, UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system import logs
from cfbatch_gui.core.system.logs import redacted
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.printing import put
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.help import about_versions
from cfbatch_gui.ui.notices import install_roles
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.widgets import Button
from cfbatch_gui.ui.window import loop
from cfbatch_gui.ui.window.main_window import DESKTOP_ID
from cfbatch_gui.ui.window.workspace import Request, Workspace
from cfbatch_gui.words.languages import ENGLISH, Language, language_of_system, load_language, said, tr, use_language


class Application(QApplication):
    """Keeps the files that come before there is a window, without a filter of all events."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        self._files: list[str] = []
        self._take: Callable[[Sequence[str]], object] = self._files.extend

    def give_files_to(self, take: Callable[[Sequence[str]], object]) -> None:
        """Call `take` with the paths that have come, and from now on with each that comes."""
        self._take = take
        take(self._files)

    def event(self, event: QEvent) -> bool:
        if event.type() != QEvent.Type.FileOpen or not isinstance(event, QFileOpenEvent) or not event.file():
            return super().event(event)
        self._take([event.file()])
        return True


class CatalogueTranslator(QTranslator):
    """Answers `tr()` from the terminal's catalogue; Qt's context (a class's name) is left out of account."""

    def __init__(self, language: Language, parent: QApplication) -> None:
        super().__init__(parent)
        self._language = language

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, sourceText: str, disambiguation: str | None = None, n: int = -1) -> str:  # noqa: N803
        return self._language.translated(sourceText, disambiguation or "")


def preferred_languages(platform: str = sys.platform) -> list[str]:
    """The languages that Windows and macOS ask for, the best one first; elsewhere variables say it."""
    return QLocale.system().uiLanguages() if platform in ("win32", "darwin") else []


def speak(app: QApplication, language: Language) -> None:
    use_language(language)
    is_of_system = QLocale.system().name().partition("_")[0] == language.code
    QLocale.setDefault(QLocale.system() if is_of_system else QLocale(language.code))
    for before in app.findChildren(QTranslator):  # of the window before this one
        app.removeTranslator(before)
        before.deleteLater()
    if language.code != ENGLISH.code:
        app.installTranslator(CatalogueTranslator(language, app))
    own = QTranslator(app)  # asked first, for the words of Qt's own dialogs and menus
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if own.load(str(Path(folder) / f"qtbase_{language.code}.qm")):
        app.installTranslator(own)
    direction = Qt.LayoutDirection.RightToLeft if language.is_right_to_left else Qt.LayoutDirection.LeftToRight
    app.setLayoutDirection(direction)


_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)  # SIGHUP is not on Windows; SIGBREAK is there alone, for Ctrl+Break and for a console that is closed


def heed_signals(close: Callable[[], object]) -> list[int]:
    """The first signal calls `close` in the main thread, a second one ends the program at once; the list of both."""
    taken = [each for each in _SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]  # as under nohup
    heard: list[int] = []

    def heed(number: int, _frame: FrameType | None) -> None:
        heard.append(number)
        for each in taken:
            signal.signal(each, signal.SIG_DFL)
        close()

    if threading.current_thread() is threading.main_thread():  # which alone can take them
        for each in taken:
            signal.signal(each, heed)
    return heard


log = logging.getLogger("cfbatch.crash")
qt_log = logging.getLogger("qt")


def _write_of_qt(kind: QtMsgType, _context: QtCore.QMessageLogContext, message: str) -> None:
    usual = {QtMsgType.QtDebugMsg: logging.DEBUG, QtMsgType.QtInfoMsg: logging.INFO}
    qt_log.log(usual.get(kind, logging.WARNING), "%s", message)


class CrashHandler(QObject):
    """Handles what nothing else caught; `crashed`, with redacted details, may be emitted in any thread."""

    crashed = QtCore.Signal(str)

    @contextmanager
    def installed(self) -> Iterator[None]:
        before = sys.excepthook, threading.excepthook, qInstallMessageHandler(_write_of_qt)
        sys.excepthook, threading.excepthook = self._hook, self._thread_hook
        try:
            yield
        finally:
            sys.excepthook, threading.excepthook, _ = before
            qInstallMessageHandler(before[2])

    def loop_handler(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.caught(error, str(context.get("message", "")))
        else:
            log.error("The event loop reports: %s", context.get("message", ""))

    def caught(self, error: BaseException, where: str = "") -> None:
        """Log an unexpected error and emit `crashed`; an interrupt, an exit and a cancelled task are no errors."""
        if not isinstance(error, (KeyboardInterrupt, SystemExit, asyncio.CancelledError)):
            log.error("Unexpected error%s", f": {where}" if where else "", exc_info=error)
            parts = (about_versions(), where, "".join(traceback.format_exception(error)))
            self.crashed.emit(redacted("\n".join(filter(None, parts))))  # users send the details to others

    def _hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
        self.caught(error)

    def _thread_hook(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self.caught(args.exc_value, f"thread {args.thread.name}" if args.thread else "")


# A window that is being opened has the lock a moment before it listens; one that is being closed, a moment longer.
_TRIES, _BETWEEN = 25, 0.2  # seconds
_PATIENCE = 10_000  # milliseconds for the window that is open to answer; while it is being opened it takes nothing
_TAKEN = b"taken\n"  # its answer
_AGAIN = -1  # a status of a window that was closed to open once more, in another language
# What the desktop calls this start by. Some set only the older variable, with the token of Wayland in it.
_ACTIVATION = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Start:
    """How to open the window: the data folder, and files or the example to open in new jobs.

    `files` are as `file_names.independent` gives them.
    """

    root: Path
    files: tuple[str, ...] = ()
    with_example: bool = False


def open_window(start: Start, environ: Mapping[str, str]) -> int:
    """Run the window, or raise the one that is open for this data folder, and return the exit status."""
    try:
        return _open_window(start, environ)
    except Exception as error:  # noqa: BLE001 - there is no window that could show it, or none any more
        _log.error("The window failed: %s", logs.redacted("".join(traceback.format_exception(error))))
        return say_failed_start(error)


def _open_window(start: Start, environ: Mapping[str, str]) -> int:
    QGuiApplication.setDesktopFileName(DESKTOP_ID)
    app = QApplication.instance() or Application(sys.argv[:1])
    if not isinstance(app, QApplication):
        raise TypeError("a Qt application without windows is running in this process")
    app.setApplicationName("cfbatch-gui")
    app.setApplicationDisplayName("CF Batch")
    app.setApplicationVersion(__version__)
    app.setWindowIcon(QIcon(str(resource("cfbatch.svg"))))
    chosen = Settings.load(Paths(start.root).settings).theme
    theme = Theme(Scheme(chosen) if chosen in set(Scheme) else Scheme.SYSTEM)
    theme.apply(app)
    install_roles()
    while True:
        chosen = Settings.load(Paths(start.root).settings).language
        speak(app, load_language(chosen or language_of_system(environ, preferred_languages())))
        crash = CrashHandler()
        with crash.installed():
            status = loop.run(app, partial(_main, start, environ, theme, app, crash))
        if status != _AGAIN:
            return status
        start = Start(start.root)


async def _main(start: Start, environ: Mapping[str, str], theme: Theme, app: QApplication, crash: CrashHandler) -> int:
    logs.set_up(Paths(start.root))  # first: before this, warnings are written to standard error unformatted
    asyncio.get_running_loop().set_exception_handler(crash.loop_handler)
    listeners: list[Callable[[Job], None]] = []  # empty until there is a workspace

    def notify(job: Job) -> None:
        for each in listeners:
            each(job)

    try:
        program = await _open_or_hand_over(start, environ, notify)
    except UserError as error:
        _log.warning("%s: %s (%s)", type(error).__name__, error.message, error.detail)
        put(sys.stderr, f"{said(error.message)}\n")
        await _say(said(error.message), error.detail)
        return 2
    if program is None:
        return 0
    single = SingleWindow(_address(Paths(start.root), environ))  # before the pages are made: a later start waits for it
    workspace = Workspace(program, theme, with_draft=bool(start.files) or start.with_example)
    single.take = workspace.take
    crash.crashed.connect(workspace.window.notices.show_crash)
    listeners.append(workspace.job_changed)
    signals = heed_signals(workspace.closed.set)
    try:
        await workspace.begin(start.files, with_example=start.with_example)
        if isinstance(app, Application):
            app.give_files_to(workspace.new_jobs.open_each)
        loop.favour_window()
        await workspace.closed.wait()
    finally:
        single.close()
        await workspace.close()
        await program.close()
        workspace.window.finish()
    if workspace.begins_again:
        return _AGAIN
    return 128 + signals[0] if signals else 0  # as shells report it


async def _open_or_hand_over(start: Start, environ: Mapping[str, str], notify: Callable[[Job], None]) -> Program | None:
    """The program; None when the window that has the data folder open has taken the files. Raises UserError."""
    request = Request(start.files, next((environ[name] for name in _ACTIVATION if environ.get(name)), ""))
    tries = _TRIES
    while True:
        try:
            return await Program.open(start.root, environ=environ, on_change=notify)
        except DataInUse:
            if await asyncio.to_thread(_is_taken, _address(Paths(start.root), environ), request):
                return None
            tries -= 1
            if not tries:
                raise
        await asyncio.sleep(_BETWEEN)


def _address(paths: Paths, environ: Mapping[str, str]) -> str:
    """Where the window of this folder listens: a pipe on Windows, else a socket where only this user is.

    The user's runtime folder has short paths and takes sockets, which cannot be said of every data folder.
    """
    root, runtime = paths.root.resolve(), environ.get("XDG_RUNTIME_DIR", "")
    name = f"cfbatch-{hashlib.sha256(os.fsencode(root)).hexdigest()[:20]}"
    if sys.platform == "win32":
        return name
    return f"{runtime}/{name}" if runtime.startswith("/") else str(root / paths.window_socket.name)


def _is_taken(address: str, request: Request) -> bool:
    """Whether the open window has opened the files; blocks. Raises DataInUse where it does not answer."""
    window = QLocalSocket()
    window.connectToServer(address)
    if not window.waitForConnected(_PATIENCE):  # none listens, as one that has crashed
        return False
    window.write(msgspec.json.encode(request) + b"\n")
    if window.waitForReadyRead(_PATIENCE):
        return bytes(window.readLine().data()) == _TAKEN
    if window.state() != QLocalSocket.LocalSocketState.ConnectedState:  # it was being closed
        return False
    window.abort()  # what was not opened by now is not to be opened later
    words = tr(
        "CF Batch is open already, but its window does not answer, so nothing was opened. Wait a moment, or close it,"
        " and start again."
    )
    raise DataInUse(words, detail="\n".join(request.files))


async def _say(words: str, details: str, *, why: str = "") -> None:
    """Say why there is no window, with details to copy."""
    dialog = dialogs.Dialog("CF Batch", size=(460, 0))
    copy = Button(tr("Copy details"), "copy", lambda: QGuiApplication.clipboard().setText(details))
    copy.setVisible(bool(details))
    dialog.lay_out(words, about=why, beside=[copy])
    await dialogs.finished(dialog)


class SingleWindow(QObject):
    """Receives the requests of later starts; the process must hold the lock of the ledger.

    `take` is set before the loop goes on: until then nothing is heard, and what has come waits.
    """

    take: Callable[[Request], object]

    def __init__(self, address: str) -> None:
        super().__init__()
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        QLocalServer.removeServer(address)  # left by a crash: no other process has this data folder open
        if not self._server.listen(address):  # as where its path is longer than a socket's may be
            _log.warning("A later start will not find this window: %s", self._server.errorString())

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
            request = msgspec.json.decode(bytes(socket.readLine().data()), type=Request)
        except ValueError:
            _log.warning("A start of another version has asked this window for something, and was not understood.")
            socket.abort()
            return
        socket.waitForReadyRead(0)  # hears that the other end is closed, which may have been after the request
        if socket.state() == QLocalSocket.LocalSocketState.ConnectedState:
            try:
                self.take(request)
            finally:  # a failure is shown in this window
                socket.write(_TAKEN)
                socket.flush()


STATUS = 70  # EX_SOFTWARE, "an internal software error", of sysexits.h


def say_failed_start(error: BaseException) -> int:
    """Say it, also where there is no data folder and so no log, and return the exit status."""
    words = tr("CF Batch could not start, because of an error inside the program. Your jobs are safe.")
    last = redacted("".join(traceback.format_exception_only(error)).strip())
    put(sys.stderr, f"{words} {last}\n")
    app = QApplication.instance() or QApplication(sys.argv[:1])
    if isinstance(app, QApplication):
        details = redacted("\n".join((about_versions(), *traceback.format_exception(error))))
        loop.run(app, lambda: _say(words, details, why=last))
    return STATUS
