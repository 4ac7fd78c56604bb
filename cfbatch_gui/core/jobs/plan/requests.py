"""What of a job is sent, in order, under every limit: 100 texts a request; 60,000 tokens a request, as number of texts
× longest text; 10 MB a body, on the exact bytes; and an answer that can be read back. Texts are read and cut in blocks,
so that nothing is held for each pair of query and context.
"""

import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from cfbatch_gui.core.job_folder.filling import read_lengths
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem
from cfbatch_gui.core.job_folder.schema import ITEMS_ARE_TEXTS, cells_sql, metadata_value
from cfbatch_gui.core.jobs.reuse import Found
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.threads import check_stopped
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.estimate import answer_bytes, tokens_lower, tokens_most
from cfbatch_gui.core.workers_ai.limits import MAX_ANSWER_BYTES, MAX_TEXTS_PER_BATCH
from cfbatch_gui.core.workers_ai.requests import Frame, batch_size, frame_of

_BLOCK = 100_000  # items read and cut at a time
_FETCHED = 2_000  # texts read at a time
_BODY_RESERVE = 100  # bytes of a body that a single request leaves free
_EMPTY_BODY = batch_size(())
_encode = msgspec.json.Encoder().encode
_Numbers = NDArray[np.int64]
_ROW = np.dtype([("item", "<i8"), ("query", "<i8"), ("text", "<i8"), ("position", "<i8")])
_PAIRS = """
SELECT item_no, query_no, text_no, position FROM items WHERE (query_no, position) > (?, ?)
ORDER BY query_no, position LIMIT ?
"""
_WITHOUT_QUERIES = "SELECT item_no, 0, text_no, item_no FROM items WHERE ?1 = 0 AND item_no > ?2 ORDER BY 1 LIMIT ?3"
_PARTS = """
SELECT item_no, part, text_no, start, stop FROM json_each(?) JOIN parts ON item_no = value JOIN items USING(item_no)
ORDER BY item_no, part
"""
_LEFT_OUT = """
INSERT INTO problems(file, row, kind, reason, item_no)
SELECT t.file, t.row, ?1, ?2, i.item_no FROM items i JOIN texts t USING(text_no)
WHERE i.item_no = ?3 OR i.item_no IN (SELECT item_no FROM repeats WHERE first = ?3)
"""
_LONGER = message("text_is_longer_than_model_reads")
_LONGER_PAIR = message("text_or_query_is_longer_than")
_LARGER = message("text_alone_is_larger_than_batch")


# `part` is 0 for a whole text, `query` 0 without one; `size` is in bytes as JSON, `upper` and `lower` are tokens.
_TEXT = np.dtype([(name, "<i8") for name in ("item", "part", "query", "text", "size", "upper", "lower")])
Texts = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class _Query:
    """Its tokens are 0 without a query; it counts as one more text of its request."""

    text: str | None = None
    lower: int = 0
    upper: int = 0


_NO_QUERY = _Query()


@dataclass(frozen=True, slots=True)
class Request:
    """One element of `requests[]`: its number from 1, its bytes as JSON, and how many texts it has.

    `runs` says which: position of the first, its item, how many items follow one another, and which part of the text.
    """

    number: int
    size: int
    texts: int
    runs: Sequence[tuple[int, int, int, int]] = ()
    source: int = 0


@dataclass(slots=True)
class Totals:
    """What requests come to, a query counted in each. Tokens are those that the model reads, by both estimates."""

    texts: int = 0
    low: int = 0
    high: int = 0
    queries: list[_Numbers] = field(default_factory=lambda: [np.zeros(0, np.int64)])


class RequestCutter:
    """Cuts the texts of a job into requests, in the transaction of the caller. What is left out is written down among
    the job's problems; `too_long` counts texts and queries, among them the items that are `left_out`.
    """

    def __init__(self, database: sqlite3.Connection, job: Job, metadata: ModelMetadata, taken: Found) -> None:
        self._database, self._job, self._metadata, self._taken = database, job, metadata, taken
        self._sizes, upper, self._lower = read_lengths(database)
        self._upper = upper.copy()
        self._is_close = np.zeros(len(self._upper), np.bool_)  # whether `upper` was counted closely
        self._repeats = np.fromiter(
            (number for (number,) in database.execute("SELECT item_no FROM repeats ORDER BY item_no")), np.int64
        )
        self._has_parts = bool(database.execute("SELECT 1 FROM parts LIMIT 1").fetchone())
        self._long_queries: set[int] = set()
        self._long_texts = self.left_out = self._last = 0
        self.sent, self.reused = Totals(), Totals()

    @property
    def too_long(self) -> int:
        return self._long_texts + len(self._long_queries)

    def requests(self) -> Iterator[Request]:
        """Of all that is neither taken nor left out, numbered from 1."""
        for block in self._blocks():
            texts = self._counted_closely(block[~are_among(block["item"], self._taken["item"])])
            queries = self._queries(texts)
            sent = self._without_too_long(texts, queries)
            yield from self._cut(sent, np.zeros(len(sent), np.int64), queries, self.sent)

    def requests_of_taken(self) -> Iterator[Request]:
        """Of what has results, each of one `source`; for after the others, as their numbers go on."""
        for block in self._blocks() if len(self._taken) else ():
            texts = block[are_among(block["item"], self._taken["item"])]
            source = self._taken["source"][np.searchsorted(self._taken["item"], texts["item"])]
            order = np.argsort(source, kind="stable")
            yield from self._cut(texts[order], source[order], self._queries(texts), self.reused)

    def repeated(self) -> tuple[int, int]:
        """How many items repeat one that is sent, and how many one that is taken."""
        rows = self._database.execute(
            "SELECT first FROM repeats WHERE first NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL)"
        )
        firsts = np.fromiter((first for (first,) in rows), np.int64)
        taken = int(np.count_nonzero(are_among(firsts, self._taken["item"])))
        return len(firsts) - taken, taken

    def _blocks(self) -> Iterator[Texts]:
        """What there is to send, without items that repeat another. A block has whole queries where it can."""
        is_ranking = self._job.kind is Kind.RANK
        if not is_ranking and metadata_value(self._database, ITEMS_ARE_TEXTS, False):
            (last,) = self._database.execute("SELECT coalesce(max(item_no), 0) FROM items").fetchone()
            for first in range(1, last + 1, _BLOCK):
                items = np.arange(first, min(first + _BLOCK, last + 1))
                yield self._texts(items, np.zeros(len(items), np.int64), items)
            return
        statement, after = _PAIRS if is_ranking else _WITHOUT_QUERIES, (0, 0)
        while len(rows := np.fromiter(self._database.execute(statement, (*after, _BLOCK)), _ROW)):
            is_of_last = rows["query"] == rows["query"][-1]
            if len(rows) == _BLOCK and not is_of_last[0]:
                rows = rows[~is_of_last]
            after = int(rows["query"][-1]), int(rows["position"][-1])
            yield self._texts(rows["item"], rows["query"], rows["text"])

    def _texts(self, item: _Numbers, query: _Numbers, text: _Numbers) -> Texts:
        check_stopped()
        texts = np.zeros(len(item), _TEXT)
        texts["item"], texts["query"], texts["text"] = item, query, text
        for name, column in (("size", self._sizes), ("upper", self._upper), ("lower", self._lower)):
            texts[name] = column[text - 1]
        texts = texts[~are_among(item, self._repeats)]
        return self._in_parts(texts) if self._has_parts and self._job.kind is Kind.RANK else texts

    def _in_parts(self, whole: Texts) -> Texts:
        parts: dict[int, list[tuple[int, int, int, int]]] = {}
        counts: dict[tuple[int, int, int], tuple[int, int, int]] = {}  # by text and span, which queries share
        for item, part, *place in self._database.execute(_PARTS, (str(whole["item"].tolist()),)):
            text, start, stop = place
            if (text, start, stop) not in counts:
                counts[text, start, stop] = self._count_part(text, start, stop)
            parts.setdefault(item, []).append((part, *counts[text, start, stop]))
        if not parts:
            return whole
        items = whole["item"].tolist()
        texts = whole[np.repeat(np.arange(len(items)), [len(parts.get(item, "1")) for item in items])]
        counted = np.array([*chain.from_iterable(parts.get(item, ()) for item in items)], np.int64)
        is_part = np.isin(texts["item"], list(parts))
        for name, values in zip(("part", "size", "upper", "lower"), counted.T, strict=True):
            texts[name][is_part] = values
        return texts

    def _count_part(self, text_no: int, start: int, stop: int) -> tuple[int, int, int]:
        (text,) = self._database.execute(
            "SELECT substr(text, ?, ?) FROM texts WHERE text_no = ?", (start + 1, stop - start, text_no)
        ).fetchone()
        return len(_encode(text)), tokens_most(text), tokens_lower(text)

    def _counted_closely(self, texts: Texts) -> Texts:
        """The same, with `upper` worked out closely for texts that could reach the limit of a text or of a request."""
        densest, padded_tokens = 3 * texts["upper"], self._metadata.padded_tokens
        is_near = densest > self._metadata.max_tokens
        if padded_tokens > 0 and len(texts):
            _, group, sizes = np.unique(texts["query"], return_inverse=True, return_counts=True)
            is_near |= (np.minimum(sizes, self._most_texts)[group] + 1) * densest > padded_tokens
        is_near &= texts["part"] == 0  # parts have been counted closely
        numbers = np.unique(texts["text"][is_near])
        numbers = numbers[~self._is_close[numbers - 1]]
        self._is_close[numbers - 1] = True
        for first in range(0, len(numbers), _FETCHED):
            wanted = str(numbers[first : first + _FETCHED].tolist())
            statement = "SELECT text_no, text FROM json_each(?) JOIN texts ON text_no = value"
            for number, text in self._database.execute(statement, (wanted,)):
                self._upper[number - 1] = tokens_most(text)
        texts["upper"] = np.where(is_near, self._upper[texts["text"] - 1], texts["upper"])
        return texts

    @property
    def _most_texts(self) -> int:
        """Of a request. The limit of 100 is on "text"; contexts have none stated, and are cut by tokens."""
        is_ranking = self._job.kind is Kind.RANK
        return MAX_TEXTS_PER_BATCH if is_ranking else min(MAX_TEXTS_PER_BATCH, self._metadata.texts_per_request)

    def _queries(self, texts: Texts) -> dict[int, _Query]:
        if self._job.kind is not Kind.RANK or not len(texts):
            return {}
        numbers = int(texts["query"].min()), int(texts["query"].max())
        found = self._database.execute("SELECT query_no, text FROM queries WHERE query_no BETWEEN ? AND ?", numbers)
        return {number: _Query(text, tokens_lower(text), tokens_most(text)) for number, text in found}

    def _without_too_long(self, texts: Texts, queries: dict[int, _Query]) -> Texts:
        """Leave out what the service would not cut, or not take at all."""
        most, body_bytes = self._metadata.max_tokens, self._metadata.body_bytes
        is_too_long = (texts["lower"] > most) | np.isin(
            texts["query"], [n for n, q in queries.items() if q.lower > most]
        )
        is_too_long &= not (self._job.options.truncate_inputs and self._metadata.can_truncate)
        is_too_large = np.zeros(len(texts), np.bool_)
        # A character of a query takes at most six bytes ("\u001f"): nearly always there is no need to look at any.
        longest = max((len(query.text or "") for query in queries.values()), default=0)
        if int(texts["size"].max(initial=0)) + 6 * longest + 1_000 > body_bytes:
            for number in np.unique(texts["query"]).tolist():
                around = job_frame(queries.get(number, _NO_QUERY).text, "", self._job.options).size(1, 0) + 200
                is_too_large |= (texts["query"] == number) & (texts["size"] + around > body_bytes) & ~is_too_long
        reads = _LONGER_PAIR if self._job.kind is Kind.RANK else _LONGER
        longer, larger = reads.filled(model=self._metadata.title, tokens=most), _LARGER.filled(size=body_bytes / 1e6)
        for is_left_out, reason in ((is_too_long, longer), (is_too_large, larger)):
            for item in texts["item"][is_left_out].tolist():
                rows = self._database.execute(_LEFT_OUT, (ProblemKind.TOO_LONG, reason, item)).rowcount
                self.left_out += rows
                self._long_texts += rows - 1  # items that repeat it are not among the texts
        self._long_texts += int(np.count_nonzero((texts["upper"] > most) | is_too_long))
        sent = texts[~(is_too_long | is_too_large)]
        # A query counts as one however many texts it ranks, as it is named once.
        long_queries = {number for number, query in queries.items() if query.upper > most}
        self._long_queries |= long_queries and long_queries.intersection(sent["query"].tolist())
        return sent

    def _cut(self, texts: Texts, source: _Numbers, queries: dict[int, _Query], totals: Totals) -> Iterator[Request]:
        """Texts of one query and source, as many in a request as its limits allow."""
        if not len(texts):
            return
        most = self._metadata.max_tokens
        upper = np.minimum(texts["upper"], most)
        totals.texts += len(texts)
        totals.low += int(np.minimum(texts["lower"], most).sum())
        totals.high += int(upper.sum())
        totals.queries.append(np.unique(texts["query"][texts["query"] > 0]))
        bytes_before = [0, *np.cumsum(texts["size"]).tolist()]
        items, parts = texts["item"].tolist(), texts["part"].tolist()
        is_break = (np.diff(texts["item"]) != 1) | (texts["part"][1:] > 0) | (texts["part"][:-1] > 0)
        breaks = (np.flatnonzero(is_break) + 1).tolist()
        ends = np.flatnonzero((np.diff(texts["query"]) != 0) | (np.diff(source) != 0)) + 1
        for begin, end in pairwise((0, *ends.tolist(), len(texts))):
            query = queries.get(int(texts["query"][begin]), _NO_QUERY)
            waiting = [(begin, end)]  # the next is the last
            while waiting:
                start, stop = waiting.pop()
                fitting = start + self._fitting(upper[start : min(stop, start + self._most_texts)], query)
                if fitting < stop:
                    waiting.append((fitting, stop))
                    stop = fitting
                frame = job_frame(query.text, reference_of(self._job.id, self._last + 1), self._job.options)
                size = frame.size(stop - start, bytes_before[stop] - bytes_before[start])
                if size > self._metadata.body_bytes - _BODY_RESERVE and stop - start > 1:
                    middle = (start + stop) // 2
                    waiting += [(middle, stop), (start, middle)]
                    continue
                self._last += 1
                totals.low += min(query.lower, most)
                totals.high += min(query.upper, most)
                within = breaks[bisect_right(breaks, start) : bisect_left(breaks, stop)]
                bounds = pairwise((start, *within, stop))
                runs = [(first - start, items[first], last - first, parts[first]) for first, last in bounds]
                yield Request(self._last, size, stop - start, runs, int(source[begin]))

    def _fitting(self, tokens: _Numbers, query: _Query) -> int:
        """How many of the texts go into one request: padded tokens are their number times the longest."""
        most, of_query = self._metadata.padded_tokens, min(query.upper, self._metadata.max_tokens)
        if most <= 0 or max(int(tokens.max()), of_query) * (len(tokens) + 1) <= most:
            return len(tokens)
        longest = np.maximum(np.maximum.accumulate(tokens), of_query)
        padded = longest * (np.arange(1, len(tokens) + 1) + (query.text is not None))
        return max(1, int(np.searchsorted(padded, most, side="right")))


def are_among(numbers: _Numbers, known: _Numbers) -> NDArray[np.bool_]:
    """Which of the numbers are among the known ones, which ascend."""
    if not len(known):
        return np.zeros(len(numbers), np.bool_)
    found: NDArray[np.bool_] = known[np.minimum(np.searchsorted(known, numbers), len(known) - 1)] == numbers
    return found


def reference_of(job_id: str, number: int) -> str:
    """The `external_reference` of a request."""
    return f"{job_id}-{number}"


def job_frame(query: str | None, reference: str, options: JobOptions) -> Frame:
    pooling = options.pooling if query is None else ""
    return frame_of(query, reference, True if options.truncate_inputs else None, pooling)


def cut_into_batches(
    requests: Iterable[Request], kind: Kind, metadata: ModelMetadata, *, is_synchronous: bool = False
) -> Iterator[list[Request]]:
    """The requests of each batch, in order; a request that is run synchronously is a batch of its own."""
    batch: list[Request] = []
    size = texts = answer = 0
    for request in requests:
        expected = answer_bytes(kind, request.texts, metadata.dimension)
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


def too_long_texts(folder: JobFolder, metadata: ModelMetadata, *, limit: int = -1) -> Iterator[StoredProblem]:
    """Texts and queries that may be longer than the model reads and are sent, in the order of the file, with their
    row's cells; a query once.
    """
    found = 0
    with folder.open(read_only=True) as database:
        for file, row, text, cells, is_query in database.execute(_MAYBE_TOO_LONG, (metadata.max_tokens,)):
            high = tokens_most(text)
            if found == limit:
                return
            if high > metadata.max_tokens:
                found += 1
                size = _LONG_QUERY if is_query else _LONG_TEXT
                reason = size.filled(low=tokens_lower(text), high=high, most=metadata.max_tokens)
                yield StoredProblem(file, row, ProblemKind.TOO_LONG, reason, tuple(json.loads(cells)) if cells else ())


_LONG_QUERY = message("query_low_high_tokens_model_reads")
_LONG_TEXT = message("low_high_tokens_model_reads_most")
_SENT = "i.item_no NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL)"
# No text has more tokens than characters, by any estimate: only long ones are looked at. Of a query's texts the one in
# its own row, whose cells are wanted: min() says which row the others are from.
_MAYBE_TOO_LONG = f"""
SELECT file, row, text, cells, is_query FROM (
    SELECT t.file, t.row, t.text, {cells_sql()} AS cells, 0 AS is_query, i.text_no AS number, 0
    FROM items i JOIN texts t USING(text_no) LEFT JOIN source_rows f ON f.file = t.file AND f.row = t.row
    WHERE length(t.text) > ?1 AND {_SENT}
        AND (i.query_no IS NULL OR NOT EXISTS(SELECT 1 FROM parts p WHERE p.item_no = i.item_no))
    GROUP BY i.text_no
    UNION ALL
    SELECT 1, q.row, q.text, {cells_sql()}, 1, q.query_no, min(t.file != 1 OR t.row != q.row)
    FROM queries q JOIN items i ON i.query_no = q.query_no JOIN texts t USING(text_no)
    LEFT JOIN source_rows f ON f.file = 1 AND f.row = q.row
    WHERE length(q.text) > ?1 AND {_SENT} GROUP BY q.query_no)
ORDER BY file, row, is_query DESC, number
"""  # noqa: S608 - constants
