"""A loop on which time passes only when the program has nothing left to do, so that no run hangs on how quick it is.

The program's threads and its connections are real; what it waits for by the clock is not.
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
QUIET_ROUNDS = 30  # of the loop, without anything under way; what wakes what takes fewer


class Work:
    """What is under way outside of the loop: threads and exchanges."""

    def __init__(self) -> None:
        self._begun = self._ended = 0
        self._changed = asyncio.Event()

    def begin(self) -> None:
        """One more piece."""
        self._begun += 1
        self._changed.set()

    def end(self) -> None:
        """One less."""
        self._ended += 1
        self._changed.set()

    async def is_over(self, pieces: float = math.inf) -> None:
        """Return when nothing is under way, nor follows from what was; or when so many more pieces have begun."""
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
    """Knows what its threads do."""

    def __init__(self) -> None:
        super().__init__()
        self.work = Work()
        self._threads = ThreadPoolExecutor(4)
        self.set_default_executor(self._threads)

    def run_in_executor(  # type: ignore[override]  # typeshed's own types for the arguments need Python 3.12
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        """As every loop does."""
        self.work.begin()
        running = (executor or self._threads).submit(func, *args)
        waiting = asyncio.wrap_future(running, loop=self)
        # The thread's own end: it goes on when whoever waits is cancelled. Told after whoever waits was.
        running.add_done_callback(self._tell_end)
        return waiting

    def _tell_end(self, _: object) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            self.call_soon_threadsafe(self.work.end)


class CountedTransport(Transport):
    """Tells the loop of each exchange."""

    async def send(self, *arguments: Any, **named: Any) -> HttpAnswer:
        """As every transport does."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Loop)
        loop.work.begin()
        try:
            return await super().send(*arguments, **named)
        finally:
            loop.work.end()


class SimulatedClock(Clock):
    """Sleepers are woken one after the other, each when nobody else has anything to do."""

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._loop, self._order = loop, count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        """Until that moment has come."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = self._loop.create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._order), woken))
        await woken

    async def passes(self, seconds: float, until: "asyncio.Future[Any] | None" = None) -> None:
        """Let the program work for so many seconds of its time, or until something is done, and then come to rest."""
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
    """Runs what a test wants done, a piece at a time; between two pieces nothing moves but threads."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=Loop)
        loop = self._runner.get_loop()
        assert isinstance(loop, Loop)
        self.work, self.clock = loop.work, SimulatedClock(loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Until it is done; nothing that waits for the clock goes on meanwhile."""
        return self._runner.run(work)

    def close(self) -> None:
        """End what is still there, as the end of a program does."""
        self._runner.close()


async def within(clock: SimulatedClock, seconds: float, work: Awaitable[object], refused: type[Exception]) -> None:
    """What may be refused in the way given, or take longer than anybody waits: then it is given up."""
    task = asyncio.ensure_future(work)
    await clock.passes(seconds, task)
    if not task.done():
        task.cancel()
    with suppress(refused, asyncio.CancelledError):
        await task
