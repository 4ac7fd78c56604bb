"""The drafts that were shown: reading and examining them in threads, and what the user chooses for them."""

import asyncio
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import EncodingUnknown, UsageError, UserError
from cfbatch_gui.core.inputs.file_rows import preview, preview_beyond_ascii
from cfbatch_gui.core.inputs.input_values import CandidateRule, Kind, Layout, Mapping, ReadOptions, Role, Split
from cfbatch_gui.core.inputs.layouts import with_layout, with_role, with_template
from cfbatch_gui.core.inputs.readers.formats import is_read_by_bytes
from cfbatch_gui.core.inputs.recipes import Recipe, fitted
from cfbatch_gui.core.inputs.recognise.recogniser import as_guessed
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.reuse import NOTHING
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.files import sha256_of
from cfbatch_gui.core.system.threads import check_stopped, in_thread
from cfbatch_gui.core.versions import choose_predecessor, look_at_version
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.inputs.draft_files import (
    DEFAULT_OPTIONS,
    MOST_PREVIEWED,
    DraftState,
    OpenFile,
    guess_for_two,
    open_file,
    read_as_remembered,
    read_by_recipe,
    remember_choice,
)
from cfbatch_gui.ui.state_names import DraftPhase, kept_phase
from cfbatch_gui.ui.tasks import Tasks

_SECONDS_BETWEEN_REPORTS = 0.05
T = TypeVar("T")


def new_job_name() -> str:
    return tr("New job")


def name_of_file(stem: str) -> str:
    """A file's name as a person would write it: "help-centre_ranking" is "Help centre ranking", "2024-05-01" stays."""
    name = re.sub(r"(?<!\d)[-_]+|[-_]+(?!\d)", " ", stem).strip()
    return f"{name[:1].upper()}{name[1:]}" if name else stem


class Drafts(QObject):
    """The state of each draft that was shown, in the loop's thread, and what changes it.

    A new reading of a draft starts when the stopped thread of the one before has ended: both write the same data. A
    file that cannot be opened leaves the draft as it was. What is chosen is remembered for files of the same kind.

    The signals carry a job's id; `job_changed`: what the ledger has of it; `progressed`: a share of bytes, 0 to 1.
    """

    changed = Signal(str)
    job_changed = Signal(str)
    progressed = Signal(str, float)

    def __init__(self, program: Program, on_error: Callable[[UserError], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.program, self.on_error = program, on_error
        self.tasks = Tasks(self, on_error)
        self.current = ""  # the id of the draft that the page shows
        self._states: dict[str, DraftState] = {}
        self._alone: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # by job
        self._writes = 0

    # The states

    def state(self, job_id: str) -> DraftState:
        return self._states.get(job_id, DraftState())

    @property
    def shown(self) -> DraftState:
        return self.state(self.current)

    def job(self, job_id: str = "") -> Job:
        return self.program.ledger.job(job_id or self.current)

    def model(self) -> ModelMetadata:
        job = self.job()
        return self.program.connections.models(job.connection).find(job.model)

    def phase(self, job: Job) -> DraftPhase:
        state = self.state(job.id)
        if state.opening or state.is_reading:
            return DraftPhase.READING
        if state.asked is not None or state.incomplete or state.trouble:
            return DraftPhase.INCOMPLETE
        return kept_phase(self.job(job.id) if job.id in self._states else job)  # a list may have it as it was

    def change(self, job_id: str, **changes: Any) -> None:
        self.set(job_id, replace(self.state(job_id), **changes))

    def set(self, job_id: str, state: DraftState) -> None:
        """Ignored for a draft that is not held, such as one deleted meanwhile."""
        if job_id in self._states:
            self._states[job_id] = state
            self.changed.emit(job_id)

    def begin(self, job_id: str) -> None:
        """Hold a draft that is shown; the first time, the file it was made from is opened again."""
        self.current = job_id
        if job_id not in self._states:
            self._states[job_id] = DraftState(opening=self.job().source_name)
            self.tasks.start(f"open {job_id}", self._reopen(job_id))

    def forget(self, job_id: str) -> None:
        self.tasks.cancel(f"open {job_id}")
        self.tasks.cancel(f"read {job_id}")
        self._states.pop(job_id, None)

    # Reading

    def read(self, job_id: str, state: DraftState) -> None:
        state = replace(state, trouble="", opening="")
        if state.incomplete:
            self.tasks.cancel(f"read {job_id}")
            self.set(job_id, replace(state, is_reading=False, preflight=None))
            return
        self.set(job_id, replace(state, is_reading=True))
        self.tasks.start(f"read {job_id}", self._read(job_id))

    def retry(self) -> None:
        self.read(self.current, self.shown)

    async def _read(self, job_id: str) -> None:
        try:
            if not self.state(job_id).is_read:
                await self._load(job_id)
                self.change(job_id, is_read=True)
                self.job_changed.emit(job_id)
            preflight = await self._in_thread(job_id, partial(self.program.examine, job_id))
            spent = await asyncio.to_thread(self.program.spent_today)
        except UserError as error:
            self.change(job_id, is_reading=False, preflight=None, trouble=error.message)
            if not isinstance(error, UsageError):
                raise
            return
        self.change(job_id, is_reading=False, preflight=preflight, spent=spent)
        await self._look_at_version(job_id, preflight)

    async def _look_at_version(self, job_id: str, found: Preflight) -> None:
        job, jobs = self.job(job_id), self.program.ledger.jobs()
        if any(each.is_sent and each.id != job_id for each in jobs):
            reusable = found.reuse.found if found.reuse else NOTHING
            version = await asyncio.to_thread(look_at_version, job, jobs, self.program.folder, reusable)
            if self.state(job_id).preflight is found:
                self.change(job_id, version=version)

    async def _load(self, job_id: str) -> None:
        try:
            await self._load_as_opened(job_id)
        except EncodingUnknown as error:
            state = self.state(job_id)
            file, second = (_as_guessed(each, error) for each in (state.file, state.second))
            if (file, second) == (state.file, state.second):
                raise
            self.set(job_id, replace(state, file=file, second=second))
            await self._load_as_opened(job_id)

    async def _load_as_opened(self, job_id: str) -> None:
        state = self.state(job_id)
        file, mapping = state.file, state.mapping
        if file is None or mapping is None:
            raise UsageError(self.tr("Choose the file again."))
        report = self._reporter(job_id, [each for each in (state.second, file) if each])
        load = partial(self.program.drafts.load, job_id, file.source, mapping, state.second_source, progress=report)
        await self._in_thread(job_id, load)

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

    # The job's settings

    def change_job(self, **changes: Any) -> None:
        """Change `kind`, `model`, `connection` or `options` of the job that is shown."""
        change = partial(self.program.drafts.change, self.current, **changes)
        self._change_job(self.current, change, examines=bool({"model", "options"} & set(changes)))

    def change_options(self, **changes: Any) -> None:
        self.change_job(options=replace(self.job().options, **changes))

    def _change_job(self, job_id: str, change: Callable[[], Job], *, examines: bool) -> None:
        self.change(job_id, unsaved=self.state(job_id).unsaved + 1)
        self._write("change", self._written(job_id, change, examines=examines))

    def _write(self, what: str, writing: Coroutine[Any, Any, None]) -> None:
        self._writes += 1  # a task name of its own for each: a later one must not cancel an earlier one
        self.tasks.start(f"{what} {self._writes}", writing)

    async def _written(self, job_id: str, change: Callable[[], Job], *, examines: bool) -> None:
        try:
            await self.program.store.on_disk(change)
        finally:
            self.change(job_id, unsaved=max(0, self.state(job_id).unsaved - 1))
        self.job_changed.emit(job_id)
        state = self.state(job_id)
        if examines and (state.is_read or state.trouble or state.is_reading):
            self.read(job_id, state)

    def compare_with(self, other: str) -> None:
        """Take the job `other`, or none with "", for the version before the draft that is shown."""
        self.tasks.start(f"compare {self.current}", self._compare(self.current, other))

    async def _compare(self, job_id: str, other: str) -> None:
        await asyncio.to_thread(choose_predecessor, self.program.folder(job_id), other)
        if (found := self.state(job_id).preflight) is not None:
            await self._look_at_version(job_id, found)

    def send_anew(self, items: Sequence[int], *, anew: bool) -> None:
        """Without `anew` take back all that was chosen so."""
        self.tasks.start(f"anew {self.current}", self._send_anew(self.current, items, anew))

    async def _send_anew(self, job_id: str, items: Sequence[int], anew: bool) -> None:
        await asyncio.to_thread(self.program.drafts.send_anew, job_id, items, anew=anew)
        self.read(job_id, self.state(job_id))

    # The files

    def open(self, job_id: str, path: Path, second: Path | None = None) -> asyncio.Future[None]:
        """What is returned is done when the files are recognised or cannot be."""
        return self._open(job_id, path, second=(second, DEFAULT_OPTIONS) if second else None)

    def add(self, job_id: str, path: Path, holds: Role) -> None:
        """Open a second file: of contexts, or of the queries for the texts that are open."""
        if holds is Role.CONTEXT:
            self._open(job_id, path, is_second=True)
        elif (texts := self.state(job_id).file) is not None:
            self._open(job_id, path, second=(texts.path, texts.options))

    def reread(self, *, second: bool, **changes: Any) -> None:
        """Read a file with other options. Other rows may be doubtful then, about which nobody has decided."""
        if (file := self.shown.opened(second=second)) is not None:
            options = replace(file.options, **changes, sends_doubtful=False)
            self._open(self.current, file.path, options, is_second=second)

    def choose_doubtful(self, sends: bool) -> None:
        state = self.shown
        if state.file is None:
            self.on_error(UsageError(self.tr("Choose the file again first: its rows have to be read for that.")))
            return
        file = state.file.with_doubtful(sent=sends)
        second = state.second.with_doubtful(sent=sends) if state.second else None
        self.read(self.current, replace(state, file=file, second=second, is_read=False))

    def choose_candidates(self, rule: CandidateRule) -> None:
        if (file := self.shown.file) is not None and rule != file.source.candidates:
            self.reread(second=False, candidates=rule)

    def remove_second(self) -> None:
        state = self.shown
        if state.file is not None:
            self.read(self.current, replace(state, second=None, mapping=state.file.guesses[Kind.RANK], is_read=False))

    def ask_encoding(self, *, second: bool | None = False) -> None:
        """Ask for the encoding of a file; None takes the question back."""
        self.change(self.current, asks_second=second)

    def answer_encoding(self, codec: str) -> None:
        state = self.shown
        if (file := state.asked) is not None:
            self._open(self.current, file.path, file.options.in_encoding(codec), is_second=bool(state.asks_second))

    async def peek(self, file: OpenFile, codec: str) -> OpenFile:
        """The file in another encoding, rows first that tell encodings apart. Raises InputError."""
        opened = await asyncio.to_thread(open_file, file.path, file.options.in_encoding(codec))
        return replace(opened, sample=await asyncio.to_thread(preview_beyond_ascii, opened.source))

    def show_more(self, *, second: bool) -> None:
        if (file := self.shown.opened(second=second)) is not None:
            self.tasks.start(f"more {self.current}", self._show_more(self.current, file))

    async def _show_more(self, job_id: str, file: OpenFile) -> None:
        limit = min(MOST_PREVIEWED, len(file.sample) * 10)
        more = replace(file, sample=await asyncio.to_thread(preview, file.source, limit))
        state = self.state(job_id)
        if state.file is file:
            self.change(job_id, file=more)
        elif state.second is file:
            self.change(job_id, second=more)

    def _open(
        self,
        job_id: str,
        path: Path,
        options: ReadOptions = DEFAULT_OPTIONS,
        *,
        is_second: bool = False,
        second: tuple[Path, ReadOptions] | None = None,
    ) -> asyncio.Future[None]:
        self.change(job_id, opening=path.name)
        return self.tasks.start(f"open {job_id}", self._open_one(job_id, path, options, is_second, second))

    async def _open_one(
        self, job_id: str, path: Path, options: ReadOptions, is_second: bool, second: tuple[Path, ReadOptions] | None
    ) -> None:
        try:
            opened = await asyncio.to_thread(open_file, path, options)
        except UserError:
            self.change(job_id, opening="")
            raise
        if is_second:
            await self._take_second(job_id, opened)
            return
        await self._take(job_id, opened, will_rank=second is not None)
        if second is not None:
            await self._open_one(job_id, *second, True, None)

    async def _take(self, job_id: str, opened: OpenFile, *, will_rank: bool) -> None:
        before = self.state(job_id)
        same = before.file if before.file is not None and before.file.path == opened.path else None
        second = before.second if same else None  # its contexts belong to the queries of the file before
        guess, is_as_before = None, False
        if same is not None:
            opened = replace(opened, seen_as=same.seen_as)
        elif not will_rank and (known := await self._as_before(opened, before.kind if before.is_chosen else None)):
            (opened, guess), is_as_before = known, True
        if second is not None:
            guess = await asyncio.to_thread(guess_for_two, opened, second)
        state = self.state(job_id)
        mapping = state.mapping if same and same.columns == opened.columns else None
        kind = state.kind if same or state.is_chosen else None
        mapping = mapping or guess or opened.guesses[Kind.RANK if will_rank else kind]
        fresh = replace(state, kind=mapping.kind, file=opened, second=second, mapping=mapping, as_before=is_as_before)
        self.read(job_id, replace(fresh, asks_second=None, missing="", is_read=False))
        if same is not None and same.options != opened.options:
            self._remember(job_id)
        if same is None and not (will_rank and before.file):  # queries for a file are no other file
            self._name_after(job_id, opened.path, before.file.path if before.file is not None else None)

    def _name_after(self, job_id: str, path: Path, before: Path | None) -> None:
        given = {new_job_name(), name_of_file(before.stem) if before is not None else ""}
        if self.job(job_id).name in given:
            rename = partial(self.program.drafts.rename, job_id, name_of_file(path.stem))
            self._change_job(job_id, rename, examines=False)

    async def _take_second(self, job_id: str, opened: OpenFile) -> None:
        first = self.state(job_id).file
        if first is None:
            return
        guess, is_as_before = await asyncio.to_thread(guess_for_two, first, opened), False
        if known := await self._as_before(first, Kind.RANK, opened):
            (first, guess), is_as_before = known, True
        state = self.state(job_id)
        mapping = state.mapping if state.second and state.second.columns == opened.columns else None
        fresh = replace(state, kind=Kind.RANK, file=first, second=opened, mapping=mapping or guess)
        as_before = is_as_before and mapping is None
        self.read(job_id, replace(fresh, as_before=as_before, asks_second=None, is_read=False))

    async def _as_before(
        self, opened: OpenFile, kind: Kind | None, second: OpenFile | None = None
    ) -> tuple[OpenFile, Mapping] | None:
        return await asyncio.to_thread(read_as_remembered, self.program.recipes, opened, kind, second)

    async def _reopen(self, job_id: str) -> None:
        folder, job = self.program.folder(job_id), self.job(job_id)
        draft = await asyncio.to_thread(folder.draft)
        if draft is None:
            self.change(job_id, opening="")
            return
        state = DraftState(kind=draft.mapping.kind, mapping=draft.mapping)
        path, second = Path(draft.path), None
        try:
            file = await asyncio.to_thread(open_file, path, draft.options)
            if draft.second_path:
                second = await asyncio.to_thread(open_file, Path(draft.second_path), draft.second_options)
            sha256 = await asyncio.to_thread(lambda: "" if path.is_dir() else sha256_of(path))
        except UserError as error:
            self.read(job_id, replace(state, missing=error.message, is_read=folder.data.exists()))
            return
        is_same_file = sha256 != "" and sha256 == job.source_sha256
        if not is_same_file:
            file = file.with_doubtful(sent=False)  # other rows than those that the user has seen
        state = replace(state, file=file, second=second)
        if state.incomplete:  # the file has other columns than before
            state = replace(state, second=None, mapping=file.guesses[draft.mapping.kind])
        # No hash is stored of a second file or a folder: they are read again, and so is a first file that has changed.
        is_read = second is None and is_same_file and folder.data.exists()
        self.read(job_id, replace(state, is_read=is_read and state.mapping == draft.mapping))

    # What the columns are for

    def choose_kind(self, kind: Kind) -> None:
        state = self.shown
        if state.kind is kind:
            return
        if state.missing:
            self.on_error(UsageError(self.tr("Choose the file again first: its columns are needed for that.")))
            self.changed.emit(self.current)
        elif state.file is None:
            self.change(self.current, kind=kind, is_chosen=True)
            self.change_job(kind=kind)
        else:
            mapping = state.file.guesses[kind]
            self._choose(self.current, kind=kind, is_chosen=True, second=None, mapping=mapping, is_read=False)

    def choose_role(self, column: int, role: Role, *, second: bool = False) -> None:
        if (mapping := self.shown.mapping) is not None:
            mapping = with_role(mapping, column, role, second=second)
            is_text = role in (Role.TEXT, Role.CONTEXT)  # this column alone, then
            self.choose_mapping(template="" if is_text else mapping.template, mapping=mapping)

    def choose_layout(self, layout: Layout) -> None:
        if (mapping := self.shown.mapping) is not None:
            mapping = with_layout(mapping, layout)
            has_columns = layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED)
            self.choose_mapping(template="" if has_columns else mapping.template, mapping=mapping)

    def choose_template(self, template: str) -> None:
        if (mapping := self.shown.mapping) is not None:
            self.choose_mapping(mapping=with_template(mapping, template))

    def split_for_model(self) -> None:
        """Cut what the model does not read whole."""
        tokens = self.model().max_tokens
        self.choose_mapping(split=Split(tokens * 15 // 16, tokens // 16))

    def choose_mapping(self, mapping: Mapping | None = None, **changes: Any) -> None:
        """Change the mapping, or one that comes instead of it."""
        state = self.shown
        if state.mapping is not None:
            mapping = replace(mapping or state.mapping, **changes)
            self._choose(self.current, mapping=mapping, is_read=state.is_read and mapping == state.mapping)

    def use_recipe(self, recipe: Recipe) -> None:
        self.tasks.start(f"open {self.current}", self._use_recipe(self.current, recipe))

    def suggest_again(self) -> None:
        """Look at the file as if it were the first of its kind."""
        state = self.shown
        if state.file is not None:
            self.change(self.current, as_before=False)
            self.tasks.start(f"open {self.current}", self._suggest_again(self.current, state.file, state.second))

    def _choose(self, job_id: str, **changes: Any) -> None:
        self.read(job_id, replace(self.state(job_id), as_before=False, **changes))
        self._remember(job_id)

    def _remember(self, job_id: str) -> None:
        writing = self.program.store.on_disk(remember_choice, self.program.recipes, self.state(job_id))
        self._write("remember", writing)

    async def _use_recipe(self, job_id: str, recipe: Recipe) -> None:
        state = self.state(job_id)
        file = state.file
        if file is None:
            return
        if found := await asyncio.to_thread(read_by_recipe, recipe, file, state.second):
            file, mapping = found
        else:  # the columns may fit although the mapping is incomplete; the page then says what is missing
            fit = fitted(recipe, file.columns, state.second_columns)
            if isinstance(fit, str):
                raise UsageError(self.tr("The recipe does not fit this file. {why}").format(why=fit))
            mapping = fit
        self._choose(job_id, kind=mapping.kind, file=file, mapping=mapping, is_read=False)

    async def _suggest_again(self, job_id: str, file: OpenFile, second: OpenFile | None) -> None:
        forget = self.program.recipes.remember
        await asyncio.to_thread(forget, file.seen_as, second.seen_as if second else None, None)
        options = DEFAULT_OPTIONS.encoded_as(file.options)  # the encoding is the file's own
        if file.options != options:
            file = replace(await asyncio.to_thread(open_file, file.path, options), seen_as=file.seen_as)
        mapping = await asyncio.to_thread(guess_for_two, file, second) if second else file.guesses[None]
        fresh = replace(self.state(job_id), kind=mapping.kind, file=file, mapping=mapping)
        self.read(job_id, replace(fresh, as_before=False, is_read=False))


def _as_guessed(file: OpenFile | None, error: EncodingUnknown) -> OpenFile | None:
    if file is None:
        return None
    source = as_guessed(file.source, error)
    if source == file.source:
        return file
    others = source.other_encodings if source.is_encoding_guessed else None
    return replace(file, source=source, options=file.options.in_encoding(source.encoding, others=others))
