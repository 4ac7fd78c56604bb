"""The whole window in this process: a real program, its workspace, and someone in front of it."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.notices import install_roles
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window.workspace import Workspace
from tests.screen.person import Person
from tests.support.keyrings import MemoryKeyring


@dataclass
class Stage:
    """What is on the screen, and what stands behind it."""

    program: Program
    workspace: Workspace
    person: Person

    def job(self, name: str) -> Job:
        """The newest job of this name."""
        return next(job for job in self.program.ledger.jobs() if job.name == name)

    def state(self, name: str) -> JobState | None:
        """Where it is; None while there is no such job."""
        return next((job.state for job in self.program.ledger.jobs() if job.name == name), None)

    async def open_file(self, path: Path) -> None:
        """Ctrl+O, the file's name, Enter."""
        await self.person.press(Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
        await self.person.name_file(path)

    async def rename(self, name: str) -> None:
        """F2, the name, Enter; the focus then has no ring, for pictures."""
        await self.person.press(Qt.Key.Key_F2)
        await self.person.type("Name", name)
        await self.person.press(Qt.Key.Key_Return)
        await self.person.until_sees(name)
        self.workspace.window.pages.setFocus(Qt.FocusReason.MouseFocusReason)


@asynccontextmanager
async def opened(
    root: Path,
    theme: Theme,
    *,
    environ: Mapping[str, str] | None = None,
    practice_times: tuple[float, float] = (0.0, 0.0),
    clock: Callable[[], float] = time.time,
    credentials: Credentials | None = None,
    service: str = "",
    file: Path | None = None,
    with_example: bool = False,
    tell: Callable[[Job], None] = lambda job: None,
) -> AsyncIterator[Stage]:
    """Open the window over a data folder, as `ui.app` does; at the end it is closed for good.

    With the address of a `service` this stands for Cloudflare, and the keyring is in memory.
    """
    if service:
        environ, credentials = {"CLOUDFLARE_API_BASE_URL": service}, credentials or Credentials(MemoryKeyring(), {})
    told: list[Callable[[Job], None]] = [tell]

    def on_change(job: Job) -> None:
        for each in told:
            each(job)

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    install_roles()
    program = await Program.open(
        root,
        environ=environ or {},
        on_change=on_change,
        credentials=credentials,
        practice_times=practice_times,
        clock=clock,
    )
    workspace = Workspace(program, theme)
    told.append(workspace.job_changed)
    try:
        await workspace.begin([str(file)] if file else [], with_example=with_example)
        workspace.window.activateWindow()
        yield Stage(program, workspace, Person())
    finally:
        await workspace.close()
        await program.close()
        workspace.window.finish()
        workspace.window.deleteLater()
