"""What the pages about all vectors of a job share: reading them, the progress of work, and the line at the foot."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLayout, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.unit_vectors import Progress
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display
from cfbatch_gui.ui.job_labels import is_practice, short_model
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.ui.results.loaded_results import ResultLoader, failed_batches, nothing_yet
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL
from cfbatch_gui.ui.widgets import IconLine, MaybeEmpty, ThinProgress, boxed, column, line, row

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Read:
    embeddings: Embeddings
    done: int


class VectorPage(ResultView):
    """`arrived` is called with vectors that can be shown, and again when more have come. The rest is the page's own.

    `rows_wanted` brings item numbers to be shown in the table, and what they are called there.
    """

    rows_wanted = Signal(object, str)

    def __init__(self, program: Program, notices: Notices, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        """Put the content on the page, with the foot below; called once."""
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
        """Forget the job before."""
        raise NotImplementedError

    def arrived(self, *, is_first: bool) -> None:
        """Vectors are there, or more of them than before."""
        raise NotImplementedError

    @property
    def job(self) -> Job:
        """The job that is shown."""
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
        """Show the sentences at the foot, after what is missing or left out."""
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
        """Show an expected failure of the page's work: on the page while it is empty, else as a notice."""
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
