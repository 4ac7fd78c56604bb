"""How figures about scores and vectors are written for people, and the different ones among many numbers."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.integer)


def score_text(score: float) -> str:
    """A score, or what is measured on such a scale: a similarity, a margin, a metric or a mean. Four decimals.

    Every window, page, printed line and file for people writes them by this. Exports for programs write all digits.
    """
    return f"{score:.4f}"


def vector_value_text(value: float) -> str:
    """The length of a vector or one of its values, four decimals."""
    return f"{value:.4f}"


def distinct(numbers: NDArray[Number]) -> NDArray[Number]:
    """Each of them once, rising, shape (m,).

    As `np.unique` alone, which since NumPy 2.3 puts them into a hash table and takes up to sixteen times as long.
    """
    found = np.sort(numbers)
    is_first = np.ones(len(found), dtype=np.bool_)
    np.not_equal(found[1:], found[:-1], out=is_first[1:])
    return found[is_first]
