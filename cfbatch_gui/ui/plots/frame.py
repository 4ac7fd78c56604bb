"""The axes of a chart: where the drawing stands, its ticks, thin lines and titles."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.plots.scales import Scale, labels, ticks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY

_TICK_WIDTH, _TICK_HEIGHT = 84, 44  # pixels that a label has for itself
_RIGHT = 16


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes at one size: `box` is the inside, in logical pixels."""

    box: QRectF
    across: Scale
    up: Scale
    across_title: str
    up_title: str


def small(font: QFont) -> QFont:
    """For what stands on axes."""
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
    """Thin lines across, numbers at both axes, the titles; the drawing comes over it."""
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
        place = shown.across.pixel(value)
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawLine(QPointF(round(place) + 0.5, box.bottom()), QPointF(round(place) + 0.5, box.bottom() + TINY))
        painter.setPen(theme.colour("quiet"))
        at = QRectF(place - _TICK_WIDTH / 2, box.bottom() + TINY, _TICK_WIDTH, metrics.height())
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
