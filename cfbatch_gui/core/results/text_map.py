"""A map of all texts: by direction (PCA) or by neighbours (t-SNE), in NumPy of our own.

A t-SNE map is kept in the job's folder under a key of the vectors; work is in blocks that release the interpreter lock.
"""

import hashlib
import io
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.tsne import NEIGHBOURS, knn_graph, tsne_layout
from cfbatch_gui.core.results.unit_vectors import Progress, Rows, UnitVectors, main_subspace, unit_vectors
from cfbatch_gui.core.system.files import write_own_file

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
_SAMPLE = 512


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
        content = io.BytesIO()
        np.savez(content, key=np.array(_key(unit)), points=found.points)
        with suppress(UserError):  # the disk is full, or the folder is read-only or deleted
            write_own_file(folder.map, content.getvalue())
    return found


def _read(folder: JobFolder, unit: UnitVectors) -> TextMap | None:
    try:
        with np.load(io.BytesIO(folder.map.read_bytes()), allow_pickle=False) as kept:
            key, points = str(kept["key"]), kept["points"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    fits = key == _key(unit) and points.shape == (unit.count, 2) and points.dtype == np.float32
    return map_of(unit, points, 0.0, Layout.NEIGHBOURS) if fits and np.isfinite(points).all() else None


def _key(unit: UnitVectors) -> str:
    """A SHA-256 over the item numbers, the inverse lengths of all vectors, and a sample of whole unit vectors."""
    digest = hashlib.sha256(f"{_VERSION} {unit.dimension} {unit.count}".encode())
    digest.update(unit.item_numbers.tobytes())
    digest.update(unit.inverse_lengths.tobytes())
    if unit.count:
        digest.update(unit.rows(unit.sample(_SAMPLE)).tobytes())
    return digest.hexdigest()
