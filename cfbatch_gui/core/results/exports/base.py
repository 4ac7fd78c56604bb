"""What all export targets share: values, and files that are read back after writing."""

import os
import shlex
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, NoReturn

from cfbatch_gui.core.errors import ExportError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import comma_list, message, quoted
from cfbatch_gui.core.results.outcomes import JobMetadata
from cfbatch_gui.core.system.files import atomic_writer

Progress = Callable[[int, int], None]
Cell = str | int | float | None
PART = "part"  # a column of jobs whose texts were split: which part of the text it is, or which one scored best

SOURCE_JOB = "source_job"  # a column of jobs that have results of earlier ones: the name of the job a result came with
REQUEST_ID = "request_id"  # and the id of its request


class Preset(StrEnum):
    """The kind of reader that a CSV file is written for."""

    PROGRAMS = "programs"  # no byte order mark, lines end with \n, comma
    EXCEL = "excel"  # byte order mark, \r\n, the locale's list separator, no cell that could be taken for a formula


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of an export. `top_k` and `threshold` are for rankings; a tie at rank `top_k` is kept as a whole.

    `items` are the numbers of the texts that are written, of a ranking those of its contexts; None is all of them. With
    them, what belongs to no item is left out: rows that were never sent, and judgements of texts that were not ranked.

    `separator` is the list separator of the user's locale, for `Preset.EXCEL` only. None is no limit, and for `columns`
    all of them. They are written in the order given; `columns_of` has the possible names.
    """

    preset: Preset = Preset.PROGRAMS
    separator: str = ","
    top_k: int | None = None
    threshold: float | None = None
    columns: tuple[str, ...] | None = None
    items: frozenset[int] | None = None

    def has_item(self, number: int) -> bool:
        return self.items is None or number in self.items


@dataclass(frozen=True, slots=True)
class Work:
    """One export, as the function that writes a target gets it.

    Call `tick` with the number of items written so far, `tick_back` with the number read back, and `tick_end` last,
    before the files are moved to their final paths. An exception from them stops the export.

    `say` words what is ours in files for people in their language: headers, names of sheets, reasons.
    """

    folder: JobFolder
    metadata: JobMetadata
    path: Path
    options: ExportOptions
    tick: Callable[[int], None]
    tick_back: Callable[[int], None]
    tick_end: Callable[[], None]
    say: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a target: the number of rows, all files, and further notes for the manifest.

    `next_command` has the commands that load the files into the program they are for, one on each line; "" for none.
    """

    rows: int
    files: tuple[Path, ...]
    notes: dict[str, object]
    next_command: str = ""


class Measure(StrEnum):
    """The unit of an export's size as it is announced before writing."""

    ROWS = "rows"  # of results, and their columns
    SCORES = "scores"  # within top k and threshold
    FAILED_ROWS = "failed rows"  # of the user's file


@dataclass(frozen=True, slots=True)
class Target:
    """A format that the results of one kind of job can be written in.

    `name` is what the terminal's `--format` and `--to` take, `title` what people read, and `about` one line about it.
    Of the targets for one kind, the first with a file's suffix is taken; a
    suffix of two parts is only proposed, never recognised.
    `write` raises ExportError and DiskFull, and reads the files back before they are moved to their final paths. The
    command that opens them in the program they are for is part of its result.

    `preset`: overrules the options.
    `is_folder`: the path is that of a folder, which is new, empty, or holds an earlier export of the same form; such a
    target has no suffix and is chosen by its name.
    `needs_results`: False if it can be written before any result has arrived.
    `has_columns`: the user can choose which columns are written.
    `has_limits`: top k and threshold apply.
    `measure`: the unit of its announced size; `contents` describes the content instead, where no count does.
    `is_for_people`: opened by a person, not by a program; its manifest is kept with the job, not beside the file.
    `bytes_per_number`: the approximate bytes of each number of a vector; 0 if the size in bytes is not estimated.
    """

    name: str
    title: str
    kind: Kind
    suffixes: tuple[str, ...]
    write: Callable[[Work], Written]
    about: str
    preset: Preset | None = None
    is_folder: bool = False
    needs_results: bool = True
    has_columns: bool = False
    has_limits: bool = False
    measure: Measure = Measure.ROWS
    contents: str = ""
    bytes_per_number: int = 0
    is_for_people: bool = False


def not_as_written(path: Path, detail: str) -> NoReturn:
    """Raise the ExportError for a file that does not read back as written."""
    raise ExportError(
        message(
            "“{name}” did not read back as it was written, so it was not kept. What was there before is intact. Try "
            "again, or choose another disk.",
            name=path.name,
        ),
        detail=f"{path}: {detail}",
    )


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
        known = comma_list([quoted(name) for name in there]) if there else message("none to choose from")
        raise UsageError(message("This job has no column “{name}”. There are: {known}.", name=unknown[0], known=known))
    return tuple(index_of[name] for name in dict.fromkeys(wanted))


_CHUNK = 1 << 20


class CheckedStream:
    """A file that is written from its beginning, and read back and compared by size and checksum.

    This finds bytes that the disk lost or changed; that the format is right is proved by the tests. `path` is the final
    path, for messages.
    """

    def __init__(self, stream: BinaryIO, path: Path, work: Work) -> None:
        self._stream, self._path, self._work = stream, path, work
        self._checksum = 0
        self.size = 0
        self.items = 0

    def write(self, data: bytes | memoryview) -> int:
        self._stream.write(data)
        self._checksum = zlib.crc32(data, self._checksum)
        self.size += memoryview(data).nbytes
        return memoryview(data).nbytes

    def tick(self, items: int) -> None:
        self.items += items
        self._work.tick(self.items)

    def flush(self) -> None:
        self._stream.flush()

    def compare(self) -> None:
        """Read the whole file back. Raises ExportError if it differs."""
        self._stream.flush()
        self._stream.seek(0)
        self._work.tick_back(0)
        checksum = size = 0
        while data := self._stream.read(_CHUNK):
            checksum = zlib.crc32(data, checksum)
            size += len(data)
            self._work.tick_back(self.items * size // max(1, self.size))
        if (size, checksum) != (self.size, self._checksum):
            not_as_written(self._path, f"{size} bytes with checksum {checksum:08x}")


@contextmanager
def checked_export(work: Work) -> Iterator[CheckedStream]:
    """The file of an export. At the end of the block it is read back, and gets its name if it is as it was written."""
    with atomic_writer(work.path) as raw:
        stream = CheckedStream(raw, work.path, work)
        yield stream
        stream.compare()
        work.tick_end()


@contextmanager
def checked_file(folder: Path, name: str, work: Work) -> Iterator[CheckedStream]:
    """A new file in an unfinished folder, compared and flushed to the disk at the end of the block."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x+b") as raw:
        stream = CheckedStream(raw, work.path / name, work)
        yield stream
        stream.compare()
        os.fsync(raw.fileno())


def check_archive(work: Work, stream: BinaryIO) -> None:
    """Read a ZIP archive back, each of whose files has a checksum. Raises ExportError if it differs."""
    stream.flush()
    work.tick_back(0)
    try:
        with zipfile.ZipFile(stream) as archive:
            for member in archive.namelist():
                with archive.open(member) as file:
                    while file.read(_CHUNK):
                        work.tick_back(0)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
        not_as_written(work.path, str(error))
