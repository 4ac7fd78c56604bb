"""What every plot can do: paint itself at any size, and leave the window as a picture or as its data."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSizeF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.results.exports.base import Cell, ExportOptions, Preset
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.ui import theme

_PICTURE_SCALE = 2.0  # pixels of a saved picture for one of the screen
_LEAST_WIDTH = 1_600


@dataclass(frozen=True, slots=True)
class PlotData:
    """The numbers behind a plot. `rows` may be read in a thread, once."""

    columns: tuple[str, ...]
    rows: Iterable[Sequence[Cell]]

    def csv(self, separator: str = ",") -> bytes:
        """As a spreadsheet opens it: nothing in it is taken for a formula."""
        dialect = Dialect(ExportOptions(preset=Preset.EXCEL, separator=separator))
        return dialect.start + dialect.encode([self.columns]) + dialect.encode(self.rows)


class Plot(QWidget):
    """A widget whose paint code also makes its picture. `name` is its accessible name and the title of an SVG."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(200, 120)

    @abstractmethod
    def draw(self, painter: QPainter, size: QSizeF, *, as_picture: bool) -> None:
        """Paint everything, in logical pixels. A picture has no hover and no keyboard ring."""
        raise NotImplementedError

    @abstractmethod
    def data(self) -> PlotData:
        """The numbers that are shown."""
        raise NotImplementedError

    def picture(self) -> QImage:
        """The plot on the window's own colour, twice as fine as on the screen, at least 1,600 pixels wide."""
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
        """The plot as lines and letters."""
        content = QByteArray()
        buffer = QBuffer(content)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
        generator.setOutputDevice(buffer)
        generator.setSize(self.size())
        generator.setViewBox(self.rect())
        generator.setResolution(96)
        generator.setTitle(self.accessibleName())
        with QPainter(generator) as painter:
            painter.fillRect(QRectF(self.rect()), theme.colour("window"))
            self._draw(painter, as_picture=True)
        buffer.close()
        return bytes(content.data())

    def copy(self) -> None:
        """Put the picture on the clipboard."""
        QGuiApplication.clipboard().setImage(self.picture())

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            self._draw(painter, as_picture=False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def _draw(self, painter: QPainter, *, as_picture: bool) -> None:
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.setFont(self.font())
        self.draw(painter, QSizeF(self.size()), as_picture=as_picture)


def encoded(image: QImage) -> bytes:
    """The picture as PNG; may run in a thread."""
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    buffer.close()
    return bytes(content.data())
