"""Work in a thread ends when nobody awaits it any more, wherever it is."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import create, write_queue
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
