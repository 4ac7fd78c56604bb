"""The state of each draft that was shown, reading and examining them in threads, and what candidates come to."""

import asyncio
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import EncodingUnknown, UsageError, UserError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import (
    Kind,
    Mapping,
    ReadOptions,
    Role,
    Row,
    Source,
)
from cfbatch_gui.core.inputs.layouts import check_mapping, missing_file
from cfbatch_gui.core.inputs.readers.formats import is_read_by_bytes
from cfbatch_gui.core.inputs.recipes import FileKind
from cfbatch_gui.core.inputs.recognise.recogniser import as_guessed, open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import Spent
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.threads import check_stopped, in_thread
from cfbatch_gui.ui.state_names import DraftPhase, kept_phase
from cfbatch_gui.ui.tasks import Tasks

PREVIEW_ROWS = 200
MOST_PREVIEWED = 100_000  # rows, when more are asked for; they are in memory
DEFAULT_OPTIONS = ReadOptions()


@dataclass(frozen=True, slots=True)
class OpenFile:
    """`options` holds what the user has set; `likely` is the kind that the columns suggest.

    Files with an equal `seen_as` are of the same kind.
    """

    source: Source
    sample: tuple[Row, ...]
    options: ReadOptions
    as_ranking: Mapping
    as_texts: Mapping
    likely: Kind
    seen_as: FileKind

    def guess(self, kind: Kind | None) -> Mapping:
        return self.as_ranking if (kind or self.likely) is Kind.RANK else self.as_texts

    def with_chosen_encoding(self) -> "OpenFile":
        source = replace(self.source, is_encoding_guessed=False, other_encodings=())
        return replace(self, source=source, options=self.options.in_encoding(self.source.encoding))

    @property
    def path(self) -> Path:
        return self.source.path

    def with_doubtful(self, *, sent: bool) -> "OpenFile":
        return replace(
            self, source=replace(self.source, sends_doubtful=sent), options=replace(self.options, sends_doubtful=sent)
        )


def open_file(path: Path, options: ReadOptions = DEFAULT_OPTIONS) -> OpenFile:
    """Recognise a file and read its first rows; it may read all of a text file. Raises InputError, UsageError."""
    source = open_source(path, options)
    sample = preview(source, PREVIEW_ROWS)
    return OpenFile(
        source,
        sample,
        options,
        as_ranking=suggest_mapping(source, Kind.RANK, sample),
        as_texts=suggest_mapping(source, Kind.EMBED, sample),
        likely=suggest_mapping(source, None, sample).kind,
        seen_as=FileKind.of(source),
    )


@dataclass(frozen=True, slots=True)
class EncodingQuestion:
    """Which encoding the file is in; it is now read in that of its source."""

    file: OpenFile
    is_second: bool


@dataclass(frozen=True, slots=True)
class DraftState:
    """`is_read`: the job's data was read as `file`, `second` and `mapping` say.

    `opening` is the name of a file being recognised; `missing` says why it cannot be opened any more. `as_before`: the
    mapping chosen for the last file of this kind. `spent` is what was sent today.
    """

    kind: Kind | None = None  # None: neither chosen nor guessed yet
    is_chosen: bool = False  # the user chose the kind; otherwise the next file opened may change it
    file: OpenFile | None = None
    second: OpenFile | None = None
    mapping: Mapping | None = None
    question: EncodingQuestion | None = None
    opening: str = ""
    missing: str = ""
    is_saving: bool = False  # a change of the job's settings is being written
    is_reading: bool = False
    is_read: bool = False
    trouble: str = ""
    preflight: Preflight | None = None
    as_before: bool = False
    spent: Spent = field(default_factory=Spent)

    @property
    def has_data(self) -> bool:
        return self.file is not None or bool(self.missing)

    @property
    def incomplete(self) -> str:
        if self.file is None or self.mapping is None:
            return ""
        return check_mapping(self.mapping, self.file.source, self._second)

    @property
    def missing_file(self) -> Role | None:
        """What a second file could hold to complete the mapping."""
        return None if self.file is None or self.mapping is None else missing_file(self.mapping, self._second)

    @property
    def _second(self) -> Source | None:
        return self.second.source if self.second else None


class DraftStates(QObject):
    """The states of all drafts that were shown, in the loop's thread; the signals carry a job's id."""

    changed = Signal(str)
    job_changed = Signal(str)

    def __init__(self, program: Program, on_error: Callable[[UserError], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._program = program
        self._states: dict[str, DraftState] = {}
        self.current = ""  # the id of the draft that the page shows
        self.on_error = on_error
        self.tasks = Tasks(self, on_error)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._states

    def state(self, job_id: str) -> DraftState:
        return self._states.get(job_id, DraftState())

    def shown(self) -> tuple[str, DraftState]:
        return self.current, self.state(self.current)

    def phase(self, job_id: str) -> DraftPhase:
        state = self.state(job_id)
        if state.opening or state.is_reading:
            return DraftPhase.READING
        if state.question is not None or state.incomplete or state.trouble:
            return DraftPhase.INCOMPLETE
        return kept_phase(self.job(job_id))

    def job(self, job_id: str) -> Job:
        return self._program.ledger.job(job_id)

    def add(self, job_id: str, state: DraftState) -> None:
        self._states[job_id] = state

    def change(self, job_id: str, **changes: Any) -> None:
        self.set(job_id, replace(self.state(job_id), **changes))

    def set(self, job_id: str, state: DraftState) -> None:
        """Ignored for a draft that is not held, such as one deleted meanwhile."""
        if job_id in self._states:
            self._states[job_id] = state
            self.changed.emit(job_id)

    def forget(self, job_id: str) -> None:
        self.tasks.cancel(f"open {job_id}")
        self.tasks.cancel(f"read {job_id}")
        self._states.pop(job_id, None)


_SECONDS_BETWEEN_REPORTS = 0.05
T = TypeVar("T")


class DraftReading(QObject):
    """Reads and examines drafts in threads, and writes changes of their jobs to the ledger.

    A new reading of a draft starts when the stopped thread of the one before has ended: both write the same data.
    `progressed` carries a share of bytes, 0 to 1.
    """

    progressed = Signal(str, float)

    def __init__(self, program: Program, drafts: DraftStates) -> None:
        super().__init__(drafts)
        self._program, self._drafts = program, drafts
        self._alone: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # by job
        self._unsaved: Counter[str] = Counter()  # changes that are not written yet, by job id
        self._changes = 0

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

    def change(self, job_id: str, **changes: Any) -> None:
        """Change `kind`, `model`, `connection` or `options` of its job."""
        examine = "model" in changes or "options" in changes
        self._save(job_id, partial(self._program.drafts.change, job_id, **changes), examine=examine)

    def rename(self, job_id: str, name: str) -> None:
        self._save(job_id, partial(self._program.drafts.rename, job_id, name), examine=False)

    def _save(self, job_id: str, change: Callable[[], Job], *, examine: bool) -> None:
        self._changes += 1  # a task name of its own for each: a later change must not cancel an earlier one
        self._unsaved[job_id] += 1
        self._drafts.change(job_id, is_saving=True)
        self._drafts.tasks.start(f"change {self._changes}", self._write(job_id, change, examine=examine))

    async def _write(self, job_id: str, change: Callable[[], Job], *, examine: bool) -> None:
        try:
            await self._program.store.on_disk(change)
        finally:
            self._unsaved[job_id] -= 1
            self._drafts.change(job_id, is_saving=self._unsaved[job_id] > 0)
        self._drafts.job_changed.emit(job_id)
        state = self._drafts.state(job_id)
        if examine and (state.is_read or state.trouble or state.is_reading):
            self.start(job_id, state)

    async def _read(self, job_id: str) -> None:
        drafts = self._drafts
        try:
            if not drafts.state(job_id).is_read:
                await self._load(job_id)
                drafts.change(job_id, is_read=True)
                drafts.job_changed.emit(job_id)
            preflight = await self._in_thread(job_id, partial(self._program.examine, job_id))
            spent = await asyncio.to_thread(self._program.spent_today)
        except UserError as error:
            drafts.change(job_id, is_reading=False, preflight=None, trouble=error.message)
            if not isinstance(error, UsageError):
                raise
            return
        drafts.change(job_id, is_reading=False, preflight=preflight, spent=spent)

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
