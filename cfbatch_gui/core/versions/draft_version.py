"""What a draft is about to send and to take from earlier jobs, item by item, beside the version before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.reuse.earlier_results import NOTHING, Numbers, Reusable
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.versions.differences import Change, Differences, can_be_compared, changes_of, compare_versions
from cfbatch_gui.core.versions.predecessor import find_predecessor
from cfbatch_gui.core.versions.version_rows import VersionRow, read_rows

_SENDABLE = """
SELECT item_no FROM items WHERE item_no NOT IN (SELECT item_no FROM repeats)
    AND item_no NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL) ORDER BY item_no
"""


def _none() -> Numbers:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One row of a list: what became of it, where its result is taken from ("" when it is sent or gone), and the text
    that it had before, "" where it is not a changed one.
    """

    row: VersionRow
    change: Change
    source: str = ""
    before: str = ""


@dataclass(frozen=True, eq=False)
class DraftVersion:
    """`sent` and `taken` are numbers of the draft's items, ascending, without those that repeat another.

    Without a predecessor there are no differences, and every item that is sent counts as added.
    """

    folder: JobFolder
    reusable: Reusable = NOTHING
    predecessor: Job | None = None
    earlier: JobFolder | None = None
    differences: Differences | None = None
    sent: Numbers = field(default_factory=_none)
    taken: Numbers = field(default_factory=_none)
    chosen_anew: int = 0  # items that are sent because the user wants it

    @property
    def moved(self) -> Numbers:
        """Items with a text that had another id before."""
        return self.differences.moved if self.differences else _none()

    @property
    def removed(self) -> Numbers:
        """Items of the predecessor whose id is not in the draft any more, nor their text under another id."""
        if self.differences is None:
            return _none()
        return np.setdiff1d(self.differences.removed, self.differences.was[self.differences.moved - 1])

    def count_sent(self, change: Change) -> int:
        """How many of the items that are sent are added, changed or moved."""
        if self.differences is None:
            return len(self.sent) if change is Change.ADDED else 0
        return int(np.count_nonzero(np.isin(self.sent, self.differences.items(change))))

    def rows(self, items: Sequence[int]) -> list[ComparedRow]:
        """Rows of the draft, in the order given. Quick for a page of them. Raises DataError."""
        found = read_rows(self.folder, items)
        differences = self.differences
        changes = changes_of(differences, items) if differences else [Change.ADDED] * len(found)
        before: dict[int, str] = {}
        if differences is not None and self.earlier is not None:
            changed = [item for item, change in zip(items, changes, strict=True) if change is Change.CHANGED]
            was = [int(differences.was[item - 1]) for item in changed]
            before = {item: row.text for item, row in zip(changed, read_rows(self.earlier, was), strict=True)}
        return [
            ComparedRow(row, change, self._source_of(row.item_no), before.get(row.item_no, ""))
            for row, change in zip(found, changes, strict=True)
        ]

    def removed_rows(self, items: Sequence[int]) -> list[ComparedRow]:
        """Rows of the predecessor. Raises DataError."""
        rows = read_rows(self.earlier, items) if self.earlier else []
        return [ComparedRow(row, Change.REMOVED) for row in rows]

    def _source_of(self, item: int) -> str:
        at = int(np.searchsorted(self.reusable.item, item))
        if at >= len(self.reusable.item) or self.reusable.item[at] != item:
            return ""
        return self.reusable.jobs[int(self.reusable.source[at])].job.name


def look_at_version(
    draft: Job, jobs: Sequence[Job], folder_of: Callable[[str], JobFolder], reusable: Reusable
) -> DraftVersion:
    """A draft that was examined, `reusable` being what was found for it. For a thread. Raises DataError."""
    folder = folder_of(draft.id)
    with folder.open(read_only=True) as database:
        sendable = np.fromiter((number for (number,) in database.execute(_SENDABLE)), np.int64)
        (anew,) = database.execute("SELECT count(*) FROM sent_anew").fetchone()
    predecessor = find_predecessor(draft, jobs, folder_of)
    if predecessor is not None and not can_be_compared(folder, folder_of(predecessor.id)):
        predecessor = None
    earlier = folder_of(predecessor.id) if predecessor else None
    return DraftVersion(
        folder,
        reusable,
        predecessor,
        earlier,
        compare_versions(folder, earlier) if earlier else None,
        sent=sendable[~np.isin(sendable, reusable.item)],
        taken=reusable.item,
        chosen_anew=anew,
    )
