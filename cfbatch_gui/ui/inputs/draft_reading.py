"""Reading a draft's file into the job, and examining what was read: problems, size and price."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import EncodingUnknown, UsageError, UserError
from cfbatch_gui.core.inputs.readers.formats import is_read_by_bytes
from cfbatch_gui.core.inputs.recognise.recogniser import as_guessed
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.inputs.draft_state import DraftState, DraftStates, OpenFile

_SECONDS_BETWEEN_REPORTS = 0.05
T = TypeVar("T")


class _Stopped(Exception):
    """Raised in a reading thread whose result is not needed any more."""


class DraftReading(QObject):
    """Reads and examines drafts in threads, each draft independently of the one that the page shows.

    A new reading of a draft replaces the one before: the earlier thread is stopped and its result dropped, and the
    new one starts when that thread has ended, because both write the same data. `progressed` is emitted with the job's
    id and the share (0 to 1) of the bytes that have been read.
    """

    progressed = Signal(str, float)

    def __init__(self, program: Program, drafts: DraftStates) -> None:
        super().__init__(drafts)
        self._program, self._drafts = program, drafts
        self._threads: dict[str, asyncio.Future[Any]] = {}

    def start(self, job_id: str, state: DraftState) -> None:
        """Set a draft's state, read its file unless `is_read` is set already, and examine the data."""
        state = replace(state, trouble="", opening="")
        if state.incomplete:
            self._drafts.tasks.cancel(f"read {job_id}")
            self._drafts.set(job_id, replace(state, is_reading=False, preflight=None))
            return
        self._drafts.set(job_id, replace(state, is_reading=True))
        self._drafts.tasks.start(f"read {job_id}", self._read(job_id))

    def retry(self, job_id: str) -> None:
        """Read and examine again, after a failure."""
        self.start(job_id, self._drafts.state(job_id))

    async def _read(self, job_id: str) -> None:
        drafts = self._drafts
        while (thread := self._threads.get(job_id)) is not None and not thread.done():
            await asyncio.wait({thread})
        try:
            if not drafts.state(job_id).is_read:
                await self._load(job_id)
                drafts.set(job_id, replace(drafts.state(job_id), is_read=True))
                drafts.job_changed.emit(job_id)
            preflight = await self._in_thread(job_id, partial(self._program.examine, job_id))
            spent = await asyncio.to_thread(self._program.spent_today)
        except UserError as error:
            drafts.set(job_id, replace(drafts.state(job_id), is_reading=False, preflight=None, trouble=error.message))
            if not isinstance(error, UsageError):
                raise
            return
        drafts.set(job_id, replace(drafts.state(job_id), is_reading=False, preflight=preflight, spent=spent))

    async def _load(self, job_id: str) -> None:
        try:
            await self._load_as_opened(job_id)
        except EncodingUnknown as error:
            state = self._drafts.state(job_id)
            file, second = (self._as_guessed(each, error) for each in (state.file, state.second))
            if (file, second) == (state.file, state.second):
                raise
            self._drafts.set(job_id, replace(state, file=file, second=second))
            await self._load_as_opened(job_id)

    def _as_guessed(self, file: OpenFile | None, error: EncodingUnknown) -> OpenFile | None:
        if file is None:
            return None
        source = as_guessed(file.source, error)
        if source == file.source:
            return file
        others = source.other_encodings if source.is_encoding_guessed else None
        return replace(file, source=source, options=file.options.in_encoding(source.encoding, others=others))

    async def _load_as_opened(self, job_id: str) -> None:
        state = self._drafts.state(job_id)
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
        """Run a function in a thread, which is in `_threads` to its end even when this wait is cancelled."""
        thread = asyncio.ensure_future(asyncio.to_thread(function))
        self._threads[job_id] = thread
        # Retrieves the exception, so that asyncio does not report one of a cancelled wait as never retrieved.
        thread.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        return await asyncio.shield(thread)

    def _reporter(self, job_id: str, files: list[OpenFile], stop: threading.Event) -> Callable[[int], None]:
        """Return what the reading thread calls with its byte offset; raises _Stopped in that thread once `stop` is set.

        The share is of the sizes of all files. A workbook's is unknown, and then nothing is emitted.
        """
        loop = asyncio.get_running_loop()
        sizes = [file.source.size if is_read_by_bytes(file.source) else 0 for file in files]
        total = sum(sizes) if all(sizes) else 0
        before, done, shown = 0, 0, 0.0

        def report(offset: int) -> None:
            nonlocal before, done, shown
            if stop.is_set():
                raise _Stopped
            if offset < before:  # the next file begins
                done += before
            before = offset
            now = time.monotonic()
            if total and now - shown >= _SECONDS_BETWEEN_REPORTS:
                shown = now
                share = min(1.0, (done + offset) / total)  # the unpacked size of a packed file is an estimate
                loop.call_soon_threadsafe(self.progressed.emit, job_id, share)

        return report
