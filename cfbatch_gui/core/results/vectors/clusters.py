"""Texts that belong together, by spherical k-means, and for each group the texts that are typical of it.

The centres are found on an evenly spread sample of at most `_SAMPLE` texts (k-means++, then rounds until nothing
moves), then moved once by all texts: for more texts than that a pass over all of them is the last of the mini-batches.
The same vectors give the same groups each time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.results.vectors.unit_vectors import Progress, UnitVectors, unit_vectors

MOST_CLUSTERS = 200
_SAMPLE = 8_192
_ROUNDS = 30
_SEED = 20_250_402
_TEXTS_FOR_EACH = 40


@dataclass(frozen=True, slots=True)
class Cluster:
    """Item numbers of typical texts, those nearest to the centre first; `similarity` is the mean cosine to it."""

    size: int
    typical: tuple[int, ...]
    similarity: float


@dataclass(frozen=True, eq=False)
class Clusters:
    """`members[i]` is the place in `clusters` of `item_numbers[i]`, which rise; the largest cluster comes first.

    There may be fewer clusters than were asked for: as many as there are different directions. `similarities[i]` is the
    cosine to its own centre.
    """

    item_numbers: NDArray[np.int64]
    members: NDArray[np.int64]
    similarities: NDArray[np.float32]
    clusters: tuple[Cluster, ...]
    missing: int
    without_direction: int

    def items_of(self, cluster: int) -> NDArray[np.int64]:
        """Item numbers of one cluster, the most typical first."""
        indices = np.flatnonzero(self.members == cluster)
        return self.item_numbers[indices[np.argsort(-self.similarities[indices], kind="stable")]]


def usual_number(texts: int) -> int:
    """A number of clusters to begin with: few enough to be read, 2 to 12."""
    return int(np.clip(round(np.sqrt(texts / _TEXTS_FOR_EACH)), 2, 12))


def find_clusters(
    embeddings: Embeddings, number: int, typical: int = 5, progress: Progress = lambda share: None
) -> Clusters:
    """Group all texts that have a vector into at most `number` clusters, from 1. For a thread. Raises DataError."""
    unit = unit_vectors(embeddings)
    missing = embeddings.count - unit.count - unit.without_direction
    if not unit.count:
        nobody = np.empty(0, dtype=np.int64)
        return Clusters(nobody, nobody, np.empty(0, dtype=np.float32), (), missing, unit.without_direction)
    progress(0.1)
    centres = _from_sample(unit.rows(unit.sample(_SAMPLE)), max(1, min(number, MOST_CLUSTERS, unit.count)))
    progress(0.5)
    if unit.count > _SAMPLE:
        centres = _moved_by_all(unit, centres)
    progress(0.75)
    members, similarities = _assign_all(unit, centres)
    members, sizes = _largest_first(members, len(centres))
    found = tuple(_describe(unit, members, similarities, index, typical) for index in range(len(sizes)))
    return Clusters(unit.item_numbers, members, similarities, found, missing, unit.without_direction)


def _from_sample(sample: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    centres = _first_centres(sample, number)
    before: NDArray[np.int64] | None = None
    for _ in range(_ROUNDS):
        members = (sample @ centres.T).argmax(axis=1)
        if before is not None and np.array_equal(members, before):
            break
        before = members
        centres = _normalised(_sums(sample, members, len(centres)), centres)
    return centres


def _first_centres(sample: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """k-means++: each next centre is drawn by how far it lies from those before it (Arthur, Vassilvitskii, 2007)."""
    draw = np.random.default_rng(_SEED)
    chosen = [int(draw.integers(len(sample)))]
    away = np.full(len(sample), np.inf)
    while len(chosen) < number:
        away = np.minimum(away, np.maximum(0.0, 1.0 - (sample @ sample[chosen[-1]]).astype(np.float64)))
        away[away < 1e-6] = 0.0  # the same direction, but for rounding
        total = away.sum()
        if total <= 0:
            break
        chosen.append(int(np.searchsorted(np.cumsum(away), draw.random() * total, side="right")))
    return sample[chosen]


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
    """Centres of length 1; one that nobody belongs to stays where it was."""
    lengths = np.linalg.norm(sums, axis=1)
    empty = lengths < 1e-9
    lengths[empty] = 1.0
    centres: NDArray[np.float32] = (sums / lengths[:, None]).astype(np.float32)
    centres[empty] = before[empty]
    return centres


def _largest_first(members: NDArray[np.int64], number: int) -> tuple[NDArray[np.int64], list[int]]:
    """Numbers in the order of size, without empty clusters; and the sizes."""
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
