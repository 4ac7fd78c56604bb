"""Run by test_window_dropped.py: a small window of another program, from which files or a text are dragged.

Arguments: its place on the screen, x and y; then the files. Says on stdout "ready", "over ACTION" for what the program
below the mouse would do with them, and "dropped ACTION".
"""

import sys

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QWidget

SIZE = 40  # pixels


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class Handle(QWidget):
    """Takes hold of the files when the mouse is pressed on it, as a file manager does."""

    def __init__(self, x: int, y: int, files: list[str]) -> None:
        super().__init__()
        self._files = files
        self.setWindowFlag(Qt.WindowType.X11BypassWindowManagerHint)  # there is none to place it
        self.setGeometry(x, y, SIZE, SIZE)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.raise_()
        say("ready")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        held = QMimeData()
        held.setUrls([QUrl.fromLocalFile(file) for file in self._files])
        drag = QDrag(self)
        drag.setMimeData(held)
        drag.actionChanged.connect(lambda action: say("over", action.name))
        both = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
        say("dropped", drag.exec(both, Qt.DropAction.MoveAction).name)


if __name__ == "__main__":
    application = QApplication(sys.argv[:1])
    handle = Handle(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    handle.show()
    application.exec()
