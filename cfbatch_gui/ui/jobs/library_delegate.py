"""Paints the lines of the sidebar's list, and edits a job's name in it."""

from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QHelpEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.ui import display, icons, theme
from cfbatch_gui.ui.jobs.job_groups import Entry, Group, GroupEntry
from cfbatch_gui.ui.jobs.library_rows import ENTRY_ROLE, LibraryRows, line_height
from cfbatch_gui.ui.state_names import DraftPhase, StateWords, kind_icon, library_words, words_of_job
from cfbatch_gui.ui.widgets import paint_bar

Index = QModelIndex | QPersistentModelIndex
PhaseOf = Callable[[Job], DraftPhase]

_SIDE = 12  # pixels between the list and the edges of the sidebar
_TEXT = 38  # pixels from the left edge of a line to its text
_TAGS = 0.45  # of the first line, at most
_USUAL = 17  # pixels; the greatest height of a line in the usual font


def _more(metrics: QFontMetrics) -> int:
    """By how many pixels each line is higher with a larger font."""
    return max(0, metrics.height() - _USUAL)


class LibraryDelegate(QStyledItemDelegate):
    """Paints groups and jobs.

    `clock` returns the present, in seconds since 1970, for the ages of jobs; `phase_of` is asked for drafts only.
    """

    def __init__(
        self, parent: QAbstractItemView, rows: LibraryRows, clock: Callable[[], float], phase_of: PhaseOf
    ) -> None:
        super().__init__(parent)
        self._view = parent
        self._rows = rows
        rows.spoken = self.spoken
        self._clock, self._phase_of = clock, phase_of
        self.opened_job = ""  # the id of the open job, painted as selected also when another line has the focus

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        entry = self._rows.entries()[index.row()]
        lines = 1 if isinstance(entry, GroupEntry) else 2
        return QSize(120, line_height(entry) + lines * _more(option.fontMetrics))

    def words(self, job: Job) -> StateWords:
        """The second line of a job as it is painted now."""
        return library_words(job, self._clock(), DraftPhase.EMPTY if job.is_sent else self._phase_of(job))

    def spoken(self, entry: Entry) -> str:
        """A line in words: the name of a job, its state, what is painted below the name, and its tags."""
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
        if is_open or state & QStyle.StateFlag.State_Selected:
            painter.setBrush(theme.colour("selection"))
            painter.drawRoundedRect(frame, 8, 8)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(theme.colour("hover"))
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
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        name = QFont(font)
        name.setWeight(QFont.Weight.Medium)
        painter.setFont(name)
        painter.setPen(theme.colour("text"))
        more = _more(QFontMetrics(font))
        line = QRect(box.left(), box.top() + 5, box.width(), 20 + more)
        small = QFont(font)
        small.setPixelSize(max(9, painter.fontInfo().pixelSize() - 1))
        if job.tags:
            line.setRight(self._paint_tags(painter, line, small, job) - _SIDE)
            painter.setFont(name)
            painter.setPen(theme.colour("text"))
        elided = painter.fontMetrics().elidedText(display.one_line(job.name), Qt.TextElideMode.ElideRight, line.width())
        direction = self._view.layoutDirection()
        painter.drawText(QStyle.visualRect(direction, box, line), middle, elided)
        line.setRight(box.right())
        state = self.words(job)
        painter.setFont(small)
        painter.setPen(theme.colour("quiet" if state.role == "done" else state.role))
        line.moveTop(box.top() + 24 + more)
        line.setHeight(18 + more)
        spot = QStyle.visualRect(direction, box, QRect(line.left(), line.top() + 3 + more // 2, 13, 13))
        icons.paint_icon(painter, spot, state.icon, state.role)
        line.setLeft(line.left() + 18)
        text = painter.fontMetrics().elidedText(display.one_line(state.text), Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(QStyle.visualRect(direction, box, line), middle, text)
        if job.state is JobState.WORKING and job.batches:
            bar = QRectF(box.left(), box.top() + 44 + 2 * more, box.width(), 4)
            paint_bar(painter, bar, job.batches_done / len(job.batches), direction=direction)

    def _paint_tags(self, painter: QPainter, line: QRect, font: QFont, job: Job) -> int:
        """Paint the tags at the end of a line; where they begin."""
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

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setAccessibleName(self.tr("Name"))
        editor.setMaxLength(200)
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            model.setData(index, editor.text())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        box = option.rect
        height = 30 + _more(option.fontMetrics)
        editor.setGeometry(box.left() + _SIDE + _TEXT - 11, box.top(), box.width() - 2 * _SIDE - _TEXT + 8, height)

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        """Show the whole name, the whole second line and the tags of a job as a tooltip."""
        entry = index.data(ENTRY_ROLE) if index.isValid() else None
        if event.type() != QEvent.Type.ToolTip or not isinstance(entry, Job):
            return super().helpEvent(event, view, option, index)
        lines = filter(None, (entry.name, self.words(entry).text, ", ".join(entry.tags)))
        QToolTip.showText(event.globalPos(), display.plain_tip("\n".join(lines)), view)
        return True
