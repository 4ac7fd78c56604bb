"""A threshold of scores: its field and its slider, also on the axis of a histogram, by which it is chosen."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontInfo, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QDoubleSpinBox, QSizePolicy, QSlider

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.theme import scaled
from cfbatch_gui.ui.widgets.keyboard import KeyboardRing
from cfbatch_gui.words.figures import number, worded
from cfbatch_gui.words.languages import tr

_BIN = 2  # hundredths
_PLOT, _AXIS, _HANDLE, _TRACK = 58, 38, 14, 4  # pixels: what stands above the track, from there on, and its parts
_WIDTH, _LEAST, _GAP = 484, 150, 6


class ScoreField(QDoubleSpinBox):
    def __init__(self, name: str, width: int) -> None:
        super().__init__(minimum=-1.0, maximum=1.0, singleStep=0.01, decimals=2)
        self.setKeyboardTracking(False)
        self.setAccessibleName(name)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setFixedWidth(scaled(width))


class ScoreSlider(KeyboardRing, QSlider):
    """Its values are hundredths; what is from its handle on is chosen. As other axes it begins at the left."""

    def __init__(self, name: str, width: int = 0) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setAccessibleName(name)
        self.setPageStep(5)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if width:
            self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            self.setFixedSize(scaled(width), scaled(_HANDLE + 2 * _GAP))
        self.valueChanged.connect(lambda: self.setAccessibleDescription(_shown(self.value() / 100)))

    def show_axis(self, least: float, unrelated: float) -> None:
        """From the bin of the `least` score to 1."""
        self.setRange(int(least * 100 // _BIN * _BIN), 100)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            share = (event.position().x() - _HANDLE / 2) / max(1, self.width() - _HANDLE)
            self.setValue(round(self.minimum() + share * (self.maximum() - self.minimum())))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.mouseMoveEvent(event)
        self.setSliderDown(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_track(painter, self.height() / 2)

    def _x(self, hundredths: float) -> float:
        share = (hundredths - self.minimum()) / max(1, self.maximum() - self.minimum())
        return _HANDLE / 2 + (self.width() - _HANDLE) * share

    def _paint_track(self, painter: QPainter, middle: float) -> None:
        at = self._x(self.value())
        painter.setPen(Qt.PenStyle.NoPen)
        for left, role in ((0.0, "track"), (at, "accent")):
            painter.setBrush(theme.colour(role))
            box = QRectF(left, middle - _TRACK / 2, self.width() - left, _TRACK)
            painter.drawRoundedRect(box, _TRACK / 2, _TRACK / 2)
        painter.setBrush(theme.colour("selection" if self.has_ring else "card"))
        painter.setPen(QPen(theme.colour("text" if self.has_ring else "accent"), 2))
        painter.drawEllipse(QPointF(at, middle), _HANDLE / 2 - 1, _HANDLE / 2 - 1)


class ThresholdSlider(ScoreSlider):
    """Bars are stacked above it, in `roles` from below."""

    def __init__(self, name: str, roles: Sequence[str]) -> None:
        super().__init__(name)
        self._roles = roles
        self._heights: npt.NDArray[np.int64] = np.zeros((len(roles), 1), np.int64)
        self._unrelated = 0.0
        self.setMinimumWidth(scaled(_LEAST))
        self.setFixedHeight(scaled(_PLOT) + scaled(_AXIS))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_axis(self, least: float, unrelated: float) -> None:
        """With a dotted line at the level of `unrelated` pairs."""
        self._unrelated = unrelated
        super().show_axis(least, unrelated)

    def show_scores(self, *scores: npt.NDArray[np.float64]) -> None:
        """The scores of each role."""
        bins = max(1, (self.maximum() - self.minimum()) // _BIN)
        ends = (self.minimum() / 100, self.maximum() / 100)
        self._heights = np.stack([np.histogram(each, bins, ends)[0] for each in scores])
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(scaled(_WIDTH), self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setLayoutDirection(self.layoutDirection())
            self._paint_bars(painter)
            at, middle = self._x(self.value()), scaled(_PLOT) + _HANDLE / 2 + 2
            painter.setPen(QPen(theme.colour("accent"), 2))
            painter.drawLine(QPointF(at, 0), QPointF(at, middle))
            self._paint_track(painter, middle)
            font = self.font()
            font.setPixelSize(QFontInfo(font).pixelSize() - 1)
            painter.setFont(font)
            self._paint_unrelated(painter)
            self._paint_axis(painter)

    def _paint_bars(self, painter: QPainter) -> None:
        bottom, most = float(scaled(_PLOT)), max(1, int(self._heights.sum(axis=0).max()))
        for at, counts in enumerate(self._heights.T.tolist()):
            left, right = (self._x(self.minimum() + _BIN * each) for each in (at, at + 1))
            top = bottom
            for count, role in zip(counts, self._roles, strict=True):
                height = max(1.0, (bottom - 2) * count / most) if count else 0
                top -= height
                painter.fillRect(QRectF(left + 0.5, top, right - left - 1, height), theme.colour(role))

    def _paint_unrelated(self, painter: QPainter) -> None:
        """The dotted line, its words at its left if there is room."""
        at, bottom = round(self._x(self._unrelated * 100)), scaled(_PLOT)
        words = worded("99 of 100 unrelated\npairs stay below {n}", n=_shown(self._unrelated))
        width = painter.fontMetrics().boundingRect(QRect(0, 0, self.width(), bottom), 0, words).width()
        is_left = at - _GAP >= width
        painter.setPen(QPen(theme.colour("quiet"), 1.5, Qt.PenStyle.DotLine))
        painter.drawLine(at, 0, at, bottom)
        side = Qt.AlignmentFlag.AlignRight if is_left else Qt.AlignmentFlag.AlignLeft
        box = QRect(at - _GAP - width if is_left else at + _GAP, 0, width, 2 * painter.fontMetrics().height())
        painter.fillRect(box, theme.colour("inset"))  # over the line of the handle
        painter.drawText(box, side, words)

    def _paint_axis(self, painter: QPainter) -> None:
        """Its ends give way to the value between them."""
        height, value = painter.fontMetrics().height(), _shown(self.value() / 100)
        half = painter.fontMetrics().horizontalAdvance(value) // 2 + _GAP
        at = min(max(round(self._x(self.value())), half), self.width() - half)
        below = QRect(0, self.height() - height, self.width(), height)
        low = tr("{n} · least alike").format(n=_shown(self.minimum() / 100))
        high = tr("same text · {n}").format(n=_shown(1.0))
        ends = (low, Qt.AlignmentFlag.AlignLeft, at), (high, Qt.AlignmentFlag.AlignRight, self.width() - at)
        for words, side, room in ends:
            if painter.fontMetrics().horizontalAdvance(words) <= room - half:
                painter.drawText(below, side, words)
        font = painter.font()
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(theme.colour("accent"))
        painter.drawText(QRect(at - half, below.top(), 2 * half, height), Qt.AlignmentFlag.AlignHCenter, value)


def _shown(score: float) -> str:
    return number(score, ".2f")
