"""A window that is told to end by a signal closes in order: what is on its way is recorded, nothing sent twice."""

import signal
from pathlib import Path

import pytest

from tests.support import faults

pytest.importorskip("PySide6")

from cfbatch_gui.core.jobs.states import BatchState, JobState
from tests.canary import TOKEN
from tests.journeys.desktop import Desktop
from tests.support.faulty_service import ThreadedService

SLOWLY = 0.005  # seconds for each byte of the answer; all of it comes within the time that closing waits


def in_state(desktop: Desktop) -> BatchState | None:
    job = desktop.job()
    return job.batches[0].state if job and job.batches else None


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_submit_whose_answer_is_on_its_way_is_recorded(
    desktop: Desktop, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    with ThreadedService(
        tmp_path / "service", faults.drip(on="submit", billed=True, seconds=SLOWLY)
    ).opened() as service:
        desktop.connect(service.url, token=TOKEN)
        desktop.start_and_wait("--example")
        desktop.until(lambda: desktop.is_in(JobState.DRAFT) and len(desktop.main_buttons()) == 2)
        desktop.press("ctrl+Return")
        desktop.until(service.accepted)
        assert in_state(desktop) is BatchState.SENDING
        process = desktop.started[-1]
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        assert process.returncode == status and "Traceback" not in said, said
        job = desktop.job()
        assert job is not None and [batch.request_id for batch in job.batches] == service.accepted()
        desktop.start_and_wait()
        desktop.until(lambda: desktop.is_in(JobState.DONE))
        assert desktop.close() == 0
        assert len(service.accepted()) == 1
