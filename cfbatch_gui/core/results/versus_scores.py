"""The scores of a ranking job beside the cosines of an embedding job that has the same texts."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.checksums import read_scores
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.unit_vectors import Progress, UnitVectors, unit_vectors

_PAIRS = 4_096  # whose vectors are in memory at once

_SCORED = """
SELECT i.query_no, i.item_no, q.text, t.text, i.score FROM items i JOIN queries q USING(query_no)
JOIN texts t USING(text_no) WHERE i.score IS NOT NULL ORDER BY i.query_no, i.item_no
"""
_PAIR = """
SELECT q.text, t.text FROM items i JOIN queries q USING(query_no) JOIN texts t USING(text_no) WHERE i.item_no = ?
"""


@dataclass(frozen=True, eq=False)
class VersusScores:
    """Arrays (n,) for scored pairs with both vectors, of `of`.

    `correlation` is Pearson's, NaN where nothing varies; `same_first` counts queries whose best pair is the same.
    """

    item_numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    similarities: NDArray[np.float64]
    of: int
    correlation: float
    queries: int
    same_first: int


def scores_versus_similarities(
    ranking: JobFolder, embeddings: Embeddings, progress: Progress = lambda share: None
) -> VersusScores:
    """Compare all scored pairs of `ranking`. Blocking: reads all its texts; call it in a thread. Raises DataError."""
    unit = unit_vectors(embeddings)
    indices = _indices_of_texts(embeddings, unit)
    with ranking.open(read_only=True) as database:
        read_scores(database, ranking.path)
        of, found = 0, []
        for query_no, item_no, query, text, score in database.execute(_SCORED):
            of += 1
            one, other = indices.get(query), indices.get(text)
            if one is not None and other is not None:
                found.append((query_no, item_no, one, other, score))
    columns = np.array(found, dtype=np.float64).reshape(-1, 5).T
    query_numbers, item_numbers, ones, others = (column.astype(np.int64) for column in columns[:4])
    similarities = np.empty(len(found), dtype=np.float64)
    for start in range(0, len(found), _PAIRS):
        part = slice(start, start + _PAIRS)
        similarities[part] = np.einsum("ij,ij->i", unit.rows(ones[part]), unit.rows(others[part]))
        progress(min(1.0, (start + _PAIRS) / len(found)))
    queries, same_first = _same_best(query_numbers, columns[4], similarities)
    return VersusScores(
        item_numbers,
        columns[4],
        similarities,
        of,
        _correlation(columns[4], similarities),
        queries,
        same_first,
    )


def texts_of_pairs(ranking: JobFolder, item_numbers: NDArray[np.int64]) -> Iterator[tuple[str, str]]:
    """Query and context of each of these items of the ranking, in their order. Raises DataError."""
    with ranking.open(read_only=True) as database:
        for item_no in item_numbers.tolist():
            yield database.execute(_PAIR, (item_no,)).fetchone()


def _indices_of_texts(embeddings: Embeddings, unit: UnitVectors) -> dict[str, int]:
    """The index among the unit vectors of each text; that of the first of equal texts."""
    found: dict[str, int] = {}
    for start in range(0, unit.count, _PAIRS):
        items = unit.item_numbers[start : start + _PAIRS].tolist()
        for index, text in enumerate(embeddings.texts(items), start):
            found.setdefault(text.text, index)
    return found


def _same_best(
    query_numbers: NDArray[np.int64], scores: NDArray[np.float64], similarities: NDArray[np.float64]
) -> tuple[int, int]:
    queries = same = 0
    _, starts = np.unique(query_numbers, return_index=True)
    for part in np.split(np.arange(len(query_numbers)), starts[1:]):
        if len(part) > 1:
            queries += 1
            best = scores[part] == scores[part].max()
            same += bool(best[similarities[part].argmax()])
    return queries, same


def _correlation(scores: NDArray[np.float64], similarities: NDArray[np.float64]) -> float:
    if len(scores) < 2 or not scores.std() or not similarities.std():
        return float("nan")
    return float(np.corrcoef(scores, similarities)[0, 1])
