"""Long work in threads, which ends soon after nobody awaits its result any more."""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import ContextVar
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_WAIT_FOR_THREADS = 0.5  # seconds for which closing an executor waits, for all its threads together
_stop: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


class Stopped(Exception):
    """Ends work whose result is not awaited any more."""


async def in_thread(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """As `asyncio.to_thread`, but when the wait for it is cancelled, `function` is stopped by `check_stopped`."""
    import asyncio  # which what only calls `check_stopped` does without

    stop = threading.Event()
    token = _stop.set(stop)
    try:
        return await asyncio.to_thread(function, *arguments, **named)
    finally:
        stop.set()
        _stop.reset(token)


def check_stopped() -> None:
    """Raise Stopped in work that is to end. Statements on a job's data end so too, however long they take."""
    stop = _stop.get()
    if stop is not None and stop.is_set():
        raise Stopped


def current_stop() -> Callable[[], bool] | None:
    """What says whether the work of this moment is to end, also in another thread; None where nothing ends it."""
    stop = _stop.get()
    return None if stop is None else stop.is_set


class DaemonExecutor(Executor):
    """With daemon threads: those of `concurrent.futures` would keep the process alive while one hangs."""

    def __init__(self, most_threads: int, name: str) -> None:
        self._most_threads, self._name = most_threads, name
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._idle = threading.Semaphore(0)
        self._closed = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Called in the loop's thread alone."""
        if self._closed:
            raise RuntimeError("closed")  # as other executors do
        future: Future[T] = Future()
        self._jobs.put((future, partial(fn, *args, **kwargs)))
        if not self._idle.acquire(blocking=False) and len(self._threads) < self._most_threads:
            thread = threading.Thread(target=self._work, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._closed = True
        for _ in self._threads:
            self._jobs.put(None)
        deadline = time.monotonic() + (_WAIT_FOR_THREADS if wait else 0)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, call = job
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as exc:  # noqa: BLE001  # raised where the future is awaited
                    future.set_exception(exc)
            del job, future, call
            self._idle.release()
