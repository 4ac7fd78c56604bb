"""The window as a user has it: in a process of its own on the screen, reached by its mouse and keyboard alone.

What it shows is looked at as a picture: main buttons are found by their colour. What it has done is read from its data
folder, as any other process may. The program has no hooks for this.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.ui.theme import LIGHT
from tests.canary import TOKEN
from tests.journeys.terminal import connected, jobs_in, own_environ
from tests.support.practice import Accepted, accepted

_PATIENCE = 240.0  # seconds
_LOOK = 0.05  # seconds between two looks
_BUTTON = 24  # pixels that a main button is high, at least
_INSIDE = 8  # pixels from its edge where it has neither a corner nor an icon
_CAMERA = """
import sys
from PySide6.QtGui import QGuiApplication
app = QGuiApplication([])
for line in sys.stdin:
    app.processEvents()
    app.primaryScreen().grabWindow(0).save(line.rstrip("\\n"))
    print(flush=True)
"""


def why_not() -> str:
    """Why there is no screen to work on, "" when there is one."""
    if sys.platform != "linux" or not os.environ.get("DISPLAY"):
        return "needs an X screen of its own: scripts/with-screen.sh"
    return "" if shutil.which("xdotool") else "xdotool is not installed"


@dataclass
class Desktop:
    data: Path
    home: Path
    environ: dict[str, str] = field(default_factory=dict)
    started: "list[subprocess.Popen[str]]" = field(default_factory=list)
    others: "list[subprocess.Popen[str]]" = field(default_factory=list)
    _camera: "subprocess.Popen[str] | None" = None

    # The program

    def start(self, *arguments: object) -> "subprocess.Popen[str]":
        screen = {name: os.environ[name] for name in ("DISPLAY", "XAUTHORITY") if name in os.environ}
        process = subprocess.Popen(
            [sys.executable, "-m", "cfbatch_gui", "--data-dir", str(self.data), *map(str, arguments)],
            env=own_environ(self.home, QT_QPA_PLATFORM="xcb", **screen) | self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def start_and_wait(self, *arguments: object) -> None:
        """Start it, and wait until its window can be worked with."""
        self.start(*arguments)
        self.until(self.main_buttons)
        self._manage_windows()
        self.until(lambda: _xdotool("getwindowfocus"))  # none has the keyboard while one opens

    def start_example(self) -> None:
        self.start_and_wait("--example")
        self.until(lambda: self.is_in(JobState.DRAFT) and len(self.main_buttons()) == 2)

    def connect(self, base_url: str, *, token: str = TOKEN) -> None:
        self.environ |= connected(base_url, token)
        Paths(self.data).create()
        Settings(connection="cloudflare").save(Paths(self.data).settings)

    def close(self) -> int:
        """Close the window as Ctrl+Q does, and say its exit status; nothing that went wrong may stand on stderr.

        A dialog that is about to close goes first, or it would take the key with it.
        """
        process = next(process for process in self.started if process.poll() is None)
        windows = ("search", "--onlyvisible", "--all", "--pid", str(process.pid), "--name", ".")
        self.until(lambda: len(_xdotool(*windows).split()) == 1)
        self.press("ctrl+q")
        self.until(lambda: process.poll() is not None or self._answer_once())
        _, said = process.communicate(timeout=240)
        assert "Traceback" not in said, said
        return process.returncode

    # What it has done

    def jobs(self) -> tuple[Job, ...]:
        return jobs_in(self.data)

    def job(self, name: str = "Help centre ranking") -> Job | None:
        return next((job for job in self.jobs() if job.name == name), None)

    def is_in(self, state: JobState, name: str = "Help centre ranking") -> bool:
        job = self.job(name)
        return job is not None and job.state is state

    def accepted(self) -> list[Accepted]:
        return accepted(Paths(self.data).practice)

    def until(self, happens: Callable[[], object]) -> None:
        """Wait for something; a program that has ended too early is said at once."""
        deadline = time.monotonic() + _PATIENCE
        while not happens():
            if time.monotonic() > deadline:
                where = self.home / "screen.png"
                self.picture().save(str(where))
                pytest.fail(f"what the test waited for did not come; the screen is in {where}")
            time.sleep(_LOOK)

    # Mouse, keyboard, eyes

    def press(self, *keys: str) -> None:
        self._manage_windows()
        _xdotool("key", "--delay", "30", *keys)

    def mouse(self, *words: object) -> None:
        _xdotool(*map(str, words))

    def click_main_button(self, nth: int) -> None:
        """Click one of the main buttons that are on the screen, counted from the top left; -1 is the last.

        The mouse goes out of the way first: a button under it has another colour.
        """
        self.mouse("mousemove", 1279, 819)
        self.until(lambda: len(self.main_buttons()) > (nth if nth >= 0 else -nth - 1))
        self._click_in(self.main_buttons()[nth])

    def _click_in(self, box: tuple[int, int, int, int]) -> None:
        left, top, right, bottom = box
        self.mouse("mousemove", (left + right) // 2, (top + bottom) // 2, "click", 1)

    def main_buttons(self) -> list[tuple[int, int, int, int]]:
        picture = self.picture().convertToFormat(QImage.Format.Format_RGB32)
        lines = np.frombuffer(picture.constBits(), np.uint32).reshape(picture.height(), picture.width())
        accent = QColor(LIGHT["accent"]).rgb()
        boxes: list[tuple[int, int, int, int]] = []
        for y in range(4, picture.height(), 8):
            for left, right in _runs(lines[y], accent):
                if any(b[0] - _INSIDE <= left <= b[2] and b[1] <= y <= b[3] for b in boxes):
                    continue
                inside = left + _INSIDE
                top, bottom = _reach(picture, inside, y, accent, -1), _reach(picture, inside, y, accent, 1)
                if bottom - top >= _BUTTON:
                    boxes.append((left, top, right, bottom))
        return boxes

    def picture(self) -> QImage:
        """The screen as it is, taken by a process of its own: this one may draw on no screen."""
        where = self.home / "picture.bmp"
        if self._camera is None:
            environ = {**os.environ, "QT_QPA_PLATFORM": "xcb"}
            self._camera = subprocess.Popen(
                [sys.executable, "-c", _CAMERA], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self.others.append(self._camera)
        assert self._camera.stdin is not None
        assert self._camera.stdout is not None
        self._camera.stdin.write(f"{where}\n")
        self._camera.stdin.flush()
        assert self._camera.stdout.readline(), "the camera has ended"
        return QImage(str(where))

    def _manage_windows(self) -> None:
        """Give the keyboard back when a dialog has closed, as a window manager does; this screen has none."""
        if not _xdotool("getwindowfocus", "getwindowname"):
            window = _xdotool("search", "--onlyvisible", "--name", "^CF Batch$").split()
            _xdotool("windowfocus", "--sync", window[0])

    def _answer_once(self) -> bool:
        """The first closing with jobs at work asks; its main button says yes."""
        boxes = [box for box in self.main_buttons() if box[0] > 300 and 200 < box[1] < 600]
        if boxes:
            self._click_in(boxes[0])
        return False


def _runs(line: NDArray[np.uint32], colour: int) -> list[tuple[int, int]]:
    """Where a line of the picture has this colour for the width of a button; a text in it may interrupt."""
    found = np.flatnonzero((line ^ colour) & 0xFFFFFF == 0)  # the highest byte is unused
    runs = np.split(found, np.flatnonzero(np.diff(found) >= 24) + 1) if found.size else []
    return [(int(run[0]), int(run[-1])) for run in runs if run[-1] - run[0] >= 40]


def _reach(picture: QImage, x: int, y: int, colour: int, step: int) -> int:
    while 0 <= y + step < picture.height() and picture.pixel(x, y + step) == colour:
        y += step
    return y


def _xdotool(*arguments: str) -> str:
    done = subprocess.run(["xdotool", *arguments], check=False, capture_output=True, text=True, timeout=240)
    return done.stdout.strip()


WITHOUT_ACTIVATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
