"""The small card beside what the mouse stands on: plain text, a few lines, never outside the plot."""

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QPainter, QPen, QTextLayout, QTextOption

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.theme import MEDIUM, RADIUS_CONTROL, SMALL

_WIDTH, _LINES = 300.0, 4


def paint_tip(painter: QPainter, size: QSizeF, at: QPointF, text: str, below: str = "") -> None:
    """`text` in up to four lines, `below` in one quiet line under it, beside the point `at`."""
    room = min(_WIDTH, size.width() - 2 * MEDIUM)
    lines = _lines(painter, text, room - 2 * MEDIUM)
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


def _lines(painter: QPainter, text: str, width: float) -> list[str]:
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
            if len(lines) == _LINES - 1:
                rest = paragraph[start:] + ("…" if number + 1 < len(paragraphs) else "")
                layout.endLayout()
                lines.append(painter.fontMetrics().elidedText(rest, Qt.TextElideMode.ElideRight, int(width)))
                return lines
            lines.append(paragraph[start : start + line.textLength()].rstrip())
        layout.endLayout()
    return lines
