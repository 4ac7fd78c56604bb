"""The interface between the page of a job and the views of its results, which do not import each other."""

from abc import abstractmethod

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Job


class ResultView(QWidget):
    """A view of the results of one job at a time."""

    # ABCMeta cannot be combined with Qt's metaclass; the type checker treats the method as abstract without it.
    @abstractmethod
    def show_job(self, job: Job) -> None:
        """Show this job or its changes; for the same job, scrolling, selection and typed text are kept."""

    def has_something(self, job: Job) -> bool:
        """Whether the view has anything to show for this job; without it, its tab is hidden."""
        return True
