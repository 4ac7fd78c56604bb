"""The composition root: creates and connects loop, program and window, with one window for each data folder."""

import asyncio
import logging
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication, QMessageBox

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import DataInUse, UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system import logs
from cfbatch_gui.core.system.languages import language_of_system, load_language, said
from cfbatch_gui.core.system.later_start import Answer, hand_over
from cfbatch_gui.core.system.paths import Paths, resource
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.accessibility import install_roles
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.widgets import keyboard
from cfbatch_gui.ui.window import loop
from cfbatch_gui.ui.window.application import DESKTOP_ID, Application
from cfbatch_gui.ui.window.crash import CrashHandler
from cfbatch_gui.ui.window.ending import Ending
from cfbatch_gui.ui.window.failed_start import say_failed_start
from cfbatch_gui.ui.window.language import preferred_languages, speak
from cfbatch_gui.ui.window.single_window import SingleWindow
from cfbatch_gui.ui.window.workspace import Workspace

# A window that is being opened has the lock a moment before it listens; one that is being closed, a moment longer.
_TRIES, _BETWEEN = 25, 0.2  # seconds

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Start:
    """How to open the window: the data folder, and files or the example to open in new jobs.

    `files` are as `file_arguments.independent` gives them. `is_window_silent`: a window that is open for the data
    folder has been asked to take them, and did not answer in time.
    """

    root: Path
    files: tuple[str, ...] = ()
    with_example: bool = False
    is_window_silent: bool = False


def open_window(start: Start, environ: Mapping[str, str]) -> int:
    """Run the window until it is closed, and return the exit status.

    A window that is already open for the same data folder is raised instead, and is given the files.
    """
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
    settings = Settings.load(Paths(start.root).settings)
    speak(app, load_language(settings.language or language_of_system(environ, preferred_languages())))
    chosen = settings.theme
    theme = Theme(Scheme(chosen) if chosen in set(Scheme) else Scheme.SYSTEM)
    theme.apply(app)
    keyboard.watch(app)
    install_roles()
    return loop.run(app, lambda: _main(start, environ, theme, app))


async def _main(start: Start, environ: Mapping[str, str], theme: Theme, app: QApplication) -> int:
    logs.set_up(Paths(start.root))  # first: before this, warnings are written to standard error unformatted
    crash = CrashHandler(__version__)
    crash.install(asyncio.get_running_loop())
    listeners: list[Callable[[Job], None]] = []  # empty until there is a workspace

    def notify(job: Job) -> None:
        for each in listeners:
            each(job)

    try:
        program = await _open_or_hand_over(start, environ, notify)
    except UserError as error:
        await _say(error)
        return 2
    if program is None:
        return 0
    single = SingleWindow(Paths(start.root), environ)  # before the pages are made: a later start waits for it
    workspace = Workspace(program, theme, with_draft=bool(start.files) or start.with_example)
    show_error = workspace.window.notices.show_error
    tasks = Tasks(single, show_error)
    crash.crashed.connect(workspace.window.notices.show_crash)
    listeners.append(workspace.job_changed)
    ending = Ending(workspace.closed.set)
    ending.install()
    try:
        await workspace.begin(start.files, with_example=start.with_example)
        if isinstance(app, Application):
            app.give_files_to(workspace.open_each)
        loop.favour_window()
        tasks.start("later starts", single.serve(workspace.take, show_error))
        await workspace.closed.wait()
    finally:
        single.close()
        await tasks.close()
        await workspace.close()
        await program.close()
        workspace.window.finish()
        crash.uninstall()
        ending.uninstall()
    return ending.status


async def _open_or_hand_over(start: Start, environ: Mapping[str, str], notify: Callable[[Job], None]) -> Program | None:
    """The program; None when the window that has the data folder open has taken the files. Raises UserError."""
    tries = _TRIES
    while True:
        try:
            return await Program.open(start.root, environ=environ, on_change=notify)
        except DataInUse as error:
            if start.is_window_silent:
                raise _not_taken(start.files) from error
            answer = await asyncio.to_thread(hand_over, Paths(start.root), start.files, environ)
            if answer is Answer.TAKEN:
                return None
            tries -= 1
            if answer is Answer.SILENT:
                raise _not_taken(start.files) from error
            if not tries:
                raise
        await asyncio.sleep(_BETWEEN)


def _not_taken(files: Sequence[str]) -> DataInUse:
    if not files:
        return DataInUse(
            _tr("CF Batch is open already, but its window does not answer. Wait a moment, or close it and start again.")
        )
    if len(files) > 1:
        words = _tr(
            "CF Batch is open already, but its window does not answer, so {files} were not opened. Try again later."
        )
        return DataInUse(words.format(files=display.plural(len(files), "{n} file", "{n} files")))
    words = _tr(
        "CF Batch is open already, but its window does not answer, so “{name}” was not opened. Try again later."
    )
    return DataInUse(words.format(name=Path(files[0]).name))


def _tr(text: str) -> str:
    return QCoreApplication.translate("start", text)


async def _say(error: UserError) -> None:
    """Show why there is no window, also to whoever has started it from a terminal."""
    _log.warning("%s: %s (%s)", type(error).__name__, error.message, error.detail)
    if sys.stderr is not None:  # as on Windows
        print(said(error.message), file=sys.stderr, flush=True)  # noqa: T201
    box = QMessageBox(QMessageBox.Icon.Warning, "CF Batch", said(error.message))
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setDetailedText(error.detail)
    await dialogs.finished(box)
