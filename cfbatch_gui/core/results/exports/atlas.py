"""Columns with which Embedding Atlas opens a file of vectors without computing a map: each text's point on the map and
its nearest neighbours.

Neighbours are rows of the file, counted from 0. A text without a direction has null coordinates and an empty list of
neighbours, as the program does not accept null there. The map is the cached t-SNE map if the job has one, as the user
has seen that one. Otherwise it is the PCA map, as t-SNE takes half a minute for many texts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.exports.base import Work
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.results.maps.map_cache import cached_map
from cfbatch_gui.core.results.maps.text_map import Layout, make_map
from cfbatch_gui.core.results.vectors.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.results.vectors.unit_vectors import UnitVectors, unit_vectors

NAMES = ("projection_x", "projection_y", "neighbors")
_NEIGHBOURS = 15  # as many as Embedding Atlas itself computes
_NOWHERE = (None, None)
_PROJECTIONS = {
    Layout.NEIGHBOURS: "by neighbours (t-SNE): the map that is kept with the job",
    Layout.DIRECTION: "by direction (PCA): no map by neighbours is kept with the job",
}
MOST_TEXTS = 20_000  # of 1,024 numbers: some ten seconds on two cores
_BLOCK, _CHUNK = 1_024, 4_096  # texts whose neighbours are looked for together, and texts they are compared with


@dataclass(frozen=True, eq=False)
class NearestRows:
    """`of_row[row]` is an index into `rows` and `distances`, both (m, k), or -1 for a row without a direction.

    `rows` (int32) are row numbers from 0, the nearest first, never the row itself; `distances` (float32) are
    1 − cosine, 0 to 2.
    """

    of_row: NDArray[np.int64]
    rows: NDArray[np.int32]
    distances: NDArray[np.float32]


def find_nearest_rows(
    unit: UnitVectors, item_numbers: NDArray[np.int64], count: int, tell: Callable[[int], None]
) -> NearestRows:
    """Up to `count` neighbours of each row; `item_numbers` are the texts of the rows, ascending.

    Blocking for seconds. `tell` gets the number of rows that are done; an exception from it is passed on. Raises
    DataError.
    """
    indices = np.flatnonzero(np.isin(unit.item_numbers, item_numbers))
    row_of = np.searchsorted(item_numbers, unit.item_numbers[indices])
    of_row = np.full(len(item_numbers), -1, dtype=np.int64)
    of_row[row_of] = np.arange(len(indices))
    most = max(0, min(count, len(indices) - 1))
    nearest = np.zeros((len(indices), most), dtype=np.int64)
    cosines = np.zeros((len(indices), most), dtype=np.float32)
    for start in range(0, len(indices) if most else 0, _BLOCK):
        block = slice(start, start + _BLOCK)
        tell(start)
        nearest[block], cosines[block] = _nearest(unit, indices, block, most)
    distances = np.clip(np.float32(1) - cosines, 0, 2)
    return NearestRows(of_row, row_of[nearest].astype(np.int32), distances)


def _nearest(
    unit: UnitVectors, indices: NDArray[np.int64], block: slice, most: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """For a block of `indices`: indices into it and cosines, both (block, most), the highest first, ties in order."""
    lines = unit.rows(indices[block])
    numbers = np.arange(len(lines))[:, None]
    found = np.zeros((len(lines), most), dtype=np.int64)
    best = np.full((len(lines), most), -np.inf, dtype=np.float32)
    for first in range(0, len(indices), _CHUNK):
        chunk = unit.rows(indices[first : first + _CHUNK])
        product = lines @ chunk.T
        here = np.arange(block.start, block.start + len(lines)) - first
        own = np.flatnonzero((here >= 0) & (here < len(chunk)))
        product[own, here[own]] = -np.inf
        some = min(most, len(chunk))
        columns = np.argpartition(product, len(chunk) - some, axis=1)[:, len(chunk) - some :]
        candidates = np.hstack([found, columns + first])
        values = np.hstack([best, product[numbers, columns]])
        order = np.lexsort((candidates, -values))[:, :most]
        found, best = candidates[numbers, order], values[numbers, order]
    return found, best


class AtlasColumns:
    """The columns of one export, computed by the constructor. `fields` are arro3's; `options` are for the command."""

    def __init__(self, work: Work, table: VectorRows) -> None:
        from arro3.core import DataType, Field

        embeddings = Embeddings(work.folder, work.metadata.failed_batches)
        kept = cached_map(work.folder, embeddings)
        found = make_map(embeddings, lambda _share: work.tick(0)) if kept is None else kept
        points: list[tuple[float, float]] = [(x, y) for x, y in found.points.tolist()]
        self._point_of = dict(zip(found.item_numbers.tolist(), points, strict=True))
        self._nearest: NearestRows | None = None
        x, y, neighbours = NAMES
        self.fields = [Field(x, DataType.float32()), Field(y, DataType.float32())]
        self.options: tuple[str, ...] = ("--x", x, "--y", y)
        self.notes: dict[str, object] = {
            "projection": _PROJECTIONS[found.layout],
            "neighbors": f"left out: there are more than {MOST_TEXTS:,} texts",
        }
        if table.count > MOST_TEXTS:
            return
        self._nearest = find_nearest_rows(unit_vectors(embeddings), table.item_numbers, _NEIGHBOURS, work.tick)
        parts = [
            Field("ids", DataType.list(Field("item", DataType.int32()))),
            Field("distances", DataType.list(Field("item", DataType.float32()))),
        ]
        self.fields.append(Field(neighbours, DataType.struct(parts)))
        self.options += ("--neighbors", neighbours)
        self.notes["neighbors"] = f"up to {_NEIGHBOURS}: rows of this file from 0, and 1 - cosine"

    def arrays(self, first: int, texts: Sequence[EmbeddedText]) -> list[Any]:
        """An arro3 array for each of `fields`; `first` is the row of the first text, from 0."""
        from arro3.core import Array, DataType

        indices = [self._point_of.get(text.item_no, _NOWHERE) for text in texts]
        arrays: list[Any] = [Array(list(axis), DataType.float32()) for axis in zip(*indices, strict=True)]
        return arrays if self._nearest is None else [*arrays, self._neighbours(self._nearest, first, len(texts))]

    def _neighbours(self, nearest: NearestRows, first: int, count: int) -> Any:
        from arro3.core import Array, list_array, struct_array

        lines = nearest.of_row[first : first + count]
        lengths = np.where(lines >= 0, nearest.rows.shape[1], 0)
        offsets = Array.from_numpy(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
        there = lines[lines >= 0]
        parts = self.fields[-1].type.fields
        lists = [
            list_array(offsets, Array.from_numpy(np.ascontiguousarray(values[there]).reshape(-1)), type=part.type)
            for part, values in zip(parts, (nearest.rows, nearest.distances), strict=True)
        ]
        return struct_array(lists, fields=parts)
