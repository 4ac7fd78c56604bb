"""The program started beside its own window, and where it cannot open one: what the user sees on the screen."""

import signal
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.system.paths import Paths
from tests.journeys.desktop import Desktop
from tests.screen.disks import read_only


def is_shown() -> bool:
    """Whether a window of the program is on the screen; without a window manager it gets no keyboard by itself."""
    search = ["xdotool", "search", "--onlyvisible", "--name", "^CF Batch$"]
    return bool(subprocess.run(search, check=False, capture_output=True).stdout)


def close_dialog(desktop: Desktop, process: "subprocess.Popen[str]") -> str:
    """Press the button that the dialog has, and wait for the end; what stood on standard error."""
    desktop.press("Return")
    desktop.until(lambda: process.poll() is not None)
    assert process.returncode == 2
    return process.communicate()[1]


def test_a_file_opens_in_the_window_that_is_there(desktop: Desktop, tmp_path: Path) -> None:
    file = tmp_path / "orange clouds.csv"
    file.write_text("query,text\nclouds,an orange cloud\nclouds,a grey one\n")
    desktop.start_and_wait()
    second = desktop.start(file)
    desktop.until(lambda: second.poll() is not None)
    assert second.returncode == 0
    desktop.until(lambda: desktop.is_in(JobState.DRAFT, "Orange clouds"))
    desktop.until(lambda: len(desktop.main_buttons()) == 2)  # its page, with what can be sent
    desktop.press("ctrl+Return")
    desktop.until(lambda: desktop.is_in(JobState.DONE, "Orange clouds"))
    assert desktop.close() == 0


def test_a_window_that_hangs_is_said_and_nothing_is_lost(desktop: Desktop, tmp_path: Path) -> None:
    file = tmp_path / "clouds.csv"
    file.write_text("query,text\nclouds,an orange cloud\n")
    desktop.start_and_wait()
    window = desktop.started[0]
    window.send_signal(signal.SIGSTOP)
    second = desktop.start(file)
    before = desktop.front()
    desktop.wait_for_front(other_than=before)
    said = close_dialog(desktop, second)
    assert "does not answer, so “clouds.csv” was not opened" in said
    window.send_signal(signal.SIGCONT)
    desktop.press("ctrl+n")
    assert desktop.close() == 0


def test_a_read_only_data_folder_is_said_in_a_dialog(desktop: Desktop) -> None:
    Paths(desktop.data).create()
    with read_only(desktop.data):
        process = desktop.start()
        desktop.until(is_shown)
        said = close_dialog(desktop, process)
        assert f"“{desktop.data}”, is read-only here" in said and "Traceback" not in said
