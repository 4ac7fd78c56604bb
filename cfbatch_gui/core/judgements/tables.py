"""The tables of a book: records of fixed size, only ever added; and which of them count."""

import sqlite3
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.schema import transaction
from cfbatch_gui.core.judgements.values import Scale, Source, Subject, encoded, text_digest
from cfbatch_gui.core.messages import message

RECORD = np.dtype(
    [
        ("query", "<i4"),  # numbers of the book's subjects
        ("document", "<i4"),
        ("judge", "<i2"),  # the number of the book's judge
        ("source", "u1"),
        ("flags", "u1"),
        ("grade", "<i4"),
        ("time", "<i8"),  # milliseconds since 1970
    ]
)
AGAIN, TAKEN_BACK, CANNOT_TELL = 1, 2, 4  # flags

Records = NDArray[np.void]


def newest(records: Records) -> Records:
    """The newest record of each judge for each pair, unless taken back, by pairs; labels are one judge."""
    if not len(records):
        return records
    made = np.arange(len(records))
    order = np.lexsort((made, records["judge"], records["document"], records["query"]))
    ordered = records[order]
    last = np.ones(len(ordered), dtype=np.bool_)
    last[:-1] = _starts(ordered, ("query", "document", "judge"))[1:]
    return np.asarray(ordered[last & (ordered["flags"] & TAKEN_BACK == 0)])


def verdicts(counting: Records) -> tuple[Records, NDArray[np.bool_]]:
    """One record for each graded pair, of its strongest source the middle grade, and whether judges disagree."""
    graded: Records = np.asarray(counting[counting["flags"] & CANNOT_TELL == 0])
    if not len(graded):
        return graded, np.zeros(0, dtype=np.bool_)
    order = np.lexsort((graded["grade"], -graded["source"].astype(np.int64), graded["document"], graded["query"]))
    graded = graded[order]
    starts_pair = _starts(graded, ("query", "document"))
    pair = np.cumsum(starts_pair) - 1
    strongest = graded["source"][starts_pair][pair]
    graded = graded[graded["source"] == strongest]
    first = np.flatnonzero(_starts(graded, ("query", "document")))
    count = np.diff(np.append(first, len(graded)))
    middle = graded[first + (count - 1) // 2]
    return middle, graded["grade"][first] != graded["grade"][first + count - 1]


def disagreeing(counting: Records) -> Records:
    """The judgements by people of the pairs to which these gave different grades and that nobody settled."""
    of_people: Records = counting[(counting["source"] >= Source.PERSON) & (counting["flags"] & CANNOT_TELL == 0)]
    _, differ = verdicts(of_people)
    if not len(of_people):
        return of_people
    # Sorted by pair, as `newest` leaves them; a settled pair has a verdict of one judge, so nobody differs there.
    return np.asarray(of_people[differ[np.cumsum(_starts(of_people, ("query", "document"))) - 1]])


def _starts(records: Records, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Where another value of these fields begins in sorted records, (n,)."""
    starts = np.zeros(len(records), dtype=np.bool_)
    starts[:1] = True
    for name in names:
        starts[1:] |= records[name][1:] != records[name][:-1]
    return starts


VERSION = 1

# `digest` is NULL for a subject without a text. A subject's first id is kept.
_TABLES = """
CREATE TABLE book(name TEXT NOT NULL, scale TEXT NOT NULL);
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
        database.execute("INSERT INTO book VALUES(?, ?)", (name, encoded(scale)))
        database.execute(f"PRAGMA user_version = {VERSION}")


def check(database: sqlite3.Connection) -> None:
    """Raises DataError for a book of a newer version, and sqlite3.Error for what is damaged or no book."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise DataError(
            message(
                "This book of judgements was written by a newer version of CF Batch. Update to open it; nothing was "
                "changed."
            )
        )
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if version < VERSION or found != "ok":
        raise sqlite3.DatabaseError(f"version {version}: {found}")


def read_records(database: sqlite3.Connection, after: int = 0) -> Records:
    """The records with a number above `after`, ascending. Raises sqlite3.Error, ValueError for one of another size."""
    rows = database.execute("SELECT record FROM records WHERE number > ?", (after,))
    return np.frombuffer(b"".join(record for (record,) in rows), RECORD)


def append(database: sqlite3.Connection, records: Records, notes: Iterable[tuple[int, str]] = ()) -> None:
    """Add records; within a transaction. `notes` have the records' indices."""
    (last,) = database.execute("SELECT coalesce(max(number), 0) FROM records").fetchone()
    content, size = records.tobytes(), RECORD.itemsize
    rows = ((last + 1 + at, content[at * size : (at + 1) * size]) for at in range(len(records)))
    database.executemany("INSERT INTO records VALUES(?, ?)", rows)
    database.executemany("INSERT INTO notes VALUES(?, ?)", ((last + 1 + index, note) for index, note in notes))


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
    found = find_subject(database, subject)
    if found is not None:
        return found
    row = (text_digest(subject.text), subject.id, subject.text)
    return int(database.execute("INSERT INTO subjects VALUES(NULL, ?, ?, ?)", row).lastrowid or 0)


def judge_number(database: sqlite3.Connection, name: str) -> int:
    found = database.execute("SELECT number FROM judges WHERE name = ?", (name,)).fetchone()
    if found:
        return int(found[0])
    return int(database.execute("INSERT INTO judges VALUES(NULL, ?)", (name,)).lastrowid or 0)
