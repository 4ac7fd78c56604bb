"""The distribution of a job's scores, and a baseline of texts with other questions.

A text ranked for several queries makes *other pairs* with all but its best, unless it stands first or is labelled
relevant there. With all texts under every query, one in ten unrelated pairs lies above their ninetieth percentile;
candidates that were picked are named apart.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.labels import NO_LABEL, read_labels
from cfbatch_gui.core.results.numbers import distinct, round_step
from cfbatch_gui.core.results.score_table import (
    ScoreTable,
    read_query_hashes,
    read_score_table,
    read_text_hashes,
)

LEAST_PAIRS = 20  # for fewer other pairs the ninetieth percentile is not meaningful
LEAST_QUERIES = 10
_MOST_BINS = 50


class Baseline(StrEnum):
    """Whether there is a baseline, and if not, the reason."""

    THERE = "there"
    NO_TEXT_TWICE = "no text under two queries"
    TOO_FEW_QUERIES = "fewer than ten queries"
    TOO_FEW = "too few pairs"


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution of scores; `tenth`, `median` and `ninetieth` are the 10th, 50th and 90th percentiles."""

    count: int
    lowest: float
    tenth: float
    median: float
    ninetieth: float
    highest: float
    mean: float


@dataclass(frozen=True, slots=True, eq=False)
class ScoreFigures:
    """The scores of one job; `counts` (n,) and `other_counts` are histograms over `edges` (n + 1,).

    `others` is None unless `baseline` is THERE; `above` counts scores above its 90th percentile.
    """

    queries: int
    contexts: int
    scored: int
    first_tied: int
    spread: Spread | None
    baseline: Baseline
    other_pairs: int
    others: Spread | None
    is_whole_pool: bool
    above: int
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    other_counts: NDArray[np.int64]

    @property
    def is_partial(self) -> bool:
        return self.scored < self.contexts


def score_figures(folder: JobFolder) -> ScoreFigures:
    """Compute the figures of a ranking job. Blocking: some seconds for a million scores. Raises DataError."""
    table = read_score_table(folder)
    with folder.open(read_only=True) as database:
        # The label of a text that all queries share is no judgement of a pair.
        judges = schema.metadata_value(database, "layout") != Layout.SHARED
        labels = read_labels(database, table.texts) if judges else np.full(len(table), NO_LABEL)
    texts, queries = read_text_hashes(folder, table).texts, read_query_hashes(folder, table).texts
    found = _other_pairs(table, texts, queries, labels)
    there = table.has_score
    scores = table.scores[there]
    pairs = table.scores[found.others]
    baseline = Baseline.NO_TEXT_TWICE
    if found.seen_twice and found.queries < LEAST_QUERIES:
        baseline = Baseline.TOO_FEW_QUERIES
    elif found.seen_twice:
        baseline = Baseline.THERE if len(pairs) >= LEAST_PAIRS else Baseline.TOO_FEW
    beside = spread_of(pairs) if baseline is Baseline.THERE else None
    edges = _edges(scores)
    return ScoreFigures(
        queries=len(table.asked),
        contexts=len(table),
        scored=len(scores),
        first_tied=_first_tied(table.queries[there], scores),
        spread=spread_of(scores),
        baseline=baseline,
        other_pairs=len(pairs),
        others=beside,
        is_whole_pool=found.is_whole_pool,
        above=int((scores > beside.ninetieth).sum()) if beside else 0,
        edges=edges,
        counts=_counted(scores, edges),
        other_counts=_counted(pairs if beside else pairs[:0], edges),
    )


def spread_of(scores: NDArray[np.float64]) -> Spread | None:
    """The distribution of finite scores, None without any."""
    if not len(scores):
        return None
    lowest, tenth, median, ninetieth, highest = np.quantile(scores, (0.0, 0.1, 0.5, 0.9, 1.0)).tolist()
    return Spread(len(scores), lowest, tenth, median, ninetieth, highest, float(scores.mean()))


@dataclass(frozen=True, slots=True, eq=False)
class _OtherPairs:
    """`others` is a mask (pairs,); `seen_twice`: some text is scored for two queries."""

    others: NDArray[np.bool_]
    queries: int = 0
    seen_twice: bool = False
    is_whole_pool: bool = False


def _other_pairs(
    table: ScoreTable, texts: NDArray[np.int64], asked: NDArray[np.int64], labels: NDArray[np.int64]
) -> _OtherPairs:
    """The pairs of a text with a query that it fits less well than another; texts are hashes."""
    nothing = np.zeros(len(table), dtype=np.bool_)
    known, text = np.unique(texts, return_inverse=True)
    if len(known) == len(table):
        return _OtherPairs(nothing)
    # Two queries with the same text and different ids count as one.
    query = np.unique(asked, return_inverse=True)[1][table.query_indices()]
    there = table.has_score
    queries = int(query.max(initial=0)) + 1
    pairs = distinct(text[there] * queries + query[there])
    queries_of_text = np.bincount(pairs // queries, minlength=len(known))
    if not (queries_of_text > 1).any():
        return _OtherPairs(nothing)
    scores = np.where(there, table.scores, -np.inf)
    others = there & (labels <= 0) & (queries_of_text[text] > 1)
    others &= scores < _most(scores, text)[text]  # the text fits another query better
    others &= scores < _most(scores, query)[query]  # and is not the best of this query
    all_pairs = distinct(text * queries + query)  # also without a score: a request may have failed
    return _OtherPairs(others, len(distinct(query[there])), True, len(all_pairs) == len(known) * queries)


def _most(scores: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    highest = np.full(int(group.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(highest, group, scores)
    return highest


def _first_tied(queries: NDArray[np.int32], scores: NDArray[np.float64]) -> int:
    highest = _most(scores, queries.astype(np.int64))
    at_top = np.bincount(queries[scores == highest[queries]], minlength=1) if len(scores) else np.zeros(1)
    return int((at_top > 1).sum())


def _edges(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The edges of at most about `_MOST_BINS` bins: multiples of a round step, around all scores."""
    if not len(scores):
        return np.zeros(0)
    low, high = float(scores.min()), float(scores.max())
    rough = max((high - low) / _MOST_BINS, abs(high) * 1e-9, 1e-9)
    step = round_step(rough)
    # One more at both ends, since the quotients are rounded; those that hold nothing are left out again. Each edge is
    # the double nearest to its decimal number, as a score is: 3 · 0.1 would lie above the score 0.3.
    first, last = math.floor(low / step) - 1, math.floor(high / step) + 2
    decimals = max(0, 1 - math.floor(math.log10(step)))
    edges = np.array([round(number * step, decimals) for number in range(first, last + 1)], dtype=np.float64)
    return edges[np.searchsorted(edges, low, side="right") - 1 : np.searchsorted(edges, high, side="right") + 1]


def _counted(scores: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    if not len(edges):
        return np.zeros(0, dtype=np.int64)
    return np.histogram(scores, bins=edges)[0].astype(np.int64)
