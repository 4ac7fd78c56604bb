"""A view of results that comes when it is first shown, with all that it imports."""

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Generic, TypeVar

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui.result_view import ResultView, RowChoice
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.widgets import column

V = TypeVar("V", bound=ResultView)


class LateView(ResultView, Generic[V]):
    """Stands in the page of a job for a view that is made when it is first shown: most windows never show all of them.

    `module` is imported in a thread before `make` makes the view, so that the window answers meanwhile; not before
    `may_begin` has returned. `has_something` is asked instead of the view.
    """

    def __init__(
        self,
        module: str,
        make: Callable[[], V],
        on_error: Callable[[UserError], object],
        *,
        may_begin: Callable[[], Awaitable[object]] | None = None,
        has_something: Callable[[Job], bool] = lambda job: True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._module, self._make, self._may_begin, self._has_something = module, make, may_begin, has_something
        self._view: V | None = None
        self._job: Job | None = None
        self.tasks = Tasks(self, on_error)

    @property
    def view(self) -> V:
        """The view, made now if it was not."""
        if self._view is None:
            self._view = self._make()
            self.setLayout(column(self._view, gap=0))
        return self._view

    def made(self) -> V | None:
        """The view if it was made."""
        return self._view

    def show_job(self, job: Job) -> None:
        self._job = job
        if self._view is not None:
            self._view.show_job(job)
        elif not self.tasks.is_running("make"):
            self.tasks.start("make", self._make_and_show())

    def row_choices(self) -> tuple[RowChoice, ...]:
        return self._view.row_choices() if self._view is not None else ()

    def has_something(self, job: Job) -> bool:
        return self._has_something(job)

    async def close_work(self) -> None:
        """Stop what the view is doing."""
        await self.tasks.close()
        if self._view is not None:
            await self._view.tasks.close()

    async def _make_and_show(self) -> None:
        if self._may_begin is not None:
            await self._may_begin()
        await asyncio.to_thread(import_module, self._module)
        if self._job is not None:
            self.view.show_job(self._job)
