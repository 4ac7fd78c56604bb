"""Ranks with ties, for many queries at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Shape (n,), in the order of the scores given. `rank` counts from 1 and is shared by a tie of `size` members."""

    rank: NDArray[np.int32]
    size: NDArray[np.int32]

    def part(self, places: NDArray[np.integer]) -> "Ranks":
        """Those at these places."""
        return Ranks(self.rank[places], self.size[places])

    def texts(self) -> list[str]:
        """As people write them: "1", "2=", "2=", "1,000"."""
        pairs = zip(self.rank.tolist(), self.size.tolist(), strict=True)
        return [f"{rank:,}=" if size > 1 else f"{rank:,}" for rank, size in pairs]


def ranks_of(queries: NDArray[np.integer], scores: NDArray[np.float64]) -> Ranks:
    """The highest score of each query is first; exactly equal ones share a rank. Scores are finite."""
    order = np.lexsort((-scores, queries))
    query, score = queries[order], scores[order]
    count = len(order)
    place = np.arange(count)
    starts_query = np.ones(count, dtype=np.bool_)
    starts_query[1:] = query[1:] != query[:-1]
    starts_tie = starts_query.copy()
    starts_tie[1:] |= score[1:] != score[:-1]
    first_of_query = np.maximum.accumulate(np.where(starts_query, place, 0))
    first_of_tie = np.maximum.accumulate(np.where(starts_tie, place, 0))
    lengths = np.diff(np.flatnonzero(starts_tie), append=count)
    rank, size = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    rank[order] = first_of_tie - first_of_query + 1
    size[order] = np.repeat(lengths, lengths)
    return Ranks(rank, size)
