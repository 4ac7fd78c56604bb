"""New jobs: from a file, from several, from the clipboard, from the example, or empty."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.file_names import path_of
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.result_view import imported
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from cfbatch_gui.ui.inputs.draft_page import DraftPage


_PAGE = "cfbatch_gui.ui.inputs.draft_page"
MOST_AT_ONCE = 20  # files; more are hardly meant to be a job each


class NewJobs(QObject):
    """`token_pasted`: what was pasted belongs in the settings. `draft` returns the page, made when first needed."""

    token_pasted = Signal()

    def __init__(
        self,
        program: Program,
        window: MainWindow,
        tasks: Tasks,
        draft: "Callable[[], DraftPage]",
        *,
        open_job: Callable[[str], None],
    ) -> None:
        super().__init__(window)
        self._program, self._window, self._tasks, self._page = program, window, tasks, draft
        self._open_job = open_job
        self._waiting: deque[str] = deque()

    def start(self, *files: Path) -> None:
        """A new job with these files; two are queries and contexts."""
        self._tasks.start("new job", self.begin(*files))

    def open_each(self, files: Sequence[str]) -> None:
        """A new job for each file or folder; one that cannot be opened is said in a notice."""
        if len(files) > MOST_AT_ONCE:
            self._window.notices.show_error(_too_many(len(files)))
            return
        self._waiting.extend(files)
        if self._waiting and not self._tasks.is_running("open each"):
            self._tasks.start("open each", self._open_waiting())

    def paste(self) -> None:
        self._tasks.start("new job", self._begin_pasted())

    def try_example(self) -> None:
        self._tasks.start("new job", self.begin_example())

    def choose_file(self) -> None:
        self._tasks.start("open file", self._choose_file())

    async def begin(self, *files: Path) -> asyncio.Future[None] | None:
        """Show a draft and open the files in it; the result is done when they are recognised, None without files."""
        await self._prepare()
        from cfbatch_gui.ui.inputs.input_labels import new_job_name

        job = self._empty_draft()
        if job is None:
            drafts, settings = self._program.drafts, self._program.settings
            connection = settings.connection or "practice"
            job = await self._program.store.on_disk(
                drafts.create, Kind.RANK, new_job_name(), settings.model, connection
            )
        self._open_job(job.id)
        return self._page().open_paths(files)

    async def _open_waiting(self) -> None:
        while self._waiting:
            opening = self._tasks.start("open one", self._open_one(self._waiting.popleft()))
            await asyncio.wait({opening})  # what went wrong, the task has said

    async def _open_one(self, file: str) -> None:
        recognised = await self.begin(path_of(file))
        if recognised is not None:
            await asyncio.wait({recognised})

    async def begin_example(self) -> None:
        await self.begin()
        self._page().use_example()

    async def _begin_pasted(self) -> None:
        """A token goes to the settings instead: it must not be written to a job's files. Raises InputError."""
        await self._prepare()
        from cfbatch_gui.core.workers_ai.api_tokens import read_pasted
        from cfbatch_gui.ui.inputs.intake import NOTHING_TO_PASTE, clipboard_content

        pasted = clipboard_content()
        if not isinstance(pasted, str):
            await self.begin(*pasted)
        elif not pasted.strip():
            raise InputError(NOTHING_TO_PASTE)
        elif len(pasted.splitlines()) == 1 and read_pasted(pasted).token:
            self.token_pasted.emit()
        else:
            await self.begin()
            self._page().paste_text(pasted)

    async def _choose_file(self) -> None:
        await self._prepare()
        path = await dialogs.open_file(
            self._window,
            self.tr("Open a file"),
            filters=dialogs.input_filters(),
            folder=self._program.remembered_folder(FolderUse.INPUTS),
        )
        if path is not None:
            self.start(path)

    async def _prepare(self) -> None:
        await imported(_PAGE)
        await self._program.prepare("drafts", "recipes", "connections")

    def _empty_draft(self) -> Job | None:
        from cfbatch_gui.ui.inputs.input_labels import new_job_name

        drafts = (job for job in self._program.ledger.jobs() if not job.is_sent and not job.source_name)
        return next((job for job in drafts if job.name == new_job_name() and not self._page().is_taken(job.id)), None)


def _too_many(count: int) -> InputError:
    return InputError(
        message(
            "{n:,} files are too many to open at once, with a job for each; at most {most} are. Choose fewer, or open"
            " the folder that they are in as one job.",
            n=count,
            most=MOST_AT_ONCE,
        )
    )
