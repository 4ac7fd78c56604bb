"""The layout of a job, and the bytes that come of it: planned, written out, and laid out anew for what failed."""

import json
import sqlite3
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from itertools import chain, count, groupby
from operator import itemgetter

import msgspec

from cfbatch_gui.core.errors import Action, DataError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.packed_texts import open_texts
from cfbatch_gui.core.job_folder.schema import NOT_SENT, transaction
from cfbatch_gui.core.jobs.plan.cutting import Request, cut_into_batches
from cfbatch_gui.core.jobs.plan.layout_writer import forget_plan
from cfbatch_gui.core.jobs.plan.planning import Plan, PlannedBatch, plan_items, planned_batch
from cfbatch_gui.core.jobs.plan.request_bodies import Pieces, copied_elements, element_of
from cfbatch_gui.core.jobs.reuse.earlier_results import NOTHING, Reusable, note_service
from cfbatch_gui.core.jobs.reuse.taking import take_results, would_be_taken
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, find_model
from cfbatch_gui.core.workers_ai.requests import encode_batch

_encode = msgspec.json.Encoder().encode
_OPENING, _CLOSING = encode_batch(())[:-2], encode_batch(())[-2:]  # of the body around its elements

__all__ = [
    "TEXTS_OF_REQUEST",
    "Plan",
    "PlannedBatch",
    "bodies_of",
    "body_of_tables",
    "listed_metadata",
    "may_run_synchronously",
    "plan",
    "repack_as_synchronous",
    "repack_failed",
]

# How many texts a request `r` holds: positions are counted from 0, and several items may share one.
TEXTS_OF_REQUEST = (
    "(SELECT max(at) + 1 FROM (SELECT max(request_position) AS at FROM items i WHERE i.request_no = r.request_no"
    " UNION ALL SELECT max(request_position) FROM parts p WHERE p.request_no = r.request_no))"
)


def plan(
    folder: JobFolder,
    job: Job,
    metadata: ModelMetadata | None = None,
    *,
    reusable: Reusable = NOTHING,
    is_trial: bool = False,
) -> Plan:
    """Lay out all items anew and write the layout to the job's data; runs long for many items.

    What earlier jobs have of it is copied into the job's data and not sent, as far as it can be verified.

    A trial is for looking at what would be sent: the job is planned again before it is. Then nothing is copied, and
    the request of each text without a query is not written, which would double the time; `bodies_of` does not need it.
    `metadata` is the model's; None takes it from the program's own list.
    Raises UsageError when the model cannot do what the job wants.
    """
    metadata = metadata or find_model(job.model)
    if job.kind is Kind.RANK and not metadata.can_rank:
        raise UsageError(
            message(
                "{title} cannot rank texts in batches; bge-m3 can. Choose bge-m3, or make vectors.",
                title=metadata.title,
            )
        )
    with folder.open() as database, transaction(database):
        forget_plan(database)
        if is_trial:
            return plan_items(database, job, metadata, taken=would_be_taken(reusable), is_trial=True)
        taken = take_results(database, folder, job.kind, reusable)
        note_service(database, reusable.service)
        return plan_items(database, job, metadata, taken=taken)


def listed_metadata(job: Job) -> ModelMetadata:
    """What the program's own list says of the job's model."""
    return find_model(job.model)


def bodies_of(folder: JobFolder, job: Job, batches: Iterable[int]) -> Generator[bytes, None, None]:
    """The exact bytes of each batch; the same each time. A synchronous request is sent without the array around it.

    The job's data stays open between them. Raises DataError when the layout on disk is not the one that the ledger
    knows: then nothing must be sent.
    """
    known = {batch.number: batch for batch in job.batches}
    with folder.open(read_only=True) as database, open_texts(folder.path, database) as texts:
        for batch in batches:
            elements = copied_elements(texts, database, job, batch)
            yield _body(elements, database, job, (batch, known.get(batch)))


def body_of_tables(database: sqlite3.Connection, job: Job, batch: Batch) -> bytes:
    """The same bytes from the tables alone, which are what answers are matched by. Raises DataError as `bodies_of`."""
    return _body(None, database, job, (batch.number, batch))


def _body(
    elements: list[Pieces] | None, database: sqlite3.Connection, job: Job, wanted: tuple[int, Batch | None]
) -> bytes:
    number, known = wanted
    if elements is None:
        rows = database.execute(f"{_sent_texts('r.batch = :batch')} ORDER BY turn, at", {"batch": number})
        elements = [[element] for element in _elements(rows, job.options)]
    if known is not None and len(elements) != known.requests:
        raise DataError(
            message("This job's requests are not laid out as they were. Duplicate the job to send it."),
            detail=f"batch {number}: {len(elements)} requests, not {known.requests}",
        )
    if known is not None and known.at_once:
        return b"".join(elements[0])
    for element in elements[1:]:
        element.insert(0, b",")
    return b"".join(chain((_OPENING,), chain.from_iterable(elements), (_CLOSING,)))


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


def repack_failed(folder: JobFolder, job: Job, metadata: ModelMetadata | None = None) -> tuple[PlannedBatch, ...]:
    """Put the requests that the service refused in finished batches into new ones, under every limit of a batch; also
    those whose results were taken from an earlier job and lost.

    Requests keep their references. Those of an earlier call that the ledger never learned of are taken again.
    """
    metadata = metadata or find_model(job.model)
    known = max((batch.number for batch in job.batches), default=0)
    done = json.dumps([NOT_SENT, *(batch.number for batch in job.batches if batch.state is BatchState.DONE)])
    where = "(r.state = 'failed' AND r.batch IN (SELECT value FROM json_each(:done)) OR r.batch > :known)"
    with folder.open() as database, transaction(database):
        rows = database.execute(
            f"{_sent_texts(where)} ORDER BY request_no, at", {"done": done, "known": known}
        ).fetchall()
        texts = Counter(row[0] for row in rows)
        sizes = map(len, _elements(iter(rows), job.options))
        requests = [Request(number, size, texts[number]) for number, size in zip(texts, sizes, strict=True)]
        bundles = list(cut_into_batches(requests, job.kind, metadata))
        database.executemany(
            "UPDATE requests SET batch = ?, position = ?, state = 'waiting', error = '' WHERE request_no = ?",
            (
                (number, position, request.number)
                for number, bundle in enumerate(bundles, start=known + 1)
                for position, request in enumerate(bundle)
            ),
        )
        database.execute(
            "DELETE FROM reused WHERE request_no NOT IN (SELECT request_no FROM requests WHERE batch = ?)", (NOT_SENT,)
        )
    return tuple(planned_batch(number, bundle) for number, bundle in enumerate(bundles, start=known + 1))


def may_run_synchronously(batch: Batch) -> bool:
    """Whether nothing of a batch has ever been accepted, so that it may still go another way."""
    refused = batch.state is BatchState.FAILED and batch.error_action == Action.RUN_SYNCHRONOUSLY
    return refused or (batch.state is BatchState.PLANNED and not batch.at_once)


def repack_as_synchronous(folder: JobFolder, job: Job) -> tuple[PlannedBatch, ...]:
    """Give each request of the batches that were never accepted a batch of its own, to be run at once.

    They take the numbers of those batches, then those behind the last. Requests keep their references. Those of an
    earlier call that the ledger never learned of are taken again.
    """
    freed = [batch.number for batch in job.batches if may_run_synchronously(batch)]
    known = max((batch.number for batch in job.batches), default=0)
    with folder.open() as database, transaction(database):
        rows = database.execute(
            f"{_sent_texts('(r.batch IN (SELECT value FROM json_each(:freed)) OR r.batch > :known)')}"  # noqa: S608 - constants
            " ORDER BY request_no, at",
            {"freed": json.dumps(freed), "known": known},
        ).fetchall()
        counts = Counter(row[0] for row in rows)
        numbers = chain(freed, count(known + 1))
        planned = tuple(
            PlannedBatch(number, 1, texts, len(element), at_once=True)
            for number, texts, element in zip(
                numbers, counts.values(), _elements(iter(rows), job.options), strict=False
            )
        )
        database.executemany(
            "UPDATE requests SET batch = ?, position = 0 WHERE request_no = ?",
            ((each.number, request_no) for each, request_no in zip(planned, counts, strict=True)),
        )
    return planned


def _elements(
    rows: Iterator[tuple[int, str, str | None, str]] | sqlite3.Cursor, options: JobOptions
) -> Iterator[bytes]:
    for (_, reference), group in groupby(rows, key=itemgetter(0, 1)):
        members = list(group)
        yield element_of(members[0][2], [_encode(row[3]) for row in members], reference, options)
