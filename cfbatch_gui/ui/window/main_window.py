"""The main window: the sidebar, a stack of pages with notices floating above it, menus, and the list of shortcuts."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QRect, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QCloseEvent,
    QDesktopServices,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QDialog, QGridLayout, QMainWindow, QMenu, QSplitter, QStackedWidget, QWidget

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.icons import paint_icon
from cfbatch_gui.ui.jobs.library import Library
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tables.table_view import Memory
from cfbatch_gui.ui.theme import LARGE, SIDEBAR_WIDTH, SMALL, WIDE, Scheme
from cfbatch_gui.ui.widgets import Button, Label, column, row
from cfbatch_gui.ui.window.notice_list import NoticeListDialog

_SIZE = (1280, 820)
_SMALLEST = (920, 560)
WEBSITE = "https://developers.cloudflare.com/workers-ai/features/batch-api/"


class MainWindow(QMainWindow):
    """Emits a signal for every action of the user, and closes only when `finish` is called.

    Geometry and the width of the sidebar are saved in `memory` when the user closes it.
    """

    new_job = Signal()
    open_file = Signal()
    files_dropped = Signal(list)  # of Path
    export = Signal()
    compare = Signal()
    judge = Signal()
    attach = Signal()
    back_up = Signal()
    connection = Signal()
    scheme_chosen = Signal(str)  # a `Scheme`
    close_requested = Signal()

    def __init__(self, memory: Memory, *, scheme: Scheme = Scheme.SYSTEM, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._memory = memory
        self._may_close = False
        self.setWindowTitle(self.tr("CF Batch"))
        self.setMinimumSize(*_SMALLEST)
        self.setAcceptDrops(True)
        self.library = Library()
        right = QWidget()
        self.notices = Notices(right)
        self.pages = QStackedWidget()
        right.setLayout(column(self.pages, gap=0))
        self.pages.currentChanged.connect(self.notices.place)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(1)
        self._splitter.addWidget(self.library)
        self._splitter.addWidget(right)
        self._splitter.setStretchFactor(0, 0)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([SIDEBAR_WIDTH, _SIZE[0] - SIDEBAR_WIDTH])
        self.setCentralWidget(self._splitter)
        self._overlay = _DropOverlay(right, self.tr("Drop it to start a new job"))
        self._make_menus(scheme)
        self.library.new_job.connect(self.new_job)
        self.library.connection_opened.connect(self.connection)
        self.library.notices_wanted.connect(self.show_notices)
        self.notices.connection_wanted.connect(self.connection)
        self.notices.changed.connect(lambda: self.library.foot.show_unseen(self.notices.unseen()))
        self._restore()

    def show_page(self, page: QWidget) -> None:
        """Show this page at the right; it is added to the stack the first time."""
        if self.pages.indexOf(page) < 0:
            self.pages.addWidget(page)
        self.pages.setCurrentWidget(page)

    def set_can_export(self, possible: bool) -> None:
        """Enable or disable Export in the menu."""
        self._export.setEnabled(possible)

    def finish(self) -> None:
        """Close the window, after all work has ended."""
        self._may_close = True
        self.close()

    def show_notices(self) -> None:
        """Open the list of the last notices."""
        NoticeListDialog(self.notices, self).open()

    def show_shortcuts(self) -> None:
        """Open the list of shortcuts."""
        ShortcutsDialog(self).open()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._may_close:
            super().closeEvent(event)
        else:
            self._save_layout()
            event.ignore()
            self.close_requested.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _files(event):
            _take_copy(event)
            self._overlay.cover()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._overlay.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self._overlay.hide()
        files = _files(event)
        if files:
            _take_copy(event)
            self.files_dropped.emit(files)

    def _make_menus(self, scheme: Scheme) -> None:
        file = self._menu(self.tr("&File"))
        self._act(file, self.tr("New job"), QKeySequence(QKeySequence.StandardKey.New), self.new_job.emit)
        self._act(file, self.tr("Open a file…"), QKeySequence(QKeySequence.StandardKey.Open), self.open_file.emit)
        self._act(file, self.tr("Add a job by its request id…"), QKeySequence("Ctrl+Shift+N"), self.attach.emit)
        self._export = self._act(file, self.tr("Export…"), QKeySequence("Ctrl+E"), self.export.emit)
        self._export.setEnabled(False)
        self._act(file, self.tr("Compare with…"), QKeySequence("Ctrl+Shift+C"), self.compare.emit)
        self._act(file, self.tr("Judge its texts…"), QKeySequence("Ctrl+J"), self.judge.emit)
        self._act(file, self.tr("Back up all jobs…"), QKeySequence(), self.back_up.emit)
        file.addSeparator()
        settings = self._act(file, self.tr("Connection and settings"), QKeySequence("Ctrl+,"), self.connection.emit)
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        quit_action = self._act(file, self.tr("Quit"), QKeySequence("Ctrl+Q"), self.close)
        quit_action.setMenuRole(QAction.MenuRole.QuitRole)
        edit = self._menu(self.tr("&Edit"))
        self._act(edit, self.tr("Find a job"), QKeySequence("Ctrl+Shift+F"), self._find_job)
        self._act(edit, self.tr("Rename the job"), QKeySequence("F2"), self.library.rename)
        view = self._menu(self.tr("&View"))
        self._add_schemes(view, scheme)
        help_menu = self._menu(self.tr("&Help"))
        self._act(help_menu, self.tr("Shortcuts"), QKeySequence("F1"), self.show_shortcuts)
        self._act(
            help_menu,
            self.tr("About the Batch API"),
            QKeySequence(),
            lambda: QDesktopServices.openUrl(QUrl(WEBSITE)),
        )
        if not self.menuBar().isNativeMenuBar():
            self.menuBar().hide()
            toggle = QAction(self)
            toggle.setShortcut(QKeySequence("F10"))
            toggle.triggered.connect(lambda: self.menuBar().setVisible(self.menuBar().isHidden()))
            self.addAction(toggle)

    def _add_schemes(self, view: QMenu, scheme: Scheme) -> None:
        group = QActionGroup(self)
        names = {
            Scheme.SYSTEM: self.tr("As the system"),
            Scheme.LIGHT: self.tr("Light"),
            Scheme.DARK: self.tr("Dark"),
        }
        for each, name in names.items():
            action = self._act(view, name, QKeySequence(), partial(self.scheme_chosen.emit, each.value))
            action.setCheckable(True)
            action.setChecked(each is scheme)
            group.addAction(action)

    def _menu(self, title: str) -> QMenu:
        return self.menuBar().addMenu(title)

    def _act(self, menu: QMenu, text: str, keys: QKeySequence, on_chosen: Callable[[], object]) -> QAction:
        """Add an entry to a menu and its action to the window, so that its shortcut works while the menu is hidden."""
        action = QAction(text, self)
        action.setShortcut(keys)
        action.triggered.connect(lambda _checked=False: on_chosen())
        menu.addAction(action)
        self.addAction(action)
        return action

    def _find_job(self) -> None:
        self.library.find_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.library.find_field.selectAll()

    def _save_layout(self) -> None:
        self._memory.set("window/geometry", _as_text(self.saveGeometry()))
        self._memory.set("window/sidebar", _as_text(self._splitter.saveState()))

    def _restore(self) -> None:
        self.resize(QSize(*_SIZE).boundedTo(self.screen().availableSize()))
        if geometry := self._memory.get("window/geometry"):
            self.restoreGeometry(QByteArray.fromBase64(geometry.encode()))
        if sidebar := self._memory.get("window/sidebar"):
            self._splitter.restoreState(QByteArray.fromBase64(sidebar.encode()))
            self._splitter.setHandleWidth(1)


class _DropOverlay(QWidget):
    """Covers the page while a file is dragged over the window."""

    def __init__(self, over: QWidget, text: str) -> None:
        super().__init__(over)
        self._over, self._text = over, text
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        over.installEventFilter(self)

    def cover(self) -> None:
        """Cover the page."""
        self.setGeometry(self._over.rect())
        self.raise_()
        self.show()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self.setGeometry(self._over.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        back = theme.colour("selection")
        back.setAlpha(235)
        painter.setPen(theme.colour("accent"))
        painter.setBrush(back)
        painter.drawRoundedRect(self.rect().adjusted(SMALL, SMALL, -SMALL, -SMALL), 10, 10)
        middle = self.rect().center()
        paint_icon(painter, QRect(middle.x() - 14, middle.y() - 40, 28, 28), "file-up", "accent")
        painter.setPen(theme.colour("text"))
        painter.drawText(self.rect().adjusted(0, 24, 0, 24), Qt.AlignmentFlag.AlignCenter, self._text)


class ShortcutsDialog(QDialog):
    """The list of shortcuts and what they do. It is opened with `open()`, and deletes itself when it is closed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        grid = QGridLayout()
        grid.setHorizontalSpacing(WIDE)
        grid.setVerticalSpacing(SMALL)
        for line, (keys, text) in enumerate(self._shortcuts()):
            grid.addWidget(Label(QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText), "quiet"), line, 0)
            grid.addWidget(Label(text), line, 1)
        close = Button(self.tr("Close"))
        close.clicked.connect(self.accept)
        self.setLayout(
            column(
                Label(self.tr("Shortcuts"), "part"),
                grid,
                row(None, close),
                gap=LARGE,
                margins=(WIDE, WIDE - 4, WIDE, WIDE - 4),
            )
        )

    def _shortcuts(self) -> tuple[tuple[str, str], ...]:
        return (
            ("Ctrl+N", self.tr("New job")),
            ("Ctrl+O", self.tr("Open a file in a new job")),
            ("Ctrl+V", self.tr("Paste texts, cells or a file: into the draft, or as a new job")),
            ("Ctrl+Return", self.tr("Send the draft")),
            ("Ctrl+Shift+N", self.tr("Add a job by its request id")),
            ("Ctrl+F", self.tr("Find in this page")),
            ("Ctrl+Shift+F", self.tr("Find a job")),
            ("Ctrl+C", self.tr("Copy the selected rows, as a spreadsheet takes them")),
            ("Ctrl+E", self.tr("Export")),
            ("Ctrl+Shift+C", self.tr("Compare the ranking with another job")),
            ("Ctrl+J", self.tr("Judge the texts of the ranking, or of the comparison")),
            ("F2", self.tr("Rename the job")),
            ("Del", self.tr("Delete the job, in the list of jobs")),
            ("Ctrl+,", self.tr("Connection and settings")),
            ("F10", self.tr("Show or hide the menu")),
            ("F1", self.tr("This list")),
            ("Ctrl+Q", self.tr("Quit")),
        )


def _files(event: QDropEvent) -> list[Path]:
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def _take_copy(event: QDropEvent) -> None:
    """Accept a drop as a copy: after a move the source may delete what was dragged."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


def _as_text(state: QByteArray) -> str:
    return bytes(state.toBase64().data()).decode()
