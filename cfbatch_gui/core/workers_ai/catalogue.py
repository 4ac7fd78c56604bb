"""Models that take texts in batches, with their limits and prices, as they were listed on a date.

The list changes every few weeks; this one is for when the service's own cannot be asked.
Sources: https://developers.cloudflare.com/workers-ai/models/ and
https://developers.cloudflare.com/workers-ai/platform/pricing/
"""

import datetime
from dataclasses import dataclass, replace
from typing import Final

from cfbatch_gui.core.workers_ai.limits import (
    BGE_ENGLISH_TEXT_TOKENS,
    BGE_M3_PADDED_TOKENS,
    BGE_M3_TEXT_TOKENS,
    MAX_BODY_BYTES,
    MAX_TEXTS_PER_REQUEST,
)

LISTED_ON: Final = datetime.date(2026, 8, 1)
DEFAULT_MODEL: Final = "@cf/baai/bge-m3"


@dataclass(frozen=True, slots=True)
class ModelMetadata:
    """What a client must know of a model.

    `name` is what to call it by. `can_rank` says whether it scores contexts against a query. `dimension` is the length
    of its vectors, 0 when not known. `max_tokens` is for one text; `padded_tokens` for all texts of one request, their
    number times the longest, 0 when no limit is known. `poolings` are the values of the `pooling` key, the model's own
    first; () when it takes no such key (vectors of different poolings cannot be compared). `neurons_per_million` is the
    price of a million input tokens. `batch` says whether it takes batches, as far as known. `is_listed` is False for a
    model that this list does not know: all other values are then cautious guesses. `body_bytes` is what a batch may
    have; less than the service takes where something on the way to the model takes less.
    """

    name: str
    title: str
    can_rank: bool
    dimension: int
    max_tokens: int
    padded_tokens: int
    poolings: tuple[str, ...]
    neurons_per_million: float
    texts_per_request: int = MAX_TEXTS_PER_REQUEST
    batch: bool = True
    is_listed: bool = True
    body_bytes: int = MAX_BODY_BYTES
    retired_on: str = ""  # the day it is planned to go, as 2026-12-31

    @property
    def can_truncate(self) -> bool:
        """Whether the service cuts a text that is too long, if asked to; the models with `poolings` refuse it."""
        return not self.poolings


def _english(size: str, *, dimension: int, neurons_per_million: float) -> ModelMetadata:
    return ModelMetadata(
        f"@cf/baai/bge-{size}-en-v1.5",
        f"BGE {size} (English)",
        can_rank=False,
        dimension=dimension,
        max_tokens=BGE_ENGLISH_TEXT_TOKENS,
        padded_tokens=0,
        poolings=("mean", "cls"),
        neurons_per_million=neurons_per_million,
    )


# bge-m3 always pools "cls" and has no key for it. Its mark for batches came and went in the live catalogue, while the
# batch pages use no other model: it is taken to have it, and a refusal (code 8007) is met when it comes.
MODELS: Final = (
    ModelMetadata(
        DEFAULT_MODEL,
        "BGE-M3 (100+ languages)",
        can_rank=True,
        dimension=1_024,
        max_tokens=BGE_M3_TEXT_TOKENS,
        padded_tokens=BGE_M3_PADDED_TOKENS,
        poolings=(),
        neurons_per_million=1_075,
    ),
    _english("small", dimension=384, neurons_per_million=1_841),
    _english("base", dimension=768, neurons_per_million=6_058),
    _english("large", dimension=1_024, neurons_per_million=18_582),
)

_BY_NAME: Final = {model.name: model for model in MODELS}
_UNKNOWN: Final = ModelMetadata(
    "",
    "",
    can_rank=False,
    dimension=0,
    max_tokens=min(model.max_tokens for model in MODELS),
    padded_tokens=BGE_M3_PADDED_TOKENS,
    poolings=(),
    neurons_per_million=max(model.neurons_per_million for model in MODELS),
    batch=False,
    is_listed=False,
)


def find_model(name: str) -> ModelMetadata:
    """The metadata of a model by its exact name; cautious values for a name that is not listed."""
    return _BY_NAME.get(name) or replace(_UNKNOWN, name=name, title=name.rsplit("/", 1)[-1])
