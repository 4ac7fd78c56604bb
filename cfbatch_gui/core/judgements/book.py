"""Books of judgements: each a file of its own, to which is only ever added."""

import hashlib
import logging
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import astuple

from cfbatch_gui.core.errors import DataError, UsageError, UserError
from cfbatch_gui.core.job_folder.schema import transaction, translated
from cfbatch_gui.core.judgements.values import USUAL, Judgement, Scale, Source, Subject, decoded, encoded, text_digest
from cfbatch_gui.core.messages import comma_list, message, quoted, restored
from cfbatch_gui.core.system.databases import connect_durably
from cfbatch_gui.core.system.files import write_own_file


def newest(judgements: Iterable[Judgement]) -> list[Judgement]:
    """What each judge said last of each pair, unless taken back; labels are one judge."""
    said: dict[tuple[object, str], Judgement] = {}
    for each in judgements:
        said[each.pair, each.judge] = each
    return [each for each in said.values() if not each.taken_back]


def verdicts(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Of each graded pair the judgement with the middle grade of its strongest source; the most trusted pairs first."""
    middle = [of_pair[(len(of_pair) - 1) // 2] for of_pair in map(_strongest, graded(newest(judgements)))]
    return sorted(middle, key=lambda each: (-each.source, not (each.query.text and each.document.text), -each.time))


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

# A subject is known by the digest of its text, without one by its id; its first id is kept.
_TABLES = """
CREATE TABLE book(name TEXT NOT NULL, scale TEXT NOT NULL);
CREATE TABLE subjects(number INTEGER PRIMARY KEY, key NOT NULL UNIQUE, id TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE judgements(
    number INTEGER PRIMARY KEY, query INTEGER NOT NULL, document INTEGER NOT NULL, grade INTEGER, judge TEXT NOT NULL,
    source INTEGER NOT NULL, time REAL NOT NULL, again INTEGER NOT NULL, taken_back INTEGER NOT NULL, note TEXT NOT NULL
);
CREATE INDEX judgements_of_pair ON judgements(query, document, judge);
"""
_NUMBER = "(SELECT number FROM subjects WHERE key = ?)"
_ADD = f"INSERT INTO judgements VALUES(NULL, {_NUMBER}, {_NUMBER}, ?, ?, ?, ?, ?, ?, ?)"
_ALL = "SELECT query, document, grade, judge, source, time, again, taken_back, note FROM judgements"
_OF_PAIR = f"{_ALL} WHERE query = {_NUMBER} AND document = {_NUMBER} AND judge = ? ORDER BY number"


def check_tables(database: sqlite3.Connection) -> None:
    """Raises DataError for a book of a newer version, and sqlite3.Error for what is damaged or no book."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise DataError(message("book_judgements_was_written_newer_version"))
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if version < VERSION or found != "ok":
        raise sqlite3.DatabaseError(f"version {version}: {found}")


def _key(subject: Subject) -> bytes | str:
    return text_digest(subject.text) or subject.id


BACKUP_SUFFIX = ".backup"


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


class Book:
    """For any thread; `add` returns when all is on the disk."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open a book. Raises DataError."""
        self.path, self._lock = path, threading.Lock()
        with _translating(path):
            self._database = connect_durably(path, read_only=read_only)
            try:
                check_tables(self._database)
                name, scale = self._database.execute("SELECT name, scale FROM book").fetchone() or ("", "")
                self.name: str = name
                self.scale: Scale = decoded(scale)
                counted = self._database.execute("SELECT count(*) FROM judgements")
                self.count: int = counted.fetchone()[0]  # of all judgements that were ever added
            except BaseException:
                self._database.close()
                raise
        self._backed_up = self.count if path.with_suffix(BACKUP_SUFFIX).exists() else 0

    @classmethod
    def create(cls, path: Path, name: str, scale: Scale = USUAL) -> "Book":
        """A new book. Raises DataError, DiskFull."""
        with _translating(path), closing(connect_durably(path)) as database, transaction(database):
            for statement in filter(str.strip, _TABLES.split(";")):
                database.execute(statement)
            database.execute("INSERT INTO book VALUES(?, ?)", (name, encoded(scale)))
            database.execute(f"PRAGMA user_version = {VERSION}")
        return cls(path)

    def close(self) -> None:
        self._database.close()

    def add(self, judgements: Sequence[Judgement]) -> None:
        """Add these in one transaction: all are kept, or none. Raises UsageError, DataError, DiskFull."""
        for each in judgements:
            if problem := problem_of(each):
                raise UsageError(message("judgement_cannot_be_kept_problem", problem=problem))
        subjects = dict.fromkeys(subject for each in judgements for subject in (each.query, each.document))
        rows = ((_key(each.query), _key(each.document), *astuple(each)[2:]) for each in judgements)
        with self._lock, _translating(self.path), transaction(self._database):
            statement = "INSERT OR IGNORE INTO subjects(key, id, text) VALUES(?, ?, ?)"
            self._database.executemany(statement, ((_key(each), each.id, each.text) for each in subjects))
            self._database.executemany(_ADD, rows)
        with self._lock:
            self.count += len(judgements)

    def add_new(self, judgements: Iterable[Judgement]) -> int:
        """Add those that would change what their judge says, in blocks; how many. Raises as `add`."""
        said = {hash((each.pair, each.judge)): each.grade for each in newest(self.judgements())}
        count = 0
        waiting: list[Judgement] = []
        for each in judgements:
            # Of one pair the last line counts, and the same line twice is one.
            key = hash((each.pair, each.judge))
            if key not in said or said[key] != each.grade:
                said[key] = each.grade
                waiting.append(each)
            if len(waiting) == _BLOCK:
                self.add(waiting)
                count, waiting = count + len(waiting), []
        if waiting:
            self.add(waiting)
        return count + len(waiting)

    def newest_of(self, query: Subject, document: Subject, judge: str) -> Judgement | None:
        """What this judge said last about a pair, None if nothing counts. Raises DataError."""
        with self._lock, _translating(self.path):
            rows = self._database.execute(_OF_PAIR, (_key(query), _key(document), judge)).fetchall()
        found = newest(_judgement(query, document, rest) for _, _, *rest in rows)
        return found[0] if found else None

    def judgements(self) -> Iterator[Judgement]:
        """All of them as they were made, those that no longer count too. Raises DataError."""
        with self._lock, _translating(self.path):
            named = self._database.execute("SELECT number, id, text FROM subjects")
            subjects = {number: Subject(identifier, text) for number, identifier, text in named}
            rows = self._database.execute(f"{_ALL} ORDER BY number").fetchall()
        return (_judgement(subjects[query], subjects[document], rest) for query, document, *rest in rows)

    def verdicts(self) -> list[Judgement]:
        """One judgement for each graded pair, see `verdicts`. Blocking: a second for 100,000. Raises DataError."""
        return verdicts(self.judgements())

    def tally(self) -> Tally:
        counting = newest(self.judgements())
        pairs, told = {each.pair for each in counting}, {each.pair for each in counting if each.grade is not None}
        judges, queries = {each.judge for each in counting}, {each.query.key for each in counting}
        return Tally(len(told), len(pairs - told), len(judges), len(queries), self.count)

    def back_up(self) -> None:
        """Keep a copy beside the book, if something was added since the last one. Raises DataError, DiskFull."""
        with self._lock, _translating(self.path):
            if self._backed_up == self.count:
                return
            content = self._database.serialize()
            self._backed_up = self.count
        write_own_file(self.path.with_suffix(BACKUP_SUFFIX), content)


def _judgement(query: Subject, document: Subject, row: Sequence[Any]) -> Judgement:
    grade, judge, source, time, again, taken_back, note = row
    return Judgement(query, document, grade, restored(judge), Source(source), time, bool(again), bool(taken_back), note)


@contextmanager
def _translating(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, msgspec.MsgspecError, UnicodeDecodeError) as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        is_malformed = code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} or "no such" in str(error)
        if isinstance(error, sqlite3.OperationalError) and not is_malformed:  # the disk is full, or the file in use
            raise translated(error, path) from error
        copy = path.with_suffix(BACKUP_SUFFIX)
        sentence = message("book_judgements_is_damaged", name=path.name)
        if copy.exists():
            sentence = message("book_judgements_is_damaged_copy", name=path.name, copy=copy.name)
        raise DataError(sentence, detail=f"{path}: {error}") from error


USUAL_NAME = "My judgements"
_LONGEST_NAME = 80  # characters
_log = logging.getLogger(__name__)


class Shelf:
    """Opens each book once. A book's name is never part of its path; without a name it is the one in use, which
    `used_name` tells, or the usual one. Methods may be called from any thread.
    """

    def __init__(self, folder: Path, used_name: Callable[[], str] = str, *, read_only: bool = False) -> None:
        self._folder, self._used_name, self._read_only = folder, used_name, read_only
        self._open: dict[Path, Book] = {}
        self._lock = threading.Lock()

    def names(self) -> tuple[str, ...]:
        """The names of all books, sorted. One that cannot be read is left out."""
        found = []
        for path in self._folder.glob("*.db"):
            with suppress(UserError):
                found.append(self._book(path).name)
        return tuple(sorted(found, key=str.casefold))

    def used_name(self) -> str:
        """The name of the book in use, which may not exist yet."""
        return self._used_name() or USUAL_NAME

    def size(self) -> int:
        """How many records the book in use has if it is open: changes when something was added in this program."""
        book = self._open.get(self._path(""))
        return book.count if book is not None else 0

    def find(self, name: str = "") -> Book | None:
        """The book with this name, None if there is none. Raises DataError."""
        path = self._path(name)
        return self._book(path) if path.exists() else None

    def book(self, name: str = "") -> Book:
        """The book with this name. Raises UsageError without one, DataError."""
        book = self.find(name)
        if book is None:
            known = comma_list([quoted(each) for each in self.names()]) or message("none")
            raise UsageError(message("there_is_no_book_judgements_name", name=name or self.used_name(), known=known))
        return book

    def book_or_new(self, name: str = "", scale: Scale = USUAL) -> Book:
        """The book with this name, made if there is none. Raises UsageError for an unusable name, DataError."""
        name = " ".join((name or self.used_name()).split())
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            raise UsageError(message("book_judgements_needs_name_most_most", most=_LONGEST_NAME))
        path = self._path(name)
        with self._lock:
            if path not in self._open and not path.exists():
                self._open[path] = Book.create(path, name, scale)
        return self._book(path)

    def close(self) -> None:
        with self._lock:
            for book in self._open.values():
                if not self._read_only:
                    try:
                        book.back_up()
                    except UserError as error:
                        _log.warning("The copy of a book of judgements was not written: %s", error.detail)
                book.close()
            self._open.clear()

    def _path(self, name: str) -> Path:
        words = (name or self.used_name()).split()
        digest = hashlib.blake2b(" ".join(words).casefold().encode(), digest_size=8).hexdigest()
        return self._folder / f"{digest}.db"

    def _book(self, path: Path) -> Book:
        with self._lock:
            if path not in self._open:
                self._open[path] = Book(path, read_only=self._read_only)
            return self._open[path]
