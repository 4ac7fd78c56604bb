"""The composition root: loop, program, window and pages are made here, and their wishes and changes connected."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QIcon
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
from cfbatch_gui.ui.window.single_window import SingleWindow, raise_the_open_one
from cfbatch_gui.ui.window.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Start:
    """How the window was asked to open."""

    root: Path
    file: Path | None = None
    with_example: bool = False


def open_window(start: Start, environ: Mapping[str, str]) -> int:
    """Run the window until it is closed; the exit status."""
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
    logs.set_up(Paths(start.root))  # first: until then, warnings go to standard error as they are
    crash = CrashHandler(__version__)
    crash.install(asyncio.get_running_loop())
    told: list[Callable[[Job], None]] = []  # nobody until there is a workspace

    def tell(job: Job) -> None:
        for each in told:
            each(job)

    try:
        program = await Program.open(start.root, environ=environ, on_change=tell)
    except UserError as error:
        await _say(error)
        return 2
    workspace = Workspace(program, theme)
    single = SingleWindow(start.root)
    single.wanted.connect(workspace.come_forward)
    crash.crashed.connect(workspace.window.notices.show_crash)
    told.append(workspace.job_changed)
    try:
        await workspace.begin(start.file, with_example=start.with_example)
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
