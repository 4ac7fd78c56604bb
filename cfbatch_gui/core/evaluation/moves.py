"""How much the ranking of each query differs between two jobs."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.comparison import Comparison
from cfbatch_gui.core.evaluation.overlap import P
from cfbatch_gui.core.results.rankings.query_texts import QueryTexts

TOP_K = 10
_BLOCK = 10_000  # queries


class QueryMove(msgspec.Struct, frozen=True, gc=False):
    """One query. `index` is its index in the comparison's queries, `contexts` the number of its compared texts.

    `rbo` and `top` are overlaps between 0 and 1, `top` that at depth k. `first_kept`: both rankings have a text of
    rank 1 in common. `mean_change` and `largest_change` are the mean and the maximum of the ranks by which a text rose
    or fell.
    """

    index: int
    id: str
    text: str
    contexts: int
    rbo: float
    top: float
    first_kept: bool
    mean_change: float
    largest_change: int


@dataclass(frozen=True, slots=True, eq=False)
class QueryMoves:
    """All queries in the order of the first job, as arrays of shape (queries,): a `QueryMove` each takes 200 bytes."""

    queries: QueryTexts
    contexts: NDArray[np.int64]
    rbo: NDArray[np.float64]
    top: NDArray[np.float64]
    first_kept: NDArray[np.bool_]
    mean_change: NDArray[np.float64]
    largest_change: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.queries)

    def __iter__(self) -> Iterator[QueryMove]:
        for start in range(0, len(self), _BLOCK):  # Python numbers take four times the memory of an array's
            yield from self._rows(slice(start, start + _BLOCK))

    def __getitem__(self, index: int) -> QueryMove:
        return next(self._rows(slice(index, index + 1)))

    def most_moved_first(self) -> NDArray[np.int64]:
        """The indices of the queries, by ascending `rbo` and then by descending largest change."""
        return np.lexsort((-self.largest_change, self.rbo))

    def _rows(self, some: slice) -> Iterator[QueryMove]:
        columns = (self.contexts, self.rbo, self.top, self.first_kept, self.mean_change, self.largest_change)
        figures = zip(*(column[some].tolist() for column in columns), strict=True)
        for index, (query, of_query) in enumerate(zip(self.queries[some], figures, strict=True), some.start):
            yield QueryMove(index, query.id, query.text, *of_query)


@dataclass(frozen=True, slots=True)
class MoveSummary:
    """The sum of the texts and the means of both overlaps over all queries.

    `other_first` counts queries whose texts of rank 1 are others, `unmoved` those in which no text changed its rank.
    """

    queries: int
    contexts: int
    rbo: float
    top: float
    other_first: int
    unmoved: int


def query_moves(comparison: Comparison, other: int, *, top_k: int = TOP_K, p: float = P) -> QueryMoves:
    """The moves from the first run to `comparison.runs[other]`."""
    found = comparison.overlaps(other, top_k=top_k, p=p)
    changes = np.abs(comparison.changes(other))
    count = len(comparison.queries)
    contexts = np.bincount(comparison.query, minlength=count)
    totals = np.bincount(comparison.query, weights=changes, minlength=count)
    largest = np.zeros(count, dtype=np.int32)
    np.maximum.at(largest, comparison.query, changes)
    return QueryMoves(comparison.queries, contexts, found.rbo, found.top, found.first > 0, totals / contexts, largest)


def summary(moves: QueryMoves) -> MoveSummary:
    """The summary of one query or more."""
    return MoveSummary(
        len(moves),
        int(moves.contexts.sum()),
        float(moves.rbo.mean()),
        float(moves.top.mean()),
        int((~moves.first_kept).sum()),
        int((moves.largest_change == 0).sum()),
    )
