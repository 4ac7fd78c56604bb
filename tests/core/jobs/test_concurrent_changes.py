"""Two concurrent changes of a job both take effect, and nothing is sent twice."""

import asyncio
import json
import threading
from dataclasses import replace

import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobState
from tests.core.jobs.conftest import CLOUDS, Bench
from tests.support import faults
from tests.support.inputs import as_suggested


async def test_what_happens_to_a_job_while_it_is_planned_stays(bench: Bench) -> None:
    job = bench.clouds()
    sending = asyncio.create_task(bench.actions.send(job.id))
    await asyncio.sleep(0)  # planning has begun, with the old state of the job
    bench.drafts.rename(job.id, "My clouds")
    bench.drafts.archive(job.id)
    await sending
    sent = await bench.runner.wait(job.id)
    assert (sent.name, sent.archived, sent.state) == ("My clouds", True, JobState.DONE)


async def test_a_draft_that_changes_while_it_is_planned_is_not_sent(bench: Bench) -> None:
    job = bench.clouds()
    sending = asyncio.create_task(bench.actions.send(job.id))
    await asyncio.sleep(0)
    bench.drafts.change(job.id, options=replace(job.options, truncate_inputs=False))
    with pytest.raises(UsageError, match="was changed while"):
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
    rows = "".join(f"query {n},context {n} {c}\n" for n in range(4) for c in range(2))
    bench.faulty.follow(faults.fail_requests(on="poll", times=0, requests=(1, 3)))
    job = await bench.run(bench.draft(bench.write("four.csv", "question,answer\n" + rows), Kind.RANK))
    bench.faulty.follow()
    other = Batch(job.id, 2, BatchState.PLANNED, 1, 1, 1)
    bench.ledger.put(job, (*job.batches, other))
    repack = packing.repack_failed

    def while_the_other_leaves(*arguments: object) -> object:
        bench.ledger.save_batch(replace(other, state=BatchState.OUTCOME_UNKNOWN, error="Nobody knows."))
        return repack(*arguments)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(packing, "repack_failed", while_the_other_leaves)
    done = await bench.ended(bench.actions.send_failed_again(job.id))
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

    with pytest.raises(UsageError, match="was sent already"):
        await asyncio.to_thread(bench.drafts.load, job.id, *as_suggested(path, Kind.RANK), progress=meanwhile)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert bench.scores(job.id)[0][0] == "This is a story about an orange cloud"
