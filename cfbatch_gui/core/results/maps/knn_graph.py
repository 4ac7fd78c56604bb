"""An approximate kNN graph: for each of many points the nearest others, searched among likely candidates.

The points are divided into cells by a few rounds of k-means, and each point is compared with all points of the cells
whose centres are nearest to it. The cells around its own are searched first; the distance of the last neighbour found
there is the bound for all further cells, in which only nearer points are kept, so that few have to be sorted. Ties are
broken differently for each point, so that a thousand copies of one text are not all connected to the same fifteen.
The result is deterministic.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.vectors.unit_vectors import Progress

_ALL_WITH_ALL = 4_096  # up to so many points there is one cell, and the search is exact
_CELL = 48  # points in a cell; more of them for many points, as there are at most 3·√n cells
_MOST_COMPARED = 3_000  # the approximate number of points that each point is compared with
_FIRST = 256  # the least number of points in the cells around its own
_ROUNDS = 4
_SAMPLE = 24  # points per cell in the sample for k-means
_SLAB, _BLOCK = 32_768, 512  # points whose keys are sorted together (an owner has 16 bits), and compared together
_ROUNDING = 1e-6
_LARGEST = 512  # points in a cell at most; a larger one is divided, as with many copies of a text
_FINE = 2.0**18  # steps for a squared distance of 1; unit vectors have at most 4, so that a key needs 20 bits for it
_OWNER, _DISTANCE = np.uint64(48), np.uint64(28)  # the lowest bits of these in a key; below is the neighbour
_WHO = np.uint64((1 << 28) - 1)
_SEED = 20_250_403


@dataclass(frozen=True, eq=False)
class _Cells:
    """Points in the order of their cells; cell c has the points from `starts[c]` to below `starts[c + 1]`.

    `order[i]` is the original index of `points[i]`. `halves` are half the squared lengths of `points`.
    """

    centres: NDArray[np.float32]
    starts: NDArray[np.int64]
    order: NDArray[np.int64]
    points: NDArray[np.float32]
    halves: NDArray[np.float32]

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def members(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """The indices into `points` of all points of some cells."""
        return np.concatenate([np.arange(self.starts[cell], self.starts[cell + 1]) for cell in cells.tolist()])


def knn_graph(points: NDArray[np.float32], count: int, progress: Progress = lambda share: None) -> NDArray[np.int32]:
    """The indices of `count` points near each of `points` (n, d), the nearest first, never its own; int32 (n, count).

    The distance of two points must be at most 2, and `count` must be below n. Nearly all true nearest neighbours are
    found; see `_MOST_COMPARED`. `progress` gets shares from 0 to 1; an exception from it is passed on.
    """
    cells = _cells(points)
    progress(0.2)
    firsts, probes = _first_look(cells, count)
    progress(0.4)
    found = np.empty((len(points), count), dtype=np.int32)
    for start in range(0, len(points), _SLAB):
        stop = min(len(points), start + _SLAB)
        progress_here = _part(progress, start, stop, len(points))
        keys = _keys(cells, start, firsts[start:stop], probes[start:stop], progress_here)
        begins = np.searchsorted(keys, np.arange(stop - start, dtype=np.uint64) << _OWNER)
        who = (keys[begins[:, None] + np.arange(count)] & _WHO).astype(np.int64)
        who ^= np.arange(start, stop)[:, None]
        found[cells.order[start:stop]] = cells.order[who]
    return found


def _part(progress: Progress, start: int, stop: int, total: int) -> Progress:
    return lambda share: progress(0.4 + 0.6 * (start + share * (stop - start)) / total)


def _cells(points: NDArray[np.float32]) -> _Cells:
    count = len(points)
    if count <= _ALL_WITH_ALL:
        members, centres = np.zeros(count, dtype=np.int64), points.mean(axis=0, keepdims=True)
    else:
        centres = _centres(points, int(min(count / _CELL, 3.0 * count**0.5)))
        members = _nearest_centres(points, centres)
        members = _cut(members, len(centres))
        used, members = np.unique(members, return_inverse=True)
        centres = centres[used % len(centres)]
    order = np.argsort(members, kind="stable")
    starts = np.searchsorted(members[order], np.arange(len(centres) + 1))
    ordered = points[order]
    return _Cells(centres, starts, order, ordered, _halves(ordered))


def _cut(members: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Divide cells of more than `_LARGEST` points: the further points of cell c get c + `number`, c + 2 · `number` ….

    `members` (n,) are the cells of the points, and `number` is how many cells there are.
    """
    order = np.argsort(members, kind="stable")
    sizes = np.bincount(members, minlength=number)
    within = np.empty(len(members), dtype=np.int64)
    within[order] = np.arange(len(members)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return members + number * (within // _LARGEST)


def _centres(points: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    draw = np.random.default_rng(_SEED)
    sample = points[draw.permutation(len(points))[: number * _SAMPLE]]
    centres = sample[:number].copy()
    for _ in range(_ROUNDS):
        members = _nearest_centres(sample, centres)
        order = np.argsort(members, kind="stable")
        sizes = np.bincount(members, minlength=number)
        used = np.flatnonzero(sizes)
        firsts = (np.cumsum(sizes) - sizes)[used]
        centres[used] = np.add.reduceat(sample[order], firsts, axis=0) / sizes[used, None]
    return centres


def _nearest_centres(points: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.int64]:
    found, halves = np.empty(len(points), dtype=np.int64), _halves(centres)
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK]
        found[start : start + _BLOCK] = (block @ centres.T - halves).argmax(axis=1)
    return found


def _first_look(cells: _Cells, count: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Keys of the nearest points in the cells around each point's own, and the cells to search next.

    The keys, (n, count), have no owner and ascend in each row. The cells are (n, wide), and the number of cells stands
    for none.
    """
    total, number = len(cells.points), len(cells.centres)
    halves, around = _halves(cells.centres), []
    for cell, centre in enumerate(cells.centres):
        away = halves - cells.centres @ centre
        away[cell] = -np.inf
        by_distance = np.argsort(away, kind="stable")
        enough = np.searchsorted(np.cumsum(cells.sizes[by_distance]), min(total, max(_FIRST, 4 * count)))
        around.append(by_distance[: int(enough) + 1])
    wide = min(number, -(-_MOST_COMPARED * number // total))
    keys, probes = np.empty((total, count), dtype=np.uint64), np.empty((total, wide), dtype=np.int32)
    for cell, near in enumerate(around):
        candidates, first = cells.members(near), int(cells.starts[cell])
        others, half = cells.points[candidates], cells.halves[candidates]
        for start in range(first, int(cells.starts[cell + 1]), _BLOCK):
            own = np.arange(start, min(int(cells.starts[cell + 1]), start + _BLOCK))
            likeness = cells.points[own] @ others.T - half
            likeness[own - start, own - first] = -np.inf  # the point itself: its own cell is the first of `near`
            steps = _steps(cells.halves[own][:, None], likeness)
            found = steps << _DISTANCE | (own[:, None] ^ candidates).astype(np.uint64)
            keys[own] = np.sort(np.partition(found, count - 1, axis=1)[:, :count], axis=1)
            liked = cells.points[own] @ cells.centres.T - halves
            liked[:, near] = -np.inf  # searched already
            probes[own] = np.argpartition(liked, -wide, axis=1)[:, -wide:]
            probes[own] = np.where(np.take_along_axis(liked, probes[own], axis=1) > -np.inf, probes[own], number)
    return keys, probes


def _keys(
    cells: _Cells, first: int, firsts: NDArray[np.uint64], probes: NDArray[np.int32], progress: Progress
) -> NDArray[np.uint64]:
    """A sorted array of keys, one for each neighbour found for the points from index `first` on.

    From the high bits down, a key has the owner (its index less `first`), the squared distance in steps, and the index
    of the neighbour exclusive-or that of the owner, so that ties are broken differently for each owner.
    """
    number, wide = len(cells.centres), probes.shape[1]
    owners = np.arange(len(firsts), dtype=np.uint64)
    found = [(owners[:, None] << _OWNER | firsts).ravel()]
    farthest = (firsts[:, -1] >> _DISTANCE).astype(np.float32) / np.float32(2 * _FINE)
    bounds = cells.halves[first : first + len(firsts)] - farthest + np.float32(_ROUNDING)
    flat = probes.ravel()
    asked = np.argsort(flat.astype(np.uint16), kind="stable")
    ends = np.searchsorted(flat[asked], np.arange(number + 1))
    for cell in range(number):
        start, stop = int(cells.starts[cell]), int(cells.starts[cell + 1])
        others, half = cells.points[start:stop], cells.halves[start:stop]
        askers = asked[ends[cell] : ends[cell + 1]] // wide
        rows = max(_BLOCK, 400_000 // (stop - start))
        for begin in range(0, len(askers), rows):
            who = askers[begin : begin + rows]
            likeness = cells.points[first + who] @ others.T - half
            near = np.flatnonzero(likeness > bounds[who, None])
            row, column = np.divmod(near, stop - start)
            owner, other = who[row], column + start
            steps = _steps(cells.halves[first + owner], likeness.ravel()[near])
            named = ((owner + first) ^ other).astype(np.uint64)
            found.append(owner.astype(np.uint64) << _OWNER | steps << _DISTANCE | named)
        progress((cell + 1) / number)
    keys = np.concatenate(found)
    keys.sort()
    return keys


def _steps(halves: NDArray[np.float32], likeness: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Squared distances in steps of 1 / _FINE, at most 2²⁰ − 1.

    `halves` are those of the owners; `likeness` is the dot product with the other point less half of that one's squared
    length.
    """
    steps: NDArray[np.uint64] = np.clip((halves - likeness) * np.float32(2 * _FINE), 0, 2**20 - 1).astype(np.uint64)
    return steps


def _halves(points: NDArray[np.float32]) -> NDArray[np.float32]:
    halves: NDArray[np.float32] = np.einsum("ij,ij->i", points, points) / np.float32(2)
    return halves
