"""A book of judgements: a file of its own, to which is only ever added."""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from cfbatch_gui.core.errors import DataError, UsageError
from cfbatch_gui.core.job_folder.schema import transaction, translated
from cfbatch_gui.core.judgements import tables
from cfbatch_gui.core.judgements.records import AGAIN, CANNOT_TELL, RECORD, TAKEN_BACK, Records, newest
from cfbatch_gui.core.judgements.recovery import BACKUP_SUFFIX, mend
from cfbatch_gui.core.judgements.scales import USUAL, Scale, decoded
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject, text_digest
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.databases import connect_durably
from cfbatch_gui.core.system.files import own_file_writer

_GRADES = 2**31 - 1  # the largest; more is an order number or a barcode
_NO_SUBJECT = Subject("")
_DAMAGED = "rows are damaged"
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
    """Methods may be called from any thread; `add` returns when all is on the disk.

    `damage` are sentences about what was found damaged: records at opening, texts when they are read first.
    """

    def __init__(self, path: Path, *, read_only: bool, clock: Callable[[], float]) -> None:
        """Open a book; of a damaged one what is sound is kept, see `recovery.mend`. Raises DataError."""
        self.path, self.damage = path, tuple[str, ...]()
        self._lock = threading.Lock()
        self._read_only, self._clock = read_only, clock
        self._backed_up = 0
        with _translating(path):
            try:
                self._read()
            except (sqlite3.Error, msgspec.MsgspecError, TypeError, ValueError) as error:
                if not self._can_mend(error):
                    raise
                self._mend()

    def _read(self) -> None:
        self._database = connect_durably(self.path, read_only=self._read_only)
        try:
            tables.check_version(self._database)
            name, scale, counted = self._database.execute("SELECT * FROM book").fetchone()
            self.name: str = name
            self.scale: Scale = decoded(scale)
            self._records = tables.read_sound_records(self._database, counted)
        except BaseException:
            self._database.close()
            raise
        if self.path.with_suffix(BACKUP_SUFFIX).exists():
            self._backed_up = len(self._records)

    def _can_mend(self, error: Exception) -> bool:
        return not self._read_only and (not isinstance(error, sqlite3.OperationalError) or _is_malformed(error))

    def _mend(self) -> None:
        self.damage += mend(self.path, clock=self._clock)
        self._read()

    @classmethod
    def create(cls, path: Path, name: str, scale: Scale = USUAL, *, clock: Callable[[], float]) -> "Book":
        """A new book. Raises DataError, DiskFull."""
        with _translating(path), closing(connect_durably(path)) as database:
            tables.create(database, name, scale)
        return cls(path, read_only=False, clock=clock)

    def close(self) -> None:
        """Close the file."""
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
                        subjects[subject] = tables.subject_number(self._database, subject)
                if each.judge not in judges:
                    judges[each.judge] = tables.judge_number(self._database, each.judge)
                flags = AGAIN * each.again | TAKEN_BACK * each.taken_back | CANNOT_TELL * (each.grade is None)
                records[index] = (
                    *(subjects[each.query], subjects[each.document], judges[each.judge], each.source, flags),
                    *(each.grade or 0, round(each.time * 1000), 0),
                )
            notes = [(index, each.note) for index, each in enumerate(judgements) if each.note]
            tables.append(self._database, records, notes, after=self._counted())
        with self._lock:
            self._read_on()

    def add_new(self, judgements: Iterable[Judgement]) -> int:
        """Add those that would change what their judge says; how many. Raises as `add`.

        They are taken in blocks, so that the labels of a large job need not be in memory at once; an error leaves the
        blocks before it in the book.
        """
        said = self._said()
        count = 0
        waiting: list[Judgement] = []
        for each in judgements:
            # Of one pair the last line counts, and the same line twice is one.
            key = hash((_key(each.query), _key(each.document), each.judge))
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
            keys = {number: _key(subject) for number, subject in self._subjects().items()}
            names = self._judges()
            return {
                hash((keys[int(each["query"])], keys[int(each["document"])], names[int(each["judge"])])): _grade(each)
                for each in newest(self._records)
            }

    def records(self) -> Records:
        """All records in the order in which they were made."""
        return self._records

    def contents(self) -> tuple[Records, dict[int, Subject]]:
        """All records with the queries and documents that they name; mended first if these are damaged."""
        with self._lock, _translating(self.path):
            subjects = self._subjects()
            return self._records, subjects

    def newest_of(self, query: Subject, document: Subject, judge: str) -> Judgement | None:
        """What this judge said last about a pair, None if nothing counts. Raises DataError."""
        with self._lock, _translating(self.path):
            numbers = tuple(tables.find_subject(self._database, subject) for subject in (query, document))
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
        """The judges' names by their numbers."""
        with self._lock, _translating(self.path):
            return self._judges()

    def judgements(self) -> Iterator[Judgement]:
        """All of them as they were made, those that no longer count too. Raises DataError."""
        with self._lock, _translating(self.path):
            subjects, judges = self._subjects(), self._judges()
            notes = dict(self._database.execute("SELECT number, note FROM notes"))
            records = self._records
        for number, record in enumerate(records, 1):
            yield Judgement(
                subjects.get(int(record["query"]), _NO_SUBJECT),
                subjects.get(int(record["document"]), _NO_SUBJECT),
                *(_grade(record), judges[int(record["judge"])], Source(int(record["source"]))),
                float(record["time"]) / 1000,
                again=bool(record["flags"] & AGAIN),
                taken_back=bool(record["flags"] & TAKEN_BACK),
                note=notes.get(number, ""),
            )

    def tally(self) -> Tally:
        """How much is in the book."""
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

    def _read_on(self) -> None:
        _, more = tables.read_records(self._database, after=len(self._records))
        self._records = np.concatenate((self._records, more))

    def _counted(self) -> int:
        (count,) = self._database.execute("SELECT records FROM book").fetchone()
        return int(count)

    def _judges(self) -> dict[int, str]:
        return dict(self._database.execute("SELECT number, name FROM judges"))

    def _subjects(self) -> dict[int, Subject]:
        """All of them; if one is damaged, the book is mended first."""
        try:
            return dict(self._sound_subjects())
        except sqlite3.DatabaseError as error:
            if not self._can_mend(error):
                raise
            self._database.close()
            self._mend()
            return dict(self._sound_subjects())

    def _sound_subjects(self) -> Iterator[tuple[int, Subject]]:
        rows = self._database.execute("SELECT number, digest, id, text FROM subjects").fetchall()
        for number, digest, identifier, text in rows:
            if digest != text_digest(text):
                raise sqlite3.DatabaseError(_DAMAGED)
            yield number, Subject(identifier, text)


def book_name(path: Path) -> str:
    """The name of a book without opening it. Raises sqlite3.Error."""
    with closing(connect_durably(path, read_only=True)) as database:
        return str(database.execute("SELECT name FROM book").fetchone()[0])


def _key(subject: Subject) -> tuple[str, str]:
    return ("", subject.text) if subject.text else (subject.id, "")


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
            "This book of judgements is damaged. The window mends it as far as it can when it opens it, and so does "
            "“cfbatch judgements import”; nothing was changed."
        ),
        detail=f"{path.name}: {error}",
    )
