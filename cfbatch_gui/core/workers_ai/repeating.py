"""Calls that are made again when they failed for a passing reason: for those that may be repeated."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from cfbatch_gui.core.errors import ServiceBusy, UnreadableReply, UserError
from cfbatch_gui.core.workers_ai.client import is_passing

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
Waiting = Callable[[UserError, float], None]

PATIENCE: Final = 6  # failures in a row after which a call is given up; with the waits below about a minute
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0  # seconds


class Repeating:
    """Makes calls until they succeed, at most `patience` times each.

    A wait is the one that the service asked for, or else twice the one before. `waiting` is called with the error and
    the seconds before each.
    """

    def __init__(
        self, *, patience: int = PATIENCE, sleep: Sleep = asyncio.sleep, waiting: Waiting = lambda error, seconds: None
    ) -> None:
        self._patience, self._sleep, self._waiting = patience, sleep, waiting

    async def __call__(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of a call. Raises the error of the last one, or the first that is not passing."""
        wait = _FIRST_WAIT
        for failures in range(1, self._patience + 1):
            try:
                return await call()
            except UserError as error:
                may_pass = is_passing(error) or isinstance(error, UnreadableReply)
                if failures == self._patience or not may_pass:
                    raise
                seconds = max(wait, error.retry_after) if isinstance(error, ServiceBusy) else wait
                self._waiting(error, seconds)
            await self._sleep(seconds)
            wait = min(2 * wait, _LONGEST_WAIT)
        raise AssertionError("patience is at least 1")
