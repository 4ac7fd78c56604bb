"""How much each query adds to a difference: bars from the largest gain to the largest loss, over the interval."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPen

from cfbatch_gui.ui import display, theme
from cfbatch_gui.ui.plots.axes import small
from cfbatch_gui.ui.plots.plot import Plot, PlotData, paint_tip
from cfbatch_gui.ui.theme import MEDIUM, SMALL

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
        """Show these in the order given, with a band for the interval of their mean.

        `titles` stand below the gains and below the losses, `columns` head the data behind the picture, and `describe`
        says what a bar is.
        """
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
        """A row for each bar."""
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
        """The pixel of 0 and how many pixels 1.0 is; the interval fits too."""
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
