"""submissions.jsonl: ids stand in two places, damaged ones are not taken; and outcomes that the user alone settles."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import ReplyError, UsageError, UserError
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.store.submissions import Event, Submission, read_submissions, submissions, write_down
from tests.core.jobs.conftest import Bench
from tests.support import faults
from tests.support.faults import Fault
from tests.support.practice import accepted

LINES = tuple(Submission(f"a{n}", f"id-{n}", "5" * 64, 1.5 + n, f"job{n}", n, "cloudflare", "@cf/m") for n in range(9))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "submissions.jsonl"
    for line in LINES:
        write_down(path, line)
    return path


def test_every_flipped_bit_of_a_line_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    first = whole.split(b"\n")[3]
    start = whole.index(first)
    for bit in range(8 * len(first)):
        damaged = bytearray(whole)
        damaged[start + bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        written = read_submissions(path)
        assert [line for line in written.lines if line not in LINES] == [], bit
        assert len(written.lines) == 8 and written.damaged, bit


@pytest.mark.parametrize("is_copy_kept", [True, False])
async def test_an_altered_id_is_not_adopted(bench: Bench, is_copy_kept: bool) -> None:
    """The program ended after the id was written down, before the ledger had it; then one letter of it changes."""
    job = await bench.run(bench.clouds())
    batch = job.batches[0]
    bench.ledger.save_batch(replace(batch, state=BatchState.SENDING, request_id=""))
    await bench.stop()
    altered = "x" + batch.request_id[1:]
    assert bench.paths.state is not None
    for path in (bench.paths.submissions, *([] if is_copy_kept else bench.paths.state.glob("*.jsonl"))):
        path.write_bytes(path.read_bytes().replace(batch.request_id.encode(), altered.encode()))
    bench.start()
    await bench.runner.resume_all()
    found = (await bench.runner.wait(job.id)).batches[0]
    right = (BatchState.DONE, batch.request_id) if is_copy_kept else (BatchState.OUTCOME_UNKNOWN, "")
    assert (found.state, found.request_id) == right


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


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_an_id_that_could_not_be_written_down_is_written_later(bench: Bench, is_restarted: bool) -> None:
    bench.faulty.follow(faults.stall(on="submit", seconds=0.3, billed=True))
    running = asyncio.create_task(bench.run(bench.clouds()))
    await bench.until(lambda: bench.faulty.submits)
    make_unwritable(bench.paths.submissions)
    job = await running
    assert job.state is JobState.DONE  # the ledger has the id, so the job goes on
    if is_restarted:
        await bench.restart()  # without room as before
        await bench.stop()
    make_writable(bench.paths.submissions)
    if is_restarted:
        bench.start()
        await bench.runner.resume_all()
    await bench.until(lambda: submissions(bench.paths.submissions))
    await bench.restart()
    (written,) = submissions(bench.paths.submissions)
    batch = job.batches[0]
    assert (written.attempt, written.request_id, written.sha256) == (batch.attempt, batch.request_id, batch.sha256)
    assert (written.job_id, written.batch, written.connection) == (job.id, 1, job.connection)
    assert bench.ledger.job(job.id).state is JobState.DONE and len(bench.faulty.submits) == 1


async def test_an_adopted_id_is_kept_twice_and_watched_whoever_gave_up_waiting(bench: Bench) -> None:
    bench.faulty.follow(faults.reset_after_body(on="submit", billed=True))
    job = await bench.run(bench.clouds())
    make_unwritable(bench.paths.submissions)
    (found,) = accepted(bench.service_folder)
    adopting = asyncio.create_task(bench.actions.adopt(job.id, 1, found.request_id))
    await bench.until(lambda: bench.ledger.job(job.id).batches[0].state is not BatchState.OUTCOME_UNKNOWN)
    adopting.cancel()  # as the window does: it removes the card, and its task, once the batch is queued
    make_writable(bench.paths.submissions)
    await bench.until(lambda: submissions(bench.paths.submissions))
    assert bench.ledger.job(job.id).batches[0].request_id == found.request_id
    await bench.until(lambda: bench.ledger.job(job.id).state is JobState.DONE)


async def test_nothing_leaves_while_the_attempt_cannot_be_written_down(bench: Bench) -> None:
    bench.paths.submissions.mkdir()
    job = await bench.run(bench.clouds())
    assert job.state is JobState.PAUSED and "submissions.jsonl" in job.paused_because
    assert job.batches[0].state is BatchState.PLANNED and not bench.faulty.submits
    bench.paths.submissions.rmdir()
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert [each.event for each in read_submissions(bench.paths.submissions).lines] == [Event.SENDING, Event.ACCEPTED]


LOST_BILLED = faults.reset_after_body(billed=True)


async def unknown(bench: Bench, fault: Fault = LOST_BILLED) -> Job:
    bench.faulty.follow(fault)
    return await bench.run(bench.clouds(reuse=False))


@pytest.mark.parametrize(
    ("is_here", "error", "words"),
    [(True, UsageError, "“other” has this request ID already"), (False, ReplyError, None)],
)
async def test_another_jobs_id_is_not_adopted(
    bench: Bench, is_here: bool, error: type[UserError], words: str | None
) -> None:
    other = await bench.run(bench.clouds("other"))
    if not is_here:
        bench.ledger.remove(other.id)
    job = await unknown(bench)
    with pytest.raises(error, match=words):
        await bench.actions.adopt(job.id, 1, other.batches[0].request_id)
    assert bench.ledger.job(job.id).batches[0].state is BatchState.OUTCOME_UNKNOWN


async def test_the_id_of_another_batch_is_no_answer_to_this_one(bench: Bench) -> None:
    other = await bench.run(bench.clouds("other"))
    said = {"result": {"status": "queued", "request_id": other.batches[0].request_id}, "success": True, "errors": []}
    job = await unknown(bench, faults.any_reply(on="submit", body=json.dumps(said)))
    assert job.batches[0].state is BatchState.OUTCOME_UNKNOWN and not job.batches[0].request_id
    assert len(bench.faulty.submits) == 2


async def test_an_adopted_answer_that_comes_later_must_prove_whose_it_is(bench: Bench) -> None:
    job = await unknown(bench)
    (known,) = accepted(bench.service_folder)
    waiting = faults.any_reply(on="poll", body='{"result":{"status":"queued"},"success":true,"errors":[]}')
    bench.faulty.follow(waiting, faults.mutate(on="poll", times=0, how="references_null"))
    done = await bench.ended(bench.actions.adopt(job.id, 1, known.request_id))
    assert done.batches[0].state is BatchState.OUTCOME_UNKNOWN and not done.batches[0].request_id
    assert [score for _, score in bench.scores(job.id)] == [None, None, None]


@pytest.mark.parametrize("is_ledger_lost", [False, True])
async def test_a_wrong_id_is_given_up_when_its_answer_is_refused(bench: Bench, is_ledger_lost: bool) -> None:
    """A slip: the id of another batch in doubt, while the service still says "queued"."""
    job, other = await unknown(bench), await unknown(bench)
    right, wrong = (each.request_id for each in accepted(bench.service_folder))
    bench.faulty.follow(faults.any_reply(on="poll", body='{"result":{"status":"queued"},"success":true,"errors":[]}'))
    await bench.actions.adopt(job.id, 1, wrong)
    with pytest.raises(UsageError):
        await bench.actions.adopt(other.id, 1, wrong)  # for as long as nobody knows better
    for _ in range(1 + is_ledger_lost):
        if is_ledger_lost:
            await bench.stop()
            bench.paths.ledger.unlink()
            bench.start()
            await bench.runner.carry_on(job.id)
        refused = await bench.runner.wait(job.id)
        assert refused.state is JobState.OUTCOME_UNKNOWN and not refused.batches[0].request_id
    for each, request_id in ((job, right), (other, wrong)):
        assert (await bench.ended(bench.actions.adopt(each.id, 1, request_id))).state is JobState.DONE
        assert bench.scores(each.id)[0][0] == "This is a story about an orange cloud"
    assert len(bench.faulty.submits) == 2
