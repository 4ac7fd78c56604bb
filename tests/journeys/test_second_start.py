"""The program started while its window is open: the file goes to that window, to nobody else, and never nowhere.

Every start is a process of its own, without a screen. What a window has taken is a draft in the data folder.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.jobs.store.ledger import WriterLock
from cfbatch_gui.core.system.paths import Paths
from tests.journeys.desktop import Desktop
from tests.journeys.terminal import until

pytestmark = [pytest.mark.timeout(400), pytest.mark.skipif(sys.platform == "win32", reason="sockets of POSIX")]

BUSY = "CF Batch is already at work with this data."
_PATIENCE = 240.0  # seconds


class Starts(Desktop):
    """Starts without a screen."""

    @property
    def paths(self) -> Paths:
        return Paths(self.data)

    def open_window(self, *arguments: object) -> "subprocess.Popen[str]":
        process = self.start(*arguments)
        until(lambda: process.poll() is not None or self.listening())
        assert process.poll() is None, process.communicate()[1]
        return process

    def listening(self) -> bool:
        """Whether a window answers at the socket in the data folder."""
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(str(self.paths.window_socket)) == 0

    def drafts(self) -> list[str]:
        return sorted(job.name.lower() for job in self.jobs())

    def file(self, name: str) -> Path:
        path = self.home / name
        path.write_text("query,text\nclouds,an orange cloud\n")
        return path


def said(process: "subprocess.Popen[str]") -> str:
    """The sentence on standard error; the dialog with it stays until somebody closes it."""
    assert process.stderr is not None
    return process.stderr.readline()


@pytest.fixture
def starts() -> Iterator[Starts]:
    home = Path(tempfile.mkdtemp(prefix="cf-"))  # short: a socket's path has at most 108 bytes
    home.chmod(0o755)
    starts = Starts(home / "data", home, {"LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(home)})
    yield starts
    for process in starts.started:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.communicate()
    shutil.rmtree(home)


def test_a_second_start_gives_its_file_to_the_window_and_ends(starts: Starts) -> None:
    window = starts.open_window()
    assert starts.paths.window_socket.stat().st_mode & 0o077 == 0, "another user could speak to the window"
    second = starts.start(starts.file("clouds.csv"))
    assert second.wait(_PATIENCE) == 0
    until(lambda: starts.drafts() == ["clouds"])
    assert window.poll() is None and starts.start().wait(_PATIENCE) == 0


def test_a_dead_window_leaves_nothing_that_is_in_the_way(starts: Starts) -> None:
    starts.open_window().kill()
    assert starts.paths.window_socket.exists()
    window = starts.start(starts.file("one.csv"))
    until(lambda: starts.drafts() == ["one"] and starts.listening())
    assert starts.start(starts.file("two.csv")).wait(_PATIENCE) == 0
    until(lambda: starts.drafts() == ["one", "two"])
    assert window.poll() is None


def test_of_two_starts_at_once_one_stays_and_both_files_are_there(starts: Starts) -> None:
    both = [starts.start(starts.file(name)) for name in ("100 % käse.csv", "next%20one #4?.csv")]
    until(lambda: starts.drafts() == ["100 % käse", "next%20one #4?"])
    until(lambda: sum(process.poll() is not None for process in both) == 1)
    (ended,) = [process for process in both if process.poll() is not None]
    assert ended.returncode == 0


def test_a_window_that_does_not_acknowledge_is_named(starts: Starts) -> None:
    window = starts.open_window()
    window.send_signal(signal.SIGSTOP)
    second = starts.start(starts.file("clouds.csv"))
    assert "its window does not answer, so nothing was opened" in said(second)
    window.send_signal(signal.SIGCONT)
    assert second.poll() is None, "its dialog is open"
    assert starts.start(starts.file("later.csv")).wait(_PATIENCE) == 0
    until(lambda: starts.drafts() == ["later"])


def test_a_program_that_is_no_window_keeps_the_lock(starts: Starts) -> None:
    starts.paths.create()
    lock = WriterLock(starts.paths.lock)
    assert said(starts.start(starts.file("clouds.csv"))).startswith(BUSY)
    lock.release()


def test_a_data_folder_whose_name_is_not_utf_8_is_refused(starts: Starts) -> None:
    starts.data = starts.home / os.fsdecode(b"o\xff")
    assert starts.start().wait(_PATIENCE) == 2
    assert not starts.data.exists()
