"""The course of a job: planned, sent, polled at its intervals and stored; and what is changed meanwhile."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.errors import DataError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import packing, requests
from cfbatch_gui.core.jobs.plan.packing import body_of, repack
from cfbatch_gui.core.jobs.poll_schedule import LONGEST, LONGEST_FAULT, interval
from cfbatch_gui.core.jobs.states import STOPPED_BY_USER, STOPPED_HERE, Batch, BatchState, Job, JobState
from cfbatch_gui.core.workers_ai.catalogue import find_model
from tests.core.jobs.conftest import CLOUDS, Bench, Clock, opened_bench
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import Arrival
from tests.support.inputs import as_suggested
from tests.support.sentences import code_of, refuses


async def test_states_are_seen_in_their_order(bench: Bench) -> None:
    # A forced answer: on a busy machine the clock of these tests may pass the time in the queue before the first poll.
    running = '{"result":{"status":"running"},"success":true,"errors":[],"messages":[]}'
    bench.faulty.follow(faults.any_reply(on="poll", body=running))
    job = await bench.run(bench.clouds())
    states = [seen.batches[0].state for seen in bench.seen if seen.id == job.id]
    assert list(dict.fromkeys(states)) == ["planned", "sending", "queued", "running", "collecting", "done"]


async def test_a_paused_job_asks_nothing_until_it_is_carried_on(bench: Bench) -> None:
    job = await bench.sent()
    await bench.until(lambda: bench.faulty.submits)
    paused = await bench.runner.pause(job.id)
    await bench.until(lambda: bench.store.job(job.id).batches[0].state is not BatchState.SENDING)
    assert paused.state is JobState.PAUSED and paused.paused_because == STOPPED_BY_USER
    asked = len(bench.faulty.arrivals)
    await bench.clock.sleep(60)
    assert len(bench.faulty.arrivals) == asked
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE


async def test_a_job_that_never_left_and_is_stopped_is_not_said_to_be_at_the_service(bench: Bench) -> None:
    job = await bench.sent()
    paused = await bench.runner.pause(job.id)
    assert paused.paused_because == STOPPED_HERE and bench.faulty.submits == []
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE


async def test_a_folder_that_cannot_be_written_stops_the_job_and_loses_nothing(bench: Bench) -> None:
    job = bench.clouds()
    place = bench.store.folder(job.id).path / "replies"
    place.rmdir()
    place.write_bytes(b"in the way")
    stopped = await bench.run(job)
    assert stopped.state is JobState.PAUSED
    trouble = bench.runner.pause_error(job.id)
    assert type(trouble) is DataError and code_of(stopped.paused_because) == "name_could_not_be_written_program"
    assert stopped.batches[0].state in (BatchState.PLANNED, BatchState.QUEUED, BatchState.RUNNING)
    place.unlink()
    place.mkdir()
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert bench.scores(job.id)[0][0] == "This is a story about an orange cloud"
    assert len(bench.faulty.submits) == 1


async def test_refused_requests_of_many_batches_keep_to_the_limits_of_one(bench: Bench) -> None:
    rows = "".join(f"query {n},context {n} {c}\n" for n in range(8) for c in range(2))
    bench.faulty.follow(faults.fail_requests(on="poll", times=0, requests=tuple(range(1, 8))))
    job = await bench.run(bench.draft(bench.write("eight.csv", "question,answer\n" + rows), Kind.RANK))
    folder = JobFolder(bench.paths.job(job.id))
    small = replace(find_model(job.model), body_bytes=400)
    packed = repack(folder, job, metadata=small)
    assert len(packed) > 2 and [each.number for each in packed] == list(range(2, 2 + len(packed)))
    assert (sum(each.requests for each in packed), sum(each.texts for each in packed)) == (7, 14)
    bodies = [body_of(folder, job, each) for each in packed]
    assert [len(body) for body in bodies] == [each.bytes for each in packed] and max(map(len, bodies)) <= 400
    queries = [request["query"] for body in bodies for request in json.loads(body)["requests"]]
    assert queries == [f"query {n}" for n in range(1, 8)]
    (again,) = repack(folder, job)  # the ledger has no record of these batches, so the requests are packed again
    assert (again.number, again.requests) == (2, 7)


async def test_what_happens_to_a_job_while_it_is_planned_stays(bench: Bench) -> None:
    job = bench.clouds()
    sending = asyncio.create_task(bench.actions.send(job.id))
    await asyncio.sleep(0)  # planning has begun, with the old state of the job
    bench.drafts.rename(job.id, "My clouds")
    bench.drafts.rename(job.id, "By its file", instead_of=job.name)  # which it is not called any more
    bench.drafts.archive(job.id)
    await sending
    sent = await bench.runner.wait(job.id)
    assert (sent.name, sent.archived, sent.state) == ("My clouds", True, JobState.DONE)


async def test_a_draft_that_changes_while_it_is_planned_is_not_sent(bench: Bench) -> None:
    job = bench.clouds()
    sending = asyncio.create_task(bench.actions.send(job.id))
    await asyncio.sleep(0)
    bench.drafts.change(job.id, options=replace(job.options, truncate_inputs=False))
    with refuses(UsageError, "job_was_changed_while_was_being"):
        await sending
    assert not bench.ledger.job(job.id).is_sent and bench.accepted_bodies() == []


async def test_sending_twice_at_the_same_moment_sends_once(bench: Bench) -> None:
    job = bench.clouds()
    answers = await asyncio.gather(bench.actions.send(job.id), bench.actions.send(job.id), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Job, UsageError]
    await bench.runner.wait(job.id)
    assert len(bench.accepted_bodies()) == 1


async def test_stopping_and_carrying_on_while_a_batch_leaves_sends_it_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bench.clouds()
    begun, go_on = threading.Event(), threading.Event()
    body_of = packing.body_of

    def slowly(*arguments: object) -> bytes:
        begun.set()
        go_on.wait(30.0)
        return body_of(*arguments)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(packing, "body_of", slowly)
    await bench.actions.send(job.id)
    assert await asyncio.to_thread(begun.wait, 30.0)  # its body is being packed; nothing has been sent
    await bench.runner.pause(job.id)
    await bench.runner.carry_on(job.id)
    go_on.set()
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.accepted_bodies()) == 1


async def test_sending_the_failed_ones_again_leaves_what_is_under_way(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that is sent while the refused requests are packed must not return to the state PLANNED."""
    job = await bench.partly_done()
    other = Batch(job.id, 2, BatchState.PLANNED, 1, 1, 1)
    bench.ledger.put(job, (*job.batches, other))
    repack = packing.repack

    def while_the_other_leaves(*arguments: object) -> object:
        bench.ledger.save_batch(replace(other, state=BatchState.OUTCOME_UNKNOWN, error="Nobody knows."))
        return repack(*arguments)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(packing, "repack", while_the_other_leaves)
    done = await bench.ended(bench.actions.send_again(job.id))
    assert [batch.state for batch in done.batches] == [BatchState.DONE, BatchState.OUTCOME_UNKNOWN, BatchState.DONE]
    assert done.batches[1].error == "Nobody knows."
    assert [len(json.loads(body)["requests"]) for body in bench.accepted_bodies()] == [4, 2]


async def test_a_batch_is_sent_again_while_another_is_at_the_service(bench: Bench) -> None:
    texts = "text\n" + "".join(f"text {n}\n" for n in range(2_001))
    bench.faulty.follow(faults.refusal(code=5006, message="AiError: bad input", times=1))
    job = await bench.run(bench.draft(bench.write("texts.csv", texts), Kind.EMBED))
    assert [batch.state for batch in job.batches] == [BatchState.FAILED, BatchState.FAILED]
    bench.faulty.follow()
    await bench.actions.send_again(job.id, 1)
    await bench.until(lambda: bench.ledger.batch(job.id, 1).state is BatchState.QUEUED)
    assert (await bench.ended(bench.actions.send_again(job.id, 2))).state is JobState.DONE
    refused, *others = bench.faulty.submits
    assert refused.sha256 in [each.sha256 for each in others], "it is sent as it was"


async def test_a_file_that_is_read_while_the_job_is_sent_does_not_take_its_place(bench: Bench) -> None:
    path = bench.write("clouds.csv", CLOUDS)
    job = bench.draft(path, Kind.RANK)
    loop = asyncio.get_running_loop()

    async def sent() -> None:
        await bench.actions.send(job.id)
        await bench.until(lambda: bench.store.job(job.id).batches[0].state.is_at_service)

    def meanwhile(_: int) -> None:
        if not bench.ledger.job(job.id).is_sent:
            asyncio.run_coroutine_threadsafe(sent(), loop).result(20)

    with refuses(UsageError, "job_was_sent_already_duplicate_send"):
        await asyncio.to_thread(bench.drafts.load, job.id, *as_suggested(path, Kind.RANK), progress=meanwhile)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert bench.scores(job.id)[0][0] == "This is a story about an orange cloud"


@given(st.floats(0, 1e7), st.floats(0.1, 60))
def test_the_interval_grows_between_its_bounds(age: float, first: float) -> None:
    assert first <= interval(age, first) <= LONGEST
    assert interval(age, first) <= interval(age + 100, first)


OUTAGES: dict[str, Fault | None] = {
    "offline": None,
    "a fault of the service": faults.refusal(on="poll", times=0, status=503),
    "a page of something on the way": faults.page(on="poll", times=0, status=502),
}


@pytest.mark.parametrize("outage", OUTAGES.values(), ids=OUTAGES)
async def test_an_outage_is_waited_out_by_one_for_all_and_over_within_a_minute(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, outage: Fault | None
) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 2)
    bench.start_runner(patience=None)
    job = bench.draft(bench.write("texts.txt", "".join(f"text {n}\n" for n in range(24))), Kind.EMBED)
    await bench.actions.send(job.id)
    await bench.until(lambda: all(batch.request_id for batch in bench.store.job(job.id).batches))
    began, asked = bench.clock.now, len(bench.faulty.arrivals)
    bench.faulty.shut() if outage is None else bench.faulty.follow(outage)
    await bench.until(lambda: bench.clock.now >= began + 3_600)
    during, back = len(bench.faulty.arrivals), bench.clock.now
    bench.faulty.open() if outage is None else bench.faulty.follow()
    done = await bench.runner.wait(job.id)
    assert (done.state, len(done.batches), done.error) == (JobState.DONE, 12, "")
    assert during - asked < 300, "a dozen batches do not ask a dozen times"
    assert max(arrival.at for arrival in bench.faulty.arrivals[during:]) <= back + 2 * LONGEST_FAULT
    assert bench.faulty.arrivals[during].at <= back + LONGEST_FAULT


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_a_batch_is_collected_though_the_clock_was_set_back(bench: Bench, is_restarted: bool) -> None:
    bench.faulty.follow(faults.refusal(on="poll", status=429, code=3040, retry_after="900"))
    job = await bench.sent()
    await bench.until(lambda: bench.ledger.batch(job.id, 1).next_check_at)
    bench.clock.set_by = -86_400.0
    slept = sum(bench.clock.slept)
    if is_restarted:
        await bench.restart()
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert sum(bench.clock.slept) - slept < 3_600
    assert len(bench.faulty.arrivals) < 60


async def test_carrying_on_sends_at_once_although_the_service_asked_for_time(bench: Bench) -> None:
    bench.faulty.follow(faults.refusal(on="submit", status=429, code=3040, retry_after="900"))
    job = await bench.sent()
    await bench.until(lambda: bench.store.job(job.id).batches[0].next_check_at)
    await bench.runner.pause(job.id)
    paused = bench.clock.now
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert bench.faulty.arrivals[1].at < paused + 60


class HaltingClock(Clock):
    """A clock that can be halted: sleeping then never ends."""

    is_halted = False

    async def sleep(self, seconds: float) -> None:
        if self.is_halted and seconds > 0:
            await asyncio.Event().wait()
        await super().sleep(seconds)


@pytest.fixture
async def halting(tmp_path: Path) -> AsyncIterator[Bench]:
    async with opened_bench(tmp_path, HaltingClock(), faults.stall(on="poll", seconds=0.1, billed=True)) as made:
        yield made


def polls(bench: Bench) -> list[Arrival]:
    return [arrival for arrival in bench.faulty.arrivals if arrival.kind == "poll"]


@pytest.mark.parametrize("is_under_way", [True, False])
async def test_check_now_asks_at_once_and_only_once_also_while_a_question_is_under_way(
    halting: Bench, is_under_way: bool
) -> None:
    bench = halting
    job = await bench.sent()
    await bench.until(lambda: len(polls(bench)) == 1)
    assert isinstance(bench.clock, HaltingClock)
    bench.clock.is_halted = True
    if not is_under_way:
        await bench.until(lambda: bench.ledger.job(job.id).batches[0].checks == 1)
    bench.runner.check_now(job.id)
    await bench.until(lambda: bench.ledger.job(job.id).batches[0].checks == 2)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(polls(bench)) == 2
