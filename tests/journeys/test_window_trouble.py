"""What is wrong, and then mended, while the window runs in a process of its own: the job comes to its end, once."""

import socket
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.system.paths import Paths
from tests.canary import OTHER_TOKEN, TOKEN
from tests.journeys.desktop import Desktop
from tests.screen.disks import fill_up, free_up, small_disk
from tests.support.practice import PracticeServer, accepted

CARRY_ON = 1  # among the main buttons; "New job" is the first


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def send_example(desktop: Desktop) -> None:
    desktop.start_and_wait("--example")
    desktop.until(lambda: desktop.is_in(JobState.DRAFT) and len(desktop.main_buttons()) == 2)
    desktop.press("ctrl+Return")


def said(desktop: Desktop) -> str:
    job = desktop.job()
    return job.error if job else ""


def test_no_network_then_a_refused_token_and_both_mended(desktop: Desktop, tmp_path: Path) -> None:
    port, service = free_port(), tmp_path / "service"
    desktop.connect(f"http://127.0.0.1:{port}/client/v4", token=TOKEN)
    send_example(desktop)
    desktop.until(lambda: desktop.is_in(JobState.PAUSED))
    assert "could not be reached" in said(desktop)
    with PracticeServer(service, port=port, token=OTHER_TOKEN):
        desktop.click_main_button(CARRY_ON)
        desktop.until(lambda: "refused the API token" in said(desktop) and desktop.is_in(JobState.PAUSED))
        assert desktop.close() == 0
        assert accepted(service) == []
        desktop.connect(f"http://127.0.0.1:{port}/client/v4", token=OTHER_TOKEN)
        desktop.start_and_wait()
        desktop.click_main_button(CARRY_ON)
        desktop.until(lambda: desktop.is_in(JobState.DONE))
        assert desktop.close() == 0
    assert len(accepted(service)) == 1


def test_a_full_disk_stops_the_job_and_room_lets_it_go_on(desktop: Desktop, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 4) as disk:
        desktop.data = disk / "data"
        desktop.start_and_wait("--example")
        desktop.until(lambda: desktop.is_in(JobState.DRAFT) and len(desktop.main_buttons()) == 2)
        Paths(desktop.data).reserve_file.unlink()  # as if something before this had taken it
        fill_up(disk)
        desktop.press("ctrl+Return")
        desktop.until(lambda: len(desktop.main_buttons()) == 2)
        assert desktop.started[-1].poll() is None and not desktop.is_in(JobState.DONE)
        free_up(disk)
        # The draft is still there, or the job has stopped: the page's main button goes on with either.
        desktop.click_main_button(CARRY_ON)
        desktop.until(lambda: desktop.is_in(JobState.DONE))
        assert len(desktop.accepted()) == 1
        assert desktop.close() == 0
