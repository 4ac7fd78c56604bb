"""Texts by their ids, on disk as long as they are needed."""

import sqlite3
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType


class TextStore:
    """A context manager; the file goes when it ends. Of texts with the same id the first is kept."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cfbatch-")
        self._database = sqlite3.connect(Path(self._folder.name) / "texts.db")
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            " CREATE TABLE texts(id TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"
        )

    def add(self, texts: Iterable[tuple[str, str]]) -> None:
        """Keep (id, text) pairs."""
        self._database.executemany("INSERT OR IGNORE INTO texts VALUES(?, ?)", texts)

    def get(self, name: str) -> str | None:
        """The text with this id, None when there is none."""
        found = self._database.execute("SELECT text FROM texts WHERE id = ?", (name,)).fetchone()
        return str(found[0]) if found else None

    def __enter__(self) -> "TextStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
        self._folder.cleanup()
