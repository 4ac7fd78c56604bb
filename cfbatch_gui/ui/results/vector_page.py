"""What the pages about vectors share: reading them, the progress of work, the line at the foot, rows and columns."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLayout, QVBoxLayout, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings, VectorChecks
from cfbatch_gui.core.results.nearest import Neighbour
from cfbatch_gui.core.results.outcomes import Status
from cfbatch_gui.core.results.unit_vectors import Progress
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text, tr, vector_value_text
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.ui.results.loaded_results import ResultLoader, failed_batches, nothing_yet, status_words
from cfbatch_gui.ui.state_names import is_practice, short_model
from cfbatch_gui.ui.tables.table_rows import Column
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL
from cfbatch_gui.ui.widgets import IconLine, MaybeEmpty, ThinProgress, boxed, column, line, row
from cfbatch_gui.ui.widgets.text_panel import TextPanel

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Read:
    embeddings: Embeddings
    done: int


class VectorPage(ResultView):
    """`arrived` is called with vectors that can be shown, and again when more have come. `rows_wanted` brings item
    numbers to be shown in the table, and what they are called there.
    """

    rows_wanted = Signal(object, str)

    def __init__(self, program: Program, notices: Notices, icon: str) -> None:
        super().__init__()
        self.program, self.notices = program, notices
        self._read: _Read | None = None
        self.tasks = Tasks(self, self.show_error)
        self._loader = ResultLoader(self.tasks, self._read_job, self._show_read, begin=self._begin)
        self.foot = IconLine("", wrap=True)
        self._progress = ThinProgress()
        self._progress.setVisible(False)
        size_policy = self._progress.sizePolicy()
        size_policy.setRetainSizeWhenHidden(True)  # the content above must not move
        self._progress.setSizePolicy(size_policy)
        self._stack = MaybeEmpty(icon)

    def lay_out(self, content: QLayout, after_foot: QWidget | None = None) -> None:
        foot = row(self.foot, *filter(None, [after_foot]), margins=(LARGE, SMALL, MEDIUM, MEDIUM))
        foot.setStretch(0, 1)
        whole = column(gap=0)
        whole.addLayout(content, 1)
        whole.addWidget(self._progress)
        whole.addWidget(line())
        whole.addLayout(foot)
        self._stack.set_content(boxed(whole))
        self.setLayout(column(self._stack))

    def show_job(self, job: Job) -> None:
        self._loader.show_job(job)

    # For the pages

    def clear(self) -> None:
        raise NotImplementedError

    def arrived(self, *, is_first: bool) -> None:
        raise NotImplementedError

    @property
    def job(self) -> Job:
        assert self._loader.job is not None  # noqa: S101 - pages work on a job only
        return self._loader.job

    @property
    def embeddings(self) -> Embeddings | None:
        """Its vectors, None while nothing has come back."""
        return self._read.embeddings if self._read is not None and self._read.done else None

    async def worked_out(self, sentence: str, function: Callable[[Progress], T]) -> T:
        """Run `function` in a thread, its progress below; a cancel stops it when it reports progress next."""
        stop, loop = threading.Event(), asyncio.get_running_loop()

        def tell(share: float) -> None:
            if stop.is_set():
                raise _StoppedError
            loop.call_soon_threadsafe(show, share)

        def show(share: float) -> None:
            if not stop.is_set():
                self._progress.set_parts(round(share * 1000), 1000)

        self.foot.set_line(sentence, "hourglass")
        self._progress.set_parts(0, 1000)
        self._progress.setVisible(True)
        try:
            return await asyncio.to_thread(function, tell)
        finally:
            stop.set()
            self._progress.setVisible(False)

    def show_foot(self, *sentences: str, without_direction: int = 0) -> None:
        read = self._read
        if read is None:
            return
        said = []
        missing = read.embeddings.count - read.done
        if missing:
            pattern = self.tr("So far: {n} of {total} texts have a vector.")
            said.append(pattern.format(n=display.number(read.done), total=display.number(read.embeddings.count)))
        if without_direction:
            said.append(
                display.plural(
                    without_direction,
                    "{n} vector is zero or not finite and left out.",
                    "{n} vectors are zero or not finite and left out.",
                )
            )
        if is_practice(self.job):
            said.append(self.tr("Practice vectors, not of {model}.").format(model=short_model(self.job)))
        needs_attention = bool(missing or without_direction)
        self.foot.set_line(
            " ".join([*said, *filter(None, sentences)]),
            "triangle-alert" if needs_attention else "info",
            "attention" if needs_attention else "quiet",
        )

    def show_error(self, error: UserError) -> None:
        if self._read is None:
            self._stack.show_sentence(said(error.message))
        else:
            self.foot.set_line("")
            self.notices.show_error(error)

    def _begin(self, job: Job) -> None:
        for name in self.tasks.running():
            self.tasks.cancel(name)
        self._read = None
        self._stack.show_sentence("")
        self.clear()

    async def _read_job(self, job: Job) -> _Read:
        return await asyncio.to_thread(_read, self.program.folder(job.id), failed_batches(job))

    async def _show_read(self, job: Job, read: _Read) -> None:
        is_first = self.embeddings is None
        self._read = read
        if read.done:
            self._stack.show_content()
            self.arrived(is_first=is_first)
        else:
            self._stack.show_sentence(nothing_yet(job))


class _StoppedError(Exception):
    """Raised in the thread of work that was cancelled."""


def _read(folder: JobFolder, failed: dict[int, str]) -> _Read:
    embeddings = Embeddings(folder, failed)
    return _Read(embeddings, embeddings.outcome_counts().done)


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A text and the length of its vector, None while it has none."""

    text: EmbeddedText
    length: float | None


def show_whole(text: EmbeddedText, panel: TextPanel) -> None:
    about = " · ".join(filter(None, (text.id, text.label)))
    panel.show_text(tr("Row {n}").format(n=display.number(text.row)), text.text, about=about)


def table_over_text(table: QWidget, panel: TextPanel, *, margin: int = MEDIUM) -> QVBoxLayout:
    whole = column(gap=0)
    whole.addWidget(table, 1)
    whole.addLayout(column(panel, margins=(margin, SMALL, margin, SMALL)))
    return whole


def read_rows(embeddings: Embeddings, texts: Sequence[EmbeddedText]) -> tuple[VectorRow, ...]:
    done = [text.item_no for text in texts if text.status is Status.DONE] if embeddings.dimension else []
    vectors = embeddings.rows_of(np.array(done, dtype=np.int64)).astype(np.float64)
    lengths = dict(zip(done, np.linalg.norm(vectors, axis=1).tolist(), strict=True))
    return tuple(VectorRow(text, lengths.get(text.item_no)) for text in texts)


def blank_rows(start: int, stop: int) -> tuple[VectorRow, ...]:
    return tuple(
        VectorRow(EmbeddedText(index + 1, "", "", "", index + 1, (), Status.FAILED, "", 0), None)
        for index in range(start, stop)
    )


def length_text(row: VectorRow) -> str:
    return status_words(row.text.status, row.text.error) if row.length is None else vector_value_text(row.length)


def vector_columns(original: Sequence[str], *, with_ids: bool, labelled: bool) -> tuple[Column[VectorRow], ...]:
    """None of them sorts."""

    def cell(index: int) -> Column[VectorRow]:
        return Column(
            original[index],
            lambda row: row.text.cells[index] if row.text.cells else None,
            key=f"original/{original[index]}",
            width=130,
            hidden=True,
            sortable=False,
        )

    return (
        Column(
            tr("Row"),
            lambda row: row.text.row,
            display.number,
            key="row",
            align="right",
            width=58,
            sortable=False,
            tip=tr("The row in your file, as its own program counts."),
        ),
        Column(
            tr("ID"),
            lambda row: row.text.id,
            key="id",
            width=78,
            sortable=False,
            hidden=not with_ids,
            is_searched=True,
        ),
        Column(tr("Text"), lambda row: row.text.text, key="text", stretch=True, sortable=False, is_searched=True),
        Column(tr("Label"), lambda row: row.text.label, key="label", width=100, sortable=False, hidden=not labelled),
        Column(
            tr("Length"),
            lambda row: row.length,
            text=length_text,
            key="length",
            align="right",
            width=82,
            sortable=False,
            hidden=True,
            tip=tr("The length of the vector. Most models give vectors of length 1."),
            colour=lambda row: "quiet" if row.length is None else "text",
        ),
        *(cell(index) for index in range(len(original))),
    )


def item_columns() -> tuple[Column[VectorRow], ...]:
    return (
        Column(tr("Row"), lambda row: row.text.row, display.number, key="row", align="right", width=70, sortable=False),
        Column(tr("Text"), lambda row: row.text.text, key="text", stretch=True, sortable=False, is_searched=True),
        Column(tr("ID"), lambda row: row.text.id, key="id", width=110, sortable=False, is_searched=True),
    )


def neighbour_columns() -> tuple[Column[Neighbour], ...]:
    return (
        Column(tr("Text"), lambda each: each.text.text, key="text", stretch=True, sortable=False, is_searched=True),
        Column(tr("ID"), lambda each: each.text.id, key="id", width=90, hidden=True, sortable=False, is_searched=True),
        Column(
            tr("Similarity"),
            lambda each: each.similarity,
            score_text,
            key="similarity",
            align="right",
            width=96,
            gives_way=True,
            sortable=False,
            tip=tr("The cosine of both vectors: 1 is the same direction."),
        ),
    )


def found_columns() -> tuple[Column[Neighbour], ...]:
    return (
        Column(
            tr("Row"), lambda each: each.text.row, display.number, key="row", align="right", width=70, sortable=False
        ),
        Column(tr("Text"), lambda each: each.text.text, key="text", stretch=True, sortable=False, is_searched=True),
        Column(tr("ID"), lambda each: each.text.id, key="id", width=110, sortable=False, is_searched=True),
        Column(
            tr("Similarity"),
            lambda each: each.similarity,
            score_text,
            key="similarity",
            width=170,
            bar=lambda each: max(0.0, each.similarity),
            tip=tr("The cosine of both vectors: 1 is the same direction. The bar begins at 0 and ends at 1."),
        ),
    )


def checks_line(checks: VectorChecks) -> tuple[str, bool]:
    if not checks.dimension or checks.missing == checks.texts:
        return tr("No vector has come back yet."), True
    found = [display.plural(checks.dimension, "{n} dimension", "{n} dimensions")]
    if checks.unit_length:
        found.append(tr("all of unit length"))
    else:
        lengths = f"{vector_value_text(checks.norm_min)}–{vector_value_text(checks.norm_max)}"
        found.append(tr("lengths {range}").format(range=lengths))
    wrong = []
    if checks.zero:
        wrong.append(display.plural(checks.zero, "{n} empty vector", "{n} empty vectors"))
    if checks.repeated:
        wrong.append(display.plural(checks.repeated, "{n} repeated vector", "{n} repeated vectors"))
    if checks.non_finite:
        wrong.append(
            display.plural(
                checks.non_finite,
                "{n} vector with values that are no numbers",
                "{n} vectors with values that are no numbers",
            )
        )
    if checks.missing:
        wrong.append(display.plural(checks.missing, "{n} text without a vector", "{n} texts without a vector"))
    if not checks.zero and not checks.repeated:
        found.append(tr("no empty or repeated vectors"))
    return " · ".join(found + wrong), not (checks.zero or checks.non_finite)
