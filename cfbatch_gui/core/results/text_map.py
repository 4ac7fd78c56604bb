"""A map of all texts: by direction (PCA) or by neighbours (t-SNE), in NumPy of our own.

A t-SNE map (van der Maaten, Hinton, JMLR 9, 2008) is kept in the job's folder under a key of the vectors. Its
neighbours come from an approximate, deterministic kNN graph from cells of k-means, and attract each other by equal
springs (Böhm et al., JMLR 23, 2022); initialised and exaggerated as by Belkina et al. and Kobak, Berens (Nature
Communications 10, 2019). Work is in blocks that release the interpreter lock.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.fingerprints import MAP, keep_arrays, kept_arrays
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.unit_vectors import Progress, Rows, UnitVectors, main_subspace, unit_vectors

_ALL_WITH_ALL = 4_096  # up to so many points there is one cell, and the search is exact
_CELL = 48  # points in a cell; more of them for many points, as there are at most 3·√n cells
_MOST_COMPARED = 8_000  # the approximate number of points that each point is compared with
_ROUNDS = 4
_SAMPLE_OF_CELL = 24  # points per cell in the sample for k-means
_BLOCK = 512  # points compared together
_LARGEST = 512  # points in a cell at most; a larger one is divided, as with many copies of a text
_FINE = 2.0**18  # steps for a squared distance of 1; unit vectors have at most 4, so that a key needs 20 bits for it
_DISTANCE = np.uint64(28)  # the lowest bit of a distance in a key; below is the neighbour
_WHO = np.uint64((1 << 28) - 1)
_TSNE_SEED = 20_250_403


@dataclass(frozen=True, eq=False)
class _Cells:
    """Points by cell, c from `starts[c]`; `order` has the original indices, `halves` half the squared lengths."""

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
    """The indices, int32 (n, count), of nearly the nearest of `points` (n, d), whose distances are at most 2.

    A point is compared with those of the cells around its own. Among equal distances the least exclusive-or of both
    indices wins, so that of many copies none is the neighbour of all.
    """
    cells = _cells(points)
    enough = min(len(points), _MOST_COMPARED)
    found, halves = np.empty((len(points), count), dtype=np.int32), _halves(cells.centres)
    for cell, centre in enumerate(cells.centres):
        away = halves - cells.centres @ centre
        away[cell] = -np.inf
        by_distance = np.argsort(away, kind="stable")
        candidates = cells.members(by_distance[: int(np.searchsorted(np.cumsum(cells.sizes[by_distance]), enough)) + 1])
        first, stop = int(cells.starts[cell]), int(cells.starts[cell + 1])
        for start in range(first, stop, _BLOCK):
            own = np.arange(start, min(stop, start + _BLOCK))
            likeness = cells.points[own] @ cells.points[candidates].T - cells.halves[candidates]
            likeness[own - start, own - first] = -np.inf  # the point itself: its own cell is the first
            keys = _steps(cells.halves[own][:, None], likeness) << _DISTANCE
            keys |= (own[:, None] ^ candidates).astype(np.uint64)
            keys = np.partition(keys, count - 1, axis=1)[:, :count]
            found[cells.order[own]] = cells.order[(keys & _WHO).astype(np.int64) ^ own[:, None]]
        progress((cell + 1) / len(cells.centres))
    return found


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
    """Divide cells of more than `_LARGEST` points: further points of cell c get c + `number`, and so on."""
    order = np.argsort(members, kind="stable")
    sizes = np.bincount(members, minlength=number)
    within = np.empty(len(members), dtype=np.int64)
    within[order] = np.arange(len(members)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return members + number * (within // _LARGEST)


def _centres(points: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    draw = np.random.default_rng(_TSNE_SEED)
    sample = points[draw.permutation(len(points))[: number * _SAMPLE_OF_CELL]]
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


def _steps(halves: NDArray[np.float32], likeness: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Squared distances in steps of 1 / _FINE, at most 2²⁰ − 1, from dot products and half squared lengths."""
    steps: NDArray[np.uint64] = np.clip((halves - likeness) * np.float32(2 * _FINE), 0, 2**20 - 1).astype(np.uint64)
    return steps


def _halves(points: NDArray[np.float32]) -> NDArray[np.float32]:
    halves: NDArray[np.float32] = np.einsum("ij,ij->i", points, points) / np.float32(2)
    return halves


NEIGHBOURS = 15  # of each point, joined to it by springs
_GATHERING, _SETTLING = 75, 225  # iterations with and without early exaggeration
_HARDER = 12.0
_SPRINGS = 32_768  # springs in a block, which fits into the processor's cache
_START = 1e-4
_FARTHEST = 8.0  # distance per iteration and axis; without it, points with very many springs would oscillate ever more
_NOISE_SEED = 20_250_404
_SPACING = 0.45  # between grid nodes, if no more than _MOST are needed; the potential is about 1 wide
_FEWEST, _MOST = 32, 380  # nodes in a row
_NODES_A_POINT = 1.2  # nodes in a row per √n, which may exceed _MOST
_ROOM = 1.2  # width of the grid over that of the points, so that they can spread before a new grid is needed
_POINTS = 16_384  # points in a block


@dataclass(frozen=True, eq=False)
class _Springs:
    """The springs of the points from `start` to below `stop`.

    Spring i joins point `own[i]` with `others[i]`. `own` ascends, and `firsts` has the index of each point's first
    spring.
    """

    start: int
    stop: int
    own: NDArray[np.int64]
    others: NDArray[np.int64]
    strengths: NDArray[np.float32]
    firsts: NDArray[np.int64]

    def pull(self, points: NDArray[np.complex64], into: NDArray[np.complex64]) -> None:
        way = points.take(self.others)
        way -= points.take(self.own)
        along, up = way.real, way.imag
        weights = along * along
        weights += up * up
        weights += np.float32(1)
        np.divide(self.strengths, weights, out=weights)
        way *= weights
        into[self.start : self.stop] = np.add.reduceat(way, self.firsts)


def tsne_layout(
    near: NDArray[np.int32], plane: NDArray[np.float32], progress: Progress = lambda share: None
) -> NDArray[np.float32]:
    """The coordinates, float32 (n, 2), by `near` (n, k) from `plane` (n, 2). Deterministic; `progress` may raise."""
    count = len(plane)
    springs = _springs(near)
    repulsion = Repulsion(count)
    points = _first_points(plane)
    rate = np.float32(4 * count / _HARDER)
    speed, pull = np.zeros(count, dtype=np.complex64), np.empty(count, dtype=np.complex64)
    gains = np.ones((count, 2), dtype=np.float32)
    rounds = _GATHERING + _SETTLING
    for number in range(rounds):
        gathers = number < _GATHERING
        for part in springs:
            part.pull(points, pull)
        push, total = repulsion.push(points)
        force = pull * np.float32(_HARDER if gathers else 1.0) + push / np.float32(total)
        _adapt(gains, force, speed)
        speed *= np.float32(0.5 if gathers else 0.8)
        speed.view(np.float32)[:] += rate * gains.ravel() * force.view(np.float32)
        np.clip(speed.view(np.float32), -_FARTHEST, _FARTHEST, out=speed.view(np.float32))
        points += speed
        points -= points.mean()
        progress((number + 1) / rounds)
    return points.view(np.float32).reshape(-1, 2)


def _adapt(gains: NDArray[np.float32], force: NDArray[np.complex64], speed: NDArray[np.complex64]) -> None:
    """Raise the gains where force and speed have the same sign and lower them elsewhere (Jacobs, 1988), in place."""
    same = ((force.view(np.float32) > 0) == (speed.view(np.float32) > 0)).reshape(gains.shape)
    np.copyto(gains, np.maximum(np.where(same, gains + np.float32(0.2), gains * np.float32(0.8)), np.float32(0.01)))


def _first_points(plane: NDArray[np.float32]) -> NDArray[np.complex64]:
    """The initial points x + i·y, (n,): small, with noise, as points of equal coordinates would never separate."""
    centred = plane - plane.mean(axis=0, dtype=np.float64)
    spread = float(np.abs(centred).std()) or 1.0
    draw = np.random.default_rng(_NOISE_SEED)
    points = (centred / spread + 0.01 * draw.standard_normal(plane.shape)) * _START
    return np.ascontiguousarray(points, dtype=np.float32).view(np.complex64).ravel()


def _springs(near: NDArray[np.int32]) -> list[_Springs]:
    """The springs in blocks, at both ends, twice as strong where both are neighbours; all add up to 1."""
    count, each = near.shape
    own, other = np.repeat(np.arange(count), each), near.ravel().astype(np.int64)
    keys = np.concatenate([own * count + other, other * count + own])
    keys.sort()
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    strengths = (np.diff(firsts, append=len(keys)) / len(keys)).astype(np.float32)
    own, others = np.divmod(keys[firsts], count)
    begins = np.searchsorted(own, np.arange(count + 1))
    found, start = [], 0
    while start < count:
        stop = int(np.searchsorted(begins, begins[start] + _SPRINGS, side="right")) - 1
        stop = min(count, max(start + 1, stop))
        low, high = int(begins[start]), int(begins[stop])
        cut = slice(low, high)
        found.append(_Springs(start, stop, own[cut], others[cut], strengths[cut], begins[start:stop] - low))
        start = stop
    return found


class Repulsion:
    """The repulsion of `count` points by 1 / (1 + distance²), by FFT on a grid, within a few per cent."""

    def __init__(self, count: int) -> None:
        self._most = max(_MOST, round(_NODES_A_POINT * count**0.5))
        self._width = 0.0
        self._step = 1.0
        self._nodes, self._padded = 0, 0
        self._transform = np.empty((0, 0), dtype=np.complex128)

    def push(self, points: NDArray[np.complex64]) -> tuple[NDArray[np.complex64], float]:
        """The forces on `points` (n,), x + i·y, complex64 (n,), and the sum of 1 / (1 + distance²) over all pairs."""
        low = complex(points.real.min(), points.imag.min())
        high = complex(points.real.max(), points.imag.max())
        self._fit(max((high - low).real, (high - low).imag, 1e-9))
        corner = (low + high) / 2 - complex(1, 1) * (self._nodes / 2 * self._step)
        blocks = [
            _Spread((points[start : start + _POINTS] - corner) / self._step, self._nodes)
            for start in range(0, len(points), _POINTS)
        ]
        density = np.zeros(self._nodes**2)
        for block in blocks:
            block.add_to(density)
        shape = (self._padded, self._padded)
        changed = np.fft.rfft2(density.reshape(self._nodes, self._nodes), shape) * self._transform
        potential = np.fft.irfft2(changed, shape)[: self._nodes, : self._nodes].ravel()
        push = np.empty(len(points), dtype=np.complex64)
        total = -float(len(points))  # the grid includes the potential 1 of each point at itself
        for index, block in enumerate(blocks):
            slope, level = block.read(potential)
            push[index * _POINTS : (index + 1) * _POINTS] = slope * (-0.5 / self._step)
            total += level
        return push, max(total, 1e-12)

    def _fit(self, width: float) -> None:
        """Make a grid for points of this width, unless the present one holds them and is at most 1.4 times as wide."""
        if self._width / 1.4 <= width <= self._width:
            return
        self._width = width * _ROOM
        nodes = int(np.clip(np.ceil(self._width / _SPACING), _FEWEST, self._most))
        self._step = self._width / nodes
        self._nodes = nodes + 4  # the splines of points at the edge reach beyond it
        self._padded = _quick(2 * self._nodes)
        indices = np.arange(self._padded)
        away = np.minimum(indices, self._padded - indices) * self._step
        kernel = 1 / (1 + away[:, None] ** 2 + away[None, :] ** 2)
        blur = np.sinc(np.fft.fftfreq(self._padded)) ** 6  # of spreading and of reading, a quadratic spline each
        self._transform = np.fft.rfft2(kernel) / (blur[:, None] * blur[None, : self._padded // 2 + 1])


class _Spread:
    """Points on a grid of `nodes` × `nodes`: the indices of the nine nodes around each, and their spline weights."""

    def __init__(self, points: NDArray[np.complex64], nodes: int) -> None:
        across, up = points.real.astype(np.float64), points.imag.astype(np.float64)
        column, row = np.rint(across), np.rint(up)
        across -= column
        up -= row
        base = ((column - 1) * nodes + (row - 1)).astype(np.int64)
        self._indices = base + (np.arange(3)[:, None] * nodes + np.arange(3)[None, :])[:, :, None]
        self._across, self._up = _spline(across), _spline(up)
        self._slope_across, self._slope_up = _slope(across), _slope(up)

    def add_to(self, density: NDArray[np.float64]) -> None:
        parts = self._across[:, None, :] * self._up[None, :, :]
        first, last = int(self._indices.min()), int(self._indices.max())
        density[first : last + 1] += np.bincount((self._indices - first).ravel(), parts.ravel())

    def read(self, potential: NDArray[np.float64]) -> tuple[NDArray[np.complex128], float]:
        """The gradient of the potential at each point, x + i·y, per step of the grid; and the sum of its values."""
        around = potential.take(self._indices)
        lines = (around * self._up).sum(axis=1)
        slope = np.empty(around.shape[2], dtype=np.complex128)
        slope.real = (lines * self._slope_across).sum(axis=0)
        slope.imag = ((around * self._slope_up).sum(axis=1) * self._across).sum(axis=0)
        return slope, float((lines * self._across).sum())


def _spline(offset: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([0.5 * (0.5 - offset) ** 2, 0.75 - offset * offset, 0.5 * (0.5 + offset) ** 2])


def _slope(offset: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([offset - 0.5, -2 * offset, offset + 0.5])


def _quick(least: int) -> int:
    """The least number from `least` on that is 1, 3, 5, 9 or 15 times a power of two: fast sizes for the FFT."""
    return min(factor << (-(-least // factor) - 1).bit_length() for factor in (1, 3, 5, 9, 15))


_WIDTH = 24  # dimensions of the iterated subspace, so that the first two converge
_PASSES = 4
_FEW, _WIDE, _NARROW = 30_000, 256, 128  # texts up to which neighbours are searched in 256 dimensions; in 128 for more
_LEAST = 8  # texts that t-SNE needs; fewer are laid out by PCA


class Layout(StrEnum):
    """The method by which the coordinates are computed: PCA (DIRECTION) or t-SNE (NEIGHBOURS)."""

    DIRECTION = "direction"
    NEIGHBOURS = "neighbours"


@dataclass(frozen=True, eq=False)
class TextMap:
    """`points` (n, 2), float32, by ascending `item_numbers`.

    `share` is the part of the variance in the plane, 0 for t-SNE.
    """

    item_numbers: NDArray[np.int64]
    points: NDArray[np.float32]
    share: float
    dimension: int
    missing: int
    without_direction: int
    layout: Layout = Layout.DIRECTION


def make_map(embeddings: Embeddings, progress: Progress = lambda share: None) -> TextMap:
    """The PCA map, the same for the same vectors. Blocking. Raises DataError."""
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
    """The t-SNE map, the same for the same vectors on one machine. Blocking for minutes. Raises DataError."""
    if unit.count < _LEAST:
        return map_of(unit, make_map(unit.embeddings).points, 0.0, Layout.NEIGHBOURS)
    points = _main_axes_first(_reduced(unit, _part(progress, 0.0, 0.08)))[0]
    count = min(NEIGHBOURS, max(3, unit.count // 10))  # fewer for few texts, whose fifteenth nearest is far away
    near = knn_graph(points, count, _part(progress, 0.08, 0.25))
    plane = _two(points)
    del points
    return map_of(unit, tsne_layout(near, plane, _part(progress, 0.25, 1.0)), 0.0, Layout.NEIGHBOURS)


def map_of(unit: UnitVectors, points: NDArray[np.float32], share: float, layout: Layout) -> TextMap:
    return TextMap(unit.item_numbers, points, share, unit.dimension, unit.missing, unit.without_direction, layout)


def _part(progress: Progress, start: float, stop: float) -> Progress:
    return lambda share: progress(start + share * (stop - start))


def _reduced(unit: UnitVectors, progress: Progress) -> NDArray[np.float32]:
    """The unit vectors, projected to so few dimensions that all of them fit into memory; float32 (n, width)."""
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
    """The points centred and rotated to their principal axes, (n, d), and the variances, (d,), descending."""
    centred = found - found.mean(axis=0, dtype=np.float64).astype(np.float32)
    variances, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64) / len(centred))
    turned: NDArray[np.float32] = centred @ axes[:, ::-1].astype(np.float32)
    return turned, variances[::-1]


def _two(turned: NDArray[np.float32]) -> NDArray[np.float32]:
    """The first two axes, (n, 2), each with the sign that makes its skewness positive; missing axes are 0."""
    points = np.zeros((len(turned), 2), dtype=np.float64)
    points[:, : turned.shape[1]] = turned[:, :2]
    points *= np.where((points**3).sum(axis=0) < 0, -1.0, 1.0)
    return points.astype(np.float32)


_VERSION = 2  # of the t-SNE code, raised whenever it gives other maps for the same vectors
_SAMPLE_OF_KEY = 512


def cached_map(folder: JobFolder, embeddings: Embeddings) -> TextMap | None:
    """The cached t-SNE map if it was made from the present vectors, else None.

    Blocking; call it in a thread. Raises DataError.
    """
    return _read(folder, unit_vectors(embeddings))


def tsne_map(folder: JobFolder, embeddings: Embeddings, progress: Progress = lambda share: None) -> TextMap:
    """The kept t-SNE map, or a new one. Blocking, half a minute for 100,000 texts. Raises DataError."""
    unit = unit_vectors(embeddings)
    found = _read(folder, unit)
    if found is None:
        found = make_tsne_map(unit, progress)
        keep_arrays(folder, MAP, key=np.array(_key(unit)), points=found.points)
    return found


def _read(folder: JobFolder, unit: UnitVectors) -> TextMap | None:
    with folder.open(read_only=True) as database:
        kept = kept_arrays(database, MAP)
    if kept is None or str(kept["key"]) != _key(unit):
        return None
    points = kept["points"].astype(np.float32)
    return map_of(unit, points, 0.0, Layout.NEIGHBOURS) if np.isfinite(points).all() else None


def _key(unit: UnitVectors) -> str:
    """A SHA-256 over the item numbers, the inverse lengths of all vectors, and a sample of whole unit vectors."""
    digest = hashlib.sha256(f"{_VERSION} {unit.dimension} {unit.count}".encode())
    digest.update(unit.item_numbers.tobytes())
    digest.update(unit.inverse_lengths.tobytes())
    if unit.count:
        digest.update(unit.rows(unit.sample(_SAMPLE_OF_KEY)).tobytes())
    return digest.hexdigest()
