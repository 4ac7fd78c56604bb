"""Dots: their colours, for categories and for ranges of numbers, also by a column's cells; their key and their paint.

The eight differ in lightness as well as in hue; each has a contrast of 3:1 with the window (WCAG 2.1, 1.4.11).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen
from PySide6.QtSvg import QSvgGenerator

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.theme import MEDIUM, RADIUS_CONTROL, SMALL, TINY
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr

MOST_CATEGORIES = 8
_FEW = 12  # up to so many distinct numbers are categories, such as years or ratings
_LIGHT = ("#2f6feb", "#c56a00", "#1b8a5a", "#8e44c9", "#c2335f", "#0f8ba3", "#6b4f1d", "#38485f")
_DARK = ("#6a9bff", "#f0a04b", "#4fc28c", "#b98af0", "#f0719a", "#4cc3da", "#c9ad6d", "#d5dde8")
_LIGHT_RAMP = ("#1d2a7a", "#6a3fb0", "#b5458f", "#d9583f", "#c97a06")
_DARK_RAMP = ("#6474e8", "#a474e8", "#e67fb0", "#f5a86a", "#fbe08a")
SWATCH, _NAME_WIDTH = 10, 170
_FAINT = 0.2  # of a dot's own colour, where others are marked
_CELLS = 8  # of the map across, in which the dots of a category are counted
_FEWEST = 5  # dots of a category near the position of its name
_TOGETHER, _MAJORITY = 0.12, 0.5  # share of a category near its middle, and of all dots there, so that it has a name
PlacedName = tuple[str, NDArray[np.float64]]  # a category's name and its middle, (2,)


def categories() -> NDArray[np.uint8]:
    """Eight colours and the one for all others, (9, 3) in red, green, blue."""
    chosen = [QColor(each) for each in (_DARK if is_dark() else _LIGHT)]
    return _table([*chosen, theme.mixed(theme.colour("quiet"), theme.colour("window"), 0.75)])


def ramp(count: int) -> NDArray[np.uint8]:
    """Colours from low to high, (count, 3)."""
    stops = _table([QColor(each) for each in (_DARK_RAMP if is_dark() else _LIGHT_RAMP)])
    at, numbers = np.linspace(0, len(stops) - 1, count), np.arange(len(stops))
    channels = [np.interp(at, numbers, channel) for channel in stops.T.astype(np.float64)]
    found: NDArray[np.uint8] = np.rint(np.stack(channels, axis=1)).astype(np.uint8)
    return found


def of_role(role: str) -> NDArray[np.uint8]:
    """A colour of the theme, (3,)."""
    chosen: NDArray[np.uint8] = _table([theme.colour(role)])[0]
    return chosen


def to_colour(value: NDArray[np.uint8]) -> QColor:
    return QColor(*value.tolist())


def is_dark() -> bool:
    return theme.colour("window").lightness() < 128


@dataclass(frozen=True, eq=False)
class DotColours:
    """`codes` (n,) are indices into `names`, the last colour for others; `ordered` ones are ranges from low to high.
    `title` is that of the column that they go by.
    """

    codes: NDArray[np.integer]
    names: tuple[str, ...] = ()
    others: bool = False
    ordered: bool = False
    title: str = ""

    def name_of(self, index: int) -> str:
        """The name that a dot goes by, "" for the others."""
        return (*self.names, "")[int(self.codes[index])]

    def of_dots(self, marked: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
        """Red, green and blue of each dot, (n, 3); faint what is not marked."""
        table = self._table()
        found: NDArray[np.uint8] = table[self.codes]
        if marked is not None:
            window = of_role("window").astype(np.float64)
            faint = np.rint(table * _FAINT + window * (1 - _FAINT)).astype(np.uint8)
            found = np.where(marked[:, None], found, faint[self.codes])
        return found

    def positions_of_names(
        self, points: NDArray[np.float32], low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> list[PlacedName]:
        """Where each category is densest, for its name; scattered ones are left out. The points lie from `low` to
        `high`, each (2,), but for the outermost.
        """
        size = max(float((high - low).max()), 1e-9) / _CELLS
        row, column = np.clip((points - low) / size, 0, _CELLS - 1).astype(np.int64).T
        cells, found = row * _CELLS + column, []
        whole = np.bincount(cells, minlength=_CELLS**2)
        for index, name in enumerate(self.names):
            own = np.flatnonzero(self.codes == index)
            counts = np.bincount(cells[own], minlength=_CELLS**2)
            densest = int(counts.argmax())
            if counts[densest] >= max(_FEWEST, _TOGETHER * len(own), _MAJORITY * whole[densest]):
                there = own[cells[own] == densest]
                found.append((name, np.median(points[there].astype(np.float64), axis=0)))
        return found

    def _table(self) -> NDArray[np.uint8]:
        if not self.names:
            return of_role("accent")[None, :]
        table, count = categories(), len(self.names)
        return np.vstack([ramp(count) if self.ordered else table[:count], table[-1:]])

    def paint_key(self, painter: QPainter, box: QRectF, font: QFont) -> None:
        if not self.names:
            return
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        shown = [metrics.elidedText(name, Qt.TextElideMode.ElideRight, _NAME_WIDTH) for name in self.names]
        if self.others:
            shown.append(tr("others"))
        width = max(map(metrics.horizontalAdvance, shown)) + SWATCH + 3 * SMALL
        step = metrics.height() + 3
        paint_ground(painter, QRectF(box.left(), box.top(), width, step * len(shown) + SMALL))
        for row, name in enumerate(shown):
            paint_entry(painter, QPointF(box.left() + SMALL, box.top() + TINY + step * row), name, self._table()[row])


def paint_entry(painter: QPainter, at: QPointF, name: str, colour: NDArray[np.uint8]) -> float:
    """Paint a line of a key, whose upper left corner is `at`. Returns its width."""
    metrics = painter.fontMetrics()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(to_colour(colour))
    painter.drawEllipse(QRectF(at.x(), at.y() + (metrics.height() - SWATCH) / 2, SWATCH, SWATCH))
    painter.setPen(theme.colour("text"))
    painter.drawText(QPointF(at.x() + SWATCH + SMALL, at.y() + metrics.ascent()), name)
    return float(SWATCH + SMALL + metrics.horizontalAdvance(name))


def plain(count: int) -> DotColours:
    return DotColours(np.zeros(count, dtype=np.int16))


def by_category(
    codes: NDArray[np.integer], names: Sequence[str], *, title: str = "", ordered: bool = False
) -> DotColours:
    others = codes < 0
    return DotColours(np.where(others, len(names), codes), tuple(names), bool(others.any()), ordered, title)


def by_cells(cells: Sequence[str], title: str) -> DotColours:
    """Ranges of as many texts each if all cells that are not blank are numbers, and more than 12 differ; else the
    commonest cells as categories.
    """
    counts = Counter(cell for cell in cells if cell.strip())
    values = _numbers(counts)
    if values is None or len(counts) <= _FEW:
        chosen = sorted(counts, key=lambda cell: (-counts[cell], cell))[:MOST_CATEGORIES]
        indices = {name: index for index, name in enumerate(chosen)}
        codes = np.fromiter((indices.get(cell, -1) for cell in cells), dtype=np.int16, count=len(cells))
        return by_category(codes, [figures.one_line(name, 60) for name in chosen], title=title)
    found = np.array([values.get(cell, math.nan) for cell in cells])
    there = np.isfinite(found)
    edges = np.unique(np.quantile(found[there], np.linspace(0, 1, MOST_CATEGORIES + 1)))
    ranges = np.clip(np.searchsorted(edges, found, side="right") - 1, 0, len(edges) - 2)
    ends = [figures.number(edge, ",.4g") for edge in edges.tolist()]
    names = [f"{low} – {high}" for low, high in pairwise(ends)]
    return by_category(np.where(there, ranges, -1), names, title=title, ordered=True)


def _numbers(cells: Iterable[str]) -> dict[str, float] | None:
    try:
        values = {cell: float(cell.strip().replace(",", ".")) for cell in cells}
    except ValueError:
        return None
    return values if values and all(map(math.isfinite, values.values())) else None


def paint_ground(painter: QPainter, box: QRectF) -> None:
    ground = theme.colour("window")
    ground.setAlphaF(0.86)
    painter.setPen(QPen(Qt.PenStyle.NoPen))
    painter.setBrush(ground)
    painter.drawRoundedRect(box.adjusted(-TINY / 2, 0, MEDIUM - SMALL, 0), RADIUS_CONTROL, RADIUS_CONTROL)


def _table(chosen: list[QColor]) -> NDArray[np.uint8]:
    return np.array([(each.red(), each.green(), each.blue()) for each in chosen], dtype=np.uint8)


_MOST_CIRCLES, _MOST_FINE = 2_000, 12_000  # more become a picture; up to so many at twice the resolution, to be round
_OF_DRAWING = 3.0  # pixels of such a picture for one of an SVG


def paint_dots(painter: QPainter, box: QRectF, dots: NDArray[np.float64], colours: NDArray[np.uint8]) -> None:
    """Dots (n, 2), cut off at `box`, in logical pixels, and their colours (n, 3)."""
    device, count = painter.device(), max(1, len(dots))
    radius = float(np.clip(0.15 * np.sqrt(box.width() * box.height() / count), 1.25, 3.5))  # the denser the smaller
    opacity = float(np.clip(0.8 - 0.1 * np.log10(count / 200), 0.45, 0.8))  # lower for many: density is seen
    if count > _MOST_CIRCLES:
        ratio = _OF_DRAWING if isinstance(device, QSvgGenerator) else device.devicePixelRatio()
        ratio = max(ratio, 2.0) if count <= _MOST_FINE else ratio
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        shown, size = (dots - (box.left(), box.top())) * ratio, (box.size() * ratio).toSize()
        painter.drawImage(box, dot_image(shown, colours, size, radius * ratio, opacity))
        return
    painter.setPen(Qt.PenStyle.NoPen)
    for dot, colour in zip(dots.tolist(), map(to_colour, colours), strict=True):
        if box.contains(centre := QPointF(*dot)):
            colour.setAlphaF(opacity)
            painter.setBrush(colour)
            painter.drawEllipse(centre, radius, radius)


def dot_image(
    dots: NDArray[np.float64], colours: NDArray[np.uint8], size: QSize, radius: float, opacity: float
) -> QImage:
    """Dots (n, 2) in pixels, `colours` (n, 3) in red, green, blue; later ones lie above earlier ones."""
    offsets_x, offsets_y, cover = _stamp(round(radius * 4) / 4)
    reach = int(offsets_x.max())
    wide, high = size.width() + 2 * reach, size.height() + 2 * reach  # with a margin, so that no dot needs clipping
    column, line = (np.rint(dots).astype(np.int64) + reach).T
    inside = (column >= reach) & (column < wide - reach) & (line >= reach) & (line < high - reach)
    which = np.flatnonzero(inside)
    centres = line[which] * wide + column[which]
    touched = (centres[:, None] + (offsets_y * wide + offsets_x)[None, :]).ravel()
    amounts = np.broadcast_to(cover, (len(which), len(cover))).ravel()
    covered = np.bincount(touched, amounts, wide * high)
    owners = np.full(wide * high, -1, dtype=np.int32)
    owners[touched] = np.repeat(which.astype(np.int32), len(cover))  # of equal indices the last stays: the upper dot
    pixels = np.flatnonzero(owners >= 0)
    alpha = 1.0 - np.exp(covered[pixels].astype(np.float32) * np.float32(np.log(1.0 - opacity)))
    values = np.empty((len(pixels), 4), dtype=np.uint8)
    values[:, :3] = colours[owners[pixels]] * alpha[:, None] + 0.5
    values[:, 3] = alpha * 255 + 0.5
    picture = np.zeros(len(owners), dtype=np.uint32)
    picture[pixels] = values.view(np.uint32)[:, 0]
    whole = QImage(picture.data, wide, high, 4 * wide, QImage.Format.Format_RGBA8888_Premultiplied)
    return whole.copy(reach, reach, size.width(), size.height())  # QImage does not own the array


@lru_cache(maxsize=16)
def _stamp(radius: float) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    reach = int(np.ceil(radius)) + 1
    line, column = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    cover = np.clip(radius + 0.5 - np.hypot(line, column), 0.0, 1.0)
    there = cover > 0
    return column[there], line[there], cover[there]
