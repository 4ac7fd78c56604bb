"""The nearest vectors, exactly: every vector that the filter leaves is compared with the query's, in blocks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from cfbatch_gui.core.practice.vectorize.bodies import Metric

_BLOCK: Final = 2_000


@dataclass(frozen=True, slots=True)
class Scored:
    """A vector by its row in the store, and its score by the metric of its index."""

    row: int
    score: float


def nearest(
    vectors: Iterable[tuple[int, bytes]], query: Sequence[float], metric: Metric, count: int
) -> tuple[Scored, ...]:
    """The `count` best of the vectors, which are pairs of a row and float32 numbers, the best first.

    Scores are cosines (of a zero vector 0), where more is better, or Euclidean distances or negative dot products,
    where less is. Equal scores come in the order of rows. Source: vectorize/best-practices/create-indexes/.
    """
    wanted = np.asarray(query, dtype=np.float32).astype(np.float64)
    sign = -1.0 if metric == "cosine" else 1.0
    best: list[Scored] = []
    for rows, block in _blocks(vectors):
        scores = _scores(block, wanted, metric)
        found = (Scored(row, float(score)) for row, score in zip(rows, scores, strict=True))
        best = sorted((*best, *found), key=lambda scored: (sign * scored.score, scored.row))[:count]
    return tuple(best)


def _blocks(vectors: Iterable[tuple[int, bytes]]) -> Iterator[tuple[list[int], npt.NDArray[np.float64]]]:
    source = iter(vectors)
    while pairs := list(islice(source, _BLOCK)):
        numbers = np.frombuffer(b"".join(numbers for _, numbers in pairs), dtype=np.float32)
        yield [row for row, _ in pairs], numbers.reshape(len(pairs), -1).astype(np.float64)


def _scores(block: npt.NDArray[np.float64], query: npt.NDArray[np.float64], metric: Metric) -> npt.NDArray[np.float64]:
    if metric == "euclidean":
        distances: npt.NDArray[np.float64] = np.linalg.norm(block - query, axis=1)
        return distances
    products: npt.NDArray[np.float64] = block @ query
    if metric == "dot-product":
        return -products
    lengths = np.linalg.norm(block, axis=1) * np.linalg.norm(query)
    cosines: npt.NDArray[np.float64] = np.zeros_like(products)
    np.divide(products, lengths, out=cosines, where=lengths > 0)
    return cosines
