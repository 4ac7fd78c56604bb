"""What goes wrong while the window runs in a process of its own: it is said, and nothing is lost or sent twice."""

import signal
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.jobs.states import BatchState, JobState
from tests.canary import TOKEN
from tests.journeys.desktop import Desktop
from tests.support import faults
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
