"""Texts by id in a temporary database, for joining files of any size."""

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self


class TextStore:
    """Texts by id in a temporary file that the end of the `with` block removes. The first text of an id is kept."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cfbatch-")
        self._database = sqlite3.connect(Path(self._folder.name) / "texts.db")
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            " CREATE TABLE texts(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL);"
        )

    def add(self, texts: Iterable[tuple[str, str]]) -> None:
        """Keep (id, text) pairs."""
        self._database.executemany("INSERT OR IGNORE INTO texts(id, text) VALUES(?, ?)", texts)

    def get(self, name: str) -> str | None:
        """The text with this id, None when there is none."""
        found = self._database.execute("SELECT text FROM texts WHERE id = ?", (name,)).fetchone()
        return str(found[0]) if found else None

    def number_ids(self) -> int:
        """Number the ids from 1 in their own order, whatever the order of the file; return how many there are.

        To be called once, after the last `add`.
        """
        self._database.execute("CREATE TABLE numbered AS SELECT number FROM texts ORDER BY id")
        return int(self._database.execute("SELECT count(*) FROM numbered").fetchone()[0])

    def numbered_id(self, number: int) -> str:
        """The id with a number that `number_ids` gave."""
        found = self._database.execute(
            "SELECT id FROM numbered JOIN texts ON texts.number = numbered.number WHERE numbered.rowid = ?", (number,)
        ).fetchone()
        return str(found[0])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield all (id, text) pairs in the order in which they were added."""
        yield from self._database.execute("SELECT id, text FROM texts ORDER BY number")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
        self._folder.cleanup()
