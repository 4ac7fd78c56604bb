"""Results behind the ledger, exchanged answers, altered numbers: found, and put right."""

import os
import shutil

import numpy as np
import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import ResultsDamaged
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.verifying import Damage, Outcome, asked_for_again, complete_results, verify_job
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import export
from cfbatch_gui.core.results.rankings import Rankings
from tests.core.jobs.conftest import Bench
from tests.support import faults
from tests.support.sentences import refuses

PAIRS = "question,answer\n" + "".join(f"q{n // 5},answer {n}\n" for n in range(20))
TEXTS = "\n".join(f"text {n % 40}" for n in range(60))


def results(folder: JobFolder) -> list[object]:
    with folder.open(read_only=True) as database:
        held: list[object] = database.execute("SELECT item_no, score FROM items ORDER BY item_no").fetchall()
        held += database.execute("SELECT request_no, state, error FROM requests ORDER BY request_no").fetchall()
        held += database.execute("SELECT * FROM batches ORDER BY batch").fetchall()
    return [*held, folder.vectors.read_bytes() if folder.vectors.exists() else b""]


def drafted(bench: Bench, kind: Kind) -> Job:
    name, text = ("pairs.csv", PAIRS) if kind is Kind.RANK else ("texts.txt", TEXTS)
    return bench.draft(bench.write(name, text), kind, reuse=False)


async def done(bench: Bench, kind: Kind) -> tuple[Job, JobFolder]:
    job = await bench.run(drafted(bench, kind))
    assert job.state is JobState.DONE
    return job, bench.store.folder(job.id)


async def test_a_lost_batch_is_asked_for_again_at_the_service(bench: Bench) -> None:
    job, folder = await done(bench, Kind.EMBED)
    right = results(folder)
    content = bytearray(folder.vectors.read_bytes())
    content[-3] ^= 1
    folder.vectors.write_bytes(content)
    folder.reply(1).unlink()
    check = verify_job(folder, job, mend=True)
    assert [(found.outcome, found.rows) for found in check.findings] == [(Outcome.LOST, tuple(range(1, 61)))]
    waiting = bench.ledger.change(job.id, lambda known: asked_for_again(known, check))
    assert waiting.batches[0].state is BatchState.QUEUED and not Embeddings(folder).present().any()
    submits = len(bench.faulty.submits)
    again = await bench.ended(bench.runner.carry_on(job.id))
    assert again.state is JobState.DONE and len(bench.faulty.submits) == submits
    assert results(folder) == right and verify_job(folder, again).is_whole


@pytest.mark.parametrize("kind", list(Kind))
async def test_answers_in_each_others_place_are_recognised(bench: Bench, kind: Kind) -> None:
    one, folder = await done(bench, kind)
    bench.faulty.follow()
    texts = PAIRS.replace("answer ", "other ") if kind is Kind.RANK else TEXTS.replace("text", "other")
    other = await bench.run(bench.draft(bench.write("other.csv" if kind is Kind.RANK else "other.txt", texts), kind))
    shutil.copyfile(bench.store.folder(other.id).reply(1), folder.reply(1))
    with folder.open() as database:
        database.execute("UPDATE batches SET results = results + 1")
    check = verify_job(folder, one)
    assert [(found.damage, found.outcome) for found in check.findings] == [(Damage.RESULTS, Outcome.LOST)]


async def test_requests_that_failed_and_were_sent_again_are_no_damage(bench: Bench) -> None:
    bench.faulty.follow(faults.fail_requests(on="poll", times=0, requests=(0, 2)))
    job = await bench.run(bench.draft(bench.write("pairs.csv", PAIRS), Kind.RANK))
    folder = bench.store.folder(job.id)
    assert job.batches[0].failed_requests == 2 and verify_job(folder, job).is_whole
    bench.faulty.follow()
    job = await bench.ended(bench.actions.send_again(job.id))
    assert job.state is JobState.DONE and verify_job(folder, job).is_whole
    right = results(folder)
    with folder.open() as database:
        database.execute("UPDATE items SET score = 0.5 WHERE item_no IN (2, 7)")  # one of either batch
    assert verify_job(folder, job, mend=True).is_mended
    assert results(folder) == right


async def test_altered_scores_are_not_shown(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 10)
    _, folder = await done(bench, Kind.RANK)
    rankings = Rankings(folder)
    with folder.open() as database:
        database.execute("UPDATE items SET score = score + 1e-15 WHERE item_no = 12")
    for read in (rankings.queries, lambda: rankings.contexts(1), lambda: list(rankings.blocks())):
        with refuses(ResultsDamaged, "results_rows_are_damaged_on_disk"):
            read()


async def test_vectors_are_refused_wherever_they_are_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
    _, folder = await done(bench, Kind.EMBED)
    content = bytearray(folder.vectors.read_bytes())
    content[128] ^= 1  # the first number of row 1
    folder.vectors.write_bytes(content)
    embeddings = Embeddings(folder)
    for read in (
        embeddings.checks,
        lambda: embeddings.vector(1),
        lambda: embeddings.rows_of(np.array([5, 1])),
        lambda: list(embeddings.vector_blocks(embeddings.present(), 7)),
    ):
        with refuses(ResultsDamaged, "results_rows_are_damaged_on_disk"):
            read()
    assert embeddings.vector(21) is not None


async def test_vectors_that_were_right_are_refused_each_time_when_they_are_so_no_more(bench: Bench) -> None:
    _, folder = await done(bench, Kind.EMBED)
    embeddings = Embeddings(folder)
    os.utime(folder.data, (1, 1))  # as long after the last change: what was right is known
    assert embeddings.vector(1) is not None
    with folder.open() as database:
        database.execute("UPDATE batches SET results = results - 1")
    os.utime(folder.data, (2, 2))
    for _ in range(2):
        with pytest.raises(ResultsDamaged):
            embeddings.vector(1)


async def test_a_text_that_is_not_what_was_sent_is_named_and_its_results_are_left(bench: Bench) -> None:
    job, folder = await done(bench, Kind.RANK)
    right = results(folder)
    with folder.open() as database:
        database.execute("UPDATE texts SET text = 'something else' WHERE text_no = 3")
    check = verify_job(folder, job, mend=True)
    assert [found.damage for found in check.findings] == [Damage.INPUTS] and 4 in check.findings[0].rows
    assert results(folder) == right


async def test_a_job_that_was_made_elsewhere_is_put_right_too(bench: Bench) -> None:
    sent, _ = await done(bench, Kind.RANK)
    bench.drafts.delete(sent.id)
    names = {"usual_model": sent.model, "name": "elsewhere"}
    pasted = sent.batches[0].request_id
    added = await bench.elsewhere.attach("cloudflare", pasted, **names, inputs=None)
    folder, job = bench.store.folder(added.id), await bench.runner.wait(added.id)
    assert job.state is JobState.DONE and verify_job(folder, job).is_whole
    right = results(folder)
    with folder.open() as database:
        database.execute("UPDATE items SET score = 0.5 WHERE item_no IN (2, 3)")
    check = verify_job(folder, job, mend=True)
    assert check.is_mended and "rows 1 to 20" in check.findings[0].sentence
    assert results(folder) == right


async def put_back(bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: Kind) -> tuple[Job, JobFolder, bytes]:
    """Run a job of several batches, and put its data back as it was before the first answer; its results as CSV too."""
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 10)
    draft = drafted(bench, kind)
    await bench.actions.send(draft.id)
    folder = bench.store.folder(draft.id)
    older = folder.data.read_bytes()
    job = await bench.runner.wait(draft.id)
    assert job.state is JobState.DONE and len(job.batches) > 1
    right = exported(job, folder)
    folder.data.write_bytes(older)
    return job, folder, right


def exported(job: Job, folder: JobFolder) -> bytes:
    path = folder.path.with_suffix(".csv")
    export(folder, job, path)
    return path.read_bytes()


@pytest.mark.parametrize("kind", list(Kind))
async def test_data_put_back_without_its_last_commits_is_completed_from_the_answers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    job, folder, right = await put_back(bench, monkeypatch, kind)
    assert exported(job, folder) == right and verify_job(folder, job).is_whole


async def test_what_no_answer_completes_is_asked_for_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job, folder, right = await put_back(bench, monkeypatch, Kind.RANK)
    folder.reply(2).unlink()
    for attempt in (lambda: complete_results(folder, job), lambda: exported(job, folder)):
        with pytest.raises(ResultsDamaged):
            attempt()
    check = verify_job(folder, job, mend=True)
    assert [(each.batch, each.may_ask) for each in check.lost] == [(2, True)]
    submits = len(bench.faulty.submits)
    bench.ledger.change(job.id, lambda known: asked_for_again(known, check))
    job = await bench.ended(bench.runner.carry_on(job.id))
    assert exported(job, folder) == right and len(bench.faulty.submits) == submits


async def test_answers_are_not_put_into_data_that_was_not_sent(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job, folder, _ = await put_back(bench, monkeypatch, Kind.RANK)
    with folder.open() as database:
        database.execute("UPDATE texts SET text = 'of an older file' WHERE text_no = 3")
    with pytest.raises(ResultsDamaged):
        complete_results(folder, job)
    assert Damage.INPUTS in {found.damage for found in verify_job(folder, job, mend=True).findings}
    question = "SELECT DISTINCT score FROM items JOIN requests USING(request_no) WHERE batch = 1"
    with folder.open(read_only=True) as database:
        assert database.execute(question).fetchall() == [(None,)]
