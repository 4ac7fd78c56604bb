"""What goes wrong between the program and the account ends in a state with a name, and loses and repeats nothing."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from cfbatch_gui.core.jobs.account import NOT_HANDED_OVER, REMOVED, STOPPED
from cfbatch_gui.core.jobs.run.runner import NOT_SEEN
from cfbatch_gui.core.jobs.states import BatchState, JobState, account_progress
from cfbatch_gui.core.workers_ai.collector import NO_ROOM_SENTENCE
from tests.core.account.conftest import (
    DAYS,
    EXCEEDED_CPU,
    Call,
    Rule,
    Scene,
    changed,
    cut_at,
    is_decided,
    lost_after,
    lost_before,
    page,
    refuses,
    says,
)

NO_ROOM = refuses(404, 7003, "There is nothing at this address.")

# What goes wrong while a job is handed over, or while its answers are fetched.
ONCE = {
    "the layout does not arrive": Rule("layout", lost_before),
    "the hand-over arrives and its answer is lost": Rule("hand over", lost_after),
    "a page in place of the hand-over's answer": Rule("hand over", page),
    "the hand-over exceeds its computing time": Rule("hand over", EXCEEDED_CPU, times=2),
    "this computer is offline for longer than five tries": Rule("hand over", lost_before, times=6),
    "the shard is just being removed": Rule("hand over", refuses(409, 10409)),
    "the status is lost": Rule("status", lost_after, times=2),
    "the status names a batch twice": Rule(
        "status",
        says(200, b'{"state":"collecting","batches":[{"number":1,"refused":true},{"number":1,"refused":true}]}'),
    ),
    "an answer is lost on its way back": Rule("answer", lost_after, times=2),
    "an answer is lost so often that the next try would be hours away": Rule("answer", lost_before, times=15),
    "an answer is cut": Rule("answer", cut_at(1000), times=2),
    "an answer is longer than announced": Rule("answer", changed(lambda body: body + b"}"), times=2),
}


@pytest.mark.parametrize("name", ONCE)
async def test_what_passes_is_tried_again_and_the_account_collects(scene: Scene, name: str) -> None:
    rule = ONCE[name]
    job = await (scene.stored(rule) if rule.on == "answer" else scene.send(rule))
    await scene.check_done(await scene.end(job), from_account=3)


@dataclass(frozen=True)
class Given:
    """What does not pass: the program says so, and asks for the answers itself but for those that it has already."""

    rules: tuple[Rule, ...]
    problem: str
    from_account: int = 0


def without_second(body: bytes) -> bytes:
    """A status with which the account gives batch 2 up, once the others are there."""
    status = json.loads(body)
    batches = [each for each in status["batches"] if each["number"] != 2]
    state = "ended" if len(batches) == 2 else "collecting"
    return json.dumps({"state": state, "error": "", "batches": batches, "left": [2]}).encode()


FOR_GOOD = {
    "the layout is too large for the Worker": Given((Rule("layout", refuses(413, 3006), times=0),), NOT_HANDED_OVER),
    "the hand-over fails five times": Given((Rule("hand over", refuses(502, 0), times=5),), NOT_HANDED_OVER),
    "the Worker has no collecting room": Given(
        (Rule("layout", NO_ROOM, times=0), Rule("forget", NO_ROOM, times=0)), NO_ROOM_SENTENCE
    ),
    "the Worker is put up again without its room": Given((Rule("status", NO_ROOM, number=2),), NO_ROOM_SENTENCE),
    "the account gives one batch up": Given((Rule("status", changed(without_second), times=0),), "", 2),
}


@pytest.mark.parametrize("name", FOR_GOOD)
async def test_what_does_not_pass_is_said_and_the_answers_are_asked_for(scene: Scene, name: str) -> None:
    given = FOR_GOOD[name]
    job = await scene.end(await scene.send(*given.rules))
    await scene.check_done(job, problem=given.problem, from_account=given.from_account)


async def test_a_workflow_that_fails_for_good_is_said(scene: Scene) -> None:
    """Its writes to the bucket fail, again and again; the Worker's own words are in the log."""
    job = scene.draft()
    runtime, instance = scene.account.runtime, f"{job.id}-1"
    runtime.order("skipWaits", instance=instance)
    rounds = [f"round {number}" for number in range(1, 11)]
    runtime.order("failSteps", instance=instance, steps=rounds, message="put: We encountered an internal error.")
    job = await scene.end(await scene.send(job=job))
    await scene.check_done(job, problem=STOPPED, from_account=0)


async def test_another_computer_removes_the_job(scene: Scene) -> None:
    job = await scene.send()
    with scene.account.clock.held():
        await scene.remove(job.id)
        await scene.computer.until(lambda job: bool(job.account_problem), job.id)
    await scene.check_done(await scene.end(job), problem=REMOVED, from_account=0)


async def test_batches_are_handed_over_again_when_the_user_says_so(scene: Scene) -> None:
    job = await scene.send(Rule("hand over", refuses(400, 5006)))
    assert job.account_problem == NOT_HANDED_OVER
    with scene.account.clock.held():
        await scene.computer.program.actions.collect_in_account(job.id)
        await scene.computer.until(lambda job: account_progress(job).lid_may_close, job.id)
    await scene.check_done(await scene.end(job), from_account=3)


async def test_copies_that_cannot_be_deleted_are_deleted_at_the_next_start(scene: Scene) -> None:
    job = await scene.end(await scene.send(Rule("forget", lost_before)))
    await scene.check_done(job, from_account=3, is_cleared=False)
    await scene.computer.stop()
    await scene.computer.start()
    await scene.check_done(await scene.end(job), from_account=3)


async def test_what_was_handed_over_without_a_word_is_deleted_too(scene: Scene) -> None:
    """The answers were asked for before the hand-over was confirmed."""
    job = scene.draft()
    scene.stand_in.follow(Rule("hand over", lost_after, times=0))
    await scene.computer.program.actions.send(job.id)
    job = await scene.end(job)
    assert [batch.handed_over_at for batch in job.batches] == [0.0, 0.0, 0.0]
    await scene.check_done(job, problem=job.account_problem, from_account=0)


async def test_a_worker_that_never_had_the_room_is_not_asked_again(scene: Scene) -> None:
    no_room = refuses(404, 7003)
    job = await scene.end(await scene.send(Rule("layout", no_room), Rule("forget", no_room, times=0)))
    assert job.account_cleared_at > 0
    await scene.computer.program.clear_copies()
    assert scene.stand_in.count("forget") == 1


WEEKS = 8 * DAYS  # after which the service has forgotten a batch
SECRET_REFUSED = "My Worker refused the secret. Sending has stopped; nothing was lost."
FORGOTTEN = (
    "My Worker does not know this batch, or no longer. Its results cannot be collected; the batch can be sent again, "
    "which is paid for again."
)


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
