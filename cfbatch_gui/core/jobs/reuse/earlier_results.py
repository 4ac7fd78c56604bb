"""Which items of a draft have been answered before: the draft's fingerprints held against those of earlier jobs.

Results are the same only where everything that made them is: the service, the model, what is done with long texts, and
the pooling that was asked for. Practice and Cloudflare never mix.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.fingerprints import Fingerprints, fingerprints_of
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.forgetting import texts_forgotten
from cfbatch_gui.core.job_folder.schema import metadata_value, put_metadata_value
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
    """What earlier jobs have of a draft. Of shape (n,), in the order of the draft's items: `item` is the number of each
    item whose result is there, `source` the index of the job in `jobs` that has it, `source_item` its number there.

    `service` is the mark of the draft's service, "" when that is not known; nothing is found then.
    """

    service: str = ""
    jobs: tuple[EarlierJob, ...] = ()
    item: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    source: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    source_item: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))


NOTHING = Reusable()


class EarlierResults:
    """Looks through the jobs that were sent. Every method reads from the disk and belongs in a thread.

    `jobs` are those of the ledger, newest first; `service_of` gives the mark of the service that a job's connection
    leads to now, "" for a connection that is gone.
    """

    def __init__(
        self,
        jobs: Callable[[], Sequence[Job]],
        folder_of: Callable[[str], JobFolder],
        service_of: Callable[[Job], str],
    ) -> None:
        self._jobs, self._folder_of, self._service_of = jobs, folder_of, service_of

    def find(self, draft: Job) -> Reusable:
        """What is there for a draft, by its fingerprints; nothing when its options say so. Raises DataError.

        Also makes the fingerprints of the draft, by which it is found itself later.
        """
        service, folder = self._service_of(draft), self._folder_of(draft.id)
        if not folder.data.exists():
            return Reusable(service)
        ours = fingerprints_of(folder)
        if not (service and draft.options.reuse) or not len(ours):
            return Reusable(service)
        return _found_among(self._candidates(draft, service), ours, folder, service)

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
    candidates: Iterator[tuple[Job, JobFolder]], ours: Fingerprints, folder: JobFolder, service: str
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
