"""The limits of the service and those of this program, each with its unit, source and date.

Pages are named by their path at https://developers.cloudflare.com/; "Set here" marks a limit of this program.
"""

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

# --- One batch ---

# Bytes of the whole body, UTF-8 JSON. The page says "under 10 MB"; a MB is taken as 1,000,000 bytes.
# workers-ai/features/batch-api/rest-api/, 2026-08.
MAX_BODY_BYTES: Final = 10_000_000 - 1

# Bytes of a body that a Worker on the Workers Free plan can read within its 10 ms of processor time, at 7 ms a
# megabyte as measured here. workers/platform/limits/, 2026-08.
MAX_FREE_WORKER_BODY_BYTES: Final = 1_000_000 - 1

# Texts in all requests of a batch, the contexts of queries included. Set here: the service states no limit, and a
# smaller batch loses fewer texts when it fails.
MAX_TEXTS_PER_BATCH: Final = 2_000

# Bytes of an answer, as estimated by `estimate.answer_bytes`. Set here: the service states no limit.
MAX_ANSWER_BYTES: Final = 50_000_000

# --- One request of a batch ---

# Strings in `text`. JSON Schema of the input in workers-ai/models/bge-m3/, 2026-08. `contexts` has no limit.
MAX_TEXTS_PER_REQUEST: Final = 100

# Strings in `text` of qwen3-embedding-0.6b, by its page's schema, 2026-11. Assumed of models that are not known.
SMALLEST_TEXTS_PER_REQUEST: Final = 32

# Tokens of one text. workers-ai/models/bge-m3/ and workers-ai/models/bge-base-en-v1.5/, 2026-08.
BGE_M3_TEXT_TOKENS: Final = 8_192
BGE_ENGLISH_TEXT_TOKENS: Final = 512

# Padded tokens of one request: the number of its texts times the tokens of the longest. From the service's refusal
# "Max context reached … but model supports only 60000", and `context_window` in workers-ai/models/bge-m3/, 2026-08.
BGE_M3_PADDED_TOKENS: Final = 60_000

# --- One answer ---

# A score's distance from zero. Set here: bge-m3 gives cosines, from -1 to 1, and rerankers give logits, which stay
# below 20; a thousand leaves room for a model that counts otherwise, and refuses what only damage or a mistake makes.
MAX_SCORE: Final = 1_000.0

# Numbers of a vector of the practice service, whose models stand in for all of Cloudflare's.
PRACTICE_DIMENSIONS: Final = frozenset({256, 1_024})

# Characters of a request id. Set here: the service's are UUIDs, of 36 characters.
MAX_REQUEST_ID: Final = 200

# Characters of the word for a batch's state, of which more is cut off. Set here: the service's are "queued", "running".
MAX_STATUS: Final = 60

# --- Vectorize ---

# Read in 2026-11 in vectorize/platform/limits/, unless a line names another source.

# Vectors of one index: 20,000,000 since 2026-08 (cloudflare-docs, pull request 32515), 10,000,000 and 5,000,000 before.
MAX_INDEX_VECTORS: Final = 20_000_000

# Numbers of each vector, which are float32.
MAX_INDEX_DIMENSIONS: Final = 1_536

# The whole name of a new index, as a regular expression: that of the schema of the REST API, which the provider of
# Cloudflare for Terraform has too.
INDEX_NAME_FORM: Final = "[a-z]+[a-z0-9_-]*[a-z0-9]+"

# Bytes of UTF-8: the name of an index, the id of a vector, the name of its namespace, its metadata as compact JSON.
MAX_INDEX_NAME_BYTES: Final = 64
MAX_VECTOR_ID_BYTES: Final = 64
MAX_NAMESPACE_BYTES: Final = 64
MAX_METADATA_BYTES: Final = 10_240

# Vectors and bytes of one upload over HTTP. Whether the bytes include the framing of multipart/form-data is not said;
# they are taken as those of the lines. A MB is taken as 1,000,000 bytes.
MAX_UPLOAD_VECTORS: Final = 5_000
MAX_UPLOAD_BYTES: Final = 100_000_000

# Ids of one call that reads or deletes vectors. No page says so; other programs met the refusal 40007.
MAX_READ_IDS: Final = 20
MAX_DELETED_IDS: Final = 100

# --- Calls ---

# A token has 1,200 calls, the dashboard's included, in a window of CALL_WINDOW_SECONDS; beyond that every call is
# refused for BLOCK_SECONDS. fundamentals/api/reference/limits/, 2026-08.
CALL_WINDOW_SECONDS: Final = 300.0
BLOCK_SECONDS: Final = 300.0

# Calls this program makes in a window. Set here: two thirds, which leaves the rest to the dashboard and to other
# programs with the same account.
CALL_BUDGET: Final = 800

# Seconds. A longer Retry-After is assumed to be a mistake. Set here.
MAX_RETRY_AFTER_SECONDS: Final = 86_400.0


class ExchangeLimit(NamedTuple):
    """The longest duration of a whole exchange, and the largest decompressed answer; set here."""

    seconds: float
    most_bytes: int


_ANSWER_BYTES: Final = 256 << 20  # five times MAX_ANSWER_BYTES
_OTHER_BYTES: Final = 16 << 20  # the list of models has less than one megabyte, the answer to a submit 200 bytes


class ExchangeLimits(NamedTuple):
    """The service stops a synchronous call after about 120 s (error 3046 of workers-ai/platform/errors/)."""

    submit: ExchangeLimit = ExchangeLimit(300.0, _OTHER_BYTES)  # ten megabytes over a slow line
    run: ExchangeLimit = ExchangeLimit(180.0, _ANSWER_BYTES)
    poll: ExchangeLimit = ExchangeLimit(300.0, _ANSWER_BYTES)  # fifty megabytes over a slow line
    check: ExchangeLimit = ExchangeLimit(20.0, _OTHER_BYTES)


_LEFT = re.compile(r'"[^"]*"\s*;\s*r=(\d{1,9})\s*;\s*t=(\d{1,9})')


class RateBudget:
    """Allow at most CALL_BUDGET calls in any CALL_WINDOW_SECONDS, fewer if the service says so, in order of arrival.

    `clock` is monotonic.
    """

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._taken: deque[float] = deque()
        self._said_left, self._said_until = 0, 0.0  # from the `Ratelimit` header
        self._blocked_until = 0.0
        self._turn = asyncio.Lock()

    @property
    def left(self) -> int:
        now = self._clock()
        if now < self._blocked_until:
            return 0
        while self._taken and self._taken[0] <= now - CALL_WINDOW_SECONDS:
            self._taken.popleft()
        ours = CALL_BUDGET - len(self._taken)
        return max(0, min(ours, self._said_left) if now < self._said_until else ours)

    @property
    def blocked_for(self) -> float:
        return max(0.0, self._blocked_until - self._clock())

    async def take(self) -> None:
        """Wait until one more call fits."""
        async with self._turn:
            while not self.left:
                await self._sleep(max(0.01, self._free_at() - self._clock()))
            self._taken.append(self._clock())
            self._said_left -= 1

    def heed(self, header: str) -> None:
        """Read a `Ratelimit` header: `"default";r=50;t=30` allows 50 calls in the next 30 s."""
        if found := _LEFT.search(header):
            self._said_left, self._said_until = int(found[1]), self._clock() + int(found[2])

    def block(self, seconds: float) -> None:
        self._blocked_until = max(self._blocked_until, self._clock() + seconds)

    def _free_at(self) -> float:
        now = self._clock()
        if now < self._blocked_until:
            return self._blocked_until
        if now < self._said_until and self._said_left <= 0:
            return self._said_until
        return self._taken[0] + CALL_WINDOW_SECONDS if len(self._taken) >= CALL_BUDGET else now
