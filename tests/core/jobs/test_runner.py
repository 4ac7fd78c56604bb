"""The normal course of a job: planned, sent, polled and stored; and its state after a restart."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, JobState
from cfbatch_gui.core.jobs.store.submissions import submissions
from tests.core.jobs.conftest import Bench
from tests.support import faults

Write = Callable[[str, str], Path]

CLOUDS = (
    "question,answer\n"
    "This is a story about Cloudflare,This is a story about a llama\n"
    "This is a story about Cloudflare,This is a story about an orange cloud\n"
    "This is a story about Cloudflare,This is a story about a hugging emoji\n"
)


def scores(bench: Bench, job_id: str) -> list[tuple[str, float]]:
    with bench.store.folder(job_id).open(read_only=True) as database:
        rows = database.execute("SELECT t.text, i.score FROM items i JOIN texts t USING(text_no) ORDER BY i.score DESC")
        return rows.fetchall()


async def test_ranking_goes_from_a_file_to_scores(bench: Bench, write: Write) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    assert job.state is JobState.DONE
    assert next(text for text, _ in scores(bench, job.id)) == "This is a story about an orange cloud"
    assert job.tokens > 0 and job.finished_at > job.sent_at


async def test_states_are_seen_in_their_order(bench: Bench, write: Write) -> None:
    # A forced answer: on a busy machine the clock of these tests may pass the time in the queue before the first poll.
    running = '{"result":{"status":"running"},"success":true,"errors":[],"messages":[]}'
    bench.faulty.follow(faults.any_reply(on="poll", body=running))
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    states = [seen.batches[0].state for seen in bench.seen if seen.id == job.id]
    assert list(dict.fromkeys(states)) == [
        BatchState.PLANNED,
        BatchState.SENDING,
        BatchState.QUEUED,
        BatchState.RUNNING,
        BatchState.COLLECTING,
        BatchState.DONE,
    ]


async def test_vectors_stand_in_the_order_of_the_file(bench: Bench, write: Write) -> None:
    texts = [f"text number {n} about {'cats' if n % 2 else 'trains'}" for n in range(250)]
    job = await bench.run(bench.draft(write("texts.txt", "\n".join(texts)), Kind.EMBED))
    alone = await bench.run(bench.draft(write("one.txt", texts[137]), Kind.EMBED))
    vectors = np.load(bench.store.folder(job.id).vectors)
    single = np.load(bench.store.folder(alone.id).vectors)
    assert vectors.shape[0] == 250 and vectors.dtype == np.float32
    assert np.array_equal(vectors[137], single[0])


async def test_the_request_id_is_kept_twice_before_it_is_shown(bench: Bench, write: Write) -> None:
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    written = submissions(bench.paths.submissions)
    assert [each.request_id for each in written] == [job.batches[0].request_id]
    assert written[0].sha256 == job.batches[0].sha256 and written[0].job_id == job.id


async def test_a_job_is_picked_up_after_a_restart(bench: Bench, write: Write) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    await bench.actions.send(job.id)
    while not any(seen.batches and seen.batches[0].state is BatchState.QUEUED for seen in bench.seen):
        await bench.clock.sleep(0)
    await bench.restart()
    assert [each.id for each in await bench.runner.resume_all()] == [job.id]
    done = await bench.runner.wait(job.id)
    assert done.state is JobState.DONE
    assert len(bench.faulty.submits) == 1
    assert scores(bench, job.id)[0][0] == "This is a story about an orange cloud"


async def test_a_paused_job_asks_nothing_until_it_is_carried_on(bench: Bench, write: Write) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    await bench.actions.send(job.id)
    while not bench.faulty.submits:
        await bench.clock.sleep(0)
    paused = await bench.runner.pause(job.id)
    while bench.store.job(job.id).batches[0].state is BatchState.SENDING:
        await bench.clock.sleep(0)
    assert paused.state is JobState.PAUSED
    asked = len(bench.faulty.arrivals)
    await bench.clock.sleep(60)
    assert len(bench.faulty.arrivals) == asked
    await bench.runner.carry_on(job.id)
    assert (await bench.runner.wait(job.id)).state is JobState.DONE


async def test_a_refused_request_leaves_the_others_usable(bench: Bench, write: Write) -> None:
    long = "word " * 60_000
    rows = f"question,answer\nshort,fine\nlong,{long}\n"
    job = bench.draft(write("long.csv", rows), Kind.RANK)
    job = bench.drafts.change(job.id, options=job.options)
    done = await bench.run(job)
    assert done.state is JobState.DONE  # the service truncates the text, by default
    assert all(score is not None for _, score in scores(bench, job.id))
