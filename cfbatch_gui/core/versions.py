"""Two versions of a file compared by ids where both have them, else by texts; and the export of what changed."""

import json
import logging
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from cfbatch_gui.core.errors import DataError, UsageError
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.input_values import Mapping
from cfbatch_gui.core.job_folder.fingerprints import Hashes, hashes_of, hashes_of_items, mixed, places
from cfbatch_gui.core.job_folder.folder import JobFolder, texts_forgotten
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.jobs.reuse import Numbers, Reusable
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.csv_tables import Dialect
from cfbatch_gui.core.results.numbers import occurrences
from cfbatch_gui.core.system.files import atomic_writer

_BLOCK = 20_000
_ITEMS = "FROM items i JOIN texts t USING(text_no) LEFT JOIN queries q USING(query_no)"
_TEXTS = f"SELECT t.text {_ITEMS} ORDER BY item_no"
_QUERIES = f"SELECT q.text {_ITEMS} ORDER BY item_no"
_QUERY_IDS = f"SELECT q.query_id {_ITEMS} ORDER BY item_no"
_TEXT_IDS = f"""
SELECT iif(i.query_no IS NULL AND t.file = 2 AND t.text_id <> '', char(1), '') || t.text_id
    || coalesce(char(0) || p.part, '') {_ITEMS}
LEFT JOIN parts p ON p.item_no = i.item_no AND i.query_no IS NULL ORDER BY i.item_no
"""
_HAS_IDS = """
SELECT EXISTS(SELECT 1 FROM texts WHERE text_id <> ''), EXISTS(SELECT 1 FROM queries WHERE query_id <> '')
"""


class Change(StrEnum):
    """What became of an item; the values are those of `--json`."""

    ADDED = "added"
    CHANGED = "changed"
    MOVED = "moved"  # the same text, with the same query, had another id
    UNCHANGED = "unchanged"
    REMOVED = "removed"


@dataclass(frozen=True, eq=False)
class Differences:
    """Numbers of items, int64 (n,), ascending; `removed`, `gone` and `was` are of the earlier version, 0 for added.

    Removed is what became of no item; the names of what is gone are in the newer version no more.
    """

    added: Numbers
    changed: Numbers
    moved: Numbers
    unchanged: Numbers
    removed: Numbers
    gone: Numbers
    was: Numbers
    are_by_id: bool

    def items(self, change: Change) -> Numbers:
        found: Numbers = getattr(self, change.value)
        return found

    @property
    def differing(self) -> Numbers:
        """The items of the newer version that are not as they were: added, changed and moved."""
        return np.sort(np.concatenate((self.added, self.changed, self.moved)))


def check_comparable(newer: JobFolder, earlier: JobFolder) -> None:
    """Raises UsageError where the texts of one of them were removed, for ids stand for these, so that every text would
    count as changed; DataError.
    """
    if texts_forgotten(newer) is not None or texts_forgotten(earlier) is not None:
        raise UsageError(message("texts_one_both_jobs_were_removed"))


def compare_versions(newer: JobFolder, earlier: JobFolder) -> Differences:
    """Compare the inputs of two jobs of one kind. For a thread: seconds for a million items. Raises DataError."""
    ours, theirs, are_by_id = _both(newer, earlier)
    at = places(ours.names, theirs.names)
    is_known = at >= 0
    is_same = is_known & (ours.content == theirs.content[at]) if len(theirs.item) else is_known
    # An item of the earlier version becomes one of the newer, so that both counts add up.
    is_free = np.ones(len(theirs.item), np.bool_)
    is_free[at[is_same]] = False
    is_moved = np.zeros(len(ours.item), np.bool_)
    if are_by_id:
        rest, pool = np.flatnonzero(~is_same), np.flatnonzero(is_free)
        found = places(_numbered(ours.content[rest]), _numbered(theirs.content[pool]))
        is_moved[rest[found >= 0]] = True
        at[is_moved] = pool[found[found >= 0]]
        is_free[at[is_moved]] = False
    is_changed = is_known & ~is_same & ~is_moved
    is_changed[is_changed] = is_free[at[is_changed]]
    is_free[at[is_changed]] = False
    was = np.zeros(int(ours.item.max(initial=0)), np.int64)
    was[ours.item[is_same | is_moved | is_changed] - 1] = theirs.item[at[is_same | is_moved | is_changed]]
    return Differences(
        added=ours.item[~(is_same | is_moved | is_changed)],
        changed=ours.item[is_changed],
        moved=ours.item[is_moved],
        unchanged=ours.item[is_same],
        removed=theirs.item[is_free],
        gone=theirs.item[places(theirs.names, ours.names) < 0],
        was=was,
        are_by_id=are_by_id,
    )


def shares_in_common(newer: JobFolder, earlier: JobFolder) -> tuple[float, float]:
    """Which shares of the smaller version's names and texts the other has too, from 0 to 1. Raises DataError."""
    ours, theirs, _ = _both(newer, earlier)
    least = min(len(ours.item), len(theirs.item))
    names, texts = places(ours.names, theirs.names), places(ours.content, theirs.content)
    return (np.count_nonzero(names >= 0) / least, np.count_nonzero(texts >= 0) / least) if least else (0.0, 0.0)


class _Version(NamedTuple):
    """The numbers of the items, and the hashes of what is sent of each, and of what it is named by."""

    item: Numbers
    content: Hashes
    names: Hashes


def _both(newer: JobFolder, earlier: JobFolder) -> tuple[_Version, _Version, bool]:
    """Both versions; and whether texts are named by ids, as they and queries are where both versions have them."""
    with newer.open(read_only=True) as ours, earlier.open(read_only=True) as theirs:
        has_ids = [database.execute(_HAS_IDS).fetchone() for database in (ours, theirs)]
        by_text, by_query = (all(both) for both in zip(*has_ids, strict=True))
        names = [_names(database, by_text=by_text, by_query=by_query) for database in (ours, theirs)]
    return _Version(*hashes_of_items(newer), names[0]), _Version(*hashes_of_items(earlier), names[1]), by_text


def _names(database: sqlite3.Connection, *, by_text: bool, by_query: bool) -> Hashes:
    text = _hashes(database, _TEXT_IDS if by_text else _TEXTS)
    if database.execute("SELECT 1 FROM queries LIMIT 1").fetchone():
        text = mixed(_hashes(database, _QUERY_IDS if by_query else _QUERIES), text)
    return _numbered(text)


def _hashes(database: sqlite3.Connection, statement: str) -> Hashes:
    rows, found = database.execute(statement), [np.zeros(0, np.uint64)]
    while block := rows.fetchmany(_BLOCK):
        found.append(hashes_of([text for (text,) in block]))
    return np.concatenate(found)


def _numbered(names: Hashes) -> Hashes:
    """With equal ones told apart by their order."""
    before = occurrences(names)
    return np.where(before > 0, mixed(names, before), names)


def changes_of(differences: Differences, items: Sequence[int]) -> list[Change]:
    named = {
        int(number): change
        for change in (Change.ADDED, Change.CHANGED, Change.MOVED)
        for number in np.intersect1d(differences.items(change), np.array(items, np.int64))
    }
    return [named.get(number, Change.UNCHANGED) for number in items]


_ROWS = """
SELECT i.item_no, t.text_id, t.text, coalesce(q.query_id, ''), coalesce(q.text, ''), t.row
FROM json_each(?) wanted JOIN items i ON i.item_no = wanted.value JOIN texts t USING(text_no)
LEFT JOIN queries q USING(query_no) ORDER BY wanted.key
"""
_MOST_WORDS = 600  # of a text that is compared word by word


class VersionRow(msgspec.Struct, frozen=True, gc=False):
    """One item as it stands in its version. Ids and queries are "" where there are none; `source` is whose result it
    takes, "" when it is sent or gone, `before` its text in the version before, "" unless that was another.
    """

    item_no: int
    id: str
    text: str
    query_id: str
    query: str
    row: int
    change: Change = Change.UNCHANGED
    source: str = ""
    before: str = ""


def read_rows(folder: JobFolder, items: Sequence[int]) -> list[VersionRow]:
    """The rows of these items, in the order given. Raises DataError."""
    with folder.open(read_only=True) as database:
        return [VersionRow(*row) for row in database.execute(_ROWS, (json.dumps([int(item) for item in items]),))]


def new_words(text: str, earlier: str) -> list[tuple[int, int]]:
    """Where in `text` new words stand, from and to; nothing in very long texts."""
    words, before = _words(text), [earlier[start:stop] for start, stop in _words(earlier)]
    if len(words) > _MOST_WORDS or len(before) > _MOST_WORDS:
        return []
    matcher = SequenceMatcher(None, before, [text[start:stop] for start, stop in words], autojunk=False)
    spans = [
        (words[first][0], words[last - 1][1])
        for what, _, _, first, last in matcher.get_opcodes()
        if what in ("insert", "replace")
    ]
    joined: list[tuple[int, int]] = []
    for start, stop in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    return joined


def _words(text: str) -> list[tuple[int, int]]:
    """Where words begin and end: runs of letters and digits, and every other sign alone; spaces are none."""
    return [found.span() for found in re.finditer(r"[^\W_]+|\S", text)]


_CHOSEN = "earlier_version"  # the name of a fact: the job's id, "" for none
LEAST_SHARE = 0.5  # of the names that two versions of a file have in common
_LEAST_TEXTS = 0.1  # of the texts: 1, 2, 3 … are ids of any file
_MOST_LOOKED_AT = 5  # jobs that are built alike, the newest first
_log = logging.getLogger(__name__)


def choose_predecessor(folder: JobFolder, job_id: str) -> None:
    """Keep the user's choice with a job, "" for none. Raises DataError, DiskFull."""
    folder.keep_fact(_CHOSEN, job_id)


def find_predecessor(job: Job, jobs: Iterable[Job], folder_of: Callable[[str], JobFolder]) -> Job | None:
    """The user's choice, else the newest job of the same columns, half of the ids and a tenth of the texts.

    For a thread. Raises DataError.
    """
    folder = folder_of(job.id)
    if not folder.data.exists():
        return None
    others = [each for each in jobs if each.id != job.id and each.is_sent and each.kind is job.kind]
    if isinstance(chosen := folder.fact(_CHOSEN), str):
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
            names, texts = shares_in_common(folder, theirs)
            if names >= LEAST_SHARE and texts >= _LEAST_TEXTS:
                return each
        except DataError as error:
            _log.info("Job %s is not compared: %s", each.id, error.detail)
        if looked_at >= _MOST_LOOKED_AT:
            return None
    return None


_MOST_MAPPINGS = 50  # jobs that are looked at for one with files of the same columns


def last_mapping(
    jobs: Iterable[Job], folder_of: Callable[[str], JobFolder], columns: Iterable[tuple[str, ...]]
) -> Mapping | None:
    """What the columns of one file or two were for in the newest job with just these columns. For a thread.

    None for columns without names of their own: files of all kinds have a first and a second one.
    """
    wanted = list(map(list, columns))
    if any(each == list(complete_names((), len(each))) for each in wanted):
        return None
    for folder in islice((folder_of(each.id) for each in jobs if each.source_name), _MOST_MAPPINGS):
        with suppress(DataError):
            found = list(filter(None, map(folder.fact, ("columns", "second_columns"))))
            if found == wanted and (draft := folder.draft()):
                return draft.mapping
    return None


def _how_built(folder: JobFolder) -> tuple[object, ...]:
    with folder.open(read_only=True) as database:
        names = ("columns", "roles", "second_columns", "second_roles", "layout")
        return tuple(metadata_value(database, name) for name in names)


_SENDABLE = """
SELECT item_no FROM items WHERE item_no NOT IN (SELECT item_no FROM repeats)
    AND item_no NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL) ORDER BY item_no
"""


@dataclass(frozen=True, eq=False)
class DraftVersion:
    """`sent` and `taken` are numbers of items, ascending, without repetitions. Without a predecessor all are added, and
    `earlier` is the draft's own folder.
    """

    folder: JobFolder
    reusable: Reusable
    predecessor: Job | None
    earlier: JobFolder
    differences: Differences
    sent: Numbers
    taken: Numbers
    chosen_anew: int  # items that are sent because the user wants it

    def count_sent(self, change: Change) -> int:
        return int(np.count_nonzero(np.isin(self.sent, self.differences.items(change))))

    def rows(self, items: Sequence[int]) -> list[VersionRow]:
        """Rows of the draft, in the order given. Quick for a page of them. Raises DataError."""
        changes = changes_of(self.differences, items)
        changed = [item for item, change in zip(items, changes, strict=True) if change is Change.CHANGED]
        was = [int(self.differences.was[item - 1]) for item in changed]
        before = {item: row.text for item, row in zip(changed, read_rows(self.earlier, was), strict=True)}
        return [
            msgspec.structs.replace(
                row, change=change, source=self._source_of(row.item_no), before=before.get(row.item_no, "")
            )
            for row, change in zip(read_rows(self.folder, items), changes, strict=True)
        ]

    def removed_rows(self, items: Sequence[int]) -> list[VersionRow]:
        """Rows of the predecessor. Raises DataError."""
        return [msgspec.structs.replace(row, change=Change.REMOVED) for row in read_rows(self.earlier, items)]

    def _source_of(self, item: int) -> str:
        at = int(np.searchsorted(self.reusable.found["item"], item))
        if at >= len(self.reusable.found["item"]) or self.reusable.found["item"][at] != item:
            return ""
        return self.reusable.jobs[int(self.reusable.found["source"][at])].job.name


def look_at_version(
    draft: Job, jobs: Sequence[Job], folder_of: Callable[[str], JobFolder], reusable: Reusable
) -> DraftVersion:
    """A draft that was examined, `reusable` being what was found for it. For a thread. Raises DataError."""
    folder = folder_of(draft.id)
    with folder.open(read_only=True) as database:
        sendable = np.fromiter((number for (number,) in database.execute(_SENDABLE)), np.int64)
        (anew,) = database.execute("SELECT count(*) FROM sent_anew").fetchone()
    predecessor = find_predecessor(draft, jobs, folder_of)
    if predecessor is not None and texts_forgotten(folder_of(predecessor.id)) is not None:
        predecessor = None
    earlier, taken = folder_of(predecessor.id) if predecessor else folder, reusable.found["item"]
    differences = compare_versions(folder, earlier) if predecessor else _all_added(np.union1d(sendable, taken))
    sent = sendable[~np.isin(sendable, taken)]
    return DraftVersion(folder, reusable, predecessor, earlier, differences, sent, taken, anew)


def _all_added(items: Numbers) -> Differences:
    none = items[:0]
    return Differences(items, none, none, none, none, none, none, are_by_id=False)


_AT_ONCE = 5_000
_COLUMNS = ("id", "text", "query_id", "query", "row")


@dataclass(frozen=True, eq=False)
class ChangedSince:
    """`items` are those added, changed or moved; `removed` are the numbers of `earlier`."""

    earlier: Job
    folder: JobFolder
    items: frozenset[int]
    removed: Numbers

    def note(self, removed: Path | None) -> dict[str, object]:
        about: dict[str, object] = {"id": self.earlier.id, "name": self.earlier.name, "removed": len(self.removed)}
        return {"changed_since": {**about, "removed_list": removed.name if removed else ""}}


def changed_since(job: Job, earlier: Job, folder_of: Callable[[str], JobFolder]) -> ChangedSince:
    """Compare with the named job. For a thread. Raises UsageError without a change, DataError."""
    if earlier.id == job.id or earlier.kind is not job.kind:
        raise UsageError(message("name_is_not_earlier_version_job", name=earlier.name))
    newer, folder = folder_of(job.id), folder_of(earlier.id)
    check_comparable(newer, folder)
    differences = compare_versions(newer, folder)
    found = ChangedSince(earlier, folder, frozenset(differences.differing.tolist()), differences.gone)
    if not found.items and not len(found.removed):
        raise UsageError(message("nothing_changed_since_name_nothing_was", name=earlier.name))
    return found


def changed_since_predecessor(
    job: Job, jobs: Sequence[Job], folder_of: Callable[[str], JobFolder]
) -> ChangedSince | None:
    """As `changed_since`, None where nothing changed or texts were removed. For a thread."""
    earlier = find_predecessor(job, jobs, folder_of)
    try:
        found = changed_since(job, earlier, folder_of) if earlier else None
    except UsageError:
        return None
    return found if found is not None and found.items else None


def removed_path(path: Path) -> Path:
    """The list of what is gone, beside an export: "june.csv" has "june.csv.removed.csv"."""
    return path.with_name(f"{path.name}.removed.csv")


@contextmanager
def removed_list(found: ChangedSince, path: Path) -> Iterator[Path | None]:
    """Write what is gone beside the export that the block writes, both or neither; its path, or None.

    Raises UsageError for another file of that name, DiskFull.
    """
    target, dialect = removed_path(path), Dialect()
    header = dialect.encode([_COLUMNS])
    if target.exists() and not _begins_with(target, header):
        raise UsageError(message("name_is_way_what_is_gone", name=target.name))
    if not len(found.removed):
        yield None
        target.unlink(missing_ok=True)
        return
    with atomic_writer(target) as stream:
        stream.write(header)
        for start in range(0, len(found.removed), _AT_ONCE):
            rows = read_rows(found.folder, found.removed[start : start + _AT_ONCE].tolist())
            stream.write(dialect.encode([(row.id, row.text, row.query_id, row.query, row.row) for row in rows]))
        stream.flush()
        yield target


def _begins_with(path: Path, header: bytes) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(header)) == header
    except OSError:
        return False
