"""The connection in use; the pages and the views of results, made when they are first shown."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QDialog, QWidget

from cfbatch_gui.core.connections.credentials import KeyringState
from cfbatch_gui.core.errors import ConnectionProblem, KeyringUnavailable
from cfbatch_gui.core.jobs.states import FORGETTABLE, Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.made_once import is_made, made_once
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.limits import CALL_BUDGET
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.help import Topic
from cfbatch_gui.ui.job_actions import can_be_judged
from cfbatch_gui.ui.jobs.library import ConnectionState
from cfbatch_gui.ui.result_view import LateView
from cfbatch_gui.ui.window.main_window import MainWindow
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr

_SCARCE = 200  # the number of calls left in 5 minutes is shown when it is below this
_LOOK_AGAIN = 3_000  # milliseconds, while the keyring is locked
_WAITING = (KeyringState.LOCKED, KeyringState.REFUSED)


class ConnectionInUse(QObject):
    """The keyring is asked in the background."""

    has_changed = Signal()

    def __init__(self, workspace: "Workspace") -> None:
        super().__init__(workspace.window)
        self._workspace, self._program, self._tasks = workspace, workspace.program, workspace.tasks
        self._foot = workspace.window.library.foot
        self._program.credentials.changed = self.changed
        workspace.notices.unlock_wanted.connect(self.unlock)
        # Whether it was unlocked elsewhere; a paused job may need it, not new ones.
        self._locked = QTimer(self, interval=_LOOK_AGAIN)
        self._locked.timeout.connect(self._look_again)

    def show(self) -> None:
        if not self._tasks.is_running("connection"):
            self._tasks.start("connection", self._show())

    def changed(self) -> None:
        self._tasks.start("connection", self._resume())

    def has_paused(self, job: Job) -> None:
        error = self._program.runner.pause_error(job.id)
        self._watch()
        if isinstance(error, KeyringUnavailable) and self._program.credentials.has_moved_on(error):
            self._tasks.start(f"carry on {job.id}", self._program.runner.carry_on(job.id))

    def unlock(self) -> None:
        self._tasks.start("unlock", self._program.credentials.unlock())

    async def _show(self) -> None:
        try:
            self._foot.show_connection(*await self._words())
        finally:
            self._watch()

    def _look_again(self) -> None:
        if not self._tasks.is_running("keyring"):
            self._tasks.start("keyring", self._program.credentials.look_again())

    def _watch(self) -> None:
        if self._program.credentials.state not in _WAITING:
            self._locked.stop()
        elif not self._locked.isActive():
            self._locked.start()

    async def _words(self) -> tuple[str, str, ConnectionState]:
        """Its name, what is said of it, and its look."""
        book, chosen = self._program.address_book, self._program.settings.connection
        is_saved = any(each.id == chosen for each in book.saved())
        if chosen == PRACTICE.id or (not is_saved and self._program.ledger.jobs()):
            return self.tr("Practice service"), self.tr("on this computer, free"), "practice"
        if not is_saved:
            return self.tr("Not connected"), self.tr("nothing leaves this computer"), "none"
        if self._program.credentials.state is KeyringState.UNKNOWN:
            self._foot.show_connection(book.title(chosen), self.tr("Checking the keyring…"), "waiting")
        used = next(each for each in await book.summaries(chosen) if each.id == chosen)
        keyring = self._program.credentials.state
        if used.waits_for_keyring and keyring in _WAITING:
            return used.title, self.tr("Your keyring is locked"), "locked"
        if used.waits_for_keyring:
            is_broken = keyring is KeyringState.BROKEN
            words = self.tr("Your keyring cannot be used") if is_broken else self.tr("Your keyring does not answer")
            return used.title, words, "refused"
        if not used.is_ready:
            return used.title, said(used.sentence), "refused"
        if self._workspace.settings.has_failed():
            return used.title, self.tr("its last test failed"), "refused"
        left = book.budget(chosen).left
        words = self.tr("{left} of {all} calls left in 5 minutes").format(left=left, all=CALL_BUDGET)
        return used.title, words if left < _SCARCE else self.tr("new jobs are sent there"), "ready"

    async def _resume(self) -> None:
        await self._show()
        self.has_changed.emit()
        paused = [job.id for job in self._program.ledger.jobs() if job.state is JobState.PAUSED]
        if paused:
            await self._program.prepare("runner")
        for job_id in paused:
            if isinstance(self._program.runner.pause_error(job_id), ConnectionProblem):
                await self._program.runner.carry_on(job_id)


if TYPE_CHECKING:
    from cfbatch_gui.core.results.exports.base import ExportOptions
    from cfbatch_gui.ui.connections.connection_page import ConnectionPage
    from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage
    from cfbatch_gui.ui.evaluation.judge_page import JudgePage
    from cfbatch_gui.ui.results.push_form import RunningPushes
    from cfbatch_gui.ui.results.ranking_view import RankingView
    from cfbatch_gui.ui.settings import SettingsPage, TrafficPage
    from cfbatch_gui.ui.window.workspace import Workspace


_COMPARISON = "cfbatch_gui.ui.evaluation.comparison_page"


class Evaluating:
    """Comparing jobs and judging their texts."""

    def __init__(self, workspace: "Workspace") -> None:
        self._workspace, self._program, self._notices = workspace, workspace.program, workspace.notices
        self._window, self._tasks = workspace.window, workspace.tasks

    @made_once
    def comparison(self) -> "ComparisonPage":
        from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage

        page = ComparisonPage(self._program, self._notices)
        page.more_wanted.connect(self.compare)
        page.judge_wanted.connect(lambda job_ids: self.judge(*job_ids))
        return page

    @made_once
    def judging(self) -> "JudgePage":
        from cfbatch_gui.ui.evaluation.judge_page import JudgePage

        page = JudgePage(self._program, self._notices)
        page.done.connect(self._judged)
        return page

    def shown_comparison(self) -> "ComparisonPage | None":
        """The page of the comparison while it is shown."""
        is_shown = is_made(self, "comparison") and self._window.pages.currentWidget() is self.comparison
        return self.comparison if is_shown else None

    def compare(self, *job_ids: str) -> None:
        """Compare jobs with each other; a job alone with those that the user chooses."""
        if len(job_ids) == 1:
            self._tasks.start("compare", self._choose(*job_ids))
        else:
            self._compare(job_ids)

    async def _choose(self, job_id: str) -> None:
        from cfbatch_gui.ui.evaluation.comparison_page import ChooseJobsDialog

        ledger = self._program.ledger
        dialog = ChooseJobsDialog(self._program, ledger.job(job_id), parent=self._window)
        accepted = await dialogs.finished(dialog) == QDialog.DialogCode.Accepted
        others = [job.id for job in dialog.chosen()]
        if accepted and others:
            self._compare([job_id, *others])

    def _compare(self, job_ids: Sequence[str]) -> None:
        self._workspace.begin_with("open", partial(self._show_comparison, job_ids), _COMPARISON)

    def _show_comparison(self, job_ids: Sequence[str]) -> None:
        from cfbatch_gui.ui.evaluation.comparison_page import MOST

        if len(job_ids) > MOST:
            text = tr("At most {n} jobs can be compared at once.").format(n=figures.number(MOST))
            self._notices.show_notice(text, "attention")
            return
        self._workspace.show(self.comparison)
        self.comparison.compare([self._program.ledger.job(each) for each in job_ids])

    def judge(self, *job_ids: str) -> None:
        jobs = [self._program.ledger.job(each) for each in job_ids]
        if any(job.texts_forgotten_at for job in jobs):
            self._notices.show_notice(tr("Texts that were removed cannot be judged."), "attention")
        else:
            self._workspace.begin_with("open", partial(self._judge, jobs), "cfbatch_gui.ui.evaluation.judge_page")

    def _judge(self, jobs: Sequence[Job]) -> None:
        self._workspace.show(self.judging)
        self.judging.judge(jobs)

    def judge_shown(self) -> None:
        if (comparison := self.shown_comparison()) is not None:
            comparison.ask_to_judge()
        elif (job := self._opened()) is not None and can_be_judged(job):
            self.judge(job.id)

    def compare_opened(self) -> None:
        if (job := self._opened()) is not None and self._workspace.job_actions.can_be_compared(job):
            self.compare(job.id)

    def _opened(self) -> Job | None:
        opened = self._window.library.opened_job()
        return self._program.ledger.job(opened) if opened else None

    def _judged(self, job_ids: list[str]) -> None:
        there = {job.id for job in self._program.ledger.jobs()}
        left = [each for each in job_ids if each in there]
        if len(left) > 1:
            self._compare(left)
        elif left:
            self._workspace.open_job(left[0])
            if is_made(self._workspace, "job_page"):
                self._workspace.job_page.show_quality()


class ResultViews:
    """No view is made before the window is painted. `show_tab` is called by the key of the tab that is to show
    what another page has chosen.
    """

    def __init__(
        self,
        program: Program,
        window: MainWindow,
        *,
        show_help: Callable[[Topic], object],
        show_tab: Callable[[str], object],
        judge: Callable[[str], object],
        export: Callable[[str], object],
    ) -> None:
        self._program, self._window, self._show_tab = program, window, show_tab
        notices = window.notices
        receivers = {
            "rows_wanted": self._show_rows,
            "similar_wanted": self._show_similar,
            "score_help_wanted": partial(show_help, Topic.SCORES),
            "quality_help_wanted": partial(show_help, Topic.QUALITY),
            "judge_wanted": judge,
            "export_wanted": export,
        }

        def late(
            module: str,
            name: str,
            *more: Callable[[], object],
            has_something: Callable[[Job], bool] = lambda job: True,
        ) -> LateView[Any]:
            """`more` make what the view is given besides."""

            def make(imported_module: Any) -> Any:
                view = getattr(imported_module, name)(program, notices, *(each() for each in more))
                for signal, receiver in receivers.items():
                    if hasattr(view, signal):
                        getattr(view, signal).connect(receiver)
                return view

            module = f"cfbatch_gui.ui.{module}"
            return LateView(module, make, notices.show_error, may_begin=window.painted, has_something=has_something)

        # By the key of its tab, in the order of the tabs.
        self.pages: dict[str, LateView[Any]] = {
            "ranking": late("results.ranking_view", "RankingView"),
            "quality": late("results.quality_view", "QualityView", has_something=can_be_judged),
            "overview": late("results.ranking_view", "OverviewView"),
            "vectors": late("results.vectors_view", "VectorsView"),
            "search": late("results.vectors_view", "SearchView"),
            "map": late("results.map_view", "MapView"),
            "groups": late("results.vectors_view", "ClustersView"),
            "duplicates": late("results.vectors_view", "DuplicatesView"),
            "vectorize": late(
                *("results.vectorize_page", "VectorizePage", lambda: self._pushes),
                has_something=lambda job: job.state in FORGETTABLE and _has_account(program),
            ),
        }

    def limits(self) -> "ExportOptions | None":
        """What the ranking is limited to; None before it was first shown."""
        view: RankingView | None = self.pages["ranking"].made()
        return view.limits() if view is not None else None

    @made_once
    def _pushes(self) -> "RunningPushes":
        from cfbatch_gui.ui.results.push_form import RunningPushes

        return RunningPushes(self._program, self._window.notices.show_error, self._window)

    def _show_rows(self, items: object, name: str) -> None:
        if isinstance(items, tuple):
            self._show_tab("vectors")
            self.pages["vectors"].view.show_items(items, name)

    def _show_similar(self, item_no: int) -> None:
        job = self.pages["vectors"].view.job
        self._show_tab("search")
        self.pages["search"].view.show_like(job, item_no)


def _has_account(program: Program) -> bool:
    """Whether a connection leads to an account, without which there is no Vectorize."""
    return any(each.account_id and each.kind != "worker" for each in program.address_book.saved())


_MODULES = (
    "cfbatch_gui.ui.connections.connection_page",
    "cfbatch_gui.ui.settings",
)


class SettingsPages:
    def __init__(self, workspace: "Workspace") -> None:
        self._workspace, self._program, self._notices = workspace, workspace.program, workspace.notices
        workspace.in_use.has_changed.connect(self._refresh)

    @made_once
    def connection(self) -> "ConnectionPage":
        from cfbatch_gui.ui.connections.connection_page import ConnectionPage

        page = ConnectionPage(self._program, self._notices)
        page.changed.connect(self._workspace.in_use.changed)
        page.state_shown.connect(self._workspace.in_use.show)
        page.account_wanted.connect(self._workspace.menus.show_account)
        return page

    @made_once
    def page(self) -> "SettingsPage":
        from cfbatch_gui.ui.settings import SettingsPage

        workspace = self._workspace
        page = SettingsPage(
            self._program,
            self.connection,
            choose_scheme=workspace.choose_scheme,
            begin_again=workspace.begin_again,
            show_traffic=self.show_traffic,
            back_up=workspace.menus.back_up,
        )
        page.done.connect(workspace.leave_settings)
        return page

    @made_once
    def traffic(self) -> "TrafficPage":
        from cfbatch_gui.ui.settings import TrafficPage

        page = TrafficPage(self._program, self._notices)
        page.done.connect(lambda: self._workspace.show(self.page))
        return page

    def show_connections(self) -> None:
        self._begin(self._show_connections)

    def show_traffic(self) -> None:
        self._begin(lambda: self._workspace.show(self.traffic))

    def paste_token(self) -> None:
        def show_and_paste() -> None:
            self._show_connections()
            self.connection.paste()

        self._begin(show_and_paste)

    def paste_into(self, page: QWidget | None) -> bool:
        if not is_made(self, "page") or page is not self.page or not self.page.shows_connections():
            return False
        self.connection.paste()
        return True

    def _refresh(self) -> None:
        if is_made(self, "connection") and self.connection.isVisible():
            self.connection.refresh()

    def has_failed(self) -> bool:
        return is_made(self, "connection") and self.connection.has_failed()

    def has_worked(self, connection_id: str) -> None:
        if is_made(self, "connection"):
            self.connection.has_worked(connection_id)

    def _show_connections(self) -> None:
        from cfbatch_gui.ui.settings import CONNECTIONS

        self.page.choose(CONNECTIONS)
        self._workspace.show(self.page)

    def _begin(self, show: Callable[[], object]) -> None:
        # Made in one turn, the two pages would keep the window from answering for more than a tenth of a second.
        steps = () if is_made(self, "page") else (lambda: self.connection, lambda: self.page)
        self._workspace.begin_with("open", show, *_MODULES, parts=["connections"], steps=steps)
