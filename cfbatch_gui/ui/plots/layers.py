"""The layers of a chart: what they hold, how they are painted, the range they need, and what is under the mouse."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from cfbatch_gui.ui import display, theme
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.plots.colours import of_role
from cfbatch_gui.ui.plots.dot_map import paint_dots, radius_for
from cfbatch_gui.ui.plots.plot import Frame, labels, padded

_NEAR = 10.0  # pixels from the mouse to the dot it means
_MARGIN = 0.03
_HEAD_ROOM = 1.06


@dataclass(frozen=True, eq=False)
class Bars:
    """A histogram: `edges` has one number more than `heights`. `role` is a colour role of the theme."""

    edges: NDArray[np.floating]
    heights: NDArray[np.number]
    name: str = ""
    role: str = "accent"


@dataclass(frozen=True, eq=False)
class Steps(Bars):
    role: str = "attention"


@dataclass(frozen=True, eq=False)
class Dots:
    """A dot for each index of `x` and `y` whose values are finite; `describe` gives the text of its tip."""

    x: NDArray[np.floating]
    y: NDArray[np.floating]
    name: str = ""
    role: str = "accent"
    describe: Callable[[int], str] | None = None


@dataclass(frozen=True)
class Mark:
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


@dataclass(frozen=True, slots=True)
class Found:
    """`dot` is an index in the first layer of dots, -1 for anything else."""

    at: QPointF
    text: str
    dot: int = -1


def range_across(layers: Sequence[Layer]) -> tuple[float, float]:
    has_dots = any(isinstance(layer, Dots) for layer in layers)
    found = [_finite(layer.x) for layer in layers if isinstance(layer, Dots)]
    found += [_finite(layer.edges) for layer in layers if isinstance(layer, Bars)]
    marks = np.array([layer.at for layer in layers if isinstance(layer, Mark)])
    return _range([*found, marks], _MARGIN if has_dots else 0.0)


def range_up(layers: Sequence[Layer]) -> tuple[float, float]:
    dots = [_finite(layer.y) for layer in layers if isinstance(layer, Dots)]
    if dots:
        return _range(dots, _MARGIN)
    heights = [_finite(layer.heights) for layer in layers if isinstance(layer, Bars)]
    top = max((float(each.max()) for each in heights if len(each)), default=0.0)
    return 0.0, top * _HEAD_ROOM if top > 0 else 1.0


def paint_layer(painter: QPainter, shown: Frame, layer: Layer) -> None:
    painter.save()
    match layer:
        case Steps():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour(layer.role), 1.75))
            painter.drawPolyline(_outline(shown, layer))
        case Bars():
            _paint_bars(painter, shown, layer)
        case Dots():
            x, y = shown.across.pixels(layer.x), shown.up.pixels(layer.y)
            there = np.isfinite(x) & np.isfinite(y)
            radius = radius_for(int(there.sum()), shown.box.width() * shown.box.height())
            paint_dots(painter, shown.box, x[there], y[there], colours=of_role(layer.role), radius=radius)
        case Line():
            ends = (shown.across.low, shown.across.high)
            points = [QPointF(shown.across.pixel(end), shown.up.pixel(layer.start + layer.slope * end)) for end in ends]
            painter.setPen(QPen(theme.colour(layer.role), 1, Qt.PenStyle.DashLine))
            painter.drawLine(points[0], points[1])
        case Mark():
            pass
    painter.restore()


def describe_at(layers: Sequence[Layer], shown: Frame, mouse: QPointF) -> Found | None:
    dots = next((layer for layer in layers if isinstance(layer, Dots)), None)
    if dots is not None:
        return _dot_at(dots, shown, mouse)
    bars = [layer for layer in layers if isinstance(layer, Bars)]
    value = shown.across.low + (mouse.x() - shown.box.left()) / shown.box.width() * (
        shown.across.high - shown.across.low
    )
    lines = []
    for layer in bars:
        index = int(np.searchsorted(layer.edges, value, side="right")) - 1
        if 0 <= index < len(layer.heights):
            low, high = labels((float(layer.edges[index]), float(layer.edges[index + 1])))
            height = np.asarray(layer.heights[index]).item()
            count = display.number(height, "," if isinstance(height, int) else ",.4g")
            lines.append(f"{layer.name or shown.up_title}: {count}  ({low} – {high})")
    return Found(mouse, "\n".join(lines)) if lines else None


def _dot_at(layer: Dots, shown: Frame, mouse: QPointF) -> Found | None:
    x, y = shown.across.pixels(layer.x), shown.up.pixels(layer.y)
    away = np.hypot(x - mouse.x(), y - mouse.y())
    away[~np.isfinite(away)] = np.inf
    if not len(away) or away.min() > _NEAR:
        return None
    index = int(away.argmin())
    text = layer.describe(index) if layer.describe else f"{score_text(layer.x[index])} · {score_text(layer.y[index])}"
    return Found(QPointF(float(x[index]), float(y[index])), text, index)


def _paint_bars(painter: QPainter, shown: Frame, layer: Bars) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour(layer.role))
    edges, tops = shown.across.pixels(layer.edges), shown.up.pixels(layer.heights.astype(np.float64))
    gap = 1.0 if len(tops) and (edges[-1] - edges[0]) / len(tops) > 4 else 0.0
    for left, right, top in zip(edges[:-1].tolist(), edges[1:].tolist(), tops.tolist(), strict=True):
        if top < shown.box.bottom():
            painter.drawRect(QRectF(left + gap / 2, top, max(0.5, right - left - gap), shown.box.bottom() - top))


def _outline(shown: Frame, layer: Steps) -> QPolygonF:
    edges, tops = shown.across.pixels(layer.edges).tolist(), shown.up.pixels(layer.heights.astype(np.float64)).tolist()
    points = [QPointF(edges[0], shown.box.bottom())] if edges else []
    for left, right, top in zip(edges[:-1], edges[1:], tops, strict=True):
        points += [QPointF(left, top), QPointF(right, top)]
    return QPolygonF([*points, *([QPointF(edges[-1], shown.box.bottom())] if edges else [])])


def _finite(values: NDArray[np.number]) -> NDArray[np.float64]:
    wide = values.astype(np.float64)
    return wide[np.isfinite(wide)]


def _range(found: Sequence[NDArray[np.float64]], margin: float) -> tuple[float, float]:
    there = [each for each in found if len(each)]
    if not there:
        return 0.0, 1.0
    return padded(min(float(each.min()) for each in there), max(float(each.max()) for each in there), margin)
