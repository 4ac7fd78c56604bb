"""Statements that SQLite runs in a thread of its own, in their order, while the next rows are read and made ready.

SQLite lets Python's other threads go on while it works. After each statement this thread waits until another, which is
busy, lets it have Python again, about as long as 1,000 rows take: so statements are few and large.
"""

import queue
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain

MOST_ROWS = 5_000  # of one statement; with more the window waits longer for Python while they are bound, now 1 ms
_MOST_WAITING = 8  # statements; each may hold some thousand rows

_Statement = tuple[str, Sequence[object]]


class WriteQueue:
    """Takes statements that give nothing back. What one raises, a later call raises, or the end of `write_queue`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._waiting: queue.Queue[_Statement | None] = queue.Queue(_MOST_WAITING)
        self._error: BaseException | None = None
        self._is_dropped = False
        self._thread = threading.Thread(target=self._work, name="write")
        self._thread.start()

    @property
    def most_values(self) -> int:
        """How many values a statement may have."""
        return self._database.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)

    def execute(self, statement: str, values: Sequence[object] = ()) -> None:
        """Run a statement when its turn has come; `values` belong to it from now on."""
        if self._error is not None:
            raise self._error
        self._waiting.put((statement, values))

    def finish(self) -> None:
        """Wait until all statements have been run."""
        self._waiting.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def drop(self) -> None:
        """End without running what still waits."""
        self._is_dropped = True
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (found := self._waiting.get()) is not None:
            if self._error is None and not self._is_dropped:
                try:
                    self._database.execute(*found)
                except BaseException as error:  # noqa: BLE001  # raised by the next call
                    self._error = error


@contextmanager
def write_queue(database: sqlite3.Connection) -> Iterator[WriteQueue]:
    """Within the block nobody else may use the connection, which any thread may use; after it all has been run."""
    writes = WriteQueue(database)
    try:
        yield writes
    except BaseException:
        writes.drop()
        raise
    writes.finish()


class Inserts:
    """Rows for one table, thousands with one statement: twice as fast as one by one.

    They are kept until `write`, and a rest of them until `write_all`.
    """

    def __init__(self, writes: WriteQueue, statement: str, marks: str, rows: int = MOST_ROWS) -> None:
        """`statement` is all of it before VALUES; `marks` is a row of values, with question marks for what varies.

        `rows` are written at a time, or fewer where a statement may not have as many values.
        """
        self._writes, self._columns = writes, marks.count("?")
        self._rows = max(1, min(rows, writes.most_values // self._columns))
        self._statement, self._marks = statement, marks
        self._many = self._with_rows(self._rows)
        self._values: list[object] = []
        self.written = 0  # rows

    def __len__(self) -> int:
        return len(self._values) // self._columns

    def add(self, *values: object) -> None:
        """Keep one row."""
        self._values.extend(values)

    def add_columns(self, *columns: Iterable[object]) -> None:
        """Keep rows whose values stand in columns; the shortest says how many."""
        self._values.extend(chain.from_iterable(zip(*columns, strict=False)))

    def write(self) -> None:
        """Write what was kept, but for a rest that is too little for one statement."""
        values, size = self._values, self._rows * self._columns
        whole = len(values) - len(values) % size
        for start in range(0, whole, size):
            self._writes.execute(self._many, values[start : start + size])
        self.written += whole // self._columns
        del values[:whole]

    def write_all(self) -> None:
        """Write what was kept."""
        self.write()
        if rest := len(self):
            self._writes.execute(self._with_rows(rest), self._values.copy())
            self.written += rest
            self._values.clear()

    def _with_rows(self, count: int) -> str:
        return f"{self._statement} VALUES{', '.join([self._marks] * count)}"
