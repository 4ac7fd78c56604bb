"""The rows of a job's files as they stand there, with all their cells."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import LEFT_OUT, cells_sql, metadata_value
from cfbatch_gui.core.messages import restored
from cfbatch_gui.core.results.outcomes import status_of

_ITEMS = "SELECT item_no FROM items JOIN texts USING(text_no) WHERE file = ? ORDER BY item_no"
_ROWS = f"""
SELECT i.item_no, t.text, t.text_id, t.row, {cells_sql()}, r.state = 'done', r.batch, r.state,
    coalesce(r.error, (SELECT reason FROM problems p WHERE p.item_no = i.item_no LIMIT 1))
FROM json_each(?) wanted JOIN items i ON i.item_no = wanted.value JOIN texts t USING(text_no)
LEFT JOIN source_rows f ON f.file = t.file AND f.row = t.row LEFT JOIN requests r USING(request_no)
ORDER BY wanted.key
"""  # noqa: S608 - constants
_LEFT_OUT = f"""
SELECT p.row, coalesce(f.cells, '[]'), p.reason FROM problems p LEFT JOIN source_rows f USING(file, row)
WHERE p.item_no IS NULL AND {LEFT_OUT} AND p.file = ? GROUP BY p.row ORDER BY p.row
"""  # noqa: S608 - a constant


class ListRow(msgspec.Struct, frozen=True, gc=False):
    """A row of either list: its text, id, number in the file, and all its cells; `error` is why it has no vector."""

    item_no: int
    text: str
    id: str
    row: int
    cells: tuple[str, ...]
    error: str


@dataclass(frozen=True, slots=True)
class ListColumns:
    """The columns of a list, and what they are for."""

    names: tuple[str, ...]
    roles: tuple[Role, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        """The indices of all but those that are left out."""
        return tuple(at for at, role in enumerate(self.roles) if role is not Role.IGNORE)

    @property
    def others(self) -> tuple[int, ...]:
        """The indices of columns that are shown and exported beside the text."""
        return tuple(at for at, role in enumerate(self.roles) if role not in (Role.TEXT, Role.CONTEXT, Role.IGNORE))


_cells = msgspec.json.Decoder(tuple[str, ...]).decode


def list_columns(database: sqlite3.Connection) -> tuple[ListColumns, ListColumns]:
    """Those of the first file, and those of a second one, which has none where there is no such file."""
    stored = (metadata_value(database, name, ()) for name in ("columns", "roles", "second_columns", "second_roles"))
    names_a, roles_a, names_b, roles_b = (msgspec.convert(each, tuple[str, ...]) for each in stored)
    return ListColumns(names_a, tuple(map(Role, roles_a))), ListColumns(names_b, tuple(map(Role, roles_b)))


def items_of(folder: JobFolder, file: int = 1) -> NDArray[np.int64]:
    """The numbers of the items that come from a file, ascending."""
    with folder.open(read_only=True) as database:
        return np.array([item for (item,) in database.execute(_ITEMS, (file,))], np.int64)


def read_rows(folder: JobFolder, items: Sequence[int], failed_batches: Mapping[int, str]) -> list[ListRow]:
    """The rows of these items, in this order."""
    with folder.open(read_only=True) as database:
        found = database.execute(_ROWS, (str(list(items)),)).fetchall()
    rows: list[ListRow] = []
    for item, text, text_id, row, cells, is_done, batch, state, why in found:
        _, error = status_of(bool(is_done), batch, state, why, failed_batches)
        rows.append(ListRow(item, text, text_id, row, _cells(cells or "[]"), error))
    return rows


def left_out_rows(folder: JobFolder, file: int) -> list[ListRow]:
    """The rows of a file that were never sent, such as those without a text."""
    with folder.open(read_only=True) as database:
        found = database.execute(_LEFT_OUT, (file,)).fetchall()
    return [ListRow(0, "", "", row, _cells(cells), restored(reason)) for row, cells, reason in found]
