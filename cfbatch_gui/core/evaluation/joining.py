"""How the queries and texts of several jobs match those of the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.matching import Keys, MatchedBy, match
from cfbatch_gui.core.evaluation.runs import Run
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


def join(runs: Sequence[Run]) -> tuple[Joined, ...]:
    """How each run matches the first, which matches itself. Blocking: seconds for a million pairs. Raises DataError."""
    base = _Base(runs[0])
    return (Joined({}, {}, base.query_of, _counted(base.table)), *(base.join(run) for run in runs[1:]))


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
