"""The paths within a job's folder, the draft that is stored there, and how the texts of a job are removed from it."""

import gzip
import shutil
import sqlite3
import zlib
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Mapping, ReadOptions
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.schema import ROW_FORM, metadata_value, put_metadata_value, transaction
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import OWN_FOLDER, flush_folder, remove_own_file, write_own_file


class SavedDraft(msgspec.Struct, frozen=True):
    """The file, how it is read and what its columns are for, as it is kept in `draft.json`."""

    path: str
    options: ReadOptions
    mapping: Mapping
    second_path: str = ""
    second_options: ReadOptions = ReadOptions()


@dataclass(frozen=True, slots=True)
class JobFolder:
    """The paths within one job's folder. Creating the object does not touch the disk."""

    path: Path

    @property
    def data(self) -> Path:
        return self.path / "data.db"

    @property
    def vectors(self) -> Path:
        """float32 (items, dimension), NumPy format; there once the first answer with vectors is stored."""
        return self.path / "vectors.npy"

    @property
    def map(self) -> Path:
        """Where the texts stand on the map by neighbours; can be made anew from the vectors."""
        return self.path / "map.npz"

    @property
    def fingerprints(self) -> Path:
        """The hashes of what was asked; see fingerprints.py."""
        return self.path / "fingerprints.npz"

    @property
    def manifest(self) -> Path:
        return self.path / "job.json"

    def body(self, batch: int) -> Path:
        """The exact bytes of a batch, from before it is sent until its answer is stored."""
        return self.path / "bodies" / f"{batch:04}.json"

    def reply(self, batch: int) -> Path:
        return self.path / "replies" / f"{batch:04}.json.gz"

    def create(self) -> None:
        is_new = not self.path.exists()
        missing = [path for path in (self.path / "bodies", self.path / "replies") if not path.exists()]
        if missing:
            self.path.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
            for path in missing:
                path.mkdir(mode=OWN_FOLDER, exist_ok=True)
            flush_folder(self.path)
        if is_new:
            flush_folder(self.path.parent)

    def write(self, path: Path, data: bytes) -> None:
        """A body or a reply, whole or not at all; a backup brings no empty folders back. Raises DiskFull, DataError."""
        with suppress(OSError):  # said by the writing
            if not path.parent.exists():
                path.parent.mkdir(mode=OWN_FOLDER, exist_ok=True)
                flush_folder(self.path)
        write_own_file(path, data)

    def delete(self) -> bool:
        """Remove the folder for good; False when something is left, such as a file that is open on Windows."""
        shutil.rmtree(self.path, ignore_errors=True)
        flush_folder(self.path.parent)
        return not self.path.exists()

    def open(self, *, read_only: bool = False) -> AbstractContextManager[sqlite3.Connection]:
        return schema.opened(self.data, read_only=read_only)

    def save_draft(self, draft: SavedDraft) -> None:
        self.create()
        write_own_file(self.path / "draft.json", msgspec.json.encode(draft))

    def draft(self) -> SavedDraft | None:
        path = self.path / "draft.json"
        if not path.exists():
            return None
        return msgspec.json.decode(path.read_bytes(), type=SavedDraft)

    def read_reply(self, batch: int) -> bytes:
        """The raw answer, as it came. Raises OSError and EOFError when it is missing or damaged."""
        try:
            return gzip.decompress(self.reply(batch).read_bytes())
        except zlib.error as error:
            raise gzip.BadGzipFile(str(error)) from error


_FACT = "texts_forgotten"  # when they were removed, in seconds since 1970
_STATEMENTS = """
UPDATE texts SET text = CASE WHEN text_id <> '' THEN text_id ELSE 'Row ' || row END;
UPDATE queries SET text = CASE WHEN query_id <> '' THEN query_id ELSE 'Row ' || row END;
DELETE FROM source_rows;
DELETE FROM raw_rows;
DELETE FROM lengths
"""


def forget_texts(folder: JobFolder, now: float) -> None:
    """Remove the texts, whole or not at all, and keep ids, ranks, scores and vectors; a text is replaced by its id or
    row number. Also gone: other cells, bodies, and hashes, by which a short text can be guessed. `now` in seconds
    since 1970. May be repeated. Raises DataError, DiskFull.
    """
    with folder.open() as database:
        database.execute("PRAGMA secure_delete = ON")
        for path in (*(folder.path / "bodies").glob("*.json"), folder.fingerprints):
            remove_own_file(path)
        with transaction(database):
            for statement in _STATEMENTS.split(";"):
                database.execute(statement)
            database.execute("DELETE FROM facts WHERE name = ?", (ROW_FORM,))
            put_metadata_value(database, _FACT, now)
        with suppress(sqlite3.OperationalError):  # no room for it
            database.execute("VACUUM")  # gives the room back; without it the pages are empty all the same


def check_has_texts(folder: JobFolder) -> None:
    """Raise UsageError where the texts were removed: what stands for them must never be sent as texts."""
    if texts_forgotten(folder) is not None:
        raise UsageError(
            message(
                "The texts of this job were removed, so it cannot be sent again, copied or judged. Open its file in a"
                " new job."
            )
        )


def texts_forgotten(folder: JobFolder) -> float | None:
    """When the texts were removed, in seconds since 1970; None while they are there. Raises DataError."""
    if not folder.data.exists():
        return None
    with folder.open(read_only=True) as database:
        return _forgotten(database)


def _forgotten(database: sqlite3.Connection) -> float | None:
    found = metadata_value(database, _FACT)
    return float(found) if isinstance(found, int | float) else None
