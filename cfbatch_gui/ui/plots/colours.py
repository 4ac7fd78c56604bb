"""Colours for things to be told apart, and for numbers from low to high.

The eight differ in lightness as well as in hue, so that most people who see few hues tell them apart; the ramp grows
lighter from end to end. Each stands out from its window by 3 to 1 at least, as WCAG 2 asks of parts of a picture.
"""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from cfbatch_gui.ui import theme

MOST_CATEGORIES = 8
_LIGHT = ("#2f6feb", "#c56a00", "#1b8a5a", "#8e44c9", "#c2335f", "#0f8ba3", "#6b4f1d", "#38485f")
_DARK = ("#6a9bff", "#f0a04b", "#4fc28c", "#b98af0", "#f0719a", "#4cc3da", "#c9ad6d", "#d5dde8")
_LIGHT_RAMP = ("#1d2a7a", "#6a3fb0", "#b5458f", "#d9583f", "#c97a06")
_DARK_RAMP = ("#6474e8", "#a474e8", "#e67fb0", "#f5a86a", "#fbe08a")


def categories() -> NDArray[np.uint8]:
    """Eight colours and the one for all others, (9, 3) in red, green, blue."""
    chosen = [QColor(each) for each in (_DARK if is_dark() else _LIGHT)]
    return _table([*chosen, theme.mixed(theme.colour("quiet"), theme.colour("window"), 0.75)])


def ramp(count: int = 64) -> NDArray[np.uint8]:
    """Colours from low to high, (count, 3)."""
    stops = _table([QColor(each) for each in (_DARK_RAMP if is_dark() else _LIGHT_RAMP)]).astype(np.float64)
    places = np.linspace(0, len(stops) - 1, count)
    table = np.empty((count, 3), dtype=np.uint8)
    for channel in range(3):
        table[:, channel] = np.rint(np.interp(places, np.arange(len(stops)), stops[:, channel]))
    return table


def of_role(role: str) -> NDArray[np.uint8]:
    """A colour of the theme, (3,)."""
    chosen: NDArray[np.uint8] = _table([theme.colour(role)])[0]
    return chosen


def to_colour(value: NDArray[np.uint8]) -> QColor:
    """One row of a table of colours."""
    red, green, blue = (int(channel) for channel in value)
    return QColor(red, green, blue)


def is_dark() -> bool:
    """Whether the window is dark."""
    return theme.colour("window").lightness() < 128


def _table(chosen: list[QColor]) -> NDArray[np.uint8]:
    return np.array([(each.red(), each.green(), each.blue()) for each in chosen], dtype=np.uint8)
