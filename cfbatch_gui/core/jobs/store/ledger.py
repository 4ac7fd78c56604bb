"""What jobs and batches there are, on disk. The program's own record is the only one: the service keeps no list.

Each job and each batch is one row with its value as JSON and a checksum. Reads come from memory, writes go to disk
first.
"""

import errno
import os
import shutil
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

import msgspec

from cfbatch_gui.core.errors import DataError, DataInUse, DiskFull, LedgerDamaged, LocksUnsupported, UsageError
from cfbatch_gui.core.job_folder.schema import transaction, translated
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.system.file_locks import is_held_elsewhere, is_unsupported, take_lock
from cfbatch_gui.core.system.files import OWN_FILE, OWN_FOLDER, create_own_file
from cfbatch_gui.core.system.paths import OVERRIDE, Paths


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
        """Release the lock, so that another process can open the ledger."""
        os.close(self._file)


def _lock_failed(error: OSError, path: Path) -> DataError:
    if is_held_elsewhere(error):
        return DataInUse(
            "CF Batch is already at work with this data. Use the window that is open, or close it first.",
            detail=str(path),
        )
    detail = f"{path}: {error.strerror} ({errno.errorcode.get(error.errno or 0, error.errno)})"
    if is_unsupported(error):
        return LocksUnsupported(
            f"The disk with the folder for the program's data, “{path.parent}”, has no file locks. Without them two"
            " programs could send the same texts twice, so nothing was opened. Choose a folder on a disk of this"
            f" computer with --data-dir or {OVERRIDE}.",
            detail=detail,
        )
    return DataError(
        f"The folder for the program's data, “{path.parent}”, could not be locked. Try again, or choose another one"
        f" with --data-dir or {OVERRIDE}.",
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


VERSION = 1
_created = attrgetter("created_at", "id")
_DAMAGED = "The list of your jobs is damaged."
T = TypeVar("T")

TABLES = """
CREATE TABLE jobs(id TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE batches(
    job_id TEXT NOT NULL, number INTEGER NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY(job_id, number)) WITHOUT ROWID;
"""

MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {}  # version reached → what lifts the one before


class Ledger:
    """All jobs of one data folder. Methods may be called from any thread; a write returns when it is on disk."""

    def __init__(
        self, database: sqlite3.Connection, path: Path, lock: WriterLock | None, reserve: ReserveFile | None = None
    ) -> None:
        self._database, self._path, self._lock, self._reserve = database, path, lock, reserve
        self._writing = threading.Lock()  # one writer at a time, from reading what is changed until it is on disk
        self._guard = threading.Lock()  # what is in memory; never held while the disk works, as the window reads here
        self._jobs: dict[str, Job] = {}
        self._load()

    @classmethod
    def open(cls, paths: Paths) -> "Ledger":
        """Open for reading and writing; there is one writer at a time.

        Raises DataError: see WriterLock, and when it is damaged, or was written by a newer version.
        """
        lock = WriterLock(paths.lock)
        reserve = ReserveFile(paths.reserve_file)
        reserve.create()
        try:
            database = _connect(paths.ledger)
            try:
                _prepare(database, paths.ledger)
                return cls(database, paths.ledger, lock, reserve)
            except BaseException:
                database.close()
                raise
        except sqlite3.Error as error:
            lock.release()
            raise _opening_failed(error, paths.ledger) from error
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open_read_only(cls, paths: Paths) -> "Ledger":
        """What another process may be writing, as it is now."""
        if not paths.ledger.exists():
            return cls(sqlite3.connect(":memory:", check_same_thread=False), paths.ledger, None)
        try:
            return cls(_connect(paths.ledger, read_only=True), paths.ledger, None)
        except sqlite3.Error as error:
            raise translated(error, paths.ledger) from error

    def jobs(self) -> tuple[Job, ...]:
        """All jobs that are not deleted, newest first."""
        with self._guard:
            found = [job for job in self._jobs.values() if not job.deleted_at]
        return tuple(sorted(found, key=_created, reverse=True))

    def deleted_jobs(self) -> tuple[Job, ...]:
        """Jobs whose folder is still there."""
        with self._guard:
            return tuple(job for job in self._jobs.values() if job.deleted_at)

    def job(self, job_id: str) -> Job:
        """One job. Raises UsageError when there is none."""
        with self._guard:
            if job_id not in self._jobs:
                raise UsageError(f"There is no job “{job_id}”.")
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
                raise UsageError(f"“{words}” fits {len(fits)} jobs. Use the id that “cfbatch jobs” shows.")
        raise UsageError(f"There is no job “{words}”. “cfbatch jobs” lists them.")

    def batch(self, job_id: str, number: int) -> Batch:
        """One batch. Raises UsageError when there is none."""
        for batch in self.job(job_id).batches:
            if batch.number == number:
                return batch
        raise UsageError(f"This job has no batch {number}.")

    def save_job(self, job: Job) -> Job:
        """Write a new job's own values; one that is known is changed with `change`. Batches stay as they are."""
        with self._writing:
            known = self._known(job.id)
            job = replace(job, batches=known.batches if known else ())
            self._write([_job_row(job)], ())
            self._keep(job)
            return job

    def save_plan(self, job: Job, batches: Iterable[Batch]) -> Job:
        """Write a job that is not shown yet, with a new set of batches in place of those it had."""
        with self._writing:
            job = replace(job, batches=tuple(batches))
            self._write([_job_row(job)], [_batch_row(batch) for batch in job.batches], forget_batches_of=job.id)
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
            rows = [_batch_row(batch) for batch in after.batches] if is_new_plan else []
            self._write([_job_row(after)], rows, forget_batches_of=job_id if is_new_plan else "")
            with self._guard:
                if not is_new_plan:
                    after = replace(after, batches=self._jobs[job_id].batches)  # with checks shown in the meantime
                self._jobs[job_id] = after
            return after

    def save_batch(self, batch: Batch, **job_changes: object) -> Job:
        """Write one batch, and what changes in its job, in one transaction."""
        with self._writing:
            changed = replace(self._with_batch(batch), **job_changes)  # type: ignore[arg-type]  # checked by replace
            self._write([_job_row(changed)] if job_changes else (), [_batch_row(batch)])
            with self._guard:  # anew: other batches may have been shown meanwhile
                changed = replace(self._with_batch(batch), **job_changes)  # type: ignore[arg-type]  # as above
                self._jobs[batch.job_id] = changed
            return changed

    def show_batch(self, batch: Batch) -> Job:
        """Change a batch in memory only: times of checks, which are no state and cost no disk."""
        with self._guard:
            job = self._with_batch(batch)
            self._jobs[job.id] = job
            return job

    def remove(self, job_id: str) -> None:
        """Forget a job for good."""
        with self._writing:
            try:
                with transaction(self._database):
                    self._database.execute("DELETE FROM batches WHERE job_id = ?", (job_id,))
                    self._database.execute("DELETE FROM jobs WHERE id = ?", (job_id,))
            except sqlite3.Error as error:
                raise translated(error, self._path) from error
            with self._guard:
                self._jobs.pop(job_id, None)

    def make_room(self) -> bool:
        """On a full disk: delete the reserve file. False when there was none to delete."""
        return self._reserve is not None and self._reserve.delete()

    def close(self) -> None:
        """Close the file and release the writer's lock."""
        with self._writing:
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
        job = self._jobs[batch.job_id]
        return replace(job, batches=tuple(batch if each.number == batch.number else each for each in job.batches))

    def _write(
        self, jobs: Sequence[tuple[object, ...]], batches: Sequence[tuple[object, ...]], forget_batches_of: str = ""
    ) -> None:
        def write() -> None:
            with transaction(self._database):
                self._database.execute("DELETE FROM batches WHERE job_id = ?", (forget_batches_of,))
                self._database.executemany("INSERT OR REPLACE INTO jobs VALUES(?, ?, ?)", jobs)
                self._database.executemany("INSERT OR REPLACE INTO batches VALUES(?, ?, ?, ?)", batches)

        try:
            write()
        except sqlite3.Error as error:
            failure = translated(error, self._path)
            if not isinstance(failure, DiskFull) or not self.make_room():
                raise failure from error
            self._write(jobs, batches, forget_batches_of)  # once more: deleting the reserve file has freed space

    def _load(self) -> None:
        if not self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'jobs'").fetchone():
            return
        batches: dict[str, list[Batch]] = {}
        for job_id, value, checksum in self._database.execute(
            "SELECT job_id, value, checksum FROM batches ORDER BY job_id, number"
        ):
            batches.setdefault(job_id, []).append(_decode(value, checksum, Batch))
        for job_id, value, checksum in self._database.execute("SELECT id, value, checksum FROM jobs"):
            self._jobs[job_id] = replace(_decode(value, checksum, Job), batches=tuple(batches.get(job_id, ())))


def _connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    path.parent.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
    if not read_only:
        create_own_file(path)
    address = f"{path.resolve().as_uri()}?mode={'rw' if read_only else 'rwc'}"
    database = sqlite3.connect(address, uri=True, timeout=10.0, isolation_level=None, check_same_thread=False)
    if read_only:
        # Not SQLite's own "ro": that cannot roll back what a crash has left half written.
        database.execute("PRAGMA query_only = ON")
    else:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA synchronous = EXTRA")  # also the folder's entry of the journal, for a power cut
    return database


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise DataError(
            "Your jobs were written by a newer version of CF Batch. Update to open them; nothing was changed."
        )
    if version == 0:
        with transaction(database):
            for statement in TABLES.strip().split(";\n"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {VERSION}")
    for number in range(max(version, 1) + 1, VERSION + 1):
        shutil.copy2(path, path.with_name(f"{path.name}.before-{number}"))
        with transaction(database):
            MIGRATIONS[number](database)
            database.execute(f"PRAGMA user_version = {number}")


def _opening_failed(error: sqlite3.Error, path: Path) -> DataError:
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return LedgerDamaged(_DAMAGED, detail=f"{path.name}: {error}")
    return translated(error, path)


def _job_row(job: Job) -> tuple[object, ...]:
    value = msgspec.json.encode(replace(job, batches=()))
    return job.id, value, zlib.crc32(value)


def _batch_row(batch: Batch) -> tuple[object, ...]:
    value = msgspec.json.encode(batch)
    return batch.job_id, batch.number, value, zlib.crc32(value)


def _decode(value: object, checksum: int, kind: type[T]) -> T:
    if not isinstance(value, bytes) or zlib.crc32(value) != checksum:
        raise LedgerDamaged(_DAMAGED)
    return msgspec.json.decode(value, type=kind)
