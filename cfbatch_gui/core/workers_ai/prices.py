"""Prices in neurons and dollars, and the free allowance of a day. The neurons of each model are in `catalogue`.

Source: https://developers.cloudflare.com/workers-ai/platform/pricing/, 2026-08.
"""

from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata

DOLLARS_PER_NEURON: Final = 0.011 / 1_000
FREE_NEURONS_A_DAY: Final = 10_000

_DAY: Final = 86_400  # seconds


@dataclass(frozen=True, slots=True)
class Price:
    """`share_of_free_day` is 1.0 for FREE_NEURONS_A_DAY. `dollars` does not deduct the free allowance.

    `dollars` is by the listed price of a token or by that of the neurons, whichever is more: the list rounds to three
    decimals, in bge-m3's case up by 1.5 %, and which of both is billed is not documented. So a budget is not overshot.
    """

    neurons: float
    dollars: float
    share_of_free_day: float


def price(tokens: int, metadata: ModelMetadata) -> Price:
    """The price of `tokens` input tokens; a model that is not listed has the price of the dearest listed one."""
    neurons = tokens * metadata.neurons_per_million / 1_000_000
    dollars = max(tokens * metadata.dollars_per_million / 1_000_000, neurons * DOLLARS_PER_NEURON)
    return Price(neurons, dollars, neurons / FREE_NEURONS_A_DAY)


def next_reset(now: float) -> float:
    """The time at which the free neurons are reset, 00:00 UTC, after `now`; both in seconds since 1970."""
    return float((now // _DAY + 1) * _DAY)
