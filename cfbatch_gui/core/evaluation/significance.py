"""Whether one ranking is better than another over the same queries.

p is that of the paired randomisation test (Smucker, Allan, Carterette, CIKM 2007). The interval's ends are the farther
ones of the expanded bootstrap's (Hesterberg, 2015) and of Student's; alone either is too narrow for ten queries
(`benchmarks/significance.py`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

LEAST_QUERIES = 5  # with fewer the randomisation test cannot go below p = 0.05
LEVEL = 0.05
TOLD_APART = 0.05  # the difference that `needed` is for
_SAME = 1e-9  # a smaller difference of one query is none
_POWER = 0.8
_SEED = 20_261_123
_ENUMERATED = 14  # differing queries; up to so many all signs are tried
_FLIPS, _RESAMPLES = 50_000, 20_000
_MOST_DRAWS = 100_000_000  # in all; with thousands of queries there are fewer flips and resamples
_BLOCK_DRAWS = 4_000_000
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Paired:
    """B less A.

    `low` and `high` are of the 95 % interval, None for fewer than LEAST_QUERIES; `p` is two-sided. `needed` more
    queries would show a difference of TOLD_APART four times in five.
    """

    better: int
    worse: int
    same: int
    difference: float
    low: float | None
    high: float | None
    p: float
    needed: int | None

    @property
    def is_seen(self) -> bool:
        """Whether a difference can be seen: by the test and by the interval, so that neither contradicts the words."""
        if self.low is None or self.high is None:
            return False
        return self.p < LEVEL and (self.low > 0 or self.high < 0)


def compare_pairs(first: Values, others: Sequence[Values]) -> tuple[Paired, ...]:
    """Compare each of `others` with `first`; all have shape (queries,). p values are corrected by Holm's method."""
    differences = [other - first for other in others]
    adjusted = holm([randomisation_p(each) for each in differences])
    return tuple(_paired(each, p) for each, p in zip(differences, adjusted, strict=True))


def randomisation_p(differences: Values) -> float:
    """The two-sided p value of the paired randomisation test, 1.0 if no query differs."""
    nonzero = differences[np.abs(differences) > _SAME]
    if not len(nonzero):
        return 1.0
    observed = abs(float(nonzero.sum())) - _SAME
    if len(nonzero) <= _ENUMERATED:
        signs = (np.arange(2 ** len(nonzero))[:, None] >> np.arange(len(nonzero)) & 1) * 2.0 - 1.0
        return float((np.abs(signs @ nonzero) >= observed).mean())
    draw = np.random.default_rng(_SEED)
    extreme = count = 0
    for size in _blocks(_FLIPS, len(nonzero)):
        heads = draw.integers(0, 2, (size, len(nonzero)), dtype=np.int8).astype(np.float64)
        extreme += int((np.abs(2 * (heads @ nonzero) - nonzero.sum()) >= observed).sum())
        count += size
    return (extreme + 1) / (count + 1)  # what was observed is one of the possible outcomes


def mean_interval(values: Values) -> tuple[float, float] | None:
    """The 95 % interval of the mean, by the bootstrap and at least Student's; None for fewer than LEAST_QUERIES."""
    count = len(values)
    if count < LEAST_QUERIES:
        return None
    draw = np.random.default_rng(_SEED)
    means = [
        values[draw.integers(0, count, (size, count), dtype=np.int32)].mean(axis=1)
        for size in _blocks(_RESAMPLES, count)
    ]
    # Resampled means vary too little, by the factor (n - 1) / n, and their percentiles are those of a normal
    # distribution where Student's is due.
    tail = _NORMAL.cdf(-math.sqrt(count / (count - 1)) * _student_quantile(count - 1))
    low, high = np.quantile(np.concatenate(means), (tail, 1 - tail)).tolist()
    half = _student_quantile(count - 1) * float(values.std(ddof=1)) / math.sqrt(count)
    return min(low, float(values.mean()) - half), max(high, float(values.mean()) + half)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p values corrected for their number, in their order (S. Holm, 1979); each at most 1.0."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)


def _paired(differences: Values, p: float) -> Paired:
    better, worse = int((differences > _SAME).sum()), int((differences < -_SAME).sum())
    interval = mean_interval(differences)
    return Paired(
        *(better, worse, len(differences) - better - worse),
        difference=float(differences.mean()) if len(differences) else 0.0,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        p=p,
        needed=_needed(differences),
    )


def _needed(differences: Values) -> int | None:
    """How many more queries are needed to see a mean difference of TOLD_APART, rounded up to two digits."""
    if len(differences) < LEAST_QUERIES:
        return None
    variance = float(differences.var(ddof=1))
    if variance <= _SAME:
        return None
    quantiles = _NORMAL.inv_cdf(1 - LEVEL / 2) + _NORMAL.inv_cdf(_POWER)
    more = math.ceil(variance * (quantiles / TOLD_APART) ** 2) - len(differences)
    if more <= 0:
        return 0
    step = int(10 ** max(0, len(str(more)) - 2))
    return -(-more // step) * step


def _student_quantile(freedom: int) -> float:
    """The 97.5th percentile of Student's distribution (Abramowitz and Stegun, 26.7.5)."""
    z = _NORMAL.inv_cdf(1 - LEVEL / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + math.fsum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def _blocks(wanted: int, count: int) -> list[int]:
    """Sizes of blocks that are `wanted` draws of `count` values together, or as many as _MOST_DRAWS allows."""
    left = max(1_000, min(wanted, _MOST_DRAWS // count))
    size = max(1, _BLOCK_DRAWS // count)
    return [min(size, left - start) for start in range(0, left, size)]
