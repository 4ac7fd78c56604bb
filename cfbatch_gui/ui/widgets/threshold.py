"""A threshold on the axis of a histogram of scores: what is moved, and what it is chosen by, in one picture."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontInfo, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QSlider

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.theme import scaled
from cfbatch_gui.ui.widgets.keyboard import KeyboardRing
from cfbatch_gui.words.figures import number, worded
from cfbatch_gui.words.languages import tr

_BIN = 2  # hundredths
_PLOT, _AXIS, _HANDLE, _TRACK = 58, 36, 14, 4  # pixels: what stands above the track, from there on, and its parts
_WIDTH, _LEAST = 484, 240
_GAP = 6


class ThresholdSlider(KeyboardRing, QSlider):
    """Its values are hundredths. Bars are stacked, in `roles` from below."""

    def __init__(self, name: str, roles: Sequence[str]) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._roles = roles
        self._heights: npt.NDArray[np.int64] = np.zeros((len(roles), 1), np.int64)
        self._unrelated = 0.0
        self.setAccessibleName(name)
        self.setPageStep(5)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumWidth(scaled(_LEAST))
        self.setFixedHeight(scaled(_PLOT) + scaled(_AXIS))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.valueChanged.connect(self._say_value)

    def show_axis(self, least: float, unrelated: float) -> None:
        """From the bin of the `least` score to 1; a dotted line at the level of `unrelated` pairs."""
        self._unrelated = unrelated
        self.setRange(int(least * 100 // _BIN * _BIN), 100)

    def show_scores(self, *scores: npt.NDArray[np.float64]) -> None:
        """The scores of each role."""
        bins = max(1, (self.maximum() - self.minimum()) // _BIN)
        ends = (self.minimum() / 100, self.maximum() / 100)
        self._heights = np.stack([np.histogram(each, bins, ends)[0] for each in scores])
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(scaled(_WIDTH), self.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            left, width = self._axis()
            share = (event.position().x() - left) / width
            share = 1 - share if self._is_mirrored() else share
            self.setValue(round(self.minimum() + share * (self.maximum() - self.minimum())))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.mouseMoveEvent(event)
        self.setSliderDown(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            font = self.font()
            font.setPixelSize(QFontInfo(font).pixelSize() - 1)
            painter.setFont(font)
            self._paint_bars(painter)
            self._paint_lines(painter)
            self._paint_track(painter)
            self._paint_words(painter)

    def _is_mirrored(self) -> bool:
        return self.layoutDirection() == Qt.LayoutDirection.RightToLeft

    def _axis(self) -> tuple[float, float]:
        """Where it begins, and its length."""
        return _HANDLE / 2, max(1, self.width() - _HANDLE)

    def _x(self, hundredths: float) -> float:
        left, width = self._axis()
        share = (hundredths - self.minimum()) / max(1, self.maximum() - self.minimum())
        return left + width * (1 - share if self._is_mirrored() else share)

    def _paint_bars(self, painter: QPainter) -> None:
        most, bottom = max(1, int(self._heights.sum(axis=0).max())), scaled(_PLOT)
        painter.setPen(Qt.PenStyle.NoPen)
        for at, counts in enumerate(self._heights.T.tolist()):
            ends = sorted(self._x(self.minimum() + _BIN * each) for each in (at, at + 1))
            top = float(bottom)
            for count, role in zip(counts, self._roles, strict=True):
                height = max(1.0, (bottom - 2) * count / most) if count else 0
                top -= height
                painter.fillRect(QRectF(ends[0] + 0.5, top, ends[1] - ends[0] - 1, height), theme.colour(role))

    def _paint_lines(self, painter: QPainter) -> None:
        dotted = QPen(theme.colour("quiet"), 1.5, Qt.PenStyle.DotLine)
        solid = QPen(theme.colour("accent"), 2)
        for at, pen in ((self._unrelated * 100, dotted), (self.value(), solid)):
            painter.setPen(pen)
            painter.drawLine(QPointF(self._x(at), 0), QPointF(self._x(at), scaled(_PLOT)))

    def _paint_track(self, painter: QPainter) -> None:
        middle, at = scaled(_PLOT) + _GAP + _HANDLE / 2 - 4, self._x(self.value())
        track = QRectF(0, middle - _TRACK / 2, self.width(), _TRACK)
        chosen = QRectF(track)
        if self._is_mirrored():
            chosen.setRight(at)
        else:
            chosen.setLeft(at)
        painter.setPen(Qt.PenStyle.NoPen)
        for box, role in ((track, "track"), (chosen, "accent")):
            painter.setBrush(theme.colour(role))
            painter.drawRoundedRect(box, _TRACK / 2, _TRACK / 2)
        painter.setBrush(theme.colour("selection" if self.has_ring else "card"))
        painter.setPen(QPen(theme.colour("text" if self.has_ring else "accent"), 2))
        painter.drawEllipse(QPointF(at, middle), _HANDLE / 2 - 1, _HANDLE / 2 - 1)

    def _paint_words(self, painter: QPainter) -> None:
        """The ends of the axis give way to the value between them."""
        bold = QFont(painter.font())
        bold.setWeight(QFont.Weight.DemiBold)
        right, left = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft
        value = number(self.value() / 100, ".2f")
        half = QFontMetrics(bold).horizontalAdvance(value) // 2 + _GAP
        below = QRect(0, self.height() - QFontMetrics(bold).height() - 1, self.width(), QFontMetrics(bold).height())
        at = min(max(round(self._x(self.value())), half - _GAP), self.width() - half + _GAP)
        painter.setPen(theme.colour("quiet"))
        low = tr("{n} · least alike").format(n=number(self.minimum() / 100, ".2f"))
        high = tr("same text · {n}").format(n=number(1, ".2f"))
        before, after = (high, low) if self._is_mirrored() else (low, high)
        for words, side, room in ((before, left, at - half), (after, right, self.width() - at - half)):
            if painter.fontMetrics().horizontalAdvance(words) <= room:
                painter.drawText(below, side | Qt.AlignmentFlag.AlignAbsolute, words)
        lines = worded("99 of 100 unrelated\npairs stay below {n}", n=number(self._unrelated, ".2f"))
        line, wide = round(self._x(self._unrelated * 100)), painter.fontMetrics().boundingRect(below, 0, lines).width()
        is_before = line - _GAP >= wide
        box = QRect(0, 0, line - _GAP, scaled(_PLOT)) if is_before else QRect(line + _GAP, 0, wide, scaled(_PLOT))
        painter.drawText(box, (right if is_before else left) | Qt.AlignmentFlag.AlignAbsolute, lines)
        painter.setFont(bold)
        painter.setPen(theme.colour("accent"))
        painter.drawText(QRect(at - half, below.top(), 2 * half, below.height()), Qt.AlignmentFlag.AlignCenter, value)

    def _say_value(self, hundredths: int) -> None:
        self.setAccessibleDescription(number(hundredths / 100, ".2f"))
