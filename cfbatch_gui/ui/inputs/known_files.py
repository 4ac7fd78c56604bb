"""What was chosen for a kind of file before, and is chosen again by itself. For threads: files are read and written."""

from dataclasses import replace

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.columns.layouts import check_mapping, suggest_mapping
from cfbatch_gui.core.inputs.columns.recipes import Recipe, RecipeBook, fitted, recipe_of
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, ReadOptions
from cfbatch_gui.ui.inputs.draft_state import DEFAULT_OPTIONS, DraftState, OpenFile, open_file


def guess_for_two(file: OpenFile, second: OpenFile) -> Mapping:
    """What the columns of two files are likely for."""
    return suggest_mapping(file.source, Kind.RANK, file.sample, second.source, second.sample)


def as_before(
    book: RecipeBook, opened: OpenFile, kind: Kind | None, second: OpenFile | None = None
) -> tuple[OpenFile, Mapping] | None:
    """A file that was just recognised, read and mapped as the last one of its kind; None where nothing was chosen.

    Nothing either when that was for another kind of job than the one that is wanted now, or does not fit any more.
    """
    recipe = book.remembered(opened.seen_as, second.seen_as if second else None)
    if recipe is None or kind not in (None, recipe.mapping.kind):
        return None
    return read_as(recipe, opened, second)


def read_as(recipe: Recipe, opened: OpenFile, second: OpenFile | None) -> tuple[OpenFile, Mapping] | None:
    """The file read and mapped by a recipe; None when it does not fit. An encoding that was chosen stays."""
    options = replace(recipe.options, encoding=opened.options.encoding)
    if options != opened.options:
        try:
            opened = replace(open_file(opened.path, options), seen_as=opened.seen_as)
        except UserError:
            return None
    mapping = fitted(recipe, opened.source.columns, second.source.columns if second else ())
    if isinstance(mapping, str) or check_mapping(mapping, opened.source, second.source if second else None):
        return None
    return opened, mapping


def keep_choice(book: RecipeBook, state: DraftState) -> None:
    """Remember what is chosen for files like these; what the program would find out by itself is not kept."""
    file, second, mapping = state.file, state.second, state.mapping
    if file is None or mapping is None or state.incomplete:
        return
    own = guess_for_two(file, second) if second else file.guess(None)
    recipe = recipe_of("", file.source, mapping, file.options, second.source if second else None)
    is_own = mapping == own and recipe.options == DEFAULT_OPTIONS
    book.remember(file.seen_as, second.seen_as if second else None, None if is_own else recipe)


def forget_choice(book: RecipeBook, state: DraftState) -> None:
    """The next file like these is looked at with fresh eyes."""
    if state.file is not None:
        book.remember(state.file.seen_as, state.second.seen_as if state.second else None, None)


def fresh_options(file: OpenFile) -> ReadOptions:
    """As if nothing had been set, but for the encoding: without it the file may not be readable."""
    return ReadOptions(encoding=file.options.encoding)
