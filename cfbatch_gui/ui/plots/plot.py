"""What every plot can do: paint itself at any size, show a tip under the mouse, be copied and be saved."""

import asyncio
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QEvent, QIODevice, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAccessible,
    QGuiApplication,
    QImage,
    QImageWriter,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextLayout,
    QTextOption,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.results.exports.base import Cell, ExportOptions, Preset
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.settings import RememberedFolder
from cfbatch_gui.ui import dialogs, display, theme
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, RADIUS_CONTROL, SMALL, TINY
from cfbatch_gui.ui.widgets import IconButton, QuietButton, row

_PICTURE_SCALE = 2.0  # pixels of a saved picture for one of the screen
_LEAST_WIDTH = 1_600
_TIP_WIDTH, _TIP_LINES = 300.0, 4


@dataclass(frozen=True, slots=True)
class PlotData:
    """The numbers behind a plot. `rows` may be read in a thread, once."""

    columns: tuple[str, ...]
    rows: Iterable[Sequence[Cell]]

    def csv(self, separator: str = ",") -> bytes:
        """The rows as CSV for spreadsheets; cells that look like formulas are escaped."""
        dialect = Dialect(ExportOptions(preset=Preset.EXCEL, separator=separator))
        return dialect.start + dialect.encode([self.columns]) + dialect.encode(self.rows)


class Plot(QWidget):
    """A widget whose paint code also makes its picture. `name` is its accessible name and the title of an SVG."""

    accessible_role = QAccessible.Role.Chart

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._mouse: QPointF | None = None
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(200, 120)

    @abstractmethod
    def draw(self, painter: QPainter, size: QSizeF, *, as_picture: bool) -> None:
        """Paint everything, in logical pixels. A picture has no hover and no keyboard ring."""
        raise NotImplementedError

    @abstractmethod
    def summary(self) -> str:
        """What it shows in words, for whoever does not see it."""
        raise NotImplementedError

    @abstractmethod
    def data(self) -> PlotData:
        """The data behind the plot."""
        raise NotImplementedError

    def show_again(self) -> None:
        """Paint what it shows now, and say it in words."""
        self.setAccessibleDescription(self.summary())
        self.update()

    def picture(self) -> QImage:
        """The plot on the colour of the window, at twice the resolution of the screen, at least 1,600 pixels wide."""
        scale = max(_PICTURE_SCALE, _LEAST_WIDTH / max(1, self.width()))
        image = QImage(
            round(self.width() * scale), round(self.height() * scale), QImage.Format.Format_ARGB32_Premultiplied
        )
        image.setDevicePixelRatio(scale)
        image.fill(theme.colour("window"))
        with QPainter(image) as painter:
            painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # axes grow to the right everywhere
            self._draw(painter, as_picture=True)
        return image

    def svg(self) -> bytes:
        """The plot as an SVG document."""
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
            painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # axes grow to the right everywhere
            painter.fillRect(QRectF(self.rect()), theme.colour("window"))
            self._draw(painter, as_picture=True)
        buffer.close()
        return bytes(content.data())

    def copy(self) -> None:
        """Put the picture on the clipboard."""
        QGuiApplication.clipboard().setImage(self.picture())

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # axes grow to the right everywhere
            self._draw(painter, as_picture=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._mouse = event.position()
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._mouse = None
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def _draw(self, painter: QPainter, *, as_picture: bool) -> None:
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.setFont(self.font())
        self.draw(painter, QSizeF(self.size()), as_picture=as_picture)


class PictureButtons(QWidget):
    """`name` is what the file is called at first, without suffix; `folder` where the dialog begins."""

    def __init__(
        self,
        plot: Plot,
        notices: Notices,
        tasks: Tasks,
        *,
        name: str,
        folder: RememberedFolder | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._plot, self._notices, self._tasks = plot, notices, tasks
        self._name, self._folder = name, folder
        self.copy_button = IconButton("copy", self.tr("Copy the picture"))
        self.copy_button.clicked.connect(self._copy)
        self.save_button = QuietButton(
            self.tr("Save picture…"), "image", tip=self.tr("As PNG or SVG, or the data behind it as CSV")
        )
        self.save_button.clicked.connect(lambda: tasks.start("save picture", self._save()))
        self.setLayout(row(self.copy_button, self.save_button, gap=TINY))

    def set_name(self, name: str) -> None:
        """What the file is called at first."""
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
    """The picture as PNG; may run in a thread."""
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    buffer.close()
    return bytes(content.data())


def paint_tip(painter: QPainter, size: QSizeF, at: QPointF, text: str, below: str = "") -> None:
    """`text` in up to four lines, `below` in one quiet line under it, next to the point `at`."""
    room = min(_TIP_WIDTH, size.width() - 2 * MEDIUM)
    lines = _broken(painter, text, room - 2 * MEDIUM)
    metrics = painter.fontMetrics()
    widths = [metrics.horizontalAdvance(each) for each in (*lines, below) if each]
    height = metrics.height() * (len(lines) + bool(below)) + 2 * SMALL
    width = min(room, max(widths, default=0) + 2 * MEDIUM + 2)
    left = at.x() + MEDIUM if at.x() + MEDIUM + width <= size.width() else at.x() - MEDIUM - width
    top = at.y() + SMALL if at.y() + SMALL + height <= size.height() else at.y() - SMALL - height
    box = QRectF(max(1.0, left), max(1.0, top), width, height)
    painter.save()
    painter.setPen(QPen(theme.colour("line"), 1))
    painter.setBrush(theme.colour("card"))
    painter.drawRoundedRect(box, RADIUS_CONTROL, RADIUS_CONTROL)
    inside = box.adjusted(MEDIUM, SMALL, -MEDIUM, -SMALL)
    flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextSingleLine
    painter.setPen(theme.colour("text"))
    for number, each in enumerate(lines):
        painter.drawText(inside.translated(0, number * metrics.height()), flags, each)
    if below:
        painter.setPen(theme.colour("quiet"))
        short = metrics.elidedText(below, Qt.TextElideMode.ElideRight, int(inside.width()))
        painter.drawText(inside.translated(0, len(lines) * metrics.height()), flags, short)
    painter.restore()


def _broken(painter: QPainter, text: str, width: float) -> list[str]:
    """The text broken at words, the last line cut with "…" when there is more."""
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    lines: list[str] = []
    paragraphs = text.split("\n")
    for number, paragraph in enumerate(paragraphs):
        layout = QTextLayout(paragraph, painter.font())
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            start = line.textStart()
            if len(lines) == _TIP_LINES - 1:
                rest = paragraph[start:] + ("…" if number + 1 < len(paragraphs) else "")
                layout.endLayout()
                lines.append(painter.fontMetrics().elidedText(rest, Qt.TextElideMode.ElideRight, int(width)))
                return lines
            lines.append(paragraph[start : start + line.textLength()].rstrip())
        layout.endLayout()
    return lines
