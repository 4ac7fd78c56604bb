"""Long work in threads, which ends soon after nobody awaits its result any more."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")
_stop: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


class Stopped(Exception):
    """Ends work whose result is not awaited any more."""


def is_stopped() -> bool:
    stop = _stop.get()
    return stop is not None and stop.is_set()


def check_stopped() -> None:
    """Raise Stopped in work that is to end. Statements on a job's data end so too, however long they take."""
    if is_stopped():
        raise Stopped


def current_stop() -> Callable[[], bool] | None:
    """Whether the work of this moment is to end, for a thread that is not told so; None when it cannot be."""
    stop = _stop.get()
    return None if stop is None else stop.is_set


@contextmanager
def stopping_threads() -> Iterator[None]:
    """Threads that asyncio starts within the block are to end when the block does."""
    stop = threading.Event()
    token = _stop.set(stop)
    try:
        yield
    finally:
        stop.set()
        _stop.reset(token)


async def in_thread(function: Callable[[], T]) -> T:
    """What `asyncio.to_thread` does; when it is cancelled, `function` is stopped and its end is awaited."""
    stop, context = threading.Event(), copy_context()
    context.run(_stop.set, stop)
    work = asyncio.get_running_loop().run_in_executor(None, context.run, function)
    work.add_done_callback(lambda done: None if done.cancelled() else done.exception())  # it has been retrieved
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait({work})
        raise
