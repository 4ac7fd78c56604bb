"""Ending by a signal: the window closes in order, as if its user had closed it; the exit status tells the signal."""

import signal
import threading
from collections.abc import Callable
from types import FrameType

_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)  # SIGHUP is not on Windows; SIGBREAK is there alone, for Ctrl+Break and for a console that is closed


class Ending:
    """While installed, the first signal calls `close`, in the main thread; a second one ends the program at once.

    Qt's loop lets Python see signals because `loop.run` has it wake up for them.
    """

    def __init__(self, close: Callable[[], object]) -> None:
        self._close = close
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self.status = 0  # 128 and the number of the signal, as shells report it; 0 without one

    def install(self) -> None:
        """Take the signals; only the main thread can."""
        if threading.current_thread() is threading.main_thread():
            for each in _SIGNALS:
                if signal.getsignal(each) is not signal.SIG_IGN:  # as under nohup
                    self._before[each] = signal.signal(each, self._heed)

    def uninstall(self) -> None:
        """Give the signals back."""
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before.clear()

    def _heed(self, number: int, frame: FrameType | None) -> None:
        self.status = 128 + number
        for each in self._before:
            signal.signal(each, signal.SIG_DFL)
        self._close()
