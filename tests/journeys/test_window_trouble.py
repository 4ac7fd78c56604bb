"""What goes wrong while the window runs in a process of its own: it is said, and nothing is lost or sent twice."""

import signal
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.jobs.states import BatchState, JobState
from cfbatch_gui.core.system.paths import Paths
from tests.canary import TOKEN
from tests.journeys.desktop import Desktop
from tests.support import faults
from tests.support.disks import read_only
from tests.support.faulty_service import ThreadedService

SLOWLY = 0.005  # seconds for each byte of the answer; all of it comes within the time that closing waits


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_submit_whose_answer_is_on_its_way_is_recorded(
    desktop: Desktop, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    slow = faults.drip(on="submit", billed=True, seconds=SLOWLY)
    with ThreadedService(tmp_path / "service", slow).opened() as service:
        desktop.connect(service.url, token=TOKEN)
        desktop.start_example()
        desktop.press("ctrl+Return")
        desktop.until(service.accepted)
        job = desktop.job()
        assert job is not None and job.batches[0].state is BatchState.SENDING
        process = desktop.started[-1]
        process.send_signal(number)
        _, said = process.communicate(timeout=240)
        assert process.returncode == status and "Traceback" not in said, said
        job = desktop.job()
        assert job is not None and [batch.request_id for batch in job.batches] == service.accepted()
        desktop.start_and_wait()
        desktop.until(lambda: desktop.is_in(JobState.DONE))
        assert desktop.close() == 0
        assert len(service.accepted()) == 1


def is_shown() -> bool:
    """Whether a window of the program is on the screen; without a window manager it gets no keyboard by itself."""
    search = ["xdotool", "search", "--onlyvisible", "--name", "^CF Batch$"]
    return bool(subprocess.run(search, check=False, capture_output=True).stdout)


def close_dialog(desktop: Desktop, process: "subprocess.Popen[str]") -> str:
    """Press the button that the dialog has, and wait for the end; what stood on standard error."""

    def is_over() -> bool:
        desktop.press("Return")  # which a dialog without the focus yet does not get
        return process.poll() is not None

    desktop.until(is_over)
    assert process.returncode == 2
    return process.communicate()[1]


def test_a_read_only_data_folder_is_said_in_a_dialog(desktop: Desktop) -> None:
    Paths(desktop.data).create()
    with read_only(desktop.data):
        process = desktop.start()
        desktop.until(is_shown)
        said = close_dialog(desktop, process)
        assert f"“{desktop.data}”, is read-only here" in said and "Traceback" not in said
