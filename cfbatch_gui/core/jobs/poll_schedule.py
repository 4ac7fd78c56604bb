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
    """Seconds until the next question about a batch of this age: from `first`, growing, to a quarter of an hour. An
    age is negative when the clock was set back.
    """
    return max(first, min(abs(age) * _GROWTH, LONGEST))


@dataclass(slots=True)
class Wait:
    """Of one thing that is asked for again and again. `failures` are those in a row, `answers` since the start."""

    due: float = 0.0  # seconds since 1970, as `seen`, which is when this was looked at last
    seen: float = 0.0
    answers: int = 0
    failures: int = 0


class Waits:
    """By any key: of a service its connection and what is asked there, of a shard its job and number, and so on.

    After `patience` failures in a row to reach a service the error is raised, with None never.
    """

    def __init__(
        self, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]], patience: int | None
    ) -> None:
        self.clock, self.sleep, self._patience = clock, sleep, patience
        self._waits: dict[tuple[str | int, ...], Wait] = defaultdict(Wait)

    def of(self, *key: str | int) -> Wait:
        """As it is by now: a clock that was set back meanwhile makes no wait longer."""
        wait, now = self._waits[key], self.clock()
        wait.due, wait.seen = wait.due - max(0.0, wait.seen - now), now
        return wait

    async def over(self, *key: str | int) -> None:
        """Return when it is due, never before."""
        while (left := self.of(*key).due - self.clock()) > 0:
            await self.sleep(min(left, SLICE))

    def answered(self, *key: str | int, seconds: float = 0.0) -> None:
        """What was asked for has been answered; it may be asked for again after so many seconds."""
        wait = self.of(*key)
        wait.answers, wait.failures, wait.due = wait.answers + 1, 0, wait.seen + seconds

    def failed(self, *key: str | int, error: UserError, first: float, patience: int | None = None) -> float:
        """Until when a service is not asked that has failed, with full jitter; failures of calls under way together
        are one.
        """
        wait = self.of(*key)
        wait.failures += wait.due <= wait.seen
        patience = patience or self._patience
        if patience is not None and wait.failures >= patience and isinstance(error, Unreachable):
            raise error
        most = max(0.0, min(LONGEST_FAULT - first, first * 2.0 ** min(wait.failures, 12)))
        seconds = first + random.uniform(0.0, most)  # noqa: S311  # spreads calls; no secret
        asked = error.retry_after if isinstance(error, ServiceBusy) else 0.0
        wait.due = max(wait.due, wait.seen + max(asked, seconds))
        return wait.due
