import pytest

from cfbatch_gui.cli.console import status_of_error
from cfbatch_gui.cli.working import status_of_job
from cfbatch_gui.core import errors
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.UsageError("x"), 2),
        (errors.DataError("x"), 1),
        (errors.NotConnected("x"), 4),
        (errors.ServiceRefused("x"), 1),
        (errors.OutcomeUnknown("x"), 3),
    ],
)
def test_every_expected_failure_has_its_status(error: errors.UserError, status: int) -> None:
    assert status_of_error(error) == status


def job(*states: BatchState, paused: str = "") -> Job:
    batches = tuple(Batch("j", number, state, 1, 1, 10) for number, state in enumerate(states, start=1))
    return Job("j", "n", Kind.EMBED, "m", "c", 0.0, is_sent=True, batches=batches, paused_because=paused)


@pytest.mark.parametrize(
    ("job", "trouble", "status"),
    [
        (job(BatchState.DONE), None, 0),
        (job(BatchState.DONE, BatchState.FAILED), None, 1),
        (job(BatchState.FAILED), None, 1),
        (job(BatchState.DONE, BatchState.OUTCOME_UNKNOWN), None, 3),
        (job(BatchState.PLANNED, paused="x"), errors.TokenRefused("x"), 4),
        (job(BatchState.QUEUED, paused="x"), errors.Unreachable("x"), 4),
        (job(BatchState.QUEUED, paused="x"), errors.DiskFull("x"), 1),
        (job(BatchState.QUEUED, paused="x"), None, 1),
    ],
)
def test_every_end_of_a_job_has_its_status(job: Job, trouble: errors.UserError | None, status: int) -> None:
    assert status_of_job(job, trouble) == status
