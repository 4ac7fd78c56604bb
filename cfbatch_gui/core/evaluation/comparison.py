"""The comparison of two or more ranking jobs over the same items.

The compared pairs of a query with a text are those that every job has scored. They are ranked among themselves: if all
jobs have the same texts, their ranks are those on the ranking page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.matching import Keys, MatchedBy, match
from cfbatch_gui.core.evaluation.overlap import Overlaps, P, overlaps
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.results.rankings.query_texts import QueryTexts, read_queries
from cfbatch_gui.core.results.rankings.ranks import Ranks, ranks_of
from cfbatch_gui.core.results.rankings.score_table import (
    Hashes,
    ScoreTable,
    count_ids,
    has_same_input,
    read_query_hashes,
    read_text_hashes,
)

Numbers = NDArray[np.int32]
NOT_THERE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """How the items of a job match those of the first. `queries` and `texts` count the matches by their kind.

    `query_of[i]` is the index of the first job's query for pair i of this job, `pair_of[i]` the index of this job's
    pair for pair i of the first job; NOT_THERE if there is none.
    """

    queries: dict[MatchedBy, int]
    texts: dict[MatchedBy, int]
    query_of: Numbers
    pair_of: Numbers


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
        raise UsageError("A comparison needs two jobs or more.")
    base = _Base(runs[0])
    joined = (Joined({}, {}, base.query_of, _counted(base.table)), *(base.join(run) for run in runs[1:]))
    there = np.ones(len(base.table), dtype=np.bool_)
    for run, each in zip(runs, joined, strict=True):
        there &= (each.pair_of != NOT_THERE) & run.table.has_score[np.maximum(each.pair_of, 0)]
    if not there.any():
        names = " and ".join(f"“{run.metadata.name}”" for run in runs)
        raise UsageError(
            f"{names} have no query with a text in common that both have scored: neither texts nor ids are the same."
        )
    pairs = np.flatnonzero(there)
    asked = base.query_of[pairs]
    used = np.flatnonzero(np.bincount(asked))
    number = np.zeros(len(base.table.asked), dtype=np.int32)
    number[used] = np.arange(len(used))
    query = number[asked]
    indices = tuple(each.pair_of[pairs] for each in joined)
    scores = tuple(run.table.scores[index] for run, index in zip(runs, indices, strict=True))
    return Comparison(
        tuple(runs),
        joined,
        read_queries(runs[0].folder, base.table.asked[used]),
        query,
        indices,
        scores,
        tuple(ranks_of(query, each) for each in scores),
    )


class _Base:
    """The first job. The hashes of its texts are read once, and not at all if all jobs have the same input."""

    def __init__(self, run: Run) -> None:
        self.table = run.table
        self.query_of = run.table.query_indices()
        self._run = run

    @cached_property
    def _queries(self) -> Hashes:
        return read_query_hashes(self._run.folder, self.table)

    @cached_property
    def _texts(self) -> Hashes:
        return read_text_hashes(self._run.folder, self.table)

    def join(self, run: Run) -> Joined:
        if has_same_input(self._run.folder, self.table, run.folder, run.table):
            return self._joined_as_it_is()
        queries = match(_query_keys(self._queries), _query_keys(read_query_hashes(run.folder, run.table)))
        in_base = np.full(len(run.table.asked), NOT_THERE, dtype=np.int32)
        in_base[queries.theirs] = queries.ours
        matched = np.zeros(len(self.table.asked), dtype=np.bool_)
        matched[queries.ours] = True
        theirs = in_base[run.table.query_indices()]
        here, there = np.flatnonzero(matched[self.query_of]), np.flatnonzero(theirs != NOT_THERE)
        of_run = read_text_hashes(run.folder, run.table)
        texts = match(_text_keys(self._texts, self.query_of, here), _text_keys(of_run, theirs, there))
        pair_of = np.full(len(self.table), NOT_THERE, dtype=np.int32)
        pair_of[here[texts.ours]] = there[texts.theirs]
        return Joined(queries.by, texts.by, theirs, pair_of)

    def _joined_as_it_is(self) -> Joined:
        """The result that matching would have for a job of the same input, which is the usual case."""
        queries, texts = count_ids(self._run.folder)
        return Joined(
            _all_matched(queries, len(self.table.asked)),
            _all_matched(texts, len(self.table)),
            self.query_of,
            _counted(self.table),
        )


def _all_matched(with_id: int, count: int) -> dict[MatchedBy, int]:
    return {MatchedBy.ID_AND_TEXT: with_id, MatchedBy.TEXT: count - with_id, MatchedBy.ID: 0}


def _counted(table: ScoreTable) -> Numbers:
    return np.arange(len(table), dtype=np.int32)


def _query_keys(hashes: Hashes) -> Keys:
    return Keys(np.zeros(len(hashes.ids), dtype=np.int32), hashes.ids, hashes.texts)


def _text_keys(hashes: Hashes, query_of: Numbers, pairs: NDArray[np.int64]) -> Keys:
    return Keys(query_of[pairs], hashes.ids[pairs], hashes.texts[pairs])
