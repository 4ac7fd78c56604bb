"""“Check now” polls the service whenever it is pressed."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.core.jobs.conftest import Bench, Clock, opened_bench
from tests.support import faults
from tests.support.faulty_service import Arrival


class HaltingClock(Clock):
    """A clock that can be halted: sleeping then never ends."""

    is_halted = False

    async def sleep(self, seconds: float) -> None:
        if self.is_halted and seconds > 0:
            await asyncio.Event().wait()
        await super().sleep(seconds)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with opened_bench(tmp_path, HaltingClock(), faults.stall(on="poll", seconds=0.1, billed=True)) as made:
        yield made


def polls(bench: Bench) -> list[Arrival]:
    return [arrival for arrival in bench.faulty.arrivals if arrival.kind == "poll"]


@pytest.mark.parametrize("is_under_way", [True, False])
async def test_check_now_asks_at_once_and_only_once_also_while_a_question_is_under_way(
    bench: Bench, is_under_way: bool
) -> None:
    job = bench.clouds()
    await bench.actions.send(job.id)
    await bench.until(lambda: len(polls(bench)) == 1)
    assert isinstance(bench.clock, HaltingClock)
    bench.clock.is_halted = True
    if not is_under_way:
        await bench.until(lambda: bench.ledger.job(job.id).batches[0].checks == 1)
    bench.runner.check_now(job.id)
    await bench.until(lambda: bench.ledger.job(job.id).batches[0].checks == 2)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(polls(bench)) == 2
