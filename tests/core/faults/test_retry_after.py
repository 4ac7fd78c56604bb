"""Every form of the Retry-After header: the next call is not made earlier, and not unreasonably late."""

import asyncio
import itertools
from dataclasses import replace
from typing import Any

import pytest

from cfbatch_gui.core.errors import ServiceBusy
from cfbatch_gui.core.jobs.states import JobState
from tests.core.faults.conftest import FaultBench, Open
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import Arrival

NO_CAPACITY = faults.refusal(status=429, code=3040, message="No more data centers to forward the request to")
TOO_OFTEN = faults.refusal(status=429)
DAY = 86_400.0
SLACK = DAY  # the tests' clock advances whenever something waits, regardless of the real duration

WAITS = [
    pytest.param(fault, how, seconds, id=f"{name} {how}")
    for name, fault, by_itself in (("no capacity", NO_CAPACITY, 15.0), ("too often", TOO_OFTEN, 300.0))
    for how, seconds in (
        ({"retry_after": ""}, by_itself),
        ({"retry_after": "61.5"}, 61.5),
        ({"retry_date": 90.0}, 90.0),
        ({"retry_date": -90.0}, 0.0),
    )
]


def gaps(arrivals: list[Arrival]) -> list[float]:
    return [later.at - earlier.at for earlier, later in itertools.pairwise(arrivals)]


async def done(bench: FaultBench, fault: Fault) -> None:
    job = bench.pairs(reuse=False)
    bench.faulty.follow(fault)
    async with asyncio.timeout(240):
        assert (await bench.run(job)).state is JobState.DONE
    assert bench.wrong_results(job.id) == []


@pytest.mark.parametrize(("fault", "how", "seconds"), WAITS)
async def test_a_call_waits_as_long_as_it_is_told(
    fault: Fault, how: dict[str, Any], seconds: float, open_bench: Open
) -> None:
    least = seconds - ("retry_date" in how)  # a date has whole seconds
    async with open_bench() as bench:
        await done(bench, replace(fault, **how, on="submit"))
        assert least <= gaps(bench.faulty.submits)[0] <= max(seconds, 1.0) + SLACK
        before = len(bench.faulty.arrivals)
        await done(bench, replace(fault, **how, on="poll"))
        polls = [arrival for arrival in bench.faulty.arrivals[before:] if arrival.kind == "poll"]
        assert least <= gaps(polls)[0] <= seconds + SLACK


async def test_in_a_block_nothing_asks_and_everything_is_said(open_bench: Open) -> None:
    async with open_bench() as bench:
        bench.faulty.follow(faults.block(on="check", told=True))
        for _ in range(3):
            with pytest.raises(ServiceBusy) as caught:
                await bench.client.find_models("bge")
            assert 290 < caught.value.retry_after <= 301
        assert len(bench.faulty.arrivals) == 1
        started = bench.clock.now
        job = await bench.run(bench.pairs())
        assert job.state is JobState.DONE
        assert all(arrival.at >= started + 299 for arrival in bench.faulty.arrivals[1:])


async def test_a_block_that_is_longer_than_it_says_costs_one_call_each_time(open_bench: Open) -> None:
    async with open_bench() as bench:
        await done(bench, faults.block(on="submit", seconds=900.0))
        assert [arrival.fault for arrival in bench.faulty.submits] == ["block"] * (len(bench.faulty.submits) - 1) + [""]
        assert len(bench.faulty.submits) <= 4
        assert all(gap >= 300 for gap in gaps(bench.faulty.submits))
