"""The file with all that Vectorize keeps: one SQLite database in the service's folder, which survives a crash."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from cfbatch_gui.core.system.files import create_own_file

FILE_NAME: Final = "vectorize.db"
_BUSY_SECONDS: Final = 30.0

# `events` is also the ledger: its rows stay when an index is deleted. `ids` is a JSON array of the ids, or of the one
# property, that an event is about. `pending` has the vectors of changes that are not applied yet. `indexed` is a JSON
# object from the key of a metadata index to the value that was indexed when the vector was accepted. `created` and
# `deleted` of a metadata index are numbers of events.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS indexes (
    key         INTEGER PRIMARY KEY AUTOINCREMENT,
    account     TEXT NOT NULL,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    dimensions  INTEGER NOT NULL,
    metric      TEXT NOT NULL,
    created_at  REAL NOT NULL,
    is_deleted  INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX IF NOT EXISTS names ON indexes (account, name) WHERE NOT is_deleted;
CREATE TABLE IF NOT EXISTS events (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    index_key   INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    mutation_id TEXT NOT NULL,
    accepted_at REAL NOT NULL,
    size        INTEGER NOT NULL,
    sha256      TEXT NOT NULL,
    ids         TEXT NOT NULL,
    is_applied  INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS applied ON events (index_key, is_applied, number);
CREATE TABLE IF NOT EXISTS pending (
    event     INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    id        TEXT NOT NULL,
    namespace TEXT,
    metadata  TEXT,
    indexed   TEXT NOT NULL,
    numbers   BLOB NOT NULL,
    PRIMARY KEY (event, position)
);
CREATE TABLE IF NOT EXISTS vectors (
    number    INTEGER PRIMARY KEY,
    index_key INTEGER NOT NULL,
    id        TEXT NOT NULL,
    namespace TEXT,
    metadata  TEXT,
    indexed   TEXT NOT NULL,
    numbers   BLOB NOT NULL,
    UNIQUE (index_key, id)
);
CREATE TABLE IF NOT EXISTS metadata_indexes (
    key       INTEGER PRIMARY KEY AUTOINCREMENT,
    index_key INTEGER NOT NULL,
    property  TEXT NOT NULL,
    type      TEXT NOT NULL,
    created   INTEGER NOT NULL,
    deleted   INTEGER
);
"""


@contextmanager
def opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """A transaction that no other one runs beside; it is on disk when the block ends, and undone if it raises.

    Blocks: use worker threads. Processes may share a folder. Raises sqlite3.Error, OSError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    create_own_file(folder / FILE_NAME)
    path = folder / FILE_NAME
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        database.executescript(_SCHEMA)
        database.execute("BEGIN IMMEDIATE")  # a transaction that began with reading could not wait for another's end
        with database:
            yield database
