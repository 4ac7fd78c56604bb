"""How groups share the values of a column: a stacked bar for each, under that of all texts."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6 import QtGui
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.plots.colours import SWATCH, categories, paint_entry, to_colour
from cfbatch_gui.ui.plots.plot import Plot, PlotData
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, scaled, small_font
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr

_NAMES, _REMARKS, _BAR = 204, 130, 12  # pixels: widths of names and of what stands beside a bar, height of a bar
_STEP, _BELOW_ALL, _GAP, _ROUND = 20, 3, 2, 2
_STANDS_OUT = 0.08  # of a share above that of all texts, so that it is named
_MOST = 60  # groups that are drawn


class ShareBars(Plot):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._groups: Sequence[str] = ()
        self._values: Sequence[str] = ()
        self._counts: NDArray[np.int64] = np.zeros((1, 0), np.int64)
        self._has_others, self._as_counts, self._chosen = False, False, -1

    def show_table(
        self, groups: Sequence[str], values: Sequence[str], counts: NDArray[np.int64], *, has_others: bool
    ) -> None:
        """`counts` (groups + 1, values) begin with those of all texts; with `has_others` so many of no value shown."""
        self._data = partial(_table, groups, values, counts)
        self._groups, self._counts = groups[:_MOST], counts[: _MOST + 1]
        self._values, self._has_others = values, has_others
        self._fit()

    def show_counts(self, as_counts: bool) -> None:
        self._as_counts = as_counts
        self._fit()

    def choose(self, group: int) -> None:
        self._chosen = group
        self.update()

    def summary(self) -> str:
        return " · ".join(
            f"{name}: {found}" for name, found in zip(self._groups, self._remarks(), strict=True) if found
        )

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        *_, last = self._legend(QFontMetricsF(small_font(self.font())))
        self.setMinimumHeight(round(last[1].y() + scaled(_STEP)))
        self.show_again()

    def draw(self, painter: QPainter, size: QSizeF, *, as_picture: bool) -> None:
        colours = [to_colour(each) for each in self._colours()]
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        remarks = ["", *self._remarks()]
        for line, (box, name) in enumerate(self._lines()):
            painter.setFont(bold if line and line - 1 == self._chosen and not as_picture else self.font())
            painter.setPen(theme.colour("text" if line else "quiet"))
            room, middle = QRectF(0, box.top(), box.left() - MEDIUM, box.height()), Qt.AlignmentFlag.AlignVCenter
            shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, int(room.width()))
            painter.drawText(room, middle, shown)
            painter.setFont(small_font(self.font()))
            painter.setPen(theme.colour("text"))
            painter.drawText(QRectF(box.right() + MEDIUM, box.top(), size.width(), box.height()), middle, remarks[line])
            painter.setPen(Qt.PenStyle.NoPen)
            for part, colour in zip(self._parts(line, box), colours, strict=True):
                painter.setBrush(colour)
                painter.drawRoundedRect(part, _ROUND, _ROUND)
        painter.setFont(small_font(self.font()))
        for colour, (name, at) in zip(self._colours(), self._legend(QFontMetricsF(painter.font())), strict=False):
            paint_entry(painter, at, name, colour)

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        mouse, words = event.position(), ""
        for line, (box, name) in enumerate(self._lines()):
            counts = self._counts[line]
            for at, part in enumerate(self._parts(line, box)):
                if part.adjusted(-1, -4, 1, 4).contains(mouse) and part.width():
                    share = figures.percent(counts[at] / counts.sum())
                    words = f"{name}\n{self._values[at]}: {figures.number(counts[at].item())} ({share})"
        self.show_tip(event.globalPosition().toPoint(), words)

    def _lines(self) -> Iterator[tuple[QRectF, str]]:
        """The room of each bar, and the name before it; that of all texts is first."""
        left = min(scaled(_NAMES), self.width() * 0.4)
        step, beside = scaled(_STEP), min(_REMARKS, 0.25 * self.width())
        width = max(40.0, min(self.width() - left - beside, 2.5 * left))
        for line, name in enumerate((tr("all texts"), *self._groups)):
            yield QRectF(left, line * step + (_BELOW_ALL if line else 0), width, step), name

    def _parts(self, line: int, box: QRectF) -> Iterator[QRectF]:
        counts = self._counts[line]
        whole = self._counts[1:].sum(axis=1).max(initial=1) if self._as_counts and line else counts.sum()
        left, top = box.left(), box.center().y() - _BAR / 2
        for count in counts.tolist():
            width = box.width() * count / max(1, whole)
            yield QRectF(left, top, max(min(width, 1.0), width - _GAP), _BAR)
            left += width

    def _remarks(self) -> list[str]:
        """What stands beside the bar of each group: how many texts it has, or the share that stands out most."""
        sizes = self._counts.sum(axis=1)
        if self._as_counts:
            return [figures.number(size) for size in sizes[1:].tolist()]
        shares = self._counts / np.maximum(1, sizes)[:, None]
        more = shares[1:] - shares[0]
        best = more.argmax(axis=1) if more.shape[1] else np.zeros(len(more), np.int64)
        return [
            f"{figures.one_line(self._values[at], 12)} {figures.percent(shares[line, at])}"
            if more.shape[1] and more[line - 1, at] > _STANDS_OUT
            else ""
            for line, at in enumerate(best.tolist(), 1)
        ]

    def _legend(self, metrics: QFontMetricsF) -> Iterator[tuple[str, QPointF]]:
        """Each value and where its entry begins, as many on a line as fit; at last where one more line would be."""
        *_, (box, _) = self._lines()
        left = start = box.left() if self.width() > 2 * box.left() else 0.0
        top = box.bottom() + SMALL
        for value in self._values:
            name = figures.one_line(value, 24)
            width = SWATCH + SMALL + metrics.horizontalAdvance(name)
            if left > start and left + width > self.width():
                left, top = start, top + scaled(_STEP)
            yield name, QPointF(left, top)
            left += width + LARGE
        yield "", QPointF(start, top)

    def _colours(self) -> NDArray[np.uint8]:
        table, count = categories(), len(self._values)
        return np.vstack([table[: count - 1], table[-1:]]) if self._has_others else table[:count]


def _table(groups: Sequence[str], values: Sequence[str], counts: NDArray[np.int64]) -> PlotData:
    """Counts, then shares, of all texts and of each group."""
    titles = (tr("Group"), tr("Texts"), *values, *(tr("{value}, share").format(value=each) for each in values))
    lines = zip((tr("all texts"), *groups), counts.sum(axis=1).tolist(), counts.tolist(), strict=True)
    rows = ((name, size, *each, *(round(count / max(1, size), 4) for count in each)) for name, size, each in lines)
    return PlotData(titles, tuple(rows))
