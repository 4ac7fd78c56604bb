"""The tables of a book of judgements. Rows are only ever added; one change is one transaction."""

import sqlite3
from collections.abc import Iterable

import numpy as np

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.schema import transaction
from cfbatch_gui.core.judgements.records import RECORD, Numbers, Records, checksums
from cfbatch_gui.core.judgements.scales import Scale, encoded
from cfbatch_gui.core.judgements.values import Subject, text_digest
from cfbatch_gui.core.messages import message

VERSION = 1

# `digest` is NULL for a subject without a text. A subject's first id is kept. `records` in `book` is their number, by
# which lost rows at the end are noticed.
_TABLES = """
CREATE TABLE book(name TEXT NOT NULL, scale TEXT NOT NULL, records INTEGER NOT NULL);
CREATE TABLE subjects(number INTEGER PRIMARY KEY, digest BLOB, id TEXT NOT NULL, text TEXT NOT NULL);
CREATE UNIQUE INDEX subjects_by_text ON subjects(digest) WHERE digest IS NOT NULL;
CREATE UNIQUE INDEX subjects_by_id ON subjects(id) WHERE digest IS NULL;
CREATE TABLE judges(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE records(number INTEGER PRIMARY KEY, record BLOB NOT NULL);
CREATE TABLE notes(number INTEGER PRIMARY KEY, note TEXT NOT NULL);
"""


def create(database: sqlite3.Connection, name: str, scale: Scale) -> None:
    """Make the tables of a new book. Raises sqlite3.Error."""
    with transaction(database):
        for statement in filter(str.strip, _TABLES.split(";")):
            database.execute(statement)
        database.execute("INSERT INTO book VALUES(?, ?, 0)", (name, encoded(scale)))
        database.execute(f"PRAGMA user_version = {VERSION}")


def check_version(database: sqlite3.Connection) -> None:
    """Raises DataError for a book of a newer version, and sqlite3.DatabaseError for what is no book."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise DataError(
            message(
                "This book of judgements was written by a newer version of CF Batch. Update to open it; nothing was "
                "changed."
            )
        )
    if version < VERSION:
        raise sqlite3.DatabaseError(f"version {version}")


def read_records(database: sqlite3.Connection, after: int = 0) -> tuple[Numbers, Records]:
    """The numbers and records above `after`, ascending by number. Raises sqlite3.Error."""
    rows = database.execute("SELECT number, record FROM records WHERE number > ?", (after,)).fetchall()
    size = RECORD.itemsize
    whole = [(number, record) for number, record in rows if isinstance(record, bytes) and len(record) == size]
    numbers = np.fromiter((number for number, _ in whole), np.int64, len(whole))
    return numbers, np.frombuffer(b"".join(record for _, record in whole), RECORD)


def read_sound_records(database: sqlite3.Connection, count: int) -> Records:
    """All records. Raises sqlite3.DatabaseError if one is not as it was written or they are not as many as `count`."""
    numbers, records = read_records(database)
    if len(numbers) != count or not sound(numbers, records).all():
        raise sqlite3.DatabaseError("records are damaged")
    return records


def sound(numbers: Numbers, records: Records) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which records are as they were written, (n,)."""
    return np.asarray(checksums(numbers, records) == records["checksum"])


def append(
    database: sqlite3.Connection, records: Records, notes: Iterable[tuple[int, str]] = (), *, after: int
) -> None:
    """Add records with the numbers that follow `after`; within a transaction. `notes` have the records' indices."""
    numbers = np.arange(after + 1, after + 1 + len(records), dtype=np.int64)
    records["checksum"] = checksums(numbers, records)
    content, size = records.tobytes(), RECORD.itemsize
    rows = ((number, content[at * size : (at + 1) * size]) for at, number in enumerate(numbers.tolist()))
    database.executemany("INSERT INTO records VALUES(?, ?)", rows)
    database.executemany("INSERT INTO notes VALUES(?, ?)", ((after + 1 + index, note) for index, note in notes))
    database.execute("UPDATE book SET records = ?", (after + len(records),))


def find_subject(database: sqlite3.Connection, subject: Subject) -> int | None:
    """The number of a subject, None if the book does not have it."""
    digest = text_digest(subject.text)
    if digest is not None:
        found = database.execute("SELECT number FROM subjects WHERE digest = ?", (digest,)).fetchone()
    else:
        statement = "SELECT number FROM subjects WHERE id = ? AND digest IS NULL"
        found = database.execute(statement, (subject.id,)).fetchone()
    return int(found[0]) if found else None


def subject_number(database: sqlite3.Connection, subject: Subject) -> int:
    """The number of a subject, which is added if it is new; within a transaction."""
    found = find_subject(database, subject)
    if found is not None:
        return found
    row = (text_digest(subject.text), subject.id, subject.text)
    return int(database.execute("INSERT INTO subjects VALUES(NULL, ?, ?, ?)", row).lastrowid or 0)


def judge_number(database: sqlite3.Connection, name: str) -> int:
    """The number of a judge, who is added if new; within a transaction."""
    found = database.execute("SELECT number FROM judges WHERE name = ?", (name,)).fetchone()
    if found:
        return int(found[0])
    return int(database.execute("INSERT INTO judges VALUES(NULL, ?)", (name,)).lastrowid or 0)
