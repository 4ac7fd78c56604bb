"""Models that accept batches of texts, as listed on `LISTED_ON`; used when the service's list cannot be fetched.

Sources: https://developers.cloudflare.com/workers-ai/models/ and https://developers.cloudflare.com/workers-
ai/platform/pricing/
"""

import datetime
from dataclasses import dataclass, replace
from typing import Final

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai import limits
from cfbatch_gui.core.workers_ai.limits import BGE_M3_PADDED_TOKENS, BGE_M3_TEXT_TOKENS, SMALLEST_TEXTS_PER_REQUEST

LISTED_ON: Final = datetime.datetime(2026, 8, 1, tzinfo=datetime.UTC)
DEFAULT_MODEL: Final = "@cf/baai/bge-m3"


@dataclass(frozen=True, slots=True)
class ModelMetadata:
    """The properties of a model that a client needs; 0 and 0.0 where not known.

    `dimension` is the length of its vectors. `max_tokens` is the limit of one text, `padded_tokens` that of a
    request: the number of its texts times the longest. `poolings` has the default first; () when there is no such
    key. The prices are for a million input tokens, in neurons, and in dollars rounded as the list prints them; both
    are 0.0 where no price is listed.
    `is_listed` False means that all other values are cautious guesses. `body_bytes` is lower than the service's
    limit behind a Worker with a lower one.
    """

    name: str
    title: str
    max_tokens: int
    dimension: int = 0
    can_rank: bool = False
    padded_tokens: int = 0
    poolings: tuple[str, ...] = ()
    neurons_per_million: float = 0.0
    dollars_per_million: float = 0.0
    texts_per_request: int = limits.MAX_TEXTS_PER_REQUEST
    batch: bool = True
    is_listed: bool = True
    body_bytes: int = limits.MAX_BODY_BYTES
    retired_on: str = ""  # the date of its planned retirement, as in 2026-12-31

    @property
    def can_truncate(self) -> bool:
        """Whether the service cuts a text that is too long; models with `poolings` refuse it."""
        return not self.poolings


def _english(size: str, *, dimension: int, neurons_per_million: float, dollars_per_million: float) -> ModelMetadata:
    return ModelMetadata(
        f"@cf/baai/bge-{size}-en-v1.5",
        message("bge_size_english", size=size),
        max_tokens=limits.BGE_ENGLISH_TEXT_TOKENS,
        dimension=dimension,
        poolings=("mean", "cls"),
        neurons_per_million=neurons_per_million,
        dollars_per_million=dollars_per_million,
    )


# bge-m3 always pools "cls" and has no key for it. The live catalogue has at times not marked it for batches, while the
# pages about batches use no other model: it is assumed to accept them, and a refusal (code 8007) is handled.
MODELS: Final = (
    ModelMetadata(
        DEFAULT_MODEL,
        message("bge_m3_100_languages"),
        max_tokens=BGE_M3_TEXT_TOKENS,
        dimension=1_024,
        can_rank=True,
        padded_tokens=BGE_M3_PADDED_TOKENS,
        neurons_per_million=1_075,
        dollars_per_million=0.012,
    ),
    _english("small", dimension=384, neurons_per_million=1_841, dollars_per_million=0.020),
    _english("base", dimension=768, neurons_per_million=6_058, dollars_per_million=0.067),
    _english("large", dimension=1_024, neurons_per_million=18_582, dollars_per_million=0.204),
)

# Not marked for batches.
_QWEN3: Final = ModelMetadata(
    "@cf/qwen/qwen3-embedding-0.6b",
    "Qwen3 Embedding 0.6B",
    max_tokens=BGE_M3_TEXT_TOKENS,
    dimension=1_024,
    neurons_per_million=1_091,
    dollars_per_million=0.012,
    texts_per_request=SMALLEST_TEXTS_PER_REQUEST,
    batch=False,
)
_BY_NAME: Final = {model.name: model for model in (*MODELS, _QWEN3)}
_UNKNOWN: Final = ModelMetadata(
    "",
    "",
    max_tokens=min(model.max_tokens for model in MODELS),
    padded_tokens=BGE_M3_PADDED_TOKENS,
    texts_per_request=SMALLEST_TEXTS_PER_REQUEST,
    batch=False,
    is_listed=False,
)


def find_model(name: str) -> ModelMetadata:
    """The metadata of a model by its exact name; cautious values for one that is not listed."""
    return _BY_NAME.get(name) or replace(_UNKNOWN, name=name, title=name.rsplit("/", 1)[-1])


DOLLARS_PER_NEURON: Final = 0.011 / 1_000
FREE_NEURONS_A_DAY: Final = 10_000

_DAY: Final = 86_400  # seconds


@dataclass(frozen=True, slots=True)
class Price:
    """`dollars` is by tokens or neurons, whichever is more, before the free allowance; FREE_NEURONS_A_DAY is 1.0.

    All are 0.0 where no price is listed.
    """

    neurons: float
    dollars: float
    share_of_free_day: float
    is_listed: bool = True


def price(tokens: int, metadata: ModelMetadata) -> Price:
    """The price of input tokens."""
    neurons = tokens * metadata.neurons_per_million / 1_000_000
    dollars = max(tokens * metadata.dollars_per_million / 1_000_000, neurons * DOLLARS_PER_NEURON)
    is_listed = metadata.neurons_per_million > 0 or metadata.dollars_per_million > 0
    return Price(neurons, dollars, neurons / FREE_NEURONS_A_DAY, is_listed)


def next_reset(now: float) -> float:
    """The next 00:00 UTC, when the free neurons are reset; both in seconds since 1970."""
    return float((now // _DAY + 1) * _DAY)
