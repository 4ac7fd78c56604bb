"""Vectors as directions: each divided by its length, read in blocks from the memory map, never all at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.vectors.embeddings import Embeddings

Progress = Callable[[float], None]  # the share that is done, 0 to 1

_BLOCK_BYTES = 16_000_000

# Place of its first row among all that have a direction; rows as they are stored, (n, d); 1 / length of each, (n,).
Block = tuple[int, NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class UnitVectors:
    """The vectors that have a direction: neither zero nor with a NaN or an infinity.

    A place is a number from 0 to `count`; `item_numbers[place]` says which text it is. Texts without a vector, and
    vectors without a direction, have no place; `without_direction` counts the latter.
    """

    embeddings: Embeddings
    item_numbers: NDArray[np.int64]
    inverse_lengths: NDArray[np.float32]
    dimension: int
    without_direction: int

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.item_numbers)

    def blocks(self, most_bytes: int = _BLOCK_BYTES) -> Iterator[Block]:
        """All of them, in order. Each block is mapped anew, so that memory stays flat; copy what is to stay."""
        size = max(1, most_bytes // max(1, self.dimension * 4))
        for start in range(0, self.count, size):
            items = self.item_numbers[start : start + size]
            yield start, _rows(self.embeddings.vectors(), items), self.inverse_lengths[start : start + size]

    def rows(self, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """Unit vectors of these places, (n, d), a copy."""
        stored = self.embeddings.vectors()[self.item_numbers[indices] - 1]
        unit: NDArray[np.float32] = stored * self.inverse_lengths[indices][:, None]
        return unit

    def sample(self, most: int) -> NDArray[np.int64]:
        """Up to `most` places, evenly spread and the same each time."""
        if self.count <= most:
            return np.arange(self.count)
        return np.linspace(0, self.count - 1, most).astype(np.int64)


def unit_vectors(embeddings: Embeddings) -> UnitVectors:
    """Measure every vector that came back; reads them once. Raises DataError."""
    present = np.flatnonzero(embeddings.present()) if embeddings.dimension else np.empty(0, dtype=np.int64)
    dimension = embeddings.dimension
    lengths = np.empty(len(present), dtype=np.float64)
    size = max(1, _BLOCK_BYTES // max(1, dimension * 4))
    for start in range(0, len(present), size):
        block = _rows(embeddings.vectors(), present[start : start + size] + 1)
        lengths[start : start + size] = _lengths(block)
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


def _lengths(block: NDArray[np.float32]) -> NDArray[np.float64]:
    """In double, a cache full at a time: the square of a small float32 may be nothing."""
    lengths = np.empty(len(block), dtype=np.float64)
    for start in range(0, len(block), 256):
        wide = block[start : start + 256].astype(np.float64)
        lengths[start : start + 256] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return lengths


def _rows(vectors: NDArray[np.float32], items: NDArray[np.int64]) -> NDArray[np.float32]:
    """The rows of these item numbers, which rise; without a copy where no text between them is missing."""
    first, last = int(items[0]) - 1, int(items[-1])
    block = vectors[first:last]
    return block if last - first == len(items) else block[items - 1 - first]
