"""What goes wrong between the program and the account ends in a state with a name, and loses and repeats nothing."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from cfbatch_gui.core.jobs.account import NOT_HANDED_OVER, REMOVED, STOPPED
from cfbatch_gui.core.jobs.run.runner import NOT_SEEN
from cfbatch_gui.core.jobs.states import BatchState, JobState, account_progress
from cfbatch_gui.core.workers_ai.collector import NO_ROOM_SENTENCE
from tests.core.account.conftest import DAYS, Scene, changed, is_decided, refuses
from tests.support import faults
from tests.support.faults import Fault
from tests.support.sentences import code_of

# What goes wrong while a job is handed over, or while its answers are fetched.
ONCE = {
    "the layout does not arrive": faults.reset_after_body(on="layout"),
    "the hand-over arrives and its answer is lost": faults.reset_after_body(on="hand over", billed=True),
    "a page in place of the hand-over's answer": faults.page(on="hand over"),
    "the hand-over exceeds its computing time": faults.page(on="hand over", status=503, times=2),
    "this computer is offline for longer than five tries": faults.reset_after_body(on="hand over", times=6),
    "the shard is just being removed": refuses(409, 10409, on="hand over"),
    "the status is lost": faults.reset_after_body(on="status", times=2, billed=True),
    "the status names a batch twice": faults.any_reply(
        on="status", body='{"state":"collecting","batches":[{"number":1,"refused":true},{"number":1,"refused":true}]}'
    ),
    "an answer is lost on its way back": faults.reset_after_body(on="answer", times=2, billed=True),
    "an answer is lost so often that the next try would be hours away": faults.reset_after_body(on="answer", times=15),
    "an answer is cut": faults.reset_in_reply(on="answer", byte=1000, times=2, billed=True),
    "an answer is longer than announced": changed(lambda body: body + b"}", on="answer", times=2),
}


@pytest.mark.parametrize("name", ONCE)
async def test_what_passes_is_tried_again_and_the_account_collects(scene: Scene, name: str) -> None:
    fault = ONCE[name]
    job = await (scene.stored(fault) if fault.on == "answer" else scene.send(fault))
    await scene.check_done(await scene.end(job), from_account=3)


@dataclass(frozen=True)
class Given:
    """What does not pass: the program says so, and asks for the answers itself but for those that it has already."""

    wrong: tuple[Fault, ...]
    problem: str
    from_account: int = 0


def without_second(body: bytes) -> bytes:
    """A status with which the account gives batch 2 up, once the others are there."""
    status = json.loads(body)
    batches = [each for each in status["batches"] if each["number"] != 2]
    state = "ended" if len(batches) == 2 else "collecting"
    return json.dumps({"state": state, "error": "", "batches": batches, "left": [2]}).encode()


NO_ROOM = refuses(404, 7003, times=0)

FOR_GOOD = {
    "the layout is too large for the Worker": Given((refuses(413, 3006, on="layout", times=0),), NOT_HANDED_OVER),
    "the hand-over fails five times": Given((refuses(502, 0, on="hand over", times=5),), NOT_HANDED_OVER),
    "the Worker has no collecting room": Given(
        (replace(NO_ROOM, on="layout"), replace(NO_ROOM, on="forget")), NO_ROOM_SENTENCE
    ),
    "the Worker is put up again without its room": Given(
        (replace(NO_ROOM, on="status", number=2, times=1),), NO_ROOM_SENTENCE
    ),
    "the account gives one batch up": Given((changed(without_second, on="status", times=0),), "", 2),
}


@pytest.mark.parametrize("name", FOR_GOOD)
async def test_what_does_not_pass_is_said_and_the_answers_are_asked_for(scene: Scene, name: str) -> None:
    given = FOR_GOOD[name]
    job = await scene.end(await scene.send(*given.wrong))
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
    with scene.account.clock.stopped():
        await scene.remove(job.id)
        await scene.computer.until(lambda job: bool(job.account_problem), job.id)
    await scene.check_done(await scene.end(job), problem=REMOVED, from_account=0)


async def test_batches_are_handed_over_again_when_the_user_says_so(scene: Scene) -> None:
    job = await scene.send(refuses(400, 5006, on="hand over"))
    assert job.account_problem == NOT_HANDED_OVER
    with scene.account.clock.stopped():
        await scene.computer.program.actions.collect_in_account(job.id)
        await scene.computer.until(lambda job: account_progress(job).lid_may_close, job.id)
    await scene.check_done(await scene.end(job), from_account=3)


async def test_copies_that_cannot_be_deleted_are_deleted_at_the_next_start(scene: Scene) -> None:
    job = await scene.end(await scene.send(faults.reset_after_body(on="forget")))
    await scene.check_done(job, from_account=3, is_cleared=False)
    await scene.computer.stop()
    await scene.computer.start()
    await scene.check_done(await scene.end(job), from_account=3)


async def test_what_was_handed_over_without_a_word_is_deleted_too(scene: Scene) -> None:
    """The answers were asked for before the hand-over was confirmed."""
    job = scene.draft()
    scene.passes.follow(faults.reset_after_body(on="hand over", times=0, billed=True))
    await scene.computer.program.actions.send(job.id)
    job = await scene.end(job)
    assert [batch.handed_over_at for batch in job.batches] == [0.0, 0.0, 0.0]
    await scene.check_done(job, problem=job.account_problem, from_account=0)


async def test_a_worker_that_never_had_the_room_is_not_asked_again(scene: Scene) -> None:
    no_room = replace(NO_ROOM, on="layout", times=1), replace(NO_ROOM, on="forget")
    job = await scene.end(await scene.send(*no_room))
    assert job.account_cleared_at > 0
    await scene.computer.program.clear_copies()
    assert [each.kind for each in scene.passes.arrivals].count("forget") == 1


WEEKS = 8 * DAYS  # after which the service has forgotten a batch
FORGOTTEN = "service_does_not_know_batch_or"


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
    wrong = [refuses(502, 0, on="status", times=3)] if meanwhile == "a fault of the bucket" else []
    job = await scene.stored(*wrong)
    scene.account.clock.offset += WEEKS
    if meanwhile != "nothing":
        await scene.computer.stop()
        await scene.computer.start(clock=lambda: time.time() + WEEKS)
    if meanwhile == "asked directly":
        await scene.computer.program.actions.collect_here(job.id)
    job = await scene.end(job)
    if wrong:
        assert "poll" in [each.kind for each in scene.passes.arrivals], "the service was asked, in vain"
    assert (job.state, job.account_problem, scene.from_account(job)) == (JobState.DONE, "", 3)
    scene.check_accepted_once(job)
    scene.check_vectors(job)
    assert scene.left(job) == []


@pytest.mark.parametrize("is_room_back", [True, False])
async def test_answers_behind_a_worker_that_has_lost_its_room_wait_for_it_until_the_user_decides(
    scene: Scene, is_room_back: bool
) -> None:
    job = await scene.stored(replace(NO_ROOM, on="status"))
    scene.account.clock.offset += WEEKS
    await scene.computer.program.runner.carry_on(job.id)
    waiting = await scene.computer.until(lambda job: all(batch.error for batch in job.batches), job.id)
    assert (waiting.state, waiting.account_problem) == (JobState.WORKING, NO_ROOM_SENTENCE)
    assert {batch.error for batch in waiting.batches} == {NOT_SEEN}
    if not is_room_back:
        await scene.computer.program.actions.collect_here(job.id)
        job = await scene.end(job)
        assert {(batch.state, code_of(batch.error)) for batch in job.batches} == {(BatchState.GONE, FORGOTTEN)}
        return
    scene.passes.follow()
    await scene.computer.program.actions.collect_in_account(job.id)
    job = await scene.end(job)
    assert (job.state, job.account_problem, scene.from_account(job)) == (JobState.DONE, "", 3)
    scene.check_vectors(job)
    assert scene.left(job) == []


async def test_a_copy_that_cannot_be_used_is_kept_when_the_service_has_forgotten_the_batch(scene: Scene) -> None:
    job = await scene.stored()
    scene.put_copy(job.id, 2, b'{"answers_of_a_later_year": []}')
    scene.account.clock.offset += WEEKS
    job = await scene.end(job)
    assert job.state is JobState.PARTLY_DONE
    assert [batch.state for batch in job.batches] == [BatchState.DONE, BatchState.GONE, BatchState.DONE]
    assert code_of(job.batches[1].error) == FORGOTTEN
    assert scene.computer.program.folder(job.id).read_reply(2) == b'{"answers_of_a_later_year": []}'


@pytest.mark.parametrize("fault", [refuses(401, 10000, on="hand over"), refuses(401, 10000, on="answer")])
async def test_a_secret_that_is_refused_pauses_the_job_until_it_is_entered(scene: Scene, fault: Fault) -> None:
    job = await (scene.stored(fault) if fault.on == "answer" else scene.send(fault))
    if fault.on == "answer":
        await scene.computer.program.runner.carry_on(job.id)
    job = await scene.computer.program.runner.wait(job.id)
    assert (job.state, code_of(job.paused_because)) == (JobState.PAUSED, "title_refused_secret_sending_stopped_nothing")
    with scene.account.clock.stopped():
        await scene.computer.program.runner.carry_on(job.id)
        await scene.computer.until(is_decided, job.id)
    await scene.check_done(await scene.end(job), from_account=3)
