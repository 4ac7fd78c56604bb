"""When to ask again, and waiting for it by the wall clock, so that a laptop's sleep does not count twice."""

import random
from collections.abc import Awaitable, Callable

LONGEST = 900.0  # seconds between two questions about a batch that takes very long
SLICE = 30.0  # seconds after which the wall clock is looked at again
_GROWTH = 0.15  # of a batch's age, until the next question


def interval(age: float, first: float) -> float:
    """Seconds until the next question about a batch of this age: from `first`, growing, to a quarter of an hour."""
    return max(first, min(age * _GROWTH, LONGEST))


def age_of(sent_at: float, now: float, *, checks: int, first: float) -> float:
    """Seconds since a batch was sent; by the number of questions when the clock was set back behind its sending."""
    return now - sent_at if now >= sent_at else first / _GROWTH * (1.0 + _GROWTH) ** min(checks, 100)


def backed_off(failures: int, first: float) -> float:
    """Seconds to wait after so many failures in a row, with full jitter."""
    most: float = min(LONGEST, first * 2.0 ** min(failures, 12))
    return first + random.uniform(0.0, most)  # noqa: S311  # spreads calls; no secret


async def sleep_until(when: float, *, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> None:
    """Return when the clock shows `when` or later, never before; when it is set back meanwhile, so is `when`."""
    now = clock()
    while when > now:
        await sleep(min(when - now, SLICE))
        before, now = now, clock()
        when -= max(0.0, before - now)
