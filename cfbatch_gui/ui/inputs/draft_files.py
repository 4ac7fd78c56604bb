"""The files of a draft as they were opened, the state of a draft, and what was chosen for files of the same kind."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import CandidatePool, Kind, Mapping, ReadOptions, Role, Row, Source
from cfbatch_gui.core.inputs.layouts import check_mapping, missing_file
from cfbatch_gui.core.inputs.recipes import FileKind, Recipe, RecipeBook, fitted, recipe_of
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import Spent
from cfbatch_gui.core.versions import DraftVersion

PREVIEW_ROWS = 200
MOST_PREVIEWED = 100_000  # rows, when more are asked for; they are in memory
DEFAULT_OPTIONS = ReadOptions()


@dataclass(frozen=True, slots=True)
class OpenFile:
    """`options` holds what the user has set, `guesses` a mapping for each kind, and by None the likely one.

    Files with an equal `seen_as` are of the same kind.
    """

    source: Source
    sample: tuple[Row, ...]
    options: ReadOptions
    guesses: dict[Kind | None, Mapping]
    seen_as: FileKind

    def with_doubtful(self, *, sent: bool) -> "OpenFile":
        return replace(
            self, source=replace(self.source, sends_doubtful=sent), options=replace(self.options, sends_doubtful=sent)
        )

    @property
    def path(self) -> Path:
        return self.source.path

    @property
    def columns(self) -> tuple[str, ...]:
        return self.source.columns


@dataclass(frozen=True, slots=True)
class DraftState:
    """`is_read`: the job's data was read as `file`, `second` and `mapping` say.

    `opening` is the name of a file being recognised; `missing` says why it cannot be opened any more. `as_before`: the
    mapping chosen for the last file of this kind. `spent` is what was sent today. `version` is that of the preflight,
    or of the one before until it is known.
    """

    kind: Kind | None = None  # None: neither chosen nor guessed yet
    is_chosen: bool = False  # the user chose the kind; otherwise the next file opened may change it
    file: OpenFile | None = None
    second: OpenFile | None = None
    mapping: Mapping | None = None
    asks_second: bool | None = None  # whether the encoding of the second file is asked for, or of the first; None: none
    opening: str = ""
    missing: str = ""
    unsaved: int = 0  # changes of the job's settings that are being written
    is_reading: bool = False
    is_read: bool = False
    is_sending: bool = False
    trouble: str = ""
    preflight: Preflight | None = None
    version: DraftVersion | None = None
    as_before: bool = False
    spent: Spent = field(default_factory=Spent)

    @property
    def has_data(self) -> bool:
        return self.file is not None or bool(self.missing)

    @property
    def asked(self) -> OpenFile | None:
        """The file whose encoding the user chooses now."""
        return None if self.asks_second is None else self.opened(second=self.asks_second)

    @property
    def incomplete(self) -> str:
        if self.file is None or self.mapping is None:
            return ""
        return check_mapping(self.mapping, self.file.source, self.second_source)

    @property
    def missing_file(self) -> Role | None:
        """What a second file could hold to complete the mapping."""
        return None if self.file is None or self.mapping is None else missing_file(self.mapping, self.second_source)

    @property
    def second_source(self) -> Source | None:
        return self.second.source if self.second else None

    @property
    def second_columns(self) -> tuple[str, ...]:
        return self.second.columns if self.second else ()

    @property
    def texts(self) -> OpenFile | None:
        """The file in which the texts stand."""
        return self.second or self.file

    def opened(self, *, second: bool) -> OpenFile | None:
        return self.second if second else self.file


# The functions below read and write files, and are for threads.


def open_file(path: Path, options: ReadOptions = DEFAULT_OPTIONS) -> OpenFile:
    """Recognise a file and read its first rows; it may read all of a text file. Raises InputError, UsageError."""
    source = open_source(path, options)
    sample = preview(source, PREVIEW_ROWS)
    guesses = {kind: suggest_mapping(source, kind, sample) for kind in (*Kind, None)}
    return OpenFile(source, sample, options, guesses, FileKind.of(source))


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
    mapping = fitted(recipe, opened.columns, second.columns if second else ())
    if isinstance(mapping, str) or check_mapping(mapping, opened.source, second.source if second else None):
        return None
    return opened, mapping


def remember_choice(book: RecipeBook, state: DraftState) -> None:
    """A choice equal to the suggestion is removed."""
    file, second, mapping = state.file, state.second, state.mapping
    if file is None or mapping is None or state.incomplete:
        return
    own = guess_for_two(file, second) if second else file.guesses[None]
    options = file.options
    if options.candidates is not None and options.candidates.pool is CandidatePool.CORPUS:
        options = replace(options, candidates=None)  # the next corpus may be a thousand times as large
    recipe = recipe_of("", file.source, mapping, options, state.second_source)
    is_own = mapping == own and recipe.options == DEFAULT_OPTIONS
    book.remember(file.seen_as, second.seen_as if second else None, None if is_own else recipe)
