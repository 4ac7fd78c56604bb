"""The thread that talks to the keyring: one call at a time, so that a prompt that waits blocks nothing else."""

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_T = TypeVar("_T")
_S = TypeVar("_S")


class KeyringThread:
    """A daemon thread: an unanswered prompt must not keep the program from ending."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, function: Callable[[], _T]) -> _T:
        """The function's result or exception, however long it takes. Cancelling the wait does not stop the call."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()

        def call() -> None:
            if not answer.cancelled():
                _hand_over(loop, answer, function)

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="keyring", daemon=True)
            self._thread.start()
        self._calls.put(call)
        return await answer

    def _work(self) -> None:
        while True:
            self._calls.get()()


def _hand_over(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[_T], function: Callable[[], _T]) -> None:
    """Call the function here, and set its result or exception on `answer` in the loop, unless that is closed."""

    def settle(set_answer: Callable[[_S], None], value: _S) -> None:
        with suppress(RuntimeError):  # the loop was closed while the keyring was asked
            loop.call_soon_threadsafe(lambda: None if answer.done() else set_answer(value))

    try:
        found = function()
    except Exception as caught:  # noqa: BLE001 - it is raised again where it is awaited
        settle(answer.set_exception, caught)
    else:
        settle(answer.set_result, found)
