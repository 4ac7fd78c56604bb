"""A map of all texts: by direction (PCA) or by neighbours (t-SNE), in NumPy of our own.

A t-SNE map (van der Maaten, Hinton, JMLR 9, 2008) is kept in the job's folder under a key of the vectors. Its
neighbours come from an approximate, deterministic kNN graph of cells around some of the points, and attract each other
by equal springs (Böhm et al., JMLR 23, 2022); initialised and exaggerated as by Belkina et al. and Kobak, Berens
(Nature Communications 10, 2019). Work is in blocks that release the interpreter lock.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.fingerprints import MAP, keep_arrays, kept_arrays
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.embeddings import Embeddings, Progress, Rows, UnitVectors, main_subspace, unit_vectors

_ALL_WITH_ALL = 4_096  # up to so many points there is one cell, and the search is exact
_CELL = 48  # points in a cell; more of them for many points, as there are at most 3·√n cells
_MOST_COMPARED = 8_000  # the approximate number of points that each point is compared with
_LIKENESSES = 4_000_000  # computed together
_APART = 3e-4  # noise that is added to each number, so that of many copies none is the neighbour of all
_SEED, _SEED_OF_PLACES = 20_250_403, 20_250_404  # two, so that what keeps copies apart does not draw them apart


def knn_graph(points: NDArray[np.float32], count: int, progress: Progress = lambda share: None) -> NDArray[np.int32]:
    """The indices, int32 (n, count), of nearly the nearest of `points` (n, d): a point is compared with those of the
    cells around its own.
    """
    draw = np.random.default_rng(_SEED)
    points = points + np.float32(_APART) * draw.standard_normal(points.shape, dtype=np.float32)
    number = 1 if len(points) <= _ALL_WITH_ALL else int(min(len(points) / _CELL, 3.0 * len(points) ** 0.5))
    centres = points[draw.permutation(len(points))[:number]]
    cells = _nearest_centres(points, centres)
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], np.arange(number + 1))
    points, sizes = points[order], np.diff(starts)
    found, halves, of_centres = np.empty((len(points), count), dtype=np.int32), _halves(points), _halves(centres)
    for cell in range(number):
        away = of_centres - centres @ centres[cell]
        away[cell] = -np.inf
        by_distance = np.argsort(away, kind="stable")
        enough = int(np.searchsorted(np.cumsum(sizes[by_distance]), min(len(points), _MOST_COMPARED))) + 1
        near = by_distance[:enough].tolist()
        candidates = np.concatenate([np.arange(starts[each], starts[each + 1]) for each in near])
        size = max(1, _LIKENESSES // len(candidates))
        for start in range(starts[cell], starts[cell + 1], size):
            own = np.arange(start, min(starts[cell + 1], start + size))
            likeness = points[own] @ points[candidates].T - halves[candidates]
            likeness[own - start, own - starts[cell]] = -np.inf  # the point itself: its own cell is the first
            best = np.argpartition(likeness, -count, axis=1)[:, -count:]
            found[order[own]] = order[candidates[best]]
        progress((cell + 1) / number)
    return found


def _nearest_centres(points: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.int64]:
    halves, size = _halves(centres), max(1, _LIKENESSES // len(centres))
    blocks = (points[start : start + size] for start in range(0, len(points), size))
    return np.concatenate([(block @ centres.T - halves).argmax(axis=1) for block in blocks])


def _halves(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Half the squared lengths."""
    halves: NDArray[np.float32] = np.einsum("ij,ij->i", points, points) / np.float32(2)
    return halves


NEIGHBOURS = 15  # of each point, joined to it by springs
_GATHERING, _SETTLING = 75, 225  # iterations with and without early exaggeration
_HARDER = 12.0
_START = 1e-4
_FARTHEST = 8.0  # distance per iteration and axis; without it, points with very many springs would oscillate ever more
_SPACING = 0.45  # between grid nodes, if no more than _MOST are needed; the potential is about 1 wide
_FEWEST, _MOST = 32, 380  # nodes in a row
_NODES_A_POINT = 1.2  # nodes in a row per √n, which may exceed _MOST
_ROOM = 1.2  # width of the grid over that of the points, so that they can spread before a new grid is needed


class _Springs:
    """Springs between neighbours, at both ends, twice as strong where both are neighbours; all add up to 1."""

    def __init__(self, near: NDArray[np.int32]) -> None:
        count, each = near.shape
        own, other = np.repeat(np.arange(count), each), near.ravel().astype(np.int64)
        keys, strengths = np.unique(np.concatenate([own * count + other, other * count + own]), return_counts=True)
        self._own, self._others = np.divmod(keys, count)
        self._strengths = (strengths / (2 * len(own))).astype(np.float32)
        self._firsts = np.searchsorted(self._own, np.arange(count))

    def pull(self, points: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """The forces on `points` (n,), x + i·y."""
        way = points.take(self._others)
        way -= points.take(self._own)
        weights = way.real * way.real
        weights += way.imag * way.imag
        weights += np.float32(1)
        way *= np.divide(self._strengths, weights, out=weights)
        return np.add.reduceat(way, self._firsts)


def tsne_layout(
    near: NDArray[np.int32], plane: NDArray[np.float32], progress: Progress = lambda share: None
) -> NDArray[np.float32]:
    """The coordinates, float32 (n, 2), by `near` (n, k) from `plane` (n, 2). Deterministic; `progress` may raise."""
    count = len(plane)
    springs, repulsion = _Springs(near), Repulsion(count)
    points = _first_points(plane)
    rate = np.float32(4 * count / _HARDER)
    speed = np.zeros(count, dtype=np.complex64)
    gains = np.ones((count, 2), dtype=np.float32)
    rounds = _GATHERING + _SETTLING
    for number in range(rounds):
        gathers = number < _GATHERING
        push, total = repulsion.push(points)
        force = springs.pull(points) * np.float32(_HARDER if gathers else 1.0) + push / np.float32(total)
        # Gains rise where force and speed have the same sign and fall elsewhere (Jacobs, 1988).
        same = ((force.view(np.float32) > 0) == (speed.view(np.float32) > 0)).reshape(gains.shape)
        gains = np.maximum(np.where(same, gains + np.float32(0.2), gains * np.float32(0.8)), np.float32(0.01))
        speed *= np.float32(0.5 if gathers else 0.8)
        speed.view(np.float32)[:] += rate * gains.ravel() * force.view(np.float32)
        np.clip(speed.view(np.float32), -_FARTHEST, _FARTHEST, out=speed.view(np.float32))
        points += speed
        points -= points.mean()
        progress((number + 1) / rounds)
    return points.view(np.float32).reshape(-1, 2)


def _first_points(plane: NDArray[np.float32]) -> NDArray[np.complex64]:
    """The initial points x + i·y, (n,): small, with noise, as points of equal coordinates would never separate."""
    centred = plane - plane.mean(axis=0, dtype=np.float64)
    spread = float(np.abs(centred).std()) or 1.0
    noise = np.random.default_rng(_SEED_OF_PLACES).standard_normal(plane.shape)
    points = (centred / spread + 0.01 * noise) * _START
    return np.ascontiguousarray(points, dtype=np.float32).view(np.complex64).ravel()


class Repulsion:
    """The repulsion of `count` points by 1 / (1 + distance²), by FFT on a grid, within a few per cent."""

    def __init__(self, count: int) -> None:
        self._most = max(_MOST, round(_NODES_A_POINT * count**0.5))
        self._width = 0.0
        self._step = 1.0
        self._nodes, self._padded = 0, 0
        self._transform = np.empty((0, 0), dtype=np.complex128)

    def push(self, points: NDArray[np.complex64]) -> tuple[NDArray[np.complex64], float]:
        """The forces on `points` (n,), x + i·y, complex64 (n,), and the sum of 1 / (1 + distance²) over all pairs.

        Each point is spread over the nine nodes around it by quadratic splines, and read from them.
        """
        low = complex(points.real.min(), points.imag.min())
        high = complex(points.real.max(), points.imag.max())
        self._fit(max((high - low).real, (high - low).imag, 1e-9))
        corner = (low + high) / 2 - complex(1, 1) * (self._nodes / 2 * self._step)
        places = (points - corner) / self._step
        across, up = places.real.astype(np.float64), places.imag.astype(np.float64)
        column, row = np.rint(across), np.rint(up)
        across -= column
        up -= row
        around = self._nodes * np.arange(3)[:, None, None] + np.arange(3)[:, None]
        nodes = ((column - 1) * self._nodes + (row - 1)).astype(np.int64) + around
        along, upwards = _spline(across), _spline(up)
        density = np.bincount(nodes.ravel(), (along[:, None] * upwards).ravel(), self._nodes**2)
        shape = (self._padded, self._padded)
        changed = np.fft.rfft2(density.reshape(self._nodes, self._nodes), shape) * self._transform
        potential = np.fft.irfft2(changed, shape)[: self._nodes, : self._nodes].take(nodes)
        lines = (potential * upwards).sum(axis=1)
        slope = (lines * _slope(across)).sum(axis=0) + 1j * ((potential * _slope(up)).sum(axis=1) * along).sum(axis=0)
        total = float((lines * along).sum()) - len(points)  # the grid includes the potential 1 of each point at itself
        return (slope * (-0.5 / self._step)).astype(np.complex64), max(total, 1e-12)

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


def _spline(offset: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([0.5 * (0.5 - offset) ** 2, 0.75 - offset * offset, 0.5 * (0.5 + offset) ** 2])


def _slope(offset: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([offset - 0.5, -2 * offset, offset + 0.5])


def _quick(least: int) -> int:
    """The least number from `least` on that is 1, 3, 5, 9 or 15 times a power of two: fast sizes for the FFT."""
    return min(factor << (-(-least // factor) - 1).bit_length() for factor in (1, 3, 5, 9, 15))


_WIDTH = 24  # dimensions of the iterated subspace, so that the first two converge
_FEW, _WIDE, _NARROW = 30_000, 256, 128  # texts up to which neighbours are searched in 256 dimensions; in 128 for more
_LEAST = 8  # texts that t-SNE needs; fewer are laid out by PCA


class Layout(StrEnum):
    """The method by which the coordinates are computed: PCA (DIRECTION) or t-SNE (NEIGHBOURS)."""

    DIRECTION = "direction"
    NEIGHBOURS = "neighbours"


@dataclass(frozen=True, eq=False)
class TextMap:
    """`points` (n, 2), float32, by ascending `item_numbers`."""

    item_numbers: NDArray[np.int64]
    points: NDArray[np.float32]
    without_direction: int
    layout: Layout


def make_map(embeddings: Embeddings, progress: Progress = lambda share: None) -> TextMap:
    """The PCA map, the same for the same vectors. Blocking. Raises DataError."""
    unit = unit_vectors(embeddings)
    points = np.zeros((unit.count, 2), dtype=np.float32)
    if unit.count > 1:
        points = _two(_main_axes_first(_projected(unit, _WIDTH, 3, progress)))
    return _map_of(unit, points, Layout.DIRECTION)


def make_tsne_map(unit: UnitVectors, progress: Progress = lambda share: None) -> TextMap:
    """The t-SNE map, the same for the same vectors on one machine. Blocking for minutes. Raises DataError."""
    if unit.count < _LEAST:
        return _map_of(unit, make_map(unit.embeddings).points, Layout.NEIGHBOURS)
    width = _WIDE if unit.count <= _FEW else _NARROW
    points = _main_axes_first(_projected(unit, width, 2, _part(progress, 0.0, 0.08)))
    count = min(NEIGHBOURS, max(3, unit.count // 10))  # fewer for few texts, whose fifteenth nearest is far away
    near = knn_graph(points, count, _part(progress, 0.08, 0.25))
    plane = _two(points)
    del points
    return _map_of(unit, tsne_layout(near, plane, _part(progress, 0.25, 1.0)), Layout.NEIGHBOURS)


def _map_of(unit: UnitVectors, points: NDArray[np.float32], layout: Layout) -> TextMap:
    return TextMap(unit.item_numbers, points, unit.without_direction, layout)


def _part(progress: Progress, start: float, stop: float) -> Progress:
    return lambda share: progress(start + share * (stop - start))


def _projected(unit: UnitVectors, width: int, rounds: int, progress: Progress) -> NDArray[np.float32]:
    """The unit vectors in so few dimensions that all of them fit into memory, float32 (n, width)."""
    done = 0

    def passes() -> Iterator[Rows]:
        nonlocal done
        for _, rows, factors in unit.blocks():
            yield rows, factors
            done += len(rows)
            progress(min(1.0, done / ((rounds + 1) * unit.count)))

    space = main_subspace(passes, unit.dimension, min(width, unit.dimension), centred=True, rounds=rounds)
    return np.concatenate([space.project(rows, factors) for rows, factors in passes()])


def _main_axes_first(found: NDArray[np.float32]) -> NDArray[np.float32]:
    """The points centred and rotated to their principal axes, (n, d), the widest first."""
    centred = found - found.mean(axis=0, dtype=np.float64).astype(np.float32)
    _, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64) / len(centred))
    turned: NDArray[np.float32] = centred @ axes[:, ::-1].astype(np.float32)
    return turned


def _two(turned: NDArray[np.float32]) -> NDArray[np.float32]:
    """The first two axes, (n, 2), each with the sign that makes its skewness positive; missing axes are 0."""
    points = np.zeros((len(turned), 2), dtype=np.float64)
    points[:, : turned.shape[1]] = turned[:, :2]
    points *= np.where((points**3).sum(axis=0) < 0, -1.0, 1.0)
    return points.astype(np.float32)


_VERSION = 4  # of the t-SNE code, raised whenever it gives other maps for the same vectors
_SAMPLE_OF_KEY = 512


def cached_map(folder: JobFolder, unit: UnitVectors) -> TextMap | None:
    """The cached t-SNE map if it was made from the present vectors, else None. Blocking. Raises DataError."""
    with folder.open(read_only=True) as database:
        kept = kept_arrays(database, MAP)
    if kept is None or str(kept["key"]) != _key(unit):
        return None
    points = kept["points"].astype(np.float32)
    return _map_of(unit, points, Layout.NEIGHBOURS) if np.isfinite(points).all() else None


def tsne_map(folder: JobFolder, embeddings: Embeddings, progress: Progress = lambda share: None) -> TextMap:
    """The kept t-SNE map, or a new one. Blocking, half a minute for 100,000 texts. Raises DataError."""
    unit = unit_vectors(embeddings)
    found = cached_map(folder, unit)
    if found is None:
        found = make_tsne_map(unit, progress)
        keep_arrays(folder, MAP, key=np.array(_key(unit)), points=found.points)
    return found


def _key(unit: UnitVectors) -> str:
    """A SHA-256 over the item numbers, the inverse lengths of all vectors, and a sample of whole unit vectors."""
    digest = hashlib.sha256(f"{_VERSION} {unit.dimension} {unit.count}".encode())
    digest.update(unit.item_numbers.tobytes())
    digest.update(unit.inverse_lengths.tobytes())
    if unit.count:
        digest.update(unit.rows(unit.sample(_SAMPLE_OF_KEY)).tobytes())
    return digest.hexdigest()
