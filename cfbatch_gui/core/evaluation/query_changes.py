"""What each judged query adds to the difference between two jobs, and where its best text went."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.comparison import Comparison
from cfbatch_gui.core.evaluation.joining import NOT_THERE
from cfbatch_gui.core.evaluation.judged import Evaluation, RunMeasures
from cfbatch_gui.core.evaluation.runs import Run


class JudgedQuery(msgspec.Struct, frozen=True, gc=False):
    """One query of an evaluation. `judged` of the first `top` texts are judged.

    `best` is the text with the highest grade that has a score, "" without a relevant one; `best_rank` its rank, 0 for
    none.
    """

    index: int
    number: int
    id: str
    text: str
    value: float
    judged: int
    top: int
    best: str
    best_rank: int


class QueryChange(msgspec.Struct, frozen=True, gc=False):
    """One query under both jobs. `best` is the best text of the first job, or else of the other; its ranks are 0 where
    the job has no score for it.
    """

    index: int
    number: int
    text: str
    value: float
    other_value: float
    best: str
    rank: int
    other_rank: int

    @property
    def difference(self) -> float:
        """How much better the other job is."""
        return self.other_value - self.value


def judged_queries(run: Run, evaluation: Evaluation, metric: str) -> tuple[JudgedQuery, ...]:
    """The queries of the evaluation of this one run, in their order, with a measure by its name. Raises DataError."""
    (measures,) = evaluation.runs
    best = _texts(run, measures.best_pair)
    columns = (measures.values[metric], measures.judged_top, measures.top, measures.best_rank)
    return tuple(
        JudgedQuery(index, query.number, query.id, query.text, value, judged, top, text, rank)
        for index, (query, text, value, judged, top, rank) in enumerate(
            zip(evaluation.queries, best, *(column.tolist() for column in columns), strict=True)
        )
    )


def query_changes(comparison: Comparison, evaluation: Evaluation, other: int, metric: str) -> tuple[QueryChange, ...]:
    """The judged queries under the first run and `comparison.runs[other]`; those where it gained most first.

    Raises DataError.
    """
    ours, theirs = evaluation.runs[0], evaluation.runs[other]
    pair_of = comparison.joined[other].pair_of
    in_first = np.full(len(comparison.runs[other].table), NOT_THERE, dtype=np.int64)
    matched = np.flatnonzero(pair_of != NOT_THERE)
    in_first[pair_of[matched]] = matched
    from_other = np.where(theirs.best_pair != NOT_THERE, in_first[theirs.best_pair], NOT_THERE)
    pairs = np.where(ours.best_pair != NOT_THERE, ours.best_pair, from_other)
    texts = _texts(comparison.runs[0], pairs)
    ranks = [_ranks(comparison, number, pairs) for number in (0, other)]
    columns = (_values(ours, metric), _values(theirs, metric), *ranks)
    found = [
        QueryChange(index, query.number, query.text, value, other_value, text, rank, other_rank)
        for index, (query, text, value, other_value, rank, other_rank) in enumerate(
            zip(evaluation.queries, texts, *(column.tolist() for column in columns), strict=True)
        )
    ]
    return tuple(sorted(found, key=lambda each: -each.difference))


def _values(measures: RunMeasures, metric: str) -> NDArray[np.float64]:
    return measures.values[metric]


def _texts(run: Run, pairs: NDArray[np.int64]) -> list[str]:
    """The texts of these pairs of the run's table, "" for NOT_THERE."""
    found = run.texts(pairs[pairs != NOT_THERE].tolist())
    return [found[pair].text if pair != NOT_THERE else "" for pair in pairs.tolist()]


def _ranks(comparison: Comparison, number: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ranks in run `number` of these pairs of the first run's table; 0 for those that are not compared."""
    of_pair = np.zeros(len(comparison.runs[0].table), dtype=np.int64)
    of_pair[comparison.indices[0]] = comparison.ranks[number].rank
    return np.where(pairs != NOT_THERE, of_pair[pairs], 0)
