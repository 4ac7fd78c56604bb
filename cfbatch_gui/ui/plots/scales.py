"""Axes: from values to pixels, and where the ticks stand."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """`low` stands at pixel `start`, `high` at pixel `end`; the end may lie before the start."""

    low: float
    high: float
    start: float
    end: float

    def pixel(self, value: float) -> float:
        """Where a value stands."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def pixels(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """`pixel` for many, float64."""
        wide = values.astype(np.float64)
        placed: NDArray[np.float64] = self.start + (wide - self.low) / (self.high - self.low) * (self.end - self.start)
        return placed


def ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """At most `most` + 1 round numbers from `low` to `high`, evenly spaced."""
    rough = (high - low) / max(1, most)
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(each * magnitude for each in _STEPS if each * magnitude >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(number * step for number in range(first, last + 1))


def labels(values: tuple[float, ...]) -> tuple[str, ...]:
    """All with as many decimals as the finest of them needs; thousands are set apart."""
    step = values[1] - values[0] if len(values) > 1 else abs(values[0]) if values and values[0] else 1.0
    exponent = math.floor(math.log10(step) + 1e-9)
    decimals = max(0, -exponent)
    if decimals < 12 and abs(round(step, decimals) - step) > step * 1e-6:
        decimals += 1  # steps of 2.5
    return tuple(f"{value + 0.0:,.{min(decimals, 9)}f}" for value in values)


def padded(low: float, high: float, share: float = 0.0) -> tuple[float, float]:
    """The range widened by a share of itself on both sides; never empty, never without end."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    if high - low <= abs(high) * 1e-12:
        margin = abs(high) * 0.5 or 0.5
        return low - margin, high + margin
    margin = (high - low) * share
    return low - margin, high + margin
