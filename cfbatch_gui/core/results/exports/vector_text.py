"""The shortest decimals that read back as the same float32, at most nine digits.

A float32 that is widened to double first prints with up to seventeen digits, twice the size for no information.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

_BLOCK = 8192  # numbers at a time: what is worked on stays in the processor's cache
# Those that a double holds exactly: rint(x * power) / power is rounded only once.
_POWERS = np.array([10.0**power for power in range(23)], dtype=np.float64)


def vector_texts(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each row of `vectors`, float32 (n, d), as a JSON array without blanks: b"[0.1,-0.25]". All must be finite."""
    # A double that is the nearest one to a decimal of up to 15 digits prints as that decimal.
    return [msgspec.json.encode(row) for row in shortest(vectors).tolist()]


def shortest(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """For each float32 the double whose own shortest text is the float32's; of the same shape."""
    flat = np.ascontiguousarray(vectors).reshape(-1)
    result = np.empty(len(flat), dtype=np.float64)
    for start in range(0, len(flat), _BLOCK):
        result[start : start + _BLOCK] = _shortest(flat[start : start + _BLOCK])
    return result.reshape(vectors.shape)


def _shortest(numbers: NDArray[np.float32]) -> NDArray[np.float64]:
    exact = numbers.astype(np.float64)
    with np.errstate(divide="ignore"):
        places = 7.0 - np.floor(np.log10(np.abs(exact)))  # digits after the point for eight digits in all
    usual = (places >= 2) & (places <= 21)
    places[~usual] = 2
    scale = _POWERS[places.astype(np.int64)]
    result, holds = _rounded(exact, numbers, scale)
    # Most need eight digits. Those that need nine; then those for which seven are enough, and of these, six. Any
    # decimal of six digits survives float32, so that fewer come out by themselves: as zeros at the end.
    if len(more := np.flatnonzero(~holds)):
        result[more], holds[more] = _rounded(exact[more], numbers[more], scale[more] * 10)
        usual &= holds
    fewer = np.setdiff1d(np.arange(len(numbers)), more, assume_unique=True)
    for divisor in (10.0, 100.0):
        candidates, holds = _rounded(exact[fewer], numbers[fewer], scale[fewer] / divisor)
        fewer = fewer[holds]
        result[fewer] = candidates[holds]
    # Zero, numbers of a million and more, and below 1e-14: rare enough to go one by one.
    for index in np.flatnonzero(~usual):
        result[index] = float(np.format_float_scientific(numbers[index], unique=True))
    return result


def _rounded(
    exact: NDArray[np.float64], numbers: NDArray[np.float32], scale: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The nearest decimals with that many places, and which of them read back as the number.

    Also by readers that go from text to float32 at once: what lies a hair from the middle between two float32 is
    turned down, because such a reader could round it the other way than one that takes a double first.
    """
    decimals = np.rint(exact * scale)
    decimals /= scale
    outer = decimals - exact
    outer *= 1e-6
    outer += decimals
    return decimals, outer.astype(np.float32) == numbers
