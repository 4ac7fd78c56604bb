"""Every limit of the service, and every limit this program sets itself: the number, its unit, its source, its date.

Pages of Cloudflare are named by the end of their address at https://developers.cloudflare.com/. "Set here" marks a
number of this program's own. The limits of one model among several stand in its row of `catalogue`.
"""

from dataclasses import dataclass
from typing import Final

# --- One batch ---

# Bytes of UTF-8 JSON, whole body. "Under 10 MB"; a MB is taken for the smaller of its two meanings.
# workers-ai/features/batch-api/rest-api/, 2026-08.
MAX_BODY_BYTES: Final = 10_000_000 - 1

# Bytes of a body that a Worker on the Workers Free plan can read within its 10 ms of processor time, at 7 ms a
# megabyte as measured here. workers/platform/limits/, 2026-08.
MAX_FREE_WORKER_BODY_BYTES: Final = 1_000_000 - 1

# Texts, counting queries' contexts, in all requests of a batch. Set here: the service states no limit, and fewer
# texts are lost to one failed batch.
MAX_TEXTS_PER_BATCH: Final = 2_000

# Bytes of an answer, as `estimate.answer_bytes` expects it. Set here: the service states no limit.
MAX_ANSWER_BYTES: Final = 50_000_000

# --- One request of a batch ---

# Strings in `text`. JSON Schema of the input in workers-ai/models/bge-m3/, 2026-08. `contexts` has no limit.
MAX_TEXTS_PER_REQUEST: Final = 100

# Tokens of one text. workers-ai/models/bge-m3/ and workers-ai/models/bge-base-en-v1.5/, 2026-08.
BGE_M3_TEXT_TOKENS: Final = 8_192
BGE_ENGLISH_TEXT_TOKENS: Final = 512

# Padded tokens of one request: its texts times the longest of them. From the service's own refusal, "Max context
# reached … but model supports only 60000", and `context_window` in workers-ai/models/bge-m3/, 2026-08.
BGE_M3_PADDED_TOKENS: Final = 60_000

# --- Calls ---

# Calls of one token, the dashboard's included, in a window of seconds; past them every call is refused for
# BLOCK_SECONDS. fundamentals/api/reference/limits/, 2026-08.
CALLS_PER_WINDOW: Final = 1_200
CALL_WINDOW_SECONDS: Final = 300.0
BLOCK_SECONDS: Final = 300.0

# Calls this program makes in a window, and those of them kept for what a person waits for. Set here: two thirds, so
# that the dashboard and other programs of the same account have the rest.
CALL_BUDGET: Final = 800
URGENT_CALLS: Final = 100

# Seconds; a longer Retry-After is taken for a mistake. Set here.
MAX_RETRY_AFTER_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class ExchangeLimits:
    """How long an exchange may take in all, in seconds, and how large its answer may be, in bytes of content.

    All set here. The service stops a synchronous call after about 120 s (error 3046 of workers-ai/platform/errors/).
    """

    submit_seconds: float = 300.0  # ten megabytes over a slow line
    run_seconds: float = 180.0
    poll_seconds: float = 300.0  # fifty megabytes over a slow line
    check_seconds: float = 20.0
    poll_bytes: int = 256 << 20  # five times MAX_ANSWER_BYTES
    other_bytes: int = 16 << 20  # the list of models has less than one megabyte, the answer to a submit 200 bytes
