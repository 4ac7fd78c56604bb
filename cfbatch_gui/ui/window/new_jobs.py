"""How a job begins: for a purpose or its example, or from files that are named, dropped or pasted."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cfbatch_gui.core.errors import InputError, UserError
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.ui import dialogs
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr

if TYPE_CHECKING:
    from cfbatch_gui.ui.window.workspace import Workspace

MOST_AT_ONCE = 20  # files; more are hardly meant to be a job each


class NewJobs:
    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._program, self._window, self._tasks = workspace.program, workspace.window, workspace.tasks
        self._waiting: deque[str] = deque()

    def start(self, *files: Path, purpose: Purpose | None = None) -> None:
        """A new job with these files; without a `purpose` that is guessed from them."""
        self._tasks.start("new job", self.begin(*files, purpose=purpose))

    def open_each(self, files: Sequence[str]) -> None:
        """A new job for each file or folder, but one for two while no job is open; one that cannot be opened is said
        in a notice.
        """
        if len(files) == 2 and not self._window.library.opened_job():
            self.start(*map(Path, files))
            return
        if len(files) > MOST_AT_ONCE:
            pattern = tr(
                "{n} files are too many to open at once, with a job for each; at most {most} are. Choose fewer, or open"
                " the folder that they are in as one job."
            )
            text = pattern.format(n=figures.number(len(files)), most=MOST_AT_ONCE)
            self._window.notices.show_notice(text, "attention")
            return
        self._waiting.extend(files)
        if self._waiting and not self._tasks.is_running("open each"):
            self._tasks.start("open each", self._open_waiting())

    def open_together(self, files: Sequence[Path]) -> None:
        """Two are one job, more are one each."""
        if len(files) > 2:
            self.open_each([str(path) for path in files])
        elif files:
            self.start(*files)

    def paste(self) -> None:
        self._tasks.start("new job", self._begin_pasted())

    def try_example(self, purpose: Purpose) -> None:
        self._tasks.start("new job", self.begin_example(purpose))

    def choose_file(self) -> None:
        self._tasks.start("open file", self._choose_file())

    async def begin(
        self, *files: Path, purpose: Purpose | None = None, connection: str = ""
    ) -> asyncio.Future[None] | None:
        """Show a draft and open the files in it; the result is done when they are recognised, None without files."""
        await self._workspace.ready()
        from cfbatch_gui.ui.inputs.draft_state import new_job_name

        drafts, settings, on_disk = self._program.drafts, self._program.settings, self._program.store.on_disk
        connection = connection or settings.connection or PRACTICE.id
        kind = (purpose or Purpose.RANK).kind
        job = self._empty_draft()
        if job is None:
            job = await on_disk(drafts.create, kind, new_job_name(), settings.model, connection)
        is_open = purpose is None and job.id == self._window.library.opened_job()
        if not is_open and (job.kind, job.connection, job.options.purpose) != (kind, connection, purpose):
            options = replace(job.options, purpose=purpose)
            await on_disk(partial(drafts.change, job.id, kind=kind, connection=connection, options=options))
            self._workspace.draft_page.drafts.forget(job.id)
        self._workspace.open_new(job.id)
        return self._workspace.draft_page.drafts.open_paths(files)

    async def _open_waiting(self) -> None:
        while self._waiting:
            try:
                recognised = await self.begin(Path(self._waiting.popleft()))
            except UserError as error:
                self._window.notices.show_error(error)
                continue
            if recognised is not None:
                await asyncio.wait({recognised})

    async def begin_example(self, purpose: Purpose) -> None:
        """On this computer, whatever is connected."""
        await self.begin(purpose=purpose, connection=PRACTICE.id)
        self._workspace.draft_page.drafts.use_example()

    async def _begin_pasted(self) -> None:
        """A token goes to the settings instead: it must not be written to a job's files. Raises InputError."""
        await self._workspace.ready()
        from cfbatch_gui.core.workers_ai.api_tokens import read_pasted
        from cfbatch_gui.ui.inputs.draft_actions import NOTHING_TO_PASTE, clipboard_content

        pasted = clipboard_content()
        if not isinstance(pasted, str):
            await self.begin(*pasted)
        elif not pasted.strip():
            raise InputError(NOTHING_TO_PASTE)
        elif len(pasted.splitlines()) == 1 and read_pasted(pasted).token:
            self._workspace.paste_token()
        else:
            await self.begin()
            self._workspace.draft_page.drafts.take_text(pasted)

    async def _choose_file(self) -> None:
        await self._workspace.ready()
        files = await dialogs.open_files(
            self._window,
            tr("Open one file or two"),
            filters=dialogs.input_filters(),
            folder=self._program.remembered_folder(FolderUse.INPUTS),
        )
        self.open_together(files)

    def _empty_draft(self) -> Job | None:
        from cfbatch_gui.ui.inputs.draft_state import new_job_name

        drafts = (job for job in self._program.ledger.jobs() if not job.is_sent and not job.source_name)
        return next(
            (job for job in drafts if job.name == new_job_name() and not self._workspace.draft_page.is_taken(job.id)),
            None,
        )
