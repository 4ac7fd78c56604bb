"""A sentence is sent once, through the job's own connection, and gives a vector comparable with the job's."""

import asyncio
from hashlib import sha256

import numpy as np
import pytest

from cfbatch_gui.core.errors import OutcomeUnknown, ReplyError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import forget_texts
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.nearest import (
    LONGEST,
    TextIndex,
    ask,
    asked,
    embed_sentence,
    forget_asked,
    keep_asked,
    nearest_to,
)
from tests.core.jobs.conftest import Bench
from tests.support import faults
from tests.support.sentences import refuses

TEXTS = "desk lamp of brass\ngarden hose\nsteel saucepan\ncotton towel\n"
SMALL = "@cf/baai/bge-small-en-v1.5"


async def embedded(bench: Bench, *, pooling: str = "") -> tuple[Job, Embeddings]:
    draft = bench.draft(bench.write("texts.txt", TEXTS), Kind.EMBED, model=SMALL)
    job = await bench.run(bench.drafts.change(draft.id, options=JobOptions(pooling=pooling)))
    return job, Embeddings(bench.store.folder(job.id))


@pytest.mark.parametrize("pooling", ["", "mean", "cls"])
async def test_a_text_of_the_job_comes_back_as_its_own_vector(bench: Bench, pooling: str) -> None:
    job, embeddings = await embedded(bench, pooling=pooling)
    found = await embed_sentence(bench.client, job, embeddings, "  garden hose\n")
    stored = embeddings.vector(2)
    assert stored is not None
    assert np.array_equal(found, stored)
    first = nearest_to(embeddings, found, 2)[0]
    assert first.text.text == "garden hose"
    assert first.similarity == pytest.approx(1)


async def test_it_is_one_request_and_changes_nothing_in_the_job(bench: Bench) -> None:
    job, embeddings = await embedded(bench)
    before = {path: path.stat().st_mtime_ns for path in bench.store.folder(job.id).path.rglob("*")}
    calls = len(bench.faulty.arrivals)
    await embed_sentence(bench.client, job, embeddings, "a lamp")
    (arrival,) = bench.faulty.arrivals[calls:]
    assert arrival.sha256 == sha256(b'{"text":["a lamp"],"truncate_inputs":true}').hexdigest()
    assert {path: path.stat().st_mtime_ns for path in bench.store.folder(job.id).path.rglob("*")} == before


async def test_when_no_answer_came_it_says_that_it_may_be_billed(bench: Bench) -> None:
    job, embeddings = await embedded(bench)
    bench.faulty.follow(faults.reset_after_body())
    calls = len(bench.faulty.arrivals)
    with refuses(OutcomeUnknown, "sentence_was_sent_title_but_no"):
        await embed_sentence(bench.client, job, embeddings, "a lamp")
    assert len(bench.faulty.arrivals) == calls + 1


async def test_a_vector_of_another_pooling_is_refused(bench: Bench) -> None:
    job, embeddings = await embedded(bench, pooling="mean")
    with bench.store.folder(job.id).open() as database:
        database.execute("UPDATE facts SET value = '\"cls\"' WHERE name = 'pooling'")
    with refuses(ReplyError, "sentence_vector_is_pooled_another_way"):
        await embed_sentence(bench.client, job, embeddings, "a lamp")


async def test_nothing_is_sent_for_what_cannot_be_looked_for(bench: Bench) -> None:
    job, embeddings = await embedded(bench)
    calls = len(bench.faulty.arrivals)
    for sentence in ("", "  \n ", "x" * (LONGEST + 1)):
        with pytest.raises(UsageError):
            await embed_sentence(bench.client, job, embeddings, sentence)
    assert len(bench.faulty.arrivals) == calls


async def test_what_was_asked_is_kept_and_never_sent_again(bench: Bench) -> None:
    job, embeddings = await embedded(bench)
    folder, calls = bench.store.folder(job.id), len(bench.faulty.arrivals)
    found = await ask(bench.client, job, embeddings, ["a lamp", " a towel ", "a lamp"], now=5.0)
    assert list(found) == ["a lamp", "a towel"]
    assert len(bench.faulty.arrivals) == calls + 1  # both with one request
    again = await ask(bench.client, job, Embeddings(folder), ["a towel", "a lamp"], now=6.0)
    assert len(bench.faulty.arrivals) == calls + 1
    assert all(np.array_equal(again[sentence], found[sentence]) for sentence in found)
    await ask(bench.client, job, embeddings, ["a pan"], now=7.0)
    removed = forget_asked(folder, "a lamp")
    assert list(asked(folder)) == ["a towel", "a pan"]
    keep_asked(folder, [removed])
    assert set(asked(folder)) == {"a lamp", "a towel", "a pan"}
    await ask(bench.client, job, embeddings, ["a pan", "a pot"], now=8.0, is_question=False)  # words of categories
    await ask(bench.client, job, embeddings, ["a pot"], now=9.0)
    assert len(bench.faulty.arrivals) == calls + 3
    assert set(asked(folder, is_question=True)) == {"a lamp", "a towel", "a pan", "a pot"}
    forget_asked(folder, "a pan")
    assert set(asked(folder, is_question=False)) == {"a pan", "a pot"}
    forget_texts(folder, 10.0)
    assert asked(folder) == {}


async def test_an_answer_that_nobody_waits_for_any_more_is_kept(bench: Bench) -> None:
    job, embeddings = await embedded(bench)
    bench.faulty.follow(faults.drip(billed=True, seconds=0.0002))
    calls = len(bench.faulty.arrivals)
    asking = asyncio.create_task(ask(bench.client, job, embeddings, ["a lamp"], now=5.0))
    while len(bench.faulty.arrivals) == calls:
        await asyncio.sleep(0.01)
    asking.cancel()
    while not asked(bench.store.folder(job.id)):
        await asyncio.sleep(0.01)
    assert asking.cancelled() and len(bench.faulty.arrivals) == calls + 1


async def test_the_best_of_many_questions_are_those_of_plain_products(bench: Bench) -> None:
    _, embeddings = await embedded(bench)
    vectors = embeddings.rows_of(np.arange(1, 5)).astype(np.float64)
    questions = list(np.random.default_rng(3).standard_normal((40, vectors.shape[1])).astype(np.float32))
    index = TextIndex(embeddings)
    cosines = questions @ vectors.T / np.linalg.norm(questions, axis=1)[:, None] / np.linalg.norm(vectors, axis=1)
    found = index.best(questions, 3)
    assert [[item for item, _ in each] for each in found] == (np.argsort(-cosines, axis=1)[:, :3] + 1).tolist()
    assert [each[0][1] for each in found] == pytest.approx(cosines.max(axis=1))
    among = np.array([False, True, False, True])
    assert {item for each in index.best(questions, 3, among) for item, _ in each} == {2, 4}
    assert index.best([np.zeros_like(questions[0])], 3) == [[]]
    assert cosines.min() < index.unrelated() < 1
