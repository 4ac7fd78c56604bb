"""Run by test_window_dragged.py: a small window of another program, on which files are dropped.

Arguments: its place on the screen, x and y. Says on stdout "ready", then for each drop its action and its addresses.
"""

import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests.journeys.dragging import say

SIZE = 80  # pixels


class Folder(QWidget):
    def __init__(self, x: int, y: int) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self.setWindowFlag(Qt.WindowType.X11BypassWindowManagerHint)  # there is none to place it
        self.setGeometry(x, y, SIZE, SIZE)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.raise_()
        say("ready")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
            say("over", event.proposedAction().name)

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        say("dropped", event.dropAction().name, *(url.toString() for url in event.mimeData().urls()))


if __name__ == "__main__":
    application = QApplication(sys.argv[:1])
    folder = Folder(int(sys.argv[1]), int(sys.argv[2]))
    folder.show()
    application.exec()
