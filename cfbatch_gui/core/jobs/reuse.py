"""Results of earlier jobs, copied into a draft instead of being paid for again: only where service, model, options and
the text with its query are the same, character by character, and the checksum of the batch is right. What cannot be
verified is sent.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import checksums
from cfbatch_gui.core.job_folder.fingerprints import Hashes, hashes_of_items, places
from cfbatch_gui.core.job_folder.folder import JobFolder, texts_forgotten
from cfbatch_gui.core.job_folder.schema import metadata_value, put_metadata_value
from cfbatch_gui.core.job_folder.vector_file import VectorFile, new_vectors, stored_vectors
from cfbatch_gui.core.jobs.states import Job

SERVICE = "service"  # the name of a fact: the mark of the service that a job is sent to
_IS_WHOLE = """
SELECT NOT EXISTS(SELECT 1 FROM requests WHERE state <> 'done')
    AND NOT EXISTS(SELECT 1 FROM items WHERE request_no IS NULL)
"""
_WITH_VECTOR = "SELECT item_no FROM items JOIN requests USING(request_no) WHERE state = 'done'"
# Items that repeat another, and those that the user wants to be sent all the same; of repeats of these, the first.
_NOT_TAKEN = """
SELECT item_no FROM repeats UNION SELECT coalesce(first, item_no) FROM sent_anew LEFT JOIN repeats USING(item_no)
"""
_log = logging.getLogger(__name__)

Numbers = NDArray[np.int64]
FOUND = np.dtype([(name, "<i8") for name in ("item", "source", "source_item")])
Found = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class EarlierJob:
    """A job whose results are taken, and how many of the draft's texts it answers."""

    job: Job
    folder: JobFolder
    texts: int


@dataclass(frozen=True, eq=False)
class Reusable:
    """What earlier jobs have of a draft, FOUND in the order of its items: `item` its number, `source` the index in
    `jobs`, `source_item` the number there. `service` is "" when not known; then nothing is found.
    """

    service: str = ""
    jobs: tuple[EarlierJob, ...] = ()
    found: Found = field(default_factory=lambda: np.zeros(0, FOUND))


NOTHING = Reusable()


class EarlierResults:
    """Looks through the jobs that were sent; for a thread. `jobs` are newest first; `service_of` gives the mark of a
    connection's service, "" for one that is gone.
    """

    def __init__(
        self, jobs: Callable[[], Sequence[Job]], folder_of: Callable[[str], JobFolder], service_of: Callable[[Job], str]
    ) -> None:
        self._jobs, self._folder_of, self._service_of = jobs, folder_of, service_of

    def find(self, draft: Job) -> Reusable:
        """What is there for a draft; nothing when its options say so. Raises DataError."""
        service, folder = self._service_of(draft), self._folder_of(draft.id)
        if not (service and draft.options.reuse and folder.data.exists()):
            return Reusable(service)
        candidates = list(self._candidates(draft, service))
        if not candidates:
            return Reusable(service)
        items, ours = hashes_of_items(folder)
        with folder.open(read_only=True) as database:
            left = np.fromiter((number for (number,) in database.execute(_NOT_TAKEN)), np.int64)
        waiting = np.flatnonzero(~np.isin(items, left))
        jobs: list[EarlierJob] = []
        found = [np.zeros(0, FOUND)]
        for job, theirs in candidates:
            if not len(waiting):
                break
            try:
                here, there = _matched(ours, waiting, theirs, job.kind)
            except DataError as error:
                _log.info("Job %s is not looked at for results: %s", job.id, error.detail)
                continue
            if len(here):
                found.append(np.zeros(len(here), FOUND))
                found[-1]["item"], found[-1]["source"], found[-1]["source_item"] = items[here], len(jobs), there
                jobs.append(EarlierJob(job, theirs, len(here)))
                waiting = np.setdiff1d(waiting, here, assume_unique=True)
        return Reusable(service, tuple(jobs), np.sort(np.concatenate(found), order="item"))

    def _candidates(self, draft: Job, service: str) -> Iterator[tuple[Job, JobFolder]]:
        for job in self._jobs():
            if job.id == draft.id or _what_makes_results(job) != _what_makes_results(draft):
                continue
            folder = self._folder_of(job.id)
            if not job.has_results or job.attached or job.has_named_texts or not folder.data.exists():
                continue
            try:
                # Practice may have changed since.
                if folder.fact(SERVICE) == service and texts_forgotten(folder) is None:
                    yield job, folder
            except DataError as error:
                _log.info("Job %s is not looked at for results: %s", job.id, error.detail)


def _what_makes_results(job: Job) -> tuple[object, ...]:
    return job.kind, job.model, job.options.truncate_inputs, job.options.pooling


def _matched(ours: Hashes, waiting: Numbers, theirs: JobFolder, kind: Kind) -> tuple[Numbers, Numbers]:
    """Indices of our hashes that an earlier job has a result for, and the numbers of its items."""
    items, known = hashes_of_items(theirs)
    at = places(ours[waiting], known)
    here, there = waiting[at >= 0], items[at[at >= 0]]
    with theirs.open(read_only=True) as database:
        if len(there) and not database.execute(_IS_WHOLE).fetchone()[0]:
            if kind is Kind.RANK:
                pairs = checksums.read_pairs(database)
                done = pairs["item"][~np.isneginf(pairs["score"])]
            else:
                done = np.fromiter((number for (number,) in database.execute(_WITH_VECTOR)), np.int64)
            has_result = np.isin(there, done)
            return here[has_result], there[has_result]
    return here, there


_BLOCK = 1_000  # items that are compared and copied at a time
_ROWS = """
SELECT i.item_no, t.text, q.text, (SELECT json_group_array(json_array(start, stop)) FROM (
    SELECT start, stop FROM parts p WHERE p.item_no = i.item_no AND i.query_no IS NOT NULL ORDER BY part)),
    r.state, r.batch, s.job_id, s.job_name, s.request_id, s.sent_at
FROM json_each(?) wanted JOIN items i ON i.item_no = wanted.value JOIN texts t USING(text_no)
LEFT JOIN queries q USING(query_no) LEFT JOIN requests r USING(request_no)
LEFT JOIN reused USING(request_no) LEFT JOIN sources s USING(source_no)
"""
_PARTS = "SELECT item_no, part, score FROM parts JOIN json_each(?) wanted ON wanted.value = item_no"
_Origin = tuple[str, str, str, float]  # id and name of the job, request id, when it was sent


def take_results(database: sqlite3.Connection, folder: JobFolder, kind: Kind, reusable: Reusable) -> Found:
    """Copy what can be verified into the data of a draft without plan and results, in the caller's
    transaction; returns what that was, with its number in the table `sources`. Raises DiskFull and DataError.
    """
    with ExitStack() as files:
        taking = _Taking(database, folder, kind, files)
        for index, earlier in enumerate(reusable.jobs):
            chosen = reusable.found[reusable.found["source"] == index]
            taking.take(earlier, chosen["item"], chosen["source_item"])
        return taking.finish()


@dataclass(frozen=True, eq=False)
class _Block:
    """Verified results of items of the draft: scores (n,) or vectors (n, d), and where each is from. `parts` are the
    scores of their parts, as (score, item, part).
    """

    item: Numbers
    origins: list[_Origin]
    results: NDArray[np.floating]
    pooling: str
    parts: list[tuple[float, int, int]]


class _Taking:
    """Reads earlier jobs block by block, and writes what was verified; counts where it came from."""

    def __init__(self, database: sqlite3.Connection, folder: JobFolder, kind: Kind, files: ExitStack) -> None:
        self._database, self._folder, self._kind, self._files = database, folder, kind, files
        self._file: VectorFile | None = None
        self._pooling = ""
        self._origins: dict[_Origin, int] = {}
        self._taken = [np.zeros(0, FOUND)]
        self._repeats: dict[int, list[int]] = {}
        for item, first in database.execute("SELECT item_no, first FROM repeats"):
            self._repeats.setdefault(first, []).append(item)

    def take(self, earlier: EarlierJob, ours: Numbers, theirs: Numbers) -> None:
        """All up to what cannot be read: the job may be damaged, or be deleted meanwhile. `theirs` are the items that
        have the results of `ours`, of the draft.
        """
        blocks = self._read(earlier, ours, theirs)
        while True:
            try:
                block = next(blocks, None)
            except (DataError, OSError, sqlite3.Error, ValueError) as error:
                _log.warning("Nothing more is taken from job %s: %s", earlier.job.id, type(error).__name__)
                return
            if block is None:
                return
            if len(block.item):
                self._write(block)

    def finish(self) -> Found:
        """Write the sources; the vectors are on the disk then."""
        if self._file is not None:
            self._file.flush()
        self._database.executemany(
            "INSERT INTO sources VALUES(?, ?, ?, ?, ?)", ((number, *origin) for origin, number in self._origins.items())
        )
        return np.sort(np.concatenate(self._taken), order="item")

    def _read(self, earlier: EarlierJob, ours: Numbers, theirs: Numbers) -> Iterator[_Block]:
        """In the order of the earlier job, so that its file is read from the beginning to the end."""
        order = np.argsort(theirs, kind="stable")
        with earlier.folder.open(read_only=True) as database:
            database.execute("BEGIN")  # several reads of one state: more answers may be stored meanwhile
            pooling = str(metadata_value(database, "pooling") or "")
            if self._kind is Kind.RANK:
                items = checksums.read_pairs(database)
                found = checksums.checksums_of(database, items=items)
            else:
                vectors = stored_vectors(earlier.folder.vectors)
                found = checksums.checksums_of(database, vectors, checksums.batches_of_items(database, theirs))
            differing = checksums.differing(found, checksums.noted_checksums(database))
            damaged = checksums.items_of_batches(database, differing)
            for start in range(0, len(order), _BLOCK):
                chosen = order[start : start + _BLOCK]
                mine, there = ours[chosen], theirs[chosen]
                origins = self._origins_of_same(database, earlier.job, mine, there)
                is_right = np.isin(mine, list(origins)) & ~np.isin(there, damaged)
                if self._kind is Kind.RANK:
                    results = items["score"][np.searchsorted(items["item"], there)]
                    is_right &= ~np.isneginf(results)
                else:
                    results = vectors[there - 1]
                known = [origins[item] for item in mine[is_right].tolist()]
                parts = self._parts(database, mine[is_right], there[is_right])
                yield _Block(mine[is_right], known, results[is_right], pooling, parts)

    def _origins_of_same(
        self, database: sqlite3.Connection, job: Job, ours: Numbers, theirs: Numbers
    ) -> dict[int, _Origin]:
        """By our item, of results that came with a request that is done, to the same text, query and parts. What was
        taken from an earlier job itself has the origin that it had.
        """
        sent = {batch.number: (job.id, job.name, batch.request_id, batch.sent_at) for batch in job.batches}
        mine, there = _rows_of(self._database, ours), _rows_of(database, theirs)
        origins: dict[int, _Origin] = {}
        for item, other in zip(ours.tolist(), theirs.tolist(), strict=True):
            *texts, state, batch, job_id, name, request_id, sent_at = there.get(other, [None] * 9)
            if state == "done" and texts == mine[item][:3]:
                if job_id is not None:
                    origins[item] = (job_id, name, request_id, sent_at)
                elif batch in sent:
                    origins[item] = sent[batch]
        return origins

    def _parts(self, database: sqlite3.Connection, ours: Numbers, theirs: Numbers) -> list[tuple[float, int, int]]:
        if self._kind is Kind.EMBED:
            return []
        item_of = dict(zip(theirs.tolist(), ours.tolist(), strict=True))
        rows = database.execute(_PARTS, (str(theirs.tolist()),))
        return [(score, item_of[item], part) for item, part, score in rows]

    def _write(self, block: _Block) -> None:
        """All vectors of a job have one length and one pooling: those of the first block count."""
        pairs = [
            (row, at) for at, item in enumerate(block.item.tolist()) for row in (item, *self._repeats.get(item, ()))
        ]
        rows, at = np.array(pairs, np.int64).T
        if self._kind is Kind.RANK:
            scores = zip(block.results[at].tolist(), rows.tolist(), strict=True)
            self._database.executemany("UPDATE items SET score = ? WHERE item_no = ?", scores)
            self._database.executemany("UPDATE parts SET score = ? WHERE item_no = ? AND part = ?", block.parts)
        else:
            dimension = block.results.shape[1]
            if self._file is None:
                (count,) = self._database.execute("SELECT max(item_no) FROM items").fetchone()
                put_metadata_value(self._database, "dimension", dimension)
                put_metadata_value(self._database, "pooling", block.pooling)
                self._file = self._files.enter_context(new_vectors(self._folder.vectors, count, dimension))
                self._pooling = block.pooling
            elif (self._file.dimension, self._pooling) != (dimension, block.pooling):
                return
            self._file.write(rows - 1, block.results[at])
        taken = np.zeros(len(block.item), FOUND)
        taken["item"] = block.item
        taken["source"] = [self._origins.setdefault(origin, len(self._origins) + 1) for origin in block.origins]
        self._taken.append(taken)


def _rows_of(database: sqlite3.Connection, items: Numbers) -> dict[int, list[Any]]:
    """By item: text, query, bounds of its parts, then what its request is and where that was taken from."""
    return {item: row for item, *row in database.execute(_ROWS, (str(items.tolist()),))}
