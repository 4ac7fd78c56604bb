"""The comparison of ranking jobs over the pairs that all have scored.

*Overlap at depth d* counts ties as a whole; *rank-biased overlap* is the weighted mean over all depths (W. Webber, A.
Moffat, J. Zobel, ACM TOIS 28, 2010, equation 32). As CSV it has a row for each text or each query; names of columns
end with the job's number.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.joining import NOT_THERE, Indices, Joined, Run, RunText, join
from cfbatch_gui.core.evaluation.judged import BookGrades, Evaluation, evaluate
from cfbatch_gui.core.messages import enumerated, message, quoted
from cfbatch_gui.core.results.exports.base import Cell
from cfbatch_gui.core.results.exports.csv_tables import write_csv
from cfbatch_gui.core.results.rankings import Ranks, ranks_of
from cfbatch_gui.core.results.score_table import QueryText, read_queries

P = 0.9
_DEEPEST = 200  # depths; with p = 0.9 all deeper ones together weigh less than 10^-9
_BLOCK = 2_048  # queries whose depths are in memory at once


def overlaps(
    queries: NDArray[np.integer], one: Ranks, other: Ranks, count: int, *, top_k: int = 10, p: float = P
) -> NDArray[np.float64]:
    """Rank-biased overlap and the overlaps at depth `top_k` and 1 of the queries below `count`, 0 to 1, NaN without
    texts: (3, count). `queries` has the query of each text, and `one` and `other` its ranks.
    """
    order = np.argsort(queries, kind="stable")
    bounds = np.searchsorted(queries[order], np.arange(0, count + _BLOCK, _BLOCK))
    found = np.full((3, count), np.nan)
    for number, start in enumerate(range(0, count, _BLOCK)):
        texts = order[bounds[number] : bounds[number + 1]]
        query, size = queries[texts] - start, min(_BLOCK, count - start)
        lengths = np.bincount(query, minlength=size)
        deepest = max(1, min(int(lengths.max(initial=0)), max(_DEEPEST, top_k)))
        one_rank, other_rank = one.rank[texts], other.rank[texts]
        up_to = partial(_texts_up_to, query, size, deepest)
        both, each = up_to(np.maximum(one_rank, other_rank)), up_to(one_rank) + up_to(other_rank)
        shares = 2 * both / np.maximum(each, 1)
        there, depths = np.flatnonzero(lengths), np.arange(1, deepest + 1)
        last = np.clip(lengths, 1, deepest)
        weighed = np.where(depths <= last[:, None], shares * p**depths, 0.0).sum(axis=1) * (1 - p) / p
        rbo = weighed + shares[np.arange(size), last - 1] * p**last
        top = shares[there, np.minimum(last, top_k)[there] - 1]
        found[:, start + there] = rbo[there], top, shares[there, 0]
    return found


def _texts_up_to(
    query: NDArray[np.integer], queries: int, deepest: int, rank: NDArray[np.integer]
) -> NDArray[np.int64]:
    """The number of texts with rank ≤ depth, of shape (queries, deepest)."""
    inside = rank <= deepest
    counted = np.bincount(query[inside] * deepest + rank[inside] - 1, minlength=queries * deepest)
    return np.cumsum(counted.reshape(queries, deepest), axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """`runs[0]` is compared with the others.

    Arrays have shape (compared pairs,): `query` are indices in `queries`, `indices[r]`, `scores[r]` and `ranks[r]` are
    of run r.
    """

    runs: tuple[Run, ...]
    joined: tuple[Joined, ...]
    queries: tuple[QueryText, ...]
    query: Indices
    indices: tuple[Indices, ...]
    scores: tuple[NDArray[np.float64], ...]
    ranks: tuple[Ranks, ...]

    @property
    def is_partial(self) -> bool:
        return any(run.is_partial for run in self.runs)

    def changes(self, other: int) -> Indices:
        """How many ranks each pair rose from the first run to `runs[other]`; negative if it fell."""
        result: Indices = self.ranks[0].rank - self.ranks[other].rank
        return result

    def correlation(self, other: int) -> float | None:
        """Pearson's, of the scores of both; None where nothing varies."""
        one, two = self.scores[0], self.scores[other]
        return float(np.corrcoef(one, two)[0, 1]) if one.std() and two.std() else None


def compare(runs: Sequence[Run]) -> Comparison:
    """Compare the runs with the first. Blocking. Raises UsageError for fewer than two or no common pair, DataError."""
    if len(runs) < 2:
        raise UsageError(message("comparison_needs_two_jobs_or_more"))
    base, joined = runs[0].table, join(runs)
    there = np.ones(len(base), dtype=np.bool_)
    for run, each in zip(runs, joined, strict=True):
        there &= (each.pair_of != NOT_THERE) & run.table.has_score[np.maximum(each.pair_of, 0)]
    if not there.any():
        names = enumerated([quoted(run.job.name) for run in runs])
        raise UsageError(message("names_no_query_text_common_both", names=names))
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


class TextMove(msgspec.Struct, frozen=True, gc=False):
    """A text of a query, with its scores and ranks under each job; ranks also as they are written, "2=" in a tie."""

    query: int
    text: RunText
    scores: tuple[float, ...]
    ranks: tuple[int, ...]
    rank_texts: tuple[str, ...]

    def change(self, other: int) -> int:
        """How many ranks it rose from the first job to another one."""
        return self.ranks[0] - self.ranks[other]


def text_moves(comparison: Comparison, queries: Collection[int] | None = None) -> Iterator[TextMove]:
    """The texts of these queries, or of all, by query and rank in the first job. Blocking. Raises DataError."""
    query, ranks = comparison.query, comparison.ranks
    pairs = np.arange(len(query)) if queries is None else np.flatnonzero(np.isin(query, list(queries)))
    pairs = pairs[np.lexsort((comparison.indices[0][pairs], ranks[0].rank[pairs], query[pairs]))]
    for start in range(0, len(pairs), TEXTS_AT_ONCE):
        some = pairs[start : start + TEXTS_AT_ONCE]
        indices, parts = comparison.indices[0][some].tolist(), [each.part(some) for each in ranks]
        texts = comparison.runs[0].texts(indices)
        by_job = (
            [scores[some].tolist() for scores in comparison.scores],
            [part.rank.tolist() for part in parts],
            [part.texts() for part in parts],
        )
        found = [texts[index] for index in indices]
        yield from map(TextMove, query[some].tolist(), found, *(zip(*columns, strict=True) for columns in by_job))


TEXTS_AT_ONCE = 5_000  # in memory
TOP_K = 10


class QueryMove(msgspec.Struct, frozen=True, gc=False):
    """A query of the comparison by its index; `rbo` and `top` are overlaps, changes are in ranks."""

    index: int
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
    """Means over all queries; `other_first` counts those with others at rank 1, `unmoved` those without a change."""

    queries: int
    contexts: int
    rbo: float
    top: float
    other_first: int
    unmoved: int


def query_moves(comparison: Comparison, other: int, *, top_k: int = TOP_K) -> tuple[QueryMove, ...]:
    """The moves of all queries from the first run to `comparison.runs[other]`, in the order of the first job."""
    queries, ranks = comparison.queries, comparison.ranks
    rbo, top, first = overlaps(comparison.query, ranks[0], ranks[other], len(queries), top_k=top_k)
    changes = np.abs(comparison.changes(other))
    contexts = np.bincount(comparison.query, minlength=len(queries))
    means = np.bincount(comparison.query, weights=changes, minlength=len(queries)) / contexts
    largest = np.zeros(len(queries), dtype=np.int32)
    np.maximum.at(largest, comparison.query, changes)
    columns = (contexts, rbo, top, first > 0, means, largest)
    named = ([query.id for query in queries], [query.text for query in queries])
    return tuple(map(QueryMove, range(len(queries)), *named, *(column.tolist() for column in columns)))


def summary(moves: Sequence[QueryMove]) -> MoveSummary:
    """The summary of one query or more."""
    return MoveSummary(
        len(moves),
        sum(move.contexts for move in moves),
        fmean(move.rbo for move in moves),
        fmean(move.top for move in moves),
        sum(not move.first_kept for move in moves),
        sum(move.largest_change == 0 for move in moves),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """`moves`, what moved most first, are of each job but the first. `evaluation` is None without labels and
    judgements; `book` has those that count beside the labels.
    """

    comparison: Comparison
    moves: tuple[tuple[QueryMove, ...], ...]
    evaluation: Evaluation | None
    top_k: int
    book: BookGrades | None


def with_top(comparison: Comparison, top_k: int, book: BookGrades | None) -> Compared:
    """Figures with this cut-off; the queries that moved most come first. Blocking."""
    found = (query_moves(comparison, other, top_k=top_k) for other in range(1, len(comparison.runs)))
    moves = tuple(tuple(sorted(each, key=lambda move: (move.rbo, -move.largest_change))) for each in found)
    return Compared(comparison, moves, evaluate(comparison.runs, comparison.joined, k=top_k, book=book), top_k, book)


class JudgedQuery(msgspec.Struct, frozen=True, gc=False):
    """`best` is the text with the highest grade and a score, "" without one; its rank is 0 then."""

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
    """One query under both jobs; a rank is 0 where the job has no score for the best text."""

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
        return self.other_value - self.value


def judged_queries(run: Run, evaluation: Evaluation, metric: str) -> tuple[JudgedQuery, ...]:
    """The queries of the evaluation of this one run, in their order, with a measure by its name. Raises DataError."""
    (measures,) = evaluation.runs
    queries = evaluation.queries
    named = ([query.number for query in queries], [query.id for query in queries], [query.text for query in queries])
    figures = (measures.values[metric].tolist(), measures.judged_top.tolist(), measures.top.tolist())
    best = _texts(run, measures.best_pair), measures.best_rank.tolist()
    return tuple(map(JudgedQuery, range(len(queries)), *named, *figures, *best))


def query_changes(comparison: Comparison, evaluation: Evaluation, other: int, metric: str) -> tuple[QueryChange, ...]:
    """The judged queries under the first run and `comparison.runs[other]`; those where it gained most first.

    Raises DataError.
    """
    ours, theirs = evaluation.runs[0], evaluation.runs[other]
    pair_of = comparison.joined[other].pair_of
    in_first = np.full(len(comparison.runs[other].table) + 1, NOT_THERE, dtype=np.int64)
    in_first[pair_of] = np.arange(len(pair_of))
    in_first[NOT_THERE] = NOT_THERE  # the last: of no pair
    pairs = np.where(ours.best_pair != NOT_THERE, ours.best_pair, in_first[theirs.best_pair])
    queries = evaluation.queries
    named = ([query.number for query in queries], [query.text for query in queries])
    figures = (ours.values[metric].tolist(), theirs.values[metric].tolist(), _texts(comparison.runs[0], pairs))
    ranks = (_ranks(comparison, number, pairs).tolist() for number in (0, other))
    found = map(QueryChange, range(len(queries)), *named, *figures, *ranks)
    return tuple(sorted(found, key=lambda each: -each.difference))


def _texts(run: Run, pairs: NDArray[np.int64]) -> list[str]:
    found = run.texts(pairs[pairs != NOT_THERE].tolist())
    return [found[pair].text if pair != NOT_THERE else "" for pair in pairs.tolist()]


def _ranks(comparison: Comparison, number: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ranks in run `number` of these pairs of the first run's table; 0 for those that are not compared."""
    of_pair = np.zeros(len(comparison.runs[0].table) + 1, dtype=np.int64)  # the last is that of NOT_THERE
    of_pair[comparison.indices[0]] = comparison.ranks[number].rank
    found: NDArray[np.int64] = of_pair[pairs]
    return found


def write_texts(compared: Compared, path: Path, *, for_excel: str = "", queries: Collection[int] | None = None) -> int:
    """Write a row for each text, by query and rank of the first job; the number of rows.

    `queries` are indices, None for all. Raises DiskFull, ExportError, DataError.
    """
    numbers = range(1, len(compared.comparison.runs) + 1)
    columns = (
        *("query_id", "query", "doc_id", "text", "label"),
        *(f"{name}_{number}" for number in numbers for name in ("score", "rank")),
        *(f"change_{number}" for number in numbers[1:]),
    )

    def rows() -> Iterator[tuple[Cell, ...]]:
        for each in text_moves(compared.comparison, queries):
            asked, text = compared.comparison.queries[each.query], each.text
            figures = chain.from_iterable(zip(each.scores, each.ranks, strict=True))
            changes = map(each.change, range(1, len(each.ranks)))
            yield asked.id, asked.text, text.id, text.text, text.label, *figures, *changes

    return write_csv(path, columns, rows(), for_excel)


def write_queries(
    compared: Compared, path: Path, *, for_excel: str = "", queries: Collection[int] | None = None
) -> int:
    """Write a row for each query with its overlaps and measures; the number of rows. Raises DiskFull, ExportError."""
    names = ("rbo", f"top_{compared.top_k}", "first_kept", "mean_change", "largest_change")
    moves = [sorted(each, key=lambda move: move.index) for each in compared.moves]
    of_others = (f"{name}_{other}" for other in range(2, len(moves) + 2) for name in names)
    found = compared.evaluation
    runs = enumerate(found.runs, 1) if found is not None else ()
    measures = {f"{name}_{number}": values for number, run in runs for name, values in run.values.items()}
    place = {query.number: at for at, query in enumerate(found.queries)} if found is not None else {}

    def rows() -> Iterator[tuple[Cell, ...]]:
        for of_query in zip(*moves, strict=True):
            first = of_query[0]
            if queries is None or first.index in queries:
                moved: list[Cell] = []
                for each in of_query:
                    moved += (each.rbo, each.top, int(each.first_kept), each.mean_change, each.largest_change)
                at = place.get(compared.comparison.queries[first.index].number)
                measured = (None if at is None else values.item(at) for values in measures.values())
                yield first.id, first.text, first.contexts, *moved, *measured

    return write_csv(path, ("query_id", "query", "contexts", *of_others, *measures), rows(), for_excel)
