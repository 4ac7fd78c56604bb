"""The ranks of scores.

The highest score has rank 1. Exactly equal scores share a rank, and the next rank counts all before it (1, 2=, 2=, 4).
The order within a tie is in `tie_order`. A context without a score has no rank and comes last.

Ranks are computed on arrays, as a window function in SQL takes three times as long for a million rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.rankings.score_table import ScoreTable

_BLOCK = 10_000  # queries whose values are Python numbers at a time


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Arrays of shape (n,) in the order of the scores. `rank` counts from 1; `size` is that of the tie, 1 for none."""

    rank: NDArray[np.int32]
    size: NDArray[np.int32]

    def part(self, indices: NDArray[np.integer]) -> "Ranks":
        """The ranks at these indices, in their order."""
        return Ranks(self.rank[indices], self.size[indices])

    def texts(self) -> list[str]:
        """The ranks for people, see `written_rank`."""
        pairs = zip(self.rank.tolist(), self.size.tolist(), strict=True)
        return [written_rank(rank, is_tied=size > 1) for rank, size in pairs]


def written_rank(rank: int, *, is_tied: bool) -> str:
    """The rank for people: "1", "2=" in a tie, "1,000"."""
    return f"{rank:,}=" if is_tied else f"{rank:,}"


def ranks_of(queries: NDArray[np.integer], scores: NDArray[np.float64]) -> Ranks:
    """The ranks of scores, which must be finite; those with the same number in `queries` are ranked together."""
    order = np.lexsort((-scores, queries))
    runs = _Runs(queries[order], scores[order])
    rank, size = np.empty(len(order), dtype=np.int32), np.empty(len(order), dtype=np.int32)
    rank[order], size[order] = runs.ranks, runs.lengths
    return Ranks(rank, size)


@dataclass(frozen=True, slots=True, eq=False)
class RankedItems:
    """Contexts of one or more queries, queries by number and contexts in the order of their ranks; shape (n,).

    Without a score `ranks` is 0 and `scores` NaN. `tie_groups` numbers the ties of a query from 1; 0 is no tie.
    """

    items: NDArray[np.int64]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int64]
    tie_groups: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.items)

    def rows(self) -> Iterator[tuple[int, float, int, int]]:
        """Item number, score, rank and tie group of each context."""
        columns = (self.items, self.scores, self.ranks, self.tie_groups)
        return zip(*(column.tolist() for column in columns), strict=True)

    def part(self, start: int, stop: int | None) -> "RankedItems":
        """The contexts from index `start` to before `stop`."""
        wanted = slice(start, stop)
        return RankedItems(self.items[wanted], self.scores[wanted], self.ranks[wanted], self.tie_groups[wanted])

    def by_item(self) -> "RankedItems":
        """The same contexts in the order of the input."""
        order = np.argsort(self.items, kind="stable")
        return RankedItems(self.items[order], self.scores[order], self.ranks[order], self.tie_groups[order])


def ranked_items(table: ScoreTable, order: NDArray[np.int64]) -> RankedItems:
    """All contexts of the table, ranked; `order` is that of `tie_order.ranked_order`."""
    return _ranked(table.items[order], table.queries[order], table.scores[order])


@dataclass(frozen=True, slots=True)
class QueryScores:
    """The scores of one query in brief; `best` is NaN without a score, `second` with fewer than two."""

    query_no: int
    contexts: int
    scored: int
    best: float
    second: float


class RankedScores:
    """The scores of a table in the order of the ranking; 17 bytes each.

    `order` is that of `tie_order.ranked_order`, `version` the `data_version` from before the table was read.
    """

    def __init__(self, table: ScoreTable, order: NDArray[np.int64], version: bytes) -> None:
        self.version = version
        self._items = table.items[order]
        queries, self._scores = table.queries[order], table.scores[order]
        runs = _Runs(queries, self._scores)
        self._starts = np.flatnonzero(runs.starts_query)
        self._ranks = runs.ranks.astype(np.int32)
        self._has_score = ~np.isnan(self._scores)
        self._queries = queries[self._starts]  # those that have contexts

    def count(self, top_k: int | None, threshold: float | None) -> tuple[int, int]:
        """The number of scores ≥ `threshold` with a rank ≤ `top_k`, and of all scores. None is no limit."""
        kept = self._has_score if threshold is None else self._has_score & (self._scores >= threshold)
        if top_k is not None:
            kept = kept & (self._ranks <= top_k)
        return int(np.count_nonzero(kept)), int(np.count_nonzero(self._has_score))

    def of_query(self, query_no: int, start: int, stop: int | None) -> RankedItems:
        """The contexts of one query from index `start` to before `stop` of its ranking; empty without contexts."""
        at = int(np.searchsorted(self._queries, query_no))
        if at == len(self._queries) or self._queries[at] != query_no:
            first = last = 0
        else:
            first = int(self._starts[at])
            last = int(self._starts[at + 1]) if at + 1 < len(self._starts) else len(self._scores)
        if stop is not None:
            last = min(last, first + stop + 1)  # one more, to know whether the last one is in a tie
        scores = self._scores[first:last]
        return _ranked(self._items[first:last], np.zeros(len(scores), dtype=np.int32), scores).part(start, stop)

    def by_query(self) -> Iterator[QueryScores]:
        """The scores of each query that has contexts, by ascending query number."""
        lengths = np.diff(self._starts, append=len(self._scores))
        for start in range(0, len(self._queries), _BLOCK):
            some = slice(start, start + _BLOCK)
            starts, length = self._starts[some], lengths[some]
            end = int(starts[-1] + length[-1])
            scored = np.add.reduceat(self._has_score[:end], starts, dtype=np.int64)
            best = np.where(scored > 0, self._scores[starts], np.nan)
            second = np.where(scored > 1, self._scores[np.minimum(starts + 1, len(self._scores) - 1)], np.nan)
            columns = (self._queries[some], length, scored, best, second)
            yield from map(QueryScores, *(column.tolist() for column in columns))


def _ranked(items: NDArray[np.integer], queries: NDArray[np.integer], scores: NDArray[np.float64]) -> RankedItems:
    """The ranked items of rows that are in the order of the ranking already."""
    has_score = ~np.isnan(scores)
    runs = _Runs(queries, scores)
    tied = (runs.lengths > 1) & has_score
    return RankedItems(
        items.astype(np.int64),
        scores,
        np.where(has_score, runs.ranks, 0),
        np.where(tied, _counted_by_query(runs.starts & tied, runs.starts_query), 0),
    )


class _Runs:
    """Queries, and runs of equal scores in them, of rows sorted by query and descending score; shape (n,).

    `starts_query` and `starts` mark the first row of a query and of a run; `lengths` is the length of the row's run.
    """

    def __init__(self, queries: NDArray[np.integer], scores: NDArray[np.float64]) -> None:
        count = len(queries)
        index = np.arange(count)
        self.starts_query = np.ones(count, dtype=np.bool_)
        self.starts_query[1:] = queries[1:] != queries[:-1]
        self.starts = self.starts_query.copy()
        self.starts[1:] |= scores[1:] != scores[:-1]
        lengths = np.diff(np.flatnonzero(self.starts), append=count)
        self.lengths: NDArray[np.int64] = np.repeat(lengths, lengths)
        first_of_query = np.maximum.accumulate(np.where(self.starts_query, index, 0))
        first_of_run = np.maximum.accumulate(np.where(self.starts, index, 0))
        self.ranks: NDArray[np.int64] = first_of_run - first_of_query + 1


def _counted_by_query(marked: NDArray[np.bool_], starts: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each row the number of marked rows from the beginning of its query up to and including it."""
    counted = np.cumsum(marked)
    before = np.maximum.accumulate(np.where(starts, counted - marked, 0))
    result: NDArray[np.int64] = counted - before
    return result
