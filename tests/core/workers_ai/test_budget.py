"""The call budget: its limit, its reduction by the service's answers, and the pause after a Retry-After."""

import asyncio
from pathlib import Path

import pytest

from cfbatch_gui.core.workers_ai.limits import RateBudget
from cfbatch_gui.core.workers_ai.transport import MAX_BYTES, Exchange, TrafficLog, traffic
from tests.core.jobs.conftest import Clock


@pytest.fixture
def limited(clock: Clock) -> RateBudget:
    return RateBudget(clock=clock, sleep=clock.sleep)


async def test_the_services_word_shrinks_it(limited: RateBudget, clock: Clock) -> None:
    began = clock.now
    limited.heed('"default";r=2;t=30')
    assert limited.left == 2
    for _ in range(3):
        await limited.take()
    assert clock.now >= began + 30


async def test_a_block_is_waited_out(limited: RateBudget, clock: Clock) -> None:
    began = clock.now
    limited.block(300)
    assert limited.left == 0
    await limited.take()
    assert clock.now >= began + 300


async def test_ten_thousand_questions_stay_within_the_budget_for_hours(limited: RateBudget, clock: Clock) -> None:
    began, times = clock.now, list[float]()

    async def ask_on_and_on() -> None:
        while clock.now < began + 2 * 3600:
            await limited.take()
            times.append(clock.now)
            await asyncio.sleep(0)

    await asyncio.gather(*(ask_on_and_on() for _ in range(10)))
    assert len(times) > 12_500
    assert all(later - earlier >= 300 for earlier, later in zip(times, times[800:], strict=False))


def test_hosts_are_told_apart_and_summed(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    log = TrafficLog(path)
    log.note("c", Exchange("api.example.com", "submit", 1_000, 200, 200), now=10.0)
    log.note("c", Exchange("api.example.com", "ask", 60, 5_000, 200), now=20.0)
    TrafficLog(path).note("c", Exchange("api.example.com", "submit", 500, 0, 0), now=30.0)  # after a restart
    log.note("w", Exchange("mine.example.dev", "run", 70, 90, 200), now=25.0)
    with path.open("ab") as stream:
        stream.write(b'{"time":2.0,"host":')  # torn
    TrafficLog(tmp_path / "gone" / "traffic.jsonl").note("c", Exchange("a", "ask", 1, 1, 200), now=1.0)
    assert traffic(path) == (
        Exchange("api.example.com", "submit", 1_500, 200, 0, 10.0, "c", 2, 30.0),
        Exchange("mine.example.dev", "run", 70, 90, 0, 25.0, "w", 1, 25.0),
        Exchange("api.example.com", "ask", 60, 5_000, 0, 20.0, "c", 1, 20.0),
    )


def test_it_stays_small_and_its_sums_stay_right(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    log = TrafficLog(path)
    for number in range(12_000):
        log.note("c", Exchange("api.example.com", "ask", 60, number % 7, 200), now=float(number))
    assert path.stat().st_size <= MAX_BYTES
    (summed,) = traffic(path)
    assert summed.count == 12_000 and summed.sent == 720_000
    assert summed.received == sum(number % 7 for number in range(12_000))
    assert (summed.time, summed.until) == (0.0, 11_999.0)
