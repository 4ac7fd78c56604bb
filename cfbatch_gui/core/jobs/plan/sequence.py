"""Everything that a job may send, in the order it is sent, as numbers: where it stands, and how long it is."""

import json
import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.packed_texts import Lengths, read_lengths
from cfbatch_gui.core.job_folder.schema import ITEMS_ARE_TEXTS, metadata_value
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_most

_BLOCK = 10_000  # rows read at a time
_QUERIES = 2_000  # queries or texts read at a time
_encode = msgspec.json.Encoder().encode
_Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sequence:
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

    def only(self, mask: NDArray[np.bool_]) -> "Sequence":
        """Those where `mask` is set."""
        return self if mask.all() else self.at(np.flatnonzero(mask))

    def at(self, indices: _Numbers) -> "Sequence":
        """Those at these indices, in that order."""
        return Sequence(*(getattr(self, field.name)[indices] for field in fields(self)))

    def count_queries(self) -> int:
        """Different queries; those of one follow one another."""
        is_ranking = len(self) > 0 and self.query[0] > 0
        return int(np.count_nonzero(np.diff(self.query))) + 1 if is_ranking else 0

    def breaks(self) -> _Numbers:
        """Indexes, without 0, at which the item or text is not the one after that of the index before."""
        is_break = (np.diff(self.item) != 1) | (np.diff(self.text) != 1) | (self.part[1:] > 0) | (self.part[:-1] > 0)
        return np.flatnonzero(is_break) + 1


class SequenceArrays:
    """A sequence for being read index by index: arrays of Python's own give an int many times faster than NumPy's."""

    def __init__(self, sequence: Sequence, max_tokens: int) -> None:
        """`upper` stops at `max_tokens`, which the model reads at most; `longest` does not."""
        upper = np.minimum(sequence.upper, max_tokens)
        self.item, self.part, self.text, self.upper = (
            array("q", each.tobytes()) for each in (sequence.item, sequence.part, sequence.text, upper)
        )
        self.longest = int(sequence.upper.max(initial=0))  # tokens
        self._bytes_before = array("q", np.concatenate(([0], np.cumsum(sequence.size))).astype(np.int64).tobytes())
        self._breaks = array("q", sequence.breaks().astype(np.int64).tobytes())

    def bytes(self, start: int, stop: int) -> int:
        """Of these texts as JSON."""
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


def read_groups(database: sqlite3.Connection, sequence: Sequence, kind: Kind, max_tokens: int) -> Iterator[Group]:
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
    database: sqlite3.Connection, sequence: Sequence, max_tokens: int, padded_tokens: int, texts_per_request: int
) -> Sequence:
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


def read_sequence(database: sqlite3.Connection, kind: Kind) -> tuple[Sequence, Lengths]:
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
    sequence = Sequence(
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
    """Three columns of numbers."""
    found = database.execute(query)
    blocks = []
    while rows := found.fetchmany(_BLOCK):
        blocks.append(np.array(rows, np.int64))
    table = np.concatenate(blocks) if blocks else np.empty((0, 3), np.int64)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


def _with_parts(database: sqlite3.Connection, whole: Sequence) -> Sequence:
    """The same with the parts of an item, where it has any, in its stead."""
    counts = dict(database.execute("SELECT item_no, count(*) FROM parts GROUP BY item_no"))
    if not counts:
        return whole
    times = np.array([counts.get(number, 1) for number in whole.item.tolist()], np.int64)
    indices = np.repeat(np.arange(len(whole)), times)
    sequence = Sequence(*(getattr(whole, field.name)[indices] for field in fields(whole)))
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
