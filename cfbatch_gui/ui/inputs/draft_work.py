"""The work behind the draft page: what the user wants of files and columns, for each draft by itself."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from cfbatch_gui.core.errors import EncodingUnknown, UsageError, UserError
from cfbatch_gui.core.inputs.columns.layouts import with_layout, with_role
from cfbatch_gui.core.inputs.columns.recipes import Recipe, fitted
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, ReadOptions, Role
from cfbatch_gui.core.jobs.states import JobOptions
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.files import sha256_of
from cfbatch_gui.ui.inputs.draft_reading import DraftReading
from cfbatch_gui.ui.inputs.draft_state import (
    DEFAULT_OPTIONS,
    MOST_PREVIEWED,
    DraftState,
    EncodingQuestion,
    OpenFile,
    open_file,
)
from cfbatch_gui.ui.inputs.input_words import name_of_file, new_job_name
from cfbatch_gui.ui.inputs.known_files import (
    as_before,
    forget_choice,
    fresh_options,
    guess_for_two,
    keep_choice,
    read_as,
)


class DraftWork(DraftReading):
    """Takes files, and what they are for; each wish ends in a new state that is read."""

    def __init__(self, program: Program, on_error: Callable[[UserError], None], parent: QObject | None = None) -> None:
        super().__init__(program, on_error, parent)
        self._keepings = 0

    # What the user does

    def begin(self, job_id: str) -> None:
        """Show a draft; the first time, its file is opened again."""
        if job_id not in self._states:
            self._states[job_id] = DraftState(opening=self.job(job_id).source_name)
            self.tasks.start(f"open {job_id}", self._reopen(job_id))

    def open(self, job_id: str, path: Path, second: Path | None = None) -> None:
        """Take a file, and perhaps a second one with the contexts for all queries of the first."""
        self._open(job_id, path, DEFAULT_OPTIONS, is_second=False, second_path=second)

    def open_second(self, job_id: str, path: Path) -> None:
        """Take a file with contexts for all queries."""
        self._open(job_id, path, DEFAULT_OPTIONS, is_second=True)

    def reread(self, job_id: str, options: ReadOptions, *, second: bool = False) -> None:
        """Read a file in another way."""
        state = self.state(job_id)
        file = state.second if second else state.file
        if file is not None:
            self._open(job_id, file.path, options, is_second=second)

    def remove_second(self, job_id: str) -> None:
        """Back to one file."""
        state = self.state(job_id)
        if state.file is not None:
            fresh = replace(state, second=None, mapping=state.file.as_ranking)
            self._read_as(job_id, replace(fresh, is_read=False))

    def answer_encoding(self, job_id: str, codec: str) -> None:
        """Open the file that waits, in this encoding."""
        question = self.state(job_id).question
        if question is not None:
            options = replace(question.options, encoding=codec)
            self._open(job_id, question.path, options, is_second=question.is_second, second_path=question.second_path)

    def drop_question(self, job_id: str) -> None:
        """Leave the file that waits."""
        self._set(job_id, replace(self.state(job_id), question=None))

    def choose_kind(self, job_id: str, kind: Kind) -> None:
        """Rank, or make vectors; the columns' roles are guessed anew for it."""
        state = self.state(job_id)
        if state.kind is kind:
            return
        if state.missing:
            self._on_error(UsageError(self.tr("Choose the file again first: its columns are needed for that.")))
            self.changed.emit(job_id)
        elif state.file is None:
            self._set(job_id, replace(state, kind=kind, is_chosen=True))
            self.change_job(job_id, kind=kind)
        else:
            fresh = replace(state, kind=kind, is_chosen=True, second=None, mapping=state.file.guess(kind))
            self._choose(job_id, replace(fresh, is_read=False))

    def choose_role(self, job_id: str, column: int, role: Role, *, second: bool = False) -> None:
        """Another role for a column, counted from 0."""
        state = self.state(job_id)
        if state.mapping is not None:
            mapping = with_role(state.mapping, column, role, second=second)
            if role in (Role.TEXT, Role.CONTEXT):
                mapping = replace(mapping, template="")  # this column is the text, and no other
            self.choose_mapping(job_id, mapping)

    def choose_layout(self, job_id: str, layout: Layout) -> None:
        """Another layout of the same file."""
        state = self.state(job_id)
        if state.mapping is not None:
            mapping = with_layout(state.mapping, layout)
            if layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED):
                mapping = replace(mapping, template="")
            self.choose_mapping(job_id, mapping)

    def choose_mapping(self, job_id: str, mapping: Mapping) -> None:
        """Other roles, layout, template or parts, all at once."""
        state = self.state(job_id)
        self._choose(job_id, replace(state, mapping=mapping, is_read=state.is_read and mapping == state.mapping))

    def use_recipe(self, job_id: str, recipe: Recipe) -> None:
        """Read and map the file as a recipe says."""
        self.tasks.start(f"open {job_id}", self._use_recipe(job_id, recipe))

    def show_more(self, job_id: str, *, second: bool = False) -> None:
        """Ten times as many rows in the preview."""
        state = self.state(job_id)
        file = state.second if second else state.file
        if file is not None:
            self.tasks.start(f"more {job_id}", self._show_more(job_id, file))

    def look_afresh(self, job_id: str) -> None:
        """Forget what was chosen for the last file of this kind, and map this one as if it were the first."""
        state = self.state(job_id)
        if state.file is not None:
            self._set(job_id, replace(state, as_before=False))
            self.tasks.start(f"open {job_id}", self._look_afresh(job_id, state.file, state.second))

    def change_job(
        self,
        job_id: str,
        *,
        kind: Kind | None = None,
        model: str | None = None,
        connection: str | None = None,
        options: JobOptions | None = None,
    ) -> None:
        """Change the job's own settings; what it comes to is worked out again where that depends on them."""
        change = partial(
            self._program.drafts.change, job_id, kind=kind, model=model, connection=connection, options=options
        )
        self._start_change(job_id, change, again=bool(model or options))

    def read_again(self, job_id: str) -> None:
        """After a failure."""
        self._read_as(job_id, self.state(job_id))

    async def peek(self, path: Path, options: ReadOptions) -> OpenFile:
        """The first rows of a file as they would be; nothing is kept. Raises InputError."""
        return await asyncio.to_thread(open_file, path, options)

    # Opening

    def _open(
        self, job_id: str, path: Path, options: ReadOptions, *, is_second: bool, second_path: Path | None = None
    ) -> None:
        self._set(job_id, replace(self.state(job_id), opening=path.name))
        self.tasks.start(f"open {job_id}", self._open_one(job_id, path, options, is_second, second_path))

    async def _open_one(
        self, job_id: str, path: Path, options: ReadOptions, is_second: bool, second_path: Path | None
    ) -> None:
        try:
            opened = await asyncio.to_thread(open_file, path, options)
        except EncodingUnknown as error:
            question = EncodingQuestion(path, error.guess, error.message, options, is_second, second_path)
            self._set(job_id, replace(self.state(job_id), question=question, opening=""))
            return
        except UserError:
            self._set(job_id, replace(self.state(job_id), opening=""))  # what was there before stays
            raise
        if is_second:
            await self._take_second(job_id, opened)
        else:
            await self._take(job_id, opened, will_rank=second_path is not None)
            if second_path is not None:
                await self._open_one(job_id, second_path, DEFAULT_OPTIONS, True, None)

    async def _take(self, job_id: str, opened: OpenFile, *, will_rank: bool) -> None:
        before = self.state(job_id)
        is_same = before.file is not None and before.file.path == opened.path
        second = before.second if is_same else None  # its contexts were for these queries
        guess, is_as_before = None, False
        if is_same and before.file is not None:
            opened = replace(opened, seen_as=before.file.seen_as)
        elif not will_rank and (known := await self._as_before(opened, before.kind if before.is_chosen else None)):
            (opened, guess), is_as_before = known, True
        if second is not None:
            guess = await asyncio.to_thread(guess_for_two, opened, second)
        state = self.state(job_id)
        mapping = state.mapping if is_same and before.file and _same_columns(before.file, opened) else None
        kind = state.kind if is_same or state.is_chosen else None
        mapping = mapping or guess or opened.guess(Kind.RANK if will_rank else kind)
        fresh = replace(state, kind=mapping.kind, file=opened, second=second, mapping=mapping, as_before=is_as_before)
        self._read_as(job_id, replace(fresh, question=None, missing="", is_read=False))
        if is_same and before.file is not None and before.file.options != opened.options:
            self._keep_choice(job_id)
        given = {new_job_name(), name_of_file(before.file.path.stem) if before.file is not None else ""}
        if self.job(job_id).name in given and not is_same:  # a name of the user's own stays
            name = name_of_file(opened.path.stem)
            self._start_change(job_id, partial(self._program.drafts.rename, job_id, name), again=False)

    async def _take_second(self, job_id: str, opened: OpenFile) -> None:
        first = self.state(job_id).file
        if first is None:
            return
        guess, is_as_before = await asyncio.to_thread(guess_for_two, first, opened), False
        if known := await self._as_before(first, Kind.RANK, opened):
            (first, guess), is_as_before = known, True
        state = self.state(job_id)
        mapping = state.mapping if state.second and _same_columns(state.second, opened) else None
        fresh = replace(state, kind=Kind.RANK, file=first, second=opened, mapping=mapping or guess)
        fresh = replace(fresh, as_before=is_as_before and mapping is None)
        self._read_as(job_id, replace(fresh, question=None, is_read=False))

    async def _as_before(
        self, opened: OpenFile, kind: Kind | None, second: OpenFile | None = None
    ) -> tuple[OpenFile, Mapping] | None:
        return await asyncio.to_thread(as_before, self._program.recipes, opened, kind, second)

    async def _use_recipe(self, job_id: str, recipe: Recipe) -> None:
        state = self.state(job_id)
        file, second = state.file, state.second
        if file is None:
            return
        if found := await asyncio.to_thread(read_as, recipe, file, second):
            file, mapping = found
        else:  # what is still to be chosen is said in the page
            fit = fitted(recipe, file.source.columns, second.source.columns if second else ())
            if isinstance(fit, str):
                raise UsageError(self.tr("The recipe does not fit this file. {why}").format(why=fit))
            mapping = fit
        fresh = replace(self.state(job_id), kind=mapping.kind, file=file, mapping=mapping, is_read=False)
        self._choose(job_id, fresh)

    async def _show_more(self, job_id: str, file: OpenFile) -> None:
        limit = min(MOST_PREVIEWED, len(file.sample) * 10)
        more = replace(file, sample=await asyncio.to_thread(preview, file.source, limit))
        state = self.state(job_id)
        if state.file is file:
            self._set(job_id, replace(state, file=more))
        elif state.second is file:
            self._set(job_id, replace(state, second=more))

    async def _look_afresh(self, job_id: str, file: OpenFile, second: OpenFile | None) -> None:
        await asyncio.to_thread(forget_choice, self._program.recipes, self.state(job_id))
        if file.options != fresh_options(file):
            fresh_file = await asyncio.to_thread(open_file, file.path, fresh_options(file))
            file = replace(fresh_file, seen_as=file.seen_as)
        mapping = await asyncio.to_thread(guess_for_two, file, second) if second else file.guess(None)
        state = replace(self.state(job_id), kind=mapping.kind, file=file, mapping=mapping)
        self._read_as(job_id, replace(state, as_before=False, is_read=False))

    async def _reopen(self, job_id: str) -> None:
        folder = self._program.folder(job_id)
        draft = await asyncio.to_thread(folder.draft)
        job = self.job(job_id)
        if draft is None:
            self._set(job_id, replace(self.state(job_id), opening=""))
            return
        state = DraftState(kind=draft.mapping.kind, mapping=draft.mapping)
        try:
            file = await asyncio.to_thread(open_file, Path(draft.path), draft.options)
            second = None
            if draft.second_path:
                second = await asyncio.to_thread(open_file, Path(draft.second_path), draft.second_options)
            sha256 = await asyncio.to_thread(sha256_of, Path(draft.path))
        except UserError as error:
            self._read_as(job_id, replace(state, missing=error.message, is_read=folder.data.exists()))
            return
        state = replace(state, file=file, second=second)
        if state.incomplete:  # the file has other columns than before
            state = replace(state, second=None, mapping=file.guess(draft.mapping.kind))
        # A second file's bytes are not remembered: it is read again, and so is a first one that has changed.
        is_read = second is None and sha256 == job.source_sha256 and folder.data.exists()
        self._read_as(job_id, replace(state, is_read=is_read and state.mapping == draft.mapping))

    # Keeping

    def _choose(self, job_id: str, state: DraftState) -> None:
        """What the user has chosen: read it so, and the next file of this kind too."""
        self._read_as(job_id, replace(state, as_before=False))
        self._keep_choice(job_id)

    def _keep_choice(self, job_id: str) -> None:
        state = self.state(job_id)
        self._keepings += 1  # each has a name of its own: it belongs to another file, or came later
        self.tasks.start(f"keep {self._keepings}", self._keep(state))

    async def _keep(self, state: DraftState) -> None:
        await self._program.runner.on_disk(keep_choice, self._program.recipes, state)


def _same_columns(one: OpenFile, other: OpenFile) -> bool:
    return one.source.columns == other.source.columns
