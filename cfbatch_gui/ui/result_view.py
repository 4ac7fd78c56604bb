"""The interface between the page of a job and the views of its results, which do not import each other."""

import asyncio
import sys
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.widgets import column
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr

_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Some of a job's rows that can be exported alone; with `is_proposed` an export begins with them."""

    name: str
    items: frozenset[int]
    is_proposed: bool = False

    def words(self) -> str:
        name = figures.one_line(self.name, _LONGEST_NAME)
        return tr("These {n} · {name}").format(n=figures.number(len(self.items)), name=name)


def row_choices(*named: tuple[str, Iterable[int]], proposed: str = "") -> tuple[RowChoice, ...]:
    found: dict[frozenset[int], RowChoice] = {}
    for name, items in named:
        rows = frozenset(items)
        if rows:
            found.setdefault(rows, RowChoice(name, rows, is_proposed=name == proposed))
    return tuple(found.values())


class ResultView(QWidget):
    tasks: Tasks

    # ABCMeta cannot be combined with Qt's metaclass; the type checker treats the method as abstract without it.
    @abstractmethod
    def show_job(self, job: Job) -> None:
        """Show this job or its changes; for the same job, scrolling, selection and typed text are kept."""

    def row_choices(self) -> tuple[RowChoice, ...]:
        return ()

    def has_something(self, job: Job) -> bool:
        """Whether there is anything to show for this job; without it, its tab is hidden."""
        return True


V = TypeVar("V", bound=ResultView)


class LateView(ResultView, Generic[V]):
    """Stands for a view made when it is first shown; `module` is imported in a thread, and given to `make`."""

    def __init__(
        self,
        module: str,
        make: Callable[[Any], V],
        on_error: Callable[[UserError], object],
        *,
        may_begin: Callable[[], Awaitable[object]],
        has_something: Callable[[Job], bool] = lambda job: True,
    ) -> None:
        super().__init__()
        self._module, self._make, self._may_begin, self._has_something = module, make, may_begin, has_something
        self._view: V | None = None
        self._job: Job | None = None
        self.tasks = Tasks(self, on_error)

    @property
    def view(self) -> V:
        if self._view is None:
            self._view = self._make(import_module(self._module))
            self.setLayout(column(self._view, gap=0))
        return self._view

    def made(self) -> V | None:
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

    async def _make_and_show(self) -> None:
        await self._may_begin()
        await asyncio.to_thread(import_module, self._module)
        if self._job is not None:
            self.view.show_job(self._job)


async def imported(*modules: str) -> None:
    """Import modules in a thread: what they import in turn takes longer than a window may stand still."""
    for module in modules:
        if module not in sys.modules:
            await asyncio.to_thread(import_module, module)
