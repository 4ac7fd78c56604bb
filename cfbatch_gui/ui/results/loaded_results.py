"""What pages of results share: when they read those of their job, what they show while there are none, the limits of a
ranking, and the figures over all its scores.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QRegularExpression, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QLayout, QLineEdit, QSpinBox, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.verifying import complete_results
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports.base import ExportOptions
from cfbatch_gui.core.results.outcomes import Status
from cfbatch_gui.core.results.score_table import ScoreFigures
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text, tr
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.ui.state_names import is_practice
from cfbatch_gui.ui.tables.table_rows import Column
from cfbatch_gui.ui.tables.table_view import ColumnsButton, TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import Flow, IconLine, Label, MaybeEmpty, SearchField, boxed, column, row

T = TypeVar("T")
Version = tuple[object, ...]

LOADING = "load"  # the name of the reading among a page's tasks


class ResultsPage(ResultView, Generic[T]):
    """Reads the results of one job at a time, and again whenever there are others."""

    def __init__(self, program: Program, notices: Notices, icon: str) -> None:
        super().__init__()
        self.program, self.notices = program, notices
        self.tasks = Tasks(self, self.show_error)
        self.shown: Job | None = None
        self.loaded: Version = ()  # of what was read last
        self.foot = IconLine("", wrap=True)
        self.stack = MaybeEmpty(icon)

    def lay_out(self, content: QWidget, above: QLayout | None = None) -> None:
        """`above` the content are its fields."""
        fields = [column(boxed(above), margins=(WIDE, SMALL, MEDIUM, SMALL))] if above is not None else []
        self.stack.addWidget(boxed(column(*fields, (content, 1), gap=0)))
        self.setLayout(column(self.stack, gap=0))

    def begin(self, job: Job) -> None:
        """Before another job is shown, while `shown` is still the one before."""
        self.stack.show_sentence("")

    def version(self, job: Job) -> Version:
        """Changes exactly when there may be other results to read: an answer came, a batch ended without one, or the
        texts were removed.
        """
        ended = tuple((batch.number, batch.state) for batch in job.batches if batch.state.is_final)
        return (job.id, job.is_sent, ended, job.texts_forgotten_at)

    async def read(self, job: Job) -> T:
        """What the page shows. Raises UserError."""
        raise NotImplementedError

    async def show_read(self, job: Job, read: T) -> None:
        raise NotImplementedError

    def show_job(self, job: Job) -> None:
        if self.shown is None or job.id != self.shown.id:
            for name in self.tasks.running():
                self.tasks.cancel(name)
            self.loaded = ()
            self.begin(job)
        self.shown = job
        if self.version(job) != self.loaded and not self.tasks.is_running(LOADING):
            self.tasks.start(LOADING, self._load())

    def show_error(self, error: UserError) -> None:
        self.stack.show_sentence(said(error.message))

    async def _load(self) -> None:
        while (job := self.shown) is not None and self.loaded != (version := self.version(job)):
            if job.has_results:
                await asyncio.to_thread(complete_results, self.program.folder(job.id), job)
            read = await self.read(job)
            self.loaded = version
            await self.show_read(job, read)


def search_bar(field: SearchField, items: Sequence[QWidget], table: TableView) -> Flow:
    """Above a table: the search, then `items`, and the button for the table's columns at the right."""
    field.setMinimumWidth(scaled(110))
    field.setMaximumWidth(scaled(250))
    return Flow(field, *items, None, ColumnsButton(table))


def labelled(words: str, *fields: QWidget) -> QWidget:
    """Fields in a row, of which the first has these words for its label."""
    label = Label(words, "quiet")
    label.setBuddy(fields[0])
    return boxed(row(label, *fields))


_MOST = 99_999
_NUMBER = QRegularExpression(r"-?\d{0,4}([.,]\d{0,6})?")


class LimitsBar(QWidget):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.top = QSpinBox()
        self.top.setRange(0, _MOST)
        self.top.setSpecialValueText(self.tr("All ranks"))
        self.top.setPrefix(self.tr("Top") + " ")
        self.top.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.top.setAccessibleName(self.tr("How many of each query"))
        self.top.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the wheel scrolls
        self.top.valueChanged.connect(lambda _: self.changed.emit())
        self.threshold = QLineEdit()
        self.threshold.setPlaceholderText(self.tr("any"))
        self.threshold.setAccessibleName(self.tr("Score from"))
        self.threshold.setFixedWidth(scaled(84))
        self.threshold.setMaxLength(12)
        self.threshold.setValidator(QRegularExpressionValidator(_NUMBER, self))
        self.threshold.textChanged.connect(self.changed)
        self.setLayout(Flow(self.top, labelled(self.tr("Score from"), self.threshold), gap=MEDIUM))

    def limits(self) -> ExportOptions:
        try:
            threshold = float(self.threshold.text().replace(",", "."))
        except ValueError:  # nothing, or a sign alone
            threshold = None
        return ExportOptions(top_k=self.top.value() or None, threshold=threshold)

    def show_limits(self, limits: ExportOptions) -> None:
        with QSignalBlocker(self.top), QSignalBlocker(self.threshold):
            self.top.setValue(limits.top_k or 0)
            self.threshold.setText("" if limits.threshold is None else score_text(limits.threshold))


def failed_batches(job: Job) -> dict[int, str]:
    return metadata_of(job, "").failed_batches


def nothing_yet(job: Job) -> str:
    if job.state is JobState.FAILED:
        return tr("Nothing came back from this job. “Progress” says why.")
    if job.has_results:
        return tr("Nothing that is back has a result. “Export…” can write the rows that failed, and why.")
    return tr("Results can be read here as soon as the first batch is back.")


def original_columns(
    names: Sequence[str], cells: Callable[[Any], Sequence[str]], *, width: int
) -> Iterator[Column[Any]]:
    """A hidden column for each of the user's own."""
    for index, name in enumerate(names):

        def cell(row: Any, index: int = index) -> str | None:
            return cells(row)[index] if cells(row) else None

        yield Column(name, cell, key=f"original/{name}", width=width, hidden=True)


def named_cells(names: Sequence[str], cells: Sequence[str], *without: str) -> str:
    """The user's own cells, but for empty ones and those that are shown elsewhere."""
    pairs = zip(names, cells, strict=True)
    return " · ".join(f"{name}: {cell}" for name, cell in pairs if cell and cell not in without)


def status_words(status: Status, why: str) -> str:
    word = {
        Status.DONE: "",
        Status.FAILED: tr("Failed"),
        Status.WAITING: tr("Not back yet"),
        Status.LEFT_OUT: tr("Left out"),
        Status.SKIPPED: tr("Left out"),
    }[status]
    return f"{word}: {said(why)}" if why else word


def others_name() -> str:
    return tr("Texts that suit another question better")


def baseline_line(figures: ScoreFigures) -> str:
    if figures.others is None:
        return ""
    pattern = tr("Texts that suit another question better have a mean score of {mean}; 9 in 10 stay below {high}.")
    return pattern.format(mean=score_text(figures.others.mean), high=score_text(figures.others.ninetieth))


def reading_line(figures: ScoreFigures) -> str:
    if figures.others is None:
        return tr(
            "Not enough data to show a typical unrelated score: that takes ten questions, and texts that were ranked"
            " for several of them. Compare scores within one query, not with a fixed number."
        )
    return tr(
        "How to read it: a text that was ranked for several questions fits one of them best, and is compared with the"
        " others. 9 in 10 of these {pairs} score below {high}, and {above} of all {all} scores lie above. Texts that"
        " were not picked for any of your questions would score lower still."
    ).format(
        pairs=display.plural(figures.other_pairs, "{n} pair", "{n} pairs"),
        high=score_text(figures.others.ninetieth),
        above=display.number(figures.above),
        all=display.number(figures.scored),
    )


def partial_line(scored: int, contexts: int) -> str:
    if scored >= contexts:
        return ""
    return tr("Partial: {scored} of {all} contexts have a score.").format(
        scored=display.number(scored), all=display.number(contexts)
    )


def scores_line(job: Job) -> str:
    if is_practice(job):
        return tr("Practice scores, from a small model on this computer; they are not percentages.")
    return tr("Compare scores within one query; they are not percentages.")
