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
from cfbatch_gui.ui.plots.dot_map import paint_dots, radius_for
from cfbatch_gui.ui.plots.plot import Frame, Plot, PlotData, frame, labels, padded, paint_frame, paint_tip, small
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL

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


_SWATCH = 10


class Chart(Plot):
    """`picked` brings the index of a clicked dot, counted through the first layer of dots."""

    picked = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.layers: tuple[Layer, ...] = ()
        self._titles = ("", "")
        self._data: Callable[[], PlotData] | None = None

    def show_layers(
        self, layers: Sequence[Layer], *, across: str, up: str, data: Callable[[], PlotData] | None = None
    ) -> None:
        """`across` and `up` are the titles of the axes, "" for none; `data` gives other rows than the layers'."""
        self.layers, self._titles, self._data = tuple(layers), (across, up), data
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
        painter.drawLine(shown.box.bottomLeft(), shown.box.bottomRight())
        self._paint_legend(painter, size)
        if not as_picture and self._mouse is not None and shown.box.contains(self._mouse):
            found = describe_at(self.layers, shown, self._mouse)
            if found is not None:
                paint_tip(painter, size, found.at, found.text)

    def summary(self) -> str:
        across, up = self._titles
        words = []
        for layer in self.layers:
            if isinstance(layer, Bars):
                words.append(self._bars_in_words(layer, layer.name or up))
            elif isinstance(layer, Dots):
                words.append(self._dots_in_words(layer, across, up))
            elif isinstance(layer, Mark) and layer.name:
                value = score_text(layer.at)
                pattern = self.tr("{name}.") if value in layer.name else self.tr("{name} at {value}.")
                words.append(pattern.format(name=layer.name, value=value))
        return " ".join(filter(None, words))

    def data(self) -> PlotData:
        if self._data is not None:
            return self._data()
        across, up = self._titles
        if any(isinstance(layer, Dots) for layer in self.layers):
            return PlotData((self.tr("series"), across or "x", up or "y", self.tr("text")), self._dots())
        columns = (self.tr("series"), self.tr("from"), self.tr("to"), up or self.tr("count"))
        return PlotData(columns, self._bars())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            found = describe_at(self.layers, self._frame(QSizeF(self.size())), event.position())
            if found is not None and found.dot >= 0:
                self.picked.emit(found.dot)

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
            swatch = QRectF(left, SMALL + (metrics.height() - _SWATCH) / 2, _SWATCH, _SWATCH)
            colour = theme.colour(layer.role)
            if isinstance(layer, Steps):
                painter.setPen(QPen(colour, 2))
                painter.drawLine(
                    QPointF(swatch.left(), swatch.center().y()), QPointF(swatch.right(), swatch.center().y())
                )
            else:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour)
                radius = _SWATCH / 2 if isinstance(layer, Dots) else 2
                painter.drawRoundedRect(swatch, radius, radius)
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

    def _bars_in_words(self, layer: Bars, name: str) -> str:
        if not len(layer.heights):
            return ""
        highest = int(np.argmax(layer.heights))
        low, high, left, right = (score_text(layer.edges[at]) for at in (0, -1, highest, highest + 1))
        return self.tr("{name}: from {low} to {high}, most between {left} and {right}.").format(
            name=name, low=low, high=high, left=left, right=right
        )

    def _dots_in_words(self, layer: Dots, across: str, up: str) -> str:
        is_shown = np.isfinite(layer.x) & np.isfinite(layer.y)
        words = [display.plural(int(is_shown.sum()), "{n} dot.", "{n} dots.")]
        for title, values in ((across, layer.x[is_shown]), (up, layer.y[is_shown])):
            if title and len(values):
                low, high = score_text(values.min()), score_text(values.max())
                words.append(self.tr("{title}: from {low} to {high}.").format(title=title, low=low, high=high))
        return " ".join(words)

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


_GAP = 0.35  # of a bar's width
_WIDEST = 44.0  # pixels of a bar with its gap
_SAME = 1e-9


class DifferenceChart(Plot):
    """`picked` brings the index of the bar that was clicked."""

    picked = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._values: tuple[float, ...] = ()
        self._interval: tuple[float, float] | None = None
        self._titles = ("", "")
        self._columns = ("", "")
        self._describe: Callable[[int], str] = str

    def show_differences(
        self,
        values: Sequence[float],
        interval: tuple[float, float] | None,
        *,
        titles: tuple[str, str],
        columns: tuple[str, str],
        describe: Callable[[int], str],
    ) -> None:
        """Bars in the order given, over a band for the interval of their mean; `columns` head the picture's data."""
        self._values, self._interval, self._titles = tuple(values), interval, titles
        self._columns, self._describe = columns, describe
        self.show_again()

    def sizeHint(self) -> QSize:
        return QSize(560, 240)

    def draw(self, painter: QPainter, size: QSizeF, *, as_picture: bool) -> None:
        box = self._box(size)
        zero, scale = self._zero_and_scale(box)
        width = self._bar_width(box)
        box.setWidth(min(box.width(), width * len(self._values)))
        painter.setPen(Qt.PenStyle.NoPen)
        if self._interval is not None:
            low, high = (zero - value * scale for value in self._interval)
            painter.setBrush(theme.colour("selection"))
            painter.drawRect(QRectF(box.left(), high, box.width(), max(1.0, low - high)))
        for index, value in enumerate(self._values):
            painter.setBrush(theme.colour("accent" if value > 0 else "attention"))
            bar = QRectF(box.left() + index * width, zero, max(1.0, width * (1 - _GAP)), -value * scale).normalized()
            if abs(value) > _SAME:
                painter.drawRoundedRect(bar, min(2.0, bar.width() / 4), min(2.0, bar.width() / 4))
        painter.setPen(QPen(theme.colour("quiet"), 1))
        painter.drawLine(QPointF(box.left(), round(zero) + 0.5), QPointF(box.right(), round(zero) + 0.5))
        self._paint_titles(painter, size)
        if not as_picture and self._mouse is not None and (index := self._bar_at(self._mouse)) >= 0:
            paint_tip(painter, size, self._mouse, self._describe(index))

    def summary(self) -> str:
        if not self._values:
            return ""
        better = sum(value > _SAME for value in self._values)
        worse = sum(value < -_SAME for value in self._values)
        counts = self.tr("{better} better, {worse} worse, {same} the same.").format(
            better=display.number(better),
            worse=display.number(worse),
            same=display.number(len(self._values) - better - worse),
        )
        ends = (better and self._values.index(max(self._values)), worse and self._values.index(min(self._values)))
        first, last = (self._describe(at).replace("\n", ", ") for at in ends)
        gain = self.tr("The largest gain: {query}.").format(query=first) if better else ""
        loss = self.tr("The largest loss: {query}.").format(query=last) if worse else ""
        return " ".join(filter(None, (counts, gain, loss)))

    def data(self) -> PlotData:
        rows = [(self._describe(index).split("\n")[0], value) for index, value in enumerate(self._values)]
        return PlotData(self._columns, rows)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self._bar_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index >= 0:
            self.picked.emit(index)

    def _box(self, size: QSizeF) -> QRectF:
        below = QFontMetricsF(small(self.font())).height() + MEDIUM
        return QRectF(0, SMALL, size.width(), max(10.0, size.height() - below - SMALL))

    def _zero_and_scale(self, box: QRectF) -> tuple[float, float]:
        """The pixel of 0 and how many pixels 1.0 is."""
        ends = (*self._values, *(self._interval or ()), 0.0)
        low, high = min(ends), max(ends)
        scale = (box.height() - 2) / (high - low) if high > low else 1.0
        return box.top() + 1 + high * scale, scale

    def _bar_width(self, box: QRectF) -> float:
        return min(_WIDEST, box.width() / max(1, len(self._values)))

    def _bar_at(self, position: QPointF) -> int:
        box = self._box(QSizeF(self.size()))
        index = int((position.x() - box.left()) // self._bar_width(box))
        return index if box.contains(position) and 0 <= index < len(self._values) else -1

    def _paint_titles(self, painter: QPainter, size: QSizeF) -> None:
        painter.setFont(small(self.font()))
        gain, loss = self._titles
        metrics = QFontMetricsF(painter.font())
        line = size.height() - metrics.descent() - 1
        painter.setPen(theme.colour("accent"))
        painter.drawText(QPointF(0, line), gain)
        painter.setPen(theme.colour("attention"))
        end = min(size.width(), self._bar_width(self._box(size)) * len(self._values))
        left = max(end - metrics.horizontalAdvance(loss), metrics.horizontalAdvance(gain) + 2 * MEDIUM)
        painter.drawText(QPointF(left, line), loss)
