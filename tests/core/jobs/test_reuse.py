"""What earlier jobs have is not sent again, and the job is the same, bit for bit, as one that sent everything."""

import asyncio
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.job_folder.checksums import read_pairs
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.states import Job, JobOptions, JobState
from cfbatch_gui.core.jobs.verifying import Outcome, asked_for_again, verify_job
from tests.core.jobs.conftest import Bench, Clock, opened_bench
from tests.thorough import tries


def catalogue(changed: frozenset[int] = frozenset(), count: int = 2_000) -> str:
    rows = (f"A-{n:05},Product number {n}{' with a new handle' if n in changed else ''}\n" for n in range(count))
    return "id,text\n" + "".join(rows)


async def in_may(bench: Bench, count: int) -> tuple[Path, Job]:
    """A file of so many texts, and the finished job that they were sent in."""
    path = bench.write("may.csv", catalogue(count=count))
    return path, await bench.run(bench.draft(path, Kind.EMBED))


def rankings(queries: int, contexts: int) -> str:
    rows = (f"question {q},d{c},answer {q * contexts + c}\n" for q in range(queries) for c in range(contexts))
    return "query,id,text\n" + "".join(rows)


def sent(bench: Bench, since: int) -> list[tuple[str, str]]:
    """Pairs of query and text of the batches after so many, in order; the query is "" without one."""
    found: list[tuple[str, str]] = []
    for body in bench.accepted_bodies()[since:]:
        for request in json.loads(body)["requests"]:
            texts = request.get("text") or [each["text"] for each in request["contexts"]]
            found += [(request.get("query", ""), text) for text in ([texts] if isinstance(texts, str) else texts)]
    return found


def results(bench: Bench, job: Job) -> object:
    folder = bench.drafts.folder(job.id)
    if job.kind is Kind.EMBED:
        return np.load(folder.vectors).tobytes()
    with folder.open(read_only=True) as database:
        parts = database.execute("SELECT item_no, part, score FROM parts ORDER BY item_no, part").fetchall()
        return parts, read_pairs(database)["score"].tolist()


async def test_each_result_says_the_job_and_the_request_it_came_from_however_often_it_was_taken(bench: Bench) -> None:
    path, may = await in_may(bench, 300)
    second = await bench.run(bench.draft(path, Kind.EMBED))
    bench.drafts.delete(may.id)
    third = await bench.run(bench.draft(path, Kind.EMBED))
    with bench.drafts.folder(third.id).open(read_only=True) as database:
        sources = database.execute("SELECT job_id, job_name, request_id FROM sources").fetchall()
        (rows,) = database.execute(
            "SELECT count(*) FROM items JOIN requests USING(request_no) JOIN reused USING(request_no)"
        ).fetchone()
    assert sources == [(may.id, "may", may.batches[0].request_id)]
    assert (rows, second.reused) == (300, 300)


async def test_a_source_that_goes_between_the_check_and_the_sending_is_sent_instead(bench: Bench) -> None:
    path, may = await in_may(bench, 300)
    june = bench.draft(path, Kind.EMBED)
    found = bench.drafts.examine(june.id)
    assert found.reused
    shutil.rmtree(bench.drafts.folder(may.id).path)
    june = await bench.run(june)
    assert (june.state, june.reused, len(june.batches)) == (JobState.DONE, 0, 1)


@pytest.mark.parametrize(("kind", "most", "reused", "anew"), [(Kind.EMBED, 100, 200, 100), (Kind.RANK, 8, 12, 8)])
async def test_a_batch_with_a_damaged_result_is_sent_instead_of_taken(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: Kind, most: int, reused: int, anew: int
) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", most)
    path = bench.write("may.csv", catalogue(count=300) if kind is Kind.EMBED else rankings(5, 4))
    may = await bench.run(bench.draft(path, kind))
    right = results(bench, may)
    damage(bench.drafts.folder(may.id))
    before = len(bench.accepted_bodies())
    june = await bench.run(bench.draft(path, kind))
    assert (june.state, june.reused, len(sent(bench, before))) == (JobState.DONE, reused, anew)
    assert results(bench, june) == right


def damage(folder: JobFolder) -> None:
    """In one of the last vectors, or in a score."""
    if folder.vectors.exists():
        content = bytearray(folder.vectors.read_bytes())
        content[-9] ^= 1
        folder.vectors.write_bytes(content)
    else:
        with folder.open() as database:
            database.execute("UPDATE items SET score = score + 0.25 WHERE item_no = 7")


async def test_a_result_is_taken_only_for_the_very_text(bench: Bench) -> None:
    path, may = await in_may(bench, 300)
    with bench.drafts.folder(may.id).open() as database:  # the hashes that are kept go on saying that it is the same
        database.execute("UPDATE texts SET text = 'Another product' WHERE text_no = 5")
    before = len(bench.accepted_bodies())
    june = await bench.run(bench.draft(path, Kind.EMBED))
    assert (june.state, june.reused) == (JobState.DONE, 299)
    assert sent(bench, before) == [("", "Product number 4")]


@pytest.mark.parametrize("damage", ["DELETE FROM kept_arrays", "UPDATE kept_arrays SET content = x'504b0304'"])
async def test_the_hashes_are_made_anew_when_they_cannot_be_used(bench: Bench, damage: str) -> None:
    path, may = await in_may(bench, 300)
    with bench.drafts.folder(may.id).open() as database:
        assert database.execute(damage).rowcount == 1
    assert bench.drafts.examine(bench.draft(path, Kind.EMBED).id).sent_texts == 0


async def test_other_models_options_and_services_are_not_mixed(bench: Bench) -> None:
    path = bench.write("may.csv", catalogue(count=50))
    await bench.run(bench.draft(path, Kind.EMBED))

    def new(job: Job) -> int:
        return bench.drafts.examine(job.id).sent_texts

    assert new(bench.draft(path, Kind.EMBED)) == 0
    assert new(bench.draft(path, Kind.EMBED, model="@cf/baai/bge-large-en-v1.5")) == 50
    cut = bench.draft(path, Kind.EMBED)
    bench.drafts.change(cut.id, options=JobOptions(truncate_inputs=False))
    assert new(cut) == 50
    elsewhere = bench.draft(path, Kind.EMBED)
    bench.drafts.change(elsewhere.id, connection="practice")
    assert new(elsewhere) == 50
    assert new(bench.draft(path, Kind.EMBED, reuse=False)) == 50


async def test_chosen_rows_are_sent_all_the_same(bench: Bench) -> None:
    path, may = await in_may(bench, 50)
    june = bench.draft(path, Kind.EMBED)
    bench.drafts.send_anew(june.id, [3, 7, 8])
    assert bench.drafts.examine(june.id).sent_texts == 3
    bench.drafts.send_anew(june.id, [8], anew=False)
    before = len(bench.accepted_bodies())
    june = await bench.run(june)
    assert sent(bench, before) == [("", "Product number 2"), ("", "Product number 6")]
    assert results(bench, june) == results(bench, may)


async def test_texts_that_were_removed_are_known_no_more(bench: Bench) -> None:
    path, may = await in_may(bench, 50)
    await bench.actions.forget_texts(may.id)
    assert bench.drafts.examine(bench.draft(path, Kind.EMBED).id).sent_texts == 50
    with bench.drafts.folder(may.id).open(read_only=True) as database:
        assert database.execute("SELECT count(*) FROM kept_arrays").fetchone() == (0,)


@pytest.mark.parametrize("kind", list(Kind))
async def test_what_was_taken_and_is_damaged_later_is_named_and_can_be_sent(bench: Bench, kind: Kind) -> None:
    content = catalogue(count=300) if kind is Kind.EMBED else rankings(5, 4)
    path = bench.write("may.csv", content)
    may = await bench.run(bench.draft(path, kind))
    june = await bench.run(bench.draft(path, kind))
    folder = bench.drafts.folder(june.id)
    assert verify_job(folder, june).is_whole
    damage(folder)
    assert [found.outcome for found in verify_job(folder, june).findings] == [Outcome.LOST]
    check = verify_job(folder, june, mend=True)
    june = bench.ledger.change(june.id, lambda known: asked_for_again(known, check))
    assert (june.state, june.reused_lost) == (JobState.PARTLY_DONE, 3 if kind is Kind.EMBED else 5)
    june = await bench.ended(bench.actions.send_again(june.id))
    assert (june.state, june.reused_lost, len(june.batches)) == (JobState.DONE, 0, 1)
    assert verify_job(folder, june).is_whole
    assert results(bench, june) == results(bench, may)


WORDS = ("red", "blue", "lamp", "chair", "oak", "größe", "“quoted”", "x" * 30)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
long_texts = st.builds(lambda word, count: " ".join([word] * count), st.sampled_from(WORDS[:5]), st.integers(60, 90))
row = st.tuples(st.sampled_from("ABCDEF"), texts | long_texts)


def table(found: list[tuple[str, str]], kind: Kind) -> str:
    if kind is Kind.EMBED:
        return "\n".join(["id,text", *(f"{name},{text}" for name, text in found)]) + "\n"
    return "\n".join(["query,text", *(f"question {name},{text}" for name, text in found)]) + "\n"


@pytest.mark.thorough
@settings(max_examples=tries(8, 1_000), deadline=None)
@given(
    st.lists(row, min_size=2, max_size=14),
    st.data(),
    st.sampled_from(list(Kind)),
    st.sampled_from([None, Split(40, 5)]),
)
def test_only_what_is_new_is_sent_and_the_results_are_those_of_a_whole_run(
    before: list[tuple[str, str]], data: st.DataObject, kind: Kind, split: Split | None
) -> None:
    kept = st.sampled_from(before)
    renamed = st.tuples(st.sampled_from("ABCDEFZ"), kept.map(lambda each: each[1]))
    after = data.draw(st.lists(kept | renamed | row, min_size=1, max_size=16))
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(_compare(Path(name), table(before, kind), table(after, kind), kind, split))


async def _compare(root: Path, before: str, after: str, kind: Kind, split: Split | None) -> None:
    may, june = root / "may.csv", root / "june.csv"
    may.write_text(before, encoding="utf-8")
    june.write_text(after, encoding="utf-8")
    async with opened_bench(root, Clock(), seconds_queued=0.0, seconds_running=0.0) as bench:
        first = await bench.run(bench.draft(may, kind, split=split))
        assert first.state is JobState.DONE
        known = set(sent(bench, 0))
        count = len(bench.accepted_bodies())
        taken = await bench.run(bench.draft(june, kind, split=split))
        new = set(sent(bench, count))
        count = len(bench.accepted_bodies())
        whole = await bench.run(bench.draft(june, kind, split=split, reuse=False))
        everything = set(sent(bench, count))
        assert (taken.state, whole.state, whole.reused) == (JobState.DONE, JobState.DONE, 0)
        if split is None or kind is Kind.EMBED:  # a ranking takes a text in parts as a whole, or sends all of them
            assert new == everything - known
        else:
            assert everything - known <= new <= everything
        assert results(bench, taken) == results(bench, whole)
