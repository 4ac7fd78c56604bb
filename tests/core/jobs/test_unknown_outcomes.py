"""Batches of unknown outcome: recognised as such, never sent again automatically, resolved only by the user."""

import json

import pytest

from cfbatch_gui.core.errors import ReplyError, UsageError, UserError
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from tests.core.jobs.conftest import Bench
from tests.support import faults
from tests.support.faults import Fault
from tests.support.practice import accepted

LOST_BILLED = faults.reset_after_body(billed=True)
LOST_UNBILLED = faults.reset_after_body()


async def unknown(bench: Bench, fault: Fault = LOST_BILLED) -> Job:
    bench.faulty.follow(fault)
    return await bench.run(bench.clouds(reuse=False))


@pytest.mark.parametrize(
    ("is_here", "error", "words"), [(True, UsageError, "“other” has this request ID already"), (False, ReplyError, "")]
)
async def test_another_jobs_id_is_not_adopted(bench: Bench, is_here: bool, error: type[UserError], words: str) -> None:
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
