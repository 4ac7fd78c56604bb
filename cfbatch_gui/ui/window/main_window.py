"""The main window: sidebar and page, files dropped on it, and the list of the last notices."""

import asyncio
import os
from contextlib import suppress

from PySide6 import QtGui
from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QWidget

from cfbatch_gui.ui.jobs.library import Library
from cfbatch_gui.ui.memory import memory
from cfbatch_gui.ui.notices import NoticeListDialog, Notices
from cfbatch_gui.ui.theme import SIDEBAR_WIDTH
from cfbatch_gui.ui.widgets import column, split
from cfbatch_gui.ui.widgets.bars import DropOverlay, local_files, take_copy

# The name of the desktop file without its suffix; the last one of those that open tables by the alphabet. Where neither
# the user nor the desktop names a default for a type of files, GIO takes the first: CSV files would have gone to this
# program instead of a spreadsheet, which they do not with this name.
DESKTOP_ID = "workers-ai-cfbatch"

_SIZE = (1280, 820)
_SMALLEST = (800, 500)
_FRAME = (16, 48)  # pixels that a desktop may put around the window; it is known only once the window is shown
_PAINTING = 1.0  # seconds that are waited for it


class MainWindow(QMainWindow):
    """Closes only when `finish` is called."""

    files_dropped = Signal(list)  # of Path
    close_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._may_close = False
        self._painted = asyncio.Event()
        self.setWindowTitle(self.tr("CF Batch"))
        self.setMinimumSize(*_SMALLEST)
        self.setAcceptDrops(True)
        self.library = Library()
        right = self._right = QWidget()
        self.notices = Notices(right)
        self.pages = QStackedWidget()
        right.setLayout(column(self.pages, gap=0))
        self.pages.currentChanged.connect(self.notices.place)
        sizes = (SIDEBAR_WIDTH, _SIZE[0] - SIDEBAR_WIDTH)
        splitter = split(self.library, right, name="window", sizes=sizes, stretched=1)
        self.setCentralWidget(splitter)
        self._overlay = DropOverlay(right, self.tr("Drop it to start a new job"))
        self.library.foot.opened.connect(self.notices.connection_wanted)
        self.library.foot.unlock.clicked.connect(self.notices.unlock_wanted)
        self.library.foot.bell.clicked.connect(self.show_notices)
        self.notices.changed.connect(lambda: self.library.foot.show_unseen(self.notices.unseen()))
        self._restore()

    async def painted(self) -> None:
        if self.isVisible():
            with suppress(TimeoutError):  # in a window that another one covers nothing may be painted
                async with asyncio.timeout(_PAINTING):
                    await self._painted.wait()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        self._painted.set()

    def come_forward(self, activation: str = "") -> None:
        """Come to the front, by the token that the desktop has given for it; "" is none."""
        keep_token(activation)
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.raise_()
        self.activateWindow()

    def finish(self) -> None:
        self._may_close = True
        self.close()

    def show_notices(self) -> None:
        NoticeListDialog(self.notices, self).open()

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        if self._may_close:
            super().closeEvent(event)
        else:
            memory.set("window/geometry", bytes(self.saveGeometry().toBase64().data()).decode())
            event.ignore()
            self.close_requested.emit()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        super().showEvent(event)
        least = self.library.least_width()  # known only now that it has its style
        self.library.setMinimumWidth(least)
        self._right.setMinimumWidth(_SMALLEST[0] - least - 1)  # in a small window the sidebar gives way first

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:
        if local_files(event.mimeData()):
            take_copy(event)
            self._overlay.cover()

    def dragLeaveEvent(self, event: QtGui.QDragLeaveEvent) -> None:
        self._overlay.hide()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:
        self._overlay.hide()
        if files := local_files(event.mimeData()):
            take_copy(event)
            self.files_dropped.emit(files)

    def _restore(self) -> None:
        self.resize(QSize(*_SIZE).boundedTo(self.screen().availableSize() - QSize(*_FRAME)))
        if geometry := memory.get("window/geometry"):
            self.restoreGeometry(QByteArray.fromBase64(geometry.encode()))


def keep_token(token: str) -> None:
    """Use this token when the window is next activated; Qt on Wayland takes it from the environment alone."""
    if token and "\0" not in token and QtGui.QGuiApplication.platformName().startswith("wayland"):
        os.environ["XDG_ACTIVATION_TOKEN"] = token
