"""What goes wrong while answers are fetched: each comes whole, by the account or the service, or is said to be gone."""

import time
from collections.abc import Callable

import pytest

from cfbatch_gui.core.jobs.elsewhere import NO_ROOM_SENTENCE
from cfbatch_gui.core.jobs.run.runner import NOT_SEEN
from cfbatch_gui.core.jobs.states import BatchState, JobState
from tests.core.account.fault_scene import DAYS, Scene, is_decided
from tests.core.account.worker_stand_in import (
    Call,
    Rule,
    changed,
    cut_at,
    lost_after,
    lost_before,
    refuses,
)

WEEKS = 8 * DAYS  # after which the service has forgotten a batch
SECRET_REFUSED = "My Worker refused the secret. Sending has stopped; nothing was lost."
FORGOTTEN = (
    "My Worker does not know this batch, or no longer. Its results cannot be collected; the batch can be sent again, "
    "which is paid for again."
)


PASSING = {
    "lost on its way back": Rule("answer", lost_after, times=2),
    "lost so often that the next try would be hours away": Rule("answer", lost_before, times=15),
    "cut": Rule("answer", cut_at(1000), times=2),
    "longer than announced": Rule("answer", changed(lambda body: body + b"}"), times=2),
}


@pytest.mark.parametrize("name", PASSING)
async def test_an_answer_that_does_not_come_is_fetched_again(scene: Scene, name: str) -> None:
    job = await scene.stored(PASSING[name])
    await scene.check_done(await scene.end(job), from_account=3)


Spoil = Callable[[list[bytes]], bytes]
UNUSABLE: dict[str, Spoil] = {
    "cut when it was written": lambda copies: copies[1][:-1000],
    "of another batch": lambda copies: copies[0],
    "without the references of its results": lambda copies: copies[1].replace(
        b"external_reference", b"other_reference"
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
async def test_a_copy_that_cannot_be_used_is_asked_for(scene: Scene, name: str) -> None:
    job = await scene.stored()
    copies = [await scene.copy(job.id, number) for number in (1, 2, 3)]
    scene.put_copy(job.id, 2, UNUSABLE[name](copies))
    job = await scene.end(job)
    await scene.check_done(job, from_account=2)
    assert [batch.direct_only for batch in job.batches] == [False, True, False]


@pytest.mark.parametrize("meanwhile", ["nothing", "a fault of the bucket", "asked directly"])
async def test_what_the_service_has_forgotten_comes_from_the_account(scene: Scene, meanwhile: str) -> None:
    """Also when the lid was closed for weeks, and the bucket has a fault when it is opened; or the user wants answers
    from the service alone.
    """
    faults = [Rule("status", refuses(502, 0), times=3)] if meanwhile == "a fault of the bucket" else []
    job = await scene.stored(*faults)
    scene.account.clock.skip(WEEKS)
    if meanwhile != "nothing":
        await scene.computer.stop()
        await scene.computer.start(clock=lambda: time.time() + WEEKS)
    if meanwhile == "asked directly":
        await scene.computer.program.actions.collect_here(job.id)
    job = await scene.end(job)
    if faults:
        assert scene.stand_in.count("ask") > 0, "the service was asked, and knew nothing of them"
    assert (job.state, job.account_problem, scene.from_account(job)) == (JobState.DONE, "", 3)
    scene.check_accepted_once(job)
    scene.check_vectors(job)
    assert scene.left(job) == []


@pytest.mark.parametrize("is_room_back", [True, False])
async def test_answers_behind_a_worker_that_has_lost_its_room_wait_for_it_until_the_user_decides(
    scene: Scene, is_room_back: bool
) -> None:
    job = await scene.stored(Rule("status", refuses(404, 7003), times=0))
    scene.account.clock.skip(WEEKS)
    await scene.computer.program.runner.carry_on(job.id)
    waiting = await scene.computer.until(lambda job: all(batch.error for batch in job.batches), job.id)
    assert (waiting.state, waiting.account_problem) == (JobState.WORKING, NO_ROOM_SENTENCE)
    assert {batch.error for batch in waiting.batches} == {NOT_SEEN}
    if not is_room_back:
        await scene.computer.program.actions.collect_here(job.id)
        job = await scene.end(job)
        assert {(batch.state, batch.error) for batch in job.batches} == {(BatchState.GONE, FORGOTTEN)}
        return
    scene.stand_in.follow()
    await scene.computer.program.actions.collect_in_account(job.id)
    job = await scene.end(job)
    assert (job.state, job.account_problem, scene.from_account(job)) == (JobState.DONE, "", 3)
    scene.check_vectors(job)
    assert scene.left(job) == []


async def test_a_copy_that_cannot_be_used_is_kept_when_the_service_has_forgotten_the_batch(scene: Scene) -> None:
    job = await scene.stored()
    scene.put_copy(job.id, 2, b'{"answers_of_a_later_year": []}')
    scene.account.clock.skip(WEEKS)
    job = await scene.end(job)
    assert job.state is JobState.PARTLY_DONE
    assert [batch.state for batch in job.batches] == [BatchState.DONE, BatchState.GONE, BatchState.DONE]
    assert job.batches[1].error == FORGOTTEN
    assert scene.computer.program.folder(job.id).read_reply(2) == b'{"answers_of_a_later_year": []}'


@pytest.mark.parametrize("call", ["hand over", "answer"])
async def test_a_secret_that_is_refused_pauses_the_job_until_it_is_entered(scene: Scene, call: Call) -> None:
    rule = Rule(call, refuses(401, 10000, "The secret is missing or wrong."))
    job = await (scene.stored(rule) if call == "answer" else scene.send(rule))
    if call == "answer":
        await scene.computer.program.runner.carry_on(job.id)
    job = await scene.computer.program.runner.wait(job.id)
    assert (job.state, job.paused_because) == (JobState.PAUSED, SECRET_REFUSED)
    with scene.account.clock.held():
        await scene.computer.program.runner.carry_on(job.id)
        await scene.computer.until(is_decided, job.id)
    await scene.check_done(await scene.end(job), from_account=3)
