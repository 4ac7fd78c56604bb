"""The list model of the sidebar: groups and their jobs, one on each line. An update changes only lines that differ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from cfbatch_gui.core.jobs.states import NEEDS_USER, Job, JobState

Index = QModelIndex | QPersistentModelIndex
ENTRY_ROLE = Qt.ItemDataRole.UserRole

GROUP_HEIGHT, JOB_HEIGHT, WORKING_HEIGHT = 29, 51, 57

_ROOT = QModelIndex()


class Group(StrEnum):
    """The groups of jobs, in the order of the list."""

    NEEDS_YOU = "needs_you"
    WORKING = "working"
    DRAFTS = "drafts"
    FINISHED = "finished"
    ARCHIVED = "archived"  # shown only while searching


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A line with the name of a group and the number of its jobs."""

    group: Group
    count: int


Entry = GroupEntry | Job


def group_of(job: Job) -> Group:
    """The group that a job belongs to."""
    if job.archived:
        return Group.ARCHIVED
    state = job.state  # read once: it is computed from the batches
    if state in NEEDS_USER:
        return Group.NEEDS_YOU
    if state is JobState.DRAFT:
        return Group.DRAFTS
    return Group.FINISHED if state is JobState.DONE else Group.WORKING


def line_height(entry: Entry) -> int:
    """The height of a line in pixels; that of a working job has room for a progress bar."""
    if isinstance(entry, GroupEntry):
        return GROUP_HEIGHT
    return WORKING_HEIGHT if entry.is_sent and entry.state is JobState.WORKING else JOB_HEIGHT


def arrange(jobs: Sequence[Job], find: str = "", group: Callable[[Job], Group] = group_of) -> list[Entry]:
    """Groups and jobs as lines, the latest job first in each group; only names that contain `find`, in any case."""
    wanted = find.strip().casefold()
    by_group: dict[Group, list[Job]] = {each: [] for each in Group}
    for job in jobs:
        if wanted and wanted not in job.name.casefold():
            continue
        if job.archived and not wanted:
            continue
        by_group[group(job)].append(job)
    entries: list[Entry] = []
    for each, members in by_group.items():
        if members:
            members.sort(key=lambda job: job.finished_at or job.sent_at or job.created_at, reverse=True)
            entries.append(GroupEntry(each, len(members)))
            entries.extend(members)
    return entries


def _same_line(one: Entry, other: Entry) -> bool:
    """Whether both are the same line, though its content may have changed."""
    if isinstance(one, Job) and isinstance(other, Job):
        return one.id == other.id
    return isinstance(one, GroupEntry) and isinstance(other, GroupEntry) and one.group is other.group


class LibraryRows(QAbstractListModel):
    """Groups and jobs as one list. `renamed` carries a job's id and the name that the user typed into the list."""

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: tuple[Job, ...] = ()
        self._find = ""
        self._entries: list[Entry] = []
        self._lines: dict[str, int] = {}
        self._groups: dict[str, tuple[Job, Group]] = {}  # so that a job's state is computed once, not at every update

    def entries(self) -> list[Entry]:
        """The lines that are shown, from the top."""
        return self._entries

    def line_of(self, job_id: str) -> int:
        """The index of a job's line, -1 when it is not shown."""
        return self._lines.get(job_id, -1)

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        """Replace the jobs."""
        self._jobs = tuple(jobs)
        self._groups = {job.id: (job, self._group(job)) for job in self._jobs}
        self._rearrange()

    def find(self, text: str) -> None:
        """Show only jobs whose name contains `text`, in any case; "" shows all that are not archived."""
        self._find = text
        self._rearrange()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == ENTRY_ROLE:
            return entry
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

    def _group(self, job: Job) -> Group:
        known = self._groups.get(job.id)
        return known[1] if known is not None and known[0] is job else group_of(job)

    def _rearrange(self) -> None:
        """Keep the lines that are the same at both ends, replace those between, and signal which kept ones changed."""
        fresh, old = arrange(self._jobs, self._find, self._group), self._entries
        shorter = min(len(fresh), len(old))
        head = 0
        while head < shorter and _same_line(old[head], fresh[head]):
            head += 1
        tail = 0
        while tail < shorter - head and _same_line(old[-1 - tail], fresh[-1 - tail]):
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
        self._lines = {entry.id: at for at, entry in enumerate(fresh) if isinstance(entry, Job)}
        for at, has_other_height in changed:
            role = Qt.ItemDataRole.SizeHintRole if has_other_height else Qt.ItemDataRole.DisplayRole
            self.dataChanged.emit(self.index(at), self.index(at), [role])
