"""A job's plan: which request and batch carries each of its texts, written to the job's data, and read back."""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.schema import put_metadata_value
from cfbatch_gui.core.jobs.plan.cutting import (
    Request,
    cut_by_bytes,
    cut_by_tokens,
    cut_into_batches,
    most_texts,
)
from cfbatch_gui.core.jobs.plan.layout_writer import LayoutWriter, finish_positions
from cfbatch_gui.core.jobs.plan.planned import TOKENS
from cfbatch_gui.core.jobs.plan.reused_requests import QueryCounts, ReusedRequests
from cfbatch_gui.core.jobs.plan.sequence import SequenceArrays, read_groups, read_sequence, with_close_estimates
from cfbatch_gui.core.jobs.plan.too_long import without_too_long
from cfbatch_gui.core.jobs.reuse.taking import NOTHING_TAKEN, Taken
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.requests import batch_size


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
    """Lay out all items, within a transaction of the caller's, who has called `forget_plan`; runs long for many items.

    Items that are `taken` from earlier jobs are not sent. In a trial nothing is written of them, and the rows of texts
    without queries do not say which request they go with, only runs of texts do.
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
