"""The list model of the sidebar: groups and their jobs, one on each line. An update changes only lines that differ.

A list view measures every line of its model whenever one comes or goes, 0.15 seconds for 10,000 jobs. So the model has
the first lines only and grows as the view is scrolled to their end, or as a job further down is opened.
"""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.ui.jobs.job_groups import Entry, GroupEntry, JobGroups, arrange

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
    """What stays the same of a line while its content changes."""
    return entry.group if isinstance(entry, GroupEntry) else entry.id


class LibraryRows(QAbstractListModel):
    """Groups and jobs as one list. `renamed` carries a job's id and the name that the user typed into the list."""

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: tuple[Job, ...] = ()
        self._find = ""
        self._shows_archive = False
        self._all: list[Entry] = []
        self._entries: list[Entry] = []  # the beginning of all, which the view knows
        self._groups = JobGroups()
        self.spoken: Callable[[Entry], str] = lambda entry: ""  # all of a line, for a screen reader

    def entries(self) -> list[Entry]:
        """The lines that the model has so far, from the top."""
        return self._entries

    def line_of(self, key: str) -> int:
        """The index of the line of a job, by its id, or of a group; -1 when it is not shown.

        The model may not have the line yet.
        """
        return next((line for line, entry in enumerate(self._all) if _key(entry) == key), -1)

    def index_of(self, job_id: str) -> QModelIndex:
        """The index of a job's line, which the model has from now on; an invalid one for a job that is not shown."""
        line = self.line_of(job_id)
        if line >= len(self._entries):
            self._grow(line + LINES)
        return self.index(line)

    def show_all(self) -> None:
        """Have every line."""
        self._grow(len(self._all))

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        """Replace the jobs."""
        self._jobs = tuple(jobs)
        self._groups.show(self._jobs)
        self._rearrange()

    def show_archive(self, shown: bool) -> None:
        """Show the archived jobs, or the others."""
        self._shows_archive = shown
        self._rearrange(from_the_top=True)

    def shows_archive(self) -> bool:
        """Whether the archived jobs are shown, and not the others."""
        return self._shows_archive

    def archived(self) -> int:
        """How many jobs are in the archive."""
        return self._groups.archived()

    def find(self, text: str) -> None:
        """Show only jobs of which the name or a tag contains `text`, in any case; "" shows what `show_archive` says."""
        self._find = text
        self._rearrange(from_the_top=True)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and len(self._entries) < len(self._all)

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            self._grow(len(self._entries) + LINES)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.spoken(entry)
        if isinstance(entry, Job) and role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return entry.name
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        entry = self._entries[index.row()]
        name = str(value).strip()
        if role == Qt.ItemDataRole.EditRole and isinstance(entry, Job) and name and name != entry.name:
            self.renamed.emit(entry.id, name)
            return True
        return False

    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and isinstance(self._entries[index.row()], Job):
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable
        return Qt.ItemFlag.NoItemFlags

    def _grow(self, lines: int) -> None:
        """Have so many lines, if there are."""
        end = min(lines, len(self._all))
        if end > len(self._entries):
            self.beginInsertRows(_ROOT, len(self._entries), end - 1)
            self._entries = self._all[:end]
            self.endInsertRows()

    def _rearrange(self, *, from_the_top: bool = False) -> None:
        """Keep the lines that are the same at both ends, replace those between, and signal which kept ones changed.

        The model has as many lines as before, and its last one also if that has moved down; `from_the_top` LINES.
        """
        if self._find.strip():
            self._all = arrange(self._jobs, self._find)
        else:
            self._all = self._groups.archive() if self._shows_archive else self._groups.lines()
        old = self._entries
        lines = LINES
        if old and not from_the_top:
            lines = max(lines, len(old), self.line_of(_key(old[-1])) + 1)
        fresh = self._all[:lines]
        shorter = min(len(fresh), len(old))
        head = 0
        while head < shorter and _key(old[head]) == _key(fresh[head]):
            head += 1
        tail = 0
        while tail < shorter - head and _key(old[-1 - tail]) == _key(fresh[-1 - tail]):
            tail += 1
        pairs = [(at, old[at], fresh[at]) for at in range(head)]
        pairs += [(len(fresh) - 1 - at, old[-1 - at], fresh[-1 - at]) for at in range(tail)]
        changed = [
            (at, line_height(one) != line_height(other))
            for at, one, other in pairs
            if one is not other and one != other
        ]
        old_end, fresh_end = len(old) - tail, len(fresh) - tail
        if old_end > head:
            self.beginRemoveRows(_ROOT, head, old_end - 1)
            self._entries = old[:head] + old[old_end:]
            self.endRemoveRows()
        if fresh_end > head:
            self.beginInsertRows(_ROOT, head, fresh_end - 1)
            self._entries = fresh
            self.endInsertRows()
        self._entries = fresh
        for at, has_other_height in changed:
            role = Qt.ItemDataRole.SizeHintRole if has_other_height else Qt.ItemDataRole.DisplayRole
            self.dataChanged.emit(self.index(at), self.index(at), [role])
