"""Indexes: creating, finding, deleting, and how far each has come."""

import sqlite3
from dataclasses import dataclass

from cfbatch_gui.core.practice.vectorize.bodies import Metric, NewIndex
from cfbatch_gui.core.practice.vectorize.refusals import duplicate_name, index_deleted, index_not_found, over_limit
from cfbatch_gui.core.workers_ai.limits import MAX_INDEXES


@dataclass(frozen=True, slots=True)
class Index:
    """One index. `created_at` is in seconds of the service's clock."""

    key: int
    name: str
    description: str
    dimensions: int
    metric: Metric
    created_at: float


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index has come: its vectors, and the id and the time of acceptance of the last change applied.

    The id is "" before the first one.
    """

    vectors: int
    mutation_id: str
    accepted_at: float


_COLUMNS = "key, name, description, dimensions, metric, created_at"


def create_index(database: sqlite3.Connection, account: str, new: NewIndex, now: float) -> Index:
    """Add an index. Raises RefusalError for a name in use and for too many indexes."""
    names = {index.name for index in indexes_of(database, account)}
    if new.name in names:
        raise duplicate_name(new.name)
    if len(names) >= MAX_INDEXES:
        raise over_limit(f"max index count is {MAX_INDEXES}")
    database.execute(
        "INSERT INTO indexes (account, name, description, dimensions, metric, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        (account, new.name, new.description, new.dimensions, new.metric, now),
    )
    return find_index(database, account, new.name)


def indexes_of(database: sqlite3.Connection, account: str) -> list[Index]:
    """The indexes of an account, oldest first."""
    question = f"SELECT {_COLUMNS} FROM indexes WHERE account = ? AND NOT is_deleted ORDER BY key"  # noqa: S608
    return [Index(*row) for row in database.execute(question, (account,))]


def find_index(database: sqlite3.Connection, account: str, name: str) -> Index:
    """The index of that name. Raises RefusalError: 404 for one that never was, 410 for one that was deleted."""
    question = (
        f"SELECT is_deleted, {_COLUMNS} FROM indexes WHERE account = ? AND name = ? "  # noqa: S608
        "ORDER BY key DESC LIMIT 1"
    )
    row = database.execute(question, (account, name)).fetchone()
    if row is None:
        raise index_not_found(name)
    if row[0]:
        raise index_deleted(name)
    return Index(*row[1:])


def delete_index(database: sqlite3.Connection, index: Index) -> None:
    """Delete an index with its vectors; its name is free again. What was accepted stays in the ledger."""
    database.execute("UPDATE indexes SET is_deleted = 1 WHERE key = ?", (index.key,))
    database.execute("DELETE FROM pending WHERE event IN (SELECT number FROM events WHERE index_key = ?)", (index.key,))
    database.execute("DELETE FROM vectors WHERE index_key = ?", (index.key,))


def progress(database: sqlite3.Connection, index: Index) -> Progress:
    """How far an index has come, not counting what is accepted and not applied."""
    vectors = database.execute("SELECT count(*) FROM vectors WHERE index_key = ?", (index.key,)).fetchone()[0]
    row = database.execute(
        "SELECT mutation_id, accepted_at FROM events WHERE index_key = ? AND is_applied AND mutation_id != '' "
        "ORDER BY number DESC LIMIT 1",
        (index.key,),
    ).fetchone()
    return Progress(vectors, *(row or ("", 0.0)))
