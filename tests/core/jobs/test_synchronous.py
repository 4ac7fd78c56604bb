"""Synchronous requests: the same results as through the queue, none lost or paid twice, and a remedy for code 8007."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import Action, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job, JobOptions, JobState
from tests.core.jobs.conftest import Bench
from tests.support import faults
from tests.support.faults import Fault
from tests.support.practice import accepted
from tests.support.sentences import code_of, refuses

PAIRS = "query,context\n" + "".join(f"query {q},context {q} {c}\n" for q in range(6) for c in range(3))
TEXTS = "".join(f"text number {n}\n" for n in range(250))  # three requests
SYNCHRONOUS = JobOptions(at_once=True)


def drafted(bench: Bench, path: Path, kind: Kind, options: JobOptions = SYNCHRONOUS, *, model: str = "") -> Job:
    job = bench.draft(path, kind, model=model or "@cf/baai/bge-m3")
    return bench.drafts.change(job.id, options=replace(options, reuse=False))


async def test_results_are_the_same_as_through_the_queue(bench: Bench) -> None:
    path = bench.write("pairs.csv", PAIRS)
    queued, job = [await bench.run(drafted(bench, path, Kind.RANK, JobOptions(at_once=each))) for each in (False, True)]
    assert job.state is JobState.DONE and bench.scores(job.id) == bench.scores(queued.id)
    assert len(job.batches) == 6 and all(batch.at_once and not batch.request_id for batch in job.batches)
    assert len(accepted(bench.service_folder)) == 1  # only the other job was queued
    path, model = bench.write("texts.txt", TEXTS), "@cf/baai/bge-small-en-v1.5"
    options = [JobOptions(pooling="cls", at_once=each) for each in (False, True)]
    queued, job = [await bench.run(drafted(bench, path, Kind.EMBED, each, model=model)) for each in options]
    assert job.state is JobState.DONE and len(job.batches) == 3
    ours, theirs = (np.load(bench.store.folder(each.id).vectors) for each in (job, queued))
    assert ours.shape[0] == 250 and np.array_equal(ours, theirs)


@pytest.mark.parametrize(
    "fault",
    [
        faults.reset_after_body(billed=True),
        faults.cut_reply(billed=True),
        faults.page(status=502),
        faults.any_reply(body="{"),
    ],
)
async def test_a_lost_answer_is_an_unknown_outcome_and_the_others_go_on(bench: Bench, fault: Fault) -> None:
    bench.faulty.follow(fault)
    job = await bench.run(drafted(bench, bench.write("pairs.csv", PAIRS), Kind.RANK))
    assert job.state is JobState.OUTCOME_UNKNOWN
    assert sorted(batch.state for batch in job.batches) == ["done"] * 5 + ["outcome_unknown"]
    await bench.restart()
    assert bench.ledger.job(job.id).state is JobState.OUTCOME_UNKNOWN and len(bench.faulty.submits) == 6
    (lost,) = [batch for batch in job.batches if batch.state is BatchState.OUTCOME_UNKNOWN]
    with refuses(UsageError, "request_was_run_once_there_is"):
        await bench.actions.adopt(job.id, lost.number, "some-id")
    done = await bench.ended(bench.actions.send_again(job.id, lost.number))
    assert done.state is JobState.DONE and None not in [score for _, score in bench.scores(job.id)]
    assert len(bench.faulty.submits) == 7


async def test_a_busy_service_is_waited_for_by_all(bench: Bench) -> None:
    bench.faulty.follow(faults.refusal(status=429, code=3040, message="No capacity", retry_after="70", times=3))
    started = bench.clock.now
    job = await bench.run(drafted(bench, bench.write("pairs.csv", PAIRS), Kind.RANK))
    assert job.state is JobState.DONE and bench.clock.now >= started + 70


@pytest.mark.parametrize(
    "fault",
    [
        faults.refusal(status=400, code=3030, message="AiError: Sequence too long: 9000 > 8192"),
        faults.refusal(status=500, code=5001, message="AiError: failed"),
        faults.refusal(status=408, code=3046, message="timed out"),
    ],
)
async def test_a_request_that_is_refused_fails_alone(bench: Bench, fault: Fault) -> None:
    bench.faulty.follow(fault)
    job = await bench.run(drafted(bench, bench.write("pairs.csv", PAIRS), Kind.RANK))
    assert job.state is JobState.PARTLY_DONE and job.batches_done == 5
    (failed,) = [batch for batch in job.batches if batch.state is BatchState.FAILED]
    assert failed.error
    assert (await bench.ended(bench.actions.send_again(job.id))).state is JobState.DONE


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        (faults.refusal(status=400, code=5007, message="No such model", times=0), JobState.FAILED),
        (faults.refusal(status=401, code=10000, message="Authentication error", times=0), JobState.PAUSED),
    ],
)
async def test_what_is_refused_of_all_is_not_asked_again_and_again(bench: Bench, fault: Fault, state: JobState) -> None:
    bench.faulty.follow(fault)
    job = await bench.run(drafted(bench, bench.write("pairs.csv", PAIRS), Kind.RANK))
    assert job.state is state and len(bench.faulty.submits) <= 4
    assert all(batch.error for batch in job.batches) or state is JobState.PAUSED
    bench.faulty.follow()
    await (bench.actions.send_again(job.id) if state is JobState.FAILED else bench.runner.carry_on(job.id))
    assert (await bench.runner.wait(job.id)).state is JobState.DONE


async def test_a_model_without_a_queue_offers_to_run_synchronously(bench: Bench) -> None:
    lines = "".join(f"{'word ' * 40}{n}\n" for n in range(4_500))  # three batches
    bench.faulty.follow(
        faults.refusal(code=8007, message="This model does not support request queuing", on="submit", number=2)
    )
    job = await bench.run(bench.draft(bench.write("texts.txt", lines), Kind.EMBED))
    assert [batch.state for batch in job.batches] == [BatchState.DONE, BatchState.FAILED, BatchState.FAILED]
    assert {batch.error_action for batch in job.batches[1:]} == {Action.RUN_SYNCHRONOUSLY}
    bench.faulty.follow()
    job = await bench.ended(bench.actions.send_again(job.id))
    assert job.state is JobState.DONE
    assert [batch.number for batch in job.batches] == list(range(1, len(job.batches) + 1))
    assert [batch.at_once for batch in job.batches] == [False] + [True] * (len(job.batches) - 1)
    assert np.load(bench.store.folder(job.id).vectors).any(axis=1).all()
    with pytest.raises(UsageError):
        await bench.actions.send_again(job.id)


async def test_an_accepted_batch_outlives_a_model_that_lost_its_queue(bench: Bench) -> None:
    lost = faults.refusal(code=8007, message="This model does not support request queuing", on="poll", times=0)
    bench.faulty.follow(lost)
    job = await bench.run(bench.draft(bench.write("texts.txt", TEXTS), Kind.EMBED))
    assert job.state is JobState.PAUSED and job.batches[0].state is BatchState.QUEUED
    assert code_of(job.paused_because) == "service_says_model_takes_no_batches"
    trouble = bench.runner.pause_error(job.id)
    assert trouble is not None and trouble.action is Action.NONE
    with refuses(UsageError, "nothing_job_failed"):
        await bench.actions.send_again(job.id)
    bench.faulty.follow()
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert len(bench.faulty.submits) == 1


def test_preflight_says_when_it_fits(bench: Bench) -> None:
    for count in (60, 6_200):
        draft = bench.draft(bench.write("texts.txt", "".join(f"text {n}\n" for n in range(count))), Kind.EMBED)
        assert bool(bench.drafts.examine(draft.id).synchronous_sentence) is (count == 60)


async def test_vectors_pooled_in_another_way_are_not_stored(bench: Bench) -> None:
    model = "@cf/baai/bge-small-en-v1.5"
    answer = {"result": {"data": [[0.6, 0.8]], "shape": [1, 2], "pooling": "cls"}, "success": True, "errors": []}
    bench.faulty.follow(faults.any_reply(body=json.dumps(answer)))
    options = JobOptions(pooling="mean", at_once=True)
    job = await bench.run(drafted(bench, bench.write("text.txt", "one text\n"), Kind.EMBED, options, model=model))
    assert job.state is JobState.FAILED and code_of(job.error) == "vectors_batch_are_pooled_another_way"
    assert not bench.store.folder(job.id).vectors.exists()


def test_a_choice_that_a_model_does_not_know_does_not_follow_to_it(bench: Bench) -> None:
    small = drafted(
        bench, bench.write("t.txt", "a\n"), Kind.EMBED, JobOptions(pooling="cls"), model="@cf/baai/bge-small-en-v1.5"
    )
    assert bench.drafts.change(small.id, model="@cf/baai/bge-large-en-v1.5").options.pooling == "cls"
    assert bench.drafts.change(small.id, model="@cf/baai/bge-m3").options.pooling == ""
