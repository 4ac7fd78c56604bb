"""A process that opens a window and says what it took until its first painting: python -m benchmarks.started_window.

`bare` opens a table of 1,000 rows with PySide6 alone, `ours` the program over a data folder. With a number of seconds
the window then stays open, and what it computed in that time is said too, after a while in which it settles. Imports
nothing besides what it measures.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QPaintEvent

SETTLING = 15  # seconds; what comes after the first painting is loaded in them
_STATUS = Path("/proc/self/status")


def _say_and_stay(seconds: int) -> None:
    """One line on the first painting, and after `seconds` of idling another one; then the process is over."""
    print(time.process_time(), _peak(), flush=True)
    if not seconds:
        os._exit(0)
    begun: list[float] = []
    QTimer.singleShot(SETTLING * 1_000, lambda: begun.append(time.process_time()))

    def end() -> None:
        print(time.process_time() - begun[0], _peak(), flush=True)
        os._exit(0)

    QTimer.singleShot((SETTLING + seconds) * 1_000, end)


def _peak() -> float:
    """The most memory that was resident so far, in MB of 1,048,576 bytes; 0.0 elsewhere than on Linux."""
    return int(_STATUS.read_text("utf-8").partition("VmHWM:")[2].split()[0]) / 1024 if _STATUS.exists() else 0.0


def _when_painted(then: Callable[[], object]) -> "Callable[[object, QPaintEvent], None]":
    """An override of `paintEvent` that calls `then` once, when all that is painted with it has been painted."""
    painted: list[bool] = []

    def paint(_window: object, _event: QPaintEvent) -> None:
        if not painted:
            painted.append(True)
            QTimer.singleShot(0, then)

    return paint


def bare(seconds: int) -> None:
    """A main window with a table."""
    from PySide6.QtWidgets import QApplication, QMainWindow, QTableWidget, QTableWidgetItem

    class Window(QMainWindow):
        paintEvent = _when_painted(lambda: _say_and_stay(seconds))  # noqa: N815

    app = QApplication(["bare"])
    table = QTableWidget(1_000, 4)
    for line in range(1_000):
        for column in range(4):
            table.setItem(line, column, QTableWidgetItem(f"{line} {column}"))
    window = Window()
    window.setCentralWidget(table)
    window.resize(1_280, 820)
    window.show()
    app.exec()


def ours(root: str, seconds: int) -> None:
    """The program, as its command starts it."""
    from cfbatch_gui.__main__ import main
    from cfbatch_gui.ui.window.main_window import MainWindow

    paint = MainWindow.paintEvent
    painted = _when_painted(lambda: _say_and_stay(seconds))

    def paint_and_say(window: MainWindow, event: QPaintEvent) -> None:
        paint(window, event)
        painted(window, event)

    setattr(MainWindow, "paintEvent", paint_and_say)  # noqa: B010 - which types forbid, rightly
    sys.exit(main(["--data-dir", root]))


if __name__ == "__main__":
    what, folder, idle = sys.argv[1], sys.argv[2], int(sys.argv[3])
    bare(idle) if what == "bare" else ours(folder, idle)
