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
from cfbatch_gui.core.system.files import OWN_FOLDER, flush_folder, write_own_file


class SavedDraft(msgspec.Struct, frozen=True):
    """The file, how it is read and what its columns are for, as it is kept with a job."""

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

    def reply(self, batch: int) -> Path:
        return self.path / "replies" / f"{batch:04}.json.gz"

    def create(self) -> None:
        is_new = not self.path.exists()
        replies = self.path / "replies"
        if not replies.exists():
            self.path.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
            replies.mkdir(mode=OWN_FOLDER, exist_ok=True)
            flush_folder(self.path)
        if is_new:
            flush_folder(self.path.parent)

    def write_reply(self, batch: int, data: bytes) -> None:
        """Whole or not at all; a backup brings no empty folders back. Raises DiskFull, DataError."""
        with suppress(OSError):  # said by the writing
            self.create()
        write_own_file(self.reply(batch), data)

    def delete(self) -> bool:
        """Remove the folder for good; False when something is left, such as a file that is open on Windows."""
        shutil.rmtree(self.path, ignore_errors=True)
        flush_folder(self.path.parent)
        return not self.path.exists()

    def open(self, *, read_only: bool = False) -> AbstractContextManager[sqlite3.Connection]:
        return schema.opened(self.data, read_only=read_only)

    def fact(self, name: str) -> object:
        """What `metadata_value` gives; None also without data."""
        if not self.data.exists():
            return None
        with self.open(read_only=True) as database:
            return metadata_value(database, name)

    def keep_fact(self, name: str, value: object) -> None:
        """Raises DiskFull and DataError."""
        with self.open() as database:
            put_metadata_value(database, name, value)

    def draft(self) -> SavedDraft | None:
        found = self.fact(DRAFT)
        return msgspec.convert(found, SavedDraft) if found is not None else None

    def note_sending(self, batch: int, attempt: str, sha256: str, size: int) -> None:
        """Commit that the sending of a batch begins: it may have left from now on, whatever else is lost. Raises
        DiskFull and DataError.
        """
        with self.open() as database:
            database.execute(
                "INSERT INTO batches(batch, attempt, sha256, bytes) VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " attempt = excluded.attempt, sha256 = excluded.sha256, bytes = excluded.bytes",
                (batch, attempt, sha256, size),
            )

    def read_reply(self, batch: int) -> bytes:
        """The raw answer, as it came. Raises OSError and EOFError when it is missing or damaged."""
        try:
            return gzip.decompress(self.reply(batch).read_bytes())
        except zlib.error as error:
            raise gzip.BadGzipFile(str(error)) from error


def sending_begun(folder: JobFolder) -> dict[int, bool]:
    """The batches whose sending has begun, each with whether its results were stored since. Raises DataError."""
    if not folder.data.exists():
        return {}
    with folder.open(read_only=True) as database:
        found = database.execute("SELECT batch, results IS NOT NULL FROM batches WHERE attempt IS NOT NULL")
        return {batch: bool(is_stored) for batch, is_stored in found}


DRAFT = "draft"  # the name of a fact: SavedDraft
JOB = "job"  # and of another: the job as it was filled and planned, by which it is put together again
_FACT = "texts_forgotten"  # when they were removed, in seconds since 1970
_STATEMENTS = """
UPDATE texts SET text = CASE WHEN text_id <> '' THEN text_id ELSE 'Row ' || row END;
UPDATE queries SET text = CASE WHEN query_id <> '' THEN query_id ELSE 'Row ' || row END;
DELETE FROM source_rows;
DELETE FROM raw_rows;
DELETE FROM lengths;
DELETE FROM asked;
DELETE FROM kept_arrays WHERE name = 'hashes'
"""


def forget_texts(folder: JobFolder, now: float) -> None:
    """Remove the texts, whole or not at all, and keep ids, ranks, scores and vectors; a text is replaced by its id or
    row number. Also gone: other cells, and hashes, by which a short text can be guessed. `now` in seconds
    since 1970. May be repeated. Raises DataError, DiskFull.
    """
    with folder.open() as database:
        database.execute("PRAGMA secure_delete = ON")
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
        raise UsageError(message("texts_job_were_removed_cannot_be"))


def texts_forgotten(folder: JobFolder) -> float | None:
    """When the texts were removed, in seconds since 1970; None while they are there. Raises DataError."""
    found = folder.fact(_FACT)
    return float(found) if isinstance(found, int | float) else None
