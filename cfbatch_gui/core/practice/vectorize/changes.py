"""Changes to an index: accepted at once with an id, applied later in the order of acceptance."""

import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from cfbatch_gui.core.practice.vectorize.bodies import NewMetadataIndex
from cfbatch_gui.core.practice.vectorize.filters import indexed_value
from cfbatch_gui.core.practice.vectorize.indexes import Index
from cfbatch_gui.core.practice.vectorize.metadata_indexes import MetadataIndex, accepted_metadata_indexes
from cfbatch_gui.core.practice.vectorize.refusals import over_limit
from cfbatch_gui.core.practice.vectorize.uploads import Vector
from cfbatch_gui.core.workers_ai.limits import MAX_INDEX_VECTORS, MAX_METADATA_INDEXES, MAX_NAMESPACES


class Kind(StrEnum):
    """What an event in the ledger is. The first two are applied at once and are no change of the content."""

    CREATE_INDEX = "create_index"
    DELETE_INDEX = "delete_index"
    UPSERT = "upsert"
    INSERT = "insert"
    DELETE = "delete"
    CREATE_METADATA_INDEX = "create_metadata_index"
    DELETE_METADATA_INDEX = "delete_metadata_index"


@dataclass(frozen=True, slots=True)
class Posted:
    """A request that is accepted: the bytes of its body, their SHA-256, and when, by the service's clock."""

    size: int
    sha256: str
    at: float


def note_event(database: sqlite3.Connection, index: Index, kind: Kind, posted: Posted) -> None:
    """Write into the ledger that an index was created or deleted."""
    _accept(database, index, kind, posted, (), mutation_id="", is_applied=True)


def accept_vectors(
    database: sqlite3.Connection, index: Index, kind: Kind, posted: Posted, vectors: Iterable[Vector]
) -> str:
    """Accept an upsert or an insert and return its mutation id. Raises RefusalError, also what `vectors` raises."""
    number, mutation_id = _accept(database, index, kind, posted, ())
    metadata_indexes = accepted_metadata_indexes(database, index.key)
    ids: list[str] = []
    for position, vector in enumerate(vectors):
        ids.append(vector.id)
        metadata = None if vector.metadata is None else msgspec.json.encode(vector.metadata).decode()
        row = (number, position, vector.id, vector.namespace, metadata, _indexed(vector, metadata_indexes))
        database.execute("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, vector.numbers))
    database.execute("UPDATE events SET ids = ? WHERE number = ?", (msgspec.json.encode(ids).decode(), number))
    _check_counts(database, index)
    return mutation_id


def _indexed(vector: Vector, metadata_indexes: Sequence[MetadataIndex]) -> str:
    values = {str(each.key): indexed_value(vector.metadata or {}, each.name, each.type) for each in metadata_indexes}
    return msgspec.json.encode({key: value for key, value in values.items() if value is not None}).decode()


def _check_counts(database: sqlite3.Connection, index: Index) -> None:
    """Refuse vectors or namespaces above the limits, what is accepted and not applied included."""
    waiting = "pending WHERE event IN (SELECT number FROM events WHERE index_key = :key)"
    held = "vectors WHERE index_key = :key"
    for column, most, words in (("id", MAX_INDEX_VECTORS, "vector"), ("namespace", MAX_NAMESPACES, "namespace")):
        question = (
            f"SELECT count(*) FROM (SELECT {column} FROM {held} AND {column} NOT NULL "  # noqa: S608
            f"UNION SELECT {column} FROM {waiting} AND {column} NOT NULL LIMIT {most + 1})"
        )
        if database.execute(question, {"key": index.key}).fetchone()[0] > most:
            raise over_limit(f"max {words} count of an index is {most}")


def accept_deletion(database: sqlite3.Connection, index: Index, posted: Posted, ids: Sequence[str]) -> str:
    """Accept that vectors are deleted, and return the mutation id."""
    return _accept(database, index, Kind.DELETE, posted, ids)[1]


def accept_metadata_index(database: sqlite3.Connection, index: Index, posted: Posted, new: NewMetadataIndex) -> str:
    """Accept that a property is indexed, which changes nothing if it is already. Raises RefusalError for too many."""
    accepted = accepted_metadata_indexes(database, index.key)
    number, mutation_id = _accept(database, index, Kind.CREATE_METADATA_INDEX, posted, [new.property_name])
    if new.property_name not in {each.name for each in accepted}:
        if len(accepted) >= MAX_METADATA_INDEXES:
            raise over_limit(f"max metadata index count is {MAX_METADATA_INDEXES}")
        database.execute(
            "INSERT INTO metadata_indexes (index_key, property, type, created) VALUES (?, ?, ?, ?)",
            (index.key, new.property_name, new.index_type, number),
        )
    return mutation_id


def accept_metadata_index_deletion(database: sqlite3.Connection, index: Index, posted: Posted, name: str) -> str:
    """Accept that a property is indexed no longer, which changes nothing if it is not."""
    number, mutation_id = _accept(database, index, Kind.DELETE_METADATA_INDEX, posted, [name])
    database.execute(
        "UPDATE metadata_indexes SET deleted = ? WHERE index_key = ? AND property = ? AND deleted IS NULL",
        (number, index.key, name),
    )
    return mutation_id


def _accept(
    database: sqlite3.Connection,
    index: Index,
    kind: Kind,
    posted: Posted,
    ids: Sequence[str],
    *,
    mutation_id: str | None = None,
    is_applied: bool = False,
) -> tuple[int, str]:
    """Write an event; return its number and its mutation id, a new UUID unless given."""
    chosen = str(uuid.uuid4()) if mutation_id is None else mutation_id
    listed = msgspec.json.encode(ids).decode()
    row = (index.key, kind, chosen, posted.at, posted.size, posted.sha256, listed, is_applied)
    number = database.execute(
        "INSERT INTO events (index_key, kind, mutation_id, accepted_at, size, sha256, ids, is_applied) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        row,
    ).lastrowid
    return number or 0, chosen


def apply_due(database: sqlite3.Connection, index: Index, until: float) -> None:
    """Apply, in their order, the changes of an index that were accepted until then, up to the first later one."""
    waiting = database.execute(
        "SELECT number, kind, accepted_at FROM events WHERE index_key = ? AND NOT is_applied ORDER BY number",
        (index.key,),
    ).fetchall()
    for number, kind, accepted_at in waiting:
        if accepted_at > until:
            return
        _apply(database, index, number, Kind(kind))
        database.execute("DELETE FROM pending WHERE event = ?", (number,))
        database.execute("UPDATE events SET is_applied = 1 WHERE number = ?", (number,))


def _apply(database: sqlite3.Connection, index: Index, number: int, kind: Kind) -> None:
    columns = "id, namespace, metadata, indexed, numbers"
    put = (
        f"INSERT INTO vectors (index_key, {columns}) "  # noqa: S608
        f"SELECT ?, {columns} FROM pending WHERE event = ? ORDER BY position ON CONFLICT (index_key, id) DO "
    )
    replaced = (
        "UPDATE SET namespace = excluded.namespace, metadata = excluded.metadata, indexed = excluded.indexed, "
        "numbers = excluded.numbers"
    )
    match kind:
        case Kind.UPSERT:
            database.execute(put + replaced, (index.key, number))
        case Kind.INSERT:
            database.execute(put + "NOTHING", (index.key, number))
        case Kind.DELETE:
            database.execute(
                "DELETE FROM vectors WHERE index_key = ? AND id IN "
                "(SELECT value FROM json_each((SELECT ids FROM events WHERE number = ?)))",
                (index.key, number),
            )
