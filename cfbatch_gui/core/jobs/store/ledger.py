"""What jobs and batches there are, on disk. The program's own record is the only one: the service keeps no list."""

import errno
import gc
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from cfbatch_gui.core.errors import DataError, DataInUse, DiskFull, LedgerDamaged, LocksUnsupported, UsageError
from cfbatch_gui.core.job_folder.schema import transaction, translated
from cfbatch_gui.core.jobs.states import Batch, Job, ListedBatch, ListedJob
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.databases import connect_durably
from cfbatch_gui.core.system.files import (
    OWN_FILE,
    OWN_FOLDER,
    create_own_file,
    is_held_elsewhere,
    is_unsupported,
    take_lock,
)
from cfbatch_gui.core.system.paths import OVERRIDE, Paths

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


def prepare_tables(database: sqlite3.Connection, path: Path) -> None:
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
    noted = read_metadata(database, WRITTEN_BY) if "metadata" in tables else version
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
    # quick_check passes a row that is there twice, as a page of an older file leaves it, at the same speed.
    (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise LedgerDamaged(DAMAGED, detail=str(found))


def read_metadata(database: sqlite3.Connection, name: str) -> object:
    """A value of the ledger as a whole, None when it was never put."""
    found = database.execute("SELECT value FROM metadata WHERE name = ?", (name,)).fetchone()
    return found[0] if found else None


def put_metadata(database: sqlite3.Connection, name: str, value: object) -> None:
    """Write a value of the ledger as a whole, in the caller's transaction."""
    database.execute("INSERT OR REPLACE INTO metadata VALUES(?, ?)", (name, value))


def write_jobs(
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


def forget_job(database: sqlite3.Connection, job_id: str) -> None:
    for table, column in (("batches", "job_id"), ("attempts", "job_id"), ("jobs", "id")):
        database.execute(f"DELETE FROM {table} WHERE {column} = ?", (job_id,))  # noqa: S608  # constants


def add_attempts(database: sqlite3.Connection, attempts: Iterable[tuple[str, str]]) -> None:
    """Add attempts that are not there, each with its job's id; in the caller's transaction."""
    database.executemany("INSERT OR IGNORE INTO attempts VALUES(?, ?)", attempts)


def load_jobs(database: sqlite3.Connection) -> dict[str, Job]:
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


class WriterLock:
    """Held from construction until `release` or the end of the process.

    Raises DataInUse when another process holds it, LocksUnsupported, DataReadOnly and DataError. `take` locks an open
    file, and raises OSError.
    """

    def __init__(self, path: Path, take: Callable[[int], None] = take_lock) -> None:
        try:
            path.parent.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, OWN_FILE)
        except OSError as error:
            raise Paths(path.parent).failure(error) from error
        try:
            take(self._file)
        except OSError as error:
            os.close(self._file)
            raise _lock_failed(error, path) from error

    def release(self) -> None:
        os.close(self._file)


def _lock_failed(error: OSError, path: Path) -> DataError:
    if is_held_elsewhere(error):
        return DataInUse(
            message("CF Batch is already at work with this data. Use the window that is open, or close it first."),
            detail=str(path),
        )
    detail = f"{path}: {error.strerror} ({errno.errorcode.get(error.errno or 0, error.errno)})"
    if is_unsupported(error):
        return LocksUnsupported(
            message(
                "The disk with the folder for the program's data, “{folder}”, has no file locks. Without them two "
                "programs could send the same texts twice, so nothing was opened. Choose a folder on a disk of this "
                "computer with --data-dir or {variable}.",
                folder=path.parent,
                variable=OVERRIDE,
            ),
            detail=detail,
        )
    return DataError(
        message(
            "The folder for the program's data, “{folder}”, could not be locked. Try again, or choose another one "
            "with --data-dir or {variable}.",
            folder=path.parent,
            variable=OVERRIDE,
        ),
        detail=detail,
    )


SIZE = 512 * 1024  # bytes


class ReserveFile:
    """A file that keeps `SIZE` bytes of the disk for the ledger, deleted when the disk is full."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self) -> None:
        """Write the file unless it is there in full. An error is ignored: the program works without a reserve."""
        with suppress(OSError):
            if not self._path.exists() or self._path.stat().st_size < SIZE:
                create_own_file(self._path)
                self._path.write_bytes(bytes(SIZE))

    def delete(self) -> bool:
        """Free the space. False when the file was gone already or could not be deleted."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True


_created = attrgetter("created_at", "id")


class Ledger:
    """All jobs of one data folder. Methods may be called from any thread; a write returns when it is on disk."""

    def __init__(
        self, database: sqlite3.Connection, path: Path, lock: WriterLock | None, reserve: ReserveFile | None = None
    ) -> None:
        self._database, self._path, self._lock, self._reserve = database, path, lock, reserve
        self._writing = threading.Lock()  # one writer at a time, from reading what is changed until it is on disk
        self._guard = threading.Lock()  # what is in memory; never held while the disk works, as the window reads here
        self._is_in_use = False  # by this process, which has written something
        self.was_left_open = False  # the program that wrote last did not come to its end
        self._jobs = load_jobs(database)

    @classmethod
    def open(cls, paths: Paths) -> "Ledger":
        """Open for reading and writing; there is one writer at a time.

        Raises DataError: see WriterLock, and when it is damaged or of another version.
        """
        lock = WriterLock(paths.lock)
        reserve = ReserveFile(paths.reserve_file)
        reserve.create()
        try:
            database = connect_durably(paths.ledger)
            try:
                prepare_tables(database, paths.ledger)
                check_structure(database)
                opened = cls(database, paths.ledger, lock, reserve)
            except BaseException:
                database.close()
                raise
            opened.was_left_open = bool(opened.metadata(IS_IN_USE))
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's messages quote what is damaged
            lock.release()
            raise _opening_failed(error, paths.ledger) from error
        except BaseException:
            lock.release()
            raise
        return opened

    @classmethod
    def open_read_only(cls, paths: Paths) -> "Ledger":
        if not paths.ledger.exists():
            return cls(sqlite3.connect(":memory:", check_same_thread=False), paths.ledger, None)
        try:
            database = connect_durably(paths.ledger, read_only=True)
            try:
                check_version(database, paths.ledger)
                return cls(database, paths.ledger, None)
            except BaseException:
                database.close()
                raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise _opening_failed(error, paths.ledger) from error

    @staticmethod
    def listed(paths: Paths) -> tuple[ListedJob, ...]:
        """What a list shows of all jobs that are not deleted, newest first; several times as fast as all of them."""
        if not paths.ledger.exists():
            return ()
        try:
            with closing(connect_durably(paths.ledger, read_only=True)) as database:
                check_version(database, paths.ledger)
                found = load_list(database)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise _opening_failed(error, paths.ledger) from error
        return tuple(sorted(found, key=_created, reverse=True))

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
                raise UsageError(message("There is no job “{id}”.", id=job_id))
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
                raise UsageError(
                    message("“{name}” fits {n} jobs. Use the id that “cfbatch jobs” shows.", name=words, n=len(fits))
                )
        raise UsageError(message("There is no job “{name}”. “cfbatch jobs” lists them.", name=words))

    def batch(self, job_id: str, number: int) -> Batch:
        """One batch. Raises UsageError when there is none."""
        batches = self.job(job_id).batches
        index = _index(batches, number)
        if index == len(batches):
            raise UsageError(message("This job has no batch {number}.", number=number))
        return batches[index]

    def save_job(self, job: Job) -> Job:
        """Write a new job's own values; one that is known is changed with `change`. Batches stay as they are."""
        with self._writing:
            known = self._known(job.id)
            job = replace(job, batches=known.batches if known else ())
            self._write([job])
            self._keep(job)
            return job

    def save_plan(self, job: Job, batches: Iterable[Batch], attempts: Collection[str] = ()) -> Job:
        """Write a job that is not shown yet, with a new set of batches in place of those it had, and attempts of it."""
        with self._writing:
            job = replace(job, batches=tuple(batches))
            self._write([job], job.batches, forget_batches_of=job.id, attempts=attempts)
            self._keep(job)
            return job

    def change(self, job_id: str, change: Callable[[Job], Job]) -> Job:
        """Write what `change` makes of a job as it is at that moment; no other change comes between.

        New batches take the place of those it had. When `change` raises, nothing is written.
        """
        with self._writing:
            before = self.job(job_id)
            after = change(before)
            is_new_plan = after.batches is not before.batches
            self._write([after], after.batches if is_new_plan else (), forget_batches_of=job_id if is_new_plan else "")
            with self._guard:
                if not is_new_plan:
                    after = replace(after, batches=self._jobs[job_id].batches)  # with checks shown in the meantime
                self._jobs[job_id] = after
            return after

    def change_all(self, job_ids: Iterable[str], change: Callable[[Job], Job]) -> tuple[Job, ...]:
        """`change` for several jobs, in one transaction: of all or of none. It may not touch their batches."""
        with self._writing:
            changed = {job_id: change(self.job(job_id)) for job_id in job_ids}
            self._write(tuple(changed.values()))
            with self._guard:
                for job_id, job in changed.items():
                    changed[job_id] = self._jobs[job_id] = replace(job, batches=self._jobs[job_id].batches)
            return tuple(changed.values())

    def save_batch(self, batch: Batch, **job_changes: object) -> Job:
        with self._writing:
            changed = replace(self._with_batch(batch), **job_changes)  # type: ignore[arg-type]  # checked by replace
            self._write([changed] if job_changes else (), [batch])
            with self._guard:  # anew: other batches may have been shown meanwhile
                changed = replace(self._with_batch(batch), **job_changes)  # type: ignore[arg-type]  # as above
                self._jobs[batch.job_id] = changed
            return changed

    def change_batches(
        self, job_id: str, numbers: Collection[int], change: Callable[[Batch], Batch], **job_changes: object
    ) -> Job:
        with self._writing:
            job = self.job(job_id)
            pairs = [(batch, change(batch)) for batch in job.batches if batch.number in numbers]
            batches = [new for batch, new in pairs if new is not batch]
            self._write([replace(job, **job_changes)] if job_changes else (), batches)  # type: ignore[arg-type]
            with self._guard:
                for batch in batches:
                    self._jobs[job_id] = self._with_batch(batch)
                job = self._jobs[job_id] = replace(self._jobs[job_id], **job_changes)  # type: ignore[arg-type]
            return job

    def show_batch(self, batch: Batch) -> Job:
        """Change a batch in memory only: times of checks, which are no state and cost no disk."""
        with self._guard:
            job = self._with_batch(batch)
            self._jobs[job.id] = job
            return job

    def remove(self, job_id: str) -> None:
        with self._writing:
            self._commit(lambda: forget_job(self._database, job_id))
            with self._guard:
                self._jobs.pop(job_id, None)

    def metadata(self, name: str) -> object:
        """A value of the ledger as a whole, None when there is none."""
        with self._writing:
            return read_metadata(self._database, name)

    def put_metadata(self, values: Mapping[str, str | int]) -> None:
        """Write values of the ledger as a whole, in one transaction. Raises DiskFull and DataError."""

        def put() -> None:
            for name, value in values.items():
                put_metadata(self._database, name, value)

        with self._writing:
            self._commit(put)

    def attempts(self) -> frozenset[str]:
        """The ids of all attempts to send that were ever committed here, or learned from submissions.jsonl."""
        with self._writing:
            return frozenset(attempt for (attempt,) in self._database.execute("SELECT attempt FROM attempts"))

    def learn_attempts(self, attempts: Collection[tuple[str, str]]) -> None:
        """Add attempts of submissions.jsonl, each with its job's id. Raises DiskFull and DataError."""
        with self._writing:
            self._commit(lambda: add_attempts(self._database, attempts))

    def make_room(self) -> bool:
        """On a full disk: delete the reserve file. False when there was none to delete."""
        return self._reserve is not None and self._reserve.delete()

    def close(self) -> None:
        with self._writing:
            if self._is_in_use:
                with suppress(sqlite3.Error), transaction(self._database):
                    put_metadata(self._database, IS_IN_USE, 0)
            self._database.close()
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def _known(self, job_id: str) -> Job | None:
        with self._guard:
            return self._jobs.get(job_id)

    def _keep(self, job: Job) -> None:
        with self._guard:
            self._jobs[job.id] = job

    def _with_batch(self, batch: Batch) -> Job:
        """The job with this batch in place of the one of its number. A copy of the others, which takes microseconds."""
        job = self._jobs[batch.job_id]
        index = _index(job.batches, batch.number)
        return replace(job, batches=(*job.batches[:index], batch, *job.batches[index + 1 :]))

    def _write(
        self,
        jobs: Sequence[Job],
        batches: Sequence[Batch] = (),
        forget_batches_of: str = "",
        attempts: Collection[str] = (),
    ) -> None:
        def write() -> None:
            write_jobs(self._database, jobs, batches, forget_batches_of=forget_batches_of)
            add_attempts(self._database, ((each, forget_batches_of) for each in attempts))

        self._commit(write)

    def _commit(self, change: Callable[[], object]) -> None:
        """Run `change` in a transaction; on a full disk once more, after the reserve file was deleted."""
        try:
            with transaction(self._database):
                if not self._is_in_use:
                    put_metadata(self._database, IS_IN_USE, 1)
                change()
            self._is_in_use = True
        except sqlite3.Error as error:
            failure = translated(error, self._path)
            if not isinstance(failure, DiskFull) or not self.make_room():
                raise failure from error
            self._commit(change)


def _opening_failed(error: sqlite3.Error | UnicodeDecodeError, path: Path) -> DataError:
    if isinstance(error, UnicodeDecodeError):
        return LedgerDamaged(DAMAGED, detail=f"{path.name}: {error}")
    # SQLite's own "logic error" stands for tables or columns that are missing.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)  # without one: text that is not UTF-8
    is_system = isinstance(error, sqlite3.OperationalError) and code != sqlite3.SQLITE_ERROR
    if isinstance(error, sqlite3.DatabaseError) and not is_system:
        return LedgerDamaged(DAMAGED, detail=f"{path.name}: {error}")
    return translated(error, path)


def _index(batches: Sequence[Batch], number: int) -> int:
    """The index of a batch by its number, which are ascending and mostly without gaps; their count without one."""
    if 0 < number <= len(batches) and batches[number - 1].number == number:
        return number - 1
    return next((index for index, batch in enumerate(batches) if batch.number == number), len(batches))
