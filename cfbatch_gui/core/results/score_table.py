"""All scores of a ranking job as arrays, their distribution, and 64-bit hashes of its texts, of this process only.

A text ranked for several queries makes *other pairs* with all but its best, unless it stands first or is labelled
relevant there. With all texts under every query, one in ten unrelated pairs lies above their ninetieth percentile.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder import checksums
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import data_version
from cfbatch_gui.core.results.labels import read_labels
from cfbatch_gui.core.results.numbers import distinct, round_step

_TEXTS = "SELECT text_no, text, text_id FROM texts WHERE text_no BETWEEN ? AND ?"
_IDS = "SELECT text_no, '', text_id FROM texts WHERE text_id <> '' AND text_no BETWEEN ? AND ?"
_QUERIES = "SELECT query_no, text, query_id FROM queries WHERE query_no BETWEEN ? AND ?"
_BLOCK = 20_000  # texts; between two blocks a running job can store its answers
NO_ID = 0  # the hash of a missing id


@dataclass(frozen=True, slots=True, eq=False)
class Hashes:
    """Hashes of texts or queries and of their ids, both of shape (n,); NO_ID for no id."""

    texts: NDArray[np.int64]
    ids: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Pairs as arrays of shape (n,), by numbers from 1; `scores` is NaN for none."""

    items: NDArray[np.int32]
    queries: NDArray[np.int32]
    texts: NDArray[np.int32]
    positions: NDArray[np.int32]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def asked(self) -> NDArray[np.int32]:
        """The numbers of the queries that have pairs, ascending."""
        return np.flatnonzero(np.bincount(self.queries)).astype(np.int32)

    @property
    def has_score(self) -> NDArray[np.bool_]:
        """Which pairs have a score, of shape (n,)."""
        return ~np.isnan(self.scores)

    def part(self, indices: NDArray[np.int64]) -> "ScoreTable":
        return ScoreTable(
            *(self.items[indices], self.queries[indices], self.texts[indices], self.positions[indices]),
            self.scores[indices],
        )

    def query_indices(self) -> NDArray[np.int32]:
        """The index of each pair's query in `asked`, of shape (n,)."""
        index = np.zeros(int(self.asked.max(initial=0)) + 1, dtype=np.int32)
        index[self.asked] = np.arange(len(self.asked))
        return index[self.queries]


def read_score_table(folder: JobFolder) -> ScoreTable:
    """All scores of this moment by item number, held against the checksums of their batches. Blocking: a second
    for a million. Raises DataError.
    """
    data_version(folder.data)  # raises DataError with a sentence if the file is missing
    with folder.open(read_only=True) as database:
        rows = checksums.read_scores(database, folder.path)
    items, queries, texts, positions, scores = (
        np.ascontiguousarray(rows[name]) for name in ("item", "query", "text", "position", "score")
    )
    scores[np.isneginf(scores)] = np.nan
    return ScoreTable(items, queries, texts, positions, scores)


def read_text_hashes(folder: JobFolder, table: ScoreTable) -> Hashes:
    """The hashes of the pairs' texts, (n,). Blocking: a second or two for a million. Raises DataError."""
    return _hashes(folder, _TEXTS, table.texts)


def read_id_hashes(folder: JobFolder, table: ScoreTable) -> NDArray[np.int64]:
    """The hashes of the ids of the pairs' texts, (pairs,), without reading the texts. Raises DataError."""
    return _hashes(folder, _IDS, table.texts).ids


def read_query_hashes(folder: JobFolder, table: ScoreTable) -> Hashes:
    """The hashes of the queries `table.asked`, in their order. Raises DataError."""
    return _hashes(folder, _QUERIES, table.asked)


def hashed_id(identifier: str) -> int:
    """The hash of an id: never NO_ID, except for "", which is no id."""
    return hash(identifier) or 1 if identifier else NO_ID


def _hashes(folder: JobFolder, statement: str, numbers: NDArray[np.int32]) -> Hashes:
    size = int(numbers.max(initial=0)) + 1
    texts, ids = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for first in range(1, size, _BLOCK):
        with folder.open(read_only=True) as database:
            rows = database.execute(statement, (first, min(first + _BLOCK, size) - 1)).fetchall()
        if rows:
            found, of_texts, of_ids = zip(*rows, strict=True)
            numbered = np.fromiter(found, np.int32, len(rows))
            texts[numbered] = np.fromiter(map(hash, of_texts), np.int64, len(rows))
            if any(of_ids):
                ids[numbered] = np.fromiter(map(hashed_id, of_ids), np.int64, len(rows))
    return Hashes(texts[numbers], ids[numbers])


_UP_TO = "SELECT query_no, query_id, text FROM queries WHERE query_no <= ? ORDER BY query_no"


class QueryText(msgspec.Struct, frozen=True, gc=False):
    """A query as in the file; `id` is "" if it has none."""

    number: int
    id: str
    text: str


def read_queries(folder: JobFolder, numbers: NDArray[np.integer]) -> tuple[QueryText, ...]:
    """The queries of these numbers, which must ascend. Raises DataError."""
    wanted = set(numbers.tolist())
    with folder.open(read_only=True) as database:
        rows = database.execute(_UP_TO, (max(wanted, default=0),))
        return tuple(QueryText(*row) for row in rows if row[0] in wanted)


LEAST_PAIRS = 20  # for fewer other pairs the ninetieth percentile is not meaningful
LEAST_QUERIES = 10
_MOST_BINS = 50


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

    `others`, of the other pairs, is None for too few queries or pairs; `above` counts scores above its 90th percentile.
    """

    queries: int
    contexts: int
    scored: int
    first_tied: int
    spread: Spread | None
    other_pairs: int
    others: Spread | None
    above: int
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    other_counts: NDArray[np.int64]


def score_figures(folder: JobFolder) -> ScoreFigures:
    """Compute the figures of a ranking job. Blocking: some seconds for a million scores. Raises DataError."""
    table = read_score_table(folder)
    with folder.open(read_only=True) as database:
        labels = read_labels(database, table.texts)
    texts, queries = read_text_hashes(folder, table).texts, read_query_hashes(folder, table).texts
    others, compared = _other_pairs(table, texts, queries, labels)
    there = table.has_score
    scores = table.scores[there]
    pairs = table.scores[others]
    is_enough = compared >= LEAST_QUERIES and len(pairs) >= LEAST_PAIRS
    beside = spread_of(pairs) if is_enough else None
    edges = _edges(scores)
    return ScoreFigures(
        queries=len(table.asked),
        contexts=len(table),
        scored=len(scores),
        first_tied=_first_tied(table.queries[there], scores),
        spread=spread_of(scores),
        other_pairs=len(pairs),
        others=beside,
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


def _other_pairs(
    table: ScoreTable, texts: NDArray[np.int64], asked: NDArray[np.int64], labels: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], int]:
    """The pairs of a text with a query that it fits less well than another, (pairs,), and the number of queries with a
    score, 0 without such pairs; texts are hashes.
    """
    nothing = np.zeros(len(table), dtype=np.bool_)
    known, text = np.unique(texts, return_inverse=True)
    if len(known) == len(table):
        return nothing, 0
    # Two queries with the same text and different ids count as one.
    query = np.unique(asked, return_inverse=True)[1][table.query_indices()]
    there = table.has_score
    queries = int(query.max(initial=0)) + 1
    pairs = distinct(text[there] * queries + query[there])
    queries_of_text = np.bincount(pairs // queries, minlength=len(known))
    scores = np.where(there, table.scores, -np.inf)
    others = there & (labels <= 0) & (queries_of_text[text] > 1)
    others &= scores < _most(scores, text)[text]  # the text fits another query better
    others &= scores < _most(scores, query)[query]  # and is not the best of this query
    return others, len(distinct(query[there]))


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
    # Each edge is the double nearest to its decimal number, as a score is: 3 · 0.1 would lie above the score 0.3.
    decimals = max(0, 1 - math.floor(math.log10(step)))
    numbers = range(math.floor(low / step), math.floor(high / step) + 2)
    return np.array([round(number * step, decimals) for number in numbers])


def _counted(scores: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    if not len(edges):
        return np.zeros(0, dtype=np.int64)
    return np.histogram(scores, bins=edges)[0].astype(np.int64)
