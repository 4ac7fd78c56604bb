"""Threads: work ends when nobody awaits it, errors of statements are raised in the caller, things are made once."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import create, write_queue
from cfbatch_gui.core.program import made_once
from cfbatch_gui.core.system.threads import Stopped, check_stopped, in_thread

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def counts(folder: JobFolder, begun: Callable[[], object]) -> None:
    with folder.open() as database:
        begun()
        database.execute(ENDLESS)


def counts_in_the_queue(folder: JobFolder, begun: Callable[[], object]) -> None:
    with folder.open() as database, write_queue(database) as writes:
        begun()
        writes.execute(ENDLESS)


def looks(folder: JobFolder, begun: Callable[[], object]) -> None:
    begun()
    while True:
        check_stopped()


@pytest.mark.parametrize("work", [counts, counts_in_the_queue, looks])
async def test_it_is_stopped_in_python_and_in_a_statement(
    tmp_path: Path, work: Callable[[JobFolder, Callable[[], object]], None]
) -> None:
    folder = JobFolder(tmp_path)
    create(folder.data)
    loop, begun, ended = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    raised: list[BaseException] = []

    def watched() -> None:
        try:
            work(folder, lambda: loop.call_soon_threadsafe(begun.set))
        except BaseException as error:
            raised.append(error)
        loop.call_soon_threadsafe(ended.set)

    waiting = asyncio.ensure_future(in_thread(watched))
    await begun.wait()
    waiting.cancel()
    await ended.wait()
    assert [type(error) for error in raised] == [Stopped]
    assert await in_thread(threading.active_count) > 0  # the next one is not stopped


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


class Parts:
    def __init__(self) -> None:
        self.made: list[str] = []
        self.begun, self.may_end = threading.Event(), threading.Event()

    @made_once
    def slow(self) -> object:
        """Takes until it may end."""
        self.made.append("slow")
        self.begun.set()
        assert self.may_end.wait(30)
        return object()


def test_threads_that_ask_together_get_one_object() -> None:
    parts = Parts()
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(lambda: parts.slow) for _ in range(4)]
        assert parts.begun.wait(30)
        parts.may_end.set()
        assert len({id(each.result()) for each in asked}) == 1
    assert parts.made == ["slow"]
