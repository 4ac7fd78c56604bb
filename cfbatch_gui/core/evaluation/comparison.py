"""The comparison of two or more ranking jobs over the same items.

The compared pairs of a query with a text are those that every job has scored. They are ranked among themselves: if all
jobs have the same texts, their ranks are those on the ranking page.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.joining import NOT_THERE, Joined, Numbers, join
from cfbatch_gui.core.evaluation.overlap import Overlaps, P, overlaps
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.messages import enumerated, message
from cfbatch_gui.core.results.rankings.query_texts import QueryTexts, read_queries
from cfbatch_gui.core.results.rankings.ranks import Ranks, ranks_of


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """`runs[0]` is the run that the others are compared with; `joined[r]` is how run r was matched with it.

    `queries` are those with compared pairs, in the order of the first job. The arrays have shape (compared pairs,):
    `query` is the index of each pair's query in `queries`; `indices[r]`, `scores[r]` and `ranks[r]` are the pair's
    index in the table of run r, its score and its rank in that run.
    """

    runs: tuple[Run, ...]
    joined: tuple[Joined, ...]
    queries: QueryTexts
    query: Numbers
    indices: tuple[Numbers, ...]
    scores: tuple[NDArray[np.float64], ...]
    ranks: tuple[Ranks, ...]

    @property
    def is_partial(self) -> bool:
        """Whether a job has contexts without a score."""
        return any(run.is_partial for run in self.runs)

    def overlaps(self, other: int, *, top_k: int = 10, p: float = P) -> Overlaps:
        """For each query the overlaps of the first run with `runs[other]`."""
        return overlaps(self.query, self.ranks[0], self.ranks[other], len(self.queries), top_k=top_k, p=p)

    def changes(self, other: int) -> Numbers:
        """How many ranks each pair rose from the first run to `runs[other]`; negative if it fell."""
        result: Numbers = self.ranks[0].rank - self.ranks[other].rank
        return result

    def in_order(self) -> NDArray[np.int64]:
        """The indices of all compared pairs, queries in the order of the first job and texts by their rank there."""
        return np.lexsort((self.indices[0], self.ranks[0].rank, self.query))

    def of_query(self, index: int) -> NDArray[np.int64]:
        """The indices of one query's compared pairs, by their rank in the first run; `index` counts `queries`."""
        found = np.flatnonzero(self.query == index)
        order = np.lexsort((found, self.ranks[0].rank[found]))
        result: NDArray[np.int64] = found[order]
        return result


def compare(runs: Sequence[Run]) -> Comparison:
    """Compare the runs with the first. Blocking: some seconds for a million pairs in each.

    Raises UsageError for fewer than two runs or without a common pair, and DataError.
    """
    if len(runs) < 2:
        raise UsageError(message("A comparison needs two jobs or more."))
    base, joined = runs[0].table, join(runs)
    there = np.ones(len(base), dtype=np.bool_)
    for run, each in zip(runs, joined, strict=True):
        there &= (each.pair_of != NOT_THERE) & run.table.has_score[np.maximum(each.pair_of, 0)]
    if not there.any():
        names = enumerated([f"“{run.metadata.name}”" for run in runs])
        raise UsageError(
            message(
                "{names} have no query with a text in common that both have scored: neither texts nor ids are the "
                "same.",
                names=names,
            )
        )
    pairs = np.flatnonzero(there)
    asked = joined[0].query_of[pairs]
    used = np.flatnonzero(np.bincount(asked))
    number = np.zeros(len(base.asked), dtype=np.int32)
    number[used] = np.arange(len(used))
    query = number[asked]
    indices = tuple(each.pair_of[pairs] for each in joined)
    scores = tuple(run.table.scores[index] for run, index in zip(runs, indices, strict=True))
    return Comparison(
        tuple(runs),
        joined,
        read_queries(runs[0].folder, base.asked[used]),
        query,
        indices,
        scores,
        tuple(ranks_of(query, each) for each in scores),
    )
