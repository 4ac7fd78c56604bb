"""Cells with a figure and a bar beside it."""

from PySide6.QtCore import QObject, QRect, QRectF, Qt
from PySide6.QtGui import QPainter

from cfbatch_gui.core.results.numbers import score_text
from cfbatch_gui.ui.tables.cells import CellDelegate
from cfbatch_gui.ui.widgets import paint_bar

_SAMPLE = score_text(-0.0)  # with its sign, the widest of the usual ones
_BAR_GAP, _BAR_HEIGHT = 10, 6  # pixels


class FigureDelegate(CellDelegate):
    """A figure as wide as `sample` or wider, right-aligned so that all bars begin at one place."""

    def __init__(self, parent: QObject, *, sample: str = _SAMPLE) -> None:
        super().__init__(parent)
        self._sample = sample

    def _paint_bar(self, painter: QPainter, inner: QRect, text: str, share: float) -> None:
        width = max(painter.fontMetrics().horizontalAdvance(sample) for sample in (self._sample, text))
        figures = QRect(inner.left(), inner.top(), width, inner.height())
        painter.drawText(figures, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        left = figures.right() + 1 + _BAR_GAP
        if left < inner.right() - 2 * _BAR_HEIGHT:
            top = inner.center().y() - _BAR_HEIGHT / 2 + 1
            paint_bar(painter, QRectF(left, top, inner.right() - left, _BAR_HEIGHT), share)
