"""The documents of several runs, each of which is counted once.

A text that runs have in common is one document. So is an id that a query of one run lists twice, as in the exported run
and in qrels, where a line is known by its ids.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.joining import NOT_THERE, Joined
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.results.rankings.score_table import NO_ID, count_ids, read_id_hashes

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """`of_run[r]` has the number of the document of each pair of run r, NOT_THERE if not all runs have its query.

    The numbers are below `count`, with gaps. `queries` are the indices of the queries that all runs have, ascending, in
    the `asked` of the first run's table.
    """

    of_run: tuple[Numbers, ...]
    queries: Numbers
    count: int


def documents_of(runs: Sequence[Run], joined: Sequence[Joined]) -> Documents:
    """The documents of these runs. Blocking: half a second for a million pairs with ids. Raises DataError."""
    in_all = np.ones(len(runs[0].table.asked), dtype=np.bool_)
    for each in joined:
        asked = np.zeros(len(in_all), dtype=np.bool_)
        asked[each.query_of[each.query_of != NOT_THERE]] = True
        in_all &= asked
    numbers: list[Numbers] = []
    before = 0
    for run, each in zip(runs, joined, strict=True):
        found = before + np.arange(len(run.table), dtype=np.int64)
        if before:
            shared = np.flatnonzero(each.pair_of != NOT_THERE)
            found[each.pair_of[shared]] = numbers[0][shared]
        found = found[_first_of_id(run)]
        found[(each.query_of == NOT_THERE) | ~in_all[each.query_of]] = NOT_THERE
        numbers.append(found)
        before += len(run.table)
    return Documents(tuple(numbers), np.flatnonzero(in_all), before)


def _first_of_id(run: Run) -> Numbers:
    """For each pair the index of the first pair of its query that has its id, which mostly is its own; (pairs,)."""
    own = np.arange(len(run.table), dtype=np.int64)
    if not count_ids(run.folder)[1]:
        return own
    ids = read_id_hashes(run.folder, run.table)
    named = np.flatnonzero(ids != NO_ID)
    order = named[np.lexsort((run.table.positions[named], ids[named], run.table.queries[named]))]
    starts = np.ones(len(order), dtype=np.bool_)
    queries, names = run.table.queries[order], ids[order]
    starts[1:] = (queries[1:] != queries[:-1]) | (names[1:] != names[:-1])
    own[order] = order[starts][np.cumsum(starts) - 1]
    return own
