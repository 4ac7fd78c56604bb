"""A map of dots without axes: wheel, drag, hover, lasso. Both axes have one scale; up is up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6 import QtGui
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPen

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.plots.colours import DotColours, PlacedName, paint_dots, paint_ground, plain
from cfbatch_gui.ui.plots.plot import Plot, PlotData
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, small_font
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import worded

_CLOSEST = 400.0  # the greatest zoom
_MARGIN = 28.0
_MOST_SCALE = 1e8  # of points that are all one


@dataclass(frozen=True, slots=True)
class Viewport:
    """The point (x, y) is in the middle of the widget; `scale` is in pixels for a unit."""

    x: float
    y: float
    scale: float


_RING = 6.5
_NEAR, _STILL = 12.0, 4.0  # pixels from the mouse to its dot; pixels that it may move in a click
_STEPS = {
    **{Qt.Key.Key_Left: (60.0, 0.0), Qt.Key.Key_Right: (-60.0, 0.0)},
    **{Qt.Key.Key_Up: (0.0, 60.0), Qt.Key.Key_Down: (0.0, -60.0)},
}
_FACTORS = {Qt.Key.Key_Plus: 1.4, Qt.Key.Key_Equal: 1.4, Qt.Key.Key_Minus: 1 / 1.4}
_SHUFFLE = 7  # seed: dots are painted in no order, so that no category lies above the others

Describe = Callable[[int], str]


class DotMap(Plot):
    """`picked` brings a dot's index in `points`, -1 for none; `lassoed` an array of indices."""

    picked = Signal(int)
    lassoed = Signal(object)
    moved = Signal(bool)  # True while not everything is shown

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._points = np.zeros((0, 2), dtype=np.float32)
        self._order = np.zeros(0, dtype=np.int64)
        self._colours = plain(0)
        self._names: Sequence[PlacedName] = ()
        self._version = 0  # changes with the look of the dots
        self._painted: tuple[object, QImage] | None = None
        self._marked: NDArray[np.bool_] | None = None
        self._current, self._hovered = -1, -1
        self._describe: Describe = str
        self._low, self._high = np.zeros(2), np.ones(2)  # of all points but the outermost
        self._chosen_view: Viewport | None = None  # None shows everything, at any size
        self._pressed: QPointF | None = None
        self._last = QPointF()
        self._lasso: list[tuple[float, float]] | None = None
        self._lasso_mode = False

    def show_points(
        self,
        points: NDArray[np.float32],
        describe: Describe,
        data: Callable[[], PlotData],
        colours: DotColours | None = None,
    ) -> None:
        """`colours` are those at first; with None all dots have one."""
        self._describe, self._data, self._colours = describe, data, colours or plain(len(points))
        self._order = np.random.default_rng(_SHUFFLE).permutation(len(points))
        self._marked, self._current, self._hovered = None, -1, -1
        self.move_points(points)

    def move_points(self, points: NDArray[np.float32]) -> None:
        """Show the same dots at other points, with what is marked, and the ring."""
        self._points, self._pressed, self._lasso = points, None, None
        if len(points):
            self._low, self._high = np.quantile(points.astype(np.float64), (0.0005, 0.9995), axis=0)
        self.set_colours(self._colours)
        self.show_all()

    def set_colours(self, colours: DotColours) -> None:
        self._colours, self._names = colours, colours.positions_of_names(self._points, self._low, self._high)
        self._version += 1
        self.show_again()

    def mark(self, indices: NDArray[np.int64] | None) -> None:
        """Make all but these faint; None marks nothing."""
        self._marked = None
        if indices is not None:
            self._marked = np.zeros(len(self._points), dtype=np.bool_)
            self._marked[indices] = True
        self._version += 1
        self.show_again()

    def set_current(self, index: int) -> None:
        self._current = index
        self.show_again()

    def set_lasso(self, on: bool) -> None:
        """Whether dragging draws a lasso; with Shift it always does."""
        self._lasso_mode = on
        self.setCursor(Qt.CursorShape.CrossCursor if on else Qt.CursorShape.ArrowCursor)

    def show_all(self) -> None:
        self._set_view(None)

    def zoom(self, factor: float) -> None:
        self._zoom_at(factor, QPointF(self.width() / 2, self.height() / 2))

    def is_moved(self) -> bool:
        return self._chosen_view is not None

    def pixel_of(self, index: int) -> QPointF:
        return QPointF(*self._pixels(self._points[index]).tolist())

    def dot_at(self, at: QPointF) -> int:
        """The dot nearest to a point of the widget, -1 when none is near; marked ones go first."""
        if not len(self._points):
            return -1
        across, down = (self._pixels(self._points) - at.toTuple()).T
        away = np.square(across) + np.square(down)
        if self._marked is not None and (away[self._marked] <= _NEAR**2).any():
            away[~self._marked] = np.inf
        index = int(away.argmin())
        return index if away[index] <= _NEAR**2 else -1

    def sizeHint(self) -> QSize:
        return QSize(720, 460)

    def summary(self) -> str:
        words = [figures.plural(len(self._points), "{n} text as a dot.", "{n} texts as dots.")]
        if self._names:
            words.append(worded("Groups with a name: {names}.", names=", ".join(name for name, _ in self._names)))
        if self._marked is not None:
            words.append(figures.plural(int(self._marked.sum()), "{n} is marked.", "{n} are marked."))
        if self._current >= 0:
            words.append(worded("Chosen: {text}", text=figures.one_line(self._describe(self._current))))
        return " ".join(words)

    # Painting

    def draw(self, painter: QPainter, size: QSizeF, *, as_picture: bool) -> None:
        box = QRectF(QPointF(0, 0), size)
        if as_picture:
            self._paint_dots(painter, box)
        else:
            painter.drawImage(box, self._dots_on_screen(box))
        self._paint_names(painter, box)
        self._colours.paint_key(painter, QRectF(LARGE, SMALL, 200, size.height()), small_font(self.font()))
        if self._current >= 0:
            self._paint_ring(painter, self.pixel_of(self._current))
        if as_picture:
            return
        if self._lasso:
            painter.setPen(QPen(theme.colour("accent"), 1.5, Qt.PenStyle.DashLine))
            painter.drawPolyline(QtGui.QPolygonF([QPointF(*each) for each in self._lasso]))
        elif self._hovered >= 0:
            self._paint_ring(painter, self.pixel_of(self._hovered))

    def _dots_on_screen(self, box: QRectF) -> QImage:
        ratio = self.devicePixelRatio()
        key = (self._view(), box.size(), ratio, self._version, theme.tokens())
        if self._painted is None or self._painted[0] != key:
            image = QImage((box.size() * ratio).toSize(), QImage.Format.Format_ARGB32_Premultiplied)
            image.setDevicePixelRatio(ratio)
            image.fill(Qt.GlobalColor.transparent)
            with QPainter(image) as painter:
                self._paint_dots(painter, box)
            self._painted = (key, image)
        return self._painted[1]

    def _paint_dots(self, painter: QPainter, box: QRectF) -> None:
        dots = self._pixels(self._points)
        across, down = dots.T
        seen = (across >= 0) & (across <= box.width()) & (down >= 0) & (down <= box.height())
        order = self._order[seen[self._order]]
        if self._marked is not None:
            order = np.concatenate([order[~self._marked[order]], order[self._marked[order]]])
        paint_dots(painter, box, dots[order], self._colours.of_dots(self._marked)[order])

    def _paint_names(self, painter: QPainter, box: QRectF) -> None:
        font = QtGui.QFont(self.font())
        font.setWeight(QtGui.QFont.Weight.DemiBold)
        metrics = QtGui.QFontMetricsF(font)
        painter.save()
        painter.setFont(font)
        taken: list[QRectF] = []
        for name, middle in self._names:
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, 180)
            label = QRectF(0, 0, metrics.horizontalAdvance(shown) + MEDIUM, metrics.height() + 4)
            label.moveCenter(QPointF(*self._pixels(middle).tolist()))
            if not _find_room(label, box, taken):
                continue
            taken.append(label)
            paint_ground(painter, label)
            painter.setPen(theme.colour("text"))
            painter.drawText(label, Qt.AlignmentFlag.AlignCenter, shown)
        painter.restore()

    def _paint_ring(self, painter: QPainter, at: QPointF) -> None:
        painter.save()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("window"), 4))
        painter.drawEllipse(at, _RING, _RING)
        painter.setPen(QPen(theme.colour("text"), 2))
        painter.drawEllipse(at, _RING, _RING)
        painter.restore()

    # Mouse and keyboard

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._pressed = self._last = event.position()
        if self._lasso_mode or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._lasso = [(event.position().x(), event.position().y())]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._lasso is not None:
            self._lasso.append((at.x(), at.y()))
            self.update()
        elif self._pressed is not None:
            if (at - self._pressed).manhattanLength() > _STILL or self._last != self._pressed:
                self._move(at.x() - self._last.x(), at.y() - self._last.y())
                self._last = at
        else:
            self._hover(self.dot_at(at))
            self.show_tip(event.globalPosition().toPoint(), self._describe(self._hovered) if self._hovered >= 0 else "")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        lasso, self._lasso = self._lasso, None
        if pressed is None:
            return
        if (event.position() - pressed).manhattanLength() <= _STILL and (lasso is None or len(lasso) < 4):
            self.picked.emit(self.dot_at(event.position()))
        elif lasso is not None:
            self.lassoed.emit(np.flatnonzero(self._inside(lasso)))
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._zoom_at(2.0, event.position())

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.pixelDelta().y()
        self._zoom_at(1.0015**turned, event.position())
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _STEPS:
            self._move(*_STEPS[key])
        elif key in _FACTORS:
            self.zoom(_FACTORS[key])
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.show_all()
        elif key == Qt.Key.Key_Escape:
            self._lasso = None
            self.picked.emit(-1)
        else:
            super().keyPressEvent(event)

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
            self.update()

    def _whole(self) -> Viewport:
        x, y = ((self._low + self._high) / 2).tolist()
        across, up = np.maximum(self._high - self._low, 1e-9).tolist()
        room = max(20.0, self.width() - 2 * _MARGIN), max(20.0, self.height() - 2 * _MARGIN)
        return Viewport(x, y, min(room[0] / across, room[1] / up, _MOST_SCALE))

    def _view(self) -> Viewport:
        return self._chosen_view or self._whole()

    def _pixels(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Where points (…, 2) are in the widget."""
        view, middle = self._view(), np.array((self.width() / 2, self.height() / 2))
        placed: NDArray[np.float64] = middle + (points - np.array((view.x, view.y))) * (view.scale, -view.scale)
        return placed

    def _inside(self, lasso: Sequence[tuple[float, float]]) -> NDArray[np.bool_]:
        """Which points lie in a closed polygon, by the even-odd rule, to a pixel."""
        drawn = QImage(self.size(), QImage.Format.Format_Grayscale8)
        drawn.fill(0)
        with QPainter(drawn) as painter:
            painter.setBrush(Qt.GlobalColor.white)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawPolygon(QtGui.QPolygonF([QPointF(*each) for each in lasso]))
        lines = np.frombuffer(drawn.constBits(), dtype=np.uint8).reshape(drawn.height(), drawn.bytesPerLine())
        column, line = np.floor(self._pixels(self._points)).astype(np.int64).T
        seen: NDArray[np.bool_] = (column >= 0) & (column < drawn.width()) & (line >= 0) & (line < drawn.height())
        seen[seen] = lines[line[seen], column[seen]] > 0
        return seen

    def _move(self, across: float, down: float) -> None:
        view = self._view()
        self._set_view(Viewport(view.x - across / view.scale, view.y + down / view.scale, view.scale))

    def _zoom_at(self, factor: float, at: QPointF) -> None:
        """Zoom where `at` stays in its place."""
        view, whole = self._view(), self._whole().scale
        scale = min(max(view.scale * factor, whole * 0.5), whole * _CLOSEST)
        nearer = 1 / view.scale - 1 / scale
        left, up = at.x() - self.width() / 2, self.height() / 2 - at.y()
        self._set_view(Viewport(view.x + left * nearer, view.y + up * nearer, scale))

    def _set_view(self, view: Viewport | None) -> None:
        self._chosen_view, self._hovered = view, -1
        self.update()
        self.moved.emit(self.is_moved())


def _find_room(label: QRectF, box: QRectF, taken: Sequence[QRectF]) -> bool:
    """Move a label up or down to where it covers no other; whether there is room."""
    step = label.height() + 2
    for shift in (0.0, step, -2 * step, 3 * step, -4 * step):  # each relative to the one before
        label.translate(0, shift)
        if box.contains(label) and not any(label.intersects(other) for other in taken):
            return True
    return False
