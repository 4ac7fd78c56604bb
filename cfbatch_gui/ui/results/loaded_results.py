"""When a page reads the results of its job, and what it shows while there are none."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.ui.tables.table_view import ColumnsButton, TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import Flow, MaybeEmpty, SearchField, boxed, column

T = TypeVar("T")
Version = tuple[object, ...]

LOADING = "load"  # the name of the reading among a page's tasks


class ResultLoader(Generic[T]):
    """Reads the results of one job at a time, and again whenever there are others.

    `read` gets the job and returns what the page shows; its errors go to the handler of `tasks`. `show` gets both. When
    another job is shown, the reading of the one before is cancelled and `begin` is called while `job` is still it.
    """

    def __init__(
        self,
        tasks: Tasks,
        read: Callable[[Job], Awaitable[T]],
        show: Callable[[Job, T], Awaitable[None]],
        *,
        begin: Callable[[Job], None],
    ) -> None:
        self._tasks, self._read, self._show, self._begin = tasks, read, show, begin
        self.job: Job | None = None
        self.loaded: Version = ()  # of what was read last

    def show_job(self, job: Job) -> None:
        """Follow this job as it is now."""
        if self.job is None or job.id != self.job.id:
            self._tasks.cancel(LOADING)
            self.loaded = ()
            self._begin(job)
        self.job = job
        if version_of(job) != self.loaded and not self._tasks.is_running(LOADING):
            self._tasks.start(LOADING, self._load())

    async def _load(self) -> None:
        while (job := self.job) is not None and self.loaded != (version := version_of(job)):
            read = await self._read(job)
            self.loaded = version
            await self._show(job, read)


class SearchBar(QWidget):
    """Above a table: the search, then `items`, and the button for the table's columns at the right."""

    def __init__(self, field: SearchField, items: Sequence[QWidget], table: TableView) -> None:
        super().__init__()
        field.setMinimumWidth(scaled(110))
        field.setMaximumWidth(scaled(250))
        parts = Flow(field, *items, None, ColumnsButton(table))
        self.setLayout(column(boxed(parts), margins=(WIDE, SMALL, MEDIUM, SMALL)))


class SearchedResults(QWidget):
    """Results under a bar to search them, or a sentence instead of both."""

    def __init__(self, icon: str, bar: QWidget, content: QWidget) -> None:
        super().__init__()
        self._bar, self._stack = bar, MaybeEmpty(icon, content)
        whole = column(bar, gap=0)
        whole.addWidget(self._stack, 1)
        self.setLayout(whole)

    def show_content(self) -> None:
        """Show the bar and the results."""
        self._bar.show()
        self._stack.show_content()

    def show_sentence(self, sentence: str) -> None:
        """Show why there is nothing."""
        self._bar.hide()
        self._stack.show_sentence(sentence)

    def show_loading(self, job: Job) -> None:
        """Show no results yet. If there are some the bar is shown: a text typed meanwhile is searched for then."""
        self._bar.setVisible(job.has_results)
        self._stack.show_sentence("")


def version_of(job: Job) -> Version:
    """Changes exactly when there may be other results to read: an answer came, a batch ended without one, or the texts
    were removed."""
    ended = tuple((batch.number, batch.state) for batch in job.batches if batch.state.is_final)
    return (job.id, job.is_sent, ended, job.texts_forgotten_at)


def failed_batches(job: Job) -> dict[int, str]:
    """The sentence of each batch that ended without an answer, by its number."""
    return metadata_of(job, "").failed_batches


def nothing_yet(job: Job) -> str:
    """The sentence shown instead of results, by the state of the job."""
    if job.state is JobState.FAILED:
        return QCoreApplication.translate("results", "Nothing came back from this job. “Progress” says why.")
    if job.state is JobState.PAUSED:
        return QCoreApplication.translate("results", "Nothing has come back yet. Carry on to collect the results.")
    if job.state in (JobState.DONE, JobState.PARTLY_DONE):
        return QCoreApplication.translate(
            "results",
            "Everything is back, and nothing has a result. “Export…” can write the rows that failed, and why.",
        )
    if job.has_results:
        return QCoreApplication.translate("results", "Of what is back so far, nothing has a result.")
    return QCoreApplication.translate("results", "Results can be read here as soon as the first batch is back.")
