"""What jobs and batches there are, on disk. The program's own record is the only one: the service keeps no list."""

import errno
import gc
import os
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass, replace
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

import msgspec

from cfbatch_gui.core.errors import DataError, DataInUse, DiskFull, LedgerDamaged, UsageError
from cfbatch_gui.core.job_folder.schema import one_moment, transaction, translated
from cfbatch_gui.core.jobs.states import SENTENCES, Batch, Job
from cfbatch_gui.core.messages import message, restored
from cfbatch_gui.core.system.databases import connect_durably
from cfbatch_gui.core.system.files import HELD, OWN_FILE, OWN_FOLDER, WITHOUT_LOCKS, create_own_file, take_lock
from cfbatch_gui.core.system.paths import OVERRIDE, Paths

VERSION = 1  # of the tables. A ledger of another version is refused; `Ledger.open` is where the first migration goes
DAMAGED = message("list_your_jobs_is_damaged")
RESERVE_BYTES = 512 * 1024  # of the disk, kept for the ledger until the disk is full

T = TypeVar("T")

_created = attrgetter("created_at", "id")


class _Table(Generic[T]):
    """Frozen values of one class, a row for each and a column for each field; nested values are stored as JSON."""

    def __init__(self, name: str, kind: type[T], key: str, *rules: str, left_out: str = "") -> None:
        hints = {field: hint for field, hint in get_type_hints(kind).items() if field != left_out}
        self._name, self._kind, self._key, self._columns = name, kind, key, tuple(hints)
        self._fields = attrgetter(*hints)
        nested = [field for field, hint in hints.items() if not isinstance(hint, type) or is_dataclass(hint)]
        # Most of these are alike, and all of them are frozen.
        self._nested = frozenset(nested)
        self._decoders: dict[str, Callable[[str], object]] = {
            **{field: lru_cache(msgspec.json.Decoder(hints[field]).decode) for field in nested},
            **dict.fromkeys(SENTENCES & hints.keys(), restored),
        }
        columns = (f"{field} {_TYPES.get(hint, 'TEXT')} NOT NULL" for field, hint in hints.items())
        definition = ", ".join((*columns, f"PRIMARY KEY({key})", *rules))
        self.statement: str = f"CREATE TABLE {name}({definition}) WITHOUT ROWID"

    def write(self, database: sqlite3.Connection, values: Iterable[T]) -> None:
        """Put values into the table, in place of those with the same key."""
        places = ", ".join("?" * len(self._columns))
        changes = ", ".join(f"{column} = excluded.{column}" for column in self._columns)
        database.executemany(
            f"INSERT INTO {self._name} VALUES({places}) ON CONFLICT({self._key}) DO UPDATE SET {changes}",  # fields
            map(self._row, values),
        )

    def read(self, database: sqlite3.Connection) -> list[T]:
        """All values, ordered by their key. Raises ValueError for a row that is damaged."""
        columns = ", ".join(self._columns)
        found = database.execute(f"SELECT {columns} FROM {self._name} ORDER BY {self._key}")  # noqa: S608  # fields
        rows = [dict(zip(self._columns, row, strict=True)) for row in found]
        for column, decode in self._decoders.items():
            for row in rows:
                row[column] = decode(str(row[column]))  # a damaged one may hold anything
        return msgspec.convert(rows, list[self._kind], strict=False)  # type: ignore[name-defined]  # numbers as booleans

    def _row(self, value: T) -> list[Any]:
        row = list(self._fields(value))
        for index, column in enumerate(self._columns):
            if column in self._nested:
                row[index] = msgspec.json.encode(row[index]).decode()
        return row


_TYPES = {int: "INTEGER", bool: "INTEGER", float: "REAL"}
_JOBS = _Table("jobs", Job, "id", left_out="batches")
_OF_JOB = "FOREIGN KEY(job_id) REFERENCES jobs(id) ON DELETE CASCADE"
_BATCHES = _Table("batches", Batch, "job_id, number", _OF_JOB)
# `attempts`: every attempt that was ever committed, also those that a batch does not show any more. The indexes hold a
# second time what money depends on: SQLite's check compares them with the rows, so no bit of it flips unnoticed.
# `data_folder`: see data_folder.py. The version stands in two places, of which one may be damaged.
_SCHEMA = (
    _JOBS.statement,
    _BATCHES.statement,
    "CREATE INDEX jobs_once_more ON jobs(id, is_sent, connection, model, kind, paused_because)",
    "CREATE INDEX batches_once_more ON batches(job_id, number, state, attempt, request_id, at_once, adopted)",
    "CREATE TABLE attempts(attempt TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE data_folder(id TEXT NOT NULL, generation INTEGER NOT NULL)",
    "INSERT INTO data_folder VALUES('', 0)",
    f"PRAGMA user_version = {VERSION}",
    f"PRAGMA application_id = {VERSION}",
)


@contextmanager
def _opening(path: Path, *, read_only: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that is left open, unless the block raises. Raises DataError for what is wrong with the file."""
    try:
        database = connect_durably(path, read_only=read_only)
        try:
            database.execute("PRAGMA foreign_keys = ON")
            yield database
        except BaseException:
            database.close()
            raise
    except (sqlite3.Error, ValueError) as error:  # also by text that is not UTF-8
        raise _opening_failed(error, path) from error


@contextmanager
def _reading(paths: Paths) -> Iterator[sqlite3.Connection]:
    """As `_opening`, to read only. Raises LedgerDamaged also for one that is gone, or empty, beside folders of jobs."""
    if paths.has_ledger():
        with _opening(paths.ledger, read_only=True) as database:
            if _version(database, paths.ledger):
                yield database
                return
            database.close()  # the program ended while it made the tables
    if any(paths.jobs.glob("*/data.db")):
        raise LedgerDamaged(DAMAGED, detail="it is missing")
    database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _create(database)
    yield database


def _create(database: sqlite3.Connection) -> None:
    with transaction(database):
        for statement in _SCHEMA:
            database.execute(statement)


def _check(database: sqlite3.Connection) -> None:
    """Raise LedgerDamaged for a file that is not sound."""
    # quick_check passes a row that is there twice, as a page of an older file leaves it, at the same speed.
    (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    # A page that says it is empty is sound, and may have had the folder's identity, or all batches of a job.
    (rows,) = database.execute("SELECT count(*) FROM data_folder").fetchone()
    lacking = database.execute(_WITHOUT_BATCHES).fetchone() or database.execute("PRAGMA foreign_key_check").fetchone()
    if found != "ok" or rows != 1 or lacking:
        raise LedgerDamaged(DAMAGED, detail=str(found))


_WITHOUT_BATCHES = "SELECT id FROM jobs WHERE is_sent AND NOT reused AND id NOT IN (SELECT job_id FROM batches)"


def _version(database: sqlite3.Connection, path: Path) -> int:
    """The version of the tables, 0 without any. Raises LedgerDamaged, and DataError for another version."""
    versions = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")]
    version: int = versions[0]
    if versions != [version, version]:
        raise LedgerDamaged(DAMAGED, detail=f"its version is not {version}")
    if version not in (0, VERSION):
        raise DataError(
            message("your_jobs_were_written_another_version", folder=path.parent),
            detail=f"{path.name}: version {version}",
        )
    return version


def _add_attempts(database: sqlite3.Connection, attempts: Iterable[str]) -> None:
    database.executemany("INSERT OR IGNORE INTO attempts VALUES(?)", ((attempt,) for attempt in attempts))


@contextmanager
def without_collection() -> Iterator[None]:
    """No garbage is collected, as that would look through what is made, all of which stays, again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _load(database: sqlite3.Connection) -> dict[str, Job]:
    """All jobs with their batches."""
    with without_collection(), one_moment(database):
        batches = defaultdict[str, list[Batch]](list)
        for each in _BATCHES.read(database):
            batches[each.job_id].append(each)
        jobs = {each.id: each for each in _JOBS.read(database)}
        for job_id, of_job in batches.items():
            # Nobody else has the job yet; a copy of 28 values takes longer than making them.
            object.__setattr__(jobs[job_id], "batches", tuple(of_job))
        return jobs


class WriterLock:
    """Held from construction until `release` or the end of the process.

    Raises DataInUse when another process holds it, and DataError.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, OWN_FILE)
        except OSError as error:
            raise Paths(path.parent).failure(error) from error
        try:
            take_lock(self._file)
        except OSError as error:
            os.close(self._file)
            raise _lock_failed(error, path) from error

    def release(self) -> None:
        os.close(self._file)


def _lock_failed(error: OSError, path: Path) -> DataError:
    if error.errno in HELD:
        return DataInUse(message("cf_batch_is_already_work_data"), detail=str(path))
    detail = f"{path}: {error.strerror} ({errno.errorcode.get(error.errno or 0, error.errno)})"
    if error.errno in WITHOUT_LOCKS:
        return DataError(
            message("disk_folder_program_data_folder_no", folder=path.parent, variable=OVERRIDE), detail=detail
        )
    return Paths(path.parent).failure(error)


class Ledger:
    """All jobs of one data folder. Methods may be called from any thread; a write returns when it is on disk."""

    def __init__(self, database: sqlite3.Connection, paths: Paths, lock: WriterLock | None = None) -> None:
        self._database, self._paths, self._lock = database, paths, lock
        self._writing = threading.Lock()  # one writer at a time, from reading what is changed until it is on disk
        self._guard = threading.Lock()  # what is in memory; never held while the disk works, as the window reads here
        self._jobs = _load(database)

    @classmethod
    def open(cls, paths: Paths) -> "Ledger":
        """Open for reading and writing; there is one writer at a time.

        Raises DataError: see WriterLock, and when it is damaged or of another version.
        """
        lock = WriterLock(paths.lock)
        try:
            _keep_reserve(paths.reserve_file)
            with _opening(paths.ledger) as database:
                if _version(database, paths.ledger) == 0:
                    _create(database)
                _check(database)
                return cls(database, paths, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open_read_only(cls, paths: Paths) -> "Ledger":
        """Raises DataError: LedgerDamaged also where there is none, but folders of jobs."""
        with _reading(paths) as database:
            _check(database)
            return cls(database, paths)

    def jobs(self) -> tuple[Job, ...]:
        """All jobs that are not deleted, newest first."""
        with self._guard:
            found = [job for job in self._jobs.values() if not job.deleted_at]
        return tuple(sorted(found, key=_created, reverse=True))

    def deleted_jobs(self) -> tuple[Job, ...]:
        with self._guard:
            return tuple(job for job in self._jobs.values() if job.deleted_at)

    def job(self, job_id: str) -> Job:
        """One job. Raises UsageError when there is none."""
        with self._guard:
            if job_id not in self._jobs:
                raise UsageError(message("there_is_no_job_id", id=job_id))
            return self._jobs[job_id]

    def find(self, words: str) -> Job:
        """A job by its id, the beginning of its id, or its name. Raises UsageError for none, or for several."""
        jobs = self.jobs()
        for fits in (
            [job for job in jobs if job.id == words],
            [job for job in jobs if job.name == words],
            [job for job in jobs if words and job.id.startswith(words)],
        ):
            if len(fits) == 1:
                return fits[0]
            if fits:
                raise UsageError(message("name_fits_n_jobs_use_id", name=words, n=len(fits)))
        raise UsageError(message("there_is_no_job_name_cfbatch", name=words))

    def batch(self, job_id: str, number: int) -> Batch:
        """One batch. Raises UsageError when there is none."""
        batches = self.job(job_id).batches
        index = _index(batches, number)
        if index == len(batches):
            raise UsageError(message("job_no_batch_number", number=number))
        return batches[index]

    def put(self, job: Job, batches: Iterable[Batch] = (), attempts: Collection[str] = ()) -> Job:
        """Write a job that is not shown yet, with its batches, in place of what was known of it, and attempts of it."""
        job = replace(job, batches=tuple(batches))
        with self._writing:
            self._commit(lambda: self._write(job, None), lambda: _add_attempts(self._database, attempts))
            with self._guard:
                self._jobs[job.id] = job
        return job

    def change(self, job_id: str, change: Callable[[Job], Job]) -> Job:
        """Write what `change` makes of a job as it is at that moment; no other change comes between.

        Batches that it leaves as they are are not written. When it raises, nothing is.
        """
        return self.change_all([job_id], change)[0]

    def change_all(self, job_ids: Iterable[str], change: Callable[[Job], Job]) -> tuple[Job, ...]:
        """`change` for several jobs, in one transaction: of all or of none."""
        with self._writing:
            changed = [(job, change(job)) for job in map(self.job, job_ids)]
            return self._save([(after, _changed_batches(before, after)) for before, after in changed])

    def save_batch(self, batch: Batch, **job_changes: Any) -> Job:
        """Write a batch in place of the one of its number, and changes of its job."""
        return self.change(batch.job_id, lambda job: replace(_with_batches(job, [batch]), **job_changes))

    def show_batch(self, batch: Batch) -> Job:
        """Change a batch in memory only: times of checks, which are no state and cost no disk."""
        with self._guard:
            job = self._jobs[batch.job_id] = _with_batches(self._jobs[batch.job_id], [batch])
            return job

    def remove(self, job_id: str) -> None:
        with self._writing:
            self._commit(lambda: self._database.execute("DELETE FROM jobs WHERE id = ?", (job_id,)))
            with self._guard:
                self._jobs.pop(job_id, None)

    def folder_identity(self) -> tuple[str, int]:
        """The id of the data folder, "" while it has none, and its generation."""
        with self._writing:
            return self._database.execute("SELECT id, generation FROM data_folder").fetchone()  # type: ignore[no-any-return]

    def keep_folder_identity(self, folder_id: str, generation: int) -> None:
        """Raises DiskFull and DataError."""
        with self._writing:
            change = "UPDATE data_folder SET id = ?, generation = ?"
            self._commit(lambda: self._database.execute(change, (folder_id, generation)))

    def attempts(self) -> frozenset[str]:
        """The ids of all attempts to send that were ever committed here, or learned from submissions.jsonl."""
        with self._writing:
            return frozenset(attempt for (attempt,) in self._database.execute("SELECT attempt FROM attempts"))

    def learn_attempts(self, attempts: Collection[str]) -> None:
        """Add attempts of submissions.jsonl. Raises DiskFull and DataError."""
        with self._writing:
            self._commit(lambda: _add_attempts(self._database, attempts))

    def make_room(self) -> bool:
        """On a full disk: delete the reserve file. False when there was none, or it could not be deleted."""
        try:
            self._paths.reserve_file.unlink()
        except OSError:
            return False
        return True

    def close(self) -> None:
        with self._writing:
            self._database.close()
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def _save(self, changed: Sequence[tuple[Job, Sequence[Batch] | None]]) -> tuple[Job, ...]:
        """Write jobs, each with those of its batches that differ, as `_write` does."""
        self._commit(*(partial(self._write, *each) for each in changed))
        with self._guard:
            for job, batches in changed:
                # Batches that were not changed stay with the checks that were shown in the meantime.
                shown = job if batches is None else replace(job, batches=self._jobs[job.id].batches)
                self._jobs[job.id] = _with_batches(shown, batches or ())
            return tuple([self._jobs[job.id] for job, _ in changed])

    def _write(self, job: Job, batches: Sequence[Batch] | None) -> None:
        """Write a job and some of its batches, in the caller's transaction; None for all, in place of others."""
        known = self._jobs.get(job.id)
        if known is None or replace(known, batches=job.batches) != job:
            _JOBS.write(self._database, [job])
        if batches is None:
            self._database.execute("DELETE FROM batches WHERE job_id = ?", (job.id,))
            batches = job.batches
        _BATCHES.write(self._database, batches)
        _add_attempts(self._database, (batch.attempt for batch in batches if batch.attempt))

    def _commit(self, *changes: Callable[[], object]) -> None:
        """Run `changes` in a transaction; on a full disk once more, after the reserve file was deleted."""
        try:
            with transaction(self._database):
                for change in changes:
                    change()
        except sqlite3.Error as error:
            failure = translated(error, self._paths.ledger)
            if not isinstance(failure, DiskFull) or not self.make_room():
                raise failure from error
            self._commit(*changes)


def _keep_reserve(path: Path) -> None:
    """Write the file unless it is there in full. An error is ignored: the program works without a reserve."""
    with suppress(OSError):
        if not path.exists() or path.stat().st_size < RESERVE_BYTES:
            create_own_file(path)
            path.write_bytes(bytes(RESERVE_BYTES))


def _opening_failed(error: Exception, path: Path) -> DataError:
    # SQLite's own "logic error" stands for tables or columns that are missing, no code for text that is not UTF-8.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if isinstance(error, sqlite3.OperationalError) and code != sqlite3.SQLITE_ERROR:
        return translated(error, path)
    return LedgerDamaged(DAMAGED, detail=f"{path.name}: {error}")


def _changed_batches(before: Job, after: Job) -> list[Batch] | None:
    """The batches that were changed; None when there are others, or in another order."""
    pairs = [(old, new) for old, new in zip(before.batches, after.batches, strict=False) if new is not old]
    is_laid_out_anew = len(before.batches) != len(after.batches) or any(old.number != new.number for old, new in pairs)
    return None if is_laid_out_anew else [new for _, new in pairs]


def _with_batches(job: Job, batches: Iterable[Batch]) -> Job:
    """The job with these in place of those of their numbers."""
    found = list(job.batches)
    for batch in batches:
        index = _index(found, batch.number)
        found[index : index + 1] = [batch]
    return replace(job, batches=tuple(found))


def _index(batches: Sequence[Batch], number: int) -> int:
    """The index of a batch by its number, which are ascending and mostly without gaps; their count without one."""
    if 0 < number <= len(batches) and batches[number - 1].number == number:
        return number - 1
    return next((index for index, batch in enumerate(batches) if batch.number == number), len(batches))
