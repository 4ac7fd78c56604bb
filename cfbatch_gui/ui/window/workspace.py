"""Connects the pages: decides which one is open and what the sidebar shows, and handles the signals of all pages."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Job, JobState, Purpose
from cfbatch_gui.core.jobs.store.data_folder import FolderAnswer
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.job_actions import JobActions, can_be_judged
from cfbatch_gui.ui.memory import memory
from cfbatch_gui.ui.tasks import Tasks, close_all
from cfbatch_gui.ui.theme import Scheme, Theme, styled_once
from cfbatch_gui.ui.window.announcements import Announcements
from cfbatch_gui.ui.window.main_window import MainWindow
from cfbatch_gui.ui.window.menus import Menus
from cfbatch_gui.ui.window.new_jobs import NewJobs
from cfbatch_gui.ui.window.pages import ConnectionInUse, import_pages, make_result
from cfbatch_gui.ui.window.start_page import StartPage
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr

if TYPE_CHECKING:
    from cfbatch_gui.core.results.matches import Matches
    from cfbatch_gui.ui.connections.connection_page import ConnectionPage
    from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage
    from cfbatch_gui.ui.evaluation.judge_page import JudgePage
    from cfbatch_gui.ui.evaluation.review_page import ReviewPage
    from cfbatch_gui.ui.evaluation.screening_page import ScreeningPage
    from cfbatch_gui.ui.inputs.draft_page import DraftPage
    from cfbatch_gui.ui.jobs.job_page import JobPage
    from cfbatch_gui.ui.settings import SettingsPage, TrafficPage

PageT = TypeVar("PageT", bound=QWidget)

_OPEN_JOB = "window/job"  # where the settings remember the job that is open
_SETTLE = 40  # milliseconds; changes within this time are shown in the sidebar together


@dataclass(frozen=True, slots=True)
class Request:
    """A later start's: come to the front and open these files; `activation` is the desktop's token, "" for none."""

    files: tuple[str, ...] = ()
    activation: str = ""


class Workspace:
    """The window for one opened program. Its pages are made when they are first needed."""

    @styled_once()
    def __init__(self, program: Program, theme: Theme, *, with_draft: bool = False) -> None:
        self.program, self._theme = program, theme
        memory.open(program.settings.table_layouts, lambda texts: program.change_settings(table_layouts=texts))
        self.closed = asyncio.Event()
        self.begins_again = False  # once it is closed
        window = self.window = MainWindow()
        self.notices = window.notices
        self.tasks = Tasks(window, self.notices.show_error)
        self.announcements = Announcements(program, window)
        self.announcements.opened.connect(self._open_from_desktop)
        self._accepted: dict[str, int] = {}  # how many batches of a job the service has accepted
        self._is_closing = False
        self._settle = QTimer(window, singleShot=True)
        self._settle.timeout.connect(self.show_jobs)
        self._imports = self.tasks.start("imports", self._import_pages())
        self.in_use, self.new_jobs = ConnectionInUse(self), NewJobs(self)
        self.menus = Menus(self)
        self.job_actions = window.library.job_actions = JobActions(self)
        window.files_dropped.connect(self.new_jobs.open_together)
        self.notices.connection_wanted.connect(self.show_connections)
        window.close_requested.connect(lambda: self.tasks.start("close", self._close()))
        window.library.new_button.clicked.connect(lambda _checked=False: self.show_start())
        window.library.opened.connect(self.open_job)
        window.library.rows.title_of = self.program.address_book.title
        self.notices.foot = lambda: self.draft_page.check.foot.height() if self.is_shown("draft_page") else 0
        job = self._last_job()
        is_draft = with_draft or (job is not None and not job.is_sent)
        _ = self.draft_page if is_draft else self.start_page if job is None else self.job_page

    async def begin(self, files: Sequence[str], *, with_example: bool) -> None:
        """Show a draft for `files`, else the last job, else one that needs the user, else the first page."""
        self.announcements.begin(self.program.ledger.jobs())
        self.show_jobs()
        if not files and not with_example:
            self._open_or_start(self._last_job())
        self.window.show()
        self.in_use.show()
        self.tasks.start("desktop", self.announcements.serve_desktop())
        if files:
            self.new_jobs.open_each(files)
        elif with_example:
            await self.new_jobs.begin_example(Purpose.RANK)
        await self.ready()
        for sentence in self.program.damage:
            self.notices.show_notice(said(sentence), "attention")
        if self.program.store.holds_back:
            self._ask_about_folder()
        await self.program.resume_all()

    async def close(self) -> None:
        """Cancel the tasks of all pages and wait for their end; later changes of jobs are not shown."""
        self._is_closing = True
        self._settle.stop()
        await close_all(self.window)

    def take(self, request: Request) -> None:
        self.window.come_forward(request.activation)
        self.new_jobs.open_each(request.files)

    def job_changed(self, job: Job) -> None:
        """Called on the loop's thread."""
        if self._is_closing:
            return
        self._show_jobs_soon()
        if job.connection != "practice":
            self.in_use.show()
        accepted = sum(bool(batch.request_id) for batch in job.batches)
        if accepted > self._accepted.get(job.id, accepted) and "connection_page" in vars(self):
            self.connection_page.has_worked(job.connection)
        self._accepted[job.id] = accepted
        if job.state is JobState.PAUSED:
            self.in_use.has_paused(job)
        self.announcements.job_changed(job)

    # The pages, each with its signals

    @cached_property
    def start_page(self) -> StartPage:
        page = self._added(StartPage(self.program, self.new_jobs, self.notices))
        page.search_wanted.connect(self.search)
        return page

    @cached_property
    def draft_page(self) -> "DraftPage":
        from cfbatch_gui.ui.inputs.draft_page import DraftPage

        page = self._added(DraftPage(self.program, self.notices, self.job_actions, parent=self.window.pages))
        page.drafts.sent.connect(self._sent)
        page.drafts.job_changed.connect(lambda _: self._show_jobs_soon())
        self.window.library.rows.phase_of = page.drafts.phase
        page.drafts.changed.connect(lambda _: self.window.library.list.viewport().update())
        page.drafts.copy_made.connect(self.open_job)
        self.in_use.has_changed.connect(page.refresh_connections)
        return page

    @cached_property
    def job_page(self) -> "JobPage":
        from cfbatch_gui.ui.jobs.job_page import JobPage

        return self._added(
            JobPage(self.program, self.notices, partial(make_result, self), self._imports, self.job_actions)
        )

    @cached_property
    def comparison_page(self) -> "ComparisonPage":
        from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage

        page = self._added(ComparisonPage(self.program, self.notices))
        page.more_wanted.connect(self.compare)
        page.judge_wanted.connect(lambda job_ids: self.judge(*job_ids))
        return page

    @cached_property
    def judge_page(self) -> "JudgePage":
        from cfbatch_gui.ui.evaluation.judge_page import JudgePage

        page = self._added(JudgePage(self.program, self.notices))
        page.done.connect(self._judged)
        return page

    @cached_property
    def review_page(self) -> "ReviewPage":
        from cfbatch_gui.ui.evaluation.review_page import ReviewPage

        page = self._added(ReviewPage(self.program, self.notices))
        page.done.connect(self._decided)
        return page

    @cached_property
    def screening_page(self) -> "ScreeningPage":
        from cfbatch_gui.ui.evaluation.screening_page import ScreeningPage

        page = self._added(ScreeningPage(self.program, self.notices))
        page.done.connect(self._decided)
        page.export_wanted.connect(self.export)
        return page

    @cached_property
    def connection_page(self) -> "ConnectionPage":
        from cfbatch_gui.ui.connections.connection_page import ConnectionPage

        page = ConnectionPage(self.program, self.notices)
        page.changed.connect(self.in_use.changed)
        page.state_shown.connect(self.in_use.show)
        page.account_wanted.connect(self.menus.show_account)
        self.in_use.has_changed.connect(lambda: page.refresh() if page.isVisible() else None)
        return page

    @cached_property
    def settings_page(self) -> "SettingsPage":
        from cfbatch_gui.ui.settings import SettingsPage

        page = self._added(SettingsPage(self.program, self.connection_page))
        page.done.connect(self.leave_settings)
        page.scheme.picked.connect(self.choose_scheme)
        page.again_button.clicked.connect(self.begin_again)
        page.traffic_link.clicked.connect(self.show_traffic)
        page.back_up_link.clicked.connect(self.menus.back_up)
        return page

    @cached_property
    def traffic_page(self) -> "TrafficPage":
        from cfbatch_gui.ui.settings import TrafficPage

        page = self._added(TrafficPage(self.program, self.notices))
        page.done.connect(lambda: self.show(self.settings_page))
        return page

    def _added(self, page: PageT) -> PageT:
        self.window.pages.addWidget(page)
        return page

    # What is shown

    def open_job(self, job_id: str) -> None:
        self.when_ready("open", partial(self._open_now, job_id))

    def open_if_there(self, job_id: str) -> None:
        if any(job.id == job_id for job in self.program.ledger.jobs()):
            self.open_job(job_id)

    async def _import_pages(self) -> None:
        await self.window.painted()
        await asyncio.to_thread(import_pages, self.program)

    async def ready(self) -> None:
        """Wait until all pages are imported."""
        await asyncio.shield(self._imports)

    def when_ready(self, name: str, show: Callable[[], object]) -> None:
        """Call `show` as soon as all pages are imported; what was to be shown before by this name is left."""

        async def wait_and_show() -> None:
            await self.ready()
            show()

        self.tasks.cancel(name)
        if self._imports.done():
            show()
        else:
            self.tasks.start(name, wait_and_show())

    def _open_now(self, job_id: str) -> None:
        job = self.program.ledger.job(job_id)
        memory.set(_OPEN_JOB, job_id)
        self.window.library.show_jobs(self.program.ledger.jobs())  # at the moment at which the page shows it
        page = self.job_page if job.is_sent else self.draft_page
        page.show_job(job)
        self.window.pages.setCurrentWidget(page)
        page.setAccessibleName(job.name)
        page.setFocus(Qt.FocusReason.OtherFocusReason)
        self.window.library.open_job(job_id)
        self.menus.export.setEnabled(job.is_sent and job.has_results)
        self.in_use.show()

    def _open_or_start(self, job: Job | None) -> None:
        if job is not None:
            self._open_now(job.id)
        else:
            self.show(self.start_page)

    def _last_job(self) -> Job | None:
        """The job that was open when the window was closed, else the first one."""
        last = memory.get(_OPEN_JOB)
        return next((job for job in self.program.ledger.jobs() if job.id == last), None) or self._first_job()

    def _first_job(self) -> Job | None:
        """The first job that needs the user, else the newest one."""
        jobs = self.program.ledger.jobs()
        here = [job for job in jobs if not job.archived] or jobs
        return next((job for job in here if job.needs_user), here[0] if here else None)

    def show(self, page: QWidget) -> None:
        self.window.pages.setCurrentWidget(page)
        self.window.library.open_job("")
        self.menus.export.setEnabled(False)

    def is_shown(self, name: str) -> bool:
        return name in vars(self) and self.window.pages.currentWidget() is getattr(self, name)

    def show_jobs(self) -> None:
        jobs = self.program.ledger.jobs()
        self.window.library.show_jobs(jobs)
        if self.is_shown("comparison_page"):
            self.comparison_page.show_jobs(jobs)
        if not (opened := self.window.library.opened_job()):
            return
        job = next((job for job in jobs if job.id == opened), None)
        if job is None:
            self._open_or_start(self._first_job())
        elif job.is_sent and self.is_shown("job_page"):
            self.job_page.show_job(job)
            self.menus.export.setEnabled(job.has_results)
        elif job.is_sent:
            self._sent(opened)

    def _show_jobs_soon(self) -> None:
        if not (self._settle.isActive() or self._is_closing):
            self._settle.start(_SETTLE)

    # Actions of the user

    def paste_into_page(self) -> None:
        if self.is_shown("draft_page"):
            self.draft_page.drafts.paste()
        elif self.is_shown("settings_page") and self.settings_page.shows_connections():
            self.connection_page.paste()
        else:
            self.new_jobs.paste()

    def show_start(self) -> None:
        """The page on which a new job begins."""
        self.show(self.start_page)
        self.start_page.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_new(self, job_id: str) -> None:
        self.show_jobs()
        self.open_job(job_id)

    def _sent(self, job_id: str) -> None:
        """Open the page of a job that was sent, unless the user has opened another page since."""
        is_left = self.tasks.is_running("open")  # for a page that is being imported
        if self.is_shown("draft_page") and self.draft_page.job_id() == job_id and not is_left:
            self.open_job(job_id)

    def show_changed(self, job: Job) -> None:
        self.job_changed(job)
        if self.is_shown("draft_page") and self.draft_page.job_id() == job.id:
            self.draft_page.show_job(job)

    # Comparing and judging

    def compare(self, *job_ids: str) -> None:
        """Compare jobs with each other; a job alone with those that the user chooses."""
        if len(job_ids) == 1:
            self.tasks.start("compare", self._choose(*job_ids))
        else:
            self.when_ready("open", partial(self._compare, job_ids))

    async def _choose(self, job_id: str) -> None:
        from cfbatch_gui.ui.evaluation.comparison_page import ChooseJobsDialog

        dialog = ChooseJobsDialog(self.program, self.program.ledger.job(job_id), parent=self.window)
        if await dialogs.finished(dialog) and (others := [job.id for job in dialog.chosen()]):
            self.compare(job_id, *others)

    def _compare(self, job_ids: Sequence[str]) -> None:
        from cfbatch_gui.ui.evaluation.comparison_page import MOST

        if len(job_ids) > MOST:
            text = tr("At most {n} jobs can be compared at once.").format(n=figures.number(MOST))
            self.notices.show_notice(text, "attention")
            return
        self.show(self.comparison_page)
        self.comparison_page.compare([self.program.ledger.job(each) for each in job_ids])

    def export(self, job_id: str) -> None:
        self.menus.show_export(job_id)

    def compare_opened(self) -> None:
        if (job := self._opened()) is not None and self.job_actions.can_be_compared(job):
            self.compare(job.id)

    def judge(self, *job_ids: str) -> None:
        def show() -> None:
            self.show(self.judge_page)
            self.judge_page.judge(jobs)

        jobs = [self.program.ledger.job(each) for each in job_ids]
        if any(job.texts_forgotten_at for job in jobs):
            self.notices.show_notice(tr("Texts that were removed cannot be judged."), "attention")
        else:
            self.when_ready("open", show)

    def review(self, job_id: str, matches: "Matches | None" = None, rows: "Sequence[int] | None" = None) -> None:
        """Review the doubtful matches of a job, or these rows, as they are shown; it stays the one that is open."""

        def show() -> None:
            self.window.pages.setCurrentWidget(self.review_page)
            self.review_page.review(self.program.ledger.job(job_id), matches, rows)

        self.when_ready("open", show)

    def screen(self, job_id: str) -> None:
        """Screen the records of a job, which stays the one that is open, in the order of its question."""

        def show() -> None:
            self.window.pages.setCurrentWidget(self.screening_page)
            self.screening_page.screen_records(self.program.ledger.job(job_id))

        self.when_ready("open", show)

    def _decided(self, job_id: str, tab: str) -> None:
        self.open_if_there(job_id)
        if "job_page" in vars(self):
            self.job_page.show_tab(tab)

    def search(self, job_id: str, question: str) -> None:
        def show() -> None:
            self._open_now(job_id)
            self.job_page.show_tab("search")
            self.job_page.view("search").ask_of(self.program.ledger.job(job_id), question)

        self.when_ready("open", show)

    def judge_shown(self) -> None:
        if self.is_shown("comparison_page"):
            self.comparison_page.ask_to_judge()
        elif (job := self._opened()) is not None and can_be_judged(job):
            self.judge(job.id)

    def _opened(self) -> Job | None:
        opened = self.window.library.opened_job()
        return self.program.ledger.job(opened) if opened else None

    def _judged(self, job_ids: list[str]) -> None:
        there = {job.id for job in self.program.ledger.jobs()}
        left = [each for each in job_ids if each in there]
        if len(left) > 1:
            self.compare(*left)
        elif left:
            self.open_job(left[0])
            if "job_page" in vars(self):
                self.job_page.show_tab("quality")

    # Settings

    def show_connections(self) -> None:
        self._begin_settings(self._show_connections)

    def paste_token(self) -> None:
        def show_and_paste() -> None:
            self._show_connections()
            self.connection_page.paste()

        self._begin_settings(show_and_paste)

    def _show_connections(self) -> None:
        self.settings_page.tabs.choose("connections")
        self.show(self.settings_page)

    def show_traffic(self) -> None:
        self._begin_settings(lambda: self.show(self.traffic_page))

    def _begin_settings(self, show: Callable[[], object]) -> None:
        def make_and_show() -> None:
            _ = self.connection_page  # in a turn of its own: made in one, the two pages would hold the window too long
            QTimer.singleShot(0, self.window, show)

        self.when_ready("open", make_and_show)

    def choose_scheme(self, name: str) -> None:
        self._theme.set_scheme(Scheme(name))
        self.tasks.start("look", self.program.keep_settings(theme=Scheme(name).value))

    def leave_settings(self) -> None:
        self.in_use.show()
        self._open_or_start(self._first_job())

    def _open_from_desktop(self, job_id: str) -> None:
        self.open_if_there(job_id)
        self.window.come_forward()

    async def _close(self) -> None:
        if self.begins_again or await self.menus.may_close():
            self.window.hide()
            self.closed.set()

    def begin_again(self) -> None:
        """Close the window and open it once more, in the language that is chosen now; jobs go on."""
        self.begins_again = True
        self.window.close()

    # The data folder

    def _ask_about_folder(self) -> None:
        self.tasks.start("data folder", self._question())

    async def _question(self) -> None:
        chosen = await dialogs.choose(
            self.window,
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
        paused: tuple[Job, ...] = ()
        try:
            if chosen is not None:
                paused = await self.program.settle_doubt((FolderAnswer.COPIED, FolderAnswer.MOVED)[chosen])
        finally:  # also where a full disk kept the answer from being written
            if self.program.store.holds_back:
                self.notices.show_notice(
                    tr("Nothing is sent until you have said whether this data folder was copied or restored."),
                    "attention",
                    button=tr("Say what happened"),
                    on_button=self._ask_about_folder,
                    stays=True,
                )
        if paused:
            waiting = figures.plural(
                len(paused),
                "{n} job waits for your word. Open it and carry on to send the rest of it.",
                "{n} jobs wait for your word. Open one and carry on to send the rest of it.",
            )
            self.notices.show_notice(waiting)
