"""The limits of the service and those of this program, each with its unit, source and date.

Cloudflare's pages are named by their path at https://developers.cloudflare.com/. "Set here" marks a limit of this
program's own. Limits that differ between models are in `catalogue`.
"""

from dataclasses import dataclass
from typing import Final

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

# --- Calls ---

# Calls with one token, the dashboard's included, in a window of CALL_WINDOW_SECONDS; beyond that every call is refused
# for BLOCK_SECONDS. fundamentals/api/reference/limits/, 2026-08.
CALLS_PER_WINDOW: Final = 1_200
CALL_WINDOW_SECONDS: Final = 300.0
BLOCK_SECONDS: Final = 300.0

# Calls this program makes in a window, and how many of them are reserved for calls that the user waits for. Set here:
# two thirds, which leaves the rest to the dashboard and to other programs with the same account.
CALL_BUDGET: Final = 800
URGENT_CALLS: Final = 100

# Seconds. A longer Retry-After is assumed to be a mistake. Set here.
MAX_RETRY_AFTER_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class ExchangeLimits:
    """The longest duration of a whole exchange, in seconds, and the largest answer, in bytes of decompressed content.

    All set here. The service stops a synchronous call after about 120 s (error 3046 of workers-ai/platform/errors/).
    """

    submit_seconds: float = 300.0  # ten megabytes over a slow line
    run_seconds: float = 180.0
    poll_seconds: float = 300.0  # fifty megabytes over a slow line
    check_seconds: float = 20.0
    poll_bytes: int = 256 << 20  # five times MAX_ANSWER_BYTES
    other_bytes: int = 16 << 20  # the list of models has less than one megabyte, the answer to a submit 200 bytes
