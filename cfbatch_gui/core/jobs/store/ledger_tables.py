"""The tables of the ledger; a checksum tells whether a row is as it was written, SQLite's own check all else."""

import gc
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from cfbatch_gui.core.errors import DataError, LedgerDamaged
from cfbatch_gui.core.job_folder.schema import transaction
from cfbatch_gui.core.jobs.states import Batch, Job, ListedBatch, ListedJob
from cfbatch_gui.core.messages import message

VERSION = 1  # of the tables. A ledger of another version is refused; `prepare` is where the first migration goes
DAMAGED = message("The list of your jobs is damaged.")
T = TypeVar("T")

# `attempts`: every attempt that was ever committed, also those that a batch does not show any more.
_TABLES = """
CREATE TABLE jobs(id TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE batches(
    job_id TEXT NOT NULL, number INTEGER NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY(job_id, number)) WITHOUT ROWID;
CREATE TABLE attempts(attempt TEXT PRIMARY KEY, job_id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE metadata(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID
"""

WRITTEN_BY = "version"  # as SQLite's user_version, of which one bit may be damaged unnoticed
IS_IN_USE = "is_in_use"  # 1 from the first write until the ledger is closed

_decoders: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Job, Batch, ListedJob, ListedBatch)
}


def prepare(database: sqlite3.Connection, path: Path) -> None:
    """Create the tables of a new ledger. Raises DataError for one of another version, which is left as it is."""
    if check_version(database, path) == 0:
        with transaction(database):
            for statement in _TABLES.split(";\n"):  # executescript would commit the transaction first
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {VERSION}")
            put_metadata(database, WRITTEN_BY, VERSION)


def check_version(database: sqlite3.Connection, path: Path) -> int:
    """The version of the tables, 0 without any. Raises LedgerDamaged, and DataError for another version."""
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    noted = metadata(database, WRITTEN_BY) if "metadata" in tables else version
    if noted != version or (version == 0 and tables):
        raise LedgerDamaged(DAMAGED, detail=f"its version is not {version}")
    if version not in (0, VERSION):
        raise DataError(
            message(
                "Your jobs were written by another version of CF Batch, which alone can open them; nothing was changed."
                " They are in “{folder}”.",
                folder=path.parent,
            ),
            detail=f"{path.name}: version {version}",
        )
    return version


def check_structure(database: sqlite3.Connection) -> None:
    """Raise LedgerDamaged for a file that is not sound."""
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise LedgerDamaged(DAMAGED, detail=str(found))


def metadata(database: sqlite3.Connection, name: str) -> object:
    """A value of the ledger as a whole, None when it was never put."""
    found = database.execute("SELECT value FROM metadata WHERE name = ?", (name,)).fetchone()
    return found[0] if found else None


def put_metadata(database: sqlite3.Connection, name: str, value: object) -> None:
    """Write a value of the ledger as a whole, in the caller's transaction."""
    database.execute("INSERT OR REPLACE INTO metadata VALUES(?, ?)", (name, value))


def write(
    database: sqlite3.Connection, jobs: Sequence[Job], batches: Sequence[Batch], *, forget_batches_of: str = ""
) -> None:
    """Write jobs without their batches, and batches; in the caller's transaction."""
    if forget_batches_of:
        database.execute("DELETE FROM batches WHERE job_id = ?", (forget_batches_of,))
    values = [(job.id, _encode(replace(job, batches=()))) for job in jobs]
    database.executemany("INSERT OR REPLACE INTO jobs VALUES(?, ?, ?)", [(*row, zlib.crc32(row[-1])) for row in values])
    rows = [(batch.job_id, batch.number, _encode(batch)) for batch in batches]
    database.executemany(
        "INSERT OR REPLACE INTO batches VALUES(?, ?, ?, ?)", [(*row, zlib.crc32(row[-1])) for row in rows]
    )
    add_attempts(database, ((batch.attempt, batch.job_id) for batch in batches if batch.attempt))


def forget(database: sqlite3.Connection, job_id: str) -> None:
    for table, column in (("batches", "job_id"), ("attempts", "job_id"), ("jobs", "id")):
        database.execute(f"DELETE FROM {table} WHERE {column} = ?", (job_id,))  # noqa: S608  # constants


def add_attempts(database: sqlite3.Connection, attempts: Iterable[tuple[str, str]]) -> None:
    """Add attempts that are not there, each with its job's id; in the caller's transaction."""
    database.executemany("INSERT OR IGNORE INTO attempts VALUES(?, ?)", attempts)


def load(database: sqlite3.Connection) -> dict[str, Job]:
    """All jobs with their batches. Raises LedgerDamaged for a row that is not as it was written."""
    with _snapshot(database), paused_collection():
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            return {}
        batches: dict[str, list[Batch]] = {}
        for job_id, number, value, checksum in database.execute(
            "SELECT job_id, number, value, checksum FROM batches ORDER BY job_id, number"
        ):
            batch = decoded(value, checksum, Batch)
            if (batch.job_id, batch.number) != (job_id, number):
                raise LedgerDamaged(DAMAGED, detail=f"batch {number} of {job_id} is another's")
            batches.setdefault(job_id, []).append(batch)
        jobs = {}
        for job_id, value, checksum in database.execute("SELECT id, value, checksum FROM jobs"):
            job = decoded(value, checksum, Job)
            if job.id != job_id:
                raise LedgerDamaged(DAMAGED, detail=f"job {job_id} is another's")
            # Nobody else has the job yet; a copy of 26 values takes longer than decoding them.
            object.__setattr__(job, "batches", tuple(batches.get(job_id, ())))
            jobs[job_id] = job
        if batches.keys() - jobs.keys():
            raise LedgerDamaged(DAMAGED, detail="batches without a job")
        return jobs


def load_list(database: sqlite3.Connection) -> list[ListedJob]:
    """What a list shows of the jobs that are not deleted, in no order. Raises LedgerDamaged for a damaged row."""
    with _snapshot(database), paused_collection():
        batches: dict[str, list[ListedBatch]] = {}
        for job_id, value, checksum in database.execute("SELECT job_id, value, checksum FROM batches"):
            batches.setdefault(job_id, []).append(decoded(value, checksum, ListedBatch))
        jobs = []
        for value, checksum in database.execute("SELECT value, checksum FROM jobs"):
            job = decoded(value, checksum, ListedJob)
            if not job.deleted_at:
                job.batches = batches.get(job.id, ())
                jobs.append(job)
        return jobs


@contextmanager
def paused_collection() -> Iterator[None]:
    """Without garbage collection, which would look through everything again and again while much is made to stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def decoded(value: object, checksum: int, kind: type[T]) -> T:
    """A row's value. Raises LedgerDamaged when it is not as it was written."""
    if not isinstance(value, bytes) or zlib.crc32(value) != checksum:
        raise LedgerDamaged(DAMAGED)
    try:
        return _decoders[kind].decode(value)  # type: ignore[no-any-return]  # of its kind
    except ValueError as error:
        raise LedgerDamaged(DAMAGED, detail=str(error)) from error


@contextmanager
def _snapshot(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN")
    try:
        yield
    finally:
        database.execute("COMMIT")


_encode = msgspec.json.Encoder(enc_hook=str).encode  # messages as their text
