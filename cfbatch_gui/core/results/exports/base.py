"""What all export targets share: values, and files that are whole or not there."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Protocol

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.messages import comma_list, message, quoted
from cfbatch_gui.core.results.matches import Decision, Matches
from cfbatch_gui.core.system.files import atomic_writer

Progress = Callable[[int, int], None]
Cell = str | int | float | None
Row = Sequence[Cell]
PART = "part"  # a column of jobs whose texts were split: which part of the text it is, or which one scored best

SOURCE_JOB = "source_job"  # a column of jobs that have results of earlier ones: the name of the job a result came with
REQUEST_ID = "request_id"  # and the id of its request


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of an export; None is no limit, or all.

    A tie at rank `top_k` is kept as a whole. With `items`, the numbers of texts, what belongs to none of them is left
    out. `separator` is that of CSV for Excel. In Excel, `has_numbers` adds the numbers of vectors, and a ranking
    `in_own_order` has all rows and columns of the user's file as they stand there. Of failed rows those with this
    `problem` are written, or all, and of a search only these `questions`, or all.
    """

    separator: str = ","
    top_k: int | None = None
    threshold: float | None = None
    columns: tuple[str, ...] | None = None
    items: frozenset[int] | None = None
    has_numbers: bool = False
    in_own_order: bool = False
    problem: str = ""
    questions: tuple[str, ...] = ()

    def has_item(self, number: int) -> bool:
        return self.items is None or number in self.items


class Steps:
    """The progress of an export; `progress` gets (done, total) and may raise, which stops it."""

    def __init__(self, items: int = 0, progress: Progress | None = None) -> None:
        self._items, self._progress, self._written = items, progress, 0

    def wrote(self, items: int) -> None:
        """So many more items are written."""
        self._written += items
        if self._progress:
            self._progress(min(self._written, self._items), self._items)


@dataclass(frozen=True, slots=True)
class Work:
    """One export, as a target gets it: `end` is called before the files get their names; `say` words what is ours in
    files for people.
    """

    folder: JobFolder
    job: Job
    path: Path
    options: ExportOptions = ExportOptions()
    steps: Steps = field(default_factory=Steps)
    end: Callable[[], None] = lambda: None
    say: Callable[[str], str] = str
    connection: str = ""  # its title
    decided: Callable[[str], Decision | None] = lambda text: None  # about a text of list A
    matches: Matches | None = None  # where they are known


@dataclass(frozen=True, slots=True)
class Written:
    """What a target wrote: rows, files, notes for the manifest, and commands that load the files, a line each."""

    rows: int
    files: tuple[Path, ...]
    notes: dict[str, object]
    next_command: str = ""


class RowsOfTable(Protocol):
    """What is written as a table; `kinds` are "utf8", "int64" or "float64", and `notes` are for the manifest, when all
    is written.
    """

    columns: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def notes(self) -> dict[str, object]: ...

    def blocks(self) -> Iterator[list[Row]]:
        """All rows, some thousand at a time."""


class Measure(StrEnum):
    """The unit of an export's size as it is announced before writing."""

    ROWS = "rows"  # of results, and their columns
    SCORES = "scores"  # within top k and threshold
    FAILED_ROWS = "failed rows"  # of the user's file


@dataclass(frozen=True, slots=True)
class Target:
    """A format for the results of one kind of job.

    Of the targets of a kind the first with the longest suffix of a file's name is taken. `write` raises ExportError and
    DiskFull. A folder is new, empty or an earlier export; what is for people keeps its manifest with the job;
    `bytes_per_number` is 0 where no size is estimated.
    """

    kind: Kind
    name: str
    title: str
    about: str  # one sentence
    suffixes: tuple[str, ...]
    write: Callable[[Work], Written]
    has_columns: bool = False
    has_limits: bool = False
    has_separator: bool = False
    is_for_people: bool = False
    measure: Measure = Measure.ROWS
    contents: str = ""
    bytes_per_number: int = 0
    is_of_screening: bool = False  # only where one was begun
    purposes: tuple[Purpose, ...] = ()  # of the jobs whose own sheet it is; () for all of the kind

    def fit_of(self, path: Path) -> int:
        """The length of the longest suffix that the name has, 0 for none; “redirects.csv” has “.redirects.csv”."""
        name = f".{path.name.lower()}"
        return max((len(suffix) for suffix in self.suffixes if name.endswith(suffix)), default=0)

    @property
    def is_own_sheet(self) -> bool:
        """Whether all rows of the user's file are in it, with what the purpose of the job adds."""
        return bool(self.purposes) and not self.is_of_questions

    @property
    def is_of_questions(self) -> bool:
        return Purpose.SEARCH in self.purposes and not self.is_of_screening

    @property
    def is_of_matches(self) -> bool:
        return Purpose.MATCH in self.purposes

    @property
    def is_folder(self) -> bool:
        return not self.suffixes

    @property
    def is_workbook(self) -> bool:
        """Whether vectors may have their numbers, and a ranking may be in the user's own order."""
        return ".xlsx" in self.suffixes and not self.is_of_questions

    @property
    def needs_results(self) -> bool:
        return self.measure is not Measure.FAILED_ROWS


def command(*words: str) -> str:
    """A command line for the system's shell, with the words quoted where necessary."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def slug(name: str, fallback: str, most: int = 63) -> str:
    """A name of a-z, 0-9 and single hyphens, which starts with a letter; `fallback` where nothing is left of it."""
    letters = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name.lower())
    joined = "-".join(part for part in letters.split("-") if part).lstrip("-0123456789")
    return joined[:most].strip("-") or fallback


def indices_of(wanted: Sequence[str] | None, there: Sequence[str]) -> tuple[int, ...]:
    """The index of each wanted column in `there`, in the order that was asked for; None is all. Raises UsageError."""
    if wanted is None:
        return tuple(range(len(there)))
    index_of = {name: index for index, name in reversed(list(enumerate(there)))}
    unknown = [name for name in wanted if name not in index_of]
    if unknown:
        known = comma_list([quoted(name) for name in there]) if there else message("none_choose_from")
        raise UsageError(message("job_no_column_name_there_are", name=unknown[0], known=known))
    return tuple(index_of[name] for name in dict.fromkeys(wanted))


@contextmanager
def export_file(work: Work, path: Path | None = None) -> Iterator[BinaryIO]:
    """A file of an export, which gets its name when the block has ended; without a path the only one."""
    with atomic_writer(path or work.path) as stream:
        yield stream
        stream.flush()  # a disk that is full says so before anything else is changed
        work.end()


@contextmanager
def file_in(folder: Path, name: str) -> Iterator[BinaryIO]:
    """A new file in an unfinished folder, flushed to the disk at the end of the block."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
