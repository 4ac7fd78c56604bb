"""Services with faults for tests whose own thread is busy with a window or a command."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from cfbatch_gui.core.practice.app import Application, practice_app
from cfbatch_gui.core.practice.faults.faulty_service import FaultyService
from cfbatch_gui.core.practice.faults.script import AnyFault
from cfbatch_gui.core.practice.queue import accepted


class Threaded:
    """An application on a port, with faults that can be changed; in a thread and a loop of its own."""

    def __init__(self, application: Application, *faults: AnyFault) -> None:
        self._faulty = FaultyService(application, faults)
        self._loop = asyncio.new_event_loop()

    @property
    def url(self) -> str:
        """The address of the API."""
        return self._faulty.url

    def follow(self, *faults: AnyFault) -> None:
        """From now on these go wrong; none: all goes well."""
        self._in_loop(lambda: self._faulty.follow(*faults))

    def shut(self) -> None:
        """Nobody listens any more."""
        self._in_loop(self._faulty.shut)

    def _in_loop(self, do: Callable[[], None]) -> None:
        async def work() -> None:
            do()

        asyncio.run_coroutine_threadsafe(work(), self._loop).result(10)

    @contextmanager
    def opened(self) -> Iterator[Self]:
        """Listen until the end of the block."""
        thread = threading.Thread(target=self._loop.run_forever, name="worker", daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(self._faulty.__aenter__(), self._loop).result(10)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._faulty.__aexit__(), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(10)
            self._loop.close()


class ThreadedService(Threaded):
    """The practice service on a port."""

    def __init__(self, folder: Path, *faults: AnyFault, clock: Callable[[], float] = time.time) -> None:
        super().__init__(practice_app(folder, seconds_queued=0.0, seconds_running=0.0, clock=clock), *faults)
        self._folder = folder

    def accepted(self) -> list[str]:
        """The request id of every batch that the service has accepted, in order."""
        return [each.request_id for each in accepted(self._folder)]
