"""Files of drafts read and examined, settings written, choices of candidates estimated."""

import asyncio
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import EncodingUnknown, UsageError, UserError
from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind
from cfbatch_gui.core.inputs.readers.formats import is_read_by_bytes
from cfbatch_gui.core.inputs.recognise.recogniser import as_guessed
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.threads import check_stopped, in_thread
from cfbatch_gui.ui.inputs.draft_state import DraftState, DraftStates, OpenFile

_SECONDS_BETWEEN_REPORTS = 0.05
T = TypeVar("T")


class DraftReading(QObject):
    """Reads and examines drafts in threads.

    A new reading of a draft starts when the stopped thread of the one before has ended: both write the same data.
    `progressed` carries a share of bytes, 0 to 1.
    """

    progressed = Signal(str, float)

    def __init__(self, program: Program, drafts: DraftStates) -> None:
        super().__init__(drafts)
        self._program, self._drafts = program, drafts
        self._alone: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # by job

    def start(self, job_id: str, state: DraftState) -> None:
        state = replace(state, trouble="", opening="")
        if state.incomplete:
            self._drafts.tasks.cancel(f"read {job_id}")
            self._drafts.set(job_id, replace(state, is_reading=False, preflight=None))
            return
        self._drafts.set(job_id, replace(state, is_reading=True))
        self._drafts.tasks.start(f"read {job_id}", self._read(job_id))

    def retry(self, job_id: str) -> None:
        self.start(job_id, self._drafts.state(job_id))

    async def _read(self, job_id: str) -> None:
        drafts = self._drafts
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
        report = self._reporter(job_id, [each for each in (state.second, file) if each])
        await self._in_thread(
            job_id, partial(self._program.drafts.load, job_id, file.source, mapping, second, progress=report)
        )

    async def _in_thread(self, job_id: str, function: Callable[[], T]) -> T:
        """Run a function in a thread, when the stopped one before it has ended."""

        def alone() -> T:
            with self._alone[job_id]:
                check_stopped()
                return function()

        return await in_thread(alone)

    def _reporter(self, job_id: str, files: list[OpenFile]) -> Callable[[int], None]:
        """What the reading thread calls with its byte offset. A workbook's size is unknown."""
        loop = asyncio.get_running_loop()
        sizes = [file.source.size if is_read_by_bytes(file.source) else 0 for file in files]
        total = sum(sizes) if all(sizes) else 0
        before, done, shown = 0, 0, 0.0

        def report(offset: int) -> None:
            nonlocal before, done, shown
            if offset < before:  # the next file begins
                done += before
            before = offset
            now = time.monotonic()
            if total and now - shown >= _SECONDS_BETWEEN_REPORTS:
                shown = now
                share = min(1.0, (done + offset) / total)  # the unpacked size of a packed file is an estimate
                loop.call_soon_threadsafe(self.progressed.emit, job_id, share)

        return report


class DraftSettings:
    """Writes changes of a job to the ledger; `is_saving` of its state is set until the last one is written."""

    def __init__(self, program: Program, drafts: DraftStates, reading: DraftReading) -> None:
        self._program, self._drafts, self._reading = program, drafts, reading
        self._unsaved: Counter[str] = Counter()  # changes that are not written yet, by job id
        self._changes = 0

    def change(
        self,
        job_id: str,
        *,
        kind: Kind | None = None,
        model: str | None = None,
        connection: str | None = None,
        options: JobOptions | None = None,
    ) -> None:
        change = partial(
            self._program.drafts.change, job_id, kind=kind, model=model, connection=connection, options=options
        )
        self._save(job_id, change, examine=bool(model or options))

    def rename(self, job_id: str, name: str) -> None:
        self._save(job_id, partial(self._program.drafts.rename, job_id, name), examine=False)

    def _save(self, job_id: str, change: Callable[[], Job], *, examine: bool) -> None:
        self._changes += 1  # a task name of its own for each: a later change must not cancel an earlier one
        self._unsaved[job_id] += 1
        self._drafts.set(job_id, replace(self._drafts.state(job_id), is_saving=True))
        self._drafts.tasks.start(f"change {self._changes}", self._write(job_id, change, examine=examine))

    async def _write(self, job_id: str, change: Callable[[], Job], *, examine: bool) -> None:
        try:
            await self._program.store.on_disk(change)
        finally:
            self._unsaved[job_id] -= 1
            self._drafts.set(job_id, replace(self._drafts.state(job_id), is_saving=self._unsaved[job_id] > 0))
        self._drafts.job_changed.emit(job_id)
        state = self._drafts.state(job_id)
        if examine and (state.is_read or state.trouble or state.is_reading):
            self._reading.start(job_id, state)


_Subject = tuple[Path, int, CandidateRule | None, Kind, str]  # with the bytes of the files, and the name of the model


class DraftOffers(QObject):
    def __init__(self, program: Program, drafts: DraftStates) -> None:
        super().__init__(drafts)
        self._program, self._drafts = program, drafts
        self._subjects: dict[str, _Subject] = {}
        drafts.changed.connect(self._look)

    def _look(self, job_id: str) -> None:
        state = self._drafts.state(job_id)
        if state.is_reading or state.opening:
            if not state.offers:
                self._subjects.pop(job_id, None)  # another file, or the draft was forgotten meanwhile
            return
        if state.file is None or state.file.source.candidates is None:
            self._subjects.pop(job_id, None)
            self._drafts.tasks.cancel(f"offers {job_id}")
            return
        subject = self._subject(job_id, state)
        if subject is not None and subject != self._subjects.get(job_id):
            self._subjects[job_id] = subject
            self._drafts.tasks.start(f"offers {job_id}", self._estimate(job_id, state, subject))

    def _subject(self, job_id: str, state: DraftState) -> _Subject | None:
        if state.file is None or state.mapping is None:
            return None
        source = state.file.source
        is_sample = source.candidates is not None and source.candidates.pool is CandidatePool.SAMPLE
        sample = source.candidates if is_sample else CandidateRule()
        return source.path, source.size, sample, state.mapping.kind, self._drafts.job(job_id).model

    async def _estimate(self, job_id: str, state: DraftState, subject: _Subject) -> None:
        if state.file is None:
            return
        offers = await in_thread(self._program.candidate_offers, job_id, state.file.source, subject[3])
        if self._subjects.get(job_id) == subject:
            self._drafts.set(job_id, replace(self._drafts.state(job_id), offers=offers))
