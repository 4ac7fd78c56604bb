"""A job's plan: which request and batch carries each of its texts, written to the job's data, and read back."""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.schema import INDEX_OF_REQUESTS, put_metadata_value
from cfbatch_gui.core.jobs.plan.cutting import (
    Request,
    cut_by_bytes,
    cut_by_tokens,
    cut_into_batches,
    most_texts,
    reference_of,
)
from cfbatch_gui.core.jobs.plan.planned import TOKENS
from cfbatch_gui.core.jobs.plan.sequence import (
    Group,
    SequenceArrays,
    read_groups,
    read_sequence,
    with_close_estimates,
)
from cfbatch_gui.core.jobs.plan.too_long import without_too_long
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.wire.requests import batch_size

_BLOCK = 2_000  # rows that are written at a time


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


def plan_items(
    database: sqlite3.Connection, job: Job, metadata: ModelMetadata, *, writes_positions: bool = True
) -> Plan:
    """Lay out all items anew, within a transaction of the caller's; runs long for many items.

    Without `writes_positions` the rows of items do not say which request they go with; only runs of texts do.
    """
    _clear(database)
    sequence, lengths = read_sequence(database, job.kind)
    texts = most_texts(job.kind, metadata)
    sequence = with_close_estimates(database, sequence, metadata.max_tokens, metadata.padded_tokens, texts)
    sendable = without_too_long(database, sequence, job, metadata)
    sequence = sendable.sequence
    arrays, counts = SequenceArrays(sequence, metadata.max_tokens), _QueryCounts()
    groups = read_groups(database, sequence, job.kind, metadata.max_tokens)
    parts = counts.added(cut_by_tokens(arrays, groups, texts, metadata))
    requests = cut_by_bytes(arrays, parts, job.id, job.options, metadata.body_bytes)
    bundles = cut_into_batches(requests, job.kind, metadata, is_synchronous=job.options.at_once)
    batches = tuple(_written(database, bundles, arrays, job, writes_positions=writes_positions))
    low = counts.low + int(np.minimum(sequence.lower, metadata.max_tokens).sum())
    high = counts.high + int(np.minimum(sequence.upper, metadata.max_tokens).sum())
    put_metadata_value(database, "model", job.model)
    put_metadata_value(database, "asked_pooling", job.options.pooling)
    put_metadata_value(database, TOKENS, (low, high))
    repeated, saved = _repeats(database, lengths.upper, metadata.max_tokens)
    return Plan(
        batches,
        sequence.count_queries(),
        len(sequence),
        low,
        high,
        sendable.too_long,
        sendable.left_out,
        repeated,
        saved,
    )


class _QueryCounts:
    """Tokens of queries, each as often as it is sent."""

    def __init__(self) -> None:
        self.low = self.high = 0

    def added(self, parts: Iterable[Group]) -> Iterator[Group]:
        """The same, counted on the way."""
        for part in parts:
            self.low += part[2].lower
            self.high += part[2].upper
            yield part


def _written(
    database: sqlite3.Connection,
    bundles: Iterable[list[Request]],
    arrays: SequenceArrays,
    job: Job,
    *,
    writes_positions: bool,
) -> Iterator[PlannedBatch]:
    writer = _LayoutWriter(database, arrays, job.id, writes_positions=writes_positions)
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


class _LayoutWriter:
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

    def add(self, request: Request, batch: int, position: int) -> None:
        """Keep a request at its position in a batch."""
        number, start, stop = request.number, request.start, request.start + request.texts
        self._requests.append((number, reference_of(self._job_id, number), batch, position))
        pieces = self._arrays.pieces(start, stop)
        has_parts = False
        for first, last in pieces:
            item_no, part = self._arrays.item[first], self._arrays.part[first]
            if part:
                has_parts = True
                self._parts.append((number, first - start, item_no, part))
            elif self._writes_positions:
                self._items.append((number, item_no - (first - start), item_no, item_no + last - first - 1))
        is_worth_it = len(pieces) <= max(1, (stop - start) // 4)
        if not has_parts and (is_worth_it or not self._writes_positions):
            self._runs.extend((number, first - start, self._arrays.text[first], last - first) for first, last in pieces)
        if len(self._items) + len(self._parts) + len(self._runs) >= _BLOCK:
            self._write()

    def finish(self) -> None:
        """Write the rest, and the positions of what is answered with another: an item in parts, a repeated one."""
        self._write()
        if not self._writes_positions:
            return
        self._database.execute(
            "UPDATE items SET request_no = (SELECT min(request_no) FROM parts p WHERE p.item_no = items.item_no)"
            " WHERE item_no IN (SELECT item_no FROM parts WHERE request_no IS NOT NULL)"
        )
        self._database.execute(
            "UPDATE items SET (request_no, request_position) = (SELECT f.request_no, f.request_position FROM repeats r"
            " JOIN items f ON f.item_no = r.first WHERE r.item_no = items.item_no)"
            " WHERE item_no IN (SELECT item_no FROM repeats)"
        )
        self._database.execute(INDEX_OF_REQUESTS)

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


def _clear(database: sqlite3.Connection) -> None:
    # Every item's position changes: an index is quicker made anew than kept.
    database.execute("DROP INDEX IF EXISTS items_of_request")
    if database.execute("SELECT 1 FROM requests LIMIT 1").fetchone():
        database.execute(
            "UPDATE items SET request_no = NULL, request_position = NULL, score = NULL"
            " WHERE request_no IS NOT NULL OR score IS NOT NULL"
        )
    database.execute("UPDATE parts SET request_no = NULL, request_position = NULL, score = NULL")
    database.execute("DELETE FROM requests")
    database.execute("DELETE FROM runs")
    database.execute("DELETE FROM problems WHERE item_no IS NOT NULL")


def _repeats(database: sqlite3.Connection, upper: NDArray[np.uint32], max_tokens: int) -> tuple[int, int]:
    """How many items repeat one that is sent, and the tokens that sending them would take, by the high estimate."""
    repeated = saved = 0
    for text_no, count_of in database.execute(
        "SELECT f.text_no, count(*) FROM repeats r JOIN items f ON f.item_no = r.first"
        " WHERE r.first NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL) GROUP BY r.first"
    ):
        repeated += count_of
        saved += count_of * min(int(upper[text_no - 1]), max_tokens)
    return repeated, saved
