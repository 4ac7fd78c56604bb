"""What stands on a chart's axes. Values are frozen; arrays are not to be changed once they are shown."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Bars:
    """A histogram: `edges` has one number more than `heights`. `role` is a colour role of the theme."""

    edges: NDArray[np.floating]
    heights: NDArray[np.number]
    name: str = ""
    role: str = "accent"


@dataclass(frozen=True, eq=False)
class Steps(Bars):
    """The outline of a histogram, to be laid over another."""

    role: str = "attention"


@dataclass(frozen=True, eq=False)
class Dots:
    """A dot for each place of `x` and `y`; `describe` says what is shown at one. What is not finite is left out."""

    x: NDArray[np.floating]
    y: NDArray[np.floating]
    name: str = ""
    role: str = "accent"
    describe: Callable[[int], str] | None = None


@dataclass(frozen=True)
class Mark:
    """An upright line at one place of the axis across, with its name beside it."""

    at: float
    name: str = ""
    role: str = "text"


@dataclass(frozen=True)
class Line:
    """A straight line over the whole width: up = `start` + `slope` × across."""

    start: float
    slope: float
    name: str = ""
    role: str = "quiet"


Layer = Bars | Dots | Mark | Line
