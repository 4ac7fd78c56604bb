"""What a job's page asks of the views that show results. Pages do not import each other; both sides import this."""

from abc import abstractmethod

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Job


class ResultView(QWidget):
    """Shows the results of one job at a time."""

    # Without ABCMeta, which cannot be beside Qt's own metaclass; to the type checker it is abstract all the same.
    @abstractmethod
    def show_job(self, job: Job) -> None:
        """Show this job, or what has changed in it; place, selection and typed text stay while it is the same job."""

    def has_something(self, job: Job) -> bool:
        """Whether the view is worth a tab for this job."""
        return True
