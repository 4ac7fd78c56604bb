"""Files that are dragged from a line that names them: to the desktop, a folder, a mail."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from cfbatch_gui.ui import icons

_ICON = 32  # pixels


class FileDrag(QObject):
    """Lets files be dragged by the mouse from a widget, as copies; those that are gone are left out."""

    def __init__(self, widget: QWidget, paths: Sequence[Path]) -> None:
        super().__init__(widget)
        self._widget, self._paths = widget, tuple(paths)
        self._pressed: QPoint | None = None
        widget.setCursor(Qt.CursorShape.OpenHandCursor)
        widget.setToolTip(self.tr("Drag it to a folder, the desktop or a mail"))
        widget.installEventFilter(self)

    def content(self) -> QMimeData:
        """What is dragged: the addresses of the files that are still there."""
        held = QMimeData()
        held.setUrls([QUrl.fromLocalFile(str(path)) for path in self._paths if path.exists()])
        return held

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QMouseEvent):
            return False
        place = event.position().toPoint()
        if event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
            self._pressed = place
            return True
        if event.type() == QEvent.Type.MouseMove and self._pressed is not None:
            if (place - self._pressed).manhattanLength() >= QApplication.startDragDistance():
                self._pressed = None
                self._drag()
            return True
        if event.type() == QEvent.Type.MouseButtonRelease:
            self._pressed = None
        return False

    def _drag(self) -> None:
        content = self.content()
        if not content.hasUrls():
            return
        drag = QDrag(self._widget.window())  # the line itself may go while it lasts
        drag.setMimeData(content)
        drag.setPixmap(icons.icon("file-text").pixmap(_ICON, _ICON))
        drag.exec(Qt.DropAction.CopyAction)  # a nested loop, in which tasks go on: this is an event, and no coroutine
