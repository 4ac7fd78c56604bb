"""Which properties of an index's metadata are indexed."""

import sqlite3
from dataclasses import dataclass

from cfbatch_gui.core.practice.vectorize.bodies import PropertyType


@dataclass(frozen=True, slots=True)
class MetadataIndex:
    """One indexed property; `key` is never given again, so values indexed for a deleted one do not come back."""

    key: int
    name: str
    type: PropertyType


def accepted_metadata_indexes(database: sqlite3.Connection, index_key: int) -> list[MetadataIndex]:
    """Those that vectors accepted now are indexed by, oldest first."""
    return _read(database, "deleted IS NULL", index_key)


def applied_metadata_indexes(database: sqlite3.Connection, index_key: int) -> list[MetadataIndex]:
    """Those that queries can use now, oldest first."""
    is_applied = "(SELECT is_applied FROM events WHERE number = {})"
    created, deleted = is_applied.format("created"), is_applied.format("deleted")
    return _read(database, f"{created} AND NOT coalesce({deleted}, 0)", index_key)


def _read(database: sqlite3.Connection, condition: str, index_key: int) -> list[MetadataIndex]:
    question = f"SELECT key, property, type FROM metadata_indexes WHERE index_key = ? AND {condition} ORDER BY key"  # noqa: S608
    return [MetadataIndex(*row) for row in database.execute(question, (index_key,))]
