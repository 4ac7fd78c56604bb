"""The base of all plots, and the axes of a chart: from values to pixels, and the ticks, lines and titles of both."""

import asyncio
import html
import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QBuffer, QByteArray, QPoint, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAccessible,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QImageWriter,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QToolTip, QWidget

from cfbatch_gui.core.results.exports.base import Cell, ExportOptions, Preset
from cfbatch_gui.core.results.exports.csv_tables import Dialect
from cfbatch_gui.core.results.numbers import round_step
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.settings import RememberedFolder
from cfbatch_gui.ui import dialogs, display, theme
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY
from cfbatch_gui.ui.widgets import IconButton, QuietButton, row

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
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def pixels(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
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
    step = round_step((high - low) / max(1, most) * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(number * step for number in range(first, last + 1))


def labels(values: tuple[float, ...]) -> tuple[str, ...]:
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
    values = ticks(shown.across.low, shown.across.high, _count(box.width(), _TICK_WIDTH)) if shown.across_title else ()
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


_PICTURE_SCALE = 2.0  # pixels of a saved picture for one of the screen
_LEAST_WIDTH = 1_600


@dataclass(frozen=True, slots=True)
class PlotData:
    """The numbers behind a plot; `rows` may be read in a thread, once."""

    columns: tuple[str, ...]
    rows: Iterable[Sequence[Cell]]

    def csv(self, separator: str = ",") -> bytes:
        """Cells that look like formulas are escaped."""
        dialect = Dialect(ExportOptions(preset=Preset.EXCEL, separator=separator))
        return dialect.start + dialect.encode([self.columns]) + dialect.encode(self.rows)


class Plot(QWidget):
    """A widget whose paint code also makes its picture; `name` is its accessible name."""

    accessible_role = QAccessible.Role.Chart

    def __init__(self, name: str) -> None:
        super().__init__()
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

    @abstractmethod
    def data(self) -> PlotData:
        raise NotImplementedError

    def show_again(self) -> None:
        self.setAccessibleDescription(self.summary())
        self.update()

    def picture(self) -> QImage:
        """At twice the resolution of the screen, at least 1,600 pixels wide."""
        scale = max(_PICTURE_SCALE, _LEAST_WIDTH / max(1, self.width()))
        image = QImage(
            round(self.width() * scale), round(self.height() * scale), QImage.Format.Format_ARGB32_Premultiplied
        )
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
        QGuiApplication.clipboard().setImage(self.picture())

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            self._draw(painter, as_picture=False)

    def show_tip(self, at: QPoint, text: str) -> None:
        """Show what is under the mouse, `at` on the screen; "" shows nothing."""
        words = f"<p style='white-space: pre-wrap'>{html.escape(text)}</p>"  # Qt breaks the lines of rich text alone
        QToolTip.showText(at, words if text else "", self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def _draw(self, painter: QPainter, *, as_picture: bool) -> None:
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # axes grow to the right everywhere
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.setFont(self.font())
        self.draw(painter, QSizeF(self.size()), as_picture=as_picture)


class PictureButtons(QWidget):
    """`name` is what the file is called at first, without suffix; `folder` where the dialog begins."""

    def __init__(
        self, plot: Plot, notices: Notices, tasks: Tasks, folder: RememberedFolder | None, name: str = ""
    ) -> None:
        super().__init__()
        self._plot, self._notices, self._folder, self._name = plot, notices, folder, name
        self.copy_button = IconButton("copy", self.tr("Copy the picture"), self._copy)
        self.save_button = QuietButton(
            self.tr("Save picture…"),
            "image",
            lambda: tasks.start("save picture", self._save()),
            tip=self.tr("As PNG or SVG, or the data behind it as CSV"),
        )
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
        self._notices.show_written(self.tr("Wrote “{name}”.").format(name=path.name), path)

    async def _save(self) -> None:
        path = await dialogs.save_file(
            self,
            self.tr("Save picture"),
            name=f"{self._name}.png",
            filters=(
                self.tr("PNG picture (*.png)"),
                self.tr("SVG drawing (*.svg)"),
                self.tr("The data behind it, as CSV (*.csv)"),
            ),
            folder=self._folder,
            suffix="png",
        )
        if path is not None:
            await self.write(path)

    def _copy(self) -> None:
        self._plot.copy()
        self._notices.show_notice(self.tr("The picture is on the clipboard."), "done")


def encoded(image: QImage) -> bytes:
    buffer = QBuffer()
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())
