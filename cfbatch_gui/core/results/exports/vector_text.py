"""The shortest decimals that read back as the same float32, at most nine digits.

A float32 that is converted to double first would be printed with up to 17 digits: twice the size, and no more precise.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

_BLOCK = 8192  # numbers in a block, so that the intermediate arrays fit into the processor's cache
# The powers of ten that a double holds exactly, so that the division in rint(x * power) / power rounds only once.
_POWERS = np.array([10.0**power for power in range(23)], dtype=np.float64)


def vector_texts(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each row of `vectors`, float32 (n, d), as a JSON array without blanks: b"[0.1,-0.25]". All must be finite."""
    # A double that is the nearest one to a decimal of up to 15 digits prints as that decimal.
    return [msgspec.json.encode(row) for row in shortest(vectors).tolist()]


def shortest(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """For each float32 the double whose shortest decimal is that of the float32; float64 of the same shape."""
    flat = np.ascontiguousarray(vectors).reshape(-1)
    result = np.empty(len(flat), dtype=np.float64)
    for start in range(0, len(flat), _BLOCK):
        result[start : start + _BLOCK] = _shortest(flat[start : start + _BLOCK])
    return result.reshape(vectors.shape)


def _shortest(numbers: NDArray[np.float32]) -> NDArray[np.float64]:
    exact = numbers.astype(np.float64)
    with np.errstate(divide="ignore"):
        places = 7.0 - np.floor(np.log10(np.abs(exact)))  # decimal places for eight significant digits
    usual = (places >= 2) & (places <= 21)
    places[~usual] = 2
    scale = _POWERS[places.astype(np.int64)]
    result, holds = _rounded(exact, numbers, scale)
    # Most numbers need eight digits. First those that need nine; then those for which seven are enough, and among
    # these, six. Fewer need no search: float32 keeps any decimal of six digits, so they come out with zeros at the end.
    if len(more := np.flatnonzero(~holds)):
        result[more], holds[more] = _rounded(exact[more], numbers[more], scale[more] * 10)
        usual &= holds
    fewer = np.setdiff1d(np.arange(len(numbers)), more, assume_unique=True)
    for divisor in (10.0, 100.0):
        candidates, holds = _rounded(exact[fewer], numbers[fewer], scale[fewer] / divisor)
        fewer = fewer[holds]
        result[fewer] = candidates[holds]
    # Zero, numbers of a million and more, and those below 1e-14 are rare enough for a loop.
    for index in np.flatnonzero(~usual):
        result[index] = float(np.format_float_scientific(numbers[index], unique=True))
    return result


def _rounded(
    exact: NDArray[np.float64], numbers: NDArray[np.float32], scale: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The nearest decimals that are multiples of 1 / `scale`, and which of them read back as the number.

    A decimal very near the midpoint of two float32 counts as not reading back: a reader that converts text directly to
    float32 could round it differently from one that converts to double first.
    """
    decimals = np.rint(exact * scale)
    decimals /= scale
    outer = decimals - exact
    outer *= 1e-6
    outer += decimals
    return decimals, outer.astype(np.float32) == numbers
