"""Intervals between polls keep their bounds, also when the clock is changed; “Check now” polls at once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.poll_schedule import LONGEST, LONGEST_FAULT, Waits, interval
from cfbatch_gui.core.jobs.states import JobState
from tests.core.jobs.conftest import Bench, Clock, opened_bench
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import Arrival


@given(st.floats(0, 1e7), st.floats(0.1, 60))
def test_the_interval_grows_between_its_bounds(age: float, first: float) -> None:
    assert first <= interval(age, first) <= LONGEST
    assert interval(age, first) <= interval(age + 100, first)


OUTAGES: dict[str, Fault | None] = {
    "offline": None,
    "a fault of the service": faults.refusal(on="poll", times=0, status=503),
    "a page of something on the way": faults.page(on="poll", times=0, status=502),
}


@pytest.mark.parametrize("outage", OUTAGES.values(), ids=OUTAGES)
async def test_an_outage_is_waited_out_by_one_for_all_and_over_within_a_minute(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, outage: Fault | None
) -> None:
    monkeypatch.setattr(requests, "MAX_TEXTS_PER_BATCH", 2)
    bench.start_runner(patience=None)
    job = bench.draft(bench.write("texts.txt", "".join(f"text {n}\n" for n in range(24))), Kind.EMBED)
    await bench.actions.send(job.id)
    await bench.until(lambda: all(batch.request_id for batch in bench.store.job(job.id).batches))
    began, asked = bench.clock.now, len(bench.faulty.arrivals)
    bench.faulty.shut() if outage is None else bench.faulty.follow(outage)
    await bench.until(lambda: bench.clock.now >= began + 3_600)
    during, back = len(bench.faulty.arrivals), bench.clock.now
    bench.faulty.open() if outage is None else bench.faulty.follow()
    done = await bench.runner.wait(job.id)
    assert (done.state, len(done.batches), done.error) == (JobState.DONE, 12, "")
    assert during - asked < 300, "a dozen batches do not ask a dozen times"
    assert max(arrival.at for arrival in bench.faulty.arrivals[during:]) <= back + 2 * LONGEST_FAULT
    assert bench.faulty.arrivals[during].at <= back + LONGEST_FAULT


async def test_a_clock_that_is_set_back_costs_no_more_than_a_slice(clock: Clock) -> None:
    async def sleep(seconds: float) -> None:
        await clock.sleep(seconds)
        if sum(clock.slept) == 90:
            clock.set_by = -86_400.0

    waits = Waits(clock, sleep, patience=None)
    waits.answered("service", seconds=600)
    await waits.over("service")
    assert 600 <= sum(clock.slept) <= 600 + 30


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_a_batch_is_collected_though_the_clock_was_set_back(bench: Bench, is_restarted: bool) -> None:
    bench.faulty.follow(faults.refusal(on="poll", status=429, code=3040, retry_after="900"))
    job = bench.clouds()
    await bench.actions.send(job.id)
    await bench.until(lambda: bench.ledger.batch(job.id, 1).next_check_at)
    bench.clock.set_by = -86_400.0
    slept = sum(bench.clock.slept)
    if is_restarted:
        await bench.restart()
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert sum(bench.clock.slept) - slept < 3_600
    assert len(bench.faulty.arrivals) < 60


async def test_carrying_on_sends_at_once_although_the_service_asked_for_time(bench: Bench) -> None:
    bench.faulty.follow(faults.refusal(on="submit", status=429, code=3040, retry_after="900"))
    job = bench.clouds()
    await bench.actions.send(job.id)
    await bench.until(lambda: bench.store.job(job.id).batches[0].next_check_at)
    await bench.runner.pause(job.id)
    paused = bench.clock.now
    assert (await bench.ended(bench.runner.carry_on(job.id))).state is JobState.DONE
    assert bench.faulty.arrivals[1].at < paused + 60


class HaltingClock(Clock):
    """A clock that can be halted: sleeping then never ends."""

    is_halted = False

    async def sleep(self, seconds: float) -> None:
        if self.is_halted and seconds > 0:
            await asyncio.Event().wait()
        await super().sleep(seconds)


@pytest.fixture
async def halting(tmp_path: Path) -> AsyncIterator[Bench]:
    async with opened_bench(tmp_path, HaltingClock(), faults.stall(on="poll", seconds=0.1, billed=True)) as made:
        yield made


def polls(bench: Bench) -> list[Arrival]:
    return [arrival for arrival in bench.faulty.arrivals if arrival.kind == "poll"]


@pytest.mark.parametrize("is_under_way", [True, False])
async def test_check_now_asks_at_once_and_only_once_also_while_a_question_is_under_way(
    halting: Bench, is_under_way: bool
) -> None:
    bench = halting
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
