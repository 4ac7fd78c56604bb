"""Batches of unknown outcome: recognised as such, never sent again automatically, resolved only by the user."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import ReplyError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.store.submissions import Submission, write_down
from tests.core.jobs.conftest import Bench
from tests.core.jobs.test_runner import CLOUDS, scores
from tests.support import faults
from tests.support.faults import Fault
from tests.support.practice import accepted

Write = Callable[[str, str], Path]

LOST_BILLED = faults.reset_after_body(billed=True)
LOST_UNBILLED = faults.reset_after_body()


async def unknown(bench: Bench, write: Write, fault: Fault = LOST_BILLED) -> Job:
    bench.faulty.follow(fault)
    return await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK, reuse=False))


async def test_an_id_in_the_second_file_saves_a_batch_that_died_while_sending(bench: Bench, write: Write) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    batch = job.batches[0]
    bench.ledger.save_batch(replace(batch, state=BatchState.SENDING, attempt="a1", request_id=""))
    write_down(bench.paths.submissions, Submission("a1", batch.request_id, batch.sha256, 0.0))
    await bench.restart()
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 1


async def test_the_right_id_is_adopted(bench: Bench, write: Write) -> None:
    job = await unknown(bench, write)
    (known,) = accepted(bench.service_folder)
    request_id = known.request_id
    done = await bench.ended(bench.actions.adopt(job.id, 1, request_id))
    assert done.state is JobState.DONE and done.batches[0].request_id == request_id
    assert scores(bench, job.id)[0][0] == "This is a story about an orange cloud"


async def test_another_jobs_id_is_not_adopted(bench: Bench, write: Write) -> None:
    other = await bench.run(bench.draft(write("other.csv", CLOUDS), Kind.RANK))
    job = await unknown(bench, write)
    with pytest.raises(UsageError, match="“other” has this request ID already"):
        await bench.actions.adopt(job.id, 1, other.batches[0].request_id)
    assert bench.ledger.job(job.id).batches[0].state is BatchState.OUTCOME_UNKNOWN


async def test_the_id_of_another_batch_is_no_answer_to_this_one(bench: Bench, write: Write) -> None:
    other = await bench.run(bench.draft(write("other.csv", CLOUDS), Kind.RANK))
    said = {"result": {"status": "queued", "request_id": other.batches[0].request_id}, "success": True, "errors": []}
    job = await unknown(bench, write, faults.any_reply(on="submit", body=json.dumps(said)))
    assert job.batches[0].state is BatchState.OUTCOME_UNKNOWN and not job.batches[0].request_id
    assert len(bench.faulty.submits) == 2


async def test_an_id_of_a_job_that_is_not_here_any_more_is_not_adopted(bench: Bench, write: Write) -> None:
    other = await bench.run(bench.draft(write("other.csv", CLOUDS), Kind.RANK))
    bench.ledger.remove(other.id)
    job = await unknown(bench, write)
    with pytest.raises(ReplyError):
        await bench.actions.adopt(job.id, 1, other.batches[0].request_id)
    assert bench.ledger.job(job.id).batches[0].state is BatchState.OUTCOME_UNKNOWN


async def test_an_adopted_answer_that_comes_later_must_prove_whose_it_is(bench: Bench, write: Write) -> None:
    job = await unknown(bench, write)
    (known,) = accepted(bench.service_folder)
    waiting = faults.any_reply(on="poll", body='{"result":{"status":"queued"},"success":true,"errors":[]}')
    bench.faulty.follow(waiting, faults.mutate(on="poll", times=0, how="references_null"))
    done = await bench.ended(bench.actions.adopt(job.id, 1, known.request_id))
    assert done.batches[0].state is BatchState.OUTCOME_UNKNOWN and not done.batches[0].request_id
    assert [score for _, score in scores(bench, job.id)] == [None, None, None]


@pytest.mark.parametrize("is_ledger_lost", [False, True])
async def test_a_wrong_id_is_given_up_when_its_answer_is_refused(
    bench: Bench, write: Write, is_ledger_lost: bool
) -> None:
    """A slip: the id of another batch in doubt, while the service still says "queued"."""
    job, other = await unknown(bench, write), await unknown(bench, write)
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
        assert scores(bench, each.id)[0][0] == "This is a story about an orange cloud"
    assert len(bench.faulty.submits) == 2
