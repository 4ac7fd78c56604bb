"""The page of a sent job: its header, progress, results and details, and copying the job as code."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStackedWidget, QWidget

from cfbatch_gui.core.errors import DataError, UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs import states
from cfbatch_gui.core.jobs.plan.spending import Planned, read_planned
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState, Purpose, account_progress, wants_account
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs, widgets
from cfbatch_gui.ui.job_actions import JobActions, can_be_forgotten, can_be_judged
from cfbatch_gui.ui.jobs.details_view import DetailsView
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import ResultView, RowChoice
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.widgets import Button, PageHeader, PrimaryButton, Roomy, Tabs, column, line, restyle, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.jobs import can_change_account, can_clear_account, is_over, request_ids, summary_words
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.purposes import ICONS, other_uses
from cfbatch_gui.words.states import connection_of, words_of_job

if TYPE_CHECKING:
    from cfbatch_gui.core.results.exports.base import ExportOptions
    from cfbatch_gui.ui.jobs.progress_view import ProgressView


_NOT_READ = Planned()
PROGRESS, RANKING, QUALITY, OVERVIEW = "progress", "ranking", "quality", "overview"
VECTORS, DETAILS = "vectors", "details"
SEARCH, MAP, GROUPS, DUPLICATES = "search", "map", "groups", "duplicates"
VECTORIZE, MATCHES, CATEGORIES = "vectorize", "matches", "categories"
RESULTS = (MATCHES, CATEGORIES, RANKING, QUALITY, OVERVIEW, VECTORS, SEARCH, MAP, GROUPS, DUPLICATES, VECTORIZE)
_OWN_TABS = {
    Purpose.RANK: RANKING,
    Purpose.MATCH: MATCHES,
    Purpose.CATEGORIES: CATEGORIES,
    Purpose.GROUPS: GROUPS,
    Purpose.SEARCH: SEARCH,
    Purpose.VECTORS: VECTORS,
}


class JobPage(QWidget):
    """`make_result` makes the view of results for the key of a tab, once `imports` is done."""

    def __init__(
        self,
        program: Program,
        notices: Notices,
        make_result: Callable[[str], ResultView],
        imports: asyncio.Future[None],
        actions: JobActions,
    ) -> None:
        super().__init__()
        self._program, self._notices = program, notices
        self._job: Job | None = None
        self._chosen: dict[str, str] = {}  # the key of the tab that the user chose, by job id
        self._planned: dict[str, Planned] = {}
        self.tasks = Tasks(self, notices.show_error)
        self._make_result, self._imports, self._actions = make_result, imports, actions
        self._views: dict[str, ResultView] = {}  # by the keys of their tabs
        self.details = DetailsView(program)
        self._make_header()
        self._make_tabs()
        self.use_button = widgets.MenuButton(tr("Use for something else"), tip=tr("Nothing is sent for it."))
        self.use_button.menu().aboutToShow.connect(self._fill_uses)
        restyle(self.use_button, "kind", "quiet")
        uses = column(None, row(self.use_button, 15, gap=0), None, line(), gap=0)
        content = column(self.header, 6, row((self.tabs, 1), uses, gap=0), gap=0)
        content.addWidget(Roomy(self._stack), 1)
        self.setLayout(content)

    @cached_property
    def progress(self) -> "ProgressView":
        from cfbatch_gui.ui.jobs.progress_view import ProgressView

        view = ProgressView(self._program, self._notices)
        view.look_wanted.connect(lambda: self.tabs.choose(self._results_tab()))
        return view

    def show_job(self, job: Job) -> None:
        is_other = self._job is None or job.id != self._job.id
        self._job = job
        if is_other:
            self.review_button.hide()
        if is_other and job.id not in self._planned:
            self.tasks.start("planned", self._read_planned(job.id))
        self._show_tabs(job, is_other=is_other)
        self._show_header(job)
        self._show_current()

    def show_tab(self, key: str) -> None:
        """Where the job has it."""
        if self.tabs.is_shown(key):
            self.tabs.choose(key)

    def row_choices(self) -> tuple[RowChoice, ...]:
        view = self._views.get(self.tabs.current())
        return view.row_choices() if view is not None else ()

    def limits(self) -> "ExportOptions | None":
        """What the ranking is limited to; None before it was first shown."""
        return self.view(RANKING).limits() if RANKING in self._views else None

    def view(self, key: str) -> Any:
        """The view of results in a tab."""
        if key not in self._views:
            self._views[key] = view = self._make_result(key)
            self._add_page(key, view)
            if key in (MATCHES, CATEGORIES):
                self.view(key).to_review.connect(partial(self._show_to_review, key))
        return self._views[key]

    def job(self) -> Job | None:
        """The job that is shown, None before the first."""
        return self._job

    # The header

    def _make_header(self) -> None:
        def check(job_id: str) -> None:
            self._program.runner.check_now(job_id)  # made only now: what it imports would keep the window waiting

        actions, of_job = self._actions, self._of_job
        self.header = PageHeader()
        add = self.header.add_button
        self.review_button = add(Button("", "circle-help", of_job(self._review)))
        self.review_button.hide()
        self.check_button = add(Button(tr("Check now"), "refresh-cw", of_job(check)))
        stop = of_job(lambda job_id: self.tasks.start("stop", self._program.runner.pause(job_id)))
        self.stop_button = add(Button(tr("Stop watching"), "pause", stop))
        carry_on = of_job(lambda _: self.progress.carry_on())
        self.carry_on_button = add(PrimaryButton(tr("Carry on"), "play", carry_on))
        self.compare_button = add(Button(tr("Compare"), "git-compare", of_job(actions.compare)))
        self.export_button = add(PrimaryButton(tr("Export…"), "download", of_job(actions.export)))
        self.header.in_more = (self.compare_button, self.review_button)
        self.header.more.menu().aboutToShow.connect(self._fill_more)
        self.header.more.show()

    def _fill_more(self) -> None:
        """Fill the "…" menu with what can be done with the job as it is."""
        menu = self.header.more.menu()
        menu.clear()
        if (job := self._job) is not None:
            self._actions.fill_menu(menu, [job], lambda: self._add_own(job))

    def _add_own(self, job: Job) -> None:
        """What can be done with it on this page alone."""
        collecting = self._program.actions
        connection, ids = connection_of(self._program, job), request_ids(job.batches)
        can_change = connection is not None and can_change_account(job, connection)
        is_wanted = connection is not None and wants_account(job, connection)
        for_developers = self._program.settings.for_developers
        is_stored = not (job.attached or job.has_named_texts or job.texts_forgotten_at)  # what was sent
        has_code = for_developers and is_stored
        codes = {"curl": tr("Copy as curl"), "python": tr("Copy as Python"), "worker": tr("Copy as Worker code")}

        def copy_ids(_: str) -> None:
            QGuiApplication.clipboard().setText(ids)

        def at_account(work: Callable[[str], Coroutine[Any, Any, object]]) -> Callable[[str], object]:
            return lambda job_id: self.tasks.start("account", work(job_id))

        entries: tuple[tuple[str, str, Callable[[str], object], object], ...] = (
            (tr("Send to Vectorize…"), "send", lambda _: self.tabs.choose(VECTORIZE), self.tabs.is_shown(VECTORIZE)),
            (tr("Export what is here…"), "download", self._actions.export, job.has_results and not is_over(job)),
            (tr("Ask the service directly"), "cloud", at_account(collecting.collect_here), can_change and is_wanted),
            (
                tr("Collect in my account"),
                "inbox",
                at_account(collecting.collect_in_account),
                can_change and not is_wanted,
            ),
            (tr("Delete the copies in my account"), "trash-2", at_account(self._clear), can_clear_account(job)),
            (tr("Details"), "info", self._show_details, not for_developers),
            (tr("Copy request IDs"), "hash", copy_ids, for_developers and ids),
            *((words, "file-text", partial(self._copy_code_in, name), has_code) for name, words in codes.items()),
            (tr("Remove its texts…"), "eye-off", self._actions.forget_texts, can_be_forgotten(job)),
        )
        for text, icon, act, is_possible in entries:
            if is_possible:
                self.header.more.add(text, partial(act, job.id), icon)

    def _fill_uses(self) -> None:
        self.use_button.menu().clear()
        if (job := self._job) is not None:
            for words, purpose in other_uses(job, has_lists=self._planned_of(job).has_lists):
                self.use_button.add(words, partial(self._use_for, job.id, purpose), ICONS[purpose])

    def _use_for(self, job_id: str, purpose: Purpose) -> None:
        """Open the page of the purpose once it is kept."""
        self._chosen.pop(job_id, None)
        self._actions.use_for(job_id, purpose)

    def _show_details(self, _: str) -> None:
        self.tabs.set_shown(DETAILS, True)
        self.tabs.choose(DETAILS)

    def _show_header(self, job: Job) -> None:
        state = words_of_job(job)
        if self.header.title() != job.name:
            self.header.set_title(job.name)
        self.header.set_state(state.text, state.icon, state.role)
        self.header.set_facts(*summary_words(job, self._planned_of(job)))
        over = is_over(job)
        is_paused = bool(job.paused_because) and not over
        at_service = any(batch.state.is_at_service for batch in job.batches)
        self.check_button.setText(tr("Fetch now") if account_progress(job).is_used else tr("Check now"))
        self.check_button.setVisible(not over and not is_paused)
        self.check_button.set_possible("" if at_service else tr("No batch is at the service."))
        self.stop_button.setVisible(not over and not is_paused and job.state is not JobState.OUTCOME_UNKNOWN)
        self.carry_on_button.setVisible(is_paused)
        self.export_button.setVisible(over)
        self.export_button.set_possible("" if job.has_results else tr("Nothing came back that could be written."))
        is_measured = job.purpose in (Purpose.RANK, Purpose.VECTORS)
        self.compare_button.setVisible(is_measured and over and self._actions.can_be_compared(job))

    def _review(self, _: str) -> None:
        self.view(self._results_tab()).review()

    def _show_to_review(self, key: str, count: int) -> None:
        self.tabs.set_title(key, self.view(key).title())
        self.review_button.setText(worded("Review {n}", n=count))
        self.review_button.setVisible(count > 0)

    async def _clear(self, job_id: str) -> None:
        await self._program.runner.account.clear(job_id, at_once=True)
        text = tr("The copies of “{name}” in your account were deleted; its results are here.")
        self._notices.show_notice(text.format(name=self._program.ledger.job(job_id).name), "done")

    def _copy_code_in(self, name: str, job_id: str) -> None:
        """Copy the code to the clipboard, with a notice that offers to save the files that it reads. `name` is that
        of a `Language` of `core.jobs.as_code`.
        """
        from cfbatch_gui.core.jobs.as_code import Language, as_code, body_names, secret_variable

        language, job = Language(name), self._program.ledger.job(job_id)
        try:
            connection = self._program.address_book.connection(job.connection)
        except UserError as error:
            self._notices.show_error(error)
            return
        names = body_names(max(1, len(job.batches)))
        QGuiApplication.clipboard().setText(as_code(job, connection, language, bodies=names))
        if language is Language.WORKER:
            said = tr("Copied. The Worker runs in your account and needs no token.")
        else:
            said = tr("Copied. It takes the token from ${variable}, and reads {files} beside it.").format(
                variable=secret_variable(connection), files=_shown(names)
            )

        def save() -> None:
            self.tasks.start("save requests", self._save_requests(job))

        self._notices.show_notice(said, "done", button=tr("Save its requests…"), on_button=save)

    async def _save_requests(self, job: Job) -> None:
        from cfbatch_gui.core.jobs.as_code import save_bodies

        remembered = self._program.remembered_folder(FolderUse.REQUESTS)
        folder = await dialogs.choose_folder(self, tr("Save the requests in a folder"), folder=remembered)
        if folder is None:
            return
        paths = await asyncio.to_thread(save_bodies, self._program.folder(job.id), job, folder)
        files = figures.plural(len(paths), "{n} file", "{n} files")
        self._notices.show_written(tr("Wrote {files} to “{name}”.").format(files=files, name=folder.name), *paths)

    # The tabs

    def _make_tabs(self) -> None:
        self.tabs = Tabs()
        self._stack, self._waiting = QStackedWidget(), QWidget()
        self._stack.addWidget(self._waiting)
        self._titles = {
            PROGRESS: tr("Progress"),
            MATCHES: tr("Matches"),
            CATEGORIES: tr("Categories"),
            RANKING: tr("Ranking"),
            QUALITY: tr("Quality"),
            OVERVIEW: tr("Overview"),
            GROUPS: tr("Groups"),
            DUPLICATES: tr("Duplicates"),
            SEARCH: tr("Search"),
            MAP: tr("Map"),
            VECTORS: tr("Vectors"),
            VECTORIZE: tr("Vectorize"),
            DETAILS: tr("Details"),
        }
        for key, title in self._titles.items():
            self.tabs.add(key, title)
        self.tabs.chosen.connect(self._tab_chosen)

    def _show_tabs(self, job: Job, *, is_other: bool) -> None:
        blocker = QSignalBlocker(self.tabs)  # this is not the user's choice
        results = self._results_tab()
        wanted = self._chosen.get(job.id) or _tab_of(job, results)
        has_something = {
            QUALITY: can_be_judged(job),
            MATCHES: job.purpose is Purpose.MATCH,
            CATEGORIES: job.purpose is Purpose.CATEGORIES,
            VECTORIZE: job.state in states.FORGETTABLE and self._has_account(),
        }
        self.tabs.put_first(PROGRESS, results)
        self.use_button.setVisible(job.kind is Kind.EMBED)
        for key in RESULTS:
            of_kind = (key in (RANKING, QUALITY, OVERVIEW)) == (results == RANKING)
            self.tabs.set_shown(key, of_kind and (has_something.get(key, True) or key == wanted))
        self.tabs.set_shown(DETAILS, self._program.settings.for_developers or wanted == DETAILS)
        so_far = not is_over(job)
        self.tabs.set_title(RANKING, tr("Ranking so far") if so_far else tr("Ranking"))
        self.tabs.set_title(OVERVIEW, tr("Overview so far") if so_far else tr("Overview"))
        self.tabs.set_title(VECTORS, tr("Vectors so far") if so_far else tr("Vectors"))
        if is_other or job.id not in self._chosen:
            self.tabs.choose(wanted)
        blocker.unblock()

    def _results_tab(self) -> str:
        return _OWN_TABS[self._job.purpose] if self._job is not None else RANKING

    def _tab_chosen(self, key: str) -> None:
        if self._job is not None:
            self._chosen[self._job.id] = key
            self._show_current()

    def _show_current(self) -> None:
        job = self._job
        if job is None:
            return
        key = self.tabs.current()
        page: QWidget
        if key in RESULTS and not self._imports.done():
            self._stack.setCurrentWidget(self._waiting)
            self._imports.add_done_callback(lambda done: None if done.cancelled() else self._show_current())
            return
        if key in RESULTS:
            page = self.view(key)
            self.view(key).show_job(job)
        elif key == DETAILS:
            page = self.details
            self.details.show_job(job, self._planned_of(job))
        else:
            page = self.progress
            self.progress.show_job(job, self._planned_of(job))
        if self._stack.indexOf(page) < 0:
            self._add_page(key, page)
        self._stack.setCurrentWidget(page)

    def _add_page(self, key: str, page: QWidget) -> None:
        page.setAccessibleName(self._titles[key])  # a page without anything to focus gets the focus itself
        self._stack.addWidget(page)

    # Work

    def _planned_of(self, job: Job) -> Planned:
        return self._planned.get(job.id, _NOT_READ)

    async def _read_planned(self, job_id: str) -> None:
        try:
            found = await asyncio.to_thread(read_planned, self._program.folder(job_id))
        except DataError:
            return  # the view that needs the data reports it; without it, only estimates are missing
        self._planned[job_id] = found
        if self._job is not None and self._job.id == job_id:
            self._show_header(self._job)
            self._show_current()

    def _has_account(self) -> bool:
        """Whether a connection leads to an account, without which there is no Vectorize."""
        return any(each.account_id and each.kind != "worker" for each in self._program.address_book.saved())

    def _of_job(self, do: Callable[[str], object]) -> Callable[[], object]:
        return lambda: do(self._job.id) if self._job is not None else None


def _tab_of(job: Job, results: str) -> str:
    needs_user = job.state is JobState.FAILED or any(
        batch.state in (BatchState.FAILED, BatchState.GONE) for batch in job.batches
    )
    return PROGRESS if not is_over(job) or needs_user else results


def _shown(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
