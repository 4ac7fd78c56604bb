"""SQL statements in a thread of their own: errors are raised in the calling thread."""

import sqlite3
from collections.abc import Iterator

import pytest

from cfbatch_gui.core.job_folder.schema import write_queue


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    found = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    found.execute("CREATE TABLE numbers(number INTEGER UNIQUE)")
    yield found
    found.close()


def numbers(database: sqlite3.Connection) -> list[int]:
    return [number for (number,) in database.execute("SELECT number FROM numbers ORDER BY rowid")]


@pytest.mark.parametrize("after", [0, 1_000])
def test_a_failure_is_raised_soon_after_or_in_the_end(database: sqlite3.Connection, after: int) -> None:
    with pytest.raises(sqlite3.OperationalError), write_queue(database) as writes:
        writes.execute("INSERT INTO nothing VALUES(1)")
        for number in range(after):
            writes.execute("INSERT INTO numbers VALUES(?)", (number,))
    assert len(numbers(database)) < 10


def test_who_stops_gets_the_connection_back_at_once(database: sqlite3.Connection) -> None:
    with pytest.raises(KeyboardInterrupt), write_queue(database) as writes:
        writes.execute("INSERT INTO numbers VALUES(?)", (1,))
        raise KeyboardInterrupt
    database.execute("INSERT INTO numbers VALUES(2)")
    assert numbers(database)[-1] == 2
