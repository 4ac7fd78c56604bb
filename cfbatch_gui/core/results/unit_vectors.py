"""Vectors divided by their lengths, read in blocks, and the directions in which they vary most."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Embeddings, lengths_of

Progress = Callable[[float], None]  # the share that is done, 0 to 1

_BLOCK_BYTES = 16_000_000

# Index of its first row among the unit vectors; rows as they are stored, (n, d); 1 / length of each, (n,).
Block = tuple[int, NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class UnitVectors:
    """The vectors that have a direction, by an index below `count`; `item_numbers` ascend."""

    embeddings: Embeddings
    item_numbers: NDArray[np.int64]
    inverse_lengths: NDArray[np.float32]
    dimension: int
    without_direction: int

    @property
    def count(self) -> int:
        return len(self.item_numbers)

    @property
    def missing(self) -> int:
        """How many texts have no vector."""
        return self.embeddings.count - self.count - self.without_direction

    def blocks(self, most_bytes: int = _BLOCK_BYTES) -> Iterator[Block]:
        """All of them in order. Each block is a memory map of its own, so that memory use is constant; copy to keep."""
        size = max(1, most_bytes // max(1, self.dimension * 4))
        for start in range(0, self.count, size):
            items = self.item_numbers[start : start + size]
            yield start, _rows(self.embeddings, items), self.inverse_lengths[start : start + size]

    def rows(self, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        stored = self.embeddings.rows_of(self.item_numbers[indices])
        unit: NDArray[np.float32] = stored * self.inverse_lengths[indices][:, None]
        return unit

    def sample(self, most: int) -> NDArray[np.int64]:
        """Up to `most` indices, ascending, evenly spread and the same each time."""
        if self.count <= most:
            return np.arange(self.count)
        return np.linspace(0, self.count - 1, most).astype(np.int64)


def unit_vectors(embeddings: Embeddings) -> UnitVectors:
    """Measure the lengths of all vectors that came back. Blocking: reads all of them once. Raises DataError."""
    present = np.flatnonzero(embeddings.present()) if embeddings.dimension else np.empty(0, dtype=np.int64)
    dimension = embeddings.dimension
    lengths = np.empty(len(present), dtype=np.float64)
    size = max(1, _BLOCK_BYTES // max(1, dimension * 4))
    for start in range(0, len(present), size):
        block = _rows(embeddings, present[start : start + size] + 1)
        lengths[start : start + size] = lengths_of(block)
    with np.errstate(over="ignore", divide="ignore"):
        inverse = (1.0 / lengths).astype(np.float32)
    has_direction = np.isfinite(lengths) & (lengths > 0) & np.isfinite(inverse) & (inverse > 0)
    return UnitVectors(
        embeddings,
        present[has_direction] + 1,
        inverse[has_direction],
        dimension,
        len(present) - int(has_direction.sum()),
    )


def _rows(embeddings: Embeddings, items: NDArray[np.int64]) -> NDArray[np.float32]:
    """The rows of these item numbers, which ascend; a view instead of a copy if the numbers are consecutive."""
    first, last = int(items[0]) - 1, int(items[-1])
    block = embeddings.rows(first, last)
    return block if last - first == len(items) else block[items - 1 - first]


Rows = tuple[NDArray[np.float32], NDArray[np.float32]]  # rows (n, d), and the factor that scales each, (n,)

_SEED = 20_250_401  # arbitrary but fixed, so that the same vectors give the same map


def orthonormal(columns: NDArray[np.float64]) -> NDArray[np.float32]:
    """An orthonormal basis (d, width) by Gram-Schmidt; `numpy.linalg.qr` would hold the interpreter lock."""
    found = np.zeros(columns.shape, dtype=np.float64)
    for index in range(columns.shape[1]):
        column = columns[:, index]
        length = float(np.linalg.norm(column))
        for _ in range(2):
            before = found[:, :index]
            column = column - before @ (column @ before)
        rest = float(np.linalg.norm(column))
        if rest > 1e-10 * length:
            found[:, index] = column / rest
    return found.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Subspace:
    """`directions` (d, width) are orthonormal, in no order; `mean` (d,) is that of the rows, zero if not centred."""

    directions: NDArray[np.float32]
    mean: NDArray[np.float32]

    def project(self, rows: NDArray[np.float32], factors: NDArray[np.float32]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = (rows @ self.directions) * factors[:, None] - self.mean @ self.directions
        return found


def main_subspace(
    passes: Callable[[], Iterable[Rows]], dimension: int, width: int, *, centred: bool, rounds: int = 3
) -> Subspace:
    """The `width` directions of most variance, or length if not `centred`; `passes` gives all rows each time."""
    start = np.random.default_rng(_SEED).standard_normal((dimension, width))
    directions = orthonormal(start)
    mean = np.zeros(dimension, dtype=np.float64)
    for turn in range(rounds):
        image = np.zeros((dimension, width), dtype=np.float64)
        total, count = np.zeros(dimension, dtype=np.float64), 0
        for rows, factors in passes():
            image += rows.T @ ((rows @ directions) * (factors * factors)[:, None])
            if centred and turn == 0:
                total += factors @ rows
            count += len(rows)
        if centred and turn == 0:
            mean = total / max(1, count)
        image -= count * np.outer(mean, mean @ directions)
        directions = orthonormal(image)
    return Subspace(directions, mean.astype(np.float32))
