"""What something will take before it is sent: tokens, price, bytes. Estimates, and called so wherever they are shown.

Rules of thumb for bge-m3's tokenizer (XLM-R): English prose has about 4 characters a token, Chinese and Japanese about
one; prices by https://developers.cloudflare.com/workers-ai/platform/pricing/.
"""

import re
from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.workers_ai.catalogue import ModelFacts
from cfbatch_gui.core.workers_ai.wire.requests import AnswerKind

MAX_ANSWER_BYTES: Final = 50_000_000  # what we want to take back in one piece; the service states no limit

DOLLARS_PER_NEURON: Final = 0.011 / 1_000
FREE_NEURONS_A_DAY: Final = 10_000

_DAY: Final = 86_400
_SMALL_PIECE: Final = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,2}|[^\sA-Za-z0-9]")
_NUMBER_BYTES: Final = 22  # a number of a vector, written out, with its comma
_SCORE_BYTES: Final = 56  # {"id":12345,"score":0.12345678901234567},
_ELEMENT_BYTES: Final = 256  # the frame around one element, its reference included
_UNKNOWN_DIMENSION: Final = 4_096  # the longest vectors among the models that are usual today


def tokens_upper(text: str) -> int:
    """More tokens than `text` has, nearly always: a third of the ASCII characters, and one for each other character."""
    if text.isascii():
        return -(-len(text) // 3)
    ascii_count = len(text.encode("ascii", "ignore"))
    return -(-ascii_count // 3) + len(text) - ascii_count


def tokens_most(text: str) -> int:
    """`tokens_upper`, and more for what is denser than any prose: codes, columns of figures, signs.

    At most three times `tokens_upper`. Takes some 15 ns a character, so it is for where too few would have a cost: a
    request above the service's limit is refused as a whole.
    """
    return max(tokens_upper(text), len(_SMALL_PIECE.findall(text)))


def tokens_lower(text: str) -> int:
    """Fewer tokens than `text` has, nearly always: a quarter of the characters; half of those from U+0800 on.

    Those are Chinese, Japanese, Korean and the scripts of South Asia, which take three bytes of UTF-8 or more.
    """
    if text.isascii():
        return -(-len(text) // 4)
    ascii_count = len(text.encode("ascii", "ignore"))
    # Bytes beyond one a character, less one for each that is not ASCII: 1 for three bytes, 2 for four (an emoji).
    wide = len(text.encode("utf-8", "surrogatepass")) - 2 * len(text) + ascii_count
    return -(-max(0, len(text) - wide) // 4) + -(-wide // 2)


@dataclass(frozen=True, slots=True)
class Price:
    """`share_of_free_day` is 1.0 for all that is free in a day. Dollars are without what is free."""

    neurons: float
    dollars: float
    share_of_free_day: float


def price(tokens: int, facts: ModelFacts) -> Price:
    """The price of that many input tokens. For a model that is not listed it is that of the dearest listed one."""
    neurons = tokens * facts.neurons_per_million / 1_000_000
    return Price(neurons, neurons * DOLLARS_PER_NEURON, neurons / FREE_NEURONS_A_DAY)


def next_reset(now: float) -> float:
    """When free neurons are counted anew: the next 00:00 UTC after `now`, both in seconds since 1970."""
    return float((now // _DAY + 1) * _DAY)


def answer_bytes(kind: AnswerKind, count: int, dimension: int) -> int:
    """The expected size of one element of an answer, rather too large. `dimension` 0 is an unknown one."""
    if kind == "scores":
        return _ELEMENT_BYTES + count * _SCORE_BYTES
    return _ELEMENT_BYTES + count * ((dimension or _UNKNOWN_DIMENSION) * _NUMBER_BYTES + 3)
