"""The texts of a finished job can be removed; its results stay, and nothing that was a text is left in its folder."""

import asyncio
import gzip

import numpy as np
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder, texts_forgotten
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.rankings import Rankings
from tests.core.jobs.conftest import Bench

PAIRS = "query,answer,price\n" + "".join(
    f"zebrafish question {q},zebrafish answer {q} {c},zebrafish {c} crowns\n" for q in range(4) for c in range(3)
)


def is_anywhere(folder: JobFolder, word: bytes) -> list[str]:
    """The files of a folder that have a word in them, answers unpacked."""
    found = []
    for path in folder.path.rglob("*"):
        if path.is_file():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            if word in data:
                found.append(path.name)
    return found


async def test_a_ranking_keeps_scores_and_says_rows(bench: Bench) -> None:
    job = await bench.run(bench.draft(bench.write("pairs.csv", PAIRS), Kind.RANK))
    folder, before = bench.store.folder(job.id), bench.scores(job.id)
    assert texts_forgotten(folder) is None and is_anywhere(folder, b"zebrafish")
    await bench.actions.forget_texts(job.id)
    assert is_anywhere(folder, b"zebrafish") == []
    assert [score for _, score in bench.scores(job.id)] == [score for _, score in before]
    ranked = [context for block in Rankings(folder).blocks() for context in block]
    assert {context.query for context in ranked} == {
        "Row 2",
        "Row 5",
        "Row 8",
        "Row 11",
    }  # as a spreadsheet counts, with the header
    assert {context.text for context in ranked} == {f"Row {row}" for row in range(2, 14)}
    assert texts_forgotten(folder) is not None


async def test_vectors_stay_bit_for_bit_and_ids_stand_for_texts(bench: Bench) -> None:
    path = bench.write("texts.csv", "id,text\n" + "".join(f"a-{n},zebrafish number {n}\n" for n in range(150)))
    job = await bench.run(bench.draft(path, Kind.EMBED))
    folder = bench.store.folder(job.id)
    before = np.load(folder.vectors)
    await bench.actions.forget_texts(job.id)
    await bench.actions.forget_texts(job.id)  # once more does no harm
    assert is_anywhere(folder, b"zebrafish") == []
    assert np.array_equal(np.load(folder.vectors), before)
    embeddings = Embeddings(folder)
    assert embeddings.checks().missing == 0
    assert [row.text for row in embeddings.page(0, 2)] == ["a-0", "a-1"]


async def test_nothing_can_be_sent_again_without_texts(bench: Bench) -> None:
    job = bench.draft(bench.write("many.txt", "".join(f"zebrafish number {n}\n" for n in range(250))), Kind.EMBED)
    with pytest.raises(UsageError, match="Only a finished job"):
        await bench.actions.forget_texts(job.id)
    job = await bench.run(job)
    await bench.actions.forget_texts(job.id)
    actions = bench.actions
    for sending in (
        *(actions.send_failed_again(job.id), actions.send_again(job.id, 1), actions.run_synchronously(job.id)),
        asyncio.to_thread(bench.drafts.duplicate, job.id, "copy"),
    ):
        with pytest.raises(UsageError, match="were removed, so it cannot be sent again, copied or judged"):
            await sending
    assert len(bench.ledger.jobs()) == 1
    assert len(bench.accepted_bodies()) == 1
    assert bench.store.job(job.id).state is JobState.DONE
