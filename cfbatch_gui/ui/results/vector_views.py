"""The pages about all vectors of a job, each made when it is first shown, and their link to the table."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import LateView
from cfbatch_gui.ui.tables.table_view import Memory

if TYPE_CHECKING:
    from cfbatch_gui.ui.results.vector_page import VectorPage
    from cfbatch_gui.ui.results.vectors_view import VectorsView


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
        self._program, self._table = program, table

        def late(module: str, *, has_something: Callable[[Job], bool] = lambda job: True, **more: Any) -> LateView[Any]:
            def make(found: Any) -> "VectorPage":
                page: VectorPage = getattr(found, module.title().replace("_", ""))(program, notices, **more)
                page.rows_wanted.connect(self.show_rows)
                return page

            return LateView(f"{__package__}.{module}", make, notices.show_error, has_something=has_something)

        # By the key of its tab, in the order of the tabs.
        self.pages: dict[str, LateView[Any]] = {
            "map": late("map_view", memory=memory),
            "similar": late("similar_view", memory=memory),
            "duplicates": late("duplicates_view", memory=memory),
            "clusters": late("clusters_view", memory=memory),
            "versus": late("versus_scores_view", has_something=self._has_ranking),
        }

    def show_rows(self, items: object, name: str) -> None:
        if isinstance(items, tuple):
            self._table().show_items(items, name)
            self.table_wanted.emit()

    async def close_work(self) -> None:
        for late in self.pages.values():
            await late.close_work()

    def _has_ranking(self, _job: Job) -> bool:
        return any(each.kind is Kind.RANK and each.has_results for each in self._program.ledger.jobs())
