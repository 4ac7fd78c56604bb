"""The layout of a job: which request and batch carries each text, the bytes that come of it, and the layout anew for
what failed.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, count, groupby
from operator import itemgetter

import msgspec
import numpy as np

from cfbatch_gui.core.errors import Action, DataError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.job_folder.checksums import note_results
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import INDEX_OF_REQUESTS, NOT_SENT, put_metadata_value, transaction
from cfbatch_gui.core.job_folder.vector_file import stored_vectors
from cfbatch_gui.core.jobs.plan.requests import Request, RequestCutter, cut_into_batches, job_frame, reference_of
from cfbatch_gui.core.jobs.plan.spending import TOKENS
from cfbatch_gui.core.jobs.reuse import NOTHING, SERVICE, Reusable, take_results
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, Price, find_model, price
from cfbatch_gui.core.workers_ai.requests import batch_size, encode_batch

_encode = msgspec.json.Encoder().encode

# How many texts a request `r` holds: positions are counted from 0, and several items may share one.
TEXTS_OF_REQUEST = (
    "(SELECT max(at) + 1 FROM (SELECT max(request_position) AS at FROM items i WHERE i.request_no = r.request_no"
    " UNION ALL SELECT max(request_position) FROM parts p WHERE p.request_no = r.request_no))"
)


@dataclass(frozen=True, slots=True)
class ProblemCount:
    """Rows with the same problem. `sentence` says how many, what, and what happens to them."""

    kind: ProblemKind
    count: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be sent if the user says so, and, once it was examined, what stands in the way. Tokens are estimates of
    what is counted, without padding.
    """

    model: ModelMetadata
    batches: tuple[Batch, ...]
    queries: int  # also those of which nothing is sent
    sent_queries: int
    sent_texts: int  # without those that repeat another, and without those that earlier jobs have
    tokens_low: int
    tokens_high: int
    too_long: int  # sent, and cut by the service
    left_out: int
    repeated: int = 0  # items that get the answer of another with the same text
    reused: int = 0  # items that get the result of an earlier job, and those that repeat one of them
    reused_low: int = 0  # tokens that sending these would have taken, by both estimates
    reused_high: int = 0
    earlier: Reusable = field(default=NOTHING, repr=False, compare=False)  # which items these are, and whose
    problems: tuple[ProblemCount, ...] = ()
    blocker: str = ""  # why it cannot be sent, "" when it can
    synchronous_sentence: str = ""  # "60 texts: an answer in seconds, without the queue.", "" when it is too large
    notices: tuple[str, ...] = ()  # what happens that one might not expect, in sentences
    learned_from: int = 0  # finished jobs that tokens were put right by; 0 for rules of thumb

    @property
    def texts(self) -> int:
        """All that get a result."""
        return self.sent_texts + self.repeated + self.reused

    @property
    def price_low(self) -> Price:
        return price(self.tokens_low, self.model)

    @property
    def price_high(self) -> Price:
        return price(self.tokens_high, self.model)

    @property
    def prices_without(self) -> tuple[Price, Price]:
        """Of all of it, by both estimates, if nothing were taken from earlier jobs."""
        return (
            price(self.tokens_low + self.reused_low, self.model),
            price(self.tokens_high + self.reused_high, self.model),
        )

    @property
    def requests(self) -> int:
        return sum(batch.requests for batch in self.batches)


def plan(
    folder: JobFolder,
    job: Job,
    metadata: ModelMetadata | None = None,
    *,
    reusable: Reusable = NOTHING,
    is_trial: bool = False,
) -> Plan:
    """Lay out all items anew in the job's data; runs long. What earlier jobs have is copied as far as it can be
    verified, and not sent; a trial writes only what is left out. Raises UsageError when the model cannot do what the
    job wants.
    """
    metadata = metadata or find_model(job.model)
    if job.kind is Kind.RANK and not metadata.can_rank:
        raise UsageError(message("title_cannot_rank_texts_batches_bge", title=metadata.title))
    with folder.open() as database, transaction(database):
        forget_plan(database)
        if is_trial:
            taken = reusable.found  # by the jobs instead of by their requests
        else:
            taken = take_results(database, folder, job.kind, reusable)
            put_metadata_value(database, SERVICE, reusable.service)
        cutter = RequestCutter(database, job, metadata, taken)
        batches = []
        bundles = cut_into_batches(cutter.requests(), job.kind, metadata, is_synchronous=job.options.at_once)
        for number, bundle in enumerate(bundles, 1):
            if not is_trial:
                _write(database, job.id, number, bundle)
            batches.append(planned_batch(job.id, number, bundle, at_once=job.options.at_once))
        for position, request in enumerate(cutter.requests_of_taken()):
            if not is_trial:
                _write(database, job.id, NOT_SENT, [request], first=position)
                database.execute("INSERT INTO reused VALUES(?, ?)", (request.number, request.source))
        if not is_trial:
            _finish(database)
            if len(taken):
                note_results(database, NOT_SENT, stored_vectors(folder.vectors) if job.kind is Kind.EMBED else None)
        sent, reused = cutter.sent, cutter.reused
        put_metadata_value(database, "model", job.model)
        put_metadata_value(database, "asked_pooling", job.options.pooling)
        put_metadata_value(database, TOKENS, (sent.low, sent.high))
        repeated, taken_again = cutter.repeated()
        sent_queries = np.unique(np.concatenate(sent.queries))
        return Plan(
            metadata,
            tuple(batches),
            len(np.union1d(sent_queries, np.concatenate(reused.queries))),
            len(sent_queries),
            sent.texts,
            sent.low,
            sent.high,
            cutter.too_long - cutter.left_out,
            cutter.left_out,
            repeated,
            reused=len(taken) + taken_again,
            reused_low=reused.low,
            reused_high=reused.high,
        )


def forget_plan(database: sqlite3.Connection) -> None:
    """Take out an earlier plan, and the results that it took from other jobs; the caller commits."""
    # Every item's position changes: an index is quicker made anew than kept.
    database.execute("DROP INDEX IF EXISTS items_of_request")
    if database.execute("SELECT 1 FROM requests LIMIT 1").fetchone():
        database.execute(
            "UPDATE items SET request_no = NULL, request_position = NULL, score = NULL"
            " WHERE request_no IS NOT NULL OR score IS NOT NULL"
        )
    database.execute("UPDATE parts SET request_no = NULL, request_position = NULL, score = NULL")
    for table in ("requests", "reused", "sources", "batches"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - constants
    database.execute("DELETE FROM facts WHERE name IN ('dimension', 'pooling')")
    database.execute("DELETE FROM problems WHERE item_no IS NOT NULL")


def _write(database: sqlite3.Connection, job_id: str, batch: int, requests: list[Request], *, first: int = 0) -> None:
    """Requests of a batch from position `first` on, and which texts each has."""
    database.executemany(
        "INSERT INTO requests(request_no, reference, batch, position, state) VALUES(?, ?, ?, ?, ?)",
        (
            (each.number, reference_of(job_id, each.number), batch, position, "waiting" if batch else "done")
            for position, each in enumerate(requests, first)
        ),
    )
    runs = [(each.number, *run) for each in requests for run in each.runs]
    database.executemany(
        "UPDATE items SET request_no = ?1, request_position = ?2 + item_no - ?3"
        " WHERE item_no BETWEEN ?3 AND ?3 + ?4 - 1",
        (run[:4] for run in runs if not run[4]),
    )
    database.executemany(
        "UPDATE parts SET request_no = ?1, request_position = ?2 WHERE item_no = ?3 AND part = ?5",
        (run for run in runs if run[4]),
    )


def _finish(database: sqlite3.Connection) -> None:
    """When all requests are written: the positions of items in parts and of repeated ones, and the index of items."""
    database.execute(
        "UPDATE items SET request_no = (SELECT min(request_no) FROM parts p WHERE p.item_no = items.item_no)"
        " WHERE item_no IN (SELECT item_no FROM parts WHERE request_no IS NOT NULL)"
    )
    database.execute(
        "UPDATE items SET (request_no, request_position) = (SELECT f.request_no, f.request_position FROM repeats r"
        " JOIN items f ON f.item_no = r.first WHERE r.item_no = items.item_no)"
        " WHERE item_no IN (SELECT item_no FROM repeats)"
    )
    database.execute(INDEX_OF_REQUESTS)


def planned_batch(job_id: str, number: int, requests: list[Request], *, at_once: bool = False) -> Batch:
    """What a batch of these requests comes to; one that is run at once goes without what makes it a batch."""
    sizes = [request.size for request in requests]
    texts = sum(request.texts for request in requests)
    size = sizes[0] if at_once else batch_size(sizes)
    return Batch(job_id, number, BatchState.PLANNED, len(requests), texts, size, at_once=at_once)


def body_of(folder: JobFolder, job: Job, batch: Batch) -> bytes:
    """The exact bytes of a batch; the same each time. Raises DataError when the layout on disk is not the one that the
    ledger knows: then nothing must be sent.
    """
    with folder.open(read_only=True) as database:
        return body_in(database, job, batch)


def body_in(database: sqlite3.Connection, job: Job, batch: Batch) -> bytes:
    """The same, of data that is open."""
    rows = database.execute(f"{_sent_texts('r.batch = :batch')} ORDER BY turn, at", {"batch": batch.number}).fetchall()
    elements = [element for _, _, element in _elements(rows, job.options)]
    if len(elements) != batch.requests:
        raise DataError(
            message("job_requests_are_not_laid_out"),
            detail=f"batch {batch.number}: {len(elements)} requests, not {batch.requests}",
        )
    return elements[0] if batch.at_once else encode_batch(elements)


def _sent_texts(where: str) -> str:
    """The texts that are sent, each with its request and its position in it: whole ones, but for repeats; and parts."""
    joined = "JOIN texts t USING(text_no) LEFT JOIN queries q USING(query_no)"
    return (
        "SELECT r.request_no, r.reference, q.text, t.text, i.request_position AS at, r.position AS turn"  # noqa: S608
        f" FROM requests r JOIN items i USING(request_no) {joined} LEFT JOIN repeats again USING(item_no)"
        f" WHERE {where} AND again.item_no IS NULL AND i.request_position IS NOT NULL"
        " UNION ALL SELECT r.request_no, r.reference, q.text, substr(t.text, p.start + 1, p.stop - p.start),"
        " p.request_position, r.position FROM requests r JOIN parts p USING(request_no)"
        f" JOIN items i USING(item_no) {joined} WHERE {where}"
    )


def repack(
    folder: JobFolder, job: Job, numbers: Collection[int] = (), metadata: ModelMetadata | None = None
) -> tuple[Batch, ...]:
    """Lay out anew what cannot be sent again as it was. Batches that the queue did not take, of these `numbers` or all,
    go without it, a request each, and requests with too many texts in halves, under their numbers and then behind the
    last. Without `numbers` refused requests of finished batches, and those whose taken results were lost, go into new
    batches, with their references. Requests of a call that the ledger never learned of are taken again.
    """
    metadata = metadata or find_model(job.model)
    known = max((batch.number for batch in job.batches), default=0)
    behind = count(known + 1)
    done = [NOT_SENT, *(batch.number for batch in job.batches if batch.state is BatchState.DONE)]
    with folder.open() as database, transaction(database):
        requests = _requests(database, job, [] if numbers else done, known, "failed")
        planned = _moved(database, job, cut_into_batches(requests, job.kind, metadata), behind, at_once=False)
        for batch in job.batches:
            is_chosen = not numbers or batch.number in numbers
            if batch.state is not BatchState.FAILED or batch.error_action not in _LAID_OUT_ANEW or not is_chosen:
                continue
            if batch.error_action == Action.SMALLER_BATCHES:
                _halve(database, job, batch.number)
            at_once = batch.at_once or batch.error_action == Action.RUN_SYNCHRONOUSLY
            requests = _requests(database, job, [batch.number])
            bundles = cut_into_batches(requests, job.kind, metadata, is_synchronous=at_once)
            planned += _moved(database, job, bundles, chain([batch.number], behind), at_once=at_once)
        database.execute(
            "DELETE FROM reused WHERE request_no NOT IN (SELECT request_no FROM requests WHERE batch = ?)", (NOT_SENT,)
        )
    return planned


_LAID_OUT_ANEW = (Action.SMALLER_BATCHES, Action.RUN_SYNCHRONOUSLY)


def _halve(database: sqlite3.Connection, job: Job, batch: int) -> None:
    """Give the second halves of the batch's largest requests requests of their own."""
    texts_of = f"SELECT request_no, {TEXTS_OF_REQUEST} FROM requests r WHERE batch = ?"  # noqa: S608 - constants
    found = database.execute(texts_of, (batch,)).fetchall()
    largest = max((texts for _, texts in found), default=0)
    (last,) = database.execute("SELECT max(request_no) FROM requests").fetchone()
    for request_no, texts in found:
        if texts > max(1, largest // 2):
            last, half = last + 1, (texts + 1) // 2
            row = (last, reference_of(job.id, last), batch)
            database.execute("INSERT INTO requests(request_no, reference, batch, position) VALUES(?, ?, ?, 0)", row)
            for table in ("items", "parts"):
                database.execute(
                    f"UPDATE {table} SET request_no = ?, request_position = request_position - ?"  # noqa: S608
                    " WHERE request_no = ? AND request_position >= ?",
                    (last, half, request_no, half),
                )


_REPACKED = (
    "(r.batch IN (SELECT value FROM json_each(:batches)) AND r.state = coalesce(:state, r.state) OR r.batch > :known)"
)


def _requests(
    database: sqlite3.Connection, job: Job, batches: list[int], known: int | None = None, state: str | None = None
) -> list[Request]:
    """Those of the batches, in `state` or in any, and those of batches beyond the last `known` one."""
    rows = database.execute(
        f"{_sent_texts(_REPACKED)} ORDER BY request_no, at",
        {"batches": json.dumps(batches), "known": known, "state": state},
    )
    return [Request(number, len(element), count) for number, count, element in _elements(rows, job.options)]


def _moved(
    database: sqlite3.Connection, job: Job, bundles: Iterable[list[Request]], numbers: Iterator[int], *, at_once: bool
) -> tuple[Batch, ...]:
    """Put requests into the batches of these numbers, of which no more are taken than there are bundles."""
    planned = []
    for requests, number in zip(bundles, numbers, strict=False):
        database.executemany(
            "UPDATE requests SET batch = ?, position = ?, state = 'waiting', error = '' WHERE request_no = ?",
            ((number, position, request.number) for position, request in enumerate(requests)),
        )
        planned.append(planned_batch(job.id, number, requests, at_once=at_once))
    return tuple(planned)


def _elements(
    rows: Iterable[tuple[int, str, str | None, str]], options: JobOptions
) -> Iterator[tuple[int, int, bytes]]:
    """The number of each request, how many texts it has, and its bytes."""
    for (number, reference), group in groupby(rows, key=itemgetter(0, 1)):
        members = list(group)
        texts = [_encode(row[3]) for row in members]
        yield number, len(members), job_frame(members[0][2], reference, options).around(texts)
