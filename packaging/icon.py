"""The app icon as a PNG, for packagers: python packaging/icon.py OUT.png [SIZE]."""

import os
import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer


def render_icon(drawing: Path, out: Path, size: int) -> Path:
    """Render an SVG on a transparent square of `size` pixels; needs no display. Raises OSError."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    application = QGuiApplication.instance() or QGuiApplication([])
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(drawing)).render(painter)
    painter.end()
    if not image.save(str(out)):
        raise OSError(f"{out} could not be written")
    del application
    return out


if __name__ == "__main__":
    drawing = Path(__file__).resolve().parents[1] / "resources" / "cfbatch.svg"
    render_icon(drawing, Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 256)
