"""The window as a user has it: in a process of its own on the screen, reached by its keyboard alone.

What it has done is read from its data folder, as any other process may. The program has no hooks for this.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from tests.canary import TOKEN
from tests.journeys.terminal import connected, jobs_in, own_environ
from tests.support.practice import Accepted, accepted

_PATIENCE = 240.0  # seconds
_LOOK = 0.05  # seconds between two looks


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
        """Start it, and wait until its window has the keyboard."""
        self.start(*arguments)
        self.until(self.windows)
        self._manage_windows()
        self.until(lambda: _xdotool("getwindowfocus"))  # none has the keyboard while one opens

    def start_draft(self, of: str = "--example") -> None:
        """A draft of the example, on the practice service, or of a file, on the connection in use."""
        self.start_and_wait(of)
        self.until(lambda: self.is_in(JobState.DRAFT))

    def connect(self, base_url: str, *, token: str = TOKEN) -> None:
        self.environ |= connected(base_url, token)
        Paths(self.data).create()
        Settings(connection="cloudflare").save(Paths(self.data).settings)

    def windows(self) -> list[str]:
        """Those of the program that can be seen."""
        (process,) = [process for process in self.started if process.poll() is None]
        return _xdotool("search", "--onlyvisible", "--all", "--pid", str(process.pid), "--name", ".").split()

    def close(self) -> int:
        """Close the window as Ctrl+Q does, and say its exit status; nothing that went wrong may stand on stderr.

        A dialog that is about to close goes first, or it would take the key with it.
        """
        process = next(process for process in self.started if process.poll() is None)
        self.until(lambda: len(self.windows()) == 1)
        self.press("ctrl+q")
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
                pytest.fail("what the test waited for did not come")
            time.sleep(_LOOK)

    # The keyboard

    def press(self, *keys: str) -> None:
        self._manage_windows()
        _xdotool("key", "--delay", "30", *keys)

    def press_until(self, keys: str, happens: Callable[[], object], *, pause: float = _LOOK) -> None:
        """Press it as often as it takes: a page that is still being read does not take it.

        `pause` is the least time between two presses, for a key that would stop what it has begun.
        """
        due = 0.0

        def has_happened() -> object:
            nonlocal due
            found = happens()
            if not found and time.monotonic() >= due:
                self.press(keys)
                due = time.monotonic() + pause
            return found

        self.until(has_happened)

    def _manage_windows(self) -> None:
        """Give the keyboard to the window that opened last, as a window manager does; this screen has none."""
        newest = max(self.windows(), key=int, default="")
        if newest not in ("", _xdotool("getwindowfocus")):
            _xdotool("windowfocus", "--sync", newest)


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
