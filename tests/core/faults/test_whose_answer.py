"""The watcher takes no answer of another batch: it asks again, and puts the batch aside when nothing better comes."""

from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.jobs.run.watching import READINGS
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.workers_ai import limits
from tests.core.faults.conftest import FaultBench, Open
from tests.support import faults
from tests.support.faults import Fault

FOREIGN = '{"result":{"request_id":"another","responses":[]},"success":true,"errors":[],"messages":[]}'
DONE, FAILED = BatchState.DONE, BatchState.FAILED


async def play(bench: FaultBench, *faults: Fault, texts: int = 3) -> Job:
    path: Path = bench.paths.root / "texts.txt"
    path.write_text("".join(f"text {number}\n" for number in range(texts)))
    bench.faulty.follow(*faults)
    return await bench.run(bench.draft(path, Kind.EMBED))


@pytest.mark.parametrize(("times", "state"), [(1, DONE), (READINGS - 1, DONE), (READINGS, FAILED), (0, FAILED)])
async def test_an_answer_that_names_another_batch(open_bench: Open, times: int, state: BatchState) -> None:
    async with open_bench() as bench:
        job = await play(bench, faults.any_reply(on="poll", body=FOREIGN, times=times))
        (batch,) = job.batches
        assert batch.state is state
        assert bench.wrong_results(job.id) == []
        assert bench.results(job.id) == (3 if state is DONE else 0)
        if state is FAILED:
            assert batch.error.startswith("Cloudflare answered about another batch than the one it was asked for.")
            assert bench.store.folder(job.id).read_reply(1) == FOREIGN.encode()


@pytest.mark.parametrize(("times", "state"), [(1, DONE), (0, FAILED)])
async def test_references_that_came_back_once_have_to_come_back(
    open_bench: Open, times: int, state: BatchState
) -> None:
    async with open_bench() as bench:
        fault = faults.mutate(on="poll", number=2, times=times, how="references_null")
        job = await play(bench, fault, texts=limits.MAX_TEXTS_PER_BATCH + 1)
        assert [batch.state for batch in job.batches] == [DONE, state]
        assert bench.wrong_results(job.id) == []
        with bench.store.folder(job.id).open(read_only=True) as database:
            assert metadata_value(database, "references_echoed") is True
        if state is FAILED:
            assert job.batches[1].error.startswith("The answer to this batch lacks the references")
            assert bench.store.folder(job.id).reply(2).exists()


async def test_a_service_that_never_gives_references_back_is_taken(open_bench: Open) -> None:
    async with open_bench() as bench:
        fault = faults.mutate(on="poll", times=0, how="references_null")
        job = await play(bench, fault, texts=limits.MAX_TEXTS_PER_BATCH + 1)
        assert job.state is JobState.DONE
        assert bench.wrong_results(job.id) == []
        with bench.store.folder(job.id).open(read_only=True) as database:
            assert metadata_value(database, "references_echoed") is None


async def test_vectors_of_another_length_than_the_models_are_refused(
    open_bench: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_bench() as bench:
        monkeypatch.setattr(limits, "PRACTICE_DIMENSIONS", frozenset())
        job = await play(bench)
        assert job.batches[0].state is FAILED
        assert job.batches[0].error.startswith("The vectors of this batch do not have the length")
        assert job.batches[0].error_detail == "8 numbers, not 1024"
        assert not bench.store.folder(job.id).vectors.exists()
