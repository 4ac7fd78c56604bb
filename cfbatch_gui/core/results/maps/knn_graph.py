"""Who is near whom: for each of many points the nearest others, found among the likely ones only.

The points are parted into cells by a few rounds of k-means; each is compared with all points of the cells whose centres
lie nearest to it. First come the cells around its own: they say how near a point must be to count. In all further
cells only what is nearer than that is kept, so that next to nothing has to be sorted. Of equally near points each takes
others than its like does: a thousand copies of one text are not all tied to the same fifteen. Nothing depends on
chance.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.vectors.unit_vectors import Progress

_ALL_WITH_ALL = 4_096  # points up to which all are one cell
_CELL = 48  # points in a cell, for few points; more when there are many, so that the cells stay fewer than that
_MOST_COMPARED = 3_000  # points that each is compared with, about
_FIRST = 256  # of them in the cells around its own
_ROUNDS = 4
_SAMPLE = 24  # points of a cell from which its centre is found
_SLAB, _BLOCK = 32_768, 512  # points whose finds are sorted together (the number has 16 bits in a key), and compared
_ROUNDING = 1e-6
_LARGEST = 512  # points in a cell; one with more of the same is cut
_FINE = 2.0**18  # steps of a squared distance of 1; of directions it is at most 4, so that a key has 20 bits for it
_OWNER, _DISTANCE = np.uint64(48), np.uint64(28)  # where in a key the numbers begin; the rest is who
_WHO = np.uint64((1 << 28) - 1)
_SEED = 20_250_403


@dataclass(frozen=True, eq=False)
class _Cells:
    """Points in the order of their cells. `order` are their places before; cell c holds `starts[c]` to `starts[c+1]`.

    `halves` are half the squared lengths of `points`.
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
        """The points of some cells."""
        return np.concatenate([np.arange(self.starts[cell], self.starts[cell + 1]) for cell in cells.tolist()])


def knn_graph(points: NDArray[np.float32], count: int, progress: Progress = lambda share: None) -> NDArray[np.int32]:
    """The places of `count` points near each of `points` (n, d), the nearest first; (n, count).

    `points` differ by at most 2. `count` is below n. Nearly all of the nearest are among them; see `_MOST_COMPARED`.
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
    """Cells of `_LARGEST` points at most: further ones of cell c are in c + `number`, c + 2 · `number` and so on."""
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
    """Keys of the nearest in the cells around each point's own, without the owner; and the cells to search next."""
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
            likeness[own - start, own - first] = -np.inf  # itself, as its own cell comes first
            steps = _steps(cells.halves[own][:, None], likeness)
            found = steps << _DISTANCE | (own[:, None] ^ candidates).astype(np.uint64)
            keys[own] = np.sort(np.partition(found, count - 1, axis=1)[:, :count], axis=1)
            liked = cells.points[own] @ cells.centres.T - halves
            liked[:, near] = -np.inf  # done
            probes[own] = np.argpartition(liked, -wide, axis=1)[:, -wide:]
            probes[own] = np.where(np.take_along_axis(liked, probes[own], axis=1) > -np.inf, probes[own], number)
    return keys, probes


def _keys(
    cells: _Cells, first: int, firsts: NDArray[np.uint64], probes: NDArray[np.int32], progress: Progress
) -> NDArray[np.uint64]:
    """A number for each find of the points from `first` on: whose, how far away, who; in order.

    "Who" is the place of the one found, exclusive-or that of the owner: so ties are broken otherwise for each.
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
    """Squared distances in whole steps. Likeness is the product of both less half the squared length of the other."""
    steps: NDArray[np.uint64] = np.clip((halves - likeness) * np.float32(2 * _FINE), 0, 2**20 - 1).astype(np.uint64)
    return steps


def _halves(points: NDArray[np.float32]) -> NDArray[np.float32]:
    halves: NDArray[np.float32] = np.einsum("ij,ij->i", points, points) / np.float32(2)
    return halves
