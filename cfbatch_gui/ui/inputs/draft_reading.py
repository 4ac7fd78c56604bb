"""The states of drafts, and the reading of their files in threads, for each draft by itself.

A draft goes on being read while the page shows another one. A later wish replaces an earlier one: the earlier's thread
is told to stop, its result is dropped, and the later begins when that thread has ended, for both write the same data.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.inputs.draft_state import DraftState, OpenFile
from cfbatch_gui.ui.tasks import Tasks

_SECONDS_BETWEEN_REPORTS = 0.05
T = TypeVar("T")


class _Stopped(Exception):
    """Ends a thread whose result nobody wants any more."""


class DraftReading(QObject):
    """The states of all drafts that were shown, and what is being read for them. Lives in the loop's thread.

    `changed` brings a job's id after each change of its state, `job_changed` after each change in the ledger,
    `progressed` a share between 0 and 1 of the bytes that are to be read.
    """

    changed = Signal(str)
    job_changed = Signal(str)
    progressed = Signal(str, float)

    def __init__(self, program: Program, on_error: Callable[[UserError], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._program = program
        self._on_error = on_error
        self._states: dict[str, DraftState] = {}
        self._threads: dict[str, asyncio.Future[Any]] = {}
        self._saving: Counter[str] = Counter()
        self._changes = 0
        self.tasks = Tasks(self, on_error)

    def state(self, job_id: str) -> DraftState:
        """A draft as it is now."""
        return self._states.get(job_id, DraftState())

    def job(self, job_id: str) -> Job:
        """The job of the ledger."""
        return self._program.ledger.job(job_id)

    def forget(self, job_id: str) -> None:
        """A draft was sent or thrown away."""
        self.tasks.cancel(f"open {job_id}")
        self.tasks.cancel(f"read {job_id}")
        self._states.pop(job_id, None)

    def _read_as(self, job_id: str, state: DraftState) -> None:
        """Show a new state, read the file unless `is_read` says that the data fits, and work out what it comes to."""
        state = replace(state, trouble="", opening="")
        if state.incomplete:
            self.tasks.cancel(f"read {job_id}")
            self._set(job_id, replace(state, is_reading=False, preflight=None))
            return
        self._set(job_id, replace(state, is_reading=True))
        self.tasks.start(f"read {job_id}", self._read(job_id))

    async def _read(self, job_id: str) -> None:
        while (thread := self._threads.get(job_id)) is not None and not thread.done():
            await asyncio.wait({thread})
        try:
            if not self.state(job_id).is_read:
                await self._load(job_id)
                self._set(job_id, replace(self.state(job_id), is_read=True))
                self.job_changed.emit(job_id)
            preflight = await self._in_thread(job_id, partial(self._program.examine, job_id))
            spent = await asyncio.to_thread(self._program.spent_today)
        except UserError as error:
            self._set(job_id, replace(self.state(job_id), is_reading=False, preflight=None, trouble=error.message))
            if not isinstance(error, UsageError):
                raise
            return
        self._set(job_id, replace(self.state(job_id), is_reading=False, preflight=preflight, spent=spent))

    async def _load(self, job_id: str) -> None:
        state = self.state(job_id)
        file, mapping = state.file, state.mapping
        if file is None or mapping is None:
            raise UsageError(self.tr("Choose the file again."))
        second = state.second.source if state.second else None
        stop = threading.Event()
        report = self._reporter(job_id, [each for each in (state.second, file) if each], stop)
        load = partial(self._program.drafts.load, job_id, file.source, mapping, second, progress=report)
        try:
            await self._in_thread(job_id, load)
        finally:
            stop.set()

    async def _in_thread(self, job_id: str, function: Callable[[], T]) -> T:
        """Run it; when the wait is cancelled the thread goes on to its end, and `_threads` knows it."""
        thread = asyncio.ensure_future(asyncio.to_thread(function))
        self._threads[job_id] = thread
        thread.add_done_callback(lambda done: None if done.cancelled() else done.exception())  # someone has looked
        return await asyncio.shield(thread)

    def _reporter(self, job_id: str, files: list[OpenFile], stop: threading.Event) -> Callable[[int], None]:
        """What the reading thread calls with its place in the file that it reads. Workbooks have no known length."""
        loop = asyncio.get_running_loop()
        sizes = [file.source.size if file.source.is_read_by_bytes else 0 for file in files]
        total = sum(sizes) if all(sizes) else 0
        place, done, shown = 0, 0, 0.0

        def report(position: int) -> None:
            nonlocal place, done, shown
            if stop.is_set():
                raise _Stopped
            if position < place:  # the next file begins
                done += place
            place = position
            now = time.monotonic()
            if total and now - shown >= _SECONDS_BETWEEN_REPORTS:
                shown = now
                share = min(1.0, (done + position) / total)  # how much a packed file holds is guessed
                loop.call_soon_threadsafe(self.progressed.emit, job_id, share)

        return report

    def _start_change(self, job_id: str, change: Callable[[], Job], *, again: bool) -> None:
        # Each has a name of its own: the next one must not cancel what is on its way to the disk.
        self._changes += 1
        self._saving[job_id] += 1
        self._set(job_id, replace(self.state(job_id), is_saving=True))
        self.tasks.start(f"change {self._changes}", self._change(job_id, change, again=again))

    async def _change(self, job_id: str, change: Callable[[], Job], *, again: bool) -> None:
        try:
            await self._program.runner.on_disk(change)
        finally:
            self._saving[job_id] -= 1
            self._set(job_id, replace(self.state(job_id), is_saving=self._saving[job_id] > 0))
        self.job_changed.emit(job_id)
        state = self.state(job_id)
        if again and (state.is_read or state.trouble or state.is_reading):
            self._read_as(job_id, state)

    def _set(self, job_id: str, state: DraftState) -> None:
        if job_id in self._states:
            self._states[job_id] = state
            self.changed.emit(job_id)
