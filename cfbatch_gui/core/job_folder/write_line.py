"""Statements that SQLite runs in a thread of its own, in their order, while the next rows are read and made ready.

SQLite lets Python's other threads go on while it works. With few and large statements reading and writing a million
rows take a sixth less time; many small ones would only wait for one another.
"""

import queue
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_MOST_WAITING = 8  # statements; each may hold some thousand rows

_Statement = tuple[str, Sequence[object]]


class WriteLine:
    """Takes statements that give nothing back. What one raises, a later call raises, or the end of `write_line`."""

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
                except BaseException as error:  # noqa: BLE001  # whoever waits gets it
                    self._error = error


@contextmanager
def write_line(database: sqlite3.Connection) -> Iterator[WriteLine]:
    """Within the block nobody else may use the connection, which any thread may use; after it all has been run."""
    line = WriteLine(database)
    try:
        yield line
    except BaseException:
        line.drop()
        raise
    line.finish()
