"""A map of all texts, by direction or by neighbours.

By direction it is a principal component analysis: the vectors' directions seen from the side on which they differ most.
Distances on it are distances between the vectors, with all but two directions looked at from the front. It is there at
once, but of hundreds of directions two show a tenth of what there is, and groups lie over each other.

By neighbours it is t-SNE (`tsne_layout`): whatever is near a text stands near it, groups are islands, and
distances between islands mean little. It is our own, in numpy, as what there is elsewhere is heavy or slow: umap-learn
and pacmap bring numba and llvmlite, 130 MB that compile for half a minute at the first map; openTSNE needs minutes for
100,000 texts, and scikit-learn beside it. All is done in small blocks, so that the interpreter is free again within
milliseconds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.maps.knn_graph import knn_graph
from cfbatch_gui.core.results.maps.tsne import NEIGHBOURS, tsne_layout
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.results.vectors.pca import Rows, main_subspace
from cfbatch_gui.core.results.vectors.unit_vectors import Progress, UnitVectors, unit_vectors

_WIDTH = 24  # directions that are followed, so that the first two come out right
_PASSES = 4
_FEW, _WIDE, _NARROW = 30_000, 256, 128  # texts up to which neighbours are looked for in 256 directions, beyond in 128
_LEAST = 8  # texts from which on there are neighbours to speak of


class Layout(StrEnum):
    """What decides where a text stands."""

    DIRECTION = "direction"
    NEIGHBOURS = "neighbours"


@dataclass(frozen=True, eq=False)
class TextMap:
    """Where each text stands: `points` (n, 2), float32, belong to `item_numbers` (n,), which rise.

    `share` of the spread of the directions lies in the map's plane, 0 to 1; by neighbours it says nothing, and is 0.
    `missing` texts have no vector (yet), and `without_direction` one that is zero or not finite: they are not on it.
    """

    item_numbers: NDArray[np.int64]
    points: NDArray[np.float32]
    share: float
    dimension: int
    missing: int
    without_direction: int
    layout: Layout = Layout.DIRECTION


def make_map(embeddings: Embeddings, progress: Progress = lambda share: None) -> TextMap:
    """Lay out all texts that have a vector by direction; the same map for the same vectors. For a thread.

    Raises DataError.
    """
    unit = unit_vectors(embeddings)
    if unit.count < 2:
        return map_of(unit, np.zeros((unit.count, 2), dtype=np.float32), 0.0, Layout.DIRECTION)
    done = 0

    def passes() -> Iterator[Rows]:
        nonlocal done
        for _, rows, factors in unit.blocks():
            yield rows, factors
            done += len(rows)
            progress(done / (_PASSES * unit.count))

    width = min(_WIDTH, unit.dimension)
    plane = main_subspace(passes, unit.dimension, width, centred=True)
    found = np.concatenate([plane.project(rows, factors) for rows, factors in passes()])
    total = 1.0 - float(plane.mean.astype(np.float64) @ plane.mean.astype(np.float64))
    turned, variances = _main_axes_first(found)
    points = _two(turned)
    share = min(1.0, float(variances[:2].sum()) / total) if total > 1e-9 else 0.0
    return map_of(unit, points, share, Layout.DIRECTION)


def make_tsne_map(unit: UnitVectors, progress: Progress = lambda share: None) -> TextMap:
    """Lay them out by neighbours; the same map for the same vectors on the same machine.

    Half a minute for 100,000: call it in a thread. Raises DataError, and what `progress` raises.
    """
    if unit.count < _LEAST:
        return map_of(unit, make_map(unit.embeddings).points, 0.0, Layout.NEIGHBOURS)
    points = _main_axes_first(_reduced(unit, _part(progress, 0.0, 0.08)))[0]
    count = min(NEIGHBOURS, max(3, unit.count // 10))  # of few texts, the fifteenth nearest is far away
    near = knn_graph(points, count, _part(progress, 0.08, 0.25))
    plane = _two(points)
    del points
    return map_of(unit, tsne_layout(near, plane, _part(progress, 0.25, 1.0)), 0.0, Layout.NEIGHBOURS)


def map_of(unit: UnitVectors, points: NDArray[np.float32], share: float, layout: Layout) -> TextMap:
    """The map on which the unit vectors' texts stand at these points."""
    missing = unit.embeddings.count - unit.count - unit.without_direction
    return TextMap(unit.item_numbers, points, share, unit.dimension, missing, unit.without_direction, layout)


def _part(progress: Progress, start: float, stop: float) -> Progress:
    return lambda share: progress(start + share * (stop - start))


def _reduced(unit: UnitVectors, progress: Progress) -> NDArray[np.float32]:
    """The directions in a space of so few dimensions that all of them fit into memory, (n, width)."""
    width, rounds, done = _WIDE if unit.count <= _FEW else _NARROW, 2, 0

    def passes() -> Iterator[Rows]:
        nonlocal done
        for _, rows, factors in unit.blocks():
            yield rows, factors
            done += len(rows)
            progress(min(1.0, done / ((rounds + 1) * unit.count)))

    if unit.dimension <= width:
        return np.concatenate([rows * factors[:, None] for rows, factors in passes()])
    space = main_subspace(passes, unit.dimension, width, centred=True, rounds=rounds)
    return np.concatenate([space.project(rows, factors) for rows, factors in passes()])


def _main_axes_first(found: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """The same points around their middle, turned so that they differ most along the first axis; and the variances."""
    centred = found - found.mean(axis=0, dtype=np.float64).astype(np.float32)
    variances, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64) / len(centred))
    turned: NDArray[np.float32] = centred @ axes[:, ::-1].astype(np.float32)
    return turned, variances[::-1]


def _two(turned: NDArray[np.float32]) -> NDArray[np.float32]:
    """The first two axes, each with its heavier end at the positive side."""
    points = np.zeros((len(turned), 2), dtype=np.float64)
    points[:, : turned.shape[1]] = turned[:, :2]
    points *= np.where((points**3).sum(axis=0) < 0, -1.0, 1.0)
    return points.astype(np.float32)
