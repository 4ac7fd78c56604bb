"""Items into requests, requests into batches: under every limit of the service, each item once, in order.

The limits: 100 texts a request; 60,000 tokens a request, counted as number of texts × longest text; 10 MB a body, on
the exact bytes; and an answer that can be read back, which for vectors is what is reached first.
"""

import json
import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.job_folder.schema import INDEX_OF_REQUESTS, put_fact
from cfbatch_gui.core.jobs.plan.planned import TOKENS
from cfbatch_gui.core.jobs.plan.request_bodies import frame_of
from cfbatch_gui.core.jobs.plan.sequence import Sequence, read_sequence
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.workers_ai.catalogue import ModelFacts
from cfbatch_gui.core.workers_ai.estimate import (
    answer_bytes,
    tokens_lower,
    tokens_most,
)
from cfbatch_gui.core.workers_ai.limits import MAX_ANSWER_BYTES, MAX_TEXTS_PER_BATCH
from cfbatch_gui.core.workers_ai.wire.requests import Frame, batch_size

# What comes back is shown batch by batch and a batch can fail as a whole: a few seconds more of queue buy both.


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


@dataclass(frozen=True, slots=True)
class _Query:
    """What a request has beside its texts; a query counts as one more text of its call. Without one: no text."""

    text: str | None = None
    upper: int = 0


class Planning:
    """One run over all items, within a transaction of the caller's."""

    def __init__(
        self, database: sqlite3.Connection, job: Job, facts: ModelFacts, *, writes_places: bool = True
    ) -> None:
        """Without `writes_places` items are not told where they go; runs of texts are all there is of the layout."""
        self._database, self._job, self._facts = database, job, facts
        self._writes_places = writes_places
        self._requests = 0
        self._batches: list[PlannedBatch] = []
        self._count = self._bytes = self._texts = self._answer = 0  # of the batch being filled
        self._queries = self._items = self._low = self._high = self._too_long = self._left_out = 0
        self._frames: dict[int, Frame] = {}  # of texts without a query, by the length of the reference
        self._new_requests: list[tuple[int, str, int, int]] = []
        self._new_runs: list[tuple[int, int, int, int]] = []
        self._new_places: list[tuple[int, int, int, int]] = []
        self._new_part_places: list[tuple[int, int, int, int]] = []

    def run(self) -> Plan:
        """Write the layout to the job's data. Runs long for many items."""
        self._clear()
        sequence, lengths = read_sequence(self._database, self._job.kind)
        sequence = self._without_too_long(self._looked_at(sequence))
        self._low += int(np.minimum(sequence.lower, self._facts.max_tokens).sum())
        self._high += int(np.minimum(sequence.upper, self._facts.max_tokens).sum())
        self._lay_out(sequence)
        self._close_batch()
        self._write()
        if self._writes_places:
            self._finish()
        put_fact(self._database, "model", self._job.model)
        put_fact(self._database, "asked_pooling", self._job.options.pooling)
        put_fact(self._database, TOKENS, (self._low, self._high))
        repeated, saved = self._repeats(lengths.upper)
        return Plan(
            tuple(self._batches),
            self._queries,
            self._items,
            self._low,
            self._high,
            self._too_long,
            self._left_out,
            repeated,
            saved,
        )

    def _clear(self) -> None:
        # Every item's place changes: an index is quicker made anew than kept.
        self._database.execute("DROP INDEX IF EXISTS items_of_request")
        if self._database.execute("SELECT 1 FROM requests LIMIT 1").fetchone():
            self._database.execute(
                "UPDATE items SET request_no = NULL, request_position = NULL, score = NULL"
                " WHERE request_no IS NOT NULL OR score IS NOT NULL"
            )
        self._database.execute("UPDATE parts SET request_no = NULL, request_position = NULL, score = NULL")
        self._database.execute("DELETE FROM requests")
        self._database.execute("DELETE FROM runs")
        self._database.execute("DELETE FROM problems WHERE item_no IS NOT NULL")

    def _finish(self) -> None:
        """What shares the place of something that is sent: an item with its parts, a repeated one with the first."""
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

    def _repeats(self, upper: NDArray[np.uint32]) -> tuple[int, int]:
        repeated = saved = 0
        for text_no, count_of in self._database.execute(
            "SELECT f.text_no, count(*) FROM repeats r JOIN items f ON f.item_no = r.first"
            " WHERE r.first NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL) GROUP BY r.first"
        ):
            repeated += count_of
            saved += count_of * min(int(upper[text_no - 1]), self._facts.max_tokens)
        return repeated, saved

    def _without_too_long(self, sequence: Sequence) -> Sequence:
        """Count what is longer than the model reads; leave out what the service would not cut, or not take at all."""
        most = self._facts.max_tokens
        longer, perhaps_longer = self._long_queries()
        is_cut = self._job.options.truncate_inputs and self._facts.can_truncate
        is_too_long = ((sequence.lower > most) | np.isin(sequence.query, longer)) & (not is_cut)
        is_too_large = self._too_large(sequence) & ~is_too_long
        for is_left_out, too_large in ((is_too_long, False), (is_too_large, True)):
            for item_no in sequence.item[is_left_out].tolist():
                self._leave_out(item_no, too_large=too_large)
        sent = sequence.only(~(is_too_long | is_too_large))
        # A query counts as one however many texts it ranks, as it is named once.
        self._too_long += int(np.count_nonzero((sequence.upper > most) | is_too_long))
        self._too_long += int(np.count_nonzero(np.isin(perhaps_longer, sent.query)))
        return sent

    def _long_queries(self) -> tuple[list[int], list[int]]:
        """The numbers of queries that are longer than the model reads, and of those that are or may be."""
        most = self._facts.max_tokens
        found = self._database.execute("SELECT query_no, text FROM queries WHERE length(text) > ?", (most,))
        perhaps = [(number, text) for number, text in found if tokens_most(text) > most]
        return [number for number, text in perhaps if tokens_lower(text) > most], [number for number, _ in perhaps]

    def _too_large(self, sequence: Sequence) -> NDArray[np.bool_]:
        """Which texts would make a body of their own too large, by the exact bytes."""
        is_too_large = np.zeros(len(sequence), np.bool_)
        (longest,) = self._database.execute("SELECT max(length(CAST(text AS BLOB))) FROM queries").fetchone()
        # A byte of a query takes at most six ("\u001f"): nearly always there is no need to look at any.
        if not len(sequence) or int(sequence.size.max()) + 6 * (longest or 0) + 1_000 <= self._facts.body_bytes:
            return is_too_large
        for start, stop, query in self._groups(sequence):
            around = frame_of(query.text, "", self._job.options).size(1, 0) + 200
            is_too_large[start:stop] = sequence.size[start:stop] + around > self._facts.body_bytes
        return is_too_large

    def _leave_out(self, item_no: int, *, too_large: bool) -> None:
        what = "The text, or its query," if self._job.kind is Kind.RANK else "The text"
        reason = (
            f"The text alone is larger than a batch may be ({self._facts.body_bytes / 1_000_000:.0f} MB)."
            if too_large
            else f"{what} is longer than {self._facts.title} reads ({self._facts.max_tokens:,} tokens)."
        )
        rows = self._database.execute(
            "INSERT INTO problems(file, row, kind, reason, item_no)"
            " SELECT t.file, t.row, ?, ?, i.item_no FROM items i JOIN texts t USING(text_no)"
            " WHERE i.item_no = ? OR i.item_no IN (SELECT item_no FROM repeats WHERE first = ?)",
            (ProblemKind.TOO_LONG, reason, item_no, item_no),
        ).rowcount
        self._left_out += rows
        self._too_long += rows - 1  # those that repeat it, which the sequence does not have

    def _groups(self, sequence: Sequence) -> Iterator[tuple[int, int, _Query]]:
        """Places from which to which one query's texts stand. All texts without a query are one group."""
        if self._job.kind is not Kind.RANK:
            yield 0, len(sequence), _Query()
            return
        ends = [*(np.flatnonzero(np.diff(sequence.query)) + 1).tolist(), len(sequence)] if len(sequence) else []
        start = 0
        for first in range(0, len(ends), _BLOCK):  # in blocks: no cursor is open over the writes beside it
            block = ends[first : first + _BLOCK]
            numbers = (int(sequence.query[start]), int(sequence.query[block[-1] - 1]))
            texts = dict(
                self._database.execute("SELECT query_no, text FROM queries WHERE query_no BETWEEN ? AND ?", numbers)
            )
            for stop in block:
                text = texts[int(sequence.query[start])]
                yield start, stop, _Query(text, min(tokens_most(text), self._facts.max_tokens))
                start = stop

    def _lay_out(self, sequence: Sequence) -> None:
        most = self._facts.max_tokens
        upper = array("q", np.minimum(sequence.upper, most).tobytes())
        longest = int(sequence.upper.max(initial=0))
        laid_out = _LaidOut(sequence)
        for start, stop, query in self._groups(sequence):
            # The limit of 100 is on "text"; contexts have none stated, but a query with thousands is cut by tokens.
            texts = MAX_TEXTS_PER_BATCH
            if query.text is None:
                texts = min(texts, self._facts.texts_per_request)
            elif stop > start:
                self._queries += 1
            at = start
            while at < stop:
                count = min(texts, stop - at)
                if (count + 1) * max(query.upper, longest) > self._facts.padded_tokens > 0:
                    count = self._fitting(upper[at : at + count], query)
                if query.text is not None:
                    self._low += min(tokens_lower(query.text), most)
                    self._high += query.upper
                self._close(query, laid_out, at, at + count)
                at += count

    def _looked_at(self, sequence: Sequence) -> Sequence:
        """The same, with `upper` worked out closely for texts that could reach the limit of a text or of a request."""
        most, padded = self._facts.max_tokens, self._facts.padded_tokens
        densest = 3 * sequence.upper
        is_near = densest > most
        if padded > 0 and len(sequence):
            _, group, sizes = np.unique(sequence.query, return_inverse=True, return_counts=True)
            texts = MAX_TEXTS_PER_BATCH if self._job.kind is Kind.RANK else self._facts.texts_per_request
            is_near |= (np.minimum(sizes, texts)[group] + 1) * densest > padded
        places = np.flatnonzero(is_near & (sequence.part == 0))  # parts have been looked at
        upper = sequence.upper.copy()
        for first in range(0, len(places), _BLOCK):
            block = places[first : first + _BLOCK]
            numbers = sequence.text[block].tolist()
            tokens = dict(self._tokens_most(numbers))
            upper[block] = [tokens[number] for number in numbers]
        return replace(sequence, upper=upper)

    def _tokens_most(self, numbers: list[int]) -> Iterator[tuple[int, int]]:
        for number, text in self._database.execute(
            "SELECT text_no, text FROM texts JOIN json_each(?) ON text_no = value", (json.dumps(numbers),)
        ):
            yield number, tokens_most(text)

    def _fitting(self, upper: "array[int]", query: _Query) -> int:
        """How many of the texts go into one request: padded tokens are their number times the longest."""
        most, beside = self._facts.padded_tokens, int(query.text is not None)
        longest = max(upper)
        if not most or (len(upper) + beside) * max(query.upper, longest) <= most:
            return len(upper)
        longest = max(query.upper, upper[0])
        for count, tokens in enumerate(upper):
            longest = max(longest, tokens)
            if count and (count + 1 + beside) * longest > most:
                return count
        return len(upper)

    def _close(self, query: _Query, laid_out: "_LaidOut", start: int, stop: int) -> None:
        self._requests += 1
        reference = f"{self._job.id}-{self._requests}"
        count_of = stop - start
        size = self._frame(query.text, reference).size(count_of, laid_out.bytes(start, stop))
        if size > self._facts.body_bytes - 100 and count_of > 1:
            self._requests -= 1
            middle = start + count_of // 2
            self._close(query, laid_out, start, middle)
            self._close(query, laid_out, middle, stop)
            return
        answer = answer_bytes("scores" if query.text is not None else "embeddings", count_of, self._facts.dimension)
        if self._count and not (
            not self._job.options.at_once
            and _FRAME + self._bytes + size + self._count <= self._facts.body_bytes
            and self._texts + count_of <= MAX_TEXTS_PER_BATCH
            and self._answer + answer <= MAX_ANSWER_BYTES
        ):
            self._close_batch()
        self._new_requests.append((self._requests, reference, len(self._batches) + 1, self._count))
        self._place(laid_out, start, stop)
        self._count += 1
        self._bytes += size
        self._texts += count_of
        self._answer += answer
        self._items += count_of

    def _frame(self, query: str | None, reference: str) -> Frame:
        """One of the right size: without a query it depends on the length of the reference alone."""
        if query is not None:
            return frame_of(query, reference, self._job.options)
        found = self._frames.get(len(reference))
        if found is None:
            found = self._frames[len(reference)] = frame_of(None, reference, self._job.options)
        return found

    def _place(self, laid_out: "_LaidOut", start: int, stop: int) -> None:
        pieces = laid_out.pieces(start, stop)
        has_parts = False
        for first, last in pieces:
            item_no, part = laid_out.item[first], laid_out.part[first]
            if part:
                has_parts = True
                self._new_part_places.append((self._requests, first - start, item_no, part))
            elif self._writes_places:
                self._new_places.append(
                    (self._requests, item_no - (first - start), item_no, item_no + last - first - 1)
                )
        is_worth_it = len(pieces) <= max(1, (stop - start) // 4)
        if not has_parts and (is_worth_it or not self._writes_places):
            self._new_runs.extend(
                (self._requests, first - start, laid_out.text[first], last - first) for first, last in pieces
            )
        if len(self._new_places) + len(self._new_part_places) + len(self._new_runs) >= _BLOCK:
            self._write()

    def _write(self) -> None:
        self._database.executemany(
            "INSERT INTO requests(request_no, reference, batch, position) VALUES(?, ?, ?, ?)", self._new_requests
        )
        self._database.executemany("INSERT INTO runs VALUES(?, ?, ?, ?)", self._new_runs)
        self._database.executemany(
            "UPDATE items SET request_no = ?, request_position = item_no - ? WHERE item_no BETWEEN ? AND ?",
            self._new_places,
        )
        self._database.executemany(
            "UPDATE parts SET request_no = ?, request_position = ? WHERE item_no = ? AND part = ?",
            self._new_part_places,
        )
        for written in (self._new_requests, self._new_runs, self._new_places, self._new_part_places):
            written.clear()

    def _close_batch(self) -> None:
        if self._count:
            at_once = self._job.options.at_once  # then there is one request, and it goes bare
            size = self._bytes if at_once else _FRAME + self._bytes + self._count - 1
            self._batches.append(PlannedBatch(len(self._batches) + 1, self._count, self._texts, size, at_once))
        self._count = self._bytes = self._texts = self._answer = 0


class _LaidOut:
    """A sequence for being looked at place by place: arrays of Python's own give an int many times faster."""

    def __init__(self, sequence: Sequence) -> None:
        self.item, self.part, self.text = (
            array("q", each.tobytes()) for each in (sequence.item, sequence.part, sequence.text)
        )
        self._bytes_before = array("q", np.concatenate(([0], np.cumsum(sequence.size))).astype(np.int64).tobytes())
        self._breaks = array("q", sequence.breaks().astype(np.int64).tobytes())

    def bytes(self, start: int, stop: int) -> int:
        """Of these texts as JSON."""
        return self._bytes_before[stop] - self._bytes_before[start]

    def pieces(self, start: int, stop: int) -> list[tuple[int, int]]:
        """From which to which place items and texts follow one another."""
        if not self._breaks:
            return [(start, stop)]
        breaks = self._breaks[bisect_right(self._breaks, start) : bisect_left(self._breaks, stop)]
        return list(zip((start, *breaks), (*breaks, stop), strict=True))


_BLOCK = 2_000  # rows that are written at a time
_FRAME = batch_size(())
