"""asyncio on Qt's event loop: qasync 0.28 with four defects corrected.

No timer fires early; nothing runs while the loop is stopped; loops can be made repeatedly; a thread that hangs does not
hold up the end. It uses private attributes of qasync, whose version is pinned.
"""

import asyncio
import gc
import math
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar

import qasync
from PySide6.QtCore import QObject, Qt, QTimerEvent
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.system.threads import DaemonExecutor

T = TypeVar("T")

_LONGEST_TIMER = 2**31 - 1  # milliseconds; the longest interval that a Qt timer takes
_SWITCH = 0.0002  # seconds that another thread keeps Python once the window's wants it; Python's own 0.005 add up
WORK_THREADS = 16  # for work and for look-ups of names


class EventLoop(qasync.QEventLoop):  # type: ignore[misc]  # qasync has no types
    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._timer = PreciseTimer(app, self.is_running)
        # Without a parent, the signaller's C++ half may be destroyed from another thread: a crash on Python 3.13.
        self._QEventLoop__call_soon_signaller.setParent(self._timer)
        # The result of a thread that ends just before the loop is closed may arrive after it: that must not raise.
        self._QEventLoop__call_soon_signal.disconnect()
        self._QEventLoop__call_soon_signal.connect(self._call_from_thread)
        self.set_default_executor(DaemonExecutor(WORK_THREADS, "work"))

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + max(0.0, delay), callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        self._check_closed()
        handle = _TimerHandle(when, callback, args, self, context)
        self._timer.add_callback(handle)
        return handle

    def _call_from_thread(self, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        if not self.is_closed():
            self.call_soon(callback, *args)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        if isinstance(handle, _TimerHandle):
            self._timer.cancel(handle)

    def run_forever(self) -> Any:
        self._timer.go_on()
        return super().run_forever()

    def close(self) -> None:
        if self.is_closed():
            return
        super().close()
        self._timer.deleteLater()


class _TimerHandle(asyncio.TimerHandle):
    timer_id = 0


class PreciseTimer(QObject):
    """A callback that falls due while the loop is stopped is held: a task's step would fail without a running loop."""

    def __init__(self, parent: QObject, is_running: Callable[[], bool]) -> None:
        super().__init__(parent)
        self._is_running = is_running
        self._handles: dict[int, _TimerHandle] = {}
        self._held: list[_TimerHandle] = []
        self._stopped = False

    def add_callback(self, handle: _TimerHandle, delay: float = 0) -> _TimerHandle:
        wait = math.ceil(max(0.0, handle.when() - time.monotonic()) * 1000)
        handle.timer_id = self.startTimer(min(wait, _LONGEST_TIMER), Qt.TimerType.PreciseTimer)
        self._handles[handle.timer_id] = handle
        return handle

    def cancel(self, handle: _TimerHandle) -> None:
        """Stop the handle's timer if it is pending; Qt reuses the numbers of timers, so the handle is compared too."""
        if self._handles.get(handle.timer_id) is handle:
            del self._handles[handle.timer_id]
            self.killTimer(handle.timer_id)

    def go_on(self) -> None:
        """Schedule what fell due while the loop was stopped."""
        held, self._held = self._held, []
        for handle in held:
            self.add_callback(handle)

    def pending(self) -> int:
        return len(self._handles)

    def stop(self) -> None:
        """Drop all timers; from now on none fires."""
        self._stopped = True
        for timer_id in self._handles:
            self.killTimer(timer_id)
        self._handles.clear()
        self._held.clear()

    def set_debug(self, enabled: bool) -> None:
        """Do nothing: asyncio's debug mode has no effect on timers."""

    def timerEvent(self, event: QTimerEvent) -> None:
        self.killTimer(event.timerId())
        handle = self._handles.pop(event.timerId(), None)
        if handle is None or self._stopped or handle.cancelled():
            return
        if handle.when() > time.monotonic():  # the wait was longer than a Qt timer can be, or Qt rounded it down
            self.add_callback(handle)
        elif not self._is_running():
            self._held.append(handle)
        else:
            handle._run()


def run(app: QApplication, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the coroutine that `main` returns, in the main thread; closing the last window does not end the program."""
    app.setQuitOnLastWindowClosed(False)
    loop = EventLoop(app)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        # Lets Ctrl+C reach Python while Qt waits for events.
        before = signal.set_wakeup_fd(loop._csock.fileno(), warn_on_full_buffer=False)
        try:
            return runner.run(main())
        finally:
            signal.set_wakeup_fd(before)


def favour_window() -> None:
    """Let the window's thread wait less for others, and leave what exists now out of searches for garbage (0.1 s)."""
    sys.setswitchinterval(_SWITCH)
    gc.freeze()
