"""When to ask again, for all that waits: batches at the service, shards in the account, and what is to be handed over.

By the wall clock, so that a laptop's sleep does not count twice. Failures are counted for each service and not for each
thing that waits there: while it cannot be reached, the first that is due asks for all.
"""

import random
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cfbatch_gui.core.errors import ServiceBusy, Unreachable, UserError

LONGEST = 900.0  # seconds between two questions about a batch that takes very long
LONGEST_FAULT = 60.0  # seconds until a service is asked again that has failed, unless it asks for more
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
    most: float = min(LONGEST_FAULT - first, first * 2.0 ** min(failures, 12))
    return first + random.uniform(0.0, max(0.0, most))  # noqa: S311  # spreads calls; no secret


@dataclass(slots=True)
class Wait:
    """Of one thing that is asked for again and again. `failures` are those in a row, `answers` since the start."""

    due: float = 0.0  # seconds since 1970, as `since`, which is when this was known
    since: float = 0.0
    answers: int = 0
    failures: int = 0


class Waits:
    """By any key: of a service its connection and what is asked there, of a shard its job and number, and so on.

    After `patience` failures in a row to reach a service the error is raised, with None never.
    """

    def __init__(self, clock: Callable[[], float], patience: int | None) -> None:
        self._clock, self._patience = clock, patience
        self._waits: dict[tuple[str | int, ...], Wait] = defaultdict(Wait)

    def of(self, *key: str | int) -> Wait:
        return self._waits[key]

    def due(self, *key: str | int) -> float:
        """When to ask, in seconds since 1970; a clock that was set back meanwhile makes no wait longer."""
        wait = self.of(*key)
        behind = max(0.0, wait.since - self._clock())
        wait.due, wait.since = wait.due - behind, wait.since - behind
        return wait.due

    def put_off(self, *key: str | int, seconds: float) -> None:
        wait = self.of(*key)
        wait.since = self._clock()
        wait.due = wait.since + seconds

    def answered(self, *key: str | int, seconds: float = 0.0) -> None:
        """What was asked for has been answered; it may be asked for again after so many seconds."""
        wait = self.of(*key)
        wait.answers, wait.failures = wait.answers + 1, 0
        self.put_off(*key, seconds=seconds)

    def failed(self, *key: str | int, error: UserError, first: float) -> float:
        """Until when a service is not asked that has failed; failures of calls under way together are one."""
        wait, left = self.of(*key), self.due(*key) - self._clock()
        wait.failures += left <= 0
        if self._patience is not None and wait.failures >= self._patience and isinstance(error, Unreachable):
            raise error
        asked = error.retry_after if isinstance(error, ServiceBusy) else 0.0
        self.put_off(*key, seconds=max(left, asked, backed_off(wait.failures, first)))
        return wait.due


async def sleep_until(when: float, *, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> None:
    """Return when the clock shows `when` or later, never before; when it is set back meanwhile, so is `when`."""
    now = clock()
    while when > now:
        await sleep(min(when - now, SLICE))
        before, now = now, clock()
        when -= max(0.0, before - now)
