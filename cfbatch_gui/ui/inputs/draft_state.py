"""What a draft holds: its files as they were opened, how they are read, and what that comes to. Functions that read
files are for threads.
"""

import csv
import io
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from cfbatch_gui.core.inputs.column_names import index_of
from cfbatch_gui.core.inputs.encodings import CHOICES
from cfbatch_gui.core.inputs.file_rows import preview, preview_beyond_ascii
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, ReadOptions, Role, Row, Source
from cfbatch_gui.core.inputs.layouts import check_mapping, missing_file
from cfbatch_gui.core.inputs.readers.references import REFERENCES
from cfbatch_gui.core.inputs.recipes import Recipe
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.folder import SavedDraft
from cfbatch_gui.core.jobs.drafts import proposed_purpose, readings_of
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.plan.spending import Spent
from cfbatch_gui.core.jobs.states import Job, Purpose, usual_purpose
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.categories import sentences_of
from cfbatch_gui.core.results.matches import ListCounts
from cfbatch_gui.core.system.files import sha256_of, write_own_file
from cfbatch_gui.core.versions import DraftVersion, last_mapping
from cfbatch_gui.words.categories import category_lines
from cfbatch_gui.words.languages import tr

PREVIEW_ROWS = 200
MOST_PREVIEWED = 100_000  # rows, when more are asked for; they are in memory
DEFAULT_OPTIONS = ReadOptions()
TYPED = "categories.csv"  # the file in a job's folder with the categories that were typed
_TYPED_OPTIONS = ReadOptions(encoding="utf-8", separator=",", has_header=True)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """`options` holds what the user has set."""

    source: Source
    sample: tuple[Row, ...]
    options: ReadOptions

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


Files = tuple[OpenFile, ...]
"""One file or two: of queries and of contexts for all of them, or two lists."""


@dataclass(frozen=True, slots=True)
class DraftState:
    """`is_read`: the job's data was read as `files` and `mapping` say.

    `opening` is the name of a file being recognised; `missing` says why it cannot be opened any more. `spent` is what
    was sent today. `version` is that of the preflight, or of the one before until it is known, and so are `lists`, the
    counts of two lists.
    """

    kind: Kind | None = None  # None: neither chosen nor guessed yet
    is_chosen: bool = False  # the user chose the kind; otherwise the next file opened may change it
    files: Files = ()
    aside: Files = ()  # the second file while the purpose takes one
    is_related: bool = False  # the user takes the list itself for the second one
    mapping: Mapping | None = None
    opening: str = ""
    missing: str = ""
    unsaved: int = 0  # changes of the job's settings that are being written
    is_reading: bool = False
    is_read: bool = False
    is_sending: bool = False
    trouble: str = ""
    preflight: Plan | None = None
    version: DraftVersion | None = None
    lists: ListCounts | None = None
    spent: Spent = field(default_factory=Spent)

    @property
    def file(self) -> OpenFile | None:
        return self.files[0] if self.files else None

    @property
    def second(self) -> OpenFile | None:
        return self.files[1] if len(self.files) > 1 else None

    @property
    def is_lists(self) -> bool:
        return self.mapping is not None and self.mapping.layout is Layout.LISTS

    @property
    def texts(self) -> OpenFile | None:
        """The file in which the texts stand, the first of two lists."""
        return self.files[0 if self.is_lists else -1] if self.files else None

    def purpose(self, job: Job) -> Purpose | None:
        """What the draft of this job is for; None while nothing says so."""
        chosen = job.options.purpose
        if self.kind is None or (chosen is not None and chosen.kind is self.kind):
            return chosen
        return usual_purpose(self.kind)

    def wants_second_list(self, job: Job) -> bool:
        takes_lists = job.options.purpose is not None and job.options.purpose.takes_lists
        return takes_lists and len(self.files) == 1 and not self.is_related

    def counted(self, job: Job) -> ListCounts | None:
        """What the lists hold that are compared; of one list only what the job says."""
        purpose = self.purpose(job)
        if self.is_lists or purpose is None or not purpose.takes_lists:
            return self.lists if self.is_lists else None
        return ListCounts((job.rows_in, 0), (job.texts, 0), 0)

    @property
    def shared_columns(self) -> tuple[str, ...]:
        """The names of the columns of list A that list B has too; all of them where there is one list."""
        columns = self.files[0].columns if self.files else ()
        return tuple(name for name in columns if index_of(name, self.files[-1].columns) is not None)

    @property
    def typed(self) -> OpenFile | None:
        """The categories that were typed, also before there is a list to be sorted into them."""
        files = self.files[1:] if self.files else self.aside
        return next((each for each in files if each.path.name == TYPED), None)

    @property
    def has_data(self) -> bool:
        return bool(self.files or self.missing)

    @property
    def incomplete(self) -> str:
        return check_mapping(self.mapping, *sources_of(self.files)) if self.files and self.mapping else ""

    @property
    def missing_file(self) -> Role | None:
        """What a second file could hold to complete the mapping."""
        return missing_file(self.mapping, sources_of(self.files)[1]) if self.files and self.mapping else None

    @property
    def recipe(self) -> Recipe | None:
        """How the files are read, without a name."""
        if not self.files or self.mapping is None or self.incomplete:
            return None
        columns, *second = (each.columns for each in self.files)
        options = replace(self.files[0].options.in_encoding(None), sends_doubtful=False)
        return Recipe("", columns, self.mapping, options, *second)


def sources_of(files: Files) -> tuple[Source, Source | None]:
    return files[0].source, files[1].source if len(files) > 1 else None


def open_file(path: Path, options: ReadOptions = DEFAULT_OPTIONS) -> OpenFile:
    """Recognise a file and read its first rows; it may read all of a text file. Raises InputError, UsageError."""
    source = open_source(path, options)
    return OpenFile(source, preview(source, PREVIEW_ROWS), options)


def typed_categories(folder: Path, typed: str) -> OpenFile | None:
    """Keep categories in the folder of their job, each example in a row of its own, and open them; None without any."""
    (folder / TYPED).unlink(missing_ok=True)
    if not (sentences := sentences_of(typed.splitlines())):
        return None
    text = io.StringIO()
    csv.writer(text).writerows((each,) for each in ("Category", *sentences))
    write_own_file(folder / TYPED, text.getvalue().encode())
    return open_file(folder / TYPED, _TYPED_OPTIONS)


def typed_before(folder: Path) -> Files:
    return (open_file(folder / TYPED, _TYPED_OPTIONS),) if (folder / TYPED).exists() else ()


def typed_lines(file: OpenFile) -> str:
    """The categories of such a file as they may be typed."""
    return "\n".join(category_lines([each.cells[0] for each in file.sample]))


def readings(source: Source) -> dict[str, str]:
    """How a line of the file reads in the encodings that make a difference, the present one first."""
    cells = (cell for row in preview_beyond_ascii(source) for cell in row.cells if not cell.isascii())
    present = source.encoding.removesuffix("-sig")
    return readings_of(cells, present, [codec for codec, _ in CHOICES if codec != present])


def guessed(files: Files, kind: Kind | None = None) -> Mapping:
    """The mapping that is suggested; without `kind` of the likely one."""
    file, *others = files
    for second in others:
        return suggest_mapping(file.source, kind, file.sample, second.source, second.sample)
    return suggest_mapping(file.source, kind, file.sample)


def proposed(files: Files, mapping: Mapping) -> Purpose | None:
    """What data that nobody has chosen a purpose for is for; None for that of its kind."""
    if len(files) > 1:
        return proposed_purpose(mapping, *(len(each.sample) for each in files))
    are_references = files[0].source.format in REFERENCES and mapping.kind is Kind.EMBED
    return Purpose.SEARCH if are_references else None


def in_order(files: Files) -> Files:
    """Two files as they are likely meant: queries before their texts, a list before its categories."""
    if len(files) > 1 and guessed(files).kind is not Kind.RANK:
        turned = files[::-1]
        mapping = guessed(turned)
        if mapping.kind is Kind.RANK or proposed(turned, mapping) is Purpose.CATEGORIES:
            return turned
    return files


def kept(mapping: Mapping, files: Files, before: DraftState) -> Mapping:
    """The mapping of two lists with the roles that the user has chosen for a list which is as it was."""
    known = before.mapping
    if mapping.layout is not Layout.LISTS or known is None or known.kind is not Kind.EMBED:
        return mapping
    if before.files and known != guessed(before.files, known.kind):
        if files[0] is before.file:
            mapping = replace(mapping, roles=known.roles, template=known.template)
        if files[1] is before.second:
            mapping = replace(mapping, second_roles=known.second_roles, second_template=known.second_template)
    return mapping


def mapped(program: Program, files: Files, kind: Kind | None) -> tuple[Mapping, Mapping]:
    """The mapping of the last job with these columns, if there is one of the kind, else the suggestion; and this."""
    suggested = guessed(files, kind)
    last = last_mapping(program.ledger.jobs(), program.folder, [each.columns for each in files])
    return (last if last and kind in (None, last.kind) else suggested), suggested


def opened_again(draft: SavedDraft, sha256: str) -> tuple[Files, bool]:
    """The files of a draft, and whether the first is the one with this hash. Raises InputError, UsageError."""
    path, second = Path(draft.path), Path(draft.second_path)
    files = [open_file(path, draft.options)]
    if draft.second_path:
        files.append(open_file(second, draft.second_options))
    return tuple(files), sha256 != "" and not path.is_dir() and sha256_of(path) == sha256


def new_job_name() -> str:
    return tr("New job")


def name_of_file(stem: str) -> str:
    """A file's name as a person would write it: "help-centre_ranking" is "Help centre ranking", "2024-05-01" stays."""
    name = re.sub(r"(?<!\d)[-_]+|[-_]+(?!\d)", " ", stem).strip()
    return f"{name[:1].upper()}{name[1:]}" if name else stem
