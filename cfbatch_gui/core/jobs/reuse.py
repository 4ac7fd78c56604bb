"""Results of earlier jobs, copied into a draft instead of being paid for again: only where service, model, options and
the text with its query are the same, character by character, and the checksum of the batch is right. What cannot be
verified is sent.
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import (
    Checksums,
    batches_of_items,
    checksums_of,
    differing,
    items_of_batches,
    noted_checksums,
    read_items,
)
from cfbatch_gui.core.job_folder.fingerprints import Fingerprints, fingerprints_of
from cfbatch_gui.core.job_folder.folder import JobFolder, texts_forgotten
from cfbatch_gui.core.job_folder.schema import metadata_value, put_metadata_value
from cfbatch_gui.core.job_folder.vector_file import VectorFile, new_vectors, stored_vectors
from cfbatch_gui.core.jobs.states import Job

SERVICE = "service"  # the name of a fact: the mark of the service that the job was sent to
_IS_WHOLE = """
SELECT NOT EXISTS(SELECT 1 FROM requests WHERE state <> 'done')
    AND NOT EXISTS(SELECT 1 FROM items WHERE request_no IS NULL)
"""
_WITH_VECTOR = "SELECT item_no FROM items JOIN requests USING(request_no) WHERE state = 'done'"
_WITH_SCORE = "SELECT item_no FROM items WHERE score IS NOT NULL"
_log = logging.getLogger(__name__)

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EarlierJob:
    """A job whose results are taken, and how many of the draft's texts it answers."""

    job: Job
    folder: JobFolder
    texts: int


@dataclass(frozen=True, eq=False)
class Reusable:
    """What earlier jobs have of a draft, of shape (n,) in the order of its items: `item` its number, `source` the index
    in `jobs`, `source_item` the number there. `service` is "" when not known; then nothing is found.
    """

    service: str = ""
    jobs: tuple[EarlierJob, ...] = ()
    item: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    source: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    source_item: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))


NOTHING = Reusable()


class EarlierResults:
    """Looks through the jobs that were sent; for a thread. `jobs` are newest first; `service_of` gives the mark of a
    connection's service, "" for one that is gone.
    """

    def __init__(
        self,
        jobs: Callable[[], Sequence[Job]],
        folder_of: Callable[[str], JobFolder],
        service_of: Callable[[Job], str],
    ) -> None:
        self._jobs, self._folder_of, self._service_of = jobs, folder_of, service_of

    def find(self, draft: Job) -> Reusable:
        """What is there for a draft; nothing when its options say so. Raises DataError."""
        service, folder = self._service_of(draft), self._folder_of(draft.id)
        if not folder.data.exists():
            return Reusable(service)
        candidates = list(self._candidates(draft, service)) if service and draft.options.reuse else []
        if not candidates or not len(ours := fingerprints_of(folder)):
            return Reusable(service)
        return _found_among(candidates, ours, folder, service)

    def _candidates(self, draft: Job, service: str) -> Iterator[tuple[Job, JobFolder]]:
        for job in self._jobs():
            if job.id == draft.id or _what_makes_results(job) != _what_makes_results(draft):
                continue
            folder = self._folder_of(job.id)
            if not job.has_results or job.attached or job.has_named_texts or not folder.data.exists():
                continue
            try:
                if _service_of(folder) == service and texts_forgotten(folder) is None:
                    yield job, folder
            except DataError as error:
                _log.info("Job %s is not looked at for results: %s", job.id, error.detail)


def _service_of(folder: JobFolder) -> object:
    """The mark of the service that a job was sent to; practice may have changed since."""
    with folder.open(read_only=True) as database:
        return metadata_value(database, SERVICE)


def note_service(database: sqlite3.Connection, service: str) -> None:
    """Write down which service a job is sent to; the caller commits."""
    put_metadata_value(database, SERVICE, service)


def _what_makes_results(job: Job) -> tuple[object, ...]:
    return job.kind, job.model, job.options.truncate_inputs, job.options.pooling


def _found_among(
    candidates: Iterable[tuple[Job, JobFolder]], ours: Fingerprints, folder: JobFolder, service: str
) -> Reusable:
    waiting = np.flatnonzero(~np.isin(ours.item, _sent_anew(folder)))
    jobs: list[EarlierJob] = []
    found: list[tuple[Numbers, Numbers, Numbers]] = []
    for job, theirs in candidates:
        if not len(waiting):
            break
        try:
            here, there = _matched(ours, waiting, theirs, job.kind)
        except DataError as error:
            _log.info("Job %s is not looked at for results: %s", job.id, error.detail)
            continue
        if not len(here):
            continue
        found.append((ours.item[here].astype(np.int64), np.full(len(here), len(jobs), np.int64), there))
        jobs.append(EarlierJob(job, theirs, len(here)))
        waiting = np.setdiff1d(waiting, here, assume_unique=True)
    if not found:
        return Reusable(service)
    item, source, source_item = (np.concatenate(columns) for columns in zip(*found, strict=True))
    order = np.argsort(item, kind="stable")
    return Reusable(service, tuple(jobs), item[order], source[order], source_item[order])


def _sent_anew(folder: JobFolder) -> Numbers:
    """Items that the user wants to be sent all the same; of those that repeat another, that one."""
    with folder.open(read_only=True) as database:
        rows = database.execute("SELECT coalesce(first, item_no) FROM sent_anew LEFT JOIN repeats USING(item_no)")
        return np.fromiter((number for (number,) in rows), np.int64)


def _matched(ours: Fingerprints, waiting: Numbers, theirs: JobFolder, kind: Kind) -> tuple[Numbers, Numbers]:
    """Indices of our keys that an earlier job has a result for, and the numbers of its items."""
    known = fingerprints_of(theirs)
    if not len(known):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = np.searchsorted(known.key, ours.key[waiting])
    at[at == len(known)] = 0
    is_same = (known.key[at] == ours.key[waiting]) & (known.check[at] == ours.check[waiting])
    here, there = waiting[is_same], known.item[at[is_same]].astype(np.int64)
    if len(there):
        has_result = _have_results(theirs, kind, there)
        here, there = here[has_result], there[has_result]
    return here, there


def _have_results(folder: JobFolder, kind: Kind, items: Numbers) -> NDArray[np.bool_]:
    with folder.open(read_only=True) as database:
        if database.execute(_IS_WHOLE).fetchone()[0]:
            return np.ones(len(items), np.bool_)
        rows = database.execute(_WITH_SCORE if kind is Kind.RANK else _WITH_VECTOR)
        return np.isin(items, np.fromiter((number for (number,) in rows), np.int64))


_BLOCK = 1_000  # items that are compared and copied at a time
_TEXT = """
SELECT i.item_no, t.text, q.text, (SELECT json_group_array(json_array(start, stop)) FROM (
    SELECT start, stop FROM parts p WHERE p.item_no = i.item_no AND i.query_no IS NOT NULL ORDER BY part))
FROM json_each(?) wanted JOIN items i ON i.item_no = wanted.value JOIN texts t USING(text_no)
LEFT JOIN queries q USING(query_no)
"""
_ORIGIN = """
SELECT i.item_no, r.batch, r.state, s.job_id, s.job_name, s.request_id, s.sent_at
FROM json_each(?) wanted JOIN items i ON i.item_no = wanted.value JOIN requests r USING(request_no)
LEFT JOIN reused USING(request_no) LEFT JOIN sources s USING(source_no)
"""
_PARTS = "SELECT item_no, part, score FROM parts JOIN json_each(?) wanted ON wanted.value = item_no"


@dataclass(frozen=True, eq=False)
class Taken:
    """Items of the draft, ascending, and for each its number in the table `sources`; both of shape (n,)."""

    item: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    source: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.item)


NOTHING_TAKEN = Taken()


def would_be_taken(reusable: Reusable) -> Taken:
    """For a look at what would be sent: all that was found, by the jobs instead of by their requests."""
    return Taken(reusable.item, reusable.source)


@dataclass(frozen=True, slots=True)
class _Origin:
    job_id: str
    job_name: str
    request_id: str
    sent_at: float


def take_results(database: sqlite3.Connection, folder: JobFolder, kind: Kind, reusable: Reusable) -> Taken:
    """Copy what can be verified into the data of a draft without plan and results, in the caller's
    transaction; returns what that was. Raises DiskFull and DataError.
    """
    with ExitStack() as files:
        taking = _Taking(database, folder, files)
        for index, earlier in enumerate(reusable.jobs):
            chosen = reusable.source == index
            source = _Source(database, earlier, reusable.item[chosen], reusable.source_item[chosen])
            if kind is Kind.RANK:
                taking.take_scores(_while_readable(source.scores(), earlier))
            else:
                taking.take_vectors(_while_readable(source.vectors(), earlier))
        return taking.finish()


_B = TypeVar("_B")


def _while_readable(blocks: Iterator[_B], earlier: EarlierJob) -> Iterator[_B]:
    """The blocks up to one that cannot be read: its job may be damaged, or be deleted meanwhile."""
    while True:
        try:
            block = next(blocks)
        except StopIteration:
            return
        except (DataError, OSError, sqlite3.Error, ValueError) as error:
            _log.warning("Nothing more is taken from job %s: %s", earlier.job.id, type(error).__name__)
            return
        yield block


@dataclass(frozen=True, eq=False)
class _Vectors:
    """Verified vectors of items of the draft, float32 (n, d), and where each is from."""

    item: Numbers
    origins: list[_Origin]
    vectors: NDArray[np.float32]
    pooling: str


@dataclass(frozen=True, eq=False)
class _Scores:
    """Verified scores of items of the draft, where each is from, and the scores of parts as (score, item, part)."""

    item: Numbers
    origins: list[_Origin]
    scores: NDArray[np.float64]
    parts: list[tuple[float, int, int]]


class _Source:
    """One earlier job, read block by block; `theirs` are the items that have the results of `ours`, of the draft."""

    def __init__(self, database: sqlite3.Connection, earlier: EarlierJob, ours: Numbers, theirs: Numbers) -> None:
        self._database, self._job, self._folder = database, earlier.job, earlier.folder
        self._ours, self._theirs = ours, theirs

    def vectors(self) -> Iterator[_Vectors]:
        with self._opened() as database:
            stored, pooling = stored_vectors(self._folder.vectors), str(metadata_value(database, "pooling") or "")
            damaged = _damaged(database, checksums_of(database, stored, batches_of_items(database, self._theirs)))
            for ours, theirs in self._blocks():
                origins = self._origins(database, theirs)
                is_right = self._is_same(database, ours, theirs, origins) & ~np.isin(theirs, damaged)
                known = [origins[item] for item in theirs[is_right].tolist()]
                yield _Vectors(ours[is_right], known, stored[theirs[is_right] - 1], pooling)

    def scores(self) -> Iterator[_Scores]:
        with self._opened() as database:
            items = read_items(database, "query_no IS NOT NULL")
            damaged = _damaged(database, checksums_of(database, items=items))
            for ours, theirs in self._blocks():
                scores = items["score"][np.searchsorted(items["item"], theirs)]
                origins = self._origins(database, theirs)
                is_right = self._is_same(database, ours, theirs, origins)
                is_right &= ~np.isneginf(scores) & ~np.isin(theirs, damaged)
                parts = _parts_of(database, theirs)
                if parts:
                    best = zip(theirs.tolist(), scores.tolist(), strict=True)
                    is_right &= [_is_best(parts.get(item, []), score) for item, score in best]
                numbers = list(zip(ours[is_right].tolist(), theirs[is_right].tolist(), strict=True))
                of_parts = [
                    (score, mine, part)
                    for mine, item in numbers
                    for part, score in parts.get(item, [])
                    if score is not None
                ]
                known = [origins[item] for _, item in numbers]
                yield _Scores(ours[is_right], known, scores[is_right], of_parts)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._folder.open(read_only=True) as database:
            database.execute("BEGIN")  # several reads of one state: more answers may be stored meanwhile
            yield database

    def _blocks(self) -> Iterator[tuple[Numbers, Numbers]]:
        """In the order of the source, so that its file is read from the beginning to the end."""
        order = np.argsort(self._theirs, kind="stable")
        for start in range(0, len(order), _BLOCK):
            chosen = order[start : start + _BLOCK]
            yield self._ours[chosen], self._theirs[chosen]

    def _is_same(
        self, database: sqlite3.Connection, ours: Numbers, theirs: Numbers, origins: Mapping[int, _Origin]
    ) -> NDArray[np.bool_]:
        """Whether text, query and parts are the same, and the result came with a request that is done."""
        mine, there = _texts_of(self._database, ours), _texts_of(database, theirs)
        pairs = zip(ours.tolist(), theirs.tolist(), strict=True)
        return np.fromiter((b in origins and there.get(b) == mine[a] for a, b in pairs), np.bool_, len(ours))

    def _origins(self, database: sqlite3.Connection, items: Numbers) -> dict[int, _Origin]:
        """Of the items whose request is done; what was taken from an earlier job itself has the origin that it had."""
        batches = {batch.number: batch for batch in self._job.batches}
        found: dict[int, _Origin] = {}
        for item, batch, state, *origin in database.execute(_ORIGIN, (str(items.tolist()),)):
            if state == "done" and origin[0] is not None:
                found[item] = _Origin(*origin)
            elif state == "done" and batch in batches:
                sent = batches[batch]
                found[item] = _Origin(self._job.id, self._job.name, sent.request_id, sent.sent_at)
        return found


class _Taking:
    """Writes what was verified; counts where it came from."""

    def __init__(self, database: sqlite3.Connection, folder: JobFolder, files: ExitStack) -> None:
        self._database, self._folder, self._files = database, folder, files
        self._file: VectorFile | None = None
        self._pooling = ""
        self._origins: dict[_Origin, int] = {}
        self._taken: list[tuple[Numbers, Numbers]] = []
        self._repeats: dict[int, list[int]] = {}
        for item, first in database.execute("SELECT item_no, first FROM repeats"):
            self._repeats.setdefault(first, []).append(item)

    def take_vectors(self, blocks: Iterable[_Vectors]) -> None:
        """All vectors of a job have one length and one pooling: those of the first block count."""
        for block in blocks:
            if not len(block.item):
                continue
            dimension = block.vectors.shape[1]
            if self._file is None:
                self._file, self._pooling = self._new_file(dimension, block.pooling), block.pooling
            elif (self._file.dimension, self._pooling) != (dimension, block.pooling):
                return
            rows, at = self._with_repeats(block.item)
            self._file.write(rows - 1, block.vectors[at])
            self._note(block.item, block.origins)

    def take_scores(self, blocks: Iterable[_Scores]) -> None:
        for block in blocks:
            rows, at = self._with_repeats(block.item)
            scores = zip(block.scores[at].tolist(), rows.tolist(), strict=True)
            self._database.executemany("UPDATE items SET score = ? WHERE item_no = ?", scores)
            self._database.executemany("UPDATE parts SET score = ? WHERE item_no = ? AND part = ?", block.parts)
            self._note(block.item, block.origins)

    def finish(self) -> Taken:
        """Write the sources; the vectors are on the disk then."""
        if self._file is not None:
            self._file.flush()
        if not self._taken:
            return NOTHING_TAKEN
        self._database.executemany(
            "INSERT INTO sources VALUES(?, ?, ?, ?, ?)",
            ((number, o.job_id, o.job_name, o.request_id, o.sent_at) for o, number in self._origins.items()),
        )
        item, source = (np.concatenate(columns) for columns in zip(*self._taken, strict=True))
        order = np.argsort(item, kind="stable")
        return Taken(item[order], source[order])

    def _new_file(self, dimension: int, pooling: str) -> VectorFile:
        (count,) = self._database.execute("SELECT max(item_no) FROM items").fetchone()
        put_metadata_value(self._database, "dimension", dimension)
        put_metadata_value(self._database, "pooling", pooling)
        return self._files.enter_context(new_vectors(self._folder.vectors, count, dimension))

    def _note(self, items: Numbers, origins: Iterable[_Origin]) -> None:
        numbers = [self._origins.setdefault(origin, len(self._origins) + 1) for origin in origins]
        self._taken.append((items, np.array(numbers, np.int64)))

    def _with_repeats(self, items: Numbers) -> tuple[Numbers, Numbers]:
        """These items and those that repeat them, and for each the index in `items` whose result it has."""
        numbers, at = items.tolist(), list(range(len(items)))
        if self._repeats:
            for index, item in enumerate(items.tolist()):
                again = self._repeats.get(item, ())
                numbers.extend(again)
                at.extend([index] * len(again))
        return np.array(numbers, np.int64), np.array(at, np.int64)


def _damaged(database: sqlite3.Connection, found: Checksums) -> list[int]:
    """The items of the batches that are not as they were stored."""
    return items_of_batches(database, differing(found, noted_checksums(database)))


def _parts_of(database: sqlite3.Connection, items: Numbers) -> dict[int, list[tuple[int, float | None]]]:
    found: dict[int, list[tuple[int, float | None]]] = {}
    for item, part, score in database.execute(_PARTS, (str(items.tolist()),)):
        found.setdefault(item, []).append((part, score))
    return found


def _is_best(parts: list[tuple[int, float | None]], score: float) -> bool:
    known = [each for _, each in parts if each is not None]
    return not parts or (len(known) == len(parts) and max(known) == score)


def _texts_of(database: sqlite3.Connection, items: Numbers) -> dict[int, tuple[object, ...]]:
    return {row[0]: row[1:] for row in database.execute(_TEXT, (json.dumps(items.tolist()),))}
