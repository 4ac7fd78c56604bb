"""Line icons, sharp at every pixel ratio; the theme's colour is looked up when they are painted."""

from functools import lru_cache
from string import Template

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QIconEngine, QPainter, QPixmap, QPixmapCache, QTransform
from PySide6.QtSvg import QSvgRenderer

from cfbatch_gui.core.resources import resource
from cfbatch_gui.ui import theme

_THINNER = ('stroke-width="2"', 'stroke-width="1.75"')  # at 16 to 20 pixels the original width of 2 looks heavy

# What points along the line: on, back, or at its beginning. Of play, undo and the like the direction is their own.
_MIRRORED = frozenset({"chevron-left", "chevron-right", "list-ordered", "send", "text-align-start", "external-link"})


def icon(name: str, colour_role: str = "text") -> QIcon:
    """An icon by its name in resources/icons, without suffix, in a role of `theme.Colours`."""
    return QIcon(_LineEngine(name, colour_role))


def paint_icon(painter: QPainter, rect: QRect, name: str, colour_role: str) -> None:
    ratio = painter.device().devicePixelRatio() if painter.device() is not None else 1.0
    painter.drawPixmap(rect, _render(name, theme.colour(colour_role), rect.size(), ratio))


_DRAWN = 336  # pixels that a drawing of resources/tiles is wide


def paint_drawing(painter: QPainter, place: QRectF, name: str) -> None:
    """Paint resources/tiles/`name`.svg as large as it fits, in the theme's colours and the direction of lines."""
    ways = {"origin": _DRAWN, "flip": -1} if QGuiApplication.isRightToLeft() else {"origin": 0, "flip": 1}
    drawing = Template(resource(f"tiles/{name}.svg").read_text("utf-8")).substitute(theme.tokens(), **ways)
    renderer = QSvgRenderer(QByteArray(drawing.encode()))
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    renderer.render(painter, place)


@lru_cache(maxsize=256)
def _drawing(name: str) -> str:
    return resource(f"icons/{name}.svg").read_text(encoding="utf-8").replace(*_THINNER)


def _render(name: str, colour: QColor, size: QSize, ratio: float) -> QPixmap:
    is_right_to_left = QGuiApplication.isRightToLeft()
    is_mirrored = name in _MIRRORED and is_right_to_left
    look = f"{colour.name(QColor.NameFormat.HexArgb)}/{size.width()}x{size.height()}@{ratio:.3f}"
    key = f"cfbatch/{name}/{look}/{is_right_to_left}"
    found = QPixmap()
    if QPixmapCache.find(key, found):
        return found
    drawn = QPixmap(size * ratio)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setOpacity(colour.alphaF())
    renderer = QSvgRenderer(QByteArray(_drawing(name).replace("currentColor", colour.name()).encode()))
    side = min(drawn.width(), drawn.height())  # the rest of a wider place is room before the words of a button
    renderer.render(painter, QRectF(drawn.width() - side if is_right_to_left != is_mirrored else 0, 0, side, side))
    painter.end()
    if is_mirrored:
        drawn = drawn.transformed(QTransform.fromScale(-1, 1))
    drawn.setDevicePixelRatio(ratio)
    QPixmapCache.insert(key, drawn)
    return drawn


class _LineEngine(QIconEngine):
    def __init__(self, name: str, colour_role: str) -> None:
        super().__init__()
        _drawing(name)  # a name that does not exist fails here, not inside a paint event
        self._name = name
        self._role = colour_role

    def clone(self) -> QIconEngine:
        return _LineEngine(self._name, self._role)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        ratio = painter.device().devicePixelRatio() if painter.device() is not None else 1.0
        painter.drawPixmap(rect, _render(self._name, self._colour(mode), rect.size(), ratio))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        return _render(self._name, self._colour(mode), size, scale)

    def _colour(self, mode: QIcon.Mode) -> QColor:
        if mode == QIcon.Mode.Disabled:
            return QGuiApplication.palette().color(
                QGuiApplication.palette().ColorGroup.Disabled, QGuiApplication.palette().ColorRole.Text
            )
        return theme.colour(self._role)
