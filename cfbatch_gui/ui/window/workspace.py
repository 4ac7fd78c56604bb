"""Connects the pages: decides which one is open and what the sidebar shows, and handles the signals of all pages."""

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.run.runner import STOPPED_BY_USER
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.store.backup import back_up
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.remembered_folders import FolderUse
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.accessibility import announce
from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from cfbatch_gui.ui.connections.traffic_page import TrafficPage
from cfbatch_gui.ui.help.about import AboutDialog
from cfbatch_gui.ui.help.help_window import Topic
from cfbatch_gui.ui.inputs.draft_page import DraftPage
from cfbatch_gui.ui.jobs.attach_dialog import AttachDialog
from cfbatch_gui.ui.jobs.job_page import JobPage
from cfbatch_gui.ui.restyling import styled_once
from cfbatch_gui.ui.results.export_dialog import ExportDialog
from cfbatch_gui.ui.results.overview_view import OverviewView
from cfbatch_gui.ui.results.ranking_view import RankingView
from cfbatch_gui.ui.results.score_summary import FigureReader
from cfbatch_gui.ui.results.vector_views import VectorViews
from cfbatch_gui.ui.results.vectors_view import VectorsView
from cfbatch_gui.ui.settings.settings_page import CONNECTIONS, SettingsPage
from cfbatch_gui.ui.state_names import job_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window.comparing import Comparing
from cfbatch_gui.ui.window.connection_in_use import ConnectionInUse
from cfbatch_gui.ui.window.data_folder import DataFolder
from cfbatch_gui.ui.window.job_changes import AT_WORK, JobChanges, SettingsMemory
from cfbatch_gui.ui.window.judging import Judging
from cfbatch_gui.ui.window.main_window import MainWindow
from cfbatch_gui.ui.window.menus import Menus
from cfbatch_gui.ui.window.new_jobs import NewJobs
from cfbatch_gui.ui.window.system_notices import Announcement, SystemNotices
from cfbatch_gui.ui.window.welcome_page import WelcomePage

_OPEN_JOB = "window/job"  # where the settings remember the job that is open
_SETTLE = 40  # milliseconds; changes within this time are shown in the sidebar together


def _tr(text: str) -> str:
    return QCoreApplication.translate("workspace", text)


class Workspace:
    """The window with its pages, for one opened program. The event `closed` is set when the user has closed it."""

    @styled_once()
    def __init__(self, program: Program, theme: Theme) -> None:
        self._program, self._theme = program, theme
        self.closed = asyncio.Event()
        memory = self._memory = SettingsMemory(program)
        self.window = MainWindow(memory)
        self._menus = Menus(self.window, theme.scheme)
        self._notices = self.window.notices
        self._tasks = Tasks(self.window, self._notices.show_error)
        self._system = SystemNotices(QApplication.windowIcon(), self.window)
        self._states: dict[str, JobState] = {}
        self._accepted: dict[str, int] = {}  # how many batches of a job the service has accepted
        self._is_closing = False
        self._settle = QTimer(self.window, singleShot=True)
        self._settle.timeout.connect(self._show_jobs)

        self._welcome = WelcomePage()
        self._draft = DraftPage(program, self._notices)
        self._connection = ConnectionPage(program, self._notices)
        self._settings = SettingsPage(program, self._connection)
        self._traffic = TrafficPage(program, self._notices, memory=memory)
        figures = FigureReader(program)
        self._ranking = RankingView(program, self._notices, figures=figures, memory=memory)
        self._overview = OverviewView(program, self._notices, figures=figures)
        self._comparing = Comparing(program, self._notices, self.window, self._tasks, memory=memory)
        self._judging = Judging(program, self._notices, self.window, self._comparing, memory=memory)
        self._vectors = VectorsView(program, self._notices, memory=memory)
        self._vector_views = VectorViews(program, self._notices, self._vectors, memory=memory)
        self._job = JobPage(
            program,
            self._notices,
            self._ranking,
            self._vectors,
            overview_view=self._overview,
            quality_view=self._judging.quality,
            vector_pages=self._vector_views.pages(),
            memory=memory,
        )
        self._vector_views.table_wanted.connect(self._job.show_vectors)
        for view in (self._ranking, self._overview):
            view.score_help_wanted.connect(partial(self._menus.show_help, Topic.SCORES))
        self._changes = JobChanges(
            program,
            self._tasks,
            self._notices,
            self.window,
            show_jobs=self._show_jobs,
            open_job=self._open,
            changed=self._show_changed,
        )
        self._in_use = ConnectionInUse(program, self.window, self._tasks, self._connection, self._draft)
        self._new_jobs = NewJobs(program, self.window, self._tasks, self._draft, open_job=self._open_new)
        self._new_jobs.token_pasted.connect(self._paste_token)
        self._data_folder = DataFolder(program, self.window, self._tasks)
        self._connect_window()
        self._connect_pages()

    async def begin(self, file: Path | None, *, with_example: bool) -> None:
        """Show the window, open a page, and resume the jobs that were at work.

        The page is a new draft with `file` or the example, else the job that was open last, else the first job that
        needs the user or the newest one, else the welcome page.
        """
        for job in self._program.ledger.jobs():
            self._states[job.id] = job.state
        self._show_jobs()
        self.window.show()
        self._in_use.show()
        self._tasks.start("desktop", self._system.connect_to_desktop())
        if file is not None:
            await self._new_jobs.begin(file)
        elif with_example:
            await self._new_jobs.begin_example()
        elif any(job.id == (last := self._memory.get(_OPEN_JOB)) for job in self._program.ledger.jobs()):
            self._open(last)
        else:
            self._open_first()
        await self._data_folder.tell()
        await self._program.runner.resume_all()

    async def close(self) -> None:
        """Cancel the tasks of all pages and wait for their end; later changes of jobs are not shown."""
        self._is_closing = True
        self._settle.stop()
        self._system.close()
        await self._draft.close_work()
        results = (self._ranking, self._overview, self._vectors, self._comparing.page)
        await self._vector_views.close()
        for owner in (self._job, self._job.progress, *results, *self._judging.pages, self._connection, self._traffic):
            await owner.tasks.close()
        await self._tasks.close()

    async def come_forward(self, file: Path | None) -> None:
        """Bring the window to the front because the program was started again; `file` opens in a new job."""
        self._come_forward()
        if file is not None:
            await self._new_jobs.begin(file)

    def _come_forward(self) -> None:
        self.window.setWindowState(self.window.windowState() & ~Qt.WindowState.WindowMinimized)
        self.window.raise_()
        self.window.activateWindow()

    def job_changed(self, job: Job) -> None:
        """Show a change of a job in the sidebar and, when its work ended, as a notice; called on the loop's thread."""
        if self._is_closing:
            return
        before, self._states[job.id] = self._states.get(job.id), job.state
        self._show_jobs_soon()
        if job.connection != "practice":
            self._in_use.show()
        accepted = sum(bool(batch.request_id) for batch in job.batches)
        if accepted > self._accepted.get(job.id, accepted):
            self._connection.has_worked(job.connection)
        self._accepted[job.id] = accepted
        if job.state is JobState.PAUSED:
            self._in_use.has_paused(job)
        if before is not job.state and job.is_sent and job.state is not JobState.WAITING:
            announce(self.window, f"{job.name}: {job_words(job.state).text}", is_urgent=job.needs_user)
        if before in AT_WORK and job.state not in AT_WORK:
            self._announce(job)

    # Pages

    def _open(self, job_id: str) -> None:
        job = self._program.ledger.job(job_id)
        self._memory.set(_OPEN_JOB, job_id)
        self.window.library.show_jobs(self._program.ledger.jobs())  # at the moment at which the page shows it
        page: QWidget = self._job if job.is_sent else self._draft
        (self._job if job.is_sent else self._draft).show_job(job)
        self.window.show_page(page)
        page.setAccessibleName(job.name)
        page.setFocus(Qt.FocusReason.OtherFocusReason)
        self.window.library.open_job(job_id)
        self.window.set_can_export(job.is_sent and job.batches_done > 0)
        self._in_use.show()

    def _foot_height(self) -> int:
        """What notices must not cover at the bottom of the page."""
        return self._draft.foot.height() if self.window.pages.currentWidget() is self._draft else 0

    def _open_first(self) -> None:
        jobs = self._program.ledger.jobs()
        here = [job for job in jobs if not job.archived]
        if jobs:
            self._open(next((job for job in here if job.needs_user), (here or jobs)[0]).id)
        else:
            self._show(self._welcome)

    def _show(self, page: QWidget) -> None:
        self.window.show_page(page)
        self.window.library.open_job("")
        self.window.set_can_export(False)

    def _show_jobs(self) -> None:
        jobs = self._program.ledger.jobs()
        self.window.library.show_jobs(jobs)
        if self.window.pages.currentWidget() is self._comparing.page:
            self._comparing.page.show_jobs(jobs)
        if not (opened := self.window.library.opened_job()):
            return
        job = next((job for job in jobs if job.id == opened), None)
        if job is None:
            self._open_first()
        elif job.is_sent and self.window.pages.currentWidget() is self._job:
            self._job.show_job(job)
            self.window.set_can_export(job.batches_done > 0)
        elif job.is_sent and self.window.pages.currentWidget() is self._draft:
            self._open(opened)

    def _show_jobs_soon(self) -> None:
        if not (self._settle.isActive() or self._is_closing):
            self._settle.start(_SETTLE)

    # Actions of the user

    def _paste_into_page(self) -> None:
        """Paste as Ctrl+V does on the page that is shown."""
        page = self.window.pages.currentWidget()
        if page is self._draft:
            self._draft.intake.paste()
        elif page is self._settings and self._settings.tabs.current() == CONNECTIONS:
            self._connection.paste()
        else:
            self._new_jobs.paste()

    def _show_connections(self) -> None:
        self._settings.choose(CONNECTIONS)
        self._show(self._settings)

    def _paste_token(self) -> None:
        self._show_connections()
        self._connection.paste()

    def _open_new(self, job_id: str) -> None:
        self._show_jobs()
        self._open(job_id)

    def _sent(self, job_id: str) -> None:
        """Open the page of a job that was sent, unless the user has opened another page since."""
        if self.window.pages.currentWidget() is self._draft and self._draft.job_id() == job_id:
            self._open(job_id)

    def _show_changed(self, job: Job) -> None:
        """Show a job that the user changed in the sidebar and, if it is the open draft, on the draft page."""
        self.job_changed(job)
        if self._draft.job_id() == job.id and self.window.pages.currentWidget() is self._draft:
            self._draft.show_job(job)

    def _export(self, job_id: str) -> None:
        job = self._program.ledger.job(job_id)
        limits = self._ranking.limits()
        choices = self._job.row_choices() if self.window.pages.currentWidget() is self._job else ()
        dialog = ExportDialog(self._program, self._notices, job, limits=limits, choices=choices, parent=self.window)
        dialog.all_written.connect(self._changes.exported_all)
        dialog.open()

    def _attach(self) -> None:
        dialog = AttachDialog(self._program, self.window)
        dialog.attached.connect(self._open_new)
        dialog.open()

    async def _back_up(self) -> None:
        path = await dialogs.save_file(
            self.window,
            _tr("Back up all jobs"),
            name="cfbatch-jobs.zip",
            folder=self._program.remembered_folder(FolderUse.BACKUPS),
            suffix="zip",
        )
        if path is None:
            return
        count = await asyncio.to_thread(back_up, self._program.paths, path)
        files = display.plural(count, "{n} file", "{n} files")
        said = _tr("Backed up {files} to “{name}”.").format(files=files, name=path.name)
        self._notices.show_written(said, path)

    def _choose_scheme(self, scheme: str) -> None:
        self._theme.set_scheme(Scheme(scheme))
        self._menus.show_scheme(Scheme(scheme))
        self._tasks.start("look", self._program.keep_settings(theme=scheme))

    def _leave_settings(self) -> None:
        self._in_use.show()
        self._open_first()

    def _announce(self, job: Job) -> None:
        """Tell on the desktop that a job ended or needs the user, unless it is being looked at."""
        is_looked_at = self.window.isActiveWindow() and self.window.library.opened_job() == job.id
        is_by_user = job.state is JobState.PAUSED and job.paused_because == STOPPED_BY_USER
        if self._program.settings.system_notices and not is_looked_at and not is_by_user:
            self._system.announce(Announcement(job.id, job.name, job.state is JobState.DONE))

    def _open_from_desktop(self, job_id: str) -> None:
        if any(job.id == job_id for job in self._program.ledger.jobs()):
            self._open(job_id)
        self._come_forward()

    def _close(self) -> None:
        async def close() -> None:
            at_work = any(job.state in AT_WORK for job in self._program.ledger.jobs())
            if at_work and not self._program.settings.seen_close_note:
                if not await dialogs.ask(
                    self.window,
                    _tr("Close while jobs are at work?"),
                    _tr("That is safe: the work goes on at the service, and CF Batch collects it at its next start."),
                    accept=_tr("Close"),
                ):
                    return
                with suppress(UserError):  # closing must work with a full disk, too
                    await self._program.keep_settings(seen_close_note=True)
            self.window.hide()
            self.closed.set()

        self._tasks.start("close", close())

    # Signals

    def _connect_window(self) -> None:
        window = self.window
        window.new_job.connect(self._new_jobs.start)
        window.open_file.connect(self._new_jobs.choose_file)
        window.files_dropped.connect(lambda files: self._new_jobs.start(*files))
        window.export.connect(lambda: self._export(window.library.opened_job()))
        window.attach.connect(self._attach)
        window.back_up.connect(lambda: self._tasks.start("back up", self._back_up()))
        window.connection.connect(self._show_connections)
        window.notices.set_foot(self._foot_height)
        window.paste.connect(self._paste_into_page)
        window.traffic.connect(lambda: self._show(self._traffic))
        window.about.connect(lambda: AboutDialog(self._program, window).open())
        window.scheme_chosen.connect(self._choose_scheme)
        window.close_requested.connect(self._close)
        window.library.opened.connect(self._open)
        changes, library, job_page = self._changes, window.library, self._job
        for owner in (library, job_page):
            owner.renamed.connect(changes.rename)
            owner.duplicated.connect(changes.duplicate)
            owner.compare_wanted.connect(self._comparing.choose)
        library.archived.connect(changes.archive)
        library.deleted.connect(changes.delete)
        library.tags_wanted.connect(changes.tag)
        library.comparison_wanted.connect(self._comparing.compare_these)
        job_page.archived.connect(lambda job_id: changes.archive([job_id]))
        job_page.forget_wanted.connect(changes.forget_texts)
        job_page.deleted.connect(lambda job_id: changes.delete([job_id]))
        for page in (job_page, self._draft):
            page.tags_wanted.connect(lambda job_id: changes.tag([job_id]))
        self._comparing.opened.connect(self._open)
        self._judging.opened.connect(self._open)
        self._judging.listen(window.library, self._job)
        self._system.opened.connect(self._open_from_desktop)

    def _connect_pages(self) -> None:
        self._welcome.try_example.connect(self._new_jobs.try_example)
        self._welcome.connect_account.connect(self.window.connection)
        self._welcome.open_file.connect(self._new_jobs.choose_file)
        for page in (self._welcome, self._job, self._comparing.page):  # the other pages handle a paste themselves
            QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), page).activated.connect(self._new_jobs.paste)
        self._draft.sent.connect(self._sent)
        self._draft.changed.connect(lambda _: self._show_jobs_soon())
        self.window.library.set_phase_of(self._draft.phase)
        self._draft.phase_changed.connect(self.window.library.show_phase)
        self._draft.connection_wanted.connect(self.window.connection)
        self._draft.duplicate_made.connect(self._open)
        self._draft.deleted.connect(lambda _: self._show_jobs())
        self._job.export_wanted.connect(self._export)
        self._job.connection_wanted.connect(self.window.connection)
        settings = self._settings
        settings.done.connect(self._leave_settings)
        settings.scheme_chosen.connect(self._choose_scheme)
        settings.traffic_wanted.connect(lambda: self._show(self._traffic))
        settings.back_up_wanted.connect(self.window.back_up)
        self._traffic.done.connect(lambda: self._show(settings))
