"""The axes of a chart: from values to pixels, and the ticks, thin lines and titles of both."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from cfbatch_gui.ui import display, theme
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICK_WIDTH, _TICK_HEIGHT = 84, 44  # pixels for each label
_RIGHT = 16


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps `low` to pixel `start` and `high` to pixel `end`; `end` may be less than `start`."""

    low: float
    high: float
    start: float
    end: float

    def pixel(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def pixels(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """`pixel` for many, float64."""
        wide = values.astype(np.float64)
        placed: NDArray[np.float64] = self.start + (wide - self.low) / (self.high - self.low) * (self.end - self.start)
        return placed


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes at one size: `box` is the inside, in logical pixels."""

    box: QRectF
    across: Scale
    up: Scale
    across_title: str
    up_title: str


def ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """At most `most` + 1 round numbers from `low` to `high`, evenly spaced."""
    rough = (high - low) / max(1, most)
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(each * magnitude for each in _STEPS if each * magnitude >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(number * step for number in range(first, last + 1))


def labels(values: tuple[float, ...]) -> tuple[str, ...]:
    """All with as many decimals as the step between them needs, and with thousands separators."""
    step = values[1] - values[0] if len(values) > 1 else abs(values[0]) if values and values[0] else 1.0
    exponent = math.floor(math.log10(step) + 1e-9)
    decimals = max(0, -exponent)
    if decimals < 12 and abs(round(step, decimals) - step) > step * 1e-6:
        decimals += 1  # steps of 2.5
    return tuple(display.number(value + 0.0, f",.{min(decimals, 9)}f") for value in values)


def padded(low: float, high: float, share: float = 0.0) -> tuple[float, float]:
    """The range widened by a share of itself on both sides; never empty, always finite."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    if high - low <= abs(high) * 1e-12:
        margin = abs(high) * 0.5 or 0.5
        return low - margin, high + margin
    margin = (high - low) * share
    return low - margin, high + margin


def small(font: QFont) -> QFont:
    """The font of the labels of axes, a pixel smaller."""
    smaller = QFont(font)
    smaller.setPixelSize(max(9, _pixels(font) - 1))
    return smaller


def frame(
    size: QSizeF,
    font: QFont,
    across: tuple[float, float],
    up: tuple[float, float],
    titles: tuple[str, str],
    *,
    head: float,
) -> Frame:
    """Axes for these ranges; `head` pixels above them stay free."""
    metrics = QFontMetricsF(small(font))
    bottom = metrics.height() + SMALL + (metrics.height() + TINY if titles[0] else 0) + TINY
    top = head + MEDIUM + (metrics.height() + TINY if titles[1] else 0)
    height = max(10.0, size.height() - top - bottom)
    shown = labels(ticks(*up, _count(height, _TICK_HEIGHT)))
    left = max((metrics.horizontalAdvance(each) for each in shown), default=0.0) + SMALL + MEDIUM
    box = QRectF(left, top, max(10.0, size.width() - left - _RIGHT), height)
    return Frame(
        box, Scale(*across, box.left(), box.right()), Scale(*up, box.bottom(), box.top()), titles[0], titles[1]
    )


def paint_frame(painter: QPainter, shown: Frame, font: QFont) -> None:
    """Paint grid lines, the numbers of both axes and the titles; layers are painted over it."""
    box, metrics = shown.box, QFontMetricsF(small(font))
    painter.save()
    painter.setFont(small(font))
    values = ticks(shown.up.low, shown.up.high, _count(box.height(), _TICK_HEIGHT))
    for value, text in zip(values, labels(values), strict=True):
        level = shown.up.pixel(value)
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawLine(QPointF(box.left(), round(level) + 0.5), QPointF(box.right(), round(level) + 0.5))
        painter.setPen(theme.colour("quiet"))
        at = QRectF(0, level - metrics.height() / 2, box.left() - SMALL, metrics.height())
        painter.drawText(at, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
    values = ticks(shown.across.low, shown.across.high, _count(box.width(), _TICK_WIDTH))
    for value, text in zip(values, labels(values), strict=True):
        x = shown.across.pixel(value)
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawLine(QPointF(round(x) + 0.5, box.bottom()), QPointF(round(x) + 0.5, box.bottom() + TINY))
        painter.setPen(theme.colour("quiet"))
        at = QRectF(x - _TICK_WIDTH / 2, box.bottom() + TINY, _TICK_WIDTH, metrics.height())
        painter.drawText(at, Qt.AlignmentFlag.AlignCenter, text)
    painter.setPen(theme.colour("quiet"))
    below = QRectF(box.left(), box.bottom() + TINY + metrics.height() + TINY, box.width(), metrics.height())
    painter.drawText(below, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, shown.across_title)
    above = QRectF(MEDIUM, box.top() - metrics.height() - SMALL, box.width(), metrics.height())
    painter.drawText(above, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown.up_title)
    painter.restore()


def _count(pixels: float, each: float) -> int:
    return max(1, int(pixels // each))


def _pixels(font: QFont) -> int:
    return font.pixelSize() if font.pixelSize() > 0 else round(QFontMetricsF(font).height() * 0.75)
