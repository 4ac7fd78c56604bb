"""Books of judgements, all in one database, to which is only ever added."""

import logging
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import astuple

from cfbatch_gui.core.errors import DataError, UsageError, UserError
from cfbatch_gui.core.job_folder.schema import transaction, translated
from cfbatch_gui.core.judgements.values import (
    SAME_OR_NOT,
    USUAL,
    Judgement,
    Scale,
    Source,
    Subject,
    decoded,
    encoded,
    is_of_decisions,
)
from cfbatch_gui.core.messages import comma_list, message, quoted, restored
from cfbatch_gui.core.system.databases import connect_durably
from cfbatch_gui.core.system.files import write_own_file


def newest(judgements: Iterable[Judgement]) -> list[Judgement]:
    """What each judge said last of each pair, unless taken back; labels are one judge."""
    said: dict[tuple[object, str], Judgement] = {}
    for each in judgements:
        said[each.pair, each.judge] = each
    return [each for each in said.values() if not each.taken_back]


def disagreeing(book: "Book") -> list[list[Judgement]]:
    """The judgements by people of each pair to which these gave different grades and that nobody settled. Raises
    DataError.
    """
    of_people = graded(each for each in newest(book.judgements()) if each.source >= Source.PERSON)
    return [of_pair for of_pair in of_people if len({each.grade for each in _strongest(of_pair)}) > 1]


def graded(judgements: Iterable[Judgement]) -> list[list[Judgement]]:
    """Those with a grade, by pairs."""
    pairs: dict[object, list[Judgement]] = defaultdict(list)
    for each in judgements:
        if each.grade is not None:
            pairs[each.pair].append(each)
    return list(pairs.values())


def _strongest(of_pair: Sequence[Judgement]) -> list[Judgement]:
    """Those of the strongest source, by grade."""
    source = max(each.source for each in of_pair)
    return sorted((each for each in of_pair if each.source == source), key=lambda each: each.grade or 0)


VERSION = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS books(
    book INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL, scale TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS judgements(
    number INTEGER PRIMARY KEY, book INTEGER NOT NULL, query_id TEXT NOT NULL, query TEXT NOT NULL,
    text_id TEXT NOT NULL, text TEXT NOT NULL, grade INTEGER, judge TEXT NOT NULL, source INTEGER NOT NULL,
    time REAL NOT NULL, again INTEGER NOT NULL, taken_back INTEGER NOT NULL, note TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS judgements_of_judge ON judgements(book, judge);
"""
_ADD = f"INSERT INTO judgements VALUES(NULL, {', '.join('?' * 12)})"
_ALL = "SELECT * FROM judgements WHERE book = ? ORDER BY number"
_OF_PAIR = """
SELECT * FROM judgements WHERE book = ? AND judge = ?
AND (iif(query = '', query_id, ''), query, iif(text = '', text_id, ''), text) = (?, ?, ?, ?) ORDER BY number
"""
_GRADES = 2**31 - 1  # they are smaller; more is an order number or a barcode
_BLOCK = 50_000  # judgements in one transaction of `add_new`


def problem_of(judgement: Judgement) -> str:
    """Why it cannot be kept, "" if it can."""
    query, document, grade = judgement.query, judgement.document, judgement.grade
    if not (query.id or query.text) or not (document.id or document.text):
        return message("no_query_or_no_text")
    if grade is not None and abs(grade) >= _GRADES:
        return message("grade_grade_is_too_large", grade=grade)
    return ""


@dataclass(frozen=True, slots=True)
class Tally:
    """How much is in a book: pairs with a grade, those that cannot be told, judges, queries, and records in all."""

    pairs: int
    untold: int
    judges: int
    queries: int
    records: int


@dataclass(frozen=True, slots=True)
class Book:
    """For any thread; `add` returns when all is on the disk."""

    shelf: "Shelf"
    number: int
    name: str
    scale: Scale

    def add(self, judgements: Sequence[Judgement]) -> None:
        """Add these in one transaction: all are kept, or none. Raises UsageError, DataError, DiskFull."""
        for each in judgements:
            if problem := problem_of(each):
                raise UsageError(message("judgement_cannot_be_kept_problem", problem=problem))
        rows = [(self.number, *astuple(each.query), *astuple(each.document), *astuple(each)[2:]) for each in judgements]
        with self.shelf.opened() as database, transaction(database):
            database.executemany(_ADD, rows)

    def add_new(self, judgements: Iterable[Judgement]) -> int:
        """Add those that would change what their judge says, in blocks; how many. Raises as `add`."""
        said = {(each.pair, each.judge): each.grade for each in newest(self.judgements())}
        new: list[Judgement] = []
        for each in judgements:
            # Of one pair the last line counts, and the same line twice is one.
            key = (each.pair, each.judge)
            if key not in said or said[key] != each.grade:
                said[key] = each.grade
                new.append(each)
        for start in range(0, len(new), _BLOCK):
            self.add(new[start : start + _BLOCK])
        return len(new)

    def newest_of(self, query: Subject, document: Subject, judge: str) -> Judgement | None:
        """What this judge said last about a pair, None if nothing counts. Raises DataError."""
        found = newest(self._read(_OF_PAIR, judge, *query.key, *document.key))
        return found[0] if found else None

    def judgements(self) -> Iterator[Judgement]:
        """All of them as they were made, those that no longer count too. Raises DataError."""
        return self._read(_ALL)

    def verdicts(self) -> list[Judgement]:
        """Of each graded pair the judgement with the middle grade of its strongest source; the most trusted pairs
        first. Blocking: a second for 100,000. Raises DataError.
        """
        middle = [of_pair[(len(of_pair) - 1) // 2] for of_pair in map(_strongest, graded(newest(self.judgements())))]
        return sorted(middle, key=lambda each: (-each.source, not (each.query.text and each.document.text), -each.time))

    def tally(self) -> Tally:
        every = list(self.judgements())
        counting = newest(every)
        pairs, told = {each.pair for each in counting}, {each.pair for each in counting if each.grade is not None}
        judges, queries = {each.judge for each in counting}, {each.query.key for each in counting}
        return Tally(len(told), len(pairs - told), len(judges), len(queries), len(every))

    def _read(self, statement: str, *values: str) -> Iterator[Judgement]:
        with self.shelf.opened() as database:
            rows = database.execute(statement, (self.number, *values)).fetchall()
        return map(_judgement, rows)


def _judgement(row: Sequence[Any]) -> Judgement:
    _, _, query_id, query, text_id, text, grade, judge, source, time, again, taken_back, note = row
    about = Subject(query_id, query), Subject(text_id, text)
    return Judgement(*about, grade, restored(judge), Source(source), time, bool(again), bool(taken_back), note)


BACKUP_SUFFIX = ".backup"
USUAL_NAME = "My judgements"
_LONGEST_NAME = 80  # characters
_log = logging.getLogger(__name__)


class Shelf:
    """All books. Without a name a book is the one in use, which `used_name` tells, or the usual one. For any thread."""

    def __init__(self, path: Path, used_name: Callable[[], str] = str, *, read_only: bool = False) -> None:
        self._path, self._used_name, self._read_only = path, used_name, read_only
        self._database: sqlite3.Connection | None = None
        self._backed_up = 0
        self._lock = threading.Lock()

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """The database, for one thread at a time, made where there is none. Raises DataError, DiskFull."""
        with self._lock, self._translating():
            if self._database is None:
                self._database = self._open()
            yield self._database

    def names(self) -> tuple[str, ...]:
        """The names of all books, sorted. Raises DataError."""
        if self._is_empty():
            return ()
        with self.opened() as database:
            return tuple(sorted((name for (name,) in database.execute("SELECT name FROM books")), key=str.casefold))

    def used_name(self) -> str:
        """The name of the book in use, which may not exist yet."""
        return self._used_name() or USUAL_NAME

    def size(self) -> int:
        """Changes when something was added in this program."""
        return self._database.total_changes if self._database is not None else 0

    def find(self, name: str = "") -> Book | None:
        """The book with this name, None if there is none. Raises DataError."""
        if self._is_empty():
            return None
        with self.opened() as database:
            statement = "SELECT book, name, scale FROM books WHERE key = ?"
            found = database.execute(statement, (self._whole(name).casefold(),)).fetchone()
        if found is None:
            return None
        number, written, scale = found
        return Book(self, number, written, decoded(scale))

    def book(self, name: str = "") -> Book:
        """The book with this name. Raises UsageError without one, DataError."""
        if (book := self.find(name)) is not None:
            return book
        known = comma_list([quoted(each) for each in self.names()]) or message("none")
        raise UsageError(message("there_is_no_book_judgements_name", name=name or self.used_name(), known=known))

    def book_or_new(self, name: str = "", scale: Scale = USUAL) -> Book:
        """The book with this name, made if there is none; those of decisions have their own scale. Raises UsageError
        for an unusable name, DataError.
        """
        name = self._whole(name)
        if is_of_decisions(name):
            name, scale = name.capitalize(), SAME_OR_NOT
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            raise UsageError(message("book_judgements_needs_name_most_most", most=_LONGEST_NAME))
        with self.opened() as database:
            statement = "INSERT OR IGNORE INTO books(key, name, scale) VALUES(?, ?, ?)"
            database.execute(statement, (name.casefold(), name, encoded(scale)))
        return self.book(name)

    def back_up(self) -> None:
        """Keep a copy beside the database, if something was added since the last one. Raises DataError, DiskFull."""
        if self.size() == self._backed_up:
            return
        with self.opened() as database:
            content, size = database.serialize(), database.total_changes
        write_own_file(self._path.with_suffix(BACKUP_SUFFIX), content)
        self._backed_up = size

    def close(self) -> None:
        try:
            self.back_up()
        except UserError as error:
            _log.warning("The copy of the judgements was not written: %s", error.detail)
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database = None

    def _whole(self, name: str) -> str:
        return " ".join((name or self.used_name()).split())

    def _is_empty(self) -> bool:
        """Also where a full disk or a kill left a file without tables, which whoever only reads cannot make."""
        return not self._path.exists() or not self._path.stat().st_size

    def _open(self) -> sqlite3.Connection:
        database = connect_durably(self._path, read_only=self._read_only)
        try:
            if self._is_empty() and not self._read_only:
                database.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
            _check(database)
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, msgspec.MsgspecError, UnicodeDecodeError) as error:
            code, path = getattr(error, "sqlite_errorcode", 0) & 0xFF, self._path
            is_malformed = code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} or "no such" in str(error)
            if isinstance(error, sqlite3.OperationalError) and not is_malformed:  # the disk is full, or it is in use
                raise translated(error, path) from error
            copy = path.with_suffix(BACKUP_SUFFIX)
            sentence = message("book_judgements_is_damaged", name=path.name)
            if copy.exists():
                sentence = message("book_judgements_is_damaged_copy", name=path.name, copy=copy.name)
            raise DataError(sentence, detail=f"{path}: {error}") from error


def _check(database: sqlite3.Connection) -> None:
    """Raises DataError for a newer version, and sqlite3.Error for what is damaged or has no books."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise DataError(message("book_judgements_was_written_newer_version"))
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if version < VERSION or found != "ok":
        raise sqlite3.DatabaseError(f"version {version}: {found}")
