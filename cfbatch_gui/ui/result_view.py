"""The interface between the page of a job and the views of its results, which do not import each other."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui import display
from cfbatch_gui.ui.tasks import Tasks

_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Some of a job's rows that can be exported alone; `name` says what they have in common.

    `items` are their numbers. With `is_proposed` they were just chosen for something, and an export begins with them.
    """

    name: str
    items: frozenset[int]
    is_proposed: bool = False

    def words(self) -> str:
        """What a button says about them: "These 66 · lasso"."""
        pattern = QCoreApplication.translate("exports", "These {n} · {name}")
        return pattern.format(n=display.number(len(self.items)), name=display.one_line(self.name, _LONGEST_NAME))


def row_choices(*named: tuple[str, Iterable[int]], proposed: str = "") -> tuple[RowChoice, ...]:
    """A choice for each name whose rows are some; of those with the same rows, the first. `proposed` names one."""
    found: dict[frozenset[int], RowChoice] = {}
    for name, items in named:
        rows = frozenset(items)
        if rows:
            found.setdefault(rows, RowChoice(name, rows, is_proposed=name == proposed))
    return tuple(found.values())


class ResultView(QWidget):
    """A view of the results of one job at a time."""

    tasks: Tasks

    # ABCMeta cannot be combined with Qt's metaclass; the type checker treats the method as abstract without it.
    @abstractmethod
    def show_job(self, job: Job) -> None:
        """Show this job or its changes; for the same job, scrolling, selection and typed text are kept."""

    def row_choices(self) -> tuple[RowChoice, ...]:
        """What can be exported instead of all rows: what is selected, found or drawn around."""
        return ()

    def has_something(self, job: Job) -> bool:
        """Whether the view has anything to show for this job; without it, its tab is hidden."""
        return True
