"""The tables of the ledger: a checksum tells whether a row is as it was written, sums tell whether rows are missing or
a part of the file is older than the rest.
"""

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

# `batches` and `sum`: how many rows a job has in `batches`, and the sum of their checksums. `attempts`: every attempt
# that was ever committed, also those that a batch does not show any more.
_TABLES = """
CREATE TABLE jobs(
    id TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL, batches INTEGER NOT NULL, sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE batches(
    job_id TEXT NOT NULL, number INTEGER NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY(job_id, number)) WITHOUT ROWID;
CREATE TABLE attempts(attempt TEXT PRIMARY KEY, job_id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE metadata(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID
"""

SUM = "sum"  # over all rows of `jobs` (checksum, batches and sum) and of `attempts`
WRITTEN_BY = "version"  # as SQLite's user_version, of which one bit may be damaged unnoticed
IS_IN_USE = "is_in_use"  # 1 from the first write until the ledger is closed

_decoders: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Job, Batch, ListedJob, ListedBatch)
}
JobRow = tuple[str, bytes, int]
BatchRow = tuple[str, int, bytes, int]


def prepare(database: sqlite3.Connection, path: Path) -> None:
    """Create the tables of a new ledger. Raises DataError for one of another version, which is left as it is."""
    if check_version(database, path) == 0:
        with transaction(database):
            for statement in _TABLES.split(";\n"):  # executescript would commit the transaction first
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {VERSION}")
            put_metadata(database, WRITTEN_BY, VERSION)
            put_metadata(database, SUM, 0)


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


def check_after_crash(database: sqlite3.Connection) -> bool:
    """Whether the last writer did not come to its end; LedgerDamaged is raised when it left a broken structure."""
    if not metadata(database, IS_IN_USE):
        return False
    (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise LedgerDamaged(DAMAGED, detail=str(found))
    return True


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
    """Write jobs without their batches, and batches, with all sums; in the caller's transaction."""
    rows = {job.id: _job_row(job) for job in jobs}
    by_job: dict[str, list[Batch]] = {job_id: [] for job_id in (*rows, forget_batches_of) if job_id}
    for batch in batches:
        by_job.setdefault(batch.job_id, []).append(batch)
    change = 0
    for job_id, written in by_job.items():
        change += _write_job(database, job_id, rows.get(job_id), written, is_new_plan=job_id == forget_batches_of)
    change += put_attempts(database, ((batch.attempt, batch.job_id) for batch in batches if batch.attempt))
    _add_to_sum(database, change)


def forget(database: sqlite3.Connection, job_id: str) -> None:
    change = 0
    for known in database.execute("SELECT checksum, batches, sum FROM jobs WHERE id = ?", (job_id,)):
        change -= sum(known)
    for (attempt,) in database.execute("SELECT attempt FROM attempts WHERE job_id = ?", (job_id,)):
        change -= _checksum(attempt.encode())
    for table, column in (("batches", "job_id"), ("attempts", "job_id"), ("jobs", "id")):
        database.execute(f"DELETE FROM {table} WHERE {column} = ?", (job_id,))  # noqa: S608  # constants
    _add_to_sum(database, change)


def put_attempts(database: sqlite3.Connection, attempts: Iterable[tuple[str, str]]) -> int:
    change = 0
    for attempt, job_id in attempts:
        added = database.execute("INSERT OR IGNORE INTO attempts VALUES(?, ?)", (attempt, job_id)).rowcount
        change += _checksum(attempt.encode()) if added > 0 else 0
    return change


def add_attempts(database: sqlite3.Connection, attempts: Iterable[tuple[str, str]]) -> None:
    """`put_attempts` with the sum of all rows, in the caller's transaction."""
    _add_to_sum(database, put_attempts(database, attempts))


def load(database: sqlite3.Connection) -> dict[str, Job]:
    """All jobs with their batches. Raises LedgerDamaged for a row or a sum that is not as it was written."""
    with _snapshot(database), paused_collection():
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            return {}
        batches: dict[str, list[Batch]] = {}
        sums: dict[str, int] = {}
        for job_id, number, value, checksum in database.execute(
            "SELECT job_id, number, value, checksum FROM batches ORDER BY job_id, number"
        ):
            batch = decoded(value, checksum, Batch)
            if (batch.job_id, batch.number) != (job_id, number):
                raise LedgerDamaged(DAMAGED, detail=f"batch {number} of {job_id} is another's")
            batches.setdefault(job_id, []).append(batch)
            sums[job_id] = sums.get(job_id, 0) + checksum
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
        check_sums(database, {job_id: (len(job.batches), sums.get(job_id, 0)) for job_id, job in jobs.items()})
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


def check_sums(database: sqlite3.Connection, found: dict[str, tuple[int, int]]) -> None:
    """Raise LedgerDamaged unless these counts and sums of each job's batches, and the sum of all, are those written."""
    for job_id, count, total in database.execute("SELECT id, batches, sum FROM jobs"):
        if found.get(job_id) != (count, total):
            raise LedgerDamaged(DAMAGED, detail=f"job {job_id} has not the {count} batches that were written")
    if (metadata(database, SUM) or 0) != _sum_of_all(database):
        raise LedgerDamaged(DAMAGED, detail="a part of it is missing, or is older than the rest")


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


def _write_job(
    database: sqlite3.Connection, job_id: str, row: JobRow | None, batches: Sequence[Batch], *, is_new_plan: bool
) -> int:
    known = database.execute("SELECT checksum, batches, sum FROM jobs WHERE id = ?", (job_id,)).fetchone()
    checksum, count, total = known or (0, 0, 0)
    if is_new_plan:
        database.execute("DELETE FROM batches WHERE job_id = ?", (job_id,))
        count = total = 0
    rows = [_batch_row(batch) for batch in batches]
    for _, number, _, new in rows:
        old = None
        if not is_new_plan:
            old = database.execute(
                "SELECT checksum FROM batches WHERE job_id = ? AND number = ?", (job_id, number)
            ).fetchone()
        count += old is None
        total += new - (old[0] if old else 0)
    database.executemany("INSERT OR REPLACE INTO batches VALUES(?, ?, ?, ?)", rows)
    if row is not None:
        checksum = row[2]
        database.execute("INSERT OR REPLACE INTO jobs VALUES(?, ?, ?, ?, ?)", (*row, count, total))
    else:
        database.execute("UPDATE jobs SET batches = ?, sum = ? WHERE id = ?", (count, total, job_id))
    return checksum + count + total - sum(known or ())


def _add_to_sum(database: sqlite3.Connection, change: int) -> None:
    if change:
        database.execute("UPDATE metadata SET value = value + ? WHERE name = ?", (change, SUM))


def _sum_of_all(database: sqlite3.Connection) -> int:
    (jobs,) = database.execute("SELECT coalesce(sum(checksum + batches + sum), 0) FROM jobs").fetchone()
    attempts = database.execute("SELECT attempt FROM attempts").fetchall()
    return int(jobs) + sum(_checksum(attempt.encode()) for (attempt,) in attempts)


def _checksum(value: bytes) -> int:
    return zlib.crc32(value)


_encode = msgspec.json.Encoder(enc_hook=str).encode  # messages as their text


def _job_row(job: Job) -> JobRow:
    value = _encode(replace(job, batches=()))
    return job.id, value, _checksum(value)


def _batch_row(batch: Batch) -> BatchRow:
    value = _encode(batch)
    return batch.job_id, batch.number, value, _checksum(value)
