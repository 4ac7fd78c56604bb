"""If the data folder cannot be written, the job stops with an error, and can be continued once it can be written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, JobState
from tests.core.jobs.conftest import Bench
from tests.core.jobs.test_runner import CLOUDS, scores


@pytest.mark.parametrize("name", ["bodies", "replies"])
async def test_a_folder_that_cannot_be_written_stops_the_job_and_loses_nothing(
    bench: Bench, write: Callable[[str, str], Path], name: str
) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    place = bench.store.folder(job.id).path / name
    place.rmdir()
    place.write_bytes(b"in the way")
    stopped = await bench.run(job)
    assert stopped.state is JobState.PAUSED
    trouble = bench.runner.pause_error(job.id)
    assert type(trouble) is DataError and "own folder" in stopped.paused_because
    assert stopped.batches[0].state in (BatchState.PLANNED, BatchState.QUEUED, BatchState.RUNNING)
    place.unlink()
    place.mkdir()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert scores(bench, job.id)[0][0] == "This is a story about an orange cloud"
    assert len(bench.faulty.submits) == 1
