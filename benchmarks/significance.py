"""Whether the answer "B is better" can be trusted: how often the interval holds the truth, how often it alarms falsely.

Two simulated rankers score twenty texts of each query with noise of different size; the true difference is the mean
over 200,000 queries. Of 2,000 draws of 10, 30 and 100 queries each, 93 to 97 % of the 95 % intervals must hold it.
Where both have the same noise there is no difference; the test may see one in 6 % of the draws at most.
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks.limits import Figures
from cfbatch_gui.core.evaluation.metrics import ndcg
from cfbatch_gui.core.evaluation.significance import LEVEL, mean_interval, randomisation_p

QUERIES, TEXTS, K = 200_000, 20, 10
RUNS = 2_000
SIZES = (10, 30, 100)
LEAST, MOST, FALSE_ALARMS = 93.0, 97.0, 6.0
_SHARES = (0.7, 0.15, 0.1, 0.05)  # of the grades 0 to 3

Values = NDArray[np.float64]


def main(figures: Figures) -> None:
    """Coverage and false alarms for each number of queries."""
    draw = np.random.default_rng(20_261_124)
    better = differences(draw, 1.0, 0.7)
    equal = differences(draw, 1.0, 1.0)
    truth = float(better.mean())
    figures.add("true difference of nDCG@10", truth, "", note="over 200,000 simulated queries")
    for size in SIZES:
        held = sum(_holds(draw.choice(better, size), truth) for _ in range(RUNS))
        share = held / RUNS * 100
        figures.add(f"95 % intervals that hold it, {size} queries", share, "%", limit=LEAST, is_least=True)
        figures.add("the same, not too wide", share, "%", limit=MOST)
    for size in SIZES:
        seen = sum(randomisation_p(draw.choice(equal, size)) < LEVEL for _ in range(RUNS))
        figures.add(f"false alarms, {size} queries", seen / RUNS * 100, "%", limit=FALSE_ALARMS)


def differences(draw: np.random.Generator, noise: float, other_noise: float) -> Values:
    """nDCG@10 of the other ranker less that of the first, of each query."""
    found = np.empty(QUERIES)
    for start in range(0, QUERIES, 10_000):
        grades = draw.choice(len(_SHARES), (10_000, TEXTS), p=_SHARES)
        one, other = (_values(grades, draw, each) for each in (noise, other_noise))
        found[start : start + 10_000] = other - one
    return found


def _values(grades: NDArray[np.int64], draw: np.random.Generator, noise: float) -> Values:
    """nDCG@10 of a ranking by the grades with noise, of each row; 0 for one without a relevant text."""
    order = np.argsort(-(grades + noise * draw.standard_normal(grades.shape)), axis=1)
    ranked = np.take_along_axis(grades, order, axis=1)
    discounts = 1 / np.log2(np.arange(2, K + 2))
    ideal = (-np.sort(-grades, axis=1)[:, :K] * discounts).sum(axis=1)
    found = (ranked[:, :K] * discounts).sum(axis=1) / np.where(ideal > 0, ideal, 1)
    assert abs(found[0] - ndcg(ranked[0], grades[0], K)) < 1e-9  # as the program has it
    return np.asarray(found)


def _holds(values: Values, truth: float) -> bool:
    interval = mean_interval(values)
    return interval is not None and interval[0] <= truth <= interval[1]
