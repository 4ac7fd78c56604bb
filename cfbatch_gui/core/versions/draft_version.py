"""Which earlier job a job is the new version of: recognised by its columns and its ids, or chosen by the user."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.folder import JobFolder, texts_forgotten
from cfbatch_gui.core.job_folder.schema import metadata_value, put_metadata_value
from cfbatch_gui.core.jobs.reuse import NOTHING, Numbers, Reusable
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.versions.differences import (
    Change,
    Differences,
    VersionRow,
    can_be_compared,
    changes_of,
    compare_versions,
    read_rows,
    share_in_common,
)

_CHOSEN = "earlier_version"  # the name of a fact: the job's id, "" for none
LEAST_SHARE = 0.5  # of the names that two versions of a file have in common
_MOST_LOOKED_AT = 5  # jobs that are built alike, the newest first
_log = logging.getLogger(__name__)


def choose_predecessor(folder: JobFolder, job_id: str) -> None:
    """Keep the user's choice with a job, "" for none. Raises DataError, DiskFull."""
    with folder.open() as database:
        put_metadata_value(database, _CHOSEN, job_id)


def find_predecessor(job: Job, jobs: Iterable[Job], folder_of: Callable[[str], JobFolder]) -> Job | None:
    """The user's choice, else the newest job of the same columns and half of the ids.

    For a thread. Raises DataError.
    """
    folder = folder_of(job.id)
    if not folder.data.exists():
        return None
    others = [each for each in jobs if each.id != job.id and each.is_sent and each.kind is job.kind]
    with folder.open(read_only=True) as database:
        chosen = metadata_value(database, _CHOSEN)
    if isinstance(chosen, str):
        return next((each for each in others if each.id == chosen), None)
    built = _how_built(folder)
    looked_at = 0
    for each in others:
        theirs = folder_of(each.id)
        if each.created_at > job.created_at or not each.source_name or not theirs.data.exists():
            continue
        try:
            if texts_forgotten(theirs) is not None or _how_built(theirs) != built:
                continue
            looked_at += 1
            if share_in_common(folder, theirs) >= LEAST_SHARE:
                return each
        except DataError as error:
            _log.info("Job %s is not compared: %s", each.id, error.detail)
        if looked_at >= _MOST_LOOKED_AT:
            return None
    return None


def _how_built(folder: JobFolder) -> tuple[object, ...]:
    with folder.open(read_only=True) as database:
        names = ("columns", "roles", "second_columns", "second_roles", "layout")
        return tuple(metadata_value(database, name) for name in names)


_SENDABLE = """
SELECT item_no FROM items WHERE item_no NOT IN (SELECT item_no FROM repeats)
    AND item_no NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL) ORDER BY item_no
"""


def _none() -> Numbers:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """What became of a row, and whose result it takes, "" when sent or gone."""

    row: VersionRow
    change: Change
    source: str = ""
    before: str = ""


@dataclass(frozen=True, eq=False)
class DraftVersion:
    """`sent` and `taken` are numbers of items, ascending, without repetitions."""

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
        return self.differences.moved if self.differences else _none()

    @property
    def removed(self) -> Numbers:
        """Items of the predecessor whose id is not in the draft any more, nor their text under another id."""
        if self.differences is None:
            return _none()
        return np.setdiff1d(self.differences.removed, self.differences.was[self.differences.moved - 1])

    def count_sent(self, change: Change) -> int:
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
