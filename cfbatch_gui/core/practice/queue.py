"""The practice service's queue: one SQLite file, so that accepted batches survive a crash."""

import hashlib
import sqlite3
import uuid
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cfbatch_gui.core.system.files import create_own_file

FILE_NAME = "practice.db"
KEPT_SECONDS = 7 * 24 * 60 * 60
_BUSY_SECONDS = 30.0
_FAST = 1  # of zlib's levels
_SCHEMA = """
CREATE TABLE IF NOT EXISTS accepted (
    request_id  TEXT PRIMARY KEY,
    account     TEXT NOT NULL,
    model       TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    size        INTEGER NOT NULL,
    accepted_at REAL NOT NULL,
    body        BLOB
)
"""


_SCHEMA_SYNCHRONOUS = """
CREATE TABLE IF NOT EXISTS answered_at_once (
    account     TEXT NOT NULL,
    model       TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    size        INTEGER NOT NULL,
    answered_at REAL NOT NULL
)
"""


class State(StrEnum):
    """The status of a batch in answers; a batch that is done has none there."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Accepted:
    """One row of the ledger of accepted bodies, which is kept after the body was deleted.

    `sha256` is of the exact bytes posted, `size` their number, `accepted_at` seconds of the service's clock.
    """

    request_id: str
    account: str
    model: str
    sha256: str
    size: int
    accepted_at: float


@dataclass(frozen=True, slots=True)
class AnsweredSynchronously:
    """One row of the ledger of synchronous calls, which a service would bill. Written before the answer is sent.

    `sha256` is of the exact bytes posted, `size` their number, `answered_at` seconds of the service's clock.
    """

    account: str
    model: str
    sha256: str
    size: int
    answered_at: float


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a batch waits and runs, in seconds."""

    queued: float
    running: float

    def state(self, age: float) -> State:
        """The state of a batch that was accepted `age` seconds ago."""
        if age < self.queued:
            return State.QUEUED
        return State.RUNNING if age < self.queued + self.running else State.DONE


class Queue:
    """The queue in a folder. Each call opens the file and blocks: use worker threads. Processes may share a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def accept(self, account: str, model: str, body: bytes, now: float) -> str:
        """Store a body and return its new request id; it is on disk when this returns.

        Bodies older than seven days are deleted at the same time. Raises sqlite3.Error, OSError.
        """
        request_id = str(uuid.uuid4())
        digest = hashlib.sha256(body).hexdigest()
        packed = zlib.compress(body, _FAST)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _opened(self._folder) as database:
            database.execute(
                "UPDATE accepted SET body = NULL WHERE accepted_at < ? AND body IS NOT NULL", (now - KEPT_SECONDS,)
            )
            database.execute(
                "INSERT INTO accepted VALUES (?, ?, ?, ?, ?, ?, ?)",
                (request_id, account, model, digest, len(body), now, packed),
            )
        return request_id

    def note_answer(self, account: str, model: str, body: bytes, now: float) -> None:
        """Record a synchronous call; on disk when this returns. Raises sqlite3.Error, OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        digest = hashlib.sha256(body).hexdigest()
        with _opened(self._folder) as database:
            database.execute(
                "INSERT INTO answered_at_once VALUES (?, ?, ?, ?, ?)", (account, model, digest, len(body), now)
            )

    def accepted_at(self, request_id: str, account: str, model: str, now: float) -> float | None:
        """When that batch was accepted, for the same account and model; None when unknown or expired."""
        row = self._row("accepted_at", request_id, account, model, now)
        return None if row is None else float(row[0])

    def body(self, request_id: str, account: str, model: str, now: float) -> bytes | None:
        """The bytes that were posted; None when unknown or expired."""
        row = self._row("body", request_id, account, model, now)
        return None if row is None else zlib.decompress(row[0])

    def _row(self, column: str, request_id: str, account: str, model: str, now: float) -> tuple[Any, ...] | None:
        if not (self._folder / FILE_NAME).exists():
            return None
        question = (
            f"SELECT {column} FROM accepted "  # noqa: S608
            "WHERE request_id = ? AND account = ? AND model = ? AND accepted_at >= ? AND body IS NOT NULL"
        )
        with _opened(self._folder) as database:
            row: tuple[Any, ...] | None = database.execute(
                question, (request_id, account, model, now - KEPT_SECONDS)
            ).fetchone()
        return row


def accepted(folder: Path) -> list[Accepted]:
    """Everything the practice service of that folder has ever accepted, oldest first."""
    if not (folder / FILE_NAME).exists():
        return []
    with _opened(folder) as database:
        rows = database.execute(
            "SELECT request_id, account, model, sha256, size, accepted_at FROM accepted ORDER BY accepted_at, rowid"
        ).fetchall()
    return [Accepted(*row) for row in rows]


def answered_synchronously(folder: Path) -> list[AnsweredSynchronously]:
    """Every call without the queue that the practice service of that folder has answered, oldest first."""
    if not (folder / FILE_NAME).exists():
        return []
    with _opened(folder) as database:
        rows = database.execute(
            "SELECT account, model, sha256, size, answered_at FROM answered_at_once ORDER BY answered_at, rowid"
        ).fetchall()
    return [AnsweredSynchronously(*row) for row in rows]


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
    create_own_file(folder / FILE_NAME)
    with closing(sqlite3.connect(folder / FILE_NAME, timeout=_BUSY_SECONDS)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute(_SCHEMA)
        database.execute(_SCHEMA_SYNCHRONOUS)
        with database:  # commits, or rolls back
            yield database
