"""Scores and values of vectors as text for people, and which values of an array are equal."""

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

SCORE_DECIMALS = 4
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
Number = TypeVar("Number", bound=np.integer)


def score_text(score: float) -> str:
    """A score, similarity, margin, metric, mean of these, or a value or length of a vector, with four decimals.

    For the window, the terminal and files for people. Exports for programs write all digits.
    """
    return f"{score:.{SCORE_DECIMALS}f}"


def round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `least`, but for rounding."""
    magnitude = 10.0 ** math.floor(math.log10(least))
    return next(each * magnitude for each in _STEPS if each * magnitude >= least)


def distinct(numbers: NDArray[Number]) -> NDArray[Number]:
    """The distinct values of `numbers`, ascending, of shape (m,).

    Same result as `np.unique`, which since NumPy 2.3 builds a hash table and takes up to sixteen times as long.
    """
    found = np.sort(numbers)
    return found[starts(found)]


def starts(*columns: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Which rows of these columns, (n,), differ from the row before."""
    found = np.ones(len(columns[0]), dtype=np.bool_)
    found[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        found[1:] |= column[1:] != column[:-1]
    return found


def occurrences(keys: NDArray[Number]) -> NDArray[np.uint64]:
    """How many equal ones stand before each of `keys`, of shape (n,)."""
    order, index = np.argsort(keys, kind="stable"), np.arange(len(keys))
    counted = np.empty(len(keys), dtype=np.uint64)
    counted[order] = index - np.maximum.accumulate(np.where(starts(keys[order]), index, 0))
    return counted
