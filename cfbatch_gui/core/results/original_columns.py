"""The columns of the user's own file that are shown and exported together with the results."""

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

import msgspec

from cfbatch_gui.core.inputs.input_values import Layout, Role
from cfbatch_gui.core.job_folder import schema

_CELLS = msgspec.json.Decoder(list[str])
_KEYS = (("columns", "roles"), ("second_columns", "second_roles"))
_NAMES = msgspec.json.Decoder(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class OriginalColumns:
    """Names, and the indices of their cells in a row of the first and of the second file."""

    names: tuple[str, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]

    def cells(self, first_row: str | None, second_row: str | None) -> tuple[str, ...]:
        """One cell for each name, exactly as in the file; "" if a row is short or missing.

        The arguments are values of `source_rows.cells`, which are JSON arrays.
        """
        return _picked(first_row, self.first) + _picked(second_row, self.second)


def columns_of_rankings(database: sqlite3.Connection, taken: Collection[str] = ()) -> OriginalColumns:
    """The columns that the user keeps; a name that is taken gets " (original)"."""
    # The first file's label belongs to the context only if a row is a pair; in other layouts it belongs to the query.
    is_label_of_context = schema.metadata_value(database, "layout") == Layout.LONG
    return _columns(database, (Role.KEEP,) if is_label_of_context else (Role.KEEP, Role.LABEL), (Role.KEEP,), taken)


def columns_of_vectors(database: sqlite3.Connection, taken: Collection[str] = ()) -> OriginalColumns:
    """The columns exported with vectors: all but the id and those that the user leaves out. `taken` as for rankings."""
    # The text is one of the original columns: a table of vectors has no result column for it.
    return _columns(database, (Role.TEXT, Role.CONTEXT, Role.QUERY, Role.LABEL, Role.KEEP), (), taken)


def column_of(database: sqlite3.Connection, file: int, *roles: Role) -> int | None:
    """The index of the only column with one of `roles` in file 1 or 2; None if there is none or more than one."""
    found = [index for index, role in enumerate(_names(database, _KEYS[file - 1][1])) if role in roles]
    return found[0] if len(found) == 1 else None


def column_mapping(database: sqlite3.Connection) -> dict[str, dict[str, str]]:
    both = (
        (file, _names(database, columns), _names(database, roles)) for file, (columns, roles) in enumerate(_KEYS, 1)
    )
    return {f"file {file}": dict(zip(columns, roles, strict=False)) for file, columns, roles in both if columns}


def _columns(
    database: sqlite3.Connection, first: Collection[Role], second: Collection[Role], taken: Collection[str]
) -> OriginalColumns:
    used = set(taken)
    names: list[str] = []
    indices: list[tuple[int, ...]] = []
    for (columns_key, roles_key), roles in zip(_KEYS, (first, second), strict=True):
        columns = _names(database, columns_key)
        found = tuple(index for index, role in enumerate(_names(database, roles_key)[: len(columns)]) if role in roles)
        indices.append(found)
        for index in found:
            name = columns[index]
            while name in used:
                name += " (original)"
            used.add(name)
            names.append(name)
    return OriginalColumns(tuple(names), indices[0], indices[1])


def _names(database: sqlite3.Connection, name: str) -> tuple[str, ...]:
    return _NAMES.decode(msgspec.json.encode(schema.metadata_value(database, name, ())))


def _picked(row: str | None, indices: tuple[int, ...]) -> tuple[str, ...]:
    if not indices:
        return ()
    cells = _CELLS.decode(row) if row is not None else []
    return tuple(cells[index] if index < len(cells) else "" for index in indices)
