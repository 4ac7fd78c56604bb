"""An event loop with simulated time, which advances only when the program is idle: runs do not depend on speed.

The program's threads and connections are real; only its timers are simulated.
"""

import asyncio
import heapq
import math
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

from cfbatch_gui.core.workers_ai.transport import HttpAnswer, Transport
from tests.core.jobs.conftest import Clock

T = TypeVar("T")
QUIET_ROUNDS = 30  # iterations of the loop without work; chains of callbacks take fewer


class Work:
    """Counts the work in progress outside the loop: threads and exchanges."""

    def __init__(self) -> None:
        self._begun = self._ended = 0
        self._changed = asyncio.Event()

    def begin(self) -> None:
        """Count a piece of work that has begun."""
        self._begun += 1
        self._changed.set()

    def end(self) -> None:
        """Count a piece of work that has ended."""
        self._ended += 1
        self._changed.set()

    async def is_over(self, pieces: float = math.inf) -> None:
        """Wait until no work is in progress and none follows from it, or until `pieces` more have begun."""
        enough = self._begun + pieces
        quiet = 0
        while quiet < QUIET_ROUNDS and self._begun < enough:
            quiet += 1
            if self._begun > self._ended:
                quiet = 0
                self._changed.clear()
                await self._changed.wait()
            else:
                await asyncio.sleep(0)


class Loop(asyncio.SelectorEventLoop):
    """An event loop that counts the work of its threads."""

    def __init__(self) -> None:
        super().__init__()
        self.work = Work()
        self._threads = ThreadPoolExecutor(4)
        self.set_default_executor(self._threads)

    def run_in_executor(  # type: ignore[override]  # typeshed's own types for the arguments need Python 3.12
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        """See `asyncio.loop.run_in_executor`; the call is counted as work."""
        self.work.begin()
        running = (executor or self._threads).submit(func, *args)
        waiting = asyncio.wrap_future(running, loop=self)
        # The end of the thread itself, which continues when the waiting task is cancelled. Added after wrap_future's
        # callback, so that the waiting task is woken first.
        running.add_done_callback(self._tell_end)
        return waiting

    def _tell_end(self, _: object) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            self.call_soon_threadsafe(self.work.end)


class CountedTransport(Transport):
    """A transport whose exchanges the loop counts as work."""

    async def send(self, *arguments: Any, **named: Any) -> HttpAnswer:
        """See `Transport.send`."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Loop)
        loop.work.begin()
        try:
            return await super().send(*arguments, **named)
        finally:
            loop.work.end()


class SimulatedClock(Clock):
    """A clock that wakes sleeping tasks one after the other, each when the program is otherwise idle."""

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._loop, self._order = loop, count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        """Sleep for so many seconds of simulated time."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = self._loop.create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._order), woken))
        await woken

    async def passes(self, seconds: float, until: "asyncio.Future[Any] | None" = None) -> None:
        """Run the program for so many simulated seconds, or until `until` is done, and then until it is idle."""
        end = self.now + seconds
        await self._loop.work.is_over()
        while not (until is not None and until.done()) and self._wake_next(end):
            await self._loop.work.is_over()
        if until is None or not until.done():
            self.now = max(self.now, end)

    def _wake_next(self, end: float) -> bool:
        while self._sleepers:
            when, _, woken = self._sleepers[0]
            if woken.done():  # cancelled
                heapq.heappop(self._sleepers)
            elif when > end:
                return False
            else:
                heapq.heappop(self._sleepers)
                self.now = max(self.now, when)
                woken.set_result(None)
                return True
        return False


class Simulation:
    """Runs a test's coroutines one at a time; between two of them the loop is stopped and only threads continue."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=Loop)
        loop = self._runner.get_loop()
        assert isinstance(loop, Loop)
        self.work, self.clock = loop.work, SimulatedClock(loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the loop until `work` is done. Simulated time does not advance by itself."""
        return self._runner.run(work)

    def close(self) -> None:
        """Cancel the remaining tasks and close the loop."""
        self._runner.close()


async def within(clock: SimulatedClock, seconds: float, work: Awaitable[object], refused: type[Exception]) -> None:
    """Await `work` for at most so many simulated seconds, then cancel it. Exceptions of type `refused` are ignored."""
    task = asyncio.ensure_future(work)
    await clock.passes(seconds, task)
    if not task.done():
        task.cancel()
    with suppress(refused, asyncio.CancelledError):
        await task
