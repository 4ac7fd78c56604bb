"""The views of results in the page of a job, each imported and made when it is first shown.

What stands for them belongs to the page of the job: a widget without a parent is deleted by whichever thread collects
Python's garbage.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.jobs.states import FORGETTABLE
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.made_once import is_made, made_once
from cfbatch_gui.ui.late_view import LateView
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.ui.tables.layout_memory import Memory

if TYPE_CHECKING:
    from cfbatch_gui.ui.results.loaded_results import FigureReader
    from cfbatch_gui.ui.results.overview_view import OverviewView
    from cfbatch_gui.ui.results.ranking_limits import Limits
    from cfbatch_gui.ui.results.ranking_view import RankingView
    from cfbatch_gui.ui.results.vector_views import VectorViews
    from cfbatch_gui.ui.results.vectors_view import VectorsView
    from cfbatch_gui.ui.vectorize.running_pushes import RunningPushes
    from cfbatch_gui.ui.vectorize.vectorize_page import VectorizePage

V = TypeVar("V", bound=ResultView)


class ResultViews(QObject):
    """`score_help_wanted` is emitted when the user asks what a score is. No view is made before `may_begin` returns."""

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
        """The view of a ranking."""
        return self._late("ranking_view", self._make_ranking)

    @made_once
    def overview(self) -> "LateView[OverviewView]":
        """The view of a ranking's figures."""
        return self._late("overview_view", self._make_overview)

    @made_once
    def vectors(self) -> "LateView[VectorsView]":
        """The table of vectors."""
        return self._late("vectors_view", self._make_vectors)

    @made_once
    def about_vectors(self) -> "VectorViews":
        """The pages about all vectors of a job, made with the page of the first job."""
        from cfbatch_gui.ui.results.vector_views import VectorViews

        return VectorViews(self._program, self._notices, lambda: self.vectors.view, memory=self._memory, parent=self)

    @made_once
    def vectorize(self) -> "LateView[VectorizePage]":
        """The page that sends vectors to an index."""
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
        """Stop what the views are doing."""
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
