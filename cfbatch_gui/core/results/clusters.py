"""Clusters of similar texts by spherical k-means, and the typical texts of each.

Centres are found on a sample, of several starts the best; the same vectors give the same clusters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.unit_vectors import Progress, UnitVectors, unit_vectors

MOST_CLUSTERS = 200
_SAMPLE = 8_192
_ROUNDS = 30
_SEED = 20_250_402
_MOST_STARTS, _LEAST_STARTS = 5, 2
_CENTRES = 100  # of all starts together, about: with many clusters a start takes seconds, and gains less
_TEXTS_FOR_EACH = 40


@dataclass(frozen=True, slots=True)
class Cluster:
    """`typical` has item numbers, nearest to the centre first; `similarity` is the mean cosine to the centre."""

    size: int
    typical: tuple[int, ...]
    similarity: float


@dataclass(frozen=True, eq=False)
class Clusters:
    """The largest first; arrays have an element for each text with a direction.

    `item_numbers` ascend; `members` are indices in `clusters`, `similarities` cosines to the centre.
    """

    item_numbers: NDArray[np.int64]
    members: NDArray[np.int64]
    similarities: NDArray[np.float32]
    clusters: tuple[Cluster, ...]
    missing: int
    without_direction: int

    def items_of(self, cluster: int) -> NDArray[np.int64]:
        indices = np.flatnonzero(self.members == cluster)
        return self.item_numbers[indices[np.argsort(-self.similarities[indices], kind="stable")]]


def usual_number(texts: int) -> int:
    """The number of clusters to propose for so many texts, 2 to 12."""
    return int(np.clip(round(np.sqrt(texts / _TEXTS_FOR_EACH)), 2, 12))


def find_clusters(
    embeddings: Embeddings, number: int, typical: int = 5, progress: Progress = lambda share: None
) -> Clusters:
    """Group all texts that have a vector into at most `number` clusters, from 1. For a thread. Raises DataError."""
    unit = unit_vectors(embeddings)
    if not unit.count:
        nobody = np.empty(0, dtype=np.int64)
        return Clusters(nobody, nobody, np.empty(0, dtype=np.float32), (), unit.missing, unit.without_direction)
    progress(0.1)
    number = max(1, min(number, MOST_CLUSTERS, unit.count))
    centres = _from_sample(unit.rows(unit.sample(_SAMPLE)), number, lambda share: progress(0.1 + 0.5 * share))
    progress(0.6)
    if unit.count > _SAMPLE:
        centres = _moved_by_all(unit, centres)
    progress(0.8)
    members, similarities = _assign_all(unit, centres)
    members, sizes = _largest_first(members, len(centres))
    found = tuple(_describe(unit, members, similarities, index, typical) for index in range(len(sizes)))
    return Clusters(unit.item_numbers, members, similarities, found, unit.missing, unit.without_direction)


def _from_sample(sample: NDArray[np.float32], number: int, progress: Progress) -> NDArray[np.float32]:
    """The centres of the start whose texts are nearest to their centres, the first of equal ones."""
    starts = max(_LEAST_STARTS, min(_MOST_STARTS, _CENTRES // number))
    found = _one_start(sample, number, _SEED)
    for start in range(1, starts):
        progress(start / starts)
        found = max(found, _one_start(sample, number, _SEED + start), key=lambda each: each[0])
    return found[1]


def _one_start(sample: NDArray[np.float32], number: int, seed: int) -> tuple[float, NDArray[np.float32]]:
    """The mean cosine of the texts to their centres, and the centres, (at most `number`, dimension)."""
    centres = _first_centres(sample, number, seed)
    before: NDArray[np.int64] | None = None
    for _ in range(_ROUNDS):
        members = (sample @ centres.T).argmax(axis=1)
        if before is not None and np.array_equal(members, before):
            break
        before = members
        centres = _normalised(_sums(sample, members, len(centres)), centres)
    return float((sample @ centres.T).max(axis=1).astype(np.float64).mean()), centres


def _first_centres(sample: NDArray[np.float32], number: int, seed: int) -> NDArray[np.float32]:
    """k-means++ (D. Arthur, S. Vassilvitskii, SODA 2007): of some centres that are drawn, the best."""
    draw = np.random.default_rng(seed)
    candidates = 2 + int(np.log(number))
    chosen = [int(draw.integers(len(sample)))]
    away = _distances(sample, chosen)[:, 0]
    while len(chosen) < number:
        total = away.sum()
        if total <= 0:
            break
        drawn = np.searchsorted(np.cumsum(away), draw.random(candidates) * total, side="right")
        drawn = np.minimum(drawn, len(sample) - 1)
        nearer = np.minimum(away[:, None], _distances(sample, drawn))
        best = int(nearer.sum(axis=0).argmin())
        chosen.append(int(drawn[best]))
        away = nearer[:, best]
    return sample[chosen]


def _distances(sample: NDArray[np.float32], chosen: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
    """1 - cosine of each text to each of these texts, of shape (texts, chosen); 0 for the same direction."""
    away = np.maximum(0.0, 1.0 - (sample @ sample[chosen].T).astype(np.float64))
    away[away < 1e-6] = 0.0  # the same direction, but for rounding
    return away


def _moved_by_all(unit: UnitVectors, centres: NDArray[np.float32]) -> NDArray[np.float32]:
    sums = np.zeros(centres.shape, dtype=np.float64)
    for rows, factors, members, _ in _assigned(unit, centres):
        sums += _sums(rows * factors[:, None], members, len(centres))
    return _normalised(sums, centres)


def _assign_all(unit: UnitVectors, centres: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    found = list(_assigned(unit, centres))
    return np.concatenate([each[2] for each in found]), np.concatenate([each[3] for each in found])


def _assigned(
    unit: UnitVectors, centres: NDArray[np.float32]
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]]:
    for _, rows, factors in unit.blocks():
        cosines = (rows @ centres.T) * factors[:, None]
        members = cosines.argmax(axis=1)
        yield rows, factors, members, cosines[np.arange(len(members)), members]


def _sums(rows: NDArray[np.float32], members: NDArray[np.int64], number: int) -> NDArray[np.float64]:
    belongs = np.zeros((number, len(rows)), dtype=np.float32)
    belongs[members, np.arange(len(rows))] = 1.0
    return (belongs @ rows).astype(np.float64)


def _normalised(sums: NDArray[np.float64], before: NDArray[np.float32]) -> NDArray[np.float32]:
    """Centres of length 1; a cluster without members keeps its centre of `before`."""
    lengths = np.linalg.norm(sums, axis=1)
    empty = lengths < 1e-9
    lengths[empty] = 1.0
    centres: NDArray[np.float32] = (sums / lengths[:, None]).astype(np.float32)
    centres[empty] = before[empty]
    return centres


def _largest_first(members: NDArray[np.int64], number: int) -> tuple[NDArray[np.int64], list[int]]:
    """Renumber the clusters by descending size; returns the new `members` and the sizes, empty clusters left out."""
    sizes = np.bincount(members, minlength=number)
    order = np.argsort(-sizes, kind="stable")
    indices = np.empty(number, dtype=np.int64)
    indices[order] = np.arange(number)
    return indices[members], [int(size) for size in sizes[order] if size]


def _describe(
    unit: UnitVectors, members: NDArray[np.int64], similarities: NDArray[np.float32], index: int, typical: int
) -> Cluster:
    inside = np.flatnonzero(members == index)
    nearest = inside[np.argsort(-similarities[inside], kind="stable")[:typical]]
    items = tuple(int(item) for item in unit.item_numbers[nearest])
    return Cluster(len(inside), items, float(similarities[inside].astype(np.float64).mean()))
