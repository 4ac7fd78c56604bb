"""Reading the vectors of an index: by id, in pages, and the nearest ones."""

import sqlite3
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from cfbatch_gui.core.practice.vectorize.bodies import Query
from cfbatch_gui.core.practice.vectorize.filters import Condition, read_filter
from cfbatch_gui.core.practice.vectorize.indexes import Index
from cfbatch_gui.core.practice.vectorize.metadata_indexes import MetadataIndex, applied_metadata_indexes
from cfbatch_gui.core.practice.vectorize.queries import nearest
from cfbatch_gui.core.practice.vectorize.refusals import too_many_matches, wrong_query_dimensions
from cfbatch_gui.core.workers_ai.limits import MAX_MATCHES, MAX_MATCHES_WITH_VALUES

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of ids, in their order; `has_more` is whether ids come behind its last."""

    ids: tuple[str, ...]
    has_more: bool


def vectors_by_id(database: sqlite3.Connection, index: Index, ids: Sequence[str]) -> list[Json]:
    """The vectors that there are, each once, in the order of ids and not of the request.

    The order is assumed to be any; that it is another than the request's shows who relies on it.
    """
    rows = database.execute(
        "SELECT id, namespace, metadata, numbers FROM vectors "
        "WHERE index_key = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (index.key, msgspec.json.encode(ids).decode()),
    )
    found: list[Json] = []
    for identifier, namespace, metadata, numbers in rows:
        vector: Json = {"id": identifier, "values": _values(numbers)}
        found.append(vector | _optional(namespace=namespace, metadata=_decoded(metadata)))
    return found


def page_of_ids(database: sqlite3.Connection, index: Index, after: str, count: int) -> Page:
    """The next `count` ids behind `after`, which is "" for the first page."""
    rows = database.execute(
        "SELECT id FROM vectors WHERE index_key = ? AND id > ? ORDER BY id LIMIT ?", (index.key, after, count + 1)
    ).fetchall()
    return Page(tuple(identifier for (identifier,) in rows[:count]), len(rows) > count)


def matches(database: sqlite3.Connection, index: Index, query: Query) -> list[Json]:
    """The nearest vectors, best first, with what the query asks for. Raises RefusalError."""
    if len(query.vector) != index.dimensions:
        raise wrong_query_dimensions(index.dimensions, len(query.vector))
    is_costly = query.return_values or query.return_metadata == "all"
    most = MAX_MATCHES_WITH_VALUES if is_costly else MAX_MATCHES
    if query.top_k > most:
        raise too_many_matches(most, int(query.top_k), with_values=is_costly)
    conditions = read_filter(query.filter) if isinstance(query.filter, dict) else ()
    by_key = {str(each.key): each for each in applied_metadata_indexes(database, index.key)}
    candidates = _candidates(database, index, query, conditions, by_key)
    best = nearest(candidates, query.vector, index.metric, int(query.top_k))
    return [_match(database, each.row, each.score, query, by_key) for each in best]


def _candidates(
    database: sqlite3.Connection,
    index: Index,
    query: Query,
    conditions: Sequence[Condition],
    by_key: Mapping[str, MetadataIndex],
) -> Iterator[tuple[int, bytes]]:
    """The row and the numbers of every vector in the namespace that fulfils all conditions."""
    question = "SELECT number, indexed, numbers FROM vectors WHERE index_key = ?"
    arguments: tuple[int | str, ...] = (index.key,)
    if isinstance(query.namespace, str):
        question, arguments = f"{question} AND namespace = ?", (*arguments, query.namespace)
    for number, indexed, numbers in database.execute(f"{question} ORDER BY number", arguments):
        values = _by_name(indexed, by_key) if conditions else {}
        if all(each.name in values and each.holds(values[each.name]) for each in conditions):
            yield number, numbers


def _match(
    database: sqlite3.Connection, row: int, score: float, query: Query, by_key: Mapping[str, MetadataIndex]
) -> Json:
    identifier, namespace, metadata, indexed, numbers = database.execute(
        "SELECT id, namespace, metadata, indexed, numbers FROM vectors WHERE number = ?", (row,)
    ).fetchone()
    shown = {
        "none": None,
        "indexed": _by_name(indexed, by_key),
        "all": _decoded(metadata),
    }[query.return_metadata]
    values = _values(numbers) if query.return_values else None
    return {"id": identifier, "score": score, **_optional(namespace=namespace, values=values, metadata=shown)}


def _by_name(indexed: str, by_key: Mapping[str, MetadataIndex]) -> Json:
    return {by_key[key].name: value for key, value in msgspec.json.decode(indexed).items() if key in by_key}


def _values(numbers: bytes) -> list[float]:
    """The numbers as they are stored: each is the float64 that equals the float32."""
    values = array("f")
    values.frombytes(numbers)
    return values.tolist()


def _decoded(metadata: str | None) -> Json | None:
    return None if metadata is None else msgspec.json.decode(metadata, type=Json)


def _optional(**fields: object) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
