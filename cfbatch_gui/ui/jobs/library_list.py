"""The list of jobs in the sidebar, in groups."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QFont, QFontInfo, QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
)

from cfbatch_gui.core.jobs.states import NEEDS_USER, Job, JobState
from cfbatch_gui.ui import display, icons, theme
from cfbatch_gui.ui.state_names import DraftPhase, StateWords, kept_phase, kind_icon, library_words, words_of_job
from cfbatch_gui.ui.widgets import paint_bar
from cfbatch_gui.ui.widgets.keyboard import came_by_keyboard


class Group(StrEnum):
    NEEDS_YOU = "needs_you"
    WORKING = "working"
    DRAFTS = "drafts"
    FINISHED = "finished"
    ARCHIVED = "archived"  # shown by itself, or while searching


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

GROUP_HEIGHT, JOB_HEIGHT, WORKING_HEIGHT = 29, 51, 57
LINES = 200  # that the model has at first and grows by: more than fit on any screen

_ROOT = QModelIndex()


def line_height(entry: Entry) -> int:
    """The height of a line in pixels; that of a working job has room for a progress bar."""
    if isinstance(entry, GroupEntry):
        return GROUP_HEIGHT
    return WORKING_HEIGHT if entry.is_sent and entry.state is JobState.WORKING else JOB_HEIGHT


def _key(entry: Entry) -> str:
    return entry.group if isinstance(entry, GroupEntry) else entry.id


class LibraryRows(QAbstractListModel):
    """The jobs in their groups. What the place of a job goes by is computed once."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._places: dict[int, tuple[Job, Group, tuple[float, float, str]]] = {}
        self._archived = 0
        self._find = ""
        self._shows_archive = False
        self._all: list[Entry] = []
        self._entries: list[Entry] = []  # the beginning of all, which the view knows
        self.spoken: Callable[[Entry], str] = lambda entry: ""  # all of a line, for a screen reader

    def entries(self) -> list[Entry]:
        return self._entries

    def line_of(self, key: str) -> int:
        """The index of the line of a job, by its id, or of a group; -1 when it is not shown. The model may not have
        the line yet.
        """
        return next((line for line, entry in enumerate(self._all) if _key(entry) == key), -1)

    def index_of(self, job_id: str) -> QModelIndex:
        """The index of a job's line, which the model has from now on; an invalid one for a job that is not shown."""
        line = self.line_of(job_id)
        self._grow(line + LINES if line >= len(self._entries) else 0)
        return self.index(line)

    def show_all(self) -> None:
        self._grow(len(self._all))

    def show_jobs(self, jobs: Iterable[Job]) -> None:
        known = self._places
        self._places = {id(job): known.get(id(job)) or (job, group_of(job), _order(job)) for job in jobs}
        self._archived = sum(group is Group.ARCHIVED for _, group, _ in self._places.values())
        self._rearrange()

    def show_archive(self, shown: bool) -> None:
        self._shows_archive = shown
        self._rearrange(from_the_top=True)

    def shows_archive(self) -> bool:
        return self._shows_archive

    def archived(self) -> int:
        return self._archived

    def find(self, text: str) -> None:
        self._find = text.strip().casefold()
        self._rearrange(from_the_top=True)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and len(self._entries) < len(self._all)

    def fetchMore(self, parent: Index) -> None:
        self._grow(len(self._entries) + LINES)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.spoken(entry)
        if isinstance(entry, Job) and role == Qt.ItemDataRole.DisplayRole:
            return entry.name
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and isinstance(self._entries[index.row()], Job):
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return Qt.ItemFlag.NoItemFlags

    def _grow(self, lines: int) -> None:
        end = min(lines, len(self._all))
        if end > len(self._entries):
            self.beginInsertRows(_ROOT, len(self._entries), end - 1)
            self._entries = self._all[:end]
            self.endInsertRows()

    def _lines(self) -> list[Entry]:
        """Those of the archive, or of all else; while something is sought, those that have it in their name or tags,
        the archive last.
        """
        members: dict[Group, list[Job]] = {group: [] for group in Group}
        for job, group, _ in sorted(self._places.values(), key=lambda place: place[2], reverse=True):
            is_shown = (group is Group.ARCHIVED) is self._shows_archive
            if self._find:
                is_shown = any(self._find in word.casefold() for word in (job.name, *job.tags))
            if is_shown:
                members[group].append(job)
        lines: list[Entry] = []
        for group, jobs in members.items():
            lines += [GroupEntry(group, len(jobs)), *jobs] if jobs else []
        return lines

    def _rearrange(self, *, from_the_top: bool = False) -> None:
        """Signal which lines changed where all are the same jobs, else a reset. The model has as many lines as before,
        and its last one also if that has moved down; `from_the_top` LINES.
        """
        self._all, old = self._lines(), self._entries
        lines = LINES
        if old and not from_the_top:
            lines = max(lines, len(old), self.line_of(_key(old[-1])) + 1)
        fresh = self._all[:lines]
        if list(map(_key, old)) != list(map(_key, fresh)):
            self.beginResetModel()
            self._entries = fresh
            self.endResetModel()
            return
        self._entries = fresh
        for at, (before, now) in enumerate(zip(old, fresh, strict=True)):
            if before is not now and before != now:
                is_as_high = line_height(before) == line_height(now)
                role = Qt.ItemDataRole.DisplayRole if is_as_high else Qt.ItemDataRole.SizeHintRole
                self.dataChanged.emit(self.index(at), self.index(at), [role])


_SIDE = 12  # pixels between the list and the edges of the sidebar
_TEXT = 38  # pixels from the left edge of a line to its text
_TAGS = 0.45  # of the first line, at most
_USUAL = 17  # pixels; the greatest height of a line in the usual font


def _more(metrics: QFontMetrics) -> int:
    return max(0, metrics.height() - _USUAL)


class LibraryDelegate(QStyledItemDelegate):
    """`clock` returns the present, in seconds since 1970, for the ages of jobs; `phase_of` is asked for drafts only."""

    def __init__(self, parent: QAbstractItemView, rows: LibraryRows, clock: Callable[[], float]) -> None:
        super().__init__(parent)
        self._view = parent
        self._rows = rows
        rows.spoken = self.spoken
        self._clock = clock
        self.phase_of: Callable[[Job], DraftPhase] = kept_phase
        self.opened_job = ""  # the id of the open job, painted as selected also when another line has the focus

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        entry = self._rows.entries()[index.row()]
        lines = 1 if isinstance(entry, GroupEntry) else 2
        return QSize(120, line_height(entry) + lines * _more(option.fontMetrics))

    def words(self, job: Job) -> StateWords:
        return library_words(job, self._clock(), DraftPhase.EMPTY if job.is_sent else self.phase_of(job))

    def spoken(self, entry: Entry) -> str:
        if isinstance(entry, GroupEntry):
            return f"{self._title(entry.group)}, {display.number(entry.count)}"
        state, line = words_of_job(entry).text, self.words(entry).text
        words = (entry.name, *(() if line.startswith(state) else (state,)), line, *entry.tags)
        return ", ".join(words)

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
        line = box.adjusted(10, 5, -10, 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(line, middle | Qt.AlignmentFlag.AlignLeft, self._title(entry.group).upper())
        painter.drawText(line, middle | Qt.AlignmentFlag.AlignRight, display.number(entry.count))

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
        spot = QStyle.visualRect(option.direction, box, QRect(box.left() + 11, box.top() + 7, 17, 17))
        icons.paint_icon(painter, spot, kind_icon(job.kind), "quiet")
        words = QStyle.visualRect(option.direction, box, box.adjusted(_TEXT, 0, -10, 0))
        self._paint_words(painter, words, option.font, job)

    def _paint_words(self, painter: QPainter, box: QRect, font: QFont, job: Job) -> None:
        more, direction = _more(QFontMetrics(font)), self._view.layoutDirection()
        name, small = QFont(font), QFont(font)
        name.setWeight(QFont.Weight.Medium)
        small.setPixelSize(max(9, QFontInfo(font).pixelSize() - 1))
        line = QRect(box.left(), box.top() + 5, box.width(), 20 + more)
        if job.tags:
            line.setRight(self._paint_tags(painter, line, small, job) - _SIDE)
        _write(painter, QStyle.visualRect(direction, box, line), name, "text", job.name)
        state = self.words(job)
        line = QRect(box.left(), box.top() + 24 + more, box.width(), 18 + more)
        spot = QStyle.visualRect(direction, box, QRect(line.left(), line.top() + 3 + more // 2, 13, 13))
        icons.paint_icon(painter, spot, state.icon, state.role)
        line.setLeft(line.left() + 18)
        role = "quiet" if state.role == "done" else state.role
        _write(painter, QStyle.visualRect(direction, box, line), small, role, state.text)
        if job.state is JobState.WORKING and job.batches:
            bar = QRectF(box.left(), box.top() + 44 + 2 * more, box.width(), 4)
            paint_bar(painter, bar, job.batches_done / len(job.batches), direction)

    def _paint_tags(self, painter: QPainter, line: QRect, font: QFont, job: Job) -> int:
        painter.setFont(font)
        painter.setPen(theme.colour("quiet"))
        widest = int(line.width() * _TAGS)
        words = painter.fontMetrics().elidedText(", ".join(job.tags), Qt.TextElideMode.ElideRight, widest)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
        return line.right() - painter.fontMetrics().horizontalAdvance(words)

    def _title(self, group: Group) -> str:
        return {
            Group.NEEDS_YOU: self.tr("Needs you"),
            Group.WORKING: self.tr("Working"),
            Group.DRAFTS: self.tr("Drafts"),
            Group.FINISHED: self.tr("Finished"),
            Group.ARCHIVED: self.tr("Archived"),
        }[group]

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        entry = index.data(ENTRY_ROLE) if index.isValid() else None
        if event.type() != QEvent.Type.ToolTip or not isinstance(entry, Job):
            return super().helpEvent(event, view, option, index)
        lines = filter(None, (entry.name, self.words(entry).text, ", ".join(entry.tags)))
        QToolTip.showText(event.globalPos(), display.plain_tip("\n".join(lines)), view)
        return True


def _write(painter: QPainter, line: QRect, font: QFont, role: str, text: str) -> None:
    painter.setFont(font)
    painter.setPen(theme.colour(role))
    shown = painter.fontMetrics().elidedText(display.one_line(text), Qt.TextElideMode.ElideRight, line.width())
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


_SELECTING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_Flag = QItemSelectionModel.SelectionFlag


class JobList(QListView):
    chosen = Signal(str)
    menu_wanted = Signal(object, QPoint)  # of a Job
    delete_wanted = Signal()

    def __init__(self, rows: LibraryRows, clock: Callable[[], float]) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Jobs"))
        self._rows = rows
        self.setModel(rows)
        self.delegate = LibraryDelegate(self, rows, clock)
        self.setItemDelegate(self.delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QListView { background: transparent; }")
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.clicked.connect(self._click)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def reset(self) -> None:
        """Stay where it is scrolled to; without lines it takes no focus."""
        place = self.verticalScrollBar().value()
        super().reset()
        self.doItemsLayout()
        self.verticalScrollBar().setValue(place)
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
        """Qt would measure all lines instead."""
        if Qt.ItemDataRole.SizeHintRole in roles:
            super().dataChanged(topLeft, bottomRight, roles)
        else:
            self.viewport().update(self.visualRect(topLeft))

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.setProperty("keyboard", came_by_keyboard(self, event))
        super().focusInEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
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
            self.menu_wanted.emit(job, self.viewport().mapToGlobal(position))
