"""The id of an accepted batch is stored in the ledger and in the submissions file, even if one write fails at first."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.store.submissions import Event, read_submissions, submissions
from tests.core.jobs.conftest import Bench
from tests.core.jobs.test_runner import CLOUDS
from tests.support import faults
from tests.support.practice import accepted


def make_unwritable(path: Path) -> None:
    """Put a folder in the place of the file, so that no line can be written."""
    path.rename(path.with_name("kept"))
    path.mkdir()


def make_writable(path: Path) -> None:
    """Put the file back, below what the program has written as soon as there was room again."""
    kept = path.with_name("kept")
    path.rmdir()
    try:
        path.hardlink_to(kept)
    except FileExistsError:
        with path.open("ab") as stream:
            stream.write(kept.read_bytes())
    kept.unlink()


async def run_without_room_for_the_id(bench: Bench, path: Path) -> Job:
    """Run a job during which the submissions file becomes unwritable after its batch has left."""
    bench.faulty.follow(faults.stall(on="submit", seconds=0.3, billed=True))
    running = asyncio.create_task(bench.run(bench.draft(path, Kind.RANK)))
    async with asyncio.timeout(20):
        while not bench.faulty.submits:
            await asyncio.sleep(0.005)
    make_unwritable(bench.paths.submissions)
    job = await running
    assert job.state is JobState.DONE  # the ledger has the id, so the job goes on
    return job


async def test_an_id_that_could_not_be_written_down_is_written_later(
    bench: Bench, write: Callable[[str, str], Path]
) -> None:
    job = await run_without_room_for_the_id(bench, write("clouds.csv", CLOUDS))
    make_writable(bench.paths.submissions)
    async with asyncio.timeout(20):
        while not submissions(bench.paths.submissions):
            await asyncio.sleep(0.01)
    assert [each.request_id for each in submissions(bench.paths.submissions)] == [job.batches[0].request_id]
    assert bench.ledger.job(job.id).state is JobState.DONE
    assert len(bench.faulty.submits) == 1


async def test_an_id_that_stood_in_one_place_when_the_program_ended_stands_in_both_after_the_next_start(
    bench: Bench, write: Callable[[str, str], Path]
) -> None:
    job = await run_without_room_for_the_id(bench, write("clouds.csv", CLOUDS))
    await bench.stop()
    make_writable(bench.paths.submissions)
    bench.start()
    await bench.runner.resume_all()
    (written,) = submissions(bench.paths.submissions)
    batch = job.batches[0]
    assert (written.attempt, written.request_id, written.sha256) == (batch.attempt, batch.request_id, batch.sha256)
    assert (written.job_id, written.batch, written.connection) == (job.id, 1, job.connection)
    await bench.restart()
    await bench.runner.resume_all()
    assert len(submissions(bench.paths.submissions)) == 1


async def test_a_start_that_cannot_write_an_id_down_goes_on_and_tries_again(
    bench: Bench, write: Callable[[str, str], Path]
) -> None:
    job = await run_without_room_for_the_id(bench, write("clouds.csv", CLOUDS))
    await bench.restart()
    await bench.runner.resume_all()
    make_writable(bench.paths.submissions)
    async with asyncio.timeout(20):
        while not submissions(bench.paths.submissions):
            await asyncio.sleep(0.01)
    assert [each.request_id for each in submissions(bench.paths.submissions)] == [job.batches[0].request_id]


async def test_an_adopted_id_is_kept_twice_whoever_gave_up_waiting(
    bench: Bench, write: Callable[[str, str], Path]
) -> None:
    bench.faulty.follow(faults.reset_after_body(on="submit", billed=True))
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    make_unwritable(bench.paths.submissions)
    (found,) = accepted(bench.service_folder)
    adopting = asyncio.create_task(bench.actions.adopt(job.id, 1, found.request_id))
    async with asyncio.timeout(20):
        while bench.ledger.job(job.id).batches[0].state is BatchState.OUTCOME_UNKNOWN:
            await asyncio.sleep(0.01)
    adopting.cancel()
    make_writable(bench.paths.submissions)
    async with asyncio.timeout(20):
        while not submissions(bench.paths.submissions):
            await asyncio.sleep(0.01)
    assert bench.ledger.job(job.id).batches[0].request_id == found.request_id


async def test_nothing_leaves_while_the_attempt_cannot_be_written_down(
    bench: Bench, write: Callable[[str, str], Path]
) -> None:
    bench.paths.submissions.mkdir()
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    assert job.state is JobState.PAUSED and "submissions.jsonl" in job.paused_because
    assert job.batches[0].state is BatchState.PLANNED and not bench.faulty.submits
    bench.paths.submissions.rmdir()
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert [each.event for each in read_submissions(bench.paths.submissions).lines] == [Event.SENDING, Event.ACCEPTED]
