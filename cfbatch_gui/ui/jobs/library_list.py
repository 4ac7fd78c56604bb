"""The list of jobs in the sidebar. One job is open; besides, jobs can be selected to do something with all of them."""

from collections.abc import Callable, Sequence
from itertools import groupby

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QFrame, QListView, QSizePolicy

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui.jobs.library_delegate import LibraryDelegate, PhaseOf
from cfbatch_gui.ui.jobs.library_rows import ENTRY_ROLE, LibraryRows
from cfbatch_gui.ui.state_names import StateWords
from cfbatch_gui.ui.widgets.keyboard import came_by_keyboard

_SELECTING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_Flag = QItemSelectionModel.SelectionFlag


class JobList(QListView):
    """Moving to a job opens it, as in a mail program; with Ctrl or Shift it is selected and the open one stays."""

    chosen = Signal(str)
    menu_wanted = Signal(str, QPoint)
    delete_wanted = Signal()

    def __init__(self, rows: LibraryRows, clock: Callable[[], float], phase_of: PhaseOf) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Jobs"))
        self._rows = rows
        self.setModel(rows)
        self._delegate = LibraryDelegate(self, rows, clock, phase_of)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QListView { background: transparent; }")
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.clicked.connect(self._click)
        for changed in (rows.modelReset, rows.rowsInserted, rows.rowsRemoved):
            changed.connect(self._update_focus_policy)
        self._update_focus_policy()

    def _update_focus_policy(self) -> None:
        """Let Tab reach the list only while it has entries."""
        policy = Qt.FocusPolicy.StrongFocus if self.model().rowCount() else Qt.FocusPolicy.NoFocus
        self.setFocusPolicy(policy)

    def words(self, job: Job) -> StateWords:
        """The second line of a job, as it is painted now."""
        return self._delegate.words(job)

    def mark(self, job_id: str, index: QModelIndex) -> None:
        """Make this the current line without emitting `chosen`, unless several are selected."""
        self._delegate.opened_job = job_id
        if index != self.currentIndex() and len(self.selected_jobs()) < 2:
            self.select_only(index)
        self.viewport().update()

    def select_only(self, index: QModelIndex) -> None:
        """Select this line and no other, also while Ctrl or Shift is held."""
        self.selectionModel().setCurrentIndex(index, _Flag.ClearAndSelect)

    def selected_jobs(self) -> list[Job]:
        """The selected jobs, from the top."""
        # By ranges: an index for each of thousands of lines takes a second.
        selection = self.selectionModel().selection()
        ranges = sorted((each.top(), each.bottom() + 1) for each in map(selection.at, range(selection.count())))
        entries = self._rows.entries()
        return [entry for top, end in ranges for entry in entries[top:end] if isinstance(entry, Job)]

    def select_again(self, job_ids: set[str]) -> None:
        """Select these after lines have moved: a job whose line went to another group has lost its selection."""
        if len(job_ids) < 2 or {job.id for job in self.selected_jobs()} == job_ids:
            return
        entries = self._rows.entries()
        lines = [line for line, entry in enumerate(entries) if isinstance(entry, Job) and entry.id in job_ids]
        selection = QItemSelection()
        for _, group in groupby(enumerate(lines), lambda numbered: numbered[1] - numbered[0]):
            together = [line for _, line in group]
            selection.select(self._rows.index(together[0]), self._rows.index(together[-1]))
        self.selectionModel().select(selection, _Flag.ClearAndSelect)

    def selectAll(self) -> None:
        self._rows.show_all()
        super().selectAll()

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

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """As Qt's, but the right button on a selected line keeps the selection, for its menu."""
        index = self.indexAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.RightButton and self.selectionModel().isSelected(index):
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.selected_jobs():
            self.delete_wanted.emit()
            return
        self.setProperty("keyboard", True)
        before = self.currentIndex()
        if event.key() == Qt.Key.Key_End:
            self._rows.show_all()
        super().keyPressEvent(event)
        if event.modifiers() & _SELECTING:
            return
        if self.currentIndex() != before or event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())

    def _click(self, index: QModelIndex) -> None:
        if not QApplication.keyboardModifiers() & _SELECTING:
            self._choose(index)

    def _choose(self, index: QModelIndex) -> None:
        job = index.data(ENTRY_ROLE) if index.isValid() else None
        if isinstance(job, Job):
            self.chosen.emit(job.id)

    def _ask_menu(self, position: QPoint) -> None:
        job = self.indexAt(position).data(ENTRY_ROLE)
        if isinstance(job, Job):
            self.menu_wanted.emit(job.id, self.viewport().mapToGlobal(position))
