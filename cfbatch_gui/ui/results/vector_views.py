"""The pages about all vectors of a job, each made when it is first shown, and their link to the table."""

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import ResultView, RowChoice
from cfbatch_gui.ui.results.clusters_view import ClustersView
from cfbatch_gui.ui.results.duplicates_view import DuplicatesView
from cfbatch_gui.ui.results.map_view import MapView
from cfbatch_gui.ui.results.similar_view import SimilarView
from cfbatch_gui.ui.results.vector_page import VectorPage
from cfbatch_gui.ui.results.vectors_view import VectorsView
from cfbatch_gui.ui.results.versus_scores_view import VersusScoresView, rankings
from cfbatch_gui.ui.tables.table_view import Memory
from cfbatch_gui.ui.widgets import column

P = TypeVar("P", bound=VectorPage)


class LatePage(ResultView, Generic[P]):
    """A page that is made when it is first needed, since most windows never show it."""

    def __init__(
        self,
        make: Callable[[], P],
        show_rows: Callable[[object, str], None],
        has_something: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__()
        self._make, self._show_rows, self._has_something = make, show_rows, has_something
        self._page: P | None = None

    @property
    def page(self) -> P:
        """The page, made now if it was not."""
        if self._page is None:
            self._page = self._make()
            self._page.rows_wanted.connect(self._show_rows)
            self.setLayout(column(self._page))
        return self._page

    def show_job(self, job: Job) -> None:
        self.page.show_job(job)

    def row_choices(self) -> tuple[RowChoice, ...]:
        return self._page.row_choices() if self._page is not None else ()

    def has_something(self, job: Job) -> bool:
        return self._has_something()

    async def close_work(self) -> None:
        """Stop what the page is doing."""
        if self._page is not None:
            await self._page.tasks.close()


class VectorViews(QObject):
    """`table_wanted` is emitted when the table shows rows that a page selected, and should become the current tab."""

    table_wanted = Signal()

    def __init__(self, program: Program, notices: Notices, table: VectorsView, *, memory: Memory | None = None) -> None:
        super().__init__(table)
        self._table = table
        self.map = LatePage(lambda: MapView(program, notices, memory=memory), self._show_rows)
        self.similar = LatePage(lambda: SimilarView(program, notices, memory=memory), self._show_rows)
        self.duplicates = LatePage(lambda: DuplicatesView(program, notices, memory=memory), self._show_rows)
        self.clusters = LatePage(lambda: ClustersView(program, notices, memory=memory), self._show_rows)
        self.versus = LatePage(
            lambda: VersusScoresView(program, notices), self._show_rows, lambda: bool(rankings(program))
        )

    def pages(self) -> dict[str, ResultView]:
        """Each page by the key of its tab, in the order of the tabs."""
        return {
            "map": self.map,
            "similar": self.similar,
            "duplicates": self.duplicates,
            "clusters": self.clusters,
            "versus": self.versus,
        }

    async def close(self) -> None:
        """Stop what the pages are doing."""
        for late in (self.map, self.similar, self.duplicates, self.clusters, self.versus):
            await late.close_work()

    def _show_rows(self, items: object, name: str) -> None:
        if isinstance(items, tuple):
            self._table.show_items(items, name)
            self.table_wanted.emit()
