"""How much two rankings of the same texts have in common.

*Overlap at depth d* compares the texts of rank ≤ d in the one with those in the other: twice what is in both, divided
by how many there are in each together. A tie is inside or outside as a whole, so that the same ranking is always 1.

*Rank-biased overlap* (RBO) is the mean of the overlaps at all depths, where each depth counts p times as much as the
one before: 1 for the same ranking, less the higher up two differ. With p = 0.9 the first ten depths have 86 % of the
weight. W. Webber, A. Moffat, J. Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28 (2010): equation 32
for lists of equal length, and its rule for ties.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.rankings.ranks import Ranks

P = 0.9
_DEEPEST = 200  # with p = 0.9 all deeper places together weigh less than 10^-9
_BLOCK = 2_048  # queries whose depths are in memory at once


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """For each query, shape (queries,), between 0 and 1; NaN without texts. `top` is the overlap at depth k, `first` at
    depth 1.
    """

    rbo: NDArray[np.float64]
    top: NDArray[np.float64]
    first: NDArray[np.float64]


def overlaps(
    queries: NDArray[np.integer], one: Ranks, other: Ranks, count: int, *, top_k: int = 10, p: float = P
) -> Overlaps:
    """`queries` numbers the query of each text from 0 to `count` - 1; the ranks are those among these texts."""
    order = np.argsort(queries, kind="stable")
    bounds = np.searchsorted(queries[order], np.arange(0, count + _BLOCK, _BLOCK))
    blocks = []
    for number, first in enumerate(range(0, count, _BLOCK)):
        indices = order[bounds[number] : bounds[number + 1]]
        size = min(_BLOCK, count - first)
        lengths = np.bincount(queries[indices] - first, minlength=size)
        shares = _shares(queries[indices] - first, one.rank[indices], other.rank[indices], lengths, top_k)
        blocks.append(_figures(shares, lengths, top_k, p))
    if not blocks:
        return Overlaps(np.zeros(0), np.zeros(0), np.zeros(0))
    return Overlaps(*(np.concatenate(each) for each in zip(*blocks, strict=True)))


def _shares(
    queries: NDArray[np.integer],
    one: NDArray[np.integer],
    other: NDArray[np.integer],
    lengths: NDArray[np.int64],
    top_k: int,
) -> NDArray[np.float64]:
    """The overlap of each query at each depth, shape (queries, depths)."""
    deepest = max(1, min(int(lengths.max(initial=0)), max(_DEEPEST, top_k)))

    def up_to(rank: NDArray[np.integer]) -> NDArray[np.int64]:
        """How many texts are in at each depth."""
        inside = rank <= deepest
        cells = queries[inside] * deepest + rank[inside] - 1
        counted = np.bincount(cells, minlength=len(lengths) * deepest)
        return np.cumsum(counted.reshape(len(lengths), deepest), axis=1)

    both = up_to(np.maximum(one, other))
    shares: NDArray[np.float64] = 2 * both / np.maximum(up_to(one) + up_to(other), 1)
    return shares


def _figures(
    shares: NDArray[np.float64], lengths: NDArray[np.int64], top_k: int, p: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    count, deepest = shares.shape
    rows, depths = np.arange(count), np.arange(1, deepest + 1)
    last = np.clip(lengths, 1, deepest)
    weighed = np.where(depths <= last[:, None], shares * p**depths, 0.0).sum(axis=1) * (1 - p) / p
    rbo = weighed + shares[rows, last - 1] * p**last
    top, first = shares[rows, np.minimum(last, top_k) - 1], shares[:, 0].copy()
    for values in (rbo, top, first):
        values[lengths == 0] = np.nan
    return rbo, top, first
