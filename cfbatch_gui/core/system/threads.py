"""Long work in threads, which ends soon after nobody awaits its result any more."""

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
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
