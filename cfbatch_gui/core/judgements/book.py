"""Books of judgements: each a file of its own, to which is only ever added."""

import hashlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError, UsageError, UserError
from cfbatch_gui.core.job_folder.schema import transaction, translated
from cfbatch_gui.core.judgements.values import USUAL, Judgement, Scale, Source, Subject, decoded, encoded, text_digest
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.databases import connect_durably
from cfbatch_gui.core.system.files import move_file, own_file_writer

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


def check_tables(database: sqlite3.Connection) -> None:
    """Raises DataError for a book of a newer version, and sqlite3.Error for what is damaged or no book."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise DataError(
            message(
                "This book of judgements was written by a newer version of CF Batch. Update to open it; nothing was "
                "changed."
            )
        )
    (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if version < VERSION or found != "ok":
        raise sqlite3.DatabaseError(f"version {version}: {found}")


def read_records(database: sqlite3.Connection, after: int = 0) -> Records:
    """The records with a number above `after`, ascending. Raises sqlite3.Error, ValueError for one of another size."""
    rows = database.execute("SELECT record FROM records WHERE number > ?", (after,))
    return np.frombuffer(b"".join(record for (record,) in rows), RECORD)


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


BACKUP_SUFFIX = ".backup"


_GRADES = 2**31 - 1  # the largest; more is an order number or a barcode
_NO_SUBJECT = Subject("")
_BLOCK = 50_000  # judgements in one transaction of `add_new`


@dataclass(frozen=True, slots=True)
class Tally:
    """How much is in a book: pairs with a grade, those that cannot be told, judges, queries, and records in all."""

    pairs: int
    untold: int
    judges: int
    queries: int
    records: int


class Book:
    """For any thread; `add` returns when all is on the disk. `damage` are sentences about what was found."""

    def __init__(self, path: Path, *, read_only: bool, clock: Callable[[], float]) -> None:
        """Open a book; the copy beside a damaged one takes its place. Raises DataError."""
        self.path, self.damage = path, tuple[str, ...]()
        self._lock = threading.Lock()
        self._read_only, self._clock = read_only, clock
        self._backed_up = 0
        with _translating(path):
            try:
                self._read()
            except (sqlite3.Error, msgspec.MsgspecError, TypeError, ValueError) as error:
                is_damage = not isinstance(error, sqlite3.OperationalError) or _is_malformed(error)
                if self._read_only or not is_damage or not _has_sound_copy(path):
                    raise
                aside = _put_copy_back(path, clock=clock)
                self._read()
                self.damage = (_RESTORED.filled(name=self.name, kept=len(self._records), aside=aside),)

    def _read(self) -> None:
        self._database = connect_durably(self.path, read_only=self._read_only)
        try:
            check_tables(self._database)
            name, scale = self._database.execute("SELECT name, scale FROM book").fetchone()
            self.name: str = name
            self.scale: Scale = decoded(scale)
            self._records = read_records(self._database)
        except BaseException:
            self._database.close()
            raise
        if self.path.with_suffix(BACKUP_SUFFIX).exists():
            self._backed_up = len(self._records)

    @classmethod
    def create(cls, path: Path, name: str, scale: Scale = USUAL, *, clock: Callable[[], float]) -> "Book":
        """A new book. Raises DataError, DiskFull."""
        with _translating(path), closing(connect_durably(path)) as database, transaction(database):
            for statement in filter(str.strip, _TABLES.split(";")):
                database.execute(statement)
            database.execute("INSERT INTO book VALUES(?, ?)", (name, encoded(scale)))
            database.execute(f"PRAGMA user_version = {VERSION}")
        return cls(path, read_only=False, clock=clock)

    def close(self) -> None:
        self._database.close()

    def add(self, judgements: Sequence[Judgement]) -> None:
        """Add these in one transaction: all are kept, or none. Raises UsageError, DataError, DiskFull."""
        for each in judgements:
            if not (each.query.id or each.query.text) or not (each.document.id or each.document.text):
                raise UsageError(message("A judgement needs the id or the text of its query and of its text."))
            if each.grade is not None and abs(each.grade) > _GRADES:
                raise UsageError(message("A grade must be below two thousand million."))
        with self._lock, _translating(self.path), transaction(self._database):
            subjects: dict[Subject, int] = {}
            judges: dict[str, int] = {}
            records = np.zeros(len(judgements), RECORD)
            for index, each in enumerate(judgements):
                for subject in (each.query, each.document):
                    if subject not in subjects:
                        subjects[subject] = subject_number(self._database, subject)
                if each.judge not in judges:
                    judges[each.judge] = judge_number(self._database, each.judge)
                flags = AGAIN * each.again | TAKEN_BACK * each.taken_back | CANNOT_TELL * (each.grade is None)
                records[index] = (
                    *(subjects[each.query], subjects[each.document], judges[each.judge], each.source, flags),
                    *(each.grade or 0, round(each.time * 1000)),
                )
            (last,) = self._database.execute("SELECT coalesce(max(number), 0) FROM records").fetchone()
            rows = ((number, record.tobytes()) for number, record in enumerate(records, last + 1))
            notes = ((number, each.note) for number, each in enumerate(judgements, last + 1) if each.note)
            self._database.executemany("INSERT INTO records VALUES(?, ?)", rows)
            self._database.executemany("INSERT INTO notes VALUES(?, ?)", notes)
        with self._lock:
            more = read_records(self._database, after=len(self._records))
            self._records = np.concatenate((self._records, more))

    def add_new(self, judgements: Iterable[Judgement]) -> int:
        """Add those that would change what their judge says, in blocks; how many. Raises as `add`."""
        said = self._said()
        count = 0
        waiting: list[Judgement] = []
        for each in judgements:
            # Of one pair the last line counts, and the same line twice is one.
            key = hash((each.query.key, each.document.key, each.judge))
            if key not in said or said[key] != each.grade:
                said[key] = each.grade
                waiting.append(each)
            if len(waiting) == _BLOCK:
                self.add(waiting)
                count, waiting = count + len(waiting), []
        if waiting:
            self.add(waiting)
        return count + len(waiting)

    def _said(self) -> dict[int, int | None]:
        """What each judge says of each pair, by the hash of both with the judge's name."""
        with self._lock, _translating(self.path):
            keys = {number: subject.key for number, subject in self._subjects().items()}
            names = self._judges()
            return {
                hash((keys[int(each["query"])], keys[int(each["document"])], names[int(each["judge"])])): _grade(each)
                for each in newest(self._records)
            }

    def records(self) -> Records:
        """All records in the order in which they were made."""
        return self._records

    def contents(self) -> tuple[Records, dict[int, Subject]]:
        """All records with the queries and documents that they name."""
        with self._lock, _translating(self.path):
            return self._records, self._subjects()

    def newest_of(self, query: Subject, document: Subject, judge: str) -> Judgement | None:
        """What this judge said last about a pair, None if nothing counts. Raises DataError."""
        with self._lock, _translating(self.path):
            numbers = tuple(find_subject(self._database, subject) for subject in (query, document))
            by = {name: number for number, name in self._judges().items()}.get(judge)
            if None in numbers or by is None:
                return None
            records = self._records
            found = records[(records["query"] == numbers[0]) & (records["document"] == numbers[1])]
            found = newest(found[found["judge"] == by])
        if not len(found):
            return None
        source, time = Source(int(found[0]["source"])), float(found[0]["time"]) / 1000
        return Judgement(query, document, _grade(found[0]), judge, source, time)

    def judges(self) -> dict[int, str]:
        with self._lock, _translating(self.path):
            return self._judges()

    def judgements(self) -> Iterator[Judgement]:
        """All of them as they were made, those that no longer count too. Raises DataError."""
        with self._lock, _translating(self.path):
            subjects, judges = self._subjects(), self._judges()
            notes = dict(self._database.execute("SELECT number, note FROM notes"))
            records = self._records
        for number, record in enumerate(records, 1):
            query, document = (subjects.get(int(record[name]), _NO_SUBJECT) for name in ("query", "document"))
            yield _judgement(record, query, document, judges[int(record["judge"])], notes.get(number, ""))

    def tally(self) -> Tally:
        counting = newest(self._records)
        graded = counting[counting["flags"] & CANNOT_TELL == 0]
        pairs, told = (len(np.unique(each[["query", "document"]])) for each in (counting, graded))
        judges = len(np.unique(counting["judge"]))
        return Tally(told, pairs - told, judges, len(np.unique(counting["query"])), len(self._records))

    def back_up(self) -> None:
        """Keep a copy beside the book, from which a damaged one is mended. Raises DataError, DiskFull."""
        with self._lock, _translating(self.path):
            content = self._database.serialize()
            self._backed_up = len(self._records)
        with own_file_writer(self.path.with_suffix(BACKUP_SUFFIX)) as stream:
            stream.write(content)

    def back_up_if_changed(self) -> None:
        """`back_up` if something was added since the last one of this program's run, or a copy is missing."""
        if self._backed_up < len(self._records):
            self.back_up()

    def _judges(self) -> dict[int, str]:
        return dict(self._database.execute("SELECT number, name FROM judges"))

    def _subjects(self) -> dict[int, Subject]:
        rows = self._database.execute("SELECT number, id, text FROM subjects")
        return {number: Subject(identifier, text) for number, identifier, text in rows}


_RESTORED = message(
    "The book of judgements “{name}” was damaged. The copy that was made when it was closed last took its place, with"
    " {kept} judgements; what was judged since is only in “{aside}”, the damaged file."
)


def _has_sound_copy(path: Path) -> bool:
    copy = path.with_suffix(BACKUP_SUFFIX)
    try:
        with closing(connect_durably(copy, read_only=True)) as database:
            check_tables(database)
    except (sqlite3.Error, DataError):
        return False
    return True


def _put_copy_back(path: Path, *, clock: Callable[[], float]) -> str:
    """Put the damaged file aside, and the copy in its place; the damaged file's name. Raises DiskFull, OSError."""
    aside = path.with_name(f"{path.name}.damaged-{int(clock())}")
    move_file(path, aside)
    # A journal belongs to the damaged file; beside the copy it would be rolled back into it.
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
    with own_file_writer(path) as stream:
        stream.write(path.with_suffix(BACKUP_SUFFIX).read_bytes())
    return aside.name


def book_name(path: Path) -> str:
    """The name of a book without opening it. Raises sqlite3.Error."""
    with closing(connect_durably(path, read_only=True)) as database:
        return str(database.execute("SELECT name FROM book").fetchone()[0])


def _judgement(record: np.void, query: Subject, document: Subject, judge: str, note: str) -> Judgement:
    return Judgement(
        *(query, document, _grade(record), judge, Source(int(record["source"])), float(record["time"]) / 1000),
        again=bool(record["flags"] & AGAIN),
        taken_back=bool(record["flags"] & TAKEN_BACK),
        note=note,
    )


def _grade(record: np.void) -> int | None:
    return None if record["flags"] & CANNOT_TELL else int(record["grade"])


def _is_malformed(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} or (
        "no such" in str(error)
    )


@contextmanager
def _translating(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if _is_malformed(error):
            raise _damaged(path, error) from error
        raise translated(error, path) from error
    except (sqlite3.DatabaseError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(
        message(
            "This book of judgements is damaged. Where there is a copy of it, the window puts that in its place when it"
            " opens it, and so does “cfbatch judgements import”; nothing was changed."
        ),
        detail=f"{path.name}: {error}",
    )


USUAL_NAME = "My judgements"
_LONGEST_NAME = 80  # characters
_log = logging.getLogger(__name__)


class Shelf:
    """Opens each book once. A book's name is never part of its path. Methods may be called from any thread."""

    def __init__(self, folder: Path, *, read_only: bool = False, clock: Callable[[], float] = time.time) -> None:
        self._folder, self._read_only, self._clock = folder, read_only, clock
        self._open: dict[Path, Book] = {}
        self._lock = threading.Lock()

    def names(self) -> tuple[str, ...]:
        """The names of all books, sorted. One that cannot be read is left out."""
        found = []
        for path in sorted(self._folder.glob("*.db")) if self._folder.is_dir() else ():
            try:
                found.append(book_name(path))
            except (sqlite3.Error, TypeError):
                if not self._read_only:  # opening mends it
                    with suppress(UserError):
                        found.append(self._book(path).name)
        return tuple(sorted(found, key=str.casefold))

    def has(self, name: str) -> bool:
        return self._path(name).exists()

    def size(self, name: str) -> int:
        """How many records an open book has, 0 for another: changes when something was added in this program."""
        book = self._open.get(self._path(name))
        return len(book.records()) if book is not None else 0

    def book(self, name: str) -> Book:
        """The book with this name. Raises UsageError without one, DataError."""
        path = self._path(name)
        if not path.exists():
            known = ", ".join(f"“{each}”" for each in self.names())
            if known:
                raise UsageError(
                    message("There is no book of judgements “{name}”. There are: {known}.", name=name, known=known)
                )
            raise UsageError(
                message(
                    "There is no book of judgements “{name}”. Import a file of judgements, or judge some texts.",
                    name=name,
                )
            )
        return self._book(path)

    def book_or_new(self, name: str = USUAL_NAME, scale: Scale = USUAL) -> Book:
        """The book with this name, made if there is none. Raises UsageError for an unusable name, DataError."""
        name = " ".join(name.split())
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            raise UsageError(
                message("A book of judgements needs a name of at most {most} characters.", most=_LONGEST_NAME)
            )
        path = self._path(name)
        with self._lock:
            if path not in self._open and not path.exists():
                self._open[path] = Book.create(path, name, scale, clock=self._clock)
        return self._book(path)

    def close(self) -> None:
        with self._lock:
            for book in self._open.values():
                if not self._read_only:
                    try:
                        book.back_up_if_changed()
                    except UserError as error:
                        _log.warning("The copy of a book of judgements was not written: %s", error.detail)
                book.close()
            self._open.clear()

    def _path(self, name: str) -> Path:
        digest = hashlib.blake2b(" ".join(name.split()).casefold().encode(), digest_size=8).hexdigest()
        return self._folder / f"{digest}.db"

    def _book(self, path: Path) -> Book:
        with self._lock:
            if path not in self._open:
                self._open[path] = Book(path, read_only=self._read_only, clock=self._clock)
            return self._open[path]
