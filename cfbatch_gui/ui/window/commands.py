"""What the menus start beside pages: export, adding a job, backing up, the dialog About, and closing."""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cfbatch_gui.core.errors import InputError, UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, account_progress, goes_on_elsewhere
from cfbatch_gui.core.jobs.store.data_folder import FolderAnswer
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.file_names import path_of
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.help import AboutDialog
from cfbatch_gui.ui.job_actions import AT_WORK
from cfbatch_gui.ui.result_view import RowChoice, imported
from cfbatch_gui.ui.widgets import NoticeBar

if TYPE_CHECKING:
    from cfbatch_gui.core.results.exports.base import ExportOptions
    from cfbatch_gui.ui.window.workspace import Workspace


class Commands:
    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._program, self._window, self._tasks = workspace.program, workspace.window, workspace.tasks

    def export(self, job_id: str, *, limits: "ExportOptions | None", choices: Sequence[RowChoice]) -> None:
        self._tasks.start("export", self._export(job_id, limits, tuple(choices)))

    async def _export(self, job_id: str, limits: "ExportOptions | None", choices: tuple[RowChoice, ...]) -> None:
        await imported("cfbatch_gui.ui.results.export_dialog")
        from cfbatch_gui.ui.results.export_dialog import ExportDialog

        job, notices = self._program.ledger.job(job_id), self._window.notices
        dialog = ExportDialog(self._program, notices, job, limits=limits, choices=choices, parent=self._window)
        dialog.all_written.connect(self._workspace.job_actions.exported_all)
        dialog.open()

    def attach(self) -> None:
        self._tasks.start("attach", self._attach())

    async def _attach(self) -> None:
        await imported("cfbatch_gui.ui.jobs.elsewhere")
        from cfbatch_gui.ui.jobs.elsewhere import AttachDialog

        dialog = AttachDialog(self._program, self._window)
        dialog.added.connect(self._workspace.open_new)
        dialog.open()

    def show_account(self, connection_id: str = "") -> None:
        self._tasks.start("account", self._show_account(connection_id))

    async def _show_account(self, connection_id: str) -> None:
        await imported("cfbatch_gui.ui.jobs.elsewhere")
        await self._program.prepare("elsewhere")
        from cfbatch_gui.ui.jobs.elsewhere import AccountDialog

        dialog = AccountDialog(self._program, self._window.notices, self._tasks, connection_id, self._window)
        dialog.opened.connect(self._workspace.open_new)
        dialog.open()

    def show_about(self) -> None:
        AboutDialog(self._program, self._window).open()

    def back_up(self) -> None:
        self._tasks.start("back up", self._back_up())

    async def _back_up(self) -> None:
        from cfbatch_gui.core.jobs.store.data_folder import back_up

        path = await dialogs.save_file(
            self._window,
            tr("Back up all jobs"),
            name="cfbatch-jobs.zip",
            folder=self._program.remembered_folder(FolderUse.BACKUPS),
            suffix="zip",
        )
        if path is None:
            return
        count = await asyncio.to_thread(back_up, self._program.paths, path)
        files = display.plural(count, "{n} file", "{n} files")
        said = tr("Backed up {files} to “{name}”.").format(files=files, name=path.name)
        self._window.notices.show_written(said, path)

    async def may_close(self) -> bool:
        """Whether the window may close: while jobs are at work here, the user is told once that they go on."""
        at_work = [job for job in self._program.ledger.jobs() if job.state in AT_WORK]
        told = [job for job in at_work if not account_progress(job).lid_may_close]
        if told and not self._program.settings.seen_close_note:
            text = tr("That is safe: the work waits on this computer, and goes on at the next start.")
            if any(map(goes_on_elsewhere, told)):
                text = tr("That is safe: what was sent goes on at the service, and is collected at the next start.")
            if any(account_progress(job).is_used for job in told):
                text += " " + tr("What your account was not handed yet is handed over then.")
            if not await dialogs.ask(self._window, tr("Close while jobs are at work?"), text, accept=tr("Close")):
                return False
            with suppress(UserError):  # closing must work with a full disk, too
                await self._program.keep_settings(seen_close_note=True)
        return True


_ANSWERS = (FolderAnswer.COPIED, FolderAnswer.MOVED)


class DataFolder:
    def __init__(self, workspace: "Workspace") -> None:
        self._program, self._window, self._tasks = workspace.program, workspace.window, workspace.tasks
        self._reminder: NoticeBar | None = None

    async def tell(self) -> None:
        """Show what was found damaged, and ask what only the user knows."""
        notices = self._window.notices
        for sentence in (*self._program.damage, *await self._program.check_books()):
            notices.show_notice(said(sentence), "attention")
        if self._program.doubt is not None:
            self._ask_later()
            self._ask()

    def _ask(self) -> None:
        self._tasks.start("data folder", self._question())

    def _ask_later(self) -> None:
        self._reminder = self._window.notices.show_notice(
            tr("Nothing is sent until you have said whether this data folder was copied or restored."),
            "attention",
            button=tr("Say what happened"),
            on_button=self._ask,
            stays=True,
        )

    async def _question(self) -> None:
        chosen = await dialogs.choose(
            self._window,
            tr("Was this folder copied or restored?"),
            tr(
                "The folder with your jobs is not where it was, or is older than it was. What waits in it to be sent"
                " may have been sent already, from the other copy or after the backup was made, and sending it again"
                " costs again.\n\nIf it is a copy or a restored backup, those jobs wait until you open each and carry"
                " on. If it was only moved, they go on now."
            ),
            (tr("Copied or restored"), tr("Only moved")),
            cancel=tr("Not now"),
        )
        if chosen is None:
            self._ask_later()
            return
        try:
            paused = await self._program.settle_doubt(_ANSWERS[chosen])
        except UserError:  # a full disk: nothing is sent, and the question stays
            self._ask_later()
            raise
        if self._reminder is not None:
            self._window.notices.dismiss(self._reminder)
        if paused:
            waiting = display.plural(
                len(paused),
                "{n} job waits for your word. Open it and carry on to send the rest of it.",
                "{n} jobs wait for your word. Open one and carry on to send the rest of it.",
            )
            self._window.notices.show_notice(waiting)


_PAGE = "cfbatch_gui.ui.inputs.draft_page"
MOST_AT_ONCE = 20  # files; more are hardly meant to be a job each


class NewJobs:
    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._program, self._window, self._tasks = workspace.program, workspace.window, workspace.tasks
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
        self._workspace.open_new(job.id)
        return self._workspace.draft_page.open_paths(files)

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
        self._workspace.draft_page.use_example()

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
            self._workspace.settings.paste_token()
        else:
            await self.begin()
            self._workspace.draft_page.paste_text(pasted)

    async def _choose_file(self) -> None:
        await self._prepare()
        path = await dialogs.open_file(
            self._window,
            tr("Open a file"),
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
        return next(
            (job for job in drafts if job.name == new_job_name() and not self._workspace.draft_page.is_taken(job.id)),
            None,
        )


def _too_many(count: int) -> InputError:
    return InputError(
        message(
            "{n:,} files are too many to open at once, with a job for each; at most {most} are. Choose fewer, or open"
            " the folder that they are in as one job.",
            n=count,
            most=MOST_AT_ONCE,
        )
    )
