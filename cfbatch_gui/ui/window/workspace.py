"""Connects the pages: decides which one is open and what the sidebar shows, and handles the signals of all pages."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.later_start import Request
from cfbatch_gui.core.system.made_once import is_made, made_once
from cfbatch_gui.ui.help import Topic
from cfbatch_gui.ui.job_actions import JobActions
from cfbatch_gui.ui.memory import SettingsMemory
from cfbatch_gui.ui.result_view import imported
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import Scheme, Theme, styled_once
from cfbatch_gui.ui.window.announcements import Announcements
from cfbatch_gui.ui.window.commands import Commands, DataFolder, NewJobs
from cfbatch_gui.ui.window.main_window import MainWindow
from cfbatch_gui.ui.window.menus import Menus
from cfbatch_gui.ui.window.pages import ConnectionInUse, Evaluating, ResultViews, SettingsPages
from cfbatch_gui.ui.window.welcome_page import WelcomePage

if TYPE_CHECKING:
    from cfbatch_gui.ui.inputs.draft_page import DraftPage
    from cfbatch_gui.ui.jobs.job_page import JobPage

_OPEN_JOB = "window/job"  # where the settings remember the job that is open
_SETTLE = 40  # milliseconds; changes within this time are shown in the sidebar together

# The pages by the modules that are imported for them.
_JOB, _DRAFT = "cfbatch_gui.ui.jobs.job_page", "cfbatch_gui.ui.inputs.draft_page"


class Workspace:
    """The window for one opened program. A page is made when first needed; its module is imported in a thread."""

    @styled_once()
    def __init__(self, program: Program, theme: Theme, *, with_draft: bool = False) -> None:
        self._program, self._theme = program, theme
        self.closed = asyncio.Event()
        memory = self._memory = SettingsMemory(program)
        window = self.window = MainWindow(memory)
        notices = self._notices = window.notices
        tasks = self._tasks = Tasks(window, notices.show_error)
        self._announcements = Announcements(program, window)
        self._announcements.opened.connect(self._open_from_desktop)
        self._accepted: dict[str, int] = {}  # how many batches of a job the service has accepted
        self._is_closing = False
        self._settle = QTimer(window, singleShot=True)
        self._settle.timeout.connect(self._show_jobs)
        self._evaluating = Evaluating(
            program, window, tasks, memory=memory, show=self._show, open_job=self._open, show_quality=self._show_quality
        )
        self._results = ResultViews(
            program, window, memory=memory, show_help=self._show_score_help, show_table=self._show_vectors
        )
        self.job_actions = window.library.job_actions = JobActions(
            program,
            tasks,
            notices,
            window,
            show_jobs=self._show_jobs,
            open_job=self._open,
            changed=self._show_changed,
            compare=self._evaluating.compare,
            judge=self._evaluating.judge,
            export=self._export,
        )
        self._commands = Commands(
            program, window, tasks, exported_all=self.job_actions.exported_all, open_job=self._open_attached
        )
        self._in_use = ConnectionInUse(program, window, tasks)
        self._settings = SettingsPages(
            program, window, tasks, self._in_use, self._commands, memory=memory, show=self._show
        )
        self._new_jobs = NewJobs(
            program, window, tasks, self._draft_page, open_job=self._open_new, paste_token=self._settings.paste_token
        )
        self._menus = Menus(
            window,
            self._new_jobs,
            self._commands,
            self._evaluating,
            self._settings,
            paste=self._paste_into_page,
            export=lambda: self._export(window.library.opened_job()),
        )
        self._menus.show_scheme(theme.scheme)
        window.scheme_chosen.connect(self._choose_scheme)
        self._data_folder = DataFolder(program, window, tasks)
        window.files_dropped.connect(lambda files: self._new_jobs.start(*files))
        window.connection.connect(self._settings.show_connections)
        window.close_requested.connect(self._close)
        window.library.new_job.connect(self._new_jobs.start)
        self._settings.left.connect(self._leave_settings)
        window.library.opened.connect(self._open)
        notices.set_foot(self._foot_height)
        self._make_first_page(with_draft=with_draft)

    async def begin(self, files: Sequence[str], *, with_example: bool) -> None:
        """Show a draft for `files`, else the last job, else one that needs the user, else the welcome page."""
        self._announcements.begin(self._program.ledger.jobs())
        self._show_jobs()
        if not files and not with_example:
            self._open_at_start()
        self.window.show()
        self._in_use.show()
        self._tasks.start("desktop", self._announcements.connect_to_desktop())
        if files:
            self.open_each(files)
        elif with_example:
            await self._new_jobs.begin_example()
        await self.window.painted()
        await self._data_folder.tell()
        await self._program.resume_all()

    async def close(self) -> None:
        """Cancel the tasks of all pages and wait for their end; later changes of jobs are not shown."""
        self._is_closing = True
        self._settle.stop()
        self._announcements.close()
        if is_made(self, "_draft"):
            await self._draft.close_work()
        if is_made(self, "_job"):
            await self._job.close_work()
        for owner in (self._results, self._evaluating, self._settings):
            await owner.close_work()
        await self._tasks.close()

    async def take(self, request: Request) -> None:
        self.window.come_forward(request.activation)
        self.open_each(request.files)

    def open_each(self, files: Sequence[str]) -> None:
        self._new_jobs.open_each(files)

    def job_changed(self, job: Job) -> None:
        """Called on the loop's thread."""
        if self._is_closing:
            return
        self._show_jobs_soon()
        if job.connection != "practice":
            self._in_use.show()
        accepted = sum(bool(batch.request_id) for batch in job.batches)
        if accepted > self._accepted.get(job.id, accepted):
            self._settings.has_worked(job.connection)
        self._accepted[job.id] = accepted
        if job.state is JobState.PAUSED:
            self._in_use.has_paused(job)
        self._announcements.job_changed(job)

    # The pages, each with its signals

    @made_once
    def _welcome(self) -> WelcomePage:
        page = WelcomePage()
        self.window.add_page(page)
        page.try_example.connect(self._new_jobs.try_example)
        page.connect_account.connect(self.window.connection)
        page.open_file.connect(self._new_jobs.choose_file)
        self._paste_on(page)
        return page

    @made_once
    def _draft(self) -> "DraftPage":
        from cfbatch_gui.ui.inputs.draft_page import DraftPage

        page = DraftPage(self._program, self._notices, self.job_actions, parent=self.window.pages)
        self.window.add_page(page)
        page.sent.connect(self._sent)
        page.changed.connect(lambda _: self._show_jobs_soon())
        self.window.library.list.delegate.phase_of = page.phase
        page.phase_changed.connect(self.window.library.show_phase)
        page.connection_wanted.connect(self.window.connection)
        page.copy_made.connect(self._open)
        self._in_use.has_changed.connect(page.refresh_connections)
        return page

    @made_once
    def _job(self) -> "JobPage":
        from cfbatch_gui.ui.jobs.job_page import QUALITY, RANKING, JobPage

        results = self._results.pages
        page = JobPage(
            self._program,
            self._notices,
            {RANKING: results[RANKING], QUALITY: self._evaluating.quality, **results},
            self.job_actions,
            memory=self._memory,
        )
        self.window.add_page(page)
        page.connection_wanted.connect(self.window.connection)
        self._paste_on(page)
        return page

    # What is shown

    def _open(self, job_id: str) -> None:
        page = _JOB if self._program.ledger.job(job_id).is_sent else _DRAFT
        self._once_imported(page, lambda: self._open_now(job_id))

    def _once_imported(self, module: str, show: Callable[[], object]) -> None:
        if module in sys.modules:
            self._tasks.cancel("open")  # the page that was wanted before
            show()
            return

        async def import_and_show() -> None:
            await imported(module)
            show()

        self._tasks.start("open", import_and_show())

    def _open_now(self, job_id: str) -> None:
        job = self._program.ledger.job(job_id)
        self._memory.set(_OPEN_JOB, job_id)
        self.window.library.show_jobs(self._program.ledger.jobs())  # at the moment at which the page shows it
        page = self._job if job.is_sent else self._draft
        page.show_job(job)
        self.window.show_page(page)
        page.setAccessibleName(job.name)
        page.setFocus(Qt.FocusReason.OtherFocusReason)
        self.window.library.open_job(job_id)
        self._menus.export.setEnabled(job.is_sent and job.has_results)
        self._in_use.show()

    def _draft_page(self) -> "DraftPage":
        return self._draft

    def _show_vectors(self) -> None:
        self._job.show_vectors()

    def _show_quality(self) -> None:
        if is_made(self, "_job"):
            self._job.show_quality()

    def _show_score_help(self) -> None:
        self._menus.show_help(Topic.SCORES)

    def _make_first_page(self, *, with_draft: bool) -> QWidget:
        if with_draft:
            return self._draft
        job = self._last_job() or self._first_job()
        if job is None:
            return self._welcome
        return self._job if job.is_sent else self._draft

    def _open_at_start(self) -> None:
        job = self._last_job() or self._first_job()
        if job is not None:
            self._open_now(job.id)
        else:
            self._show(self._welcome)

    def _open_first(self) -> None:
        job = self._first_job()
        if job is not None:
            self._open(job.id)
        else:
            self._show(self._welcome)

    def _last_job(self) -> Job | None:
        last = self._memory.get(_OPEN_JOB)
        return next((job for job in self._program.ledger.jobs() if job.id == last), None)

    def _first_job(self) -> Job | None:
        """The first job that needs the user, else the newest one."""
        jobs = self._program.ledger.jobs()
        here = [job for job in jobs if not job.archived] or jobs
        return next((job for job in here if job.needs_user), here[0] if here else None)

    def _show(self, page: QWidget) -> None:
        self.window.show_page(page)
        self.window.library.open_job("")
        self._menus.export.setEnabled(False)

    def _is_shown(self, name: str) -> bool:
        return is_made(self, name) and self.window.pages.currentWidget() is getattr(self, name)

    def _show_jobs(self) -> None:
        jobs = self._program.ledger.jobs()
        self.window.library.show_jobs(jobs)
        if (comparison := self._evaluating.shown_comparison()) is not None:
            comparison.show_jobs(jobs)
        if not (opened := self.window.library.opened_job()):
            return
        job = next((job for job in jobs if job.id == opened), None)
        if job is None:
            self._open_first()
        elif job.is_sent and self._is_shown("_job"):
            self._job.show_job(job)
            self._menus.export.setEnabled(job.has_results)
        elif job.is_sent:
            self._sent(opened)

    def _show_jobs_soon(self) -> None:
        if not (self._settle.isActive() or self._is_closing):
            self._settle.start(_SETTLE)

    def _foot_height(self) -> int:
        return self._draft.check.foot.height() if self._is_shown("_draft") else 0

    # Actions of the user

    def _paste_into_page(self) -> None:
        if self._is_shown("_draft"):
            self._draft.intake.paste()
        elif not self._settings.paste_into(self.window.pages.currentWidget()):
            self._new_jobs.paste()

    def _paste_on(self, page: QWidget) -> None:
        QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), page).activated.connect(self._new_jobs.paste)

    def _open_new(self, job_id: str) -> None:
        self._show_jobs()
        self._open_now(job_id)

    def _open_attached(self, job_id: str) -> None:
        self._show_jobs()
        self._open(job_id)

    def _sent(self, job_id: str) -> None:
        """Open the page of a job that was sent, unless the user has opened another page since."""
        is_left = self._tasks.is_running("open")  # for a page that is being imported
        if self._is_shown("_draft") and self._draft.job_id() == job_id and not is_left:
            self._open(job_id)

    def _show_changed(self, job: Job) -> None:
        self.job_changed(job)
        if self._is_shown("_draft") and self._draft.job_id() == job.id:
            self._draft.show_job(job)

    def _export(self, job_id: str) -> None:
        choices = self._job.row_choices() if self._is_shown("_job") else ()
        self._commands.export(job_id, limits=self._results.limits(), choices=choices)

    def _choose_scheme(self, scheme: str) -> None:
        self._theme.set_scheme(Scheme(scheme))
        self._menus.show_scheme(Scheme(scheme))
        self._tasks.start("look", self._program.keep_settings(theme=scheme))

    def _leave_settings(self) -> None:
        self._in_use.show()
        self._open_first()

    def _open_from_desktop(self, job_id: str) -> None:
        if any(job.id == job_id for job in self._program.ledger.jobs()):
            self._open(job_id)
        self.window.come_forward()

    def _close(self) -> None:
        async def close() -> None:
            if await self._commands.may_close():
                self.window.hide()
                self.closed.set()

        self._tasks.start("close", close())
