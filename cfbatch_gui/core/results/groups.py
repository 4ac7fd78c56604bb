"""Groups of similar texts by their number: clusters, by spherical k-means on a sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Embeddings, Progress, UnitVectors, unit_vectors

MOST_CLUSTERS = 200
_SAMPLE = 8_192
_ROUNDS = 30
_SEED = 20_250_402
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
    centres = _from_sample(unit.rows(unit.sample(_SAMPLE)), number)
    progress(0.6)
    if unit.count > _SAMPLE:
        centres = _normalised(_assigned(unit, centres)[2], centres)
    progress(0.8)
    members, similarities, _ = _assigned(unit, centres)
    members, sizes = _largest_first(members, len(centres))
    found = tuple(_describe(unit, members, similarities, index, typical) for index in range(len(sizes)))
    return Clusters(unit.item_numbers, members, similarities, found, unit.missing, unit.without_direction)


def _from_sample(sample: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """The centres, (at most `number`, dimension)."""
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
    """k-means++ (D. Arthur, S. Vassilvitskii, SODA 2007): of some centres that are drawn, the best."""
    draw = np.random.default_rng(_SEED)
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


def _assigned(
    unit: UnitVectors, centres: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float64]]:
    """The nearest centre of each text, its cosine, and the sums of the texts of each centre."""
    members, similarities = np.empty(unit.count, dtype=np.int64), np.empty(unit.count, dtype=np.float32)
    sums = np.zeros(centres.shape)
    for start, rows, factors in unit.blocks():
        block, unit_rows = slice(start, start + len(rows)), rows * factors[:, None]
        cosines = unit_rows @ centres.T
        members[block], similarities[block] = cosines.argmax(axis=1), cosines.max(axis=1)
        sums += _sums(unit_rows, members[block], len(centres))
    return members, similarities, sums


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
