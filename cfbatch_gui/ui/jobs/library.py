"""The sidebar: the button for a new job, the search field, the jobs in groups, the connection in use."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from PySide6 import QtCore, QtWidgets
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFont, QFontInfo, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QFrame, QSizePolicy, QStyle, QStyleOptionViewItem

from cfbatch_gui.core.jobs.states import NEEDS_USER, Job, JobState
from cfbatch_gui.ui import display, icons, theme, widgets
from cfbatch_gui.ui.job_actions import JobActions
from cfbatch_gui.ui.theme import LEAST_SIDEBAR, MEDIUM, SMALL
from cfbatch_gui.ui.widgets import ElidedLabel, IconButton, PrimaryButton, SearchField, column, paint_bar, row
from cfbatch_gui.ui.widgets.keyboard import came_by_keyboard
from cfbatch_gui.words import figures
from cfbatch_gui.words.jobs import list_row
from cfbatch_gui.words.purposes import ICONS
from cfbatch_gui.words.states import DraftPhase, StateWords, kept_phase, library_words, words_of_job


class Group(StrEnum):
    NEEDS_YOU = "needs_you"
    WORKING = "working"
    DRAFTS = "drafts"
    FINISHED = "finished"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class GroupEntry:
    group: Group
    count: int


Entry = GroupEntry | Job


def group_of(job: Job) -> Group:
    if job.archived:
        return Group.ARCHIVED
    state = job.state  # read once: it is computed from the batches
    if state in NEEDS_USER:
        return Group.NEEDS_YOU
    if state is JobState.DRAFT:
        return Group.DRAFTS
    return Group.FINISHED if state is JobState.DONE else Group.WORKING


def _order(job: Job) -> tuple[float, float, str]:
    """What jobs of a group are sorted by, the latest first."""
    return job.finished_at or job.sent_at or job.created_at, job.created_at, job.id


Index = QModelIndex | QPersistentModelIndex
ENTRY_ROLE = Qt.ItemDataRole.UserRole

_HEIGHT = 48  # of every line, in the usual font: Qt then measures one, and thousands of jobs may move at once
_ROOT = QModelIndex()


def _key(entry: Entry) -> str:
    return entry.group if isinstance(entry, GroupEntry) else entry.id


class LibraryRows(QtCore.QAbstractListModel):
    """The jobs in their groups. What the place of a job goes by is computed once.

    `clock` returns the present, in seconds since 1970, for the ages of jobs; `phase_of` is asked for drafts only.
    """

    def __init__(self, clock: Callable[[], float] = time.time, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self.phase_of: Callable[[Job], DraftPhase] = kept_phase
        self.title_of: Callable[[str], str] = str.capitalize  # of a connection, by its id
        self._places: dict[int, tuple[Job, Group, tuple[float, float, str]]] = {}
        self._find = ""
        self._entries: list[Entry] = []

    def entries(self) -> list[Entry]:
        return self._entries

    def line_of(self, key: str) -> int:
        """The index of the line of a job, by its id, or of a group; -1 when it is not shown."""
        return next((line for line, entry in enumerate(self._entries) if _key(entry) == key), -1)

    def index_of(self, job_id: str) -> QModelIndex:
        """The index of a job's line; an invalid one for a job that is not shown."""
        return self.index(self.line_of(job_id))

    def show_jobs(self, jobs: Iterable[Job]) -> None:
        known = self._places
        self._places = {id(job): known.get(id(job)) or (job, group_of(job), _order(job)) for job in jobs}
        self._rearrange()

    def find(self, text: str) -> None:
        self._find = text.strip().casefold()
        self._rearrange()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(entry)
        if isinstance(entry, Job) and role == Qt.ItemDataRole.DisplayRole:
            return entry.name
        if isinstance(entry, Job) and role == Qt.ItemDataRole.ToolTipRole:
            columns = list_row(entry, self.title_of(entry.connection))
            heading = entry.name, words_of_job(entry).text, entry.id
            lines = (f"{name}: {words}" for name, words in columns if words and words not in heading)
            return display.plain_tip("\n".join((entry.name, self.words(entry).text, *lines)))
        return None

    def words(self, job: Job) -> StateWords:
        return library_words(job, self._clock(), DraftPhase.EMPTY if job.is_sent else self.phase_of(job))

    def title(self, group: Group) -> str:
        return {
            Group.NEEDS_YOU: self.tr("Needs you"),
            Group.WORKING: self.tr("Working"),
            Group.DRAFTS: self.tr("Drafts"),
            Group.FINISHED: self.tr("Finished"),
            Group.ARCHIVED: self.tr("Archived"),
        }[group]

    def _spoken(self, entry: Entry) -> str:
        """All of a line, for a screen reader."""
        if isinstance(entry, GroupEntry):
            return f"{self.title(entry.group)}, {figures.number(entry.count)}"
        state, line = words_of_job(entry).text, self.words(entry).text
        words = (entry.name, *(() if line.startswith(state) else (state,)), line, *entry.tags)
        return ", ".join(words)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and isinstance(self._entries[index.row()], Job):
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return Qt.ItemFlag.NoItemFlags

    def _lines(self) -> list[Entry]:
        """While something is sought, those of the jobs that have it in their name or tags."""
        members: dict[Group, list[Job]] = {group: [] for group in Group}
        for job, group, _ in sorted(self._places.values(), key=lambda place: place[2], reverse=True):
            if not self._find or any(self._find in word.casefold() for word in (job.name, *job.tags)):
                members[group].append(job)
        lines: list[Entry] = []
        for group, jobs in members.items():
            lines += [GroupEntry(group, len(jobs)), *jobs] if jobs else []
        return lines

    def _rearrange(self) -> None:
        """Show the lines as they are now; where they have moved, the selection and the focus go with their jobs."""
        fresh = self._lines()
        if list(map(_key, fresh)) == list(map(_key, self._entries)):
            self._entries = fresh
            self.dataChanged.emit(self.index(0), self.index(len(fresh) - 1))
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        kept = [_key(self._entries[index.row()]) for index in before]
        self._entries = fresh
        line_of = {_key(entry): line for line, entry in enumerate(self._entries)}
        self.changePersistentIndexList(before, [self.index(line_of.get(key, -1)) for key in kept])
        self.layoutChanged.emit()


_SIDE = 12  # pixels between the list and the edges of the sidebar
_TEXT = 38  # pixels from the left edge of a line to its text
_TAGS = 0.45  # of the first line, at most
_USUAL = 17  # pixels; the greatest height of a line in the usual font


def _more(metrics: QFontMetrics) -> int:
    return max(0, metrics.height() - _USUAL)


class LibraryDelegate(QtWidgets.QStyledItemDelegate):
    def __init__(self, parent: QAbstractItemView, rows: LibraryRows) -> None:
        super().__init__(parent)
        self._view, self._rows = parent, rows
        self.opened_job = ""  # the id of the open job, painted as selected also when another line has the focus

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, _HEIGHT + 2 * _more(option.fontMetrics))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: Entry = index.data(ENTRY_ROLE)
        painter.save()
        box = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        if isinstance(entry, GroupEntry):
            self._paint_group(painter, box, option.font, entry)
        else:
            self._paint_job(painter, box, option, entry)
        painter.restore()

    def _paint_group(self, painter: QPainter, box: QRect, font: QFont, entry: GroupEntry) -> None:
        small = QFont(font)
        small.setPixelSize(max(9, painter.fontInfo().pixelSize() - 2))
        small.setWeight(QFont.Weight.DemiBold)
        painter.setFont(small)
        painter.setPen(theme.colour("quiet"))
        line, below = box.adjusted(10, 0, -10, -6), Qt.AlignmentFlag.AlignBottom
        count, measures = figures.number(entry.count), painter.fontMetrics()
        room = line.width() - measures.horizontalAdvance(count) - _SIDE
        title = measures.elidedText(self._rows.title(entry.group).upper(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(line, below | Qt.AlignmentFlag.AlignLeft, title)
        painter.drawText(line, below | Qt.AlignmentFlag.AlignRight, count)

    def _paint_job(self, painter: QPainter, box: QRect, option: QStyleOptionViewItem, job: Job) -> None:
        state = option.state
        frame = QRectF(box).adjusted(0, 0, 0, -2)
        is_open = job.id == self.opened_job
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        is_chosen = is_open or state & QStyle.StateFlag.State_Selected
        if is_chosen or state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(theme.colour("selection" if is_chosen else "hover"))
            painter.drawRoundedRect(frame, 8, 8)
        if state & QStyle.StateFlag.State_HasFocus and self._view.property("keyboard"):
            painter.setPen(theme.colour("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        top = box.top() + 4 + _more(QFontMetrics(option.font)) // 2
        spot = QStyle.visualRect(option.direction, box, QRect(box.left() + 11, top, 17, 17))
        icons.paint_icon(painter, spot, ICONS[job.purpose], "quiet")
        words = QStyle.visualRect(option.direction, box, box.adjusted(_TEXT, 0, -10, 0))
        self._paint_words(painter, words, option.font, job)

    def _paint_words(self, painter: QPainter, box: QRect, font: QFont, job: Job) -> None:
        more, direction = _more(QFontMetrics(font)), self._view.layoutDirection()
        name, small = QFont(font), QFont(font)
        name.setWeight(QFont.Weight.Medium)
        small.setPixelSize(max(9, QFontInfo(font).pixelSize() - 1))
        line = QRect(box.left(), box.top() + 3, box.width(), 19 + more)
        if job.tags:
            line.setRight(self._paint_tags(painter, line, small, job) - _SIDE)
        _write(painter, QStyle.visualRect(direction, box, line), name, "text", job.name)
        state = self._rows.words(job)
        line = QRect(box.left(), box.top() + 22 + more, box.width(), 17 + more)
        spot = QStyle.visualRect(direction, box, QRect(line.left(), line.top() + 2 + more // 2, 13, 13))
        icons.paint_icon(painter, spot, state.icon, state.role)
        line.setLeft(line.left() + 18)
        role = "quiet" if state.role == "done" else state.role
        _write(painter, QStyle.visualRect(direction, box, line), small, role, state.text)
        if job.state is JobState.WORKING and job.batches:
            bar = QRectF(box.left(), box.top() + 40 + 2 * more, box.width(), 3)
            paint_bar(painter, bar, job.batches_done / len(job.batches), direction)

    def _paint_tags(self, painter: QPainter, line: QRect, font: QFont, job: Job) -> int:
        painter.setFont(font)
        painter.setPen(theme.colour("quiet"))
        widest = int(line.width() * _TAGS)
        words = painter.fontMetrics().elidedText(", ".join(job.tags), Qt.TextElideMode.ElideRight, widest)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
        return line.right() - painter.fontMetrics().horizontalAdvance(words)


def _write(painter: QPainter, line: QRect, font: QFont, role: str, text: str) -> None:
    painter.setFont(font)
    painter.setPen(theme.colour(role))
    shown = painter.fontMetrics().elidedText(figures.one_line(text), Qt.TextElideMode.ElideRight, line.width())
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


_SELECTING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_Flag = QtCore.QItemSelectionModel.SelectionFlag


class JobList(QtWidgets.QListView):
    chosen = Signal(str)
    menu_wanted = Signal(object, QPoint)  # of a Job
    delete_wanted = Signal()

    def __init__(self, rows: LibraryRows) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Jobs"))
        self._rows = rows
        self.setModel(rows)
        self.delegate = LibraryDelegate(self, rows)
        self.setItemDelegate(self.delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QListView { background: transparent; }")
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.clicked.connect(self._click)
        rows.layoutChanged.connect(self._show_focus)
        self._show_focus()

    def _show_focus(self) -> None:
        """Without lines it takes no focus."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self._rows.entries() else Qt.FocusPolicy.NoFocus)

    def mark(self, job_id: str, index: QModelIndex) -> None:
        self.delegate.opened_job = job_id
        if index != self.currentIndex() and len(self.selected_jobs()) < 2:
            self.select_only(index)
        self.viewport().update()

    def select_only(self, index: QModelIndex) -> None:
        self.selectionModel().setCurrentIndex(index, _Flag.ClearAndSelect)

    def selected_jobs(self) -> list[Job]:
        # By ranges: an index for each of thousands of lines takes a second.
        selection = self.selectionModel().selection()
        ranges = sorted((each.top(), each.bottom() + 1) for each in map(selection.at, range(selection.count())))
        entries = self._rows.entries()
        return [entry for top, end in ranges for entry in entries[top:end] if isinstance(entry, Job)]

    def dataChanged(
        self,
        topLeft: QModelIndex | QPersistentModelIndex,  # noqa: N803  # Qt's names
        bottomRight: QModelIndex | QPersistentModelIndex,  # noqa: N803
        roles: Sequence[int] = (),
    ) -> None:
        """Qt would lay out all lines anew."""
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.setProperty("keyboard", came_by_keyboard(self, event))
        super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.selected_jobs():
            self.delete_wanted.emit()
            return
        self.setProperty("keyboard", True)
        before = self.currentIndex()
        super().keyPressEvent(event)
        if event.modifiers() & _SELECTING:
            return
        if self.currentIndex() != before or event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())

    def _click(self, index: QModelIndex) -> None:
        if not QtWidgets.QApplication.keyboardModifiers() & _SELECTING:
            self._choose(index)

    def _choose(self, index: QModelIndex) -> None:
        job = index.data(ENTRY_ROLE) if index.isValid() else None
        if isinstance(job, Job):
            self.chosen.emit(job.id)

    def _ask_menu(self, position: QPoint) -> None:
        job = self.indexAt(position).data(ENTRY_ROLE)
        if isinstance(job, Job):
            self.menu_wanted.emit(job, self.viewport().mapToGlobal(position))


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
    job_actions: JobActions  # given to it by the window
    opened = Signal(str)

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.setProperty("kind", "sidebar")
        self._opened_id = ""
        self.new_button = PrimaryButton(self.tr("New job"), "plus")
        self.new_button.setProperty("large", "true")
        self.find_field = SearchField(self.tr("Find a job"))
        self.rows = LibraryRows(clock, self)
        self.list = JobList(self.rows)
        self.list.chosen.connect(self._chosen)
        self.list.menu_wanted.connect(self._menu)
        self.list.delete_wanted.connect(lambda: self.job_actions.delete(*(job.id for job in self.list.selected_jobs())))
        self.find_field.searched.connect(self._find)
        self._nothing = widgets.Label("", "small", wrap=True)
        self._nothing.setContentsMargins(MEDIUM + 10, SMALL, MEDIUM, 0)
        self.foot = ConnectionFoot()
        above = column(self.new_button, self.find_field, gap=6, margins=(MEDIUM, 14, MEDIUM, 4))
        self.setLayout(column(above, self._nothing, self.list, self.foot, gap=0))
        self._ages = QtCore.QTimer(self)
        self._ages.timeout.connect(self.list.viewport().update)
        self._ages.start(_AGES_EVERY)

    def least_width(self) -> int:
        """How narrow it may be, in pixels: with a large font the button of a new job still has its words."""
        return max(LEAST_SIDEBAR, self.new_button.sizeHint().width() + 2 * MEDIUM)

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        self.rows.show_jobs(jobs)
        self._mark()
        self._say_nothing()

    def open_job(self, job_id: str) -> None:
        self._opened_id = job_id
        index = self.rows.index_of(job_id)
        self.list.select_only(index)
        self._mark()
        if index.isValid():
            above = self.rows.index(index.row() - 1)
            if isinstance(above.data(ENTRY_ROLE), GroupEntry):  # show the group's name with its first job
                self.list.scrollTo(above)
            self.list.scrollTo(index)

    def opened_job(self) -> str:
        return self._opened_id

    def selection(self) -> list[Job]:
        jobs = self.list.selected_jobs()
        return jobs if len(jobs) > 1 else []

    def _mark(self) -> None:
        self.list.mark(self._opened_id, self.rows.index_of(self._opened_id))

    def _chosen(self, job_id: str) -> None:
        if job_id != self._opened_id:
            self._opened_id = job_id
            self._mark()
            self.opened.emit(job_id)

    def _find(self, text: str) -> None:
        self.rows.find(text)
        self.list.scrollToTop()
        self.open_job(self._opened_id)
        self._say_nothing()

    def _say_nothing(self) -> None:
        """Instead of the list while it is empty."""
        found_none = self.tr("No job has such a name or tag.")
        none_yet = self.tr("Your jobs will stand here: what is prepared, what is running, what is finished.")
        self._nothing.setText(found_none if self.find_field.text().strip() else none_yet)
        self._nothing.setVisible(not self.rows.entries())

    def _menu(self, clicked: Job, position: QPoint) -> None:
        menu = QtWidgets.QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        selected = self.selection()
        self.job_actions.fill_menu(menu, selected if any(job.id == clicked.id for job in selected) else [clicked])
        menu.popup(position)


class ConnectionFoot(widgets.Clickable):
    """The connection in use, at the foot of the sidebar; a click anywhere in it emits `opened`."""

    opened = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "plain")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._icon = widgets.IconLabel("circle-dashed", "quiet", 16)
        self._name = ElidedLabel("")
        self._detail = ElidedLabel("", "small")
        self.unlock = widgets.LinkButton(self.tr("Unlock"))
        self.unlock.setAccessibleName(self.tr("Unlock the keyring"))
        self.unlock.hide()
        self.bell = IconButton("bell", self.tr("Notices"))
        self._gear = IconButton("settings", self.tr("Settings"), self.opened.emit)
        self.clicked.connect(self.opened)
        texts = column(self._name, self._detail, row(self.unlock, None), gap=0)
        margins = (MEDIUM - 1, SMALL, 5, MEDIUM - 1)
        self.setLayout(row(self._icon, (texts, 1), self.bell, self._gear, gap=7, margins=margins))
        self.show_connection(self.tr("Not connected"), self.tr("nothing is sent anywhere"), "none")

    def detail(self) -> str:
        return self._detail.whole_text()

    def show_unseen(self, count: int) -> None:
        self.bell.set_icon("bell", "accent" if count else "quiet")
        name = self.tr("Notices, {n} not seen").format(n=count) if count else self.tr("Notices")
        self.bell.setAccessibleName(name)
        self.bell.setToolTip(name)

    def show_connection(self, name: str, detail: str, state: ConnectionState) -> None:
        self._icon.set_icon(*_CONNECTION_ICONS[state])
        self.unlock.setVisible(state == "locked")
        self._name.setText(name)
        self._detail.setText(detail)
        self._gear.setAccessibleDescription(f"{name}, {detail}")
