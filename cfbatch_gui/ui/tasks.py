"""Async work of a page: by name, held, cancelled with its owner, with one way for errors."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from cfbatch_gui.core.errors import UserError


class Tasks:
    """What a page is doing. `on_error` gets the expected failures; anything else goes to the loop's crash handler.

    A cancel shows nothing. When the owner is destroyed, its work is cancelled. After `close` nothing begins any more.
    """

    def __init__(self, owner: QObject, on_error: Callable[[UserError], None]) -> None:
        self._running: dict[str, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()  # replaced, cancelled or at its end, not yet over
        self._on_error = on_error
        self._is_over = False
        owner.destroyed.connect(self._owner_gone)

    def start(self, name: str, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Future[None]:
        """Start work; work of the same name is cancelled first, and its end is awaited before this begins."""
        if self._is_over:  # a late signal of a page that goes: the loop may never come to this work
            coroutine.close()
            never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            never.cancel()
            return never
        before = self._running.get(name)
        if before is not None:
            self.cancel(name)
        task = asyncio.get_running_loop().create_task(self._run(before, coroutine), name=name)
        self._running[name] = task
        task.add_done_callback(partial(self._ended, coroutine))
        return task

    def cancel(self, name: str) -> None:
        """Stop the work of this name, if there is any."""
        task = self._running.pop(name, None)
        if task is not None:
            self._ending.add(task)
            task.cancel()

    def is_running(self, name: str) -> bool:
        """Whether work of this name is under way: it will still see what changes now.

        After its last step it is not, even if its end has not come round the loop yet.
        """
        return name in self._running

    def running(self) -> tuple[str, ...]:
        """The names of all work whose end has not come yet."""
        return (*self._running, *(task.get_name() for task in self._ending))

    async def close(self) -> None:
        """Cancel everything and wait until it is over; for good."""
        self._is_over = True
        for name in tuple(self._running):
            self.cancel(name)
        while self._ending:
            await asyncio.wait(set(self._ending))
            await asyncio.sleep(0)  # lets the callbacks run that take them out

    async def _run(self, before: asyncio.Task[None] | None, coroutine: Coroutine[Any, Any, Any]) -> None:
        if before is not None and not before.done():
            await asyncio.wait({before})
        try:
            await coroutine
        finally:
            self._last_step(asyncio.current_task())

    def _last_step(self, task: asyncio.Task[None] | None) -> None:
        if task is not None and self._running.get(task.get_name()) is task:
            del self._running[task.get_name()]
            self._ending.add(task)

    def _ended(self, coroutine: Coroutine[Any, Any, Any], task: asyncio.Task[None]) -> None:
        # It may have been cancelled before its first step, so the coroutine is closed here. All in one callback: what
        # awaits this task may run after the first one.
        coroutine.close()
        self._last_step(task)
        self._ending.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, UserError):
            self._on_error(error)
        else:
            task.get_loop().call_exception_handler(
                {"message": f"Work of a page failed: {task.get_name()}", "exception": error, "task": task}
            )

    def _owner_gone(self) -> None:
        self._is_over = True
        for name in tuple(self._running):
            self.cancel(name)
