"""The books of judgements in the data folder, by their names."""

import hashlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.judgements.book import Book, book_name
from cfbatch_gui.core.judgements.scales import USUAL, Scale
from cfbatch_gui.core.messages import message

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
        """Whether there is a book with this name."""
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
        """Keep a copy of each book to which something was added, and close all."""
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
