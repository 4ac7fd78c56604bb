"""The layout of a job: which request and batch carries each text, the bytes that come of it, and the layout anew for
what failed.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count, groupby, pairwise
from operator import itemgetter

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import Action, DataError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import note_results
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import INDEX_OF_REQUESTS, NOT_SENT, put_metadata_value, transaction
from cfbatch_gui.core.job_folder.vector_file import stored_vectors
from cfbatch_gui.core.jobs.plan.requests import (
    Group,
    Request,
    SequenceArrays,
    TextSequence,
    cut_by_bytes,
    cut_by_tokens,
    cut_into_batches,
    element_of,
    most_texts,
    read_groups,
    read_sequence,
    reference_of,
    with_close_estimates,
    without_too_long,
)
from cfbatch_gui.core.jobs.plan.spending import TOKENS
from cfbatch_gui.core.jobs.reuse import (
    NOTHING,
    NOTHING_TAKEN,
    Reusable,
    Taken,
    note_service,
    take_results,
    would_be_taken,
)
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, find_model
from cfbatch_gui.core.workers_ai.requests import batch_size, encode_batch

_BLOCK = 2_000  # rows that are written at a time


class LayoutWriter:
    """Writes requests, and which texts each holds, some thousand rows at a time."""

    def __init__(
        self, database: sqlite3.Connection, arrays: SequenceArrays, job_id: str, *, writes_positions: bool
    ) -> None:
        self._database, self._arrays, self._job_id = database, arrays, job_id
        self._writes_positions = writes_positions
        self._requests: list[tuple[int, str, int, int]] = []
        self._runs: list[tuple[int, int, int, int]] = []
        self._items: list[tuple[int, int, int, int]] = []
        self._parts: list[tuple[int, int, int, int]] = []
        self.last = 0  # the number of the last request that was added

    def add(self, request: Request, batch: int, position: int) -> None:
        number, start, stop = request.number, request.start, request.start + request.texts
        self.last = number
        self._requests.append((number, reference_of(self._job_id, number), batch, position))
        for first, last in self._arrays.pieces(start, stop):
            item_no, part = self._arrays.item[first], self._arrays.part[first]
            if part:
                self._parts.append((number, first - start, item_no, part))
            elif self._writes_positions:
                self._items.append((number, item_no - (first - start), item_no, item_no + last - first - 1))
            else:
                self._runs.append((number, first - start, self._arrays.text[first], last - first))
        if len(self._items) + len(self._parts) + len(self._runs) >= _BLOCK:
            self._write()

    def finish(self) -> None:
        self._write()

    def _write(self) -> None:
        self._database.executemany(
            "INSERT INTO requests(request_no, reference, batch, position) VALUES(?, ?, ?, ?)", self._requests
        )
        self._database.executemany("INSERT INTO runs VALUES(?, ?, ?, ?)", self._runs)
        self._database.executemany(
            "UPDATE items SET request_no = ?, request_position = item_no - ? WHERE item_no BETWEEN ? AND ?",
            self._items,
        )
        self._database.executemany(
            "UPDATE parts SET request_no = ?, request_position = ? WHERE item_no = ? AND part = ?", self._parts
        )
        for written in (self._requests, self._runs, self._items, self._parts):
            written.clear()


def finish_positions(database: sqlite3.Connection) -> None:
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
    for table in ("requests", "runs", "reused", "sources", "batches"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - constants
    database.execute("DELETE FROM facts WHERE name IN ('dimension', 'pooling')")
    database.execute("DELETE FROM problems WHERE item_no IS NOT NULL")


class QueryCounts:
    def __init__(self) -> None:
        self.low = self.high = 0

    def added(self, parts: Iterable[Group]) -> Iterator[Group]:
        for part in parts:
            self.low += part[2].lower
            self.high += part[2].upper
            yield part

    def with_texts(self, sequence: TextSequence, max_tokens: int) -> tuple[int, int]:
        """Tokens of the queries so far and of all texts, by the low and the high estimate."""
        low = self.low + int(np.minimum(sequence.lower, max_tokens).sum())
        return low, self.high + int(np.minimum(sequence.upper, max_tokens).sum())


class ReusedRequests:
    """`sequence` is what was taken of all that could be sent."""

    def __init__(
        self, database: sqlite3.Connection, sequence: TextSequence, taken: Taken, job: Job, metadata: ModelMetadata
    ) -> None:
        self._database, self._job, self._metadata = database, job, metadata
        source = taken.source[np.searchsorted(taken.item, sequence.item)]
        order = np.argsort(source, kind="stable")
        self._sequence, self._source = sequence.at(order), source[order]
        self._arrays = SequenceArrays(self._sequence, metadata.max_tokens)
        self._counts = QueryCounts()

    def count_tokens(self) -> tuple[int, int]:
        for _, groups in self._by_source():
            for _ in groups:
                pass
        return self._counts.with_texts(self._sequence, self._metadata.max_tokens)

    def write(self, after: int) -> tuple[int, int]:
        writer = LayoutWriter(self._database, self._arrays, self._job.id, writes_positions=True)
        position = 0
        for source, groups in self._by_source():
            for request in self._requests(groups):
                number = after + position + 1
                writer.add(replace(request, number=number), NOT_SENT, position)
                self._database.execute("INSERT INTO reused VALUES(?, ?)", (number, source))
                position += 1
        writer.finish()
        self._database.execute("UPDATE requests SET state = 'done' WHERE batch = ?", (NOT_SENT,))
        return self._counts.with_texts(self._sequence, self._metadata.max_tokens)

    def _by_source(self) -> Iterator[tuple[int, Iterator[Group]]]:
        ends = np.flatnonzero(np.diff(self._source)) + 1
        bounds = [0, *ends.tolist(), len(self._source)] if len(self._source) else []
        for start, stop in pairwise(bounds):
            yield int(self._source[start]), self._counts.added(self._groups(start, stop))

    def _groups(self, start: int, stop: int) -> Iterator[Group]:
        one = self._sequence.at(np.arange(start, stop))
        groups = read_groups(self._database, one, self._job.kind, self._metadata.max_tokens)
        shifted = ((start + first, start + last, query) for first, last, query in groups)
        return cut_by_tokens(self._arrays, shifted, most_texts(self._job.kind, self._metadata), self._metadata)

    def _requests(self, groups: Iterable[Group]) -> Iterator[Request]:
        return cut_by_bytes(self._arrays, groups, self._job.id, self._job.options, self._metadata.body_bytes)


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """One body to be: its number from 1, its requests, the texts in them, its exact size in bytes."""

    number: int
    requests: int
    texts: int
    bytes: int
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be sent. Tokens are estimates of what is counted, without padding; `too_long` texts are cut by the
    service (`truncate_inputs`) or were left out."""

    batches: tuple[PlannedBatch, ...]
    queries: int
    texts: int
    tokens_low: int
    tokens_high: int
    too_long: int
    left_out: int
    repeated: int = 0  # items that get the answer of another with the same text
    saved_tokens: int = 0  # that these would have taken, by the high estimate
    reused: int = 0  # items that get the result of an earlier job, and those that repeat one of them
    reused_queries: int = 0  # queries of which nothing is sent
    reused_low: int = 0  # tokens that sending these would have taken, by both estimates
    reused_high: int = 0


def plan_items(
    database: sqlite3.Connection,
    job: Job,
    metadata: ModelMetadata,
    *,
    taken: Taken = NOTHING_TAKEN,
    is_trial: bool = False,
) -> Plan:
    """Lay out all items, in the transaction of the caller, who has called `forget_plan`; runs long. Items that are
    `taken` are not sent; a trial writes runs of texts only.
    """
    whole, lengths = read_sequence(database, job.kind)
    is_taken = np.isin(whole.item, taken.item)
    texts = most_texts(job.kind, metadata)
    sequence = with_close_estimates(database, whole.only(~is_taken), metadata.max_tokens, metadata.padded_tokens, texts)
    sendable = without_too_long(database, sequence, job, metadata)
    sequence = sendable.sequence
    arrays, counts = SequenceArrays(sequence, metadata.max_tokens), QueryCounts()
    groups = read_groups(database, sequence, job.kind, metadata.max_tokens)
    parts = counts.added(cut_by_tokens(arrays, groups, texts, metadata))
    requests = cut_by_bytes(arrays, parts, job.id, job.options, metadata.body_bytes)
    bundles = cut_into_batches(requests, job.kind, metadata, is_synchronous=job.options.at_once)
    writes_positions = not is_trial or job.kind is Kind.RANK
    writer = LayoutWriter(database, arrays, job.id, writes_positions=writes_positions)
    batches = tuple(_written(bundles, writer, job))
    low, high = counts.with_texts(sequence, metadata.max_tokens)
    reused = ReusedRequests(database, whole.only(is_taken), taken, job, metadata)
    reused_low, reused_high = reused.count_tokens() if is_trial else reused.write(after=writer.last)
    if writes_positions:
        finish_positions(database)
    put_metadata_value(database, "model", job.model)
    put_metadata_value(database, "asked_pooling", job.options.pooling)
    put_metadata_value(database, TOKENS, (low, high))
    repeated, taken_again, saved = _repeats(database, lengths.upper, metadata.max_tokens, taken)
    queries = sequence.count_queries()
    return Plan(
        batches,
        queries,
        len(sequence),
        low,
        high,
        sendable.too_long,
        sendable.left_out,
        repeated,
        saved,
        reused=len(taken) + taken_again,
        reused_queries=whole.count_queries() - queries,
        reused_low=reused_low,
        reused_high=reused_high,
    )


def _written(bundles: Iterable[list[Request]], writer: LayoutWriter, job: Job) -> Iterator[PlannedBatch]:
    for number, requests in enumerate(bundles, start=1):
        for position, request in enumerate(requests):
            writer.add(request, number, position)
        yield planned_batch(number, requests, at_once=job.options.at_once)
    writer.finish()


def planned_batch(number: int, requests: list[Request], *, at_once: bool = False) -> PlannedBatch:
    """What a batch of these requests comes to; one that is run at once goes without what makes it a batch."""
    sizes = [request.size for request in requests]
    texts = sum(request.texts for request in requests)
    return PlannedBatch(number, len(requests), texts, sizes[0] if at_once else batch_size(sizes), at_once)


def _repeats(
    database: sqlite3.Connection, upper: NDArray[np.uint32], max_tokens: int, taken: Taken
) -> tuple[int, int, int]:
    """How many items repeat one that is sent, how many one that is taken, and the tokens that sending the first would
    take, by the high estimate.
    """
    rows = database.execute(
        "SELECT r.first, f.text_no, count(*) FROM repeats r JOIN items f ON f.item_no = r.first"
        " WHERE r.first NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL) GROUP BY r.first"
    ).fetchall()
    first, text, count_of = np.array(rows, np.int64).reshape(-1, 3).T
    is_taken = np.isin(first, taken.item)
    tokens = np.minimum(upper[text - 1].astype(np.int64), max_tokens) * count_of
    return int(count_of[~is_taken].sum()), int(count_of[is_taken].sum()), int(tokens[~is_taken].sum())


_encode = msgspec.json.Encoder().encode
_OPENING, _CLOSING = encode_batch(())[:-2], encode_batch(())[-2:]  # of the body around its elements

__all__ = [
    "TEXTS_OF_REQUEST",
    "Plan",
    "PlannedBatch",
    "bodies_of",
    "body_of",
    "listed_metadata",
    "may_run_synchronously",
    "plan",
    "repack_as_synchronous",
    "repack_failed",
    "split_requests",
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
    """Lay out all items anew in the job's data; runs long. What earlier jobs have is copied as far as it can be
    verified, and not sent; a trial copies nothing and writes only what `bodies_of` needs. Raises UsageError when the
    model cannot do what the job wants.
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
        planned = plan_items(database, job, metadata, taken=taken)
        if len(taken):
            note_results(database, NOT_SENT, stored_vectors(folder.vectors) if job.kind is Kind.EMBED else None)
        return planned


def listed_metadata(job: Job) -> ModelMetadata:
    return find_model(job.model)


def bodies_of(folder: JobFolder, job: Job, batches: Iterable[int]) -> Generator[bytes, None, None]:
    """The exact bytes of each batch; the same each time. Raises DataError when the layout on disk is not the one that
    the ledger knows: then nothing must be sent.
    """
    known = {batch.number: batch for batch in job.batches}
    with folder.open(read_only=True) as database:
        for batch in batches:
            yield _body(database, job, batch, known.get(batch))


def body_of(database: sqlite3.Connection, job: Job, batch: Batch) -> bytes:
    """The bytes of one batch. Raises DataError as `bodies_of`."""
    return _body(database, job, batch.number, batch)


def _body(database: sqlite3.Connection, job: Job, number: int, known: Batch | None) -> bytes:
    rows = database.execute(f"{_sent_texts('r.batch = :batch')} ORDER BY turn, at", {"batch": number}).fetchall()
    rows = rows or database.execute(_TEXTS_OF_TRIAL, (number,)).fetchall()
    elements = list(_elements(iter(rows), job.options))
    if known is not None and len(elements) != known.requests:
        raise DataError(
            message("This job's requests are not laid out as they were. Duplicate the job to send it."),
            detail=f"batch {number}: {len(elements)} requests, not {known.requests}",
        )
    if known is not None and known.at_once:
        return elements[0]
    return b"".join((_OPENING, b",".join(elements), _CLOSING))


_TEXTS_OF_TRIAL = """
SELECT r.request_no, r.reference, NULL, t.text FROM requests r JOIN runs USING(request_no)
JOIN texts t ON t.text_no BETWEEN first_text AND first_text + runs.texts - 1
WHERE r.batch = ? ORDER BY r.position, runs.position, t.text_no
"""


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
    """Put refused requests of finished batches, and those whose taken results were lost, into new batches under every
    limit. Requests keep their references; those of a call that the ledger never learned of are taken again.
    """
    metadata = metadata or find_model(job.model)
    known = max((batch.number for batch in job.batches), default=0)
    done = json.dumps([NOT_SENT, *(batch.number for batch in job.batches if batch.state is BatchState.DONE)])
    where = "(r.state = 'failed' AND r.batch IN (SELECT value FROM json_each(:done)) OR r.batch > :known)"
    with folder.open() as database, transaction(database):
        requests = _requests(database, job, where, {"done": done, "known": known})
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


def _requests(database: sqlite3.Connection, job: Job, where: str, values: dict[str, object]) -> list[Request]:
    rows = database.execute(f"{_sent_texts(where)} ORDER BY request_no, at", values).fetchall()
    texts = Counter(row[0] for row in rows)
    sizes = map(len, _elements(iter(rows), job.options))
    return [Request(number, size, texts[number]) for number, size in zip(texts, sizes, strict=True)]


def split_requests(folder: JobFolder, job: Job, refused: Batch, metadata: ModelMetadata) -> tuple[PlannedBatch, ...]:
    """Lay out the texts of a refused batch in requests of half as many, and those of the planned batches too.

    Batches keep their numbers; what does not fit into one any more goes behind the last. () when there is nothing to
    split.
    """
    others = (each.number for each in job.batches if each.state is BatchState.PLANNED and each.number != refused.number)
    numbers = [refused.number] if refused.at_once else [refused.number, *others]
    texts_of = f"SELECT request_no, {TEXTS_OF_REQUEST} FROM requests r WHERE batch = ?"  # noqa: S608 - constants
    planned, behind = [], count(max(batch.number for batch in job.batches) + 1)
    with folder.open() as database, transaction(database):
        most = max((texts for _, texts in database.execute(texts_of, (refused.number,))), default=0) // 2
        if not most:
            return ()
        (last,) = database.execute("SELECT max(request_no) FROM requests").fetchone()
        for number in numbers:
            for request_no, texts in database.execute(texts_of, (number,)).fetchall():
                for start in range(most, texts, most):
                    last += 1
                    row = (last, reference_of(job.id, last), number)
                    database.execute(
                        "INSERT INTO requests(request_no, reference, batch, position) VALUES(?, ?, ?, 0)", row
                    )
                    for table in ("items", "parts"):
                        database.execute(
                            f"UPDATE {table} SET request_no = ?, request_position = request_position - ?"  # noqa: S608
                            " WHERE request_no = ? AND request_position BETWEEN ? AND ?",
                            (last, start, request_no, start, start + most - 1),
                        )
            requests = _requests(database, job, "r.batch = :batch", {"batch": number})
            bundles = cut_into_batches(requests, job.kind, metadata, is_synchronous=refused.at_once)
            for bundle, place in zip(bundles, chain([number], behind), strict=False):
                planned.append(planned_batch(place, bundle, at_once=refused.at_once))
                database.executemany(
                    "UPDATE requests SET batch = ?, position = ? WHERE request_no = ?",
                    ((place, position, request.number) for position, request in enumerate(bundle)),
                )
        finish_positions(database)
    return tuple(planned)


def may_run_synchronously(batch: Batch) -> bool:
    """Whether nothing of a batch has ever been accepted, so that it may still go another way."""
    refused = batch.state is BatchState.FAILED and batch.error_action == Action.RUN_SYNCHRONOUSLY
    return refused or (batch.state is BatchState.PLANNED and not batch.at_once)


def repack_as_synchronous(folder: JobFolder, job: Job) -> tuple[PlannedBatch, ...]:
    """Give each request of the batches that were never accepted a batch of its own, under those numbers and then behind
    the last. Requests keep their references; those of a call that the ledger never learned of are taken again.
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
