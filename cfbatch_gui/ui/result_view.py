"""The interface between the page of a job and the views of its results, which do not import each other."""

from abc import abstractmethod
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Job


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Some of a job's rows that can be exported alone; `name` is what a button says about them.

    `items` are their numbers. With `is_proposed` they were just chosen for something, and an export begins with them.
    """

    name: str
    items: frozenset[int]
    is_proposed: bool = False


class ResultView(QWidget):
    """A view of the results of one job at a time."""

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
