"""The body of an answer handed on in blocks as it arrives, for answers that are too large to be held in memory."""

import asyncio
from collections.abc import Mapping
from typing import Final, Protocol

from cfbatch_gui.core.workers_ai.answer_body import BodyError
from cfbatch_gui.core.workers_ai.echoed_secrets import EchoedSecrets

_BLOCK: Final = 1 << 20  # bytes that are examined and handed on at once
_HELD_BACK: Final = 4096  # bytes that wait for those behind them: a secret may stand across two blocks


class AnswerSink(Protocol):
    """Where the body of a successful answer goes. Both methods may raise BodyError and OSError."""

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Take the head of the answer; `headers` have lower case names."""

    def write(self, block: bytes) -> None:
        """Take the next bytes of the body; called in a thread, one block after the other."""


class SinkFeeder:
    """Collects chunks to blocks for a sink. `received` counts the bytes of the body.

    Raises BodyError for a body above `limit` bytes, and when one of `secrets` is found in it: what is handed on cannot
    be changed any more, so such an answer is refused as a whole.
    """

    def __init__(self, sink: AnswerSink, secrets: EchoedSecrets, limit: int) -> None:
        self._sink, self._secrets, self._limit = sink, secrets, limit
        self._waiting = bytearray()
        self.received = 0

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Hand on the head. Raises BodyError for a compressed body, of which no part could be asked for."""
        if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise BodyError("broken", "compressed, which was not asked for")
        self._sink.begin(status, headers)

    async def add(self, chunk: bytes) -> None:
        """Take the next chunk as received."""
        self.received += len(chunk)
        if self.received > self._limit:
            raise BodyError("too_large", f"more than {self._limit:,} bytes")
        self._waiting += chunk
        if len(self._waiting) >= _BLOCK + _HELD_BACK:
            await self._hand_on(len(self._waiting) - _HELD_BACK)

    async def end(self) -> None:
        """Hand on the rest."""
        await self._hand_on(len(self._waiting))

    async def _hand_on(self, count: int) -> None:
        waiting = bytes(self._waiting)
        await asyncio.to_thread(self._check_and_write, waiting, count)
        del self._waiting[:count]

    def _check_and_write(self, waiting: bytes, count: int) -> None:
        if self._secrets.removed_from(waiting) is not waiting:
            raise BodyError("mixed", "the answer repeats the secret of its request")
        self._sink.write(waiting[:count])
