"""The pushes and comparisons that are under way; they go on while the page shows another job."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.vectorize.push_values import Push, PushOptions, PushProgress, PushStage
from cfbatch_gui.core.vectorize.wire import Metric
from cfbatch_gui.ui.tasks import Tasks


@dataclass(frozen=True, slots=True)
class NewIndex:
    """An index that is created before a push."""

    dimension: int
    metric: Metric
    description: str


@dataclass(frozen=True, slots=True)
class RunningPush:
    """A push, or with `is_check` a comparison alone. `parts` were accepted since it began. `is_stopping`: it was
    stopped, and ends as soon as the call is over that is being made.
    """

    job_id: str
    index: str
    is_check: bool = False
    progress: PushProgress | None = None
    parts: int = 0
    is_stopping: bool = False


class RunningPushes(QObject):
    """At most one for each job. `changed` brings the id of the job of which one began, has moved on or has ended;
    `ended` is emitted before the last of these, with the id, and with the Push or the UserError.
    """

    changed = Signal(str)
    ended = Signal(str, object)

    def __init__(self, program: Program, on_error: Callable[[UserError], object], parent: QObject) -> None:
        super().__init__(parent)
        self._program = program
        self._running: dict[str, RunningPush] = {}
        self.tasks = Tasks(self, on_error)

    def of(self, job_id: str) -> RunningPush | None:
        """What is under way for a job."""
        return self._running.get(job_id)

    def send(
        self, job_id: str, connection_id: str, index: str, options: PushOptions, new: NewIndex | None = None
    ) -> None:
        """Begin a push, or go on with one; with `new` the index is created first."""

        async def push(show: Callable[[PushProgress], None]) -> Push:
            vectorize = self._program.vectorize
            if new is not None:
                await vectorize.create(connection_id, index, new.dimension, new.metric, new.description)
            return await vectorize.push(job_id, connection_id, index, options, show=show)

        self._start(RunningPush(job_id, index), push)

    def check(self, job_id: str, connection_id: str, index: str) -> None:
        """Compare an index with what it was sent."""

        async def check(show: Callable[[PushProgress], None]) -> Push:
            return await self._program.vectorize.verify(job_id, connection_id, index, show=show)

        self._start(RunningPush(job_id, index, is_check=True), check)

    def stop(self, job_id: str) -> None:
        """Stop what is under way for a job; what was accepted stays so."""
        now = self._running.get(job_id)
        if now is not None:
            self._running[job_id] = replace(now, is_stopping=True)
            self.tasks.cancel(job_id)
            self.changed.emit(job_id)

    def _start(self, begun: RunningPush, work: Callable[[Callable[[PushProgress], None]], Awaitable[Push]]) -> None:
        if begun.job_id in self._running:
            return
        self._running[begun.job_id] = begun
        task = self.tasks.start(begun.job_id, self._run(begun.job_id, work))
        task.add_done_callback(lambda _: self._over(begun.job_id))  # also where it never made its first step
        self.changed.emit(begun.job_id)

    async def _run(self, job_id: str, work: Callable[[Callable[[PushProgress], None]], Awaitable[Push]]) -> None:
        try:
            result: Push | UserError = await work(lambda progress: self._show(job_id, progress))
        except UserError as error:
            result = error
        self.ended.emit(job_id, result)

    def _over(self, job_id: str) -> None:
        del self._running[job_id]
        self.changed.emit(job_id)

    def _show(self, job_id: str, progress: PushProgress) -> None:
        now = self._running.get(job_id)
        if now is None:
            return
        before = now.progress
        is_part = (
            before is not None and before.stage is progress.stage is PushStage.SENDING and progress.done > before.done
        )
        self._running[job_id] = replace(now, progress=progress, parts=now.parts + is_part)
        self.changed.emit(job_id)
