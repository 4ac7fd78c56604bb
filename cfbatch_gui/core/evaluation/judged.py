"""Metrics of several jobs by the labels of their files.

The labels of all jobs are merged, so that all jobs are measured by the same judgements. If two jobs label a text
differently, the label of the earlier job counts. As in trec_eval, scores are compared as float32, and of texts with
equal scores the one with the greater id comes first.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.comparison import Comparison
from cfbatch_gui.core.evaluation.joining import NOT_THERE
from cfbatch_gui.core.evaluation.metrics import Metric, usual_metrics
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.results.labels import NO_LABEL
from cfbatch_gui.core.results.numbers import distinct

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """The means of one run over the judged queries, by the metrics' names; a query without scores counts as 0.

    `without_answer` is the number of such queries.
    """

    means: dict[str, float]
    without_answer: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`queries` counts the queries of all jobs that have a label, `left_out` those of all jobs that have none.

    `conflicts` counts texts that two jobs label differently. `runs` are in the order of the comparison.
    """

    queries: int
    left_out: int
    conflicts: int
    runs: tuple[RunMetrics, ...]


def evaluate(comparison: Comparison, *, k: int = 10) -> Evaluation | None:
    """The metrics of each run with cut-off `k`, None if no job has labels. Raises DataError."""
    judged = _Judged(comparison)
    if not len(judged.queries):
        return None
    metrics = usual_metrics(k)
    return Evaluation(
        len(judged.queries),
        judged.asked_in_all - len(judged.queries),
        judged.conflicts,
        tuple(judged.measure(number, metrics) for number in range(len(comparison.runs))),
    )


class _Judged:
    """The merged labels of all jobs, by query.

    A document number identifies a text of a query: the index of its pair in the first job's table, or, for a text that
    the first job does not have, a number after these.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        base = comparison.runs[0]
        in_all = np.ones(len(base.table.asked), dtype=np.bool_)
        for joined in comparison.joined:
            asked = np.zeros(len(in_all), dtype=np.bool_)
            asked[joined.query_of[joined.query_of != NOT_THERE]] = True
            in_all &= asked
        self.asked_in_all = int(in_all.sum())
        self._documents = [self._known_by(number) for number in range(len(comparison.runs))]
        everything = []
        for run, joined, documents in zip(comparison.runs, comparison.joined, self._documents, strict=True):
            wanted = (run.labels != NO_LABEL) & (joined.query_of != NOT_THERE) & in_all[joined.query_of]
            everything.append(np.stack((documents[wanted], joined.query_of[wanted], run.labels[wanted])))
        document, query, label = np.concatenate(everything, axis=1)
        _, first, of = np.unique(document, return_index=True, return_inverse=True)
        self.conflicts = len(distinct(document[label != label[first][of]]))
        order = np.argsort(query[first], kind="stable")
        self._query, self._label = query[first][order], label[first][order]
        self.queries = distinct(self._query)
        size = 1 + max(int(each.max(initial=0)) for each in self._documents)
        self._label_of = np.full(size, NO_LABEL, dtype=np.int64)
        self._label_of[document[first]] = label[first]

    def measure(self, number: int, metrics: tuple[Metric, ...]) -> RunMetrics:
        """The means of all metrics for `runs[number]`."""
        run, joined = self._comparison.runs[number], self._comparison.joined[number]
        wanted = np.flatnonzero(run.table.has_score & np.isin(joined.query_of, self.queries))
        query = joined.query_of[wanted]
        order = _as_trec_eval(run, wanted, query)
        query, label = query[order], self._label_of[self._documents[number][wanted[order]]]
        starts, ends = np.searchsorted(query, self.queries), np.searchsorted(query, self.queries, side="right")
        first, last = np.searchsorted(self._query, self.queries), np.searchsorted(self._query, self.queries, "right")
        sums = dict.fromkeys((metric.name for metric in metrics), 0.0)
        for index in range(len(self.queries)):
            found, judged = label[starts[index] : ends[index]], self._label[first[index] : last[index]]
            for metric in metrics:
                sums[metric.name] += metric.of(found, judged)
        means = {name: total / len(self.queries) for name, total in sums.items()}
        return RunMetrics(means, int((starts == ends).sum()))

    def _known_by(self, number: int) -> Numbers:
        comparison = self._comparison
        pair_of, table = comparison.joined[number].pair_of, comparison.runs[number].table
        before = sum(len(run.table) for run in comparison.runs[:number])
        documents = before + np.arange(len(table))
        shared = np.flatnonzero(pair_of != NOT_THERE)
        documents[pair_of[shared]] = shared
        return documents


def _as_trec_eval(run: Run, pairs: Numbers, query: NDArray[np.int32]) -> Numbers:
    """The indices into `pairs` that sort them as trec_eval does: by query, score descending, id descending."""
    score = run.table.scores[pairs].astype(np.float32)
    order = np.lexsort((-score, query))
    ordered_query, ordered = query[order], score[order]
    begins = np.ones(len(order) + 1, dtype=np.bool_)
    begins[1:-1] = (ordered_query[1:] != ordered_query[:-1]) | (ordered[1:] != ordered[:-1])
    bounds = np.flatnonzero(begins)
    is_tie = np.diff(bounds) > 1
    ties = list(zip(bounds[:-1][is_tie].tolist(), bounds[1:][is_tie].tolist(), strict=True))
    names = run.documents(pairs[order[index]] for start, end in ties for index in range(start, end)) if ties else {}
    for start, end in ties:
        members = order[start:end].tolist()
        order[start:end] = sorted(members, key=lambda at: names[int(pairs[at])].encode(), reverse=True)
    return order
