"""The pushes and comparisons that are under way, and the words about pushes and indexes."""

import itertools
import re
import unicodedata
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.vectorize.client import Metric
from cfbatch_gui.core.vectorize.push_values import Push, PushOptions, PushProgress, Show
from cfbatch_gui.core.workers_ai.limits import INDEX_NAME_FORM, MAX_INDEX_NAME_BYTES
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.tasks import Tasks


@dataclass(frozen=True, slots=True)
class RunningPush:
    """A push, or with `is_check` a comparison alone.

    `is_stopping`: it was stopped, and ends as soon as the call is over that is being made.
    """

    job_id: str
    index: str
    is_check: bool = False
    progress: PushProgress | None = None
    is_stopping: bool = False


class RunningPushes(QObject):
    """`changed` brings the id of the job of which one began, has moved on or has ended; `ended` is emitted before
    the last of these, with the id and the Push, unless an error has ended it, which `on_error` gets.
    """

    changed = Signal(str)
    ended = Signal(str, object)

    def __init__(self, program: Program, on_error: Callable[[UserError], object], parent: QObject) -> None:
        super().__init__(parent)
        self._program = program
        self._running: dict[str, RunningPush] = {}
        self.tasks = Tasks(self, on_error)

    def of(self, job_id: str) -> RunningPush | None:
        return self._running.get(job_id)

    def send(self, job: Job, connection_id: str, index: str, options: PushOptions, *, new_dimension: int = 0) -> None:
        """`new_dimension` is that of an index that is created first, 0 for one that is there."""

        async def push(show: Show) -> Push:
            vectorize = self._program.vectorize
            if new_dimension:
                await vectorize.calls(connection_id).create(index, new_dimension, Metric.COSINE, job.name)
            return await vectorize.push(job.id, connection_id, index, options, show=show)

        self._start(RunningPush(job.id, index), push)

    def check(self, job_id: str, connection_id: str, index: str) -> None:
        verify = partial(self._program.vectorize.verify, job_id, connection_id, index)
        self._start(RunningPush(job_id, index, is_check=True), lambda show: verify(show=show))

    def stop(self, job_id: str) -> None:
        now = self._running.get(job_id)
        if now is not None:
            self._running[job_id] = replace(now, is_stopping=True)
            self.tasks.cancel(job_id)
            self.changed.emit(job_id)

    def _start(self, begun: RunningPush, work: Callable[[Show], Awaitable[Push]]) -> None:
        if begun.job_id in self._running:
            return
        self._running[begun.job_id] = begun
        task = self.tasks.start(begun.job_id, self._run(begun.job_id, work))
        task.add_done_callback(lambda _: self._over(begun.job_id))  # also where it never made its first step
        self.changed.emit(begun.job_id)

    async def _run(self, job_id: str, work: Callable[[Show], Awaitable[Push]]) -> None:
        self.ended.emit(job_id, await work(lambda progress: self._show(job_id, progress)))

    def _over(self, job_id: str) -> None:
        del self._running[job_id]
        self.changed.emit(job_id)

    def _show(self, job_id: str, progress: PushProgress) -> None:
        now = self._running.get(job_id)
        if now is None:
            return
        self._running[job_id] = replace(now, progress=progress)
        self.changed.emit(job_id)


LONGEST_NAME = 40  # letters of a name of the user's that are shown in a sentence
_NO_NAME = re.compile(r"[^a-z0-9]+")


def dimension_words(dimension: int, metric: str = "") -> str:
    parts = [display.plural(dimension, "{n} dimension", "{n} dimensions")] if dimension else []
    words: dict[str, str] = {
        Metric.COSINE: tr("cosine"),
        Metric.EUCLIDEAN: tr("Euclidean distance"),
        Metric.DOT_PRODUCT: tr("dot product"),
    }
    return ", ".join(filter(None, (*parts, words.get(metric, metric))))


def proposed_name(job_name: str, taken: Collection[str]) -> str:
    """A name for a new index, from a job's: small Latin letters, digits and "-", and none that there is already. One
    that no index can have, since it begins with a digit or is a single letter, gets a word before it.
    """
    letters = unicodedata.normalize("NFKD", job_name).encode("ascii", "ignore").decode().lower()
    words = _NO_NAME.sub("-", letters).strip("-")
    if not re.fullmatch(INDEX_NAME_FORM, words):
        words = f"vectors-{words}".rstrip("-")
    name = words[: MAX_INDEX_NAME_BYTES - 4].rstrip("-")
    numbered = (f"{name}-{number}" for number in itertools.count(2))
    return next(each for each in itertools.chain([name], numbered) if each not in taken)


def short_name(name: str) -> str:
    return display.one_line(name, LONGEST_NAME)
