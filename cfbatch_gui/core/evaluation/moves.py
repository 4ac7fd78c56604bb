"""How far each query's ranking has moved from one job to another."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from cfbatch_gui.core.evaluation.comparison import Comparison
from cfbatch_gui.core.evaluation.overlap import P

TOP_K = 10
_BLOCK = 10_000  # queries


class QueryMove(msgspec.Struct, frozen=True, gc=False):
    """`place` is its number in the comparison's queries. `rbo` and `top` are overlaps between 0 and 1, `top` among the
    first k. `first_kept`: the two first places have a text in common. `mean_change` is the mean number of ranks that a
    text has risen or fallen, `largest_change` the most of them.
    """

    place: int
    id: str
    text: str
    contexts: int
    rbo: float
    top: float
    first_kept: bool
    mean_change: float
    largest_change: int


@dataclass(frozen=True, slots=True)
class MoveSummary:
    """Over all queries: the means of both overlaps, how many have another first place, how many have not moved."""

    queries: int
    contexts: int
    rbo: float
    top: float
    other_first: int
    unmoved: int


def query_moves(comparison: Comparison, other: int, *, top_k: int = TOP_K, p: float = P) -> tuple[QueryMove, ...]:
    """One for each query, in the order of the first job, from it to run number `other`."""
    found = comparison.overlaps(other, top_k=top_k, p=p)
    changes = np.abs(comparison.changes(other))
    count = len(comparison.queries)
    contexts = np.bincount(comparison.query, minlength=count)
    totals = np.bincount(comparison.query, weights=changes, minlength=count)
    largest = np.zeros(count, dtype=np.int64)
    np.maximum.at(largest, comparison.query, changes)
    columns = (contexts, found.rbo, found.top, found.first > 0, totals / contexts, largest)
    moves: list[QueryMove] = []
    for start in range(0, count, _BLOCK):  # Python's own numbers take four times the room of an array's
        of_block = zip(*(column[start : start + _BLOCK].tolist() for column in columns), strict=True)
        for place, figures in enumerate(of_block, start):
            query = comparison.queries[place]
            moves.append(QueryMove(place, query.id, query.text, *figures))
    return tuple(moves)


def summary(moves: Sequence[QueryMove]) -> MoveSummary:
    """`moves` has at least one."""
    return MoveSummary(
        len(moves),
        sum(move.contexts for move in moves),
        sum(move.rbo for move in moves) / len(moves),
        sum(move.top for move in moves) / len(moves),
        sum(not move.first_kept for move in moves),
        sum(move.largest_change == 0 for move in moves),
    )
