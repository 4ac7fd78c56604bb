"""Texts and queries that are longer than a model reads: counted, left out where they are not cut, and listed."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem
from cfbatch_gui.core.job_folder.schema import cells_sql
from cfbatch_gui.core.jobs.plan.request_bodies import frame_of
from cfbatch_gui.core.jobs.plan.sequence import Sequence, read_groups
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_most


@dataclass(frozen=True, slots=True)
class Sendable:
    """What is sent of a sequence. `too_long` counts texts and queries, among them the items that are `left_out`."""

    sequence: Sequence
    too_long: int
    left_out: int


_LONGER = message("The text is longer than {model} reads ({tokens:,} tokens).")
_LONGER_PAIR = message("The text, or its query, is longer than {model} reads ({tokens:,} tokens).")


def without_too_long(database: sqlite3.Connection, sequence: Sequence, job: Job, metadata: ModelMetadata) -> Sendable:
    """Leave out what the service would not cut, or not take at all, and write it down among the job's problems."""
    most = metadata.max_tokens
    longer, perhaps_longer = _long_queries(database, most)
    is_cut = job.options.truncate_inputs and metadata.can_truncate
    is_too_long = ((sequence.lower > most) | np.isin(sequence.query, longer)) & (not is_cut)
    is_too_large = _too_large(database, sequence, job, metadata) & ~is_too_long
    reads = (_LONGER_PAIR if job.kind is Kind.RANK else _LONGER).filled(model=metadata.title, tokens=most)
    large = message(
        "The text alone is larger than a batch may be ({size:.0f} MB).", size=metadata.body_bytes / 1_000_000
    )
    left_out = repeats = 0
    for is_left_out, reason in ((is_too_long, reads), (is_too_large, large)):
        for item_no in sequence.item[is_left_out].tolist():
            rows = _leave_out(database, item_no, reason)
            left_out += rows
            repeats += rows - 1  # items that repeat it are not in the sequence
    sent = sequence.only(~(is_too_long | is_too_large))
    # A query counts as one however many texts it ranks, as it is named once.
    too_long = int(np.count_nonzero((sequence.upper > most) | is_too_long))
    too_long += int(np.count_nonzero(np.isin(perhaps_longer, sent.query)))
    return Sendable(sent, too_long + repeats, left_out)


def _long_queries(database: sqlite3.Connection, most: int) -> tuple[list[int], list[int]]:
    """The numbers of queries that are longer than the model reads, and of those that are or may be."""
    found = database.execute("SELECT query_no, text FROM queries WHERE length(text) > ?", (most,))
    perhaps = [(number, text) for number, text in found if tokens_most(text) > most]
    return [number for number, text in perhaps if tokens_lower(text) > most], [number for number, _ in perhaps]


def _too_large(
    database: sqlite3.Connection, sequence: Sequence, job: Job, metadata: ModelMetadata
) -> NDArray[np.bool_]:
    """Which texts would make a body of their own too large, by the exact bytes."""
    is_too_large = np.zeros(len(sequence), np.bool_)
    (longest,) = database.execute("SELECT max(length(CAST(text AS BLOB))) FROM queries").fetchone()
    # A byte of a query takes at most six ("\u001f"): nearly always there is no need to look at any.
    if not len(sequence) or int(sequence.size.max()) + 6 * (longest or 0) + 1_000 <= metadata.body_bytes:
        return is_too_large
    for start, stop, query in read_groups(database, sequence, job.kind, metadata.max_tokens):
        around = frame_of(query.text, "", job.options).size(1, 0) + 200
        is_too_large[start:stop] = sequence.size[start:stop] + around > metadata.body_bytes
    return is_too_large


def _leave_out(database: sqlite3.Connection, item_no: int, reason: str) -> int:
    """Write a problem for an item and for each that repeats it; returns how many these are."""
    return database.execute(
        "INSERT INTO problems(file, row, kind, reason, item_no)"
        " SELECT t.file, t.row, ?, ?, i.item_no FROM items i JOIN texts t USING(text_no)"
        " WHERE i.item_no = ? OR i.item_no IN (SELECT item_no FROM repeats WHERE first = ?)",
        (ProblemKind.TOO_LONG, reason, item_no, item_no),
    ).rowcount


def too_long_texts(folder: JobFolder, metadata: ModelMetadata, *, limit: int = -1) -> Iterator[StoredProblem]:
    """Texts and queries that may be longer than the model reads and are sent, in the order of the file, with their
    row's cells; a query once, however many texts it ranks.

    Those that are left out for it are among the job's problems. Texts in parts are not too long.
    """
    with folder.open(read_only=True) as database:
        # No text has more tokens than characters, by any estimate: only long ones are looked at.
        texts = database.execute(
            f"SELECT t.file, t.row, t.text, {cells_sql()} FROM items i JOIN texts t USING(text_no)"  # noqa: S608 - constants
            " LEFT JOIN source_rows f ON f.file = t.file AND f.row = t.row"
            f" WHERE length(t.text) > ? AND {_SENT}"
            " AND (i.query_no IS NULL OR NOT EXISTS(SELECT 1 FROM parts p WHERE p.item_no = i.item_no))"
            " GROUP BY i.text_no ORDER BY t.file, t.row, i.text_no",
            (metadata.max_tokens,),
        )
        queries = database.execute(
            # Of its texts the one in its own row, whose cells are wanted: min() says which row the others are from.
            f"SELECT 1, q.row, q.text, {cells_sql()}, min(t.file != 1 OR t.row != q.row) FROM queries q"  # noqa: S608 - constants
            " JOIN items i ON i.query_no = q.query_no JOIN texts t USING(text_no)"
            " LEFT JOIN source_rows f ON f.file = 1 AND f.row = q.row"
            f" WHERE length(q.text) > ? AND {_SENT}"
            " GROUP BY q.query_no ORDER BY q.row, q.query_no",
            (metadata.max_tokens,),
        )
        found = merge(
            _problems(queries, metadata, _QUERY, _QUERY_UP_TO),
            _problems(texts, metadata, _TEXT, _TEXT_UP_TO),
            key=attrgetter("file", "row"),
        )
        yield from islice(found, limit if limit >= 0 else None)


_QUERY = message("The query: {low:,} to {high:,} tokens; the model reads {most:,}.")
_QUERY_UP_TO = message("The query: up to {high:,} tokens; the model reads {most:,}.")
_TEXT = message("{low:,} to {high:,} tokens; the model reads {most:,}.")
_TEXT_UP_TO = message("Up to {high:,} tokens; the model reads {most:,}.")
_SENT = "i.item_no NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL)"


def _problems(
    found: sqlite3.Cursor, metadata: ModelMetadata, between: Message, up_to: Message
) -> Iterator[StoredProblem]:
    for file, row, text, cells, *_ in found:
        high = tokens_most(text)
        if high <= metadata.max_tokens:
            continue
        low = tokens_lower(text)
        size = between if low > metadata.max_tokens else up_to
        reason = size.filled(low=low, high=high, most=metadata.max_tokens)
        yield StoredProblem(file, row, ProblemKind.TOO_LONG, reason, tuple(json.loads(cells)) if cells else ())
