"""Which place each score takes among the scores of its query.

The rule: highest score first; exactly equal scores share a rank and the next one counts all before it (1, 2=, 2=, 4).
Inside a tie, contexts stand in the order of the input. What has no score has no rank and stands last.

On arrays, not in SQL: a window function sorts a million rows as rows, and takes three times as long.
"""

import math
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError

_NONE = -math.inf  # no score: an answer in JSON cannot hold it, and it stands after all others
_FOUND = np.dtype([("item", "<i8"), ("query", "<i8"), ("position", "<i8"), ("score", "<f8")])
_SELECT = """
SELECT item_no, query_no, position, coalesce(score, -9e999) FROM items WHERE query_no BETWEEN ? AND ?
"""
_SCORES = np.dtype([("item", "<i4"), ("query", "<i4"), ("position", "<i4"), ("score", "<f8")])
_SELECT_SCORES = "SELECT item_no, query_no, position, coalesce(score, -9e999) FROM items WHERE query_no IS NOT NULL"
_BLOCK = 10_000  # queries whose figures are Python's own numbers at once


@dataclass(frozen=True, slots=True)
class Places:
    """Contexts of one query or several, queries by number and contexts in the order of the ranking; all of shape (n,).

    `rank` 0 is no score, and `score` means nothing then. `tie_group` numbers the ties of a query from 1, 0 is no tie.
    """

    items: NDArray[np.int64]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int64]
    tie_groups: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.items)

    def rows(self) -> Iterator[tuple[int, float, int, int]]:
        """Item number, score, rank and tie group of each."""
        columns = (self.items, self.scores, self.ranks, self.tie_groups)
        return zip(*(column.tolist() for column in columns), strict=True)

    def part(self, start: int, stop: int | None) -> "Places":
        """Those at places `start` to `stop`."""
        wanted = slice(start, stop)
        return Places(self.items[wanted], self.scores[wanted], self.ranks[wanted], self.tie_groups[wanted])


def read_places(database: sqlite3.Connection, first: int, last: int) -> Places:
    """The contexts of the queries `first` to `last`."""
    found = np.fromiter(database.execute(_SELECT, (first, last)), dtype=_FOUND)
    order = _order(found["query"], found["score"], found["position"])
    return _ranked(found["item"][order], found["query"][order], found["score"][order])


def _ranked(items: NDArray[np.integer], queries: NDArray[np.integer], scores: NDArray[np.float64]) -> Places:
    """Of what is in the order of the ranking."""
    there = scores != _NONE
    starts = _Starts(queries, scores)
    tied = (starts.run_lengths > 1) & there
    return Places(
        items.astype(np.int64),
        scores,
        np.where(there, starts.ranks, 0),
        np.where(tied, _counted_by_query(starts.of_run & tied, starts.of_query), 0),
    )


@dataclass(frozen=True, slots=True)
class QueryScores:
    """What came back for one query; NaN for a score that is not there."""

    query_no: int
    contexts: int
    scored: int
    best: float
    second: float


class Scores:
    """All scores of a job as they were when this was made; 17 bytes for each.

    `queries` has the numbers of the queries that have contexts, in order. `version` is the `data_version` before.
    """

    def __init__(self, database: sqlite3.Connection, version: bytes) -> None:
        self.version = version
        found = np.fromiter(database.execute(_SELECT_SCORES), dtype=_SCORES)
        order = _order(found["query"], found["score"], found["position"])
        self._items: NDArray[np.int32] = found["item"][order]
        query, score = found["query"][order], found["score"][order]
        del found, order
        starts = _Starts(query, score)
        self._starts = np.flatnonzero(starts.of_query)
        self._score = score
        self._rank = starts.ranks.astype(np.int32)
        self._there = score != _NONE
        self.queries: NDArray[np.int32] = query[self._starts]

    def count(self, top_k: int | None, threshold: float | None) -> tuple[int, int]:
        """Scores of rank ≤ `top_k` that are ≥ `threshold`, and all scores. None is no limit."""
        kept = self._there if threshold is None else self._there & (self._score >= threshold)
        if top_k is not None:
            kept = kept & (self._rank <= top_k)
        return int(np.count_nonzero(kept)), int(np.count_nonzero(self._there))

    def places(self, query_no: int, start: int, stop: int | None) -> Places:
        """The contexts of one query, from place `start` to `stop` of its ranking; none for a query without contexts."""
        at = int(np.searchsorted(self.queries, query_no))
        if at == len(self.queries) or self.queries[at] != query_no:
            first = last = 0
        else:
            first = int(self._starts[at])
            last = int(self._starts[at + 1]) if at + 1 < len(self._starts) else len(self._score)
        if stop is not None:
            last = min(last, first + stop + 1)  # whether the last one is in a tie is seen from the next
        scores = self._score[first:last]
        return _ranked(self._items[first:last], np.zeros(len(scores), dtype=np.int32), scores).part(start, stop)

    def by_query(self) -> Iterator[QueryScores]:
        """For each query that has contexts, in order of their numbers."""
        lengths = np.diff(self._starts, append=len(self._score))
        for start in range(0, len(self.queries), _BLOCK):
            some = slice(start, start + _BLOCK)
            starts, length = self._starts[some], lengths[some]
            end = int(starts[-1] + length[-1])
            scored = np.add.reduceat(self._there[:end], starts, dtype=np.int64)
            best = np.where(scored > 0, self._score[starts], np.nan)
            second = np.where(scored > 1, self._score[np.minimum(starts + 1, len(self._score) - 1)], np.nan)
            columns = (self.queries[some], length, scored, best, second)
            yield from map(QueryScores, *(column.tolist() for column in columns))


def data_version(path: Path) -> bytes:
    """Four bytes that differ after every change of a database: SQLite's own counter, in the head of the file.

    It is kept in every journal mode but WAL. Raises DataError.
    """
    try:
        with path.open("rb") as file:
            file.seek(24)
            return file.read(4)
    except OSError as error:
        raise DataError("This job's data is missing from its folder.", detail=f"{path}: {error.strerror}") from error


def _order(
    queries: NDArray[np.integer], scores: NDArray[np.float64], positions: NDArray[np.integer]
) -> NDArray[np.int64]:
    """That of the ranking, queries by number."""
    same = queries[1:] == queries[:-1]
    rises = bool((queries[1:] >= queries[:-1]).all() and (positions[1:] > positions[:-1])[same].all())
    # As they mostly come: what is equal stays in its order.
    return np.lexsort((-scores, queries) if rises else (positions, -scores, queries))


class _Starts:
    """Where queries, and the runs of equal scores in them, begin; of rows that are sorted by both."""

    def __init__(self, query: NDArray[np.integer], score: NDArray[np.float64]) -> None:
        count = len(query)
        place = np.arange(count)
        self.of_query = np.ones(count, dtype=np.bool_)
        self.of_query[1:] = query[1:] != query[:-1]
        self.of_run = self.of_query.copy()
        self.of_run[1:] |= score[1:] != score[:-1]
        runs = np.flatnonzero(self.of_run)
        self.run_lengths: NDArray[np.int64] = np.repeat(np.diff(runs, append=count), np.diff(runs, append=count))
        first_of_query = np.maximum.accumulate(np.where(self.of_query, place, 0))
        first_of_run = np.maximum.accumulate(np.where(self.of_run, place, 0))
        self.ranks: NDArray[np.int64] = first_of_run - first_of_query + 1


def _counted_by_query(marked: NDArray[np.bool_], starts: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many are marked up to each place, from the beginning of its query."""
    counted = np.cumsum(marked)
    before = np.maximum.accumulate(np.where(starts, counted - marked, 0))
    result: NDArray[np.int64] = counted - before
    return result
