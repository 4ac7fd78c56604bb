"""The pages and the views of results, made when they are first shown."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import FORGETTABLE, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.made_once import is_made, made_once
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import LateView, imported
from cfbatch_gui.ui.tables.table_view import Memory
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from cfbatch_gui.core.results.exports.base import ExportOptions
    from cfbatch_gui.ui.connections.connection_page import ConnectionPage
    from cfbatch_gui.ui.connections.traffic_page import TrafficPage
    from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage
    from cfbatch_gui.ui.evaluation.judge_page import JudgePage
    from cfbatch_gui.ui.results.loaded_results import FigureReader
    from cfbatch_gui.ui.results.overview_view import OverviewView
    from cfbatch_gui.ui.results.quality_view import QualityView
    from cfbatch_gui.ui.results.ranking_view import RankingView
    from cfbatch_gui.ui.results.vector_page import VectorPage
    from cfbatch_gui.ui.settings import SettingsPage
    from cfbatch_gui.ui.vectorize.running_pushes import RunningPushes
    from cfbatch_gui.ui.vectorize.vectorize_page import VectorizePage


_COMPARISON_PAGE = "cfbatch_gui.ui.evaluation.comparison_page"
_JUDGING_PAGE = "cfbatch_gui.ui.evaluation.judge_page"


class Evaluating(QObject):
    """Comparing jobs and judging their texts. Emits `opened` with the id of a job to open instead, and
    `quality_wanted` after its judging.
    """

    opened = Signal(str)
    quality_wanted = Signal()

    def __init__(
        self, program: Program, notices: Notices, window: MainWindow, tasks: Tasks, *, memory: Memory | None = None
    ) -> None:
        super().__init__(window)
        self._program, self._notices, self._window, self._tasks = program, notices, window, tasks
        self._memory = memory
        self.quality: LateView[QualityView] = LateView(
            "cfbatch_gui.ui.results.quality_view",
            self._make_quality,
            notices.show_error,
            has_something=_can_be_judged,
        )
        window.compare.connect(lambda: self._with_opened(self.choose))
        window.judge.connect(self._judge_shown)

    @made_once
    def comparison(self) -> "ComparisonPage":
        from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage

        page = ComparisonPage(self._program, self._notices, memory=self._memory)
        page.done.connect(self.opened)
        page.more_wanted.connect(self.choose)
        page.judge_wanted.connect(self.judge)
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

    async def close_work(self) -> None:
        for name in ("comparison", "judging"):
            if is_made(self, name):
                await getattr(self, name).tasks.close()
        await self.quality.close_work()

    def choose(self, job_id: str) -> None:
        self._tasks.start("compare", self._choose(job_id))

    async def _choose(self, job_id: str) -> None:
        from cfbatch_gui.ui.evaluation.comparison_page import ChooseJobsDialog

        ledger = self._program.ledger
        dialog = ChooseJobsDialog(ledger.job(job_id), ledger.jobs(), parent=self._window)
        accepted = await dialogs.finished(dialog) == QDialog.DialogCode.Accepted
        others = [job.id for job in dialog.chosen()]
        if accepted and others:
            self.compare((job_id, *others))

    def compare_these(self, job_ids: Sequence[str]) -> None:
        from cfbatch_gui.ui.evaluation.comparison_page import MOST

        if len(job_ids) > MOST:
            text = self.tr("At most {n} jobs can be compared at once.").format(n=display.number(MOST))
            self._notices.show_notice(text, "attention")
            return
        opened = self._window.library.opened_job()
        self.compare(sorted(job_ids, key=lambda job_id: job_id != opened))

    def compare(self, job_ids: Sequence[str]) -> None:
        async def show() -> None:
            await imported(_COMPARISON_PAGE)
            self._show_page(self.comparison)
            self.comparison.compare([self._program.ledger.job(each) for each in job_ids])

        self._tasks.start("open", show())

    def judge_one(self, job_id: str) -> None:
        self.judge([job_id])

    def judge(self, job_ids: Sequence[str]) -> None:
        jobs = [self._program.ledger.job(each) for each in job_ids]
        if any(job.texts_forgotten_at for job in jobs):
            self._notices.show_notice(self.tr("Texts that were removed cannot be judged."), "attention")
            return

        async def show() -> None:
            await imported(_JUDGING_PAGE)
            self._show_page(self.judging)
            self.judging.judge(jobs)

        self._tasks.start("open", show())

    def _show_page(self, page: QWidget) -> None:
        self._window.show_page(page)
        self._window.can_export.emit(False)
        self._window.library.open_job("")

    def _make_quality(self, module: Any) -> "QualityView":
        view: QualityView = module.QualityView(self._program, self._notices, memory=self._memory)
        view.judge_wanted.connect(self.judge_one)
        return view

    def _judge_shown(self) -> None:
        if (comparison := self.shown_comparison()) is not None:
            comparison.ask_to_judge()
        else:
            self._with_opened(self.judge_one)

    def _with_opened(self, do: Callable[[str], None]) -> None:
        job = self._program.ledger.job(opened) if (opened := self._window.library.opened_job()) else None
        if job is not None and _can_be_judged(job):
            do(job.id)

    def _judged(self, job_ids: list[str]) -> None:
        there = {job.id for job in self._program.ledger.jobs()}
        left = [each for each in job_ids if each in there]
        if len(left) > 1:
            self.compare(left)
        elif left:
            self.opened.emit(left[0])
            self.quality_wanted.emit()


def _can_be_judged(job: Job) -> bool:
    return job.kind is Kind.RANK and job.has_results


class ResultViews(QObject):
    """No view is made before `may_begin` returns.

    `table_wanted` is emitted when the table shows rows that a page selected, and should become the current tab.
    """

    score_help_wanted = Signal()
    table_wanted = Signal()

    def __init__(
        self,
        program: Program,
        notices: Notices,
        *,
        memory: Memory | None,
        may_begin: Callable[[], Awaitable[object]] | None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._program, self._notices, self._memory = program, notices, memory

        def late(module: str, make: Callable[[Any], Any], **more: Any) -> LateView[Any]:
            return LateView(f"cfbatch_gui.ui.{module}", make, notices.show_error, may_begin=may_begin, **more)

        def late_page(
            name: str, *, has_something: Callable[[Job], bool] = lambda job: True, **more: Any
        ) -> LateView[Any]:
            def make(module: Any) -> "VectorPage":
                page: VectorPage = getattr(module, name.title().replace("_", ""))(program, notices, **more)
                page.rows_wanted.connect(self._show_rows)
                return page

            return late(f"results.{name}", make, has_something=has_something)

        # By the key of its tab, in the order of the tabs.
        self.pages: dict[str, LateView[Any]] = {
            "ranking": late("results.ranking_view", self._make_ranking),
            "overview": late("results.overview_view", self._make_overview),
            "vectors": late("results.vectors_view", lambda module: module.VectorsView(program, notices, memory=memory)),
            "map": late_page("map_view", memory=memory),
            "similar": late_page("similar_view", memory=memory),
            "duplicates": late_page("duplicates_view", memory=memory),
            "clusters": late_page("clusters_view", memory=memory),
            "versus": late_page("versus_scores_view", has_something=self._has_ranking),
            "vectorize": late(
                "vectorize.vectorize_page", self._make_vectorize, has_something=lambda job: job.state in FORGETTABLE
            ),
        }

    def limits(self) -> "ExportOptions | None":
        """What the ranking is limited to; None before it was first shown."""
        view: RankingView | None = self.pages["ranking"].made()
        return view.limits() if view is not None else None

    async def close_work(self) -> None:
        for late in self.pages.values():
            await late.close_work()
        if is_made(self, "_pushes"):
            await self._pushes.tasks.close()

    @made_once
    def _figures(self) -> "FigureReader":
        from cfbatch_gui.ui.results.loaded_results import FigureReader

        return FigureReader(self._program)

    @made_once
    def _pushes(self) -> "RunningPushes":
        from cfbatch_gui.ui.vectorize.running_pushes import RunningPushes

        return RunningPushes(self._program, self._notices.show_error, self)

    def _make_ranking(self, module: Any) -> "RankingView":
        view: RankingView = module.RankingView(self._program, self._notices, figures=self._figures, memory=self._memory)
        view.score_help_wanted.connect(self.score_help_wanted)
        return view

    def _make_overview(self, module: Any) -> "OverviewView":
        view: OverviewView = module.OverviewView(self._program, self._notices, figures=self._figures)
        view.score_help_wanted.connect(self.score_help_wanted)
        return view

    def _make_vectorize(self, module: Any) -> "VectorizePage":
        page: VectorizePage = module.VectorizePage(self._program, self._notices, self._pushes, memory=self._memory)
        page.rows_wanted.connect(self._show_rows)
        return page

    def _show_rows(self, items: object, name: str) -> None:
        if isinstance(items, tuple):
            self.pages["vectors"].view.show_items(items, name)
            self.table_wanted.emit()

    def _has_ranking(self, _job: Job) -> bool:
        return any(each.kind is Kind.RANK and each.has_results for each in self._program.ledger.jobs())


_MODULES = (
    "cfbatch_gui.ui.connections.connection_page",
    "cfbatch_gui.ui.settings",
    "cfbatch_gui.ui.connections.traffic_page",
)


class SettingsPages(QObject):
    """`changed`: a connection, or which one new jobs use; `state_shown`: its state was read; `done`: the user left."""

    changed = Signal()
    state_shown = Signal()
    done = Signal()
    account_wanted = Signal(str)  # the list of what is in the account behind a connection

    def __init__(
        self,
        program: Program,
        notices: Notices,
        tasks: Tasks,
        *,
        memory: Memory,
        show: Callable[[QWidget], None],
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self._program, self._notices, self._tasks, self._memory = program, notices, tasks, memory
        self._show, self._window = show, window

    @made_once
    def connection(self) -> "ConnectionPage":
        from cfbatch_gui.ui.connections.connection_page import ConnectionPage

        page = ConnectionPage(self._program, self._notices)
        page.changed.connect(self.changed)
        page.state_shown.connect(self.state_shown)
        page.account_wanted.connect(self.account_wanted)
        return page

    @made_once
    def page(self) -> "SettingsPage":
        from cfbatch_gui.ui.settings import SettingsPage

        page = SettingsPage(self._program, self.connection)
        page.done.connect(self.done)
        page.scheme_chosen.connect(self._window.scheme_chosen)
        page.traffic_wanted.connect(self.show_traffic)
        page.back_up_wanted.connect(self._window.back_up)
        return page

    @made_once
    def traffic(self) -> "TrafficPage":
        from cfbatch_gui.ui.connections.traffic_page import TrafficPage

        page = TrafficPage(self._program, self._notices, memory=self._memory)
        page.done.connect(lambda: self._show(self.page))
        return page

    def show_connections(self) -> None:
        self._once_made(self._show_connections)

    def show_traffic(self) -> None:
        self._once_made(lambda: self._show(self.traffic), "traffic")

    def paste_token(self) -> None:
        def show_and_paste() -> None:
            self._show_connections()
            self.connection.paste()

        self._once_made(show_and_paste)

    def paste_into(self, page: QWidget | None) -> bool:
        if not is_made(self, "page") or page is not self.page or not self.page.shows_connections():
            return False
        self.connection.paste()
        return True

    def refresh(self) -> None:
        if is_made(self, "connection") and self.connection.isVisible():
            self.connection.refresh()

    def has_failed(self) -> bool:
        return is_made(self, "connection") and self.connection.has_failed()

    def has_worked(self, connection_id: str) -> None:
        if is_made(self, "connection"):
            self.connection.has_worked(connection_id)

    async def close_work(self) -> None:
        for name in ("connection", "traffic"):
            if is_made(self, name):
                await getattr(self, name).tasks.close()

    def _show_connections(self) -> None:
        self.page.choose_connections()
        self._show(self.page)

    def _once_made(self, show: Callable[[], object], *more: str) -> None:
        names = ("connection", "page", *more)
        if is_made(self, *names):
            show()
            return

        async def make_and_show() -> None:
            await imported(*_MODULES)
            await self._program.prepare("connections")
            for name in names:  # each in a turn of the loop, so that the window answers in between
                getattr(self, name)
                await asyncio.sleep(0)
            show()

        self._tasks.start("open", make_and_show())
