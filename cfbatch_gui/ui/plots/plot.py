"""The base of all plots; and charts: two axes, layers over them, and what is under the mouse."""

import asyncio
import html
import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6 import QtGui
from PySide6.QtCore import QBuffer, QPoint, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter, QPen
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QToolTip, QWidget

from cfbatch_gui.core.results.exports.base import Cell
from cfbatch_gui.core.results.exports.csv_tables import Dialect
from cfbatch_gui.core.results.numbers import round_step
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.settings import RememberedFolder
from cfbatch_gui.ui import dialogs, display, theme
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots.colours import SWATCH, of_role, paint_dots, paint_entry
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, small_font
from cfbatch_gui.ui.widgets import Button, IconButton, QuietButton, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import tr

_TICK_WIDTH, _TICK_HEIGHT = 84, 44  # pixels for each label
_RIGHT = 16


_Values = TypeVar("_Values", float, NDArray[np.float64])


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes at one size: `box` is the inside, in logical pixels; `across` and `up` are lowest and highest values."""

    box: QRectF
    across: tuple[float, float]
    up: tuple[float, float]
    titles: tuple[str, str]

    def x(self, values: _Values) -> _Values:
        low, high = self.across
        return self.box.left() + (values - low) / (high - low) * self.box.width()

    def y(self, values: _Values) -> _Values:
        low, high = self.up
        return self.box.bottom() - (values - low) / (high - low) * self.box.height()

    def points(self, across: NDArray[np.floating], up: NDArray[np.number]) -> NDArray[np.float64]:
        return np.column_stack((self.x(across.astype(np.float64)), self.y(up.astype(np.float64))))


def ticks(ends: tuple[float, float], pixels: float, each: float) -> list[tuple[float, str]]:
    """Round numbers on an axis, evenly spaced with at least `each` pixels between them, and how they are written."""
    low, high = ends
    step = round_step((high - low) / max(1, int(pixels // each)) * (1 - 1e-9))
    numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(number * step, figures.number(number * step + 0.0, ",.10g")) for number in numbers]


def padded(values: NDArray[np.float64], share: float = 0.0) -> tuple[float, float]:
    """The range of finite values, widened by a share of itself on both sides; never empty."""
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = (high - low) * share
    if high - low <= abs(high) * 1e-12:
        margin = abs(high) * 0.5 or 0.5
    return low - margin, high + margin


def paint_frame(painter: QPainter, shown: Frame, font: QFont) -> None:
    box, metrics = shown.box, QFontMetricsF(small_font(font))
    line, quiet = QPen(theme.colour("line"), 1), theme.colour("quiet")
    middle = Qt.AlignmentFlag.AlignVCenter
    right, left = Qt.AlignmentFlag.AlignRight | middle, Qt.AlignmentFlag.AlignLeft | middle
    painter.save()
    painter.setFont(small_font(font))
    for value, text in ticks(shown.up, box.height(), _TICK_HEIGHT) if shown.titles[1] else ():
        level = shown.y(value)
        painter.setPen(line)
        painter.drawLine(QPointF(box.left(), round(level) + 0.5), QPointF(box.right(), round(level) + 0.5))
        painter.setPen(quiet)
        painter.drawText(QRectF(0, level - metrics.height() / 2, box.left() - SMALL, metrics.height()), right, text)
    for value, text in ticks(shown.across, box.width(), _TICK_WIDTH) if shown.titles[0] else ():
        x = shown.x(value)
        painter.setPen(line)
        painter.drawLine(QPointF(round(x) + 0.5, box.bottom()), QPointF(round(x) + 0.5, box.bottom() + TINY))
        painter.setPen(quiet)
        at = QRectF(x - _TICK_WIDTH / 2, box.bottom() + TINY, _TICK_WIDTH, metrics.height())
        painter.drawText(at, Qt.AlignmentFlag.AlignCenter, text)
    painter.setPen(quiet)
    below = QRectF(box.left(), box.bottom() + TINY + metrics.height() + TINY, box.width(), metrics.height())
    painter.drawText(below, right, shown.titles[0])
    above = QRectF(MEDIUM, box.top() - metrics.height() - SMALL, box.width(), metrics.height())
    painter.drawText(above, left, shown.titles[1])
    painter.restore()


_PICTURE_SCALE = 2.0  # pixels of a saved picture for one of the screen
_LEAST_WIDTH = 1_600


@dataclass(frozen=True, slots=True)
class PlotData:
    """The numbers behind a plot; `rows` may be read in a thread, once."""

    columns: tuple[str, ...]
    rows: Iterable[Sequence[Cell]]

    def csv(self, separator: str = ",") -> bytes:
        """Cells that look like formulas are escaped."""
        dialect = Dialect(separator)
        return dialect.start + dialect.encode([self.columns]) + dialect.encode(self.rows)


class Plot(QWidget):
    """A widget whose paint code also makes its picture; `name` is its accessible name."""

    accessible_role = QtGui.QAccessible.Role.Chart

    def __init__(self, name: str) -> None:
        super().__init__()
        self._data: Callable[[], PlotData] = lambda: PlotData((), ())
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(200, 120)

    @abstractmethod
    def draw(self, painter: QPainter, size: QSizeF, *, as_picture: bool) -> None:
        """Paint everything, in logical pixels; a picture has no hover and no keyboard ring."""
        raise NotImplementedError

    @abstractmethod
    def summary(self) -> str:
        raise NotImplementedError

    def data(self) -> PlotData:
        """The numbers that are shown."""
        return self._data()

    def show_again(self) -> None:
        self.setAccessibleDescription(self.summary())
        self.update()

    def picture(self) -> QImage:
        """At twice the resolution of the screen, at least 1,600 pixels wide."""
        scale = max(_PICTURE_SCALE, _LEAST_WIDTH / max(1, self.width()))
        image = QImage(self.size() * scale, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(scale)
        image.fill(theme.colour("window"))
        with QPainter(image) as painter:
            self._draw(painter, as_picture=True)
        return image

    def svg(self) -> bytes:
        buffer = QBuffer()
        generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
        generator.setOutputDevice(buffer)
        generator.setSize(self.size())
        generator.setViewBox(self.rect())
        generator.setResolution(96)
        generator.setTitle(self.accessibleName())
        with QPainter(generator) as painter:
            painter.fillRect(QRectF(self.rect()), theme.colour("window"))
            self._draw(painter, as_picture=True)
        return bytes(buffer.data().data())

    def copy(self) -> None:
        QtGui.QGuiApplication.clipboard().setImage(self.picture())

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        with QPainter(self) as painter:
            self._draw(painter, as_picture=False)

    def show_tip(self, at: QPoint, text: str) -> None:
        """Show what is under the mouse, `at` on the screen; "" shows nothing."""
        words = f"<p style='white-space: pre-wrap'>{html.escape(text)}</p>"  # Qt breaks the lines of rich text alone
        QToolTip.showText(at, words if text else "", self)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.matches(QtGui.QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def _draw(self, painter: QPainter, *, as_picture: bool) -> None:
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # axes grow to the right everywhere
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.setFont(self.font())
        self.draw(painter, QSizeF(self.size()), as_picture=as_picture)


class PictureButtons(QWidget):
    """`name` is what the file is called at first, without suffix; `folder` where the dialog begins. For little room
    there are icons, one of them for the data alone.
    """

    def __init__(
        self,
        plot: Plot,
        notices: Notices,
        tasks: Tasks,
        folder: RememberedFolder | None,
        name: str = "",
        *,
        as_icons: bool = False,
    ) -> None:
        super().__init__()
        self._plot, self._notices, self._folder, self._name = plot, notices, folder, name

        def save(suffix: str) -> None:
            tasks.start("save picture", self._save(suffix))

        self.copy_button: Button = IconButton("copy", tr("Copy the picture"), self._copy)
        self.save_button: Button = QuietButton(
            tr("Save picture…"), "image", partial(save, "png"), tip=tr("As PNG or SVG, or the data behind it as CSV")
        )
        if as_icons:
            self.copy_button = IconButton("table", tr("Save the table…"), partial(save, "csv"))
            self.save_button = IconButton("image", tr("Save picture…"), partial(save, "png"))
        self.setLayout(row(self.copy_button, self.save_button, gap=TINY))

    def set_name(self, name: str) -> None:
        self._name = name

    async def write(self, path: Path) -> None:
        """Write CSV, SVG, or for any other suffix PNG. Raises DiskFull, ExportError."""
        match path.suffix.lower():
            case ".csv":
                content = await asyncio.to_thread(self._plot.data().csv, display.csv_separator())
            case ".svg":
                content = self._plot.svg()
            case _:
                content = await asyncio.to_thread(encoded, self._plot.picture())
        await asyncio.to_thread(write_atomically, path, content)
        self._notices.show_written(worded("Wrote “{name}”.", name=path.name), path)

    async def _save(self, suffix: str) -> None:
        data = tr("The data behind it, as CSV (*.csv)")
        path = await dialogs.save_file(
            self,
            tr("Save picture") if suffix == "png" else tr("Save the table"),
            name=f"{self._name}.{suffix}",
            filters=(tr("PNG picture (*.png)"), tr("SVG drawing (*.svg)"), data) if suffix == "png" else (data,),
            folder=self._folder,
        )
        if path is not None:
            await self.write(path)

    def _copy(self) -> None:
        self._plot.copy()
        self._notices.show_notice(tr("The picture is on the clipboard."), "done")


def encoded(image: QImage) -> bytes:
    buffer = QBuffer()
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # its stub has a device without a format
    return bytes(buffer.data().data())


_NEAR = 10.0  # pixels from the mouse to the dot it means
_MARGIN = 0.03
_HEAD_ROOM = 1.06
_APART = 0.3  # of a bar's width, between bars that are not parts of one histogram
_WIDEST, _ROUND = 40.0, 3.0  # pixels, of such a bar


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
    describe: Callable[[int], str]


@dataclass(frozen=True)
class Mark:
    at: float
    name: str


@dataclass(frozen=True)
class Diagonal:
    """Where both axes have the same value."""


@dataclass(frozen=True)
class Band:
    """From `low` to `high` over the whole width."""

    low: float
    high: float


Layer = Bars | Dots | Mark | Diagonal | Band
# What is under the mouse, and the index of a dot, or of a bar that is something of its own; or -1.
Found = tuple[str, int]


def range_across(layers: Sequence[Layer]) -> tuple[float, float]:
    dots = [layer.x for layer in layers if isinstance(layer, Dots)]
    edges = (layer.edges for layer in layers if isinstance(layer, Bars))
    marks = (np.array([layer.at]) for layer in layers if isinstance(layer, Mark))
    return padded(_finite(*dots, *edges, *marks), _MARGIN if dots else 0.0)


def range_up(layers: Sequence[Layer]) -> tuple[float, float]:
    if dots := [layer.y for layer in layers if isinstance(layer, Dots)]:
        return padded(_finite(*dots), _MARGIN)
    heights = (layer.heights for layer in layers if isinstance(layer, Bars))
    ends = (np.array((layer.low, layer.high)) for layer in layers if isinstance(layer, Band))
    found = _finite(np.zeros(1), *heights, *ends)
    low, high = float(found.min()), float(found.max())
    return low * _HEAD_ROOM, high * _HEAD_ROOM if high > 0 else float(low >= 0)


def _finite(*values: NDArray[np.number]) -> NDArray[np.float64]:
    together: NDArray[np.float64] = np.concatenate([np.zeros(0), *values])
    return together[np.isfinite(together)]


def paint_layer(painter: QPainter, shown: Frame, layer: Layer) -> None:
    painter.save()
    match layer:
        case Steps():
            painter.setPen(QPen(theme.colour(layer.role), 1.75))
            tops = np.pad(layer.heights, 1)  # from the foot and back to it
            corners = shown.points(np.repeat(layer.edges, 2), np.repeat(tops, 2)[1:-1])
            painter.drawPolyline([QPointF(*corner) for corner in corners.tolist()])
        case Bars():
            _paint_bars(painter, shown, layer)
        case Dots():
            dots = shown.points(layer.x, layer.y)
            there = dots[np.isfinite(dots).all(axis=1)]
            paint_dots(painter, shown.box, there, np.tile(of_role("accent"), (len(there), 1)))
        case Diagonal():
            painter.setPen(QPen(theme.colour("quiet"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(*(QPointF(shown.x(end), shown.y(end)) for end in shown.across))
        case Band():
            top = shown.y(layer.high)
            box = QRectF(shown.box.left(), top, shown.box.width(), max(1.0, shown.y(layer.low) - top))
            painter.fillRect(box, theme.colour("selection"))
        case Mark() if shown.across[0] <= layer.at <= shown.across[1]:
            painter.setFont(small_font(painter.font()))
            metrics, x = QFontMetricsF(painter.font()), round(shown.x(layer.at)) + 0.5
            painter.setPen(QPen(theme.colour("text"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, shown.box.top()), QPointF(x, shown.box.bottom()))
            width = metrics.horizontalAdvance(layer.name)
            left = x + 6 if x + 6 + width < shown.box.right() else x - 6 - width
            painter.drawText(QPointF(left, shown.box.top() + metrics.ascent()), layer.name)
    painter.restore()


def describe_at(layers: Sequence[Layer], shown: Frame, mouse: QPointF) -> Found | None:
    lines = []
    for layer in layers:
        if isinstance(layer, Dots):
            away = np.hypot(*(shown.points(layer.x, layer.y) - mouse.toTuple()).T)
            away[~np.isfinite(away)] = np.inf
            if not len(away) or away.min() > _NEAR:
                return None
            index = int(away.argmin())
            return layer.describe(index), index
        if isinstance(layer, Bars):
            low, high = shown.across
            value = low + (mouse.x() - shown.box.left()) / shown.box.width() * (high - low)
            index = int(np.searchsorted(layer.edges, value, side="right")) - 1
            if 0 <= index < len(layer.heights):
                if layer.describe is not None:
                    return layer.describe(index), index
                ends = " – ".join(map(figures.score_text, layer.edges[index : index + 2].tolist()))
                count = figures.number(layer.heights[index].item(), ",.10g")
                lines.append(f"{layer.name or shown.titles[1]}: {count}  ({ends})")
    return ("\n".join(lines), -1) if lines else None


def _paint_bars(painter: QPainter, shown: Frame, layer: Bars) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour(layer.role))
    edges, tops = shown.x(layer.edges.astype(np.float64)), shown.y(layer.heights.astype(np.float64))
    width = (edges[-1] - edges[0]) / max(1, len(tops))
    gap = 1.0 if width > 4 else 0.0
    if layer.describe is not None:
        gap = max(width * _APART, width - _WIDEST)
    foot = shown.y(0.0)
    for (left, right), top in zip(pairwise(edges.tolist()), tops.tolist(), strict=True):
        if top != foot:
            box = QRectF(left + gap / 2, top, max(0.5, right - left - gap), foot - top).normalized()
            radius = 0.0 if layer.describe is None else min(_ROUND, box.width() / 4)
            painter.drawRoundedRect(box, radius, radius)


class Chart(Plot):
    """`picked` brings the index of a clicked dot, or of a bar that is something of its own."""

    picked = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.layers: tuple[Layer, ...] = ()
        self._titles = ("", "")
        self._summary = ""

    def show_layers(
        self, layers: Sequence[Layer], *, across: str, up: str, data: Callable[[], PlotData], summary: str
    ) -> None:
        """`across` and `up` are the titles of the axes; without one there are no numbers along it. `data` are the
        numbers as a table, `summary` is what a screen reader says.
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
        painter.setPen(QPen(theme.colour("quiet"), 1))
        has_bars = any(isinstance(layer, Bars) for layer in self.layers)
        foot = shown.y(0.0) if has_bars else shown.box.bottom()
        painter.drawLine(QPointF(shown.box.left(), foot), QPointF(shown.box.right(), foot))
        self._paint_legend(painter, size)

    def summary(self) -> str:
        return self._summary

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        found = self._found_at(event.position())
        self.show_tip(event.globalPosition().toPoint(), found[0] if found is not None else "")

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        super().mousePressEvent(event)
        found = self._found_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and found is not None and found[1] >= 0:
            self.picked.emit(found[1])

    def _found_at(self, mouse: QPointF) -> Found | None:
        shown = self._frame(QSizeF(self.size()))
        return describe_at(self.layers, shown, mouse) if shown.box.contains(mouse) else None

    def _frame(self, size: QSizeF) -> Frame:
        """The axes at a size, with the legend above them."""
        metrics, up = QFontMetricsF(small_font(self.font())), range_up(self.layers)
        line = metrics.height() + TINY
        below, above = (line if title else 0.0 for title in self._titles)
        legend = QFontMetricsF(self.font()).height() + SMALL if self._named() else 0.0
        top = legend + MEDIUM + above
        numbers = line + SMALL if self._titles[0] else MEDIUM
        height = max(10.0, size.height() - top - numbers - below)
        shown = ticks(up, height, _TICK_HEIGHT) if self._titles[1] else ()
        left = max((metrics.horizontalAdvance(each) + SMALL + MEDIUM for _, each in shown), default=0.0)
        box = QRectF(left, top, max(10.0, size.width() - left - (_RIGHT if shown else 0.0)), height)
        return Frame(box, range_across(self.layers), up, self._titles)

    def _named(self) -> list[Bars]:
        return [each for each in self.layers if isinstance(each, Bars) and each.name]

    def _paint_legend(self, painter: QPainter, size: QSizeF) -> None:
        metrics, named = QFontMetricsF(self.font()), self._named()
        left = size.width() - sum(metrics.horizontalAdvance(layer.name) + SWATCH + SMALL + LARGE for layer in named)
        painter.setFont(self.font())
        for layer in named:
            left += paint_entry(painter, QPointF(left, SMALL), layer.name, of_role(layer.role)) + LARGE
