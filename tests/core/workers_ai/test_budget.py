"""The call budget: its limit, its reduction by the service's answers, and the pause after a Retry-After."""

import asyncio

from cfbatch_gui.core.workers_ai.limits import RateBudget


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def budget(clock: Clock, *, calls: int = 5, window: float = 10.0) -> RateBudget:
    return RateBudget(calls=calls, window=window, clock=clock, sleep=clock.sleep)


async def test_no_window_holds_more_calls_than_the_budget() -> None:
    clock = Clock()
    limited = budget(clock)
    times = []
    for _ in range(23):
        await limited.take()
        times.append(clock.now)
    assert all(later - earlier >= 10 for earlier, later in zip(times, times[5:], strict=False))


async def test_the_services_word_shrinks_it() -> None:
    clock = Clock()
    limited = budget(clock, calls=800, window=300)
    limited.heed('"default";r=2;t=30')
    assert limited.left == 2
    for _ in range(3):
        await limited.take()
    assert clock.now >= 130


async def test_a_block_is_waited_out() -> None:
    clock = Clock()
    limited = budget(clock)
    limited.block(300)
    assert limited.left == 0
    await limited.take()
    assert clock.now >= 400


def test_a_header_that_is_not_understood_changes_nothing() -> None:
    limited = budget(Clock())
    for header in ("", "nonsense", '"default";r=x;t=30', "r=1"):
        limited.heed(header)
    assert limited.left == 5


async def test_an_urgent_call_does_not_stand_in_line() -> None:
    async def sleep_for_ever(_: float) -> None:
        await asyncio.Event().wait()

    limited = RateBudget(calls=80, window=300, clock=Clock(), sleep=sleep_for_ever)
    waiting = [asyncio.create_task(limited.take()) for _ in range(500)]
    await asyncio.sleep(0)
    await asyncio.wait_for(limited.take(urgent=True), timeout=5)
    assert not all(task.done() for task in waiting)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_ten_thousand_questions_stay_within_the_budget_for_hours() -> None:
    clock = Clock()
    limited = RateBudget(clock=clock, sleep=clock.sleep)
    times: list[float] = []

    async def ask_on_and_on() -> None:
        while clock.now < 100.0 + 2 * 3600:
            await limited.take()
            times.append(clock.now)
            await clock.sleep(0)

    await asyncio.gather(*(ask_on_and_on() for _ in range(10)))
    assert len(times) > 12_500
    assert all(later - earlier >= 300 for earlier, later in zip(times, times[800:], strict=False))
