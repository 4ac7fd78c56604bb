"""What the page knows about one draft. Frozen; a change is a new value."""

from dataclasses import dataclass, field
from pathlib import Path

from cfbatch_gui.core.inputs.columns.layouts import check_mapping, suggest_mapping
from cfbatch_gui.core.inputs.columns.recipes import FileKind
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, ReadOptions, Row, Source
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import Spent

PREVIEW_ROWS = 200
MOST_PREVIEWED = 100_000  # rows, when more are asked for; they are in memory
DEFAULT_OPTIONS = ReadOptions()


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that was recognised, its first rows, and what its columns may be for, by the kind of job.

    `options` are what the user has set, the rest was found out. `likely` is the kind that the columns suggest.
    `seen_as` is what it was taken for before anything was set, by which files that are built alike are known.
    """

    source: Source
    sample: tuple[Row, ...]
    options: ReadOptions
    as_ranking: Mapping
    as_texts: Mapping
    likely: Kind
    seen_as: FileKind

    def guess(self, kind: Kind | None) -> Mapping:
        """The roles of the columns for a kind of job, or for the likely one."""
        return self.as_ranking if (kind or self.likely) is Kind.RANK else self.as_texts

    @property
    def path(self) -> Path:
        """Where it stands."""
        return self.source.path


def open_file(path: Path, options: ReadOptions = DEFAULT_OPTIONS) -> OpenFile:
    """Recognise a file and read its first rows; may read all of a text file, so it belongs in a thread.

    Raises InputError, EncodingUnknown, UsageError.
    """
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
    """A file waits until the user has said its encoding. `second_path` is a file that came with it."""

    path: Path
    guess: str  # a Python codec
    sentence: str
    options: ReadOptions
    is_second: bool
    second_path: Path | None = None


@dataclass(frozen=True, slots=True)
class DraftState:
    """One draft. `is_read`: the job's data is what `file`, `second` and `mapping` say, and can be sent.

    `opening` is the name of a file that is being recognised. `missing` says that the file has gone; what was read from
    it before is still there. `trouble` is why reading or examining came to no end. `as_before`: the choice is that of
    the last file of this kind. `spent` is what left for Cloudflare today, as of the last look.
    """

    kind: Kind | None = None  # None: neither chosen nor guessed yet
    is_chosen: bool = False  # the kind, by the user; another file may be taken for the other kind else
    file: OpenFile | None = None
    second: OpenFile | None = None
    mapping: Mapping | None = None
    question: EncodingQuestion | None = None
    opening: str = ""
    missing: str = ""
    is_saving: bool = False  # a change of the job's settings is on its way to the disk
    is_reading: bool = False
    is_read: bool = False
    trouble: str = ""
    preflight: Preflight | None = None
    as_before: bool = False
    spent: Spent = field(default_factory=Spent)

    @property
    def has_data(self) -> bool:
        """Whether there is something to show under "Your data"."""
        return self.file is not None or bool(self.missing)

    @property
    def incomplete(self) -> str:
        """The sentence that says which column is still to be chosen, "" when none is."""
        if self.file is None or self.mapping is None:
            return ""
        return check_mapping(self.mapping, self.file.source, self.second.source if self.second else None)
