"""A chart: two axes and layers over them, how these are painted, and what is under the mouse."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPen, QPolygonF

from cfbatch_gui.core.results.exports.base import Cell
from cfbatch_gui.ui import display, theme
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.plots.colours import of_role
from cfbatch_gui.ui.plots.dot_map import paint_dots
from cfbatch_gui.ui.plots.plot import Frame, Plot, PlotData, frame, labels, padded, paint_frame, small
from cfbatch_gui.ui.theme import LARGE, SMALL

_NEAR = 10.0  # pixels from the mouse to the dot it means
_MARGIN = 0.03
_HEAD_ROOM = 1.06
_APART = 0.3  # of a bar's width, between bars that are not parts of one histogram


@dataclass(frozen=True, eq=False)
class Bars:
    """A histogram: `edges` has one number more than `heights`. `role` is a colour role of the theme. With `describe`,
    which gives the text of its tip, each bar is something of its own.
    """

    edges: NDArray[np.floating]
    heights: NDArray[np.number]
    name: str = ""
    role: str = "accent"
    describe: Callable[[int], str] | None = None


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


@dataclass(frozen=True)
class Band:
    """From `low` to `high` over the whole width."""

    low: float
    high: float
    role: str = "selection"


Layer = Bars | Dots | Mark | Line | Band


@dataclass(frozen=True, slots=True)
class Found:
    """`index` is that of a dot, or of a bar that is something of its own; -1 for anything else."""

    text: str
    index: int = -1


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
    ends = [end for layer in layers if isinstance(layer, Band) for end in (layer.low, layer.high)]
    found = [*(_finite(layer.heights) for layer in layers if isinstance(layer, Bars)), np.array(ends)]
    low = min((float(each.min()) for each in found if len(each)), default=0.0)
    high = max((float(each.max()) for each in found if len(each)), default=0.0)
    return min(0.0, low * _HEAD_ROOM), high * _HEAD_ROOM if high > 0 else float(low >= 0)


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
            dots = np.column_stack((shown.across.pixels(layer.x), shown.up.pixels(layer.y)))
            there = dots[np.isfinite(dots).all(axis=1)]
            paint_dots(painter, shown.box, there, np.tile(of_role(layer.role), (len(there), 1)))
        case Line():
            ends = (shown.across.low, shown.across.high)
            points = [QPointF(shown.across.pixel(end), shown.up.pixel(layer.start + layer.slope * end)) for end in ends]
            painter.setPen(QPen(theme.colour(layer.role), 1, Qt.PenStyle.DashLine))
            painter.drawLine(points[0], points[1])
        case Band():
            top, bottom = shown.up.pixel(layer.high), shown.up.pixel(layer.low)
            painter.fillRect(
                QRectF(shown.box.left(), top, shown.box.width(), max(1.0, bottom - top)), theme.colour(layer.role)
            )
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
            if layer.describe is not None:
                return Found(layer.describe(index), index)
            low, high = labels((float(layer.edges[index]), float(layer.edges[index + 1])))
            height = np.asarray(layer.heights[index]).item()
            count = display.number(height, "," if isinstance(height, int) else ",.4g")
            lines.append(f"{layer.name or shown.up_title}: {count}  ({low} – {high})")
    return Found("\n".join(lines)) if lines else None


def _dot_at(layer: Dots, shown: Frame, mouse: QPointF) -> Found | None:
    x, y = shown.across.pixels(layer.x), shown.up.pixels(layer.y)
    away = np.hypot(x - mouse.x(), y - mouse.y())
    away[~np.isfinite(away)] = np.inf
    if not len(away) or away.min() > _NEAR:
        return None
    index = int(away.argmin())
    text = layer.describe(index) if layer.describe else f"{score_text(layer.x[index])} · {score_text(layer.y[index])}"
    return Found(text, index)


def _paint_bars(painter: QPainter, shown: Frame, layer: Bars) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour(layer.role))
    edges, tops = shown.across.pixels(layer.edges), shown.up.pixels(layer.heights.astype(np.float64))
    width = (edges[-1] - edges[0]) / max(1, len(tops))
    gap = 1.0 if width > 4 else 0.0
    if layer.describe is not None:
        gap = width * _APART
    foot = shown.up.pixel(0.0)
    for left, right, top in zip(edges[:-1].tolist(), edges[1:].tolist(), tops.tolist(), strict=True):
        if top != foot:
            painter.drawRect(QRectF(left + gap / 2, top, max(0.5, right - left - gap), foot - top).normalized())


def _outline(shown: Frame, layer: Steps) -> QPolygonF:
    tops = np.pad(layer.heights.astype(np.float64), 1)  # from the foot and back to it
    across, up = shown.across.pixels(np.repeat(layer.edges, 2)), shown.up.pixels(np.repeat(tops, 2)[1:-1])
    return QPolygonF(list(map(QPointF, across.tolist(), up.tolist())))


def _finite(values: NDArray[np.number]) -> NDArray[np.float64]:
    wide = values.astype(np.float64)
    return wide[np.isfinite(wide)]


def _range(found: Sequence[NDArray[np.float64]], margin: float) -> tuple[float, float]:
    there = [each for each in found if len(each)]
    if not there:
        return 0.0, 1.0
    return padded(min(float(each.min()) for each in there), max(float(each.max()) for each in there), margin)


_SWATCH = 10


class Chart(Plot):
    """`picked` brings the index of a clicked dot, or of a bar that is something of its own."""

    picked = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.layers: tuple[Layer, ...] = ()
        self._titles = ("", "")
        self._data: Callable[[], PlotData] | None = None
        self._summary = ""

    def show_layers(
        self,
        layers: Sequence[Layer],
        *,
        across: str,
        up: str,
        data: Callable[[], PlotData] | None = None,
        summary: str = "",
    ) -> None:
        """`across` and `up` are the titles of the axes; without `across` there are no numbers below. `data` gives
        other rows, and `summary` other words, than the layers'.
        """
        self.layers, self._titles, self._data, self._summary = tuple(layers), (across, up), data, summary
        self.show_again()

    def sizeHint(self) -> QSize:
        return QSize(560, 280)

    def draw(self, painter: QPainter, size: QSizeF, *, as_picture: bool) -> None:
        shown = self._frame(size)
        paint_frame(painter, shown, self.font())
        painter.save()
        painter.setClipRect(shown.box.adjusted(-4, -4, 4, 1))
        for layer in self.layers:
            paint_layer(painter, shown, layer)
        painter.restore()
        self._paint_marks(painter, shown)
        painter.setPen(QPen(theme.colour("quiet"), 1))
        has_bars = any(isinstance(layer, Bars) for layer in self.layers)
        foot = shown.up.pixel(0.0) if has_bars else shown.box.bottom()
        painter.drawLine(QPointF(shown.box.left(), foot), QPointF(shown.box.right(), foot))
        self._paint_legend(painter, size)

    def summary(self) -> str:
        if self._summary:
            return self._summary
        across, up = self._titles
        ranges: list[tuple[str, NDArray[np.floating]]] = []
        for layer in self.layers:
            if isinstance(layer, Bars):
                ranges.append((layer.name or up, layer.edges))
            elif isinstance(layer, Dots):
                ranges += [(across, layer.x), (up, layer.y)]
        pattern = self.tr("{title}: from {low} to {high}.")
        words = [
            pattern.format(title=title, low=score_text(there.min()), high=score_text(there.max()))
            for title, values in ranges
            if len(there := _finite(values))
        ]
        return " ".join([*words, *(f"{layer.name}." for layer in self.layers if isinstance(layer, Mark))])

    def data(self) -> PlotData:
        if self._data is not None:
            return self._data()
        across, up = self._titles
        if any(isinstance(layer, Dots) for layer in self.layers):
            return PlotData((self.tr("series"), across or "x", up or "y", self.tr("text")), self._dots())
        columns = (self.tr("series"), self.tr("from"), self.tr("to"), up or self.tr("count"))
        return PlotData(columns, self._bars())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        found = self._found_at(event.position())
        self.show_tip(event.globalPosition().toPoint(), found.text if found is not None else "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        found = self._found_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and found is not None and found.index >= 0:
            self.picked.emit(found.index)

    def _found_at(self, mouse: QPointF) -> Found | None:
        shown = self._frame(QSizeF(self.size()))
        return describe_at(self.layers, shown, mouse) if shown.box.contains(mouse) else None

    def _frame(self, size: QSizeF) -> Frame:
        head = QFontMetricsF(self.font()).height() + SMALL if any(self._named()) else 0.0
        ranges = range_across(self.layers), range_up(self.layers)
        return frame(size, self.font(), *ranges, self._titles, head=head)

    def _named(self) -> Iterator[Bars | Dots]:
        return (each for each in self.layers if isinstance(each, Bars | Dots) and each.name)

    def _paint_legend(self, painter: QPainter, size: QSizeF) -> None:
        metrics = QFontMetricsF(self.font())
        left = size.width() - LARGE
        painter.save()
        for layer in reversed(list(self._named())):
            left -= metrics.horizontalAdvance(layer.name)
            painter.setPen(theme.colour("text"))
            painter.drawText(QPointF(left, SMALL + metrics.ascent()), layer.name)
            left -= _SWATCH + SMALL
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour(layer.role))
            radius = _SWATCH / 2 if isinstance(layer, Dots) else 2
            top = SMALL + (metrics.height() - _SWATCH) / 2
            painter.drawRoundedRect(QRectF(left, top, _SWATCH, _SWATCH), radius, radius)
            left -= LARGE
        painter.restore()

    def _paint_marks(self, painter: QPainter, shown: Frame) -> None:
        painter.save()
        painter.setFont(small(self.font()))
        metrics = QFontMetricsF(painter.font())
        for layer in self.layers:
            if not isinstance(layer, Mark) or not shown.across.low <= layer.at <= shown.across.high:
                continue
            x = round(shown.across.pixel(layer.at)) + 0.5
            painter.setPen(QPen(theme.colour(layer.role), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, shown.box.top()), QPointF(x, shown.box.bottom()))
            width = metrics.horizontalAdvance(layer.name)
            left = x + 6 if x + 6 + width < shown.box.right() else x - 6 - width
            painter.setPen(theme.colour(layer.role))
            painter.drawText(QPointF(left, shown.box.top() + metrics.ascent()), layer.name)
        painter.restore()

    def _bars(self) -> Iterator[tuple[Cell, ...]]:
        for layer in self.layers:
            if isinstance(layer, Bars):
                for low, high, height in zip(layer.edges[:-1], layer.edges[1:], layer.heights, strict=True):
                    yield layer.name, float(low), float(high), np.asarray(height).item()

    def _dots(self) -> Iterator[tuple[Cell, ...]]:
        for layer in self.layers:
            if isinstance(layer, Dots):
                for index, (x, y) in enumerate(zip(layer.x.tolist(), layer.y.tolist(), strict=True)):
                    yield layer.name, x, y, layer.describe(index) if layer.describe else ""
