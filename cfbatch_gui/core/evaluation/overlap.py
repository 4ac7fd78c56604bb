"""Overlap measures for two rankings of the same texts.

*Overlap at depth d* is twice the number of texts with rank ≤ d in both rankings, divided by the sum of the numbers of
texts with rank ≤ d in each. A tie is counted as a whole or not at all, so that two equal rankings have an overlap of 1.

*Rank-biased overlap* (RBO) is the weighted mean of the overlaps at all depths; the weight falls by the factor p from
each depth to the next. It is 1 for equal rankings, and the lower the higher up they differ. With p = 0.9 the first ten
depths have 86 % of the weight. W. Webber, A. Moffat, J. Zobel, "A similarity measure for indefinite rankings", ACM TOIS
28 (2010): equation 32 for lists of equal length, and its rule for ties.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.rankings.ranks import Ranks

P = 0.9
_DEEPEST = 200  # depths; with p = 0.9 all deeper ones together weigh less than 10^-9
_BLOCK = 2_048  # queries whose depths are in memory at once


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """Values between 0 and 1 for each query, of shape (queries,); NaN for a query without texts. `top` is the overlap
    at depth k, `first` that at depth 1.
    """

    rbo: NDArray[np.float64]
    top: NDArray[np.float64]
    first: NDArray[np.float64]


def overlaps(
    queries: NDArray[np.integer], one: Ranks, other: Ranks, count: int, *, top_k: int = 10, p: float = P
) -> Overlaps:
    """`queries[i]` is the query of text i, from 0 to `count` - 1; `one` and `other` rank the texts of each query."""
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
    """The overlap of each query at each depth from 1, of shape (queries, depths)."""
    deepest = max(1, min(int(lengths.max(initial=0)), max(_DEEPEST, top_k)))

    def up_to(rank: NDArray[np.integer]) -> NDArray[np.int64]:
        """The number of texts with rank ≤ depth, of shape (queries, depths)."""
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
