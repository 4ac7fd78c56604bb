"""The normal course of a job: planned, sent, polled and stored; and its state after a restart."""

import json
from dataclasses import replace

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.packing import body_of, repack_failed
from cfbatch_gui.core.jobs.states import STOPPED_BY_USER, STOPPED_HERE, BatchState, JobState
from cfbatch_gui.core.workers_ai.catalogue import find_model
from tests.core.jobs.conftest import Bench
from tests.support import faults


async def test_states_are_seen_in_their_order(bench: Bench) -> None:
    # A forced answer: on a busy machine the clock of these tests may pass the time in the queue before the first poll.
    running = '{"result":{"status":"running"},"success":true,"errors":[],"messages":[]}'
    bench.faulty.follow(faults.any_reply(on="poll", body=running))
    job = await bench.run(bench.clouds())
    states = [seen.batches[0].state for seen in bench.seen if seen.id == job.id]
    assert list(dict.fromkeys(states)) == [
        BatchState.PLANNED,
        BatchState.SENDING,
        BatchState.QUEUED,
        BatchState.RUNNING,
        BatchState.COLLECTING,
        BatchState.DONE,
    ]


async def test_a_paused_job_asks_nothing_until_it_is_carried_on(bench: Bench) -> None:
    job = bench.clouds()
    await bench.actions.send(job.id)
    await bench.until(lambda: bench.faulty.submits)
    paused = await bench.runner.pause(job.id)
    await bench.until(lambda: bench.store.job(job.id).batches[0].state is not BatchState.SENDING)
    assert paused.state is JobState.PAUSED and paused.paused_because == STOPPED_BY_USER
    asked = len(bench.faulty.arrivals)
    await bench.clock.sleep(60)
    assert len(bench.faulty.arrivals) == asked
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE


async def test_a_job_that_never_left_and_is_stopped_is_not_said_to_be_at_the_service(bench: Bench) -> None:
    job = bench.clouds()
    await bench.actions.send(job.id)
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
    assert type(trouble) is DataError and "own folder" in stopped.paused_because
    assert stopped.batches[0].state in (BatchState.PLANNED, BatchState.QUEUED, BatchState.RUNNING)
    place.unlink()
    place.mkdir()
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert bench.scores(job.id)[0][0] == "This is a story about an orange cloud"
    assert len(bench.faulty.submits) == 1


async def test_only_the_refused_requests_are_sent_again(bench: Bench) -> None:
    rows = "".join(f"query {n},context {n} {c}\n" for n in range(4) for c in range(2))
    bench.faulty.follow(faults.fail_requests(on="poll", times=0, requests=(1, 3)))
    job = await bench.run(bench.draft(bench.write("four.csv", "question,answer\n" + rows), Kind.RANK))
    assert job.state is JobState.PARTLY_DONE and job.batches[0].failed_requests == 2
    bench.faulty.follow()
    done = await bench.ended(bench.actions.send_failed_again(job.id))
    assert done.state is JobState.DONE and len(done.batches) == 2
    again = json.loads(bench.accepted_bodies()[1])["requests"]
    assert [request["query"] for request in again] == ["query 1", "query 3"]
    assert all(score is not None for _, score in bench.scores(job.id))


async def test_refused_requests_of_many_batches_keep_to_the_limits_of_one(bench: Bench) -> None:
    rows = "".join(f"query {n},context {n} {c}\n" for n in range(8) for c in range(2))
    bench.faulty.follow(faults.fail_requests(on="poll", times=0, requests=tuple(range(1, 8))))
    job = await bench.run(bench.draft(bench.write("eight.csv", "question,answer\n" + rows), Kind.RANK))
    folder = JobFolder(bench.paths.job(job.id))
    small = replace(find_model(job.model), body_bytes=400)
    packed = repack_failed(folder, job, small)
    assert len(packed) > 2 and [each.number for each in packed] == list(range(2, 2 + len(packed)))
    assert (sum(each.requests for each in packed), sum(each.texts for each in packed)) == (7, 14)
    bodies = [body_of(folder, job, each) for each in packed]
    assert [len(body) for body in bodies] == [each.bytes for each in packed] and max(map(len, bodies)) <= 400
    assert [request["query"] for body in bodies for request in json.loads(body)["requests"]] == [
        f"query {n}" for n in range(1, 8)
    ]
    (again,) = repack_failed(folder, job)  # the ledger has no record of these batches, so the requests are packed again
    assert (again.number, again.requests) == (2, 7)


async def test_a_refused_batch_is_sent_again_as_it_was(bench: Bench) -> None:
    bench.faulty.follow(faults.refusal(code=5006, message="AiError: bad input"))
    job = await bench.run(bench.clouds())
    assert job.state is JobState.FAILED
    assert (await bench.ended(bench.actions.send_failed_again(job.id))).state is JobState.DONE
    refused, accepted = bench.faulty.submits
    assert refused.sha256 == accepted.sha256
