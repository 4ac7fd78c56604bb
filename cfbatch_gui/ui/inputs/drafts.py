"""The drafts that were shown: their files, reading and examining them in threads, and what the user chooses."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.inputs import input_values
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Layout, Mapping, ReadOptions, Role, Source, Split
from cfbatch_gui.core.inputs.layouts import swapped, with_layout, with_role, with_template
from cfbatch_gui.core.inputs.readers.formats import is_read_by_bytes
from cfbatch_gui.core.inputs.recipes import Recipe, fitted
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.matches import count_lists
from cfbatch_gui.core.system.threads import check_stopped, in_thread
from cfbatch_gui.core.versions import choose_predecessor, look_at_version
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.ui.inputs import draft_state
from cfbatch_gui.ui.inputs.draft_state import DEFAULT_OPTIONS, DraftState, Files, OpenFile, open_file
from cfbatch_gui.ui.notices import Notices, Undo
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.words.states import DraftPhase, kept_phase

T = TypeVar("T")
P = ParamSpec("P")
D = TypeVar("D", bound="Drafts")
Work = Coroutine[Any, Any, None]


def task(what: str) -> Callable[[Callable[Concatenate[D, str, P], Work]], Callable[Concatenate[D, P], None]]:
    """A method that takes a job's id first is called without it, and begins as a task for the draft that is shown."""

    def decorated(work: Callable[Concatenate[D, str, P], Work]) -> Callable[Concatenate[D, P], None]:
        def start(drafts: D, /, *arguments: P.args, **named: P.kwargs) -> None:
            drafts.tasks.start(f"{what} {drafts.current}", work(drafts, drafts.current, *arguments, **named))

        return start

    return decorated


class Drafts(QObject):
    """The state of each draft that was shown, in the loop's thread, and what changes it.

    A new reading of a draft starts when the stopped thread of the one before has ended: both write the same data. A
    file that cannot be opened leaves the draft as it was. Roles are those of the last job with the same columns.

    The signals carry a job's id; `job_changed`: what the ledger has of it; `progressed`: a share of bytes, 0 to 1.
    """

    changed = Signal(str)
    job_changed = Signal(str)
    progressed = Signal(str, float)

    def __init__(
        self, program: Program, notices: Notices, on_error: Callable[[UserError], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self.program, self.notices, self.on_error = program, notices, on_error
        self.tasks = Tasks(self, on_error)
        self.current = ""  # the id of the draft that the page shows
        self._states: dict[str, DraftState] = {}
        self._alone: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # by job
        self._undos: defaultdict[str, list[Undo]] = defaultdict(list)  # that stand until the job is sent
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
        if state.incomplete or state.trouble or state.wants_second_list(self.job(job.id)):
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
            job = self.job()
            is_chosen = job.options.purpose is not None
            self._states[job_id] = DraftState(
                kind=job.kind if is_chosen else None, is_chosen=is_chosen, opening=job.source_name
            )
            self.tasks.start(f"open {job_id}", self._reopen(job_id))

    def forget(self, job_id: str) -> None:
        self.tasks.cancel(f"open {job_id}")
        self.tasks.cancel(f"read {job_id}")
        self._states.pop(job_id, None)
        for undo in self._undos.pop(job_id, ()):
            self.notices.undos.withdraw(undo)

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
            is_lists, folder = self.state(job_id).is_lists, self.program.folder(job_id)
            lists = await self._in_thread(job_id, partial(count_lists, folder)) if is_lists else None
            spent = await asyncio.to_thread(self.program.spent_today)
        except UserError as error:
            self.change(job_id, is_reading=False, preflight=None, trouble=error.message)
            if not isinstance(error, UsageError):
                raise
            return
        self.change(job_id, is_reading=False, preflight=preflight, lists=lists, spent=spent)
        await self._look_at_version(job_id, preflight)

    async def _look_at_version(self, job_id: str, found: Plan) -> None:
        job, jobs = self.job(job_id), self.program.ledger.jobs()
        if any(each.is_sent and each.id != job_id for each in jobs):
            version = await asyncio.to_thread(look_at_version, job, jobs, self.program.folder, found.earlier)
            if self.state(job_id).preflight is found:
                self.change(job_id, version=version)

    async def _load(self, job_id: str) -> None:
        state = self.state(job_id)
        if state.file is None or state.mapping is None:
            raise UsageError(self.tr("Choose the file again."))
        source, second = draft_state.sources_of(state.files)
        report = self._reporter(job_id, max(source, second or source, key=lambda each: each.size))
        load = partial(self.program.drafts.load, job_id, source, state.mapping, second, progress=report)
        await self._in_thread(job_id, load)

    async def _in_thread(self, job_id: str, function: Callable[[], T]) -> T:
        """Run a function in a thread, when the stopped one before it has ended."""

        def alone() -> T:
            with self._alone[job_id]:
                check_stopped()
                return function()

        return await in_thread(alone)

    def _reporter(self, job_id: str, largest: Source) -> Callable[[int], None] | None:
        """What the reading thread calls with its byte offset. A workbook's size is unknown."""
        if not (largest.size and is_read_by_bytes(largest)):
            return None
        loop = asyncio.get_running_loop()

        def report(offset: int) -> None:
            share = min(1.0, offset / largest.size)  # the unpacked size of a packed file is an estimate
            loop.call_soon_threadsafe(self.progressed.emit, job_id, share)

        return report

    # The job's settings

    def change_job(self, **changes: Any) -> None:
        """Change `kind`, `model`, `connection` or `options` of the job that is shown."""
        change = partial(self.program.drafts.change, self.current, **changes)
        self._change_job(self.current, change, examines=bool({"model", "options"} & set(changes)))

    def change_options(self, **changes: Any) -> None:
        self.change_job(options=replace(self.job().options, **changes))

    def choose_matching(self, job_id: str = "", **changes: Any) -> None:
        """Change how two lists are matched; nothing is read or sent anew."""
        job_id = job_id or self.current

        def change() -> Job:
            matching = replace(self.job(job_id).options.matching, **changes)
            return self.program.drafts.use_for(job_id, matching=matching)

        self._change_job(job_id, change, examines=False)

    def _set_purpose(self, job_id: str, purpose: Purpose | None) -> None:
        if purpose is not self.job(job_id).options.purpose:
            use = partial(self.program.drafts.use_for, job_id, purpose=purpose)
            self._change_job(job_id, use, examines=False)

    def _change_job(self, job_id: str, change: Callable[[], Job], *, examines: bool) -> None:
        self.change(job_id, unsaved=self.state(job_id).unsaved + 1)
        self._writes += 1  # a task name of its own for each: a later one must not cancel an earlier one
        self.tasks.start(f"change {self._writes}", self._written(job_id, change, examines=examines))

    async def _written(self, job_id: str, change: Callable[[], Job], *, examines: bool) -> None:
        try:
            await self.program.store.on_disk(change)
        finally:
            self.change(job_id, unsaved=max(0, self.state(job_id).unsaved - 1))
        self.job_changed.emit(job_id)
        state = self.state(job_id)
        if examines and (state.is_read or state.trouble or state.is_reading):
            self.read(job_id, state)

    @task("compare")
    async def compare_with(self, job_id: str, other: str) -> None:
        """Take the job `other`, or none with "", for the version before the draft."""
        await asyncio.to_thread(choose_predecessor, self.program.folder(job_id), other)
        if (found := self.state(job_id).preflight) is not None:
            await self._look_at_version(job_id, found)

    @task("anew")
    async def send_anew(self, job_id: str, items: Sequence[int], *, anew: bool) -> None:
        """Without `anew` take back all that was chosen so."""
        await asyncio.to_thread(self.program.drafts.send_anew, job_id, items, anew=anew)
        self.read(job_id, self.state(job_id))

    # The files

    def open(
        self, job_id: str, *files: OpenFile | Path, options: ReadOptions = DEFAULT_OPTIONS
    ) -> asyncio.Future[None]:
        """What is returned is done when the files are recognised or cannot be."""
        opening = next(each.name for each in files if isinstance(each, Path))
        state = self.state(job_id)
        if len(files) == 1 and not state.files and self.job(job_id).options.purpose is Purpose.CATEGORIES:
            files = (*files, *state.aside)
        return self._open(job_id, opening, self._take(job_id, files, options))

    def add(self, job_id: str, path: Path, holds: Role) -> None:
        """Open a second file: of contexts, or of the queries for the texts that are open."""
        for file in self.state(job_id).files[:1]:
            self.open(job_id, *((file, path) if holds is Role.CONTEXT else (path, file)))

    def put(self, job_id: str, at: int, path: Path, options: ReadOptions = DEFAULT_OPTIONS) -> asyncio.Future[None]:
        """Open a file as list A (0) or list B (1), beside the other one."""
        files: list[OpenFile | Path] = [*self.state(job_id).files]
        files[at : at + 1] = [path]
        return self.open(job_id, *files, options=options)

    def add_sheet(self, sheet: str) -> None:
        """Take another sheet of the workbook of list A as list B."""
        for file in self.shown.files[:1]:
            self.put(self.current, 1, file.path, replace(file.options, sheet=sheet, has_header=None))

    def relate(self) -> None:
        """Take the list itself for list B: its rows are compared among each other."""
        self.change(self.current, is_related=True)

    @task("open")
    async def type_categories(self, job_id: str, typed: str) -> None:
        """Take what is typed for list B, or once there is a list A."""
        self.tasks.cancel(f"read {job_id}")
        folder = self.program.folder(job_id).path
        file = await self._in_thread(job_id, partial(draft_state.typed_categories, folder, typed))
        before = self.state(job_id)
        if before.file is None:
            self.change(job_id, aside=(file,) if file is not None else ())
            return
        files = (before.file, *((file,) if file is not None else ()))
        mapping = await asyncio.to_thread(draft_state.guessed, files, before.kind)
        self._use(job_id, files, draft_state.kept(mapping, files, before) if file is not None else mapping)

    def swap(self) -> None:
        state = self.shown
        if state.second is not None and state.mapping is not None:
            mapping = swapped(state.mapping)
            self.read(self.current, replace(state, files=state.files[::-1], mapping=mapping, is_read=False))

    def reread(self, at: int, **changes: Any) -> None:
        """Read a file with other options. Other rows may be doubtful then, about which nobody has decided."""
        file = self.shown.files[at]
        options = replace(file.options, **changes, sends_doubtful=False)
        self._open(self.current, file.path.name, self._take_again(self.current, at, options))

    def choose_doubtful(self, sends: bool) -> None:
        state = self.shown
        if not state.files:
            self.on_error(UsageError(self.tr("Choose the file again first: its rows have to be read for that.")))
            return
        files = tuple(each.with_doubtful(sent=sends) for each in state.files)
        self.read(self.current, replace(state, files=files, is_read=False))

    def choose_candidates(self, rule: input_values.CandidateRule) -> None:
        if (file := self.shown.file) is not None and rule != file.source.candidates:
            self.reread(0, candidates=rule)

    def remove_second(self) -> None:
        state = self.shown
        if state.file is not None:
            self._use(self.current, state.files[:1], draft_state.guessed(state.files[:1], state.kind))

    @task("more")
    async def show_more(self, job_id: str, at: int) -> None:
        file = self.state(job_id).files[at]
        limit = min(draft_state.MOST_PREVIEWED, len(file.sample) * 10)
        more = replace(file, sample=await asyncio.to_thread(preview, file.source, limit))
        files = self.state(job_id).files
        self.change(job_id, files=tuple(more if each is file else each for each in files))

    def _open(self, job_id: str, name: str, work: Work) -> asyncio.Future[None]:
        self.change(job_id, opening=name)
        return self.tasks.start(f"open {job_id}", work)

    async def _opened(self, job_id: str, opening: Callable[[], OpenFile]) -> OpenFile:
        try:
            return await asyncio.to_thread(opening)
        except UserError:
            self.change(job_id, opening="")
            raise

    async def _take(self, job_id: str, wanted: Sequence[OpenFile | Path], options: ReadOptions) -> None:
        files: Files = ()
        for each in wanted:
            file = each if isinstance(each, OpenFile) else await self._opened(job_id, partial(open_file, each, options))
            files = (*files, file)
        before, job = self.state(job_id), self.job(job_id)
        is_added = any(isinstance(each, OpenFile) for each in wanted)
        kind = before.kind if before.is_chosen or is_added else None
        if kind is None:
            files = await asyncio.to_thread(draft_state.in_order, files)
        mapping, suggested = await asyncio.to_thread(draft_state.mapped, self.program, files, kind)
        mapping, suggested = (draft_state.kept(each, files, before) for each in (mapping, suggested))
        if before.missing and before.is_read and files[0].path.name != job.source_name:
            await self._keep_copy(job_id)
        self._use(job_id, files, mapping)
        purpose = job.options.purpose
        if kind is None or (mapping.layout is Layout.LISTS and not (purpose and purpose.takes_lists)):
            self._set_purpose(job_id, draft_state.proposed(files, mapping))
        if mapping != suggested:
            undo = self.notices.show_undo(
                self.tr("Read as you chose for the last file that was built like this one."),
                self.tr("Undo reading the file like the one before"),
                partial(self._suggest_again, job_id),
            )
            self._undos[job_id].append(undo)
        self._tell_of_other(job, before)

    def _tell_of_other(self, job: Job, before: DraftState) -> None:
        """Offer to take back that a file came instead of another one, and name the job after a first file."""
        state = self.state(job.id)
        known, used = [each.path for each in before.files], [each.path for each in state.files]
        if used[0] not in known and (state.is_lists or not set(used) & set(known)):
            self._name_after(job.id, used[0], known[0] if known else None)
        new, old = [each for each in used if each not in known], [each for each in known if each not in used]
        if new and old:
            names = {"new": new[0].name, "old": old[0].name}
            undo = self.notices.show_undo(
                self.tr("“{new}” is used instead of “{old}”.").format(**names),
                self.tr("Undo using “{new}”").format(**names),
                partial(self._put_back, job, before),
            )
            self._undos[job.id].append(undo)

    def _put_back(self, job: Job, before: DraftState) -> None:
        self.tasks.cancel(f"open {job.id}")
        self.read(job.id, replace(before, is_read=False))
        self._change_job(job.id, partial(self.program.drafts.rename, job.id, job.name), examines=False)
        self._set_purpose(job.id, job.options.purpose)

    async def _keep_copy(self, job_id: str) -> None:
        """Of data whose file is gone, which could not be read again."""
        name = self.tr("{name}, before").format(name=self.job(job_id).name)
        copy = await asyncio.to_thread(self.program.drafts.duplicate, job_id, name)
        self.job_changed.emit(copy.id)
        self.notices.show_notice(self.tr("What was read before is kept in “{name}”.").format(name=name))

    async def _take_again(self, job_id: str, at: int, options: ReadOptions) -> None:
        path = self.state(job_id).files[at].path
        again = await self._opened(job_id, partial(open_file, path, options))
        state = self.state(job_id)
        files = (*state.files[:at], again, *state.files[at + 1 :])
        mapping = state.mapping
        if mapping is None or again.columns != state.files[at].columns:
            mapping = draft_state.kept(await asyncio.to_thread(draft_state.guessed, files, state.kind), files, state)
        self._use(job_id, files, mapping)

    def _use(self, job_id: str, files: Files, mapping: Mapping) -> None:
        state = replace(self.state(job_id), kind=mapping.kind, files=files, aside=(), is_related=False, mapping=mapping)
        self.read(job_id, replace(state, missing="", is_read=False))
        matching = self.job(job_id).options.matching
        limits = {"within": matching.within, "not_within": matching.not_within}
        if gone := {limit: "" for limit, name in limits.items() if name and name not in state.shared_columns}:
            self.choose_matching(job_id, **gone)

    def _name_after(self, job_id: str, path: Path, before: Path | None) -> None:
        given = {draft_state.new_job_name(), draft_state.name_of_file(before.stem) if before is not None else ""}
        if (now := self.job(job_id).name) in given:  # and no other one that the user gives it meanwhile
            rename = partial(self.program.drafts.rename, job_id, draft_state.name_of_file(path.stem), instead_of=now)
            self._change_job(job_id, rename, examines=False)

    async def _reopen(self, job_id: str) -> None:
        folder, job = self.program.folder(job_id), self.job(job_id)
        draft = await asyncio.to_thread(folder.draft)
        if draft is None:
            self.change(job_id, opening="", aside=await asyncio.to_thread(draft_state.typed_before, folder.path))
            return
        state = replace(self.state(job_id), kind=draft.mapping.kind, mapping=draft.mapping)
        try:
            files, is_same_file = await asyncio.to_thread(draft_state.opened_again, draft, job.source_sha256)
        except UserError as error:
            self.read(job_id, replace(state, missing=error.message, is_read=folder.data.exists()))
            return
        if not is_same_file:
            files = (files[0].with_doubtful(sent=False), *files[1:])  # other rows than those that the user has seen
        state = replace(state, files=files)
        if state.incomplete:  # the file has other columns than before
            files = files if state.is_lists else files[:1]
            state = replace(state, files=files, mapping=draft_state.guessed(files, draft.mapping.kind))
        # No hash is stored of a second file or a folder: they are read again, and so is a first file that has changed.
        is_read = len(files) == 1 and is_same_file and folder.data.exists()
        self.read(job_id, replace(state, is_read=is_read and state.mapping == draft.mapping))

    # What the columns are for

    def choose_purpose(self, purpose: Purpose) -> None:
        """Take what is there for something else. Files stay as far as the purpose takes them; nothing is sent."""
        job_id, state = self.current, self.shown
        if state.missing and purpose.kind is not state.kind:
            self.on_error(UsageError(self.tr("Choose the file again first: its columns are needed for that.")))
            self.changed.emit(job_id)
            return
        self._set_purpose(job_id, purpose)
        state = self.shown
        if state.file is None or state.mapping is None:
            self.change(job_id, kind=purpose.kind, is_chosen=True)
            self.change_job(kind=purpose.kind)
            return
        most = 2 if purpose.takes_lists or purpose is Purpose.RANK else 1
        known = (*state.files, *state.aside)
        files, mapping = known[:most], state.mapping
        if purpose.kind is not state.kind or len(files) != len(state.files):
            mapping = draft_state.kept(draft_state.guessed(files, purpose.kind), files, state)
        if purpose.takes_lists:
            mapping = replace(mapping, split=None)
        chosen = replace(state, kind=purpose.kind, is_chosen=True, is_related=False, files=files, aside=known[most:])
        if mapping == state.mapping:
            self.set(job_id, chosen)
        else:
            self.read(job_id, replace(chosen, mapping=mapping, is_read=False))

    def choose_role(self, column: int, role: Role, *, second: bool = False) -> None:
        if (mapping := self.shown.mapping) is not None:
            mapping = with_role(mapping, column, role, second=second)
            if role in (Role.TEXT, Role.CONTEXT):  # columns alone, then
                mapping = with_template(mapping, "", second=second and self.shown.is_lists)
            self.choose_mapping(mapping=mapping)

    def choose_layout(self, layout: Layout) -> None:
        if (mapping := self.shown.mapping) is not None:
            mapping = with_layout(mapping, layout)
            has_columns = layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED)
            self.choose_mapping(template="" if has_columns else mapping.template, mapping=mapping)

    def choose_template(self, template: str, *, second: bool = False) -> None:
        """`second` is that of the second of two lists."""
        if (mapping := self.shown.mapping) is not None:
            self.choose_mapping(mapping=with_template(mapping, template, second=second))

    def split_for_model(self) -> None:
        """Cut what the model does not read whole."""
        tokens = self.model().max_tokens
        self.choose_mapping(split=Split(tokens * 15 // 16, tokens // 16))

    def choose_mapping(self, mapping: Mapping | None = None, **changes: Any) -> None:
        """Change the mapping, or one that comes instead of it."""
        state = self.shown
        if state.mapping is not None:
            mapping = replace(mapping or state.mapping, **changes)
            is_read = state.is_read and mapping == state.mapping
            self.read(self.current, replace(state, mapping=mapping, is_read=is_read))

    @task("open")
    async def use_recipe(self, job_id: str, recipe: Recipe) -> None:
        file, *others = self.state(job_id).files
        options = recipe.options.encoded_as(file.options)
        if options != replace(file.options, sends_doubtful=False):  # read alike, the same rows are doubtful
            with suppress(UserError):  # such as for the name of a sheet; the columns may fit all the same
                file = await asyncio.to_thread(open_file, file.path, options)
        mapping = fitted(recipe, *(each.columns for each in (file, *others)))
        if isinstance(mapping, str):
            raise UsageError(self.tr("The recipe does not fit this file. {why}").format(why=mapping))
        self._use(job_id, (file, *others), mapping)

    def _suggest_again(self, job_id: str) -> None:
        """Look at the file as if it were the first with its columns."""
        if files := self.state(job_id).files:
            self._use(job_id, files, draft_state.guessed(files, self.state(job_id).kind if len(files) > 1 else None))
