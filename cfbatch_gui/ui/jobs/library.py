"""The sidebar: the button for a new job, the search field, the jobs in groups, and the connection in use."""

import time
from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QMenu, QSizePolicy, QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui.jobs.job_groups import GroupEntry
from cfbatch_gui.ui.jobs.library_delegate import LibraryDelegate
from cfbatch_gui.ui.jobs.library_rows import ENTRY_ROLE, LibraryRows
from cfbatch_gui.ui.theme import LEAST_SIDEBAR, MEDIUM, SMALL
from cfbatch_gui.ui.widgets import (
    Clickable,
    ElidedLabel,
    IconButton,
    IconLabel,
    Label,
    LinkButton,
    PrimaryButton,
    SearchField,
    add_action,
    column,
    row,
)
from cfbatch_gui.ui.widgets.keyboard import came_by_keyboard

_AGES_EVERY = 20_000  # milliseconds between repaints, which update the ages

ConnectionState = Literal["none", "practice", "ready", "refused", "locked", "waiting"]
_CONNECTION_ICONS: dict[ConnectionState, tuple[str, str]] = {
    "none": ("circle-dashed", "quiet"),
    "practice": ("flask-conical", "accent"),
    "ready": ("circle-dot", "done"),
    "refused": ("triangle-alert", "attention"),
    "locked": ("key-round", "attention"),
    "waiting": ("loader", "quiet"),
}


class Library(QFrame):
    """The sidebar. Its signals about jobs carry a job's id, and `renamed` the new name too."""

    opened = Signal(str)
    new_job = Signal()
    renamed = Signal(str, str)
    duplicated = Signal(str)
    compare_wanted = Signal(str)
    judge_wanted = Signal(str)
    archived = Signal(str)
    deleted = Signal(str)
    connection_opened = Signal()
    notices_wanted = Signal()
    unlock_wanted = Signal()  # of the keyring

    def __init__(self, *, clock: Callable[[], float] = time.time, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "sidebar")
        self.setMinimumWidth(LEAST_SIDEBAR)
        self._opened_id = ""
        self.new_button = PrimaryButton(self.tr("New job"), "plus")
        self.new_button.setProperty("large", "true")
        self.new_button.clicked.connect(self.new_job)
        self.find_field = SearchField(self.tr("Find a job"))
        self.rows = LibraryRows(self)
        self.rows.renamed.connect(self.renamed)
        self.list = _List(self.rows, clock)
        self.list.chosen.connect(self._chosen)
        self.list.menu_wanted.connect(self._menu)
        self.list.delete_wanted.connect(self.deleted)
        self.find_field.searched.connect(self._find)
        self._nothing = Label(self.tr("No job has such a name."), "small", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._nothing.setContentsMargins(MEDIUM, SMALL, MEDIUM, 0)
        self._nothing.hide()
        self.find_field.searched.connect(self._show_nothing)
        self.foot = ConnectionFoot()
        self.foot.opened.connect(self.connection_opened)
        self.foot.bell.clicked.connect(self.notices_wanted)
        self.foot.unlock.clicked.connect(self.unlock_wanted)
        self.setLayout(
            column(
                column(self.new_button, self.find_field, gap=6, margins=(MEDIUM, 14, MEDIUM, 4)),
                self._nothing,
                self.list,
                self.foot,
                gap=0,
                margins=(0, 0, 0, 0),
            )
        )
        self._ages = QTimer(self)
        self._ages.timeout.connect(self.list.viewport().update)
        self._ages.start(_AGES_EVERY)

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        """Show all jobs, and repaint the lines that changed. The open job stays marked."""
        self.rows.show_jobs(jobs)
        self._mark()

    def open_job(self, job_id: str) -> None:
        """Mark a job as open without a signal, and scroll to it; "" marks none."""
        self._opened_id = job_id
        self._mark()
        index = self.rows.index_of(job_id)
        if index.isValid():
            above = self.rows.index(index.row() - 1)
            if isinstance(above.data(ENTRY_ROLE), GroupEntry):  # show the group's name with its first job
                self.list.scrollTo(above)
            self.list.scrollTo(index)

    def opened_job(self) -> str:
        """The id of the marked job."""
        return self._opened_id

    def show_connection(self, name: str, detail: str, state: ConnectionState) -> None:
        """Show the connection in use at the foot."""
        self.foot.show_connection(name, detail, state)

    def rename(self) -> None:
        """Edit the open job's name in place."""
        index = self.rows.index_of(self._opened_id)
        if index.isValid():
            self.list.edit(index)

    def _mark(self) -> None:
        self.list.mark(self._opened_id, self.rows.index_of(self._opened_id))

    def _chosen(self, job_id: str) -> None:
        if job_id != self._opened_id:
            self._opened_id = job_id
            self._mark()
            self.opened.emit(job_id)

    def _find(self, text: str) -> None:
        """Show the jobs whose name contains `text`, from the top, and mark the open one if it is among them."""
        self.rows.find(text)
        self.list.scrollToTop()
        self.open_job(self._opened_id)

    def _show_nothing(self, text: str) -> None:
        self._nothing.setVisible(bool(text.strip()) and not self.rows.entries())

    def _menu(self, job_id: str, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        index = self.rows.index_of(job_id)
        add_action(menu, self.tr("Rename"), lambda: self.list.edit(index), "pencil").setShortcut(QKeySequence("F2"))
        add_action(menu, self.tr("Duplicate"), lambda: self.duplicated.emit(job_id), "copy")
        job = index.data(ENTRY_ROLE)
        if isinstance(job, Job) and job.kind is Kind.RANK and job.batches_done:
            add_action(menu, self.tr("Compare with…"), lambda: self.compare_wanted.emit(job_id), "git-compare")
            add_action(menu, self.tr("Judge its texts…"), lambda: self.judge_wanted.emit(job_id), "list-ordered")
        if isinstance(job, Job) and job.is_sent:
            text = self.tr("Take out of the archive") if job.archived else self.tr("Archive")
            add_action(menu, text, lambda: self.archived.emit(job_id), "archive")
        menu.addSeparator()
        delete = add_action(menu, self.tr("Delete"), lambda: self.deleted.emit(job_id), "trash-2")
        delete.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        menu.popup(position)


class _List(QListView):
    """The list of jobs; moving to a job opens it, as in a mail program."""

    chosen = Signal(str)
    menu_wanted = Signal(str, QPoint)
    delete_wanted = Signal(str)

    def __init__(self, rows: LibraryRows, clock: Callable[[], float]) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Jobs"))
        self._rows = rows
        self.setModel(rows)
        self._delegate = LibraryDelegate(self, rows, clock)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QListView { background: transparent; }")
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.clicked.connect(self._choose)
        for changed in (rows.modelReset, rows.rowsInserted, rows.rowsRemoved):
            changed.connect(self._update_focus_policy)
        self._update_focus_policy()

    def _update_focus_policy(self) -> None:
        """Let Tab reach the list only while it has entries."""
        policy = Qt.FocusPolicy.StrongFocus if self.model().rowCount() else Qt.FocusPolicy.NoFocus
        self.setFocusPolicy(policy)

    def mark(self, job_id: str, index: QModelIndex) -> None:
        """Make this the current line without emitting `chosen`."""
        self._delegate.opened_job = job_id
        if index != self.currentIndex():
            self.setCurrentIndex(index)
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(240, 200)

    def dataChanged(
        self,
        topLeft: QModelIndex | QPersistentModelIndex,  # noqa: N803  # Qt's names
        bottomRight: QModelIndex | QPersistentModelIndex,  # noqa: N803
        roles: Sequence[int] = (),
    ) -> None:
        """Repaint one line. Qt would measure all lines instead."""
        if Qt.ItemDataRole.SizeHintRole in roles:
            super().dataChanged(topLeft, bottomRight, roles)
        else:
            self.viewport().update(self.visualRect(topLeft))

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.setProperty("keyboard", came_by_keyboard(event))
        super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        job = self.currentIndex().data(ENTRY_ROLE)
        if event.key() == Qt.Key.Key_Delete and isinstance(job, Job):
            self.delete_wanted.emit(job.id)
            return
        self.setProperty("keyboard", True)
        before = self.currentIndex()
        if event.key() == Qt.Key.Key_End:
            self._rows.show_all()
        super().keyPressEvent(event)
        if self.currentIndex() != before or event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())

    def _choose(self, index: QModelIndex) -> None:
        job = index.data(ENTRY_ROLE) if index.isValid() else None
        if isinstance(job, Job):
            self.chosen.emit(job.id)

    def _ask_menu(self, position: QPoint) -> None:
        job = self.indexAt(position).data(ENTRY_ROLE)
        if isinstance(job, Job):
            self.menu_wanted.emit(job.id, self.viewport().mapToGlobal(position))


class ConnectionFoot(Clickable):
    """The connection in use, at the foot of the sidebar; a click anywhere in it emits `opened`."""

    opened = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "plain")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._icon = IconLabel("circle-dashed", "quiet", 16)
        self._name = ElidedLabel("")
        self._detail = ElidedLabel("", "small")
        self.unlock = LinkButton(self.tr("Unlock"))
        self.unlock.setAccessibleName(self.tr("Unlock the keyring"))
        self.unlock.hide()
        self.bell = IconButton("bell", self.tr("Notices"))
        self._gear = IconButton("settings", self.tr("Settings"))
        self._gear.clicked.connect(self.opened)
        self.clicked.connect(self.opened)
        texts = column(self._name, self._detail, gap=0)
        layout = row(self._icon, gap=7, margins=(MEDIUM - 1, SMALL, 5, MEDIUM - 1))
        layout.addLayout(texts, 1)
        layout.addWidget(self.unlock)
        layout.addWidget(self.bell)
        layout.addWidget(self._gear)
        self.setLayout(layout)
        self.show_connection(self.tr("Not connected"), self.tr("nothing leaves this computer"), "none")

    def detail(self) -> str:
        """The line below the name of the connection."""
        return self._detail.whole_text()

    def show_unseen(self, count: int) -> None:
        """Show at the bell how many notices have faded without having been looked at."""
        self.bell.set_icon("bell", "accent" if count else "quiet")
        name = self.tr("Notices, {n} not seen").format(n=count) if count else self.tr("Notices")
        self.bell.setAccessibleName(name)
        self.bell.setToolTip(name)

    def show_connection(self, name: str, detail: str, state: ConnectionState) -> None:
        """Show a connection: its name, a line of detail below, and the icon of its state."""
        self._icon.set_icon(*_CONNECTION_ICONS[state])
        self.unlock.setVisible(state == "locked")
        self._name.setText(name)
        self._detail.setText(detail)
        self._gear.setAccessibleDescription(f"{name}, {detail}")
