"""Mending a damaged book of judgements from what is sound in it and in its last copy."""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from cfbatch_gui.core.job_folder.schema import transaction
from cfbatch_gui.core.judgements import tables
from cfbatch_gui.core.judgements.records import RECORD
from cfbatch_gui.core.judgements.scales import USUAL, Scale, decoded
from cfbatch_gui.core.judgements.values import text_digest
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.databases import connect_durably
from cfbatch_gui.core.system.files import flush_folder, flush_to_disk, move_file

BACKUP_SUFFIX = ".backup"


class _Found:
    """What is sound in one or more files of the same book. Rows are never changed, so that one file adds to another."""

    def __init__(self) -> None:
        self.name = ""
        self.scale: Scale | None = None
        self.counted = 0
        self.subjects: dict[int, tuple[bytes | None, str, str]] = {}
        self.judges: dict[int, str] = {}
        self.records: dict[int, bytes] = {}
        self.notes: dict[int, str] = {}

    def read(self, path: Path) -> None:
        """Take what can be read of this file; the rest is passed over."""
        with suppress(sqlite3.Error), closing(connect_durably(path, read_only=True)) as database:
            database.text_factory = _text
            for take in (self._take_book, self._take_subjects, self._take_judges, self._take_notes, self._take_records):
                with suppress(sqlite3.Error, ValueError, TypeError):  # what was read before the damage is kept
                    take(database)

    def _take_book(self, database: sqlite3.Connection) -> None:
        name, scale, counted = database.execute("SELECT name, scale, records FROM book").fetchone()
        self.counted = max(self.counted, int(counted))
        self.name = self.name or name
        self.scale = self.scale or decoded(scale)

    def _take_subjects(self, database: sqlite3.Connection) -> None:
        for number, digest, identifier, text in database.execute("SELECT number, digest, id, text FROM subjects"):
            if digest == text_digest(text) and (text or identifier):
                self.subjects.setdefault(number, (digest, identifier, text))

    def _take_judges(self, database: sqlite3.Connection) -> None:
        for number, name in database.execute("SELECT number, name FROM judges"):
            self.judges.setdefault(number, name)

    def _take_notes(self, database: sqlite3.Connection) -> None:
        for number, note in database.execute("SELECT number, note FROM notes"):
            self.notes.setdefault(number, note)

    def _take_records(self, database: sqlite3.Connection) -> None:
        for number, record in database.execute("SELECT number, record FROM records"):
            if isinstance(record, bytes) and len(record) == RECORD.itemsize:
                one = np.frombuffer(record, RECORD)
                if tables.sound(np.array([number], dtype=np.int64), one)[0]:
                    self.records.setdefault(number, record)


def mend(path: Path, *, clock: Callable[[], float]) -> tuple[str, ...]:
    """Make the book anew from what is sound in it and in its last copy; sentences about it for the user.

    The damaged file is put aside under another name, never deleted. Raises sqlite3.Error, DataError, DiskFull, OSError.
    """
    found = _Found()
    for file in (path, path.with_suffix(BACKUP_SUFFIX)):
        if file.exists():
            found.read(file)
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    with closing(connect_durably(new)) as database:
        kept = _write(database, found)
    flush_to_disk(new)
    aside = path.with_name(f"{path.name}.damaged-{int(clock())}")
    move_file(path, aside)
    # A journal belongs to the damaged file; beside the new one it would be rolled back into it.
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
    move_file(new, path)
    flush_folder(path.parent)
    lost = max(found.counted, max(found.records, default=0)) - kept
    return (_sentence(found.name, kept, lost, aside.name),)


def _write(database: sqlite3.Connection, found: _Found) -> int:
    """Write what was found; the number of records."""
    tables.create(database, found.name or "Judgements", found.scale or USUAL)
    numbers = sorted(found.records)
    records = np.frombuffer(b"".join(found.records[number] for number in numbers), RECORD).copy()
    whole = np.array(
        [
            int(each["query"]) in found.subjects
            and int(each["document"]) in found.subjects
            and int(each["judge"]) in found.judges
            for each in records
        ],
        dtype=np.bool_,
    )
    kept = [number for number, is_whole in zip(numbers, whole, strict=True) if is_whole]
    notes = [(index, found.notes[number]) for index, number in enumerate(kept) if number in found.notes]
    with transaction(database):
        rows = ((number, *row) for number, row in found.subjects.items())
        database.executemany("INSERT OR IGNORE INTO subjects VALUES(?, ?, ?, ?)", rows)
        database.executemany("INSERT OR IGNORE INTO judges VALUES(?, ?)", found.judges.items())
        tables.append(database, records[whole], notes, after=0)
    return len(kept)


def _sentence(name: str, kept: int, lost: int, aside: str) -> str:
    if lost > 0:
        return message(
            "The book of judgements “{name}” was damaged: {kept} of {all} judgements are kept, the others are lost."
            " “{aside}” is the damaged file.",
            name=name,
            kept=kept,
            all=kept + lost,
            aside=aside,
        )
    return message(
        "The book of judgements “{name}” was damaged. All {kept} judgements are kept; “{aside}” is the damaged file.",
        name=name,
        kept=kept,
        aside=aside,
    )


def _text(content: bytes) -> str:
    return content.decode(errors="replace")
