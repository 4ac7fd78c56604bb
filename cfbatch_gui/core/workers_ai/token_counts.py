"""The estimates of tokens for many texts at a time."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_upper


def count_tokens(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """`tokens_upper` and `tokens_lower` of each text, uint32 (n,)."""
    count = len(texts)
    if all(map(str.isascii, texts)):  # then both depend on the length alone
        lengths = np.fromiter(map(len, texts), np.uint32, count)
        return (lengths + 2) // 3, (lengths + 3) // 4
    return np.fromiter(map(tokens_upper, texts), np.uint32, count), np.fromiter(
        map(tokens_lower, texts), np.uint32, count
    )
