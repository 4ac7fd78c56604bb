"""The pages about all vectors of a job, each made when it is first shown, and their link to the table."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import LateView, ResultView
from cfbatch_gui.ui.tables.table_view import Memory

if TYPE_CHECKING:
    from cfbatch_gui.ui.results.clusters_view import ClustersView
    from cfbatch_gui.ui.results.duplicates_view import DuplicatesView
    from cfbatch_gui.ui.results.map_view import MapView
    from cfbatch_gui.ui.results.similar_view import SimilarView
    from cfbatch_gui.ui.results.vector_page import VectorPage
    from cfbatch_gui.ui.results.vectors_view import VectorsView
    from cfbatch_gui.ui.results.versus_scores_view import VersusScoresView

P = TypeVar("P", bound="VectorPage")
_ROOM = "cfbatch_gui.ui.results"


class VectorViews(QObject):
    """`table_wanted` is emitted when the table shows rows that a page selected, and should become the current tab.

    `table` returns the table, which is made when it is first needed too.
    """

    table_wanted = Signal()

    def __init__(
        self,
        program: Program,
        notices: Notices,
        table: "Callable[[], VectorsView]",
        *,
        memory: Memory | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._program, self._notices, self._table, self._memory = program, notices, table, memory
        self.map = self._late("map_view", self._make_map)
        self.similar = self._late("similar_view", self._make_similar)
        self.duplicates = self._late("duplicates_view", self._make_duplicates)
        self.clusters = self._late("clusters_view", self._make_clusters)
        self.versus = self._late("versus_scores_view", self._make_versus, self._has_ranking)

    def pages(self) -> dict[str, ResultView]:
        """Each page by the key of its tab, in the order of the tabs."""
        return {
            "map": self.map,
            "similar": self.similar,
            "duplicates": self.duplicates,
            "clusters": self.clusters,
            "versus": self.versus,
        }

    def show_rows(self, items: object, name: str) -> None:
        if isinstance(items, tuple):
            self._table().show_items(items, name)
            self.table_wanted.emit()

    async def close_work(self) -> None:
        for late in (self.map, self.similar, self.duplicates, self.clusters, self.versus):
            await late.close_work()

    def _late(
        self, module: str, make: Callable[[], P], has_something: Callable[[Job], bool] = lambda job: True
    ) -> LateView[P]:
        def made() -> P:
            page = make()
            page.rows_wanted.connect(self.show_rows)
            return page

        return LateView(f"{_ROOM}.{module}", made, self._notices.show_error, has_something=has_something)

    def _make_map(self) -> "MapView":
        from cfbatch_gui.ui.results.map_view import MapView

        return MapView(self._program, self._notices, memory=self._memory)

    def _make_similar(self) -> "SimilarView":
        from cfbatch_gui.ui.results.similar_view import SimilarView

        return SimilarView(self._program, self._notices, memory=self._memory)

    def _make_duplicates(self) -> "DuplicatesView":
        from cfbatch_gui.ui.results.duplicates_view import DuplicatesView

        return DuplicatesView(self._program, self._notices, memory=self._memory)

    def _make_clusters(self) -> "ClustersView":
        from cfbatch_gui.ui.results.clusters_view import ClustersView

        return ClustersView(self._program, self._notices, memory=self._memory)

    def _make_versus(self) -> "VersusScoresView":
        from cfbatch_gui.ui.results.versus_scores_view import VersusScoresView

        return VersusScoresView(self._program, self._notices)

    def _has_ranking(self, _job: Job) -> bool:
        return any(each.kind is Kind.RANK and each.has_results for each in self._program.ledger.jobs())
