"""The views of a job's results, comparing and judging: made when they are first shown."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import FORGETTABLE, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.made_once import is_made, made_once
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import LateView, ResultView, imported
from cfbatch_gui.ui.tables.table_view import Memory
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage

if TYPE_CHECKING:
    from cfbatch_gui.ui.evaluation.judge_page import JudgePage
    from cfbatch_gui.ui.results.quality_view import QualityView

if TYPE_CHECKING:
    from cfbatch_gui.ui.results.loaded_results import FigureReader
    from cfbatch_gui.ui.results.overview_view import OverviewView
    from cfbatch_gui.ui.results.ranking_limits import Limits
    from cfbatch_gui.ui.results.ranking_view import RankingView
    from cfbatch_gui.ui.results.vector_views import VectorViews
    from cfbatch_gui.ui.results.vectors_view import VectorsView
    from cfbatch_gui.ui.vectorize.running_pushes import RunningPushes
    from cfbatch_gui.ui.vectorize.vectorize_page import VectorizePage


_COMPARISON_PAGE = "cfbatch_gui.ui.evaluation.comparison_page"


class Comparing(QObject):
    """Emits `opened` with the id of a job to open instead of the comparison."""

    opened = Signal(str)
    judge_wanted = Signal(list)  # the ids of jobs

    def __init__(
        self, program: Program, notices: Notices, window: MainWindow, tasks: Tasks, *, memory: Memory | None = None
    ) -> None:
        super().__init__(window)
        self._program, self._notices, self._window, self._tasks = program, notices, window, tasks
        self._memory = memory
        window.compare.connect(self._choose_for_opened)

    @made_once
    def page(self) -> "ComparisonPage":
        from cfbatch_gui.ui.evaluation.comparison_page import ComparisonPage

        page = ComparisonPage(self._program, self._notices, memory=self._memory)
        page.done.connect(self.opened)
        page.more_wanted.connect(self.choose)
        page.judge_wanted.connect(self.judge_wanted)
        return page

    def is_shown(self) -> bool:
        return is_made(self, "page") and self._window.pages.currentWidget() is self.page

    async def close_work(self) -> None:
        if is_made(self, "page"):
            await self.page.tasks.close()

    def choose(self, job_id: str) -> None:
        self._tasks.start("compare", self._choose(job_id))

    def _choose_for_opened(self) -> None:
        job = self._program.ledger.job(opened) if (opened := self._window.library.opened_job()) else None
        if job is not None and job.kind is Kind.RANK and job.has_results:
            self.choose(job.id)

    async def _choose(self, job_id: str) -> None:
        from cfbatch_gui.ui.evaluation.choose_jobs import ChooseJobsDialog

        ledger = self._program.ledger
        dialog = ChooseJobsDialog(ledger.job(job_id), ledger.jobs(), parent=self._window)
        accepted = await dialogs.finished(dialog) == QDialog.DialogCode.Accepted
        others = [job.id for job in dialog.chosen()]
        if accepted and others:
            self.compare((job_id, *others))

    def compare_these(self, job_ids: Sequence[str]) -> None:
        from cfbatch_gui.ui.evaluation.choose_jobs import MOST

        if len(job_ids) > MOST:
            text = self.tr("At most {n} jobs can be compared at once.").format(n=display.number(MOST))
            self._notices.show_notice(text, "attention")
            return
        opened = self._window.library.opened_job()
        self.compare(sorted(job_ids, key=lambda job_id: job_id != opened))

    def compare(self, job_ids: Sequence[str]) -> None:
        self._tasks.start("open", self._show(tuple(job_ids)))

    async def _show(self, job_ids: Sequence[str]) -> None:
        await imported(_COMPARISON_PAGE)
        self._window.show_page(self.page)
        self._window.set_can_export(False)
        self._window.library.open_job("")
        self.page.compare([self._program.ledger.job(each) for each in job_ids])


_JUDGING_PAGE = "cfbatch_gui.ui.evaluation.judge_page"
_VIEW = "cfbatch_gui.ui.results.quality_view"


class Judging(QObject):
    """Emits `opened` with the id of a job whose judging is over, and then `quality_wanted`."""

    opened = Signal(str)
    quality_wanted = Signal()

    def __init__(
        self,
        program: Program,
        notices: Notices,
        window: MainWindow,
        comparing: Comparing,
        tasks: Tasks,
        *,
        memory: Memory | None = None,
    ) -> None:
        super().__init__(window)
        self._program, self._notices, self._window, self._comparing = program, notices, window, comparing
        self._tasks, self._memory = tasks, memory
        comparing.judge_wanted.connect(self.judge)
        window.judge.connect(self._judge_shown)

    @made_once
    def quality(self) -> "LateView[QualityView]":
        return LateView(_VIEW, self._make_quality, self._notices.show_error, has_something=_can_be_judged)

    @made_once
    def page(self) -> "JudgePage":
        from cfbatch_gui.ui.evaluation.judge_page import JudgePage

        page = JudgePage(self._program, self._notices)
        page.done.connect(self._done)
        return page

    def judge_one(self, job_id: str) -> None:
        self.judge([job_id])

    async def close_work(self) -> None:
        if is_made(self, "page"):
            await self.page.tasks.close()
        if is_made(self, "quality"):
            await self.quality.close_work()

    def _make_quality(self) -> "QualityView":
        from cfbatch_gui.ui.results.quality_view import QualityView

        view = QualityView(self._program, self._notices, memory=self._memory)
        view.judge_wanted.connect(self.judge_one)
        return view

    def _judge_shown(self) -> None:
        if self._comparing.is_shown():
            self._comparing.page.ask_to_judge()
            return
        job = self._program.ledger.job(opened) if (opened := self._window.library.opened_job()) else None
        if job is not None and _can_be_judged(job):
            self.judge_one(job.id)

    def judge(self, job_ids: Sequence[str]) -> None:
        jobs = [self._program.ledger.job(each) for each in job_ids]
        if any(job.texts_forgotten_at for job in jobs):
            self._window.notices.show_notice(self.tr("Texts that were removed cannot be judged."), "attention")
            return
        self._tasks.start("open", self._show(jobs))

    async def _show(self, jobs: Sequence[Job]) -> None:
        await imported(_JUDGING_PAGE)
        self._window.show_page(self.page)
        self._window.set_can_export(False)
        self._window.library.open_job("")
        self.page.judge(jobs)

    def _done(self, job_ids: list[str]) -> None:
        there = {job.id for job in self._program.ledger.jobs()}
        left = [each for each in job_ids if each in there]
        if len(left) > 1:
            self._comparing.compare(left)
        elif left:
            self.opened.emit(left[0])
            self.quality_wanted.emit()


def _can_be_judged(job: Job) -> bool:
    return job.kind is Kind.RANK and job.has_results


V = TypeVar("V", bound=ResultView)


class ResultViews(QObject):
    """No view is made before `may_begin` returns."""

    score_help_wanted = Signal()

    def __init__(
        self,
        program: Program,
        notices: Notices,
        *,
        memory: Memory,
        may_begin: Callable[[], Awaitable[object]],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._program, self._notices, self._memory, self._may_begin = program, notices, memory, may_begin

    @made_once
    def ranking(self) -> "LateView[RankingView]":
        return self._late("ranking_view", self._make_ranking)

    @made_once
    def overview(self) -> "LateView[OverviewView]":
        return self._late("overview_view", self._make_overview)

    @made_once
    def vectors(self) -> "LateView[VectorsView]":
        return self._late("vectors_view", self._make_vectors)

    @made_once
    def about_vectors(self) -> "VectorViews":
        from cfbatch_gui.ui.results.vector_views import VectorViews

        return VectorViews(self._program, self._notices, lambda: self.vectors.view, memory=self._memory, parent=self)

    @made_once
    def vectorize(self) -> "LateView[VectorizePage]":
        module = "cfbatch_gui.ui.vectorize.vectorize_page"
        return LateView(
            module,
            self._make_vectorize,
            self._notices.show_error,
            may_begin=self._may_begin,
            has_something=lambda job: job.state in FORGETTABLE,
        )

    def limits(self) -> "Limits | None":
        """What the ranking is limited to; None before it was first shown."""
        view = self.ranking.made() if is_made(self, "ranking") else None
        return view.limits() if view is not None else None

    async def close_work(self) -> None:
        for name in ("ranking", "overview", "vectors", "about_vectors", "vectorize"):
            if is_made(self, name):
                await getattr(self, name).close_work()
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

    def _late(self, module: str, make: Callable[[], V]) -> LateView[V]:
        name = f"cfbatch_gui.ui.results.{module}"
        return LateView(name, make, self._notices.show_error, may_begin=self._may_begin)

    def _make_ranking(self) -> "RankingView":
        from cfbatch_gui.ui.results.ranking_view import RankingView

        view = RankingView(self._program, self._notices, figures=self._figures, memory=self._memory)
        view.score_help_wanted.connect(self.score_help_wanted)
        return view

    def _make_overview(self) -> "OverviewView":
        from cfbatch_gui.ui.results.overview_view import OverviewView

        view = OverviewView(self._program, self._notices, figures=self._figures)
        view.score_help_wanted.connect(self.score_help_wanted)
        return view

    def _make_vectorize(self) -> "VectorizePage":
        from cfbatch_gui.ui.vectorize.vectorize_page import VectorizePage

        page = VectorizePage(self._program, self._notices, self._pushes, memory=self._memory)
        page.rows_wanted.connect(self.about_vectors.show_rows)
        return page

    def _make_vectors(self) -> "VectorsView":
        from cfbatch_gui.ui.results.vectors_view import VectorsView

        return VectorsView(self._program, self._notices, memory=self._memory)
