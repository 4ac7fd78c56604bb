"""Answers with something wrong: the watcher asks again, and puts the batch aside when nothing better comes."""

import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.jobs.run.runner import READINGS
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.workers_ai import limits
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit, ExchangeLimits
from cfbatch_gui.core.workers_ai.transport import ExchangeError, Transport
from tests.core.endpoints.conftest import service
from tests.core.faults.conftest import FaultBench, Open, wrong_results
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService

FOREIGN = (
    '{"result":{"request_id":"another","responses":[]},"success":true,"errors":[],"messages":[]}',
    '{"request_id":"another","status":"running"}',
    '{"request_id":"another"}',
)
DONE, FAILED = BatchState.DONE, BatchState.FAILED


async def play(bench: FaultBench, fault: Fault | None = None, texts: int = 3) -> Job:
    path = bench.write("texts.txt", "".join(f"text {number}\n" for number in range(texts)))
    bench.faulty.follow(*([fault] if fault else []))
    return await bench.run(bench.draft(path, Kind.EMBED))


@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize(("times", "state"), [(READINGS - 1, DONE), (READINGS, FAILED)])
async def test_an_answer_that_names_another_batch(
    open_bench: Open, times: int, state: BatchState, foreign: str
) -> None:
    async with open_bench() as bench:
        job = await play(bench, faults.any_reply(on="poll", body=foreign, times=times))
        (batch,) = job.batches
        assert batch.state is state
        assert wrong_results(bench.store.folder(job.id)) == []
        assert bench.results(job.id) == (3 if state is DONE else 0)
        if state is FAILED:
            assert bench.store.folder(job.id).read_reply(1) == foreign.encode()


@pytest.mark.parametrize(
    ("number", "times", "state", "came_back"), [(2, 1, DONE, True), (2, 0, FAILED, True), (1, 0, DONE, None)]
)
async def test_references_that_came_back_once_have_to_come_back_and_a_service_that_never_gives_them_is_taken(
    open_bench: Open, number: int, times: int, state: BatchState, came_back: bool | None
) -> None:
    async with open_bench() as bench:
        fault = faults.mutate(on="poll", number=number, times=times, how="references_null")
        job = await play(bench, fault, texts=limits.MAX_TEXTS_PER_BATCH + 1)
        assert [batch.state for batch in job.batches] == [DONE, state]
        folder = bench.store.folder(job.id)
        assert wrong_results(folder) == []
        with folder.open(read_only=True) as database:
            assert metadata_value(database, "references_echoed") is came_back
        assert state is DONE or folder.reply(2).exists()


async def test_vectors_of_another_length_than_the_models_are_refused(
    open_bench: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_bench() as bench:
        monkeypatch.setattr(limits, "PRACTICE_DIMENSIONS", frozenset())
        job = await play(bench)
        assert job.batches[0].state is FAILED
        assert job.batches[0].error_detail == "8 numbers, not 1024"
        assert not bench.store.folder(job.id).vectors.exists()


@pytest.mark.parametrize(
    ("how", "times", "state"),
    [
        ("unknown_status", 2, DONE),
        ("all_but_one_without_result", 0, FAILED),  # the first of them is not kept
        ("not_successful", 0, BatchState.QUEUED),
        ("success_as_string", 0, FAILED),
        ("errors_as_string", 0, FAILED),
    ],
)
async def test_an_answer_that_is_none_or_is_not_right_as_a_whole(
    open_bench: Open, how: str, times: int, state: BatchState
) -> None:
    async with open_bench() as bench:
        job = await play(bench, faults.mutate(how=how, on="poll", times=times), texts=150)
        assert [batch.state for batch in job.batches] == [state]
        assert bench.results(job.id) == (150 if state is DONE else 0)


ROOM = 64 << 20  # bytes of memory allowed for an answer of unlimited size


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    async with FaultyService(service(tmp_path)) as made:
        yield made


@pytest.mark.parametrize(
    ("fault", "most_bytes"),
    [
        (faults.gzip_bomb(megabytes=500), ExchangeLimits().poll.most_bytes),
        (faults.large_reply(megabytes=300), ExchangeLimits().check.most_bytes),
    ],
)
async def test_no_answer_fills_the_memory(faulty: FaultyService, fault: Fault, most_bytes: int) -> None:
    faulty.follow(fault)
    tracemalloc.start()
    try:
        with pytest.raises(ExchangeError, match="too_large"):
            await Transport().send("GET", faulty.url, headers={}, limit=ExchangeLimit(240, most_bytes))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < ROOM
