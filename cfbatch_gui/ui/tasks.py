"""The asyncio tasks of a page: named, cancelled with their owner, with one handler for expected errors."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from cfbatch_gui.core.errors import UserError


class Tasks(QObject):
    """`on_error` gets each UserError; when the owner is destroyed, its tasks are cancelled."""

    def __init__(self, owner: QObject, on_error: Callable[[UserError], object]) -> None:
        super().__init__(owner)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()  # replaced, cancelled or after their last step, but not done
        self._on_error = on_error
        self._is_over = False
        owner.destroyed.connect(self._owner_gone)

    def start(self, name: str, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Future[None]:
        """A task of the same name is cancelled, and its end is awaited before the new one begins."""
        if self._is_over:  # a late signal of a closed page: the loop may never run this task
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
        task = self._running.pop(name, None)
        if task is not None:
            self._ending.add(task)
            task.cancel()

    def is_running(self, name: str) -> bool:
        """False after its last step, even if the loop has not yet marked it as done."""
        return name in self._running

    def running(self) -> tuple[str, ...]:
        return (*self._running, *(task.get_name() for task in self._ending))

    async def close(self) -> None:
        self._is_over = True
        for name in tuple(self._running):
            self.cancel(name)
        while self._ending:
            await asyncio.wait(set(self._ending))
            await asyncio.sleep(0)  # lets the callbacks run that remove the tasks

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
        # A task that was cancelled before its first step leaves its coroutine open, so it is closed here. Everything is
        # done in one callback, because the code that awaits the task may run after the first one.
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


async def close_all(root: QObject) -> None:
    """Cancel the tasks of all that is in a window or a page, and wait for their end."""
    for tasks in root.findChildren(Tasks):
        await tasks.close()
