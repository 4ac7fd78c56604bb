"""The files of a draft and what their columns are for: roles, layout, recipes."""

import asyncio
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.inputs.file_rows import preview, preview_beyond_ascii
from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind, Layout, Mapping, ReadOptions, Role
from cfbatch_gui.core.inputs.layouts import check_mapping, with_layout, with_role
from cfbatch_gui.core.inputs.recipes import Recipe, RecipeBook, fitted, recipe_of
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.files import sha256_of
from cfbatch_gui.ui.inputs.draft_reading import (
    DEFAULT_OPTIONS,
    MOST_PREVIEWED,
    DraftReading,
    DraftState,
    DraftStates,
    EncodingQuestion,
    OpenFile,
    open_file,
)
from cfbatch_gui.ui.inputs.input_labels import name_of_file, new_job_name

# The functions below read and write files, and are for threads.


def guess_for_two(file: OpenFile, second: OpenFile) -> Mapping:
    return suggest_mapping(file.source, Kind.RANK, file.sample, second.source, second.sample)


def read_as_remembered(
    book: RecipeBook, opened: OpenFile, kind: Kind | None, second: OpenFile | None = None
) -> tuple[OpenFile, Mapping] | None:
    """Read and map a file as the last one of its kind; None when nothing fitting is remembered."""
    recipe = book.remembered(opened.seen_as, second.seen_as if second else None)
    if recipe is None or kind not in (None, recipe.mapping.kind):
        return None
    return read_by_recipe(recipe, opened, second)


def read_by_recipe(recipe: Recipe, opened: OpenFile, second: OpenFile | None) -> tuple[OpenFile, Mapping] | None:
    """Read and map a file by a recipe, but in the encoding it was opened with; None when the recipe does not fit."""
    options = recipe.options.encoded_as(opened.options)
    if options != replace(opened.options, sends_doubtful=False):  # read alike, the same rows are doubtful
        try:
            opened = replace(open_file(opened.path, options), seen_as=opened.seen_as)
        except UserError:
            return None
    mapping = fitted(recipe, opened.source.columns, second.source.columns if second else ())
    if isinstance(mapping, str) or check_mapping(mapping, opened.source, second.source if second else None):
        return None
    return opened, mapping


def remember_choice(book: RecipeBook, state: DraftState) -> None:
    """A choice equal to the suggestion is removed."""
    file, second, mapping = state.file, state.second, state.mapping
    if file is None or mapping is None or state.incomplete:
        return
    own = guess_for_two(file, second) if second else file.guess(None)
    options = file.options
    if options.candidates is not None and options.candidates.pool is CandidatePool.CORPUS:
        options = replace(options, candidates=None)  # the next corpus may be a thousand times as large
    recipe = recipe_of("", file.source, mapping, options, second.source if second else None)
    is_own = mapping == own and recipe.options == DEFAULT_OPTIONS
    book.remember(file.seen_as, second.seen_as if second else None, None if is_own else recipe)


def forget_choice(book: RecipeBook, state: DraftState) -> None:
    if state.file is not None:
        book.remember(state.file.seen_as, state.second.seen_as if state.second else None, None)


class DraftFiles:
    """The files of drafts and what their columns are for, remembered for files of the same kind.

    A file that cannot be opened leaves the draft as it was.
    """

    def __init__(self, program: Program, drafts: DraftStates, reading: DraftReading) -> None:
        self._program, self._drafts, self._reading = program, drafts, reading
        self._rememberings = 0

    def begin(self, job_id: str) -> None:
        """Hold a draft that is shown; the first time, the file it was made from is opened again."""
        if job_id not in self._drafts:
            self._drafts.add(job_id, DraftState(opening=self._drafts.job(job_id).source_name))
            self._drafts.tasks.start(f"open {job_id}", self._reopen(job_id))

    def open(self, job_id: str, path: Path, second: Path | None = None) -> asyncio.Future[None]:
        """What is returned is done when the files are recognised or cannot be."""
        return self._open(job_id, path, DEFAULT_OPTIONS, is_second=False, second_path=second)

    def open_second(self, job_id: str, path: Path) -> None:
        self._open(job_id, path, DEFAULT_OPTIONS, is_second=True)

    def open_queries(self, job_id: str, path: Path) -> None:
        if (texts := self._file(job_id, second=False)) is not None:
            second = texts.path, texts.options
            self._drafts.change(job_id, opening=path.name)
            self._drafts.tasks.start(f"open {job_id}", self._open_one(job_id, path, DEFAULT_OPTIONS, False, second))

    def reread(self, options: ReadOptions, *, second: bool = False) -> None:
        """Other rows may be doubtful then, about which nobody has decided: they are left out."""
        if (file := self._file(self._drafts.current, second=second)) is not None:
            self._open(self._drafts.current, file.path, replace(options, sends_doubtful=False), is_second=second)

    def choose_doubtful(self, sends: bool) -> None:
        job_id, state = self._drafts.shown()
        if state.file is None:
            self._drafts.on_error(UsageError(_tr("Choose the file again first: its rows have to be read for that.")))
            return
        file = state.file.with_doubtful(sent=sends)
        second = state.second.with_doubtful(sent=sends) if state.second else None
        self._reading.start(job_id, replace(state, file=file, second=second, is_read=False))

    def choose_candidates(self, rule: CandidateRule) -> None:
        job_id, state = self._drafts.shown()
        if (file := state.file) is not None and rule != file.source.candidates:
            self._open(job_id, file.path, replace(file.options, candidates=rule), is_second=False)

    def remove_second(self) -> None:
        job_id, state = self._drafts.shown()
        if state.file is not None:
            fresh = replace(state, second=None, mapping=state.file.as_ranking)
            self._reading.start(job_id, replace(fresh, is_read=False))

    def ask_encoding(self, *, second: bool = False) -> None:
        job_id = self._drafts.current
        if (file := self._file(job_id, second=second)) is not None:
            self._drafts.change(job_id, question=EncodingQuestion(file, second))

    def answer_encoding(self, codec: str) -> None:
        job_id, state = self._drafts.shown()
        if (question := state.question) is not None:
            self.use_encoding(job_id, codec, second=question.is_second)

    def use_encoding(self, job_id: str, codec: str, *, second: bool = False) -> None:
        if (file := self._file(job_id, second=second)) is not None:
            self._open(job_id, file.path, file.options.in_encoding(codec), is_second=second)

    def drop_question(self) -> None:
        self._drafts.change(self._drafts.current, question=None)

    def show_more(self, *, second: bool = False) -> None:
        job_id = self._drafts.current
        if (file := self._file(job_id, second=second)) is not None:
            self._drafts.tasks.start(f"more {job_id}", self._show_more(job_id, file))

    # Roles, layouts, recipes

    def choose_kind(self, kind: Kind) -> None:
        job_id, state = self._drafts.shown()
        if state.kind is kind:
            return
        if state.missing:
            error = UsageError(_tr("Choose the file again first: its columns are needed for that."))
            self._drafts.on_error(error)
            self._drafts.changed.emit(job_id)
        elif state.file is None:
            self._drafts.set(job_id, replace(state, kind=kind, is_chosen=True))
            self._reading.change(job_id, kind=kind)
        else:
            fresh = replace(state, kind=kind, is_chosen=True, second=None, mapping=state.file.guess(kind))
            self._choose(job_id, replace(fresh, is_read=False))

    def choose_role(self, column: int, role: Role, *, second: bool = False) -> None:
        _, state = self._drafts.shown()
        if state.mapping is not None:
            mapping = with_role(state.mapping, column, role, second=second)
            if role in (Role.TEXT, Role.CONTEXT):
                mapping = replace(mapping, template="")  # this column alone is the text
            self.choose_mapping(mapping)

    def choose_layout(self, layout: Layout) -> None:
        _, state = self._drafts.shown()
        if state.mapping is not None:
            mapping = with_layout(state.mapping, layout)
            if layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED):
                mapping = replace(mapping, template="")
            self.choose_mapping(mapping)

    def choose_mapping(self, mapping: Mapping) -> None:
        job_id, state = self._drafts.shown()
        self._choose(job_id, replace(state, mapping=mapping, is_read=state.is_read and mapping == state.mapping))

    def use_recipe(self, recipe: Recipe) -> None:
        job_id = self._drafts.current
        self._drafts.tasks.start(f"open {job_id}", self._use_recipe(job_id, recipe))

    def suggest_again(self) -> None:
        job_id, state = self._drafts.shown()
        if state.file is not None:
            self._drafts.set(job_id, replace(state, as_before=False))
            self._drafts.tasks.start(f"open {job_id}", self._suggest_again(job_id, state.file, state.second))

    def remember(self, job_id: str) -> None:
        self._rememberings += 1  # a task name of its own for each: a later one must not cancel an earlier one
        self._drafts.tasks.start(f"remember {self._rememberings}", self._remember(self._drafts.state(job_id)))

    def _choose(self, job_id: str, state: DraftState) -> None:
        self._reading.start(job_id, replace(state, as_before=False))
        self.remember(job_id)

    async def _remember(self, state: DraftState) -> None:
        await self._program.store.on_disk(remember_choice, self._program.recipes, state)

    async def _use_recipe(self, job_id: str, recipe: Recipe) -> None:
        state = self._drafts.state(job_id)
        file, second = state.file, state.second
        if file is None:
            return
        if found := await asyncio.to_thread(read_by_recipe, recipe, file, second):
            file, mapping = found
        else:  # the columns may fit although the mapping is incomplete; the page then says what is missing
            fit = fitted(recipe, file.source.columns, second.source.columns if second else ())
            if isinstance(fit, str):
                raise UsageError(_tr("The recipe does not fit this file. {why}").format(why=fit))
            mapping = fit
        fresh = replace(self._drafts.state(job_id), kind=mapping.kind, file=file, mapping=mapping, is_read=False)
        self._choose(job_id, fresh)

    async def _suggest_again(self, job_id: str, file: OpenFile, second: OpenFile | None) -> None:
        await asyncio.to_thread(forget_choice, self._program.recipes, self._drafts.state(job_id))
        options = ReadOptions().encoded_as(file.options)  # the encoding is the file's own
        if file.options != options:
            file = replace(await asyncio.to_thread(open_file, file.path, options), seen_as=file.seen_as)
        mapping = await asyncio.to_thread(guess_for_two, file, second) if second else file.guess(None)
        state = replace(self._drafts.state(job_id), kind=mapping.kind, file=file, mapping=mapping)
        self._reading.start(job_id, replace(state, as_before=False, is_read=False))

    # Opening

    async def peek(self, path: Path, options: ReadOptions) -> OpenFile:
        """Rows that tell encodings apart come first. Raises InputError."""
        opened = await asyncio.to_thread(open_file, path, options)
        return replace(opened, sample=await asyncio.to_thread(preview_beyond_ascii, opened.source))

    def _file(self, job_id: str, *, second: bool) -> OpenFile | None:
        state = self._drafts.state(job_id)
        return state.second if second else state.file

    def _open(
        self, job_id: str, path: Path, options: ReadOptions, *, is_second: bool, second_path: Path | None = None
    ) -> asyncio.Future[None]:
        second = (second_path, DEFAULT_OPTIONS) if second_path else None
        self._drafts.change(job_id, opening=path.name)
        return self._drafts.tasks.start(f"open {job_id}", self._open_one(job_id, path, options, is_second, second))

    async def _open_one(
        self, job_id: str, path: Path, options: ReadOptions, is_second: bool, second: tuple[Path, ReadOptions] | None
    ) -> None:
        try:
            opened = await asyncio.to_thread(open_file, path, options)
        except UserError:
            self._drafts.change(job_id, opening="")
            raise
        if is_second:
            await self._take_second(job_id, opened)
        else:
            await self._take(job_id, opened, will_rank=second is not None)
            if second is not None:
                await self._open_one(job_id, *second, True, None)

    async def _take(self, job_id: str, opened: OpenFile, *, will_rank: bool) -> None:
        before = self._drafts.state(job_id)
        is_same = before.file is not None and before.file.path == opened.path
        second = before.second if is_same else None  # its contexts belong to the queries of the file before
        guess, is_as_before = None, False
        if is_same and before.file is not None:
            opened = replace(opened, seen_as=before.file.seen_as)
        elif not will_rank and (known := await self._as_before(opened, before.kind if before.is_chosen else None)):
            (opened, guess), is_as_before = known, True
        if second is not None:
            guess = await asyncio.to_thread(guess_for_two, opened, second)
        state = self._drafts.state(job_id)
        mapping = state.mapping if is_same and before.file and _same_columns(before.file, opened) else None
        kind = state.kind if is_same or state.is_chosen else None
        mapping = mapping or guess or opened.guess(Kind.RANK if will_rank else kind)
        fresh = replace(state, kind=mapping.kind, file=opened, second=second, mapping=mapping, as_before=is_as_before)
        self._reading.start(job_id, replace(fresh, question=None, missing="", is_read=False))
        if is_same and before.file is not None and before.file.options != opened.options:
            self.remember(job_id)
        if not is_same and not (will_rank and before.file):  # queries for a file are no other file
            self._name_after(job_id, opened.path, before.file.path if before.file is not None else None)

    def _name_after(self, job_id: str, path: Path, before: Path | None) -> None:
        given = {new_job_name(), name_of_file(before.stem) if before is not None else ""}
        if self._drafts.job(job_id).name in given:
            self._reading.rename(job_id, name_of_file(path.stem))

    async def _take_second(self, job_id: str, opened: OpenFile) -> None:
        first = self._drafts.state(job_id).file
        if first is None:
            return
        guess, is_as_before = await asyncio.to_thread(guess_for_two, first, opened), False
        if known := await self._as_before(first, Kind.RANK, opened):
            (first, guess), is_as_before = known, True
        state = self._drafts.state(job_id)
        mapping = state.mapping if state.second and _same_columns(state.second, opened) else None
        fresh = replace(state, kind=Kind.RANK, file=first, second=opened, mapping=mapping or guess)
        fresh = replace(fresh, as_before=is_as_before and mapping is None)
        self._reading.start(job_id, replace(fresh, question=None, is_read=False))

    async def _as_before(
        self, opened: OpenFile, kind: Kind | None, second: OpenFile | None = None
    ) -> tuple[OpenFile, Mapping] | None:
        return await asyncio.to_thread(read_as_remembered, self._program.recipes, opened, kind, second)

    async def _show_more(self, job_id: str, file: OpenFile) -> None:
        limit = min(MOST_PREVIEWED, len(file.sample) * 10)
        more = replace(file, sample=await asyncio.to_thread(preview, file.source, limit))
        state = self._drafts.state(job_id)
        if state.file is file:
            self._drafts.set(job_id, replace(state, file=more))
        elif state.second is file:
            self._drafts.set(job_id, replace(state, second=more))

    async def _reopen(self, job_id: str) -> None:
        folder = self._program.folder(job_id)
        draft = await asyncio.to_thread(folder.draft)
        job = self._drafts.job(job_id)
        if draft is None:
            self._drafts.change(job_id, opening="")
            return
        state = DraftState(kind=draft.mapping.kind, mapping=draft.mapping)
        try:
            file = await asyncio.to_thread(open_file, Path(draft.path), draft.options)
            second = None
            if draft.second_path:
                second = await asyncio.to_thread(open_file, Path(draft.second_path), draft.second_options)
            sha256 = await asyncio.to_thread(_sha256_unless_folder, Path(draft.path))
        except UserError as error:
            self._reading.start(job_id, replace(state, missing=error.message, is_read=folder.data.exists()))
            return
        is_same_file = sha256 != "" and sha256 == job.source_sha256
        if not is_same_file:
            file = file.with_doubtful(sent=False)  # other rows than those that the user has seen
        state = replace(state, file=file, second=second)
        if state.incomplete:  # the file has other columns than before
            state = replace(state, second=None, mapping=file.guess(draft.mapping.kind))
        # No hash is stored of a second file or a folder: they are read again, and so is a first file that has changed.
        is_read = second is None and is_same_file and folder.data.exists()
        self._reading.start(job_id, replace(state, is_read=is_read and state.mapping == draft.mapping))


def _sha256_unless_folder(path: Path) -> str:
    return "" if path.is_dir() else sha256_of(path)


def _same_columns(one: OpenFile, other: OpenFile) -> bool:
    return one.source.columns == other.source.columns


def _tr(text: str) -> str:
    return QCoreApplication.translate("inputs", text)
