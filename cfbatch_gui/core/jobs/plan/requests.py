"""What of a job is sent, in order, under every limit: 100 texts a request; 60,000 tokens a request, as number of texts
× longest text; 10 MB a body, on the exact bytes; and an answer that can be read back.
"""

import json
import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from heapq import merge
from itertools import islice
from operator import attrgetter

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem
from cfbatch_gui.core.job_folder.schema import ITEMS_ARE_TEXTS, cells_sql, metadata_value
from cfbatch_gui.core.job_folder.text_lengths import Lengths, read_lengths
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.estimate import answer_bytes, tokens_lower, tokens_most
from cfbatch_gui.core.workers_ai.limits import MAX_ANSWER_BYTES, MAX_TEXTS_PER_BATCH
from cfbatch_gui.core.workers_ai.requests import AnswerKind, Frame, batch_size, embedding_frame, ranking_frame

_BLOCK = 10_000  # rows read at a time
_QUERIES = 2_000  # queries or texts read at a time
_encode = msgspec.json.Encoder().encode
_Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TextSequence:
    """int64 (n,) each. `part` is 0 for a whole text, `query` 0 without one; `size` is in bytes as JSON, `upper` and
    `lower` are tokens.
    """

    item: _Numbers
    part: _Numbers
    query: _Numbers
    text: _Numbers
    size: _Numbers
    upper: _Numbers
    lower: _Numbers

    def __len__(self) -> int:
        return len(self.item)

    def only(self, mask: NDArray[np.bool_]) -> "TextSequence":
        return self if mask.all() else self.at(np.flatnonzero(mask))

    def at(self, indices: _Numbers) -> "TextSequence":
        return TextSequence(*(getattr(self, field.name)[indices] for field in fields(self)))

    def count_queries(self) -> int:
        is_ranking = len(self) > 0 and self.query[0] > 0
        return int(np.count_nonzero(np.diff(self.query))) + 1 if is_ranking else 0

    def breaks(self) -> _Numbers:
        """Indexes, without 0, at which the item or text is not the one after that of the index before."""
        is_break = (np.diff(self.item) != 1) | (np.diff(self.text) != 1) | (self.part[1:] > 0) | (self.part[:-1] > 0)
        return np.flatnonzero(is_break) + 1


class SequenceArrays:
    """A sequence for being read index by index: arrays of Python's own give an int many times faster than NumPy's."""

    def __init__(self, sequence: TextSequence, max_tokens: int) -> None:
        """`upper` stops at `max_tokens`, which the model reads at most; `longest` does not."""
        upper = np.minimum(sequence.upper, max_tokens)
        self.item, self.part, self.text, self.upper = (
            array("q", each.tobytes()) for each in (sequence.item, sequence.part, sequence.text, upper)
        )
        self.longest = int(sequence.upper.max(initial=0))  # tokens
        self._bytes_before = array("q", np.concatenate(([0], np.cumsum(sequence.size))).astype(np.int64).tobytes())
        self._breaks = array("q", sequence.breaks().astype(np.int64).tobytes())

    def bytes(self, start: int, stop: int) -> int:
        return self._bytes_before[stop] - self._bytes_before[start]

    def pieces(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Ranges of indices in which items and texts follow one another, in order."""
        if not self._breaks:
            return [(start, stop)]
        breaks = self._breaks[bisect_right(self._breaks, start) : bisect_left(self._breaks, stop)]
        return list(zip((start, *breaks), (*breaks, stop), strict=True))


@dataclass(frozen=True, slots=True)
class QueryTokens:
    """A query with its tokens, from low to high, 0 without a query. It counts as one more text of its request."""

    text: str | None = None
    lower: int = 0
    upper: int = 0


Group = tuple[int, int, QueryTokens]  # start and stop in the sequence


def read_groups(database: sqlite3.Connection, sequence: TextSequence, kind: Kind, max_tokens: int) -> Iterator[Group]:
    """The texts of each query; all texts without a query are one group. The estimates stop at `max_tokens`."""
    if kind is not Kind.RANK:
        yield 0, len(sequence), QueryTokens()
        return
    ends = [*(np.flatnonzero(np.diff(sequence.query)) + 1).tolist(), len(sequence)] if len(sequence) else []
    start = 0
    for first in range(0, len(ends), _QUERIES):  # in blocks: no cursor stays open over the writes between them
        block = ends[first : first + _QUERIES]
        numbers = (int(sequence.query[start]), int(sequence.query[block[-1] - 1]))
        texts = dict(database.execute("SELECT query_no, text FROM queries WHERE query_no BETWEEN ? AND ?", numbers))
        for stop in block:
            text = texts[int(sequence.query[start])]
            yield (
                start,
                stop,
                QueryTokens(text, min(tokens_lower(text), max_tokens), min(tokens_most(text), max_tokens)),
            )
            start = stop


def with_close_estimates(
    database: sqlite3.Connection, sequence: TextSequence, max_tokens: int, padded_tokens: int, texts_per_request: int
) -> TextSequence:
    """The same, with `upper` worked out closely for texts that could reach the limit of a text or of a request."""
    densest = 3 * sequence.upper
    is_near = densest > max_tokens
    if padded_tokens > 0 and len(sequence):
        _, group, sizes = np.unique(sequence.query, return_inverse=True, return_counts=True)
        is_near |= (np.minimum(sizes, texts_per_request)[group] + 1) * densest > padded_tokens
    indices = np.flatnonzero(is_near & (sequence.part == 0))  # parts have been estimated closely
    upper = sequence.upper.copy()
    for first in range(0, len(indices), _QUERIES):
        block = indices[first : first + _QUERIES]
        numbers = sequence.text[block].tolist()
        tokens = {
            number: tokens_most(text)
            for number, text in database.execute(
                "SELECT text_no, text FROM texts JOIN json_each(?) ON text_no = value", (json.dumps(numbers),)
            )
        }
        upper[block] = [tokens[number] for number in numbers]
    return replace(sequence, upper=upper)


def read_sequence(database: sqlite3.Connection, kind: Kind) -> tuple[TextSequence, Lengths]:
    """What there is to send, without items that repeat another, and the lengths of all texts."""
    lengths = read_lengths(database)
    if kind is Kind.RANK:
        item, query, text = _read(
            database,
            "SELECT item_no, query_no, text_no FROM items WHERE query_no IS NOT NULL ORDER BY query_no, position",
        )
    elif metadata_value(database, ITEMS_ARE_TEXTS, False):
        (last,) = database.execute("SELECT coalesce(max(item_no), 0) FROM items").fetchone()
        item = text = np.arange(1, last + 1, dtype=np.int64)
        query = np.zeros(last, np.int64)
    else:
        item, query, text = _read(database, "SELECT item_no, 0, text_no FROM items ORDER BY item_no")
    index = text - 1
    sequence = TextSequence(
        item,
        np.zeros(len(item), np.int64),
        query,
        text,
        lengths.sizes[index].astype(np.int64),
        lengths.upper[index].astype(np.int64),
        lengths.lower[index].astype(np.int64),
    )
    repeated = [number for (number,) in database.execute("SELECT item_no FROM repeats")]
    if repeated:
        sequence = sequence.only(~np.isin(item, np.array(repeated, np.int64)))
    return (_with_parts(database, sequence) if kind is Kind.RANK else sequence), lengths


def _read(database: sqlite3.Connection, query: str) -> tuple[_Numbers, _Numbers, _Numbers]:
    found = database.execute(query)
    blocks = []
    while rows := found.fetchmany(_BLOCK):
        blocks.append(np.array(rows, np.int64))
    table = np.concatenate(blocks) if blocks else np.empty((0, 3), np.int64)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


def _with_parts(database: sqlite3.Connection, whole: TextSequence) -> TextSequence:
    counts = dict(database.execute("SELECT item_no, count(*) FROM parts GROUP BY item_no"))
    if not counts:
        return whole
    times = np.array([counts.get(number, 1) for number in whole.item.tolist()], np.int64)
    indices = np.repeat(np.arange(len(whole)), times)
    sequence = TextSequence(*(getattr(whole, field.name)[indices] for field in fields(whole)))
    first = dict(zip(whole.item.tolist(), (np.cumsum(times) - times).tolist(), strict=True))
    part, size, upper, lower = (
        column.copy() for column in (sequence.part, sequence.size, sequence.upper, sequence.lower)
    )
    for item_no, number, text in database.execute(
        "SELECT p.item_no, p.part, substr(t.text, p.start + 1, p.stop - p.start) FROM parts p JOIN items USING(item_no)"
        " JOIN texts t USING(text_no) ORDER BY p.item_no, p.part"
    ):
        if item_no in first:
            index = first[item_no] + number - 1
            part[index], size[index] = number, len(_encode(text))
            upper[index], lower[index] = tokens_most(text), tokens_lower(text)
    return replace(sequence, part=part, size=size, upper=upper, lower=lower)


def frame_of(query: str | None, reference: str, options: JobOptions) -> Frame:
    truncate = True if options.truncate_inputs else None
    if query is not None:
        return ranking_frame(query, reference, truncate)
    return embedding_frame(reference, truncate, options.pooling)


def element_of(query: str | None, texts: Sequence[bytes], reference: str, options: JobOptions) -> bytes:
    frame = frame_of(query, reference, options)
    return b"".join((frame.before, frame.between.join(texts), frame.after))


_BODY_RESERVE = 100  # bytes of a body that a single request leaves free
_EMPTY_BODY = batch_size(())


@dataclass(frozen=True, slots=True)
class Request:
    """One element of `requests[]`: its number from 1, its bytes as JSON, its texts, and where they begin in the
    sequence."""

    number: int
    size: int
    texts: int
    start: int = 0


def most_texts(kind: Kind, metadata: ModelMetadata) -> int:
    """Of a request. The limit of 100 is on "text"; contexts have none stated, and are cut by tokens."""
    return MAX_TEXTS_PER_BATCH if kind is Kind.RANK else min(MAX_TEXTS_PER_BATCH, metadata.texts_per_request)


def cut_by_tokens(
    arrays: SequenceArrays, groups: Iterable[Group], texts: int, metadata: ModelMetadata
) -> Iterator[Group]:
    for start, stop, query in groups:
        at = start
        while at < stop:
            count = min(texts, stop - at)
            if (count + 1) * max(query.upper, arrays.longest) > metadata.padded_tokens > 0:
                count = _fitting(arrays.upper[at : at + count], query, metadata.padded_tokens)
            yield at, at + count, query
            at += count


def _fitting(upper: "array[int]", query: QueryTokens, most: int) -> int:
    """How many of the texts go into one request: padded tokens are their number times the longest."""
    beside, longest = int(query.text is not None), max(upper)
    if (len(upper) + beside) * max(query.upper, longest) <= most:
        return len(upper)
    longest = max(query.upper, upper[0])
    for count, tokens in enumerate(upper):
        longest = max(longest, tokens)
        if count and (count + 1 + beside) * longest > most:
            return count
    return len(upper)


def cut_by_bytes(
    arrays: SequenceArrays, groups: Iterable[Group], job_id: str, options: JobOptions, body_bytes: int
) -> Iterator[Request]:
    """A request of each group; one that is larger than a body may be is halved until it is not."""
    frame, number = _frames(options), 1
    for group_start, group_stop, query in groups:
        waiting = [(group_start, group_stop)]
        while waiting:
            start, stop = waiting.pop()
            size = frame(query.text, reference_of(job_id, number)).size(stop - start, arrays.bytes(start, stop))
            if size > body_bytes - _BODY_RESERVE and stop - start > 1:
                middle = start + (stop - start) // 2
                waiting += [(middle, stop), (start, middle)]
                continue
            yield Request(number, size, stop - start, start)
            number += 1


def reference_of(job_id: str, number: int) -> str:
    """The `external_reference` of a request."""
    return f"{job_id}-{number}"


def _frames(options: JobOptions) -> Callable[[str | None, str], Frame]:
    """`frame_of` for sizes: of texts without a query they depend on the length of the reference alone."""
    known: dict[int, Frame] = {}

    def frame(query: str | None, reference: str) -> Frame:
        if query is not None:
            return frame_of(query, reference, options)
        found = known.get(len(reference))
        if found is None:
            found = known[len(reference)] = frame_of(None, reference, options)
        return found

    return frame


def cut_into_batches(
    requests: Iterable[Request], kind: Kind, metadata: ModelMetadata, *, is_synchronous: bool = False
) -> Iterator[list[Request]]:
    """The requests of each batch, in order; a request that is run synchronously is a batch of its own."""
    form: AnswerKind = "scores" if kind is Kind.RANK else "embeddings"
    batch: list[Request] = []
    size = texts = answer = 0
    for request in requests:
        expected = answer_bytes(form, request.texts, metadata.dimension)
        if batch and (
            is_synchronous
            or _EMPTY_BODY + size + request.size + len(batch) > metadata.body_bytes
            or texts + request.texts > MAX_TEXTS_PER_BATCH
            or answer + expected > MAX_ANSWER_BYTES
        ):
            yield batch
            batch, size, texts, answer = [], 0, 0, 0
        batch.append(request)
        size, texts, answer = size + request.size, texts + request.texts, answer + expected
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class Sendable:
    """What is sent of a sequence. `too_long` counts texts and queries, among them the items that are `left_out`."""

    sequence: TextSequence
    too_long: int
    left_out: int


_LONGER = message("The text is longer than {model} reads ({tokens:,} tokens).")
_LONGER_PAIR = message("The text, or its query, is longer than {model} reads ({tokens:,} tokens).")


def without_too_long(
    database: sqlite3.Connection, sequence: TextSequence, job: Job, metadata: ModelMetadata
) -> Sendable:
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
    found = database.execute("SELECT query_no, text FROM queries WHERE length(text) > ?", (most,))
    perhaps = [(number, text) for number, text in found if tokens_most(text) > most]
    return [number for number, text in perhaps if tokens_lower(text) > most], [number for number, _ in perhaps]


def _too_large(
    database: sqlite3.Connection, sequence: TextSequence, job: Job, metadata: ModelMetadata
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
    row's cells; a query once.
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
            _problems(queries, metadata, _LONG_QUERY, _QUERY_UP_TO),
            _problems(texts, metadata, _LONG_TEXT, _TEXT_UP_TO),
            key=attrgetter("file", "row"),
        )
        yield from islice(found, limit if limit >= 0 else None)


_LONG_QUERY = message("The query: {low:,} to {high:,} tokens; the model reads {most:,}.")
_QUERY_UP_TO = message("The query: up to {high:,} tokens; the model reads {most:,}.")
_LONG_TEXT = message("{low:,} to {high:,} tokens; the model reads {most:,}.")
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
