"""What this program has put into one index: each id with a checksum of what was sent last.

Ids are marked before their part leaves. It is in no backup: an older one would leave out what has to be sent.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cfbatch_gui.core.job_folder.schema import transaction, translated
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.system.databases import connect_durably

VERSION = 1
SENT_BEFORE = 0  # in place of a checksum: it is this program's, with unknown content
NEVER_CONFIRMED = 1  # was sent, but its part was never acknowledged: it may be somebody else's
FIRST_CHECKSUM = 2
CHECKSUM_BITS = 62  # SQLite's integers have a sign

_TABLES = """
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE jobs(job INTEGER PRIMARY KEY, job_id TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE mutations(number INTEGER PRIMARY KEY, mutation TEXT NOT NULL);
CREATE TABLE vectors(id TEXT PRIMARY KEY, checksum INTEGER NOT NULL, job INTEGER NOT NULL) WITHOUT ROWID;
"""
_BY_IDS = "SELECT id, checksum FROM vectors WHERE id IN (SELECT value FROM json_each(?))"
_JOB = """
INSERT INTO jobs(job_id, name) VALUES(?, ?) ON CONFLICT(job_id) DO UPDATE SET name = excluded.name RETURNING job
"""
_PUT = "INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)"
_CONFIRMED = f"FROM vectors WHERE checksum <> {NEVER_CONFIRMED}"
_GONE = f"{_CONFIRMED} AND id NOT IN (SELECT id FROM seen)"  # noqa: S608 - constants
_DAMAGED = message("what_program_knew_about_vectors_index")


class IndexRecord:
    """An open record, for any thread. Raises DataError and DiskFull; `damage` says what was replaced."""

    def __init__(self, path: Path, index: str) -> None:
        self._path, self._lock = path, threading.RLock()
        self.damage: Message | str = ""
        with self._guarded():
            try:
                self._database = _opened(path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and "file is not a database" not in str(error):
                    raise
                for suffix in ("", "-journal"):
                    path.with_name(path.name + suffix).unlink(missing_ok=True)
                self._database = _opened(path)
                self.damage = _DAMAGED.filled(index=index)

    def close(self) -> None:
        """Close the file; a thread that still uses it ends first."""
        with self._lock:
            self._database.close()

    @property
    def count(self) -> int:
        """The number of vectors that this program has put into the index, and not deleted."""
        return int(self._rows(f"SELECT count(*) {_CONFIRMED}")[0][0])

    @property
    def last_mutation(self) -> str:
        """The id of the last mutation that was acknowledged, "" before the first."""
        found = self._rows("SELECT mutation FROM mutations ORDER BY number DESC LIMIT 1")
        return str(found[0][0]) if found else ""

    def knows_mutation(self, mutation: str) -> bool:
        return bool(self._rows("SELECT 1 FROM mutations WHERE mutation = ? LIMIT 1", mutation))

    def begin(self, created_on: str) -> bool:
        """Whether the index was created anew since; then the record is emptied."""
        with self._changing():
            found = self._database.execute("SELECT value FROM facts WHERE name = 'created_on'").fetchone()
            is_other = found is not None and bool(created_on) and found[0] not in ("", created_on)
            if is_other:
                self._database.execute("DELETE FROM vectors")
                self._database.execute("DELETE FROM mutations")
            if created_on:
                self._database.execute("INSERT OR REPLACE INTO facts VALUES('created_on', ?)", (created_on,))
            return is_other

    def job_number(self, job_id: str, name: str) -> int:
        return int(self._rows(_JOB, job_id, name)[0][0])

    def checksums_of(self, ids: Sequence[str]) -> dict[str, int]:
        """The checksum of each id, SENT_BEFORE or NEVER_CONFIRMED."""
        return dict(self._rows(_BY_IDS, json.dumps(ids)))

    def mark_sending(self, ids: Sequence[str], job: int) -> None:
        with self._changing():
            held = self.checksums_of(ids)
            confirmed = {each for each, checksum in held.items() if checksum != NEVER_CONFIRMED}
            rows = ((each, SENT_BEFORE if each in confirmed else NEVER_CONFIRMED, job) for each in ids)
            self._database.executemany(_PUT, rows)

    def acknowledge(self, ids: Sequence[str], checksums: Sequence[int], job: int, mutation: str) -> None:
        """A part was accepted."""
        with self._changing():
            rows = ((each, checksum, job) for each, checksum in zip(ids, checksums, strict=True))
            self._database.executemany(_PUT, rows)
            self._note(mutation)

    def begin_seen(self) -> None:
        """Begin to collect the ids of a job, for `gone`."""
        self._rows("CREATE TEMP TABLE IF NOT EXISTS seen(id TEXT PRIMARY KEY) WITHOUT ROWID")
        self._rows("DELETE FROM seen")

    def note_seen(self, ids: Sequence[str]) -> None:
        self._rows("INSERT OR IGNORE INTO seen SELECT value FROM json_each(?)", json.dumps(ids))

    def gone(self) -> tuple[tuple[str, int], ...]:
        """How many vectors of earlier pushes were not noted as seen, by the names of the jobs that sent them last."""
        query = f"SELECT name, n FROM (SELECT job, count(*) n {_GONE} GROUP BY job) JOIN jobs USING(job)"  # noqa: S608
        return tuple((str(name), int(n)) for name, n in self._rows(query))

    def gone_ids(self, most: int) -> tuple[str, ...]:
        """The first of these ids; the next after those were noted as deleted."""
        return tuple(identifier for (identifier,) in self._rows(f"SELECT id {_GONE} ORDER BY id LIMIT ?", most))

    def note_deleted(self, ids: Sequence[str], mutation: str) -> None:
        with self._changing():
            self._database.execute(
                "DELETE FROM vectors WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(ids),)
            )
            self._note(mutation)

    def forget_contents(self) -> None:
        """Whatever is in the index is not what was sent: the next push sends everything again."""
        self._rows("UPDATE vectors SET checksum = ? WHERE checksum <> ?", SENT_BEFORE, NEVER_CONFIRMED)

    def _rows(self, statement: str, *values: object) -> list[Any]:
        """What a single statement gives, which is done as a whole or not at all."""
        with self._guarded():
            return self._database.execute(statement, values).fetchall()

    def _note(self, mutation: str) -> None:
        self._database.execute("INSERT INTO mutations(mutation) VALUES(?)", (mutation,))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._guarded(), transaction(self._database):
            yield

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise translated(error, self._path) from error


def _opened(path: Path) -> sqlite3.Connection:
    """Raises sqlite3.DatabaseError for a file that is damaged or of another version."""
    database = connect_durably(path)
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            database.executescript(f"BEGIN;{_TABLES}PRAGMA user_version = {VERSION};COMMIT")
        elif version != VERSION or database.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("damaged")  # noqa: TRY301
    except BaseException:
        database.close()
        raise
    return database
