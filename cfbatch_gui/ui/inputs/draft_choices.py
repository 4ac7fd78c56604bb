"""What a draft's columns are for: kind of job, roles, layout, recipes, and the choice remembered for like files."""

import asyncio
from dataclasses import replace

from PySide6.QtCore import QObject

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.inputs.input_values import CandidatePool, Kind, Layout, Mapping, ReadOptions, Role
from cfbatch_gui.core.inputs.layouts import check_mapping, with_layout, with_role
from cfbatch_gui.core.inputs.recipes import Recipe, RecipeBook, fitted, recipe_of
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.inputs.draft_reading import DraftReading
from cfbatch_gui.ui.inputs.draft_settings import DraftSettings
from cfbatch_gui.ui.inputs.draft_state import DEFAULT_OPTIONS, DraftState, DraftStates, OpenFile, open_file


class DraftChoices(QObject):
    """Changes a draft's mapping, reads its data again, and remembers the mapping for the next file of the same kind."""

    def __init__(self, program: Program, drafts: DraftStates, reading: DraftReading, settings: DraftSettings) -> None:
        super().__init__(drafts)
        self._program, self._drafts, self._reading, self._settings = program, drafts, reading, settings
        self._rememberings = 0

    def choose_kind(self, job_id: str, kind: Kind) -> None:
        """Choose between ranking and vectors; the roles of the columns are suggested anew for it."""
        state = self._drafts.state(job_id)
        if state.kind is kind:
            return
        if state.missing:
            error = UsageError(self.tr("Choose the file again first: its columns are needed for that."))
            self._drafts.on_error(error)
            self._drafts.changed.emit(job_id)
        elif state.file is None:
            self._drafts.set(job_id, replace(state, kind=kind, is_chosen=True))
            self._settings.change(job_id, kind=kind)
        else:
            fresh = replace(state, kind=kind, is_chosen=True, second=None, mapping=state.file.guess(kind))
            self._choose(job_id, replace(fresh, is_read=False))

    def choose_role(self, job_id: str, column: int, role: Role, *, second: bool = False) -> None:
        """Give a column another role; `column` is its index."""
        state = self._drafts.state(job_id)
        if state.mapping is not None:
            mapping = with_role(state.mapping, column, role, second=second)
            if role in (Role.TEXT, Role.CONTEXT):
                mapping = replace(mapping, template="")  # this column alone is the text
            self.choose_mapping(job_id, mapping)

    def choose_layout(self, job_id: str, layout: Layout) -> None:
        """Read the same file in another layout."""
        state = self._drafts.state(job_id)
        if state.mapping is not None:
            mapping = with_layout(state.mapping, layout)
            if layout in (Layout.WIDE, Layout.NESTED, Layout.JUDGED):
                mapping = replace(mapping, template="")
            self.choose_mapping(job_id, mapping)

    def choose_mapping(self, job_id: str, mapping: Mapping) -> None:
        """Replace the whole mapping: roles, layout, template and parts."""
        state = self._drafts.state(job_id)
        self._choose(job_id, replace(state, mapping=mapping, is_read=state.is_read and mapping == state.mapping))

    def use_recipe(self, job_id: str, recipe: Recipe) -> None:
        """Read and map the file as a recipe says."""
        self._drafts.tasks.start(f"open {job_id}", self._use_recipe(job_id, recipe))

    def suggest_again(self, job_id: str) -> None:
        """Forget the choice remembered for files of this kind, and map this one as if it were the first of them."""
        state = self._drafts.state(job_id)
        if state.file is not None:
            self._drafts.set(job_id, replace(state, as_before=False))
            self._drafts.tasks.start(f"open {job_id}", self._suggest_again(job_id, state.file, state.second))

    def remember(self, job_id: str) -> None:
        """Remember what is chosen for files like this draft's."""
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
                raise UsageError(self.tr("The recipe does not fit this file. {why}").format(why=fit))
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


# The functions below read and write files, and are for threads.


def guess_for_two(file: OpenFile, second: OpenFile) -> Mapping:
    """Suggest the roles of the columns of a file of queries and a second file of contexts."""
    return suggest_mapping(file.source, Kind.RANK, file.sample, second.source, second.sample)


def read_as_remembered(
    book: RecipeBook, opened: OpenFile, kind: Kind | None, second: OpenFile | None = None
) -> tuple[OpenFile, Mapping] | None:
    """Read and map a file as the last one of its kind.

    None when nothing is remembered for such files, when that was for another kind of job than `kind`, or when it does
    not fit this file.
    """
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
    """Remember a draft's options and mapping for files like its own; a choice equal to the suggestion is removed."""
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
    """Remove what is remembered for files like a draft's own."""
    if state.file is not None:
        book.remember(state.file.seen_as, state.second.seen_as if state.second else None, None)
