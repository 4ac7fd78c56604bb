"""One rate budget for all calls of the program.

Cloudflare refuses every call of a token for five minutes after CALLS_PER_WINDOW, the dashboard's included. The program
therefore makes at most CALL_BUDGET calls, fewer if the `Ratelimit` header says so, and none during a block.
"""

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable

from cfbatch_gui.core.workers_ai.limits import CALL_BUDGET, CALL_WINDOW_SECONDS, URGENT_CALLS

_LEFT = re.compile(r'"[^"]*"\s*;\s*r=(\d{1,9})\s*;\s*t=(\d{1,9})')


class RateBudget:
    """Allow at most `calls` in any `window` seconds; urgent calls first, the others in order of arrival.

    Fewer are allowed if the service reports fewer left. `clock` is monotonic, in seconds.
    """

    def __init__(
        self,
        *,
        calls: int = CALL_BUDGET,
        window: float = CALL_WINDOW_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._calls, self._window = calls, window
        self._clock, self._sleep = clock, sleep
        self._taken: deque[float] = deque()
        self._said_left, self._said_until = 0, 0.0  # from the `Ratelimit` header
        self._blocked_until = 0.0
        self._turns = {urgent: asyncio.Lock() for urgent in (False, True)}

    @property
    def left(self) -> int:
        """Calls that could be made now."""
        now = self._clock()
        if now < self._blocked_until:
            return 0
        horizon = now - self._window
        while self._taken and self._taken[0] <= horizon:
            self._taken.popleft()
        ours = self._calls - len(self._taken)
        return max(0, min(ours, self._said_left)) if now < self._said_until else max(0, ours)

    @property
    def blocked_for(self) -> float:
        """Seconds for which the service refuses every call; 0.0 when it does not."""
        return max(0.0, self._blocked_until - self._clock())

    @property
    def calls(self) -> int:
        """The size of the whole budget, in calls."""
        return self._calls

    async def take(self, *, urgent: bool = False) -> None:
        """Wait until one more call fits. Urgent calls do not wait behind the others."""
        reserve = 0 if urgent else min(URGENT_CALLS, self._calls // 8)
        async with self._turns[urgent]:
            while self.left <= reserve:
                await self._sleep(max(0.01, self._free_at(reserve) - self._clock()))
            self._taken.append(self._clock())
            self._said_left -= 1

    def heed(self, header: str) -> None:
        """Read a `Ratelimit` header: `"default";r=50;t=30` allows 50 calls in the next 30 s."""
        if found := _LEFT.search(header):
            self._said_left, self._said_until = int(found[1]), self._clock() + int(found[2])

    def block(self, seconds: float) -> None:
        """Make no call for `seconds`, during which the service refuses every one."""
        self._blocked_until = max(self._blocked_until, self._clock() + seconds)

    def _free_at(self, reserve: int) -> float:
        now = self._clock()
        if now < self._blocked_until:
            return self._blocked_until
        if now < self._said_until and self._said_left <= reserve:
            return self._said_until
        too_many = len(self._taken) - (self._calls - reserve)
        return self._taken[too_many] + self._window if too_many >= 0 else now
