"""A plan written to a job's data: its requests, and which texts each holds."""

import sqlite3

from cfbatch_gui.core.job_folder.checksums import forget_checksums
from cfbatch_gui.core.job_folder.schema import INDEX_OF_REQUESTS
from cfbatch_gui.core.jobs.plan.cutting import Request, reference_of
from cfbatch_gui.core.jobs.plan.sequence import SequenceArrays

_BLOCK = 2_000  # rows that are written at a time


class LayoutWriter:
    """Writes requests, and which texts each holds, some thousand rows at a time."""

    def __init__(
        self, database: sqlite3.Connection, arrays: SequenceArrays, job_id: str, *, writes_positions: bool
    ) -> None:
        self._database, self._arrays, self._job_id = database, arrays, job_id
        self._writes_positions = writes_positions
        self._requests: list[tuple[int, str, int, int]] = []
        self._runs: list[tuple[int, int, int, int]] = []
        self._items: list[tuple[int, int, int, int]] = []
        self._parts: list[tuple[int, int, int, int]] = []
        self.last = 0  # the number of the last request that was added

    def add(self, request: Request, batch: int, position: int) -> None:
        """Keep a request at its position in a batch."""
        number, start, stop = request.number, request.start, request.start + request.texts
        self.last = number
        self._requests.append((number, reference_of(self._job_id, number), batch, position))
        pieces = self._arrays.pieces(start, stop)
        has_parts = False
        for first, last in pieces:
            item_no, part = self._arrays.item[first], self._arrays.part[first]
            if part:
                has_parts = True
                self._parts.append((number, first - start, item_no, part))
            elif self._writes_positions:
                self._items.append((number, item_no - (first - start), item_no, item_no + last - first - 1))
        is_worth_it = len(pieces) <= max(1, (stop - start) // 4)
        if not has_parts and (is_worth_it or not self._writes_positions):
            self._runs.extend((number, first - start, self._arrays.text[first], last - first) for first, last in pieces)
        if len(self._items) + len(self._parts) + len(self._runs) >= _BLOCK:
            self._write()

    def finish(self) -> None:
        """Write the rest."""
        self._write()

    def _write(self) -> None:
        self._database.executemany(
            "INSERT INTO requests(request_no, reference, batch, position) VALUES(?, ?, ?, ?)", self._requests
        )
        self._database.executemany("INSERT INTO runs VALUES(?, ?, ?, ?)", self._runs)
        self._database.executemany(
            "UPDATE items SET request_no = ?, request_position = item_no - ? WHERE item_no BETWEEN ? AND ?",
            self._items,
        )
        self._database.executemany(
            "UPDATE parts SET request_no = ?, request_position = ? WHERE item_no = ? AND part = ?", self._parts
        )
        for written in (self._requests, self._runs, self._items, self._parts):
            written.clear()


def finish_positions(database: sqlite3.Connection) -> None:
    """When all requests are written: the positions of what is answered with another, an item in parts or a repeated
    one, and the index by which items are found.
    """
    database.execute(
        "UPDATE items SET request_no = (SELECT min(request_no) FROM parts p WHERE p.item_no = items.item_no)"
        " WHERE item_no IN (SELECT item_no FROM parts WHERE request_no IS NOT NULL)"
    )
    database.execute(
        "UPDATE items SET (request_no, request_position) = (SELECT f.request_no, f.request_position FROM repeats r"
        " JOIN items f ON f.item_no = r.first WHERE r.item_no = items.item_no)"
        " WHERE item_no IN (SELECT item_no FROM repeats)"
    )
    database.execute(INDEX_OF_REQUESTS)


def forget_plan(database: sqlite3.Connection) -> None:
    """Take out an earlier plan, and the results that it took from other jobs; the caller commits."""
    # Every item's position changes: an index is quicker made anew than kept.
    database.execute("DROP INDEX IF EXISTS items_of_request")
    if database.execute("SELECT 1 FROM requests LIMIT 1").fetchone():
        database.execute(
            "UPDATE items SET request_no = NULL, request_position = NULL, score = NULL"
            " WHERE request_no IS NOT NULL OR score IS NOT NULL"
        )
    database.execute("UPDATE parts SET request_no = NULL, request_position = NULL, score = NULL")
    for table in ("requests", "runs", "reused", "sources"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - constants
    database.execute("DELETE FROM facts WHERE name IN ('dimension', 'pooling')")
    forget_checksums(database)
    database.execute("DELETE FROM problems WHERE item_no IS NOT NULL")
