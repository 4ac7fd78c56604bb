"""The practice service's queue: one SQLite file, so that accepted batches survive a crash."""

import hashlib
import sqlite3
import uuid
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Final

from cfbatch_gui.core.system.files import create_own_file

KEPT_SECONDS: Final = 7 * 24 * 60 * 60
_BUSY_SECONDS: Final = 30.0
_FAST: Final = 1  # of zlib's levels

# Every body that was ever taken, with the SHA-256 and the size of the bytes as posted; calls that are answered at once
# are not queued. The body goes after seven days, or at once where it is not needed again.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS accepted (
    request_id  TEXT PRIMARY KEY,
    account     TEXT NOT NULL,
    model       TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    size        INTEGER NOT NULL,
    accepted_at REAL NOT NULL,
    is_queued   INTEGER NOT NULL,
    body        BLOB
)
"""


class State(StrEnum):
    """The status of a batch in answers; a batch that is done has none there."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


class Queue:
    """The queue in a folder, where a batch waits and then runs for so many seconds.

    Each call opens the file and blocks. Processes may share a folder.
    """

    def __init__(self, folder: Path, seconds_queued: float, seconds_running: float) -> None:
        self._path, self._queued, self._running = folder / "practice.db", seconds_queued, seconds_running

    def accept(self, account: str, model: str, body: bytes, now: float, *, is_queued: bool = True) -> str:
        """Store a body on the disk and return its new request id; those older than seven days go.

        Raises sqlite3.Error, OSError.
        """
        request_id = str(uuid.uuid4())
        digest = hashlib.sha256(body).hexdigest()
        packed = zlib.compress(body, _FAST) if is_queued else None
        with self._opened() as database:
            database.execute(
                "UPDATE accepted SET body = NULL WHERE accepted_at < ? AND body IS NOT NULL", (now - KEPT_SECONDS,)
            )
            row = (request_id, account, model, digest, len(body), now, is_queued, packed)
            database.execute("INSERT INTO accepted VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        return request_id

    def poll(self, request_id: str, account: str, model: str, now: float) -> tuple[State, bytes] | None:
        """A batch's state, with what was posted once it is done; None when unknown or expired."""
        with self._opened() as database:
            row = database.execute(
                "SELECT accepted_at, body FROM accepted WHERE request_id = ? AND account = ? AND model = ? "
                "AND accepted_at >= ? AND body IS NOT NULL",
                (request_id, account, model, now - KEPT_SECONDS),
            ).fetchone()
        if row is None:
            return None
        age = now - row[0]
        if age < self._queued + self._running:
            return State.QUEUED if age < self._queued else State.RUNNING, b""
        return State.DONE, zlib.decompress(row[1])

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """An exclusive transaction, on disk when the block ends, undone if it raises."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        create_own_file(self._path)
        with closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode=DELETE")
            database.executescript(_SCHEMA)
            database.execute("BEGIN IMMEDIATE")  # one that began with reading could not wait for another's end
            with database:
                yield database
