"""For each row of a file the rows whose vectors are nearest, all worked out at once.

`neighbours.py` reads every vector for one text, which is right for one and takes minutes for all. Here blocks of texts
are multiplied with blocks of texts, in float32: exact but for its rounding, and of n² cost. So there is a most.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.unit_vectors import UnitVectors

MOST_TEXTS = 20_000  # of 1,024 numbers: some ten seconds on two cores
_BLOCK, _CHUNK = 1_024, 4_096  # texts whose neighbours are looked for together, and texts they are compared with


@dataclass(frozen=True, eq=False)
class NearestRows:
    """`of_row[row]` is a line of `rows` and `distances`, both (m, k), or -1 for a row without a direction.

    `rows` are int32 and count from 0, the nearest first, never the row itself; `distances` are float32, 1 − cosine,
    0 to 2.
    """

    of_row: NDArray[np.int64]
    rows: NDArray[np.int32]
    distances: NDArray[np.float32]


def find_nearest_rows(
    unit: UnitVectors, item_numbers: NDArray[np.int64], count: int, tell: Callable[[int], None]
) -> NearestRows:
    """Up to `count` neighbours of each; `item_numbers`, which rise, has the text of each row.

    Runs for seconds: `tell` gets how many rows are done, and what it raises ends it. Raises DataError.
    """
    places = np.flatnonzero(np.isin(unit.item_numbers, item_numbers))
    row_of = np.searchsorted(item_numbers, unit.item_numbers[places])
    of_row = np.full(len(item_numbers), -1, dtype=np.int64)
    of_row[row_of] = np.arange(len(places))
    most = max(0, min(count, len(places) - 1))
    nearest = np.zeros((len(places), most), dtype=np.int64)
    cosines = np.zeros((len(places), most), dtype=np.float32)
    for start in range(0, len(places) if most else 0, _BLOCK):
        block = slice(start, start + _BLOCK)
        tell(start)
        nearest[block], cosines[block] = _nearest(unit, places, block, most)
    distances = np.clip(np.float32(1) - cosines, 0, 2)
    return NearestRows(of_row, row_of[nearest].astype(np.int32), distances)


def _nearest(
    unit: UnitVectors, places: NDArray[np.int64], block: slice, most: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Indices into `places` and cosines for a block of it, the highest first, equal ones as they stand in the file."""
    lines = unit.rows(places[block])
    numbers = np.arange(len(lines))[:, None]
    found = np.zeros((len(lines), most), dtype=np.int64)
    best = np.full((len(lines), most), -np.inf, dtype=np.float32)
    for first in range(0, len(places), _CHUNK):
        chunk = unit.rows(places[first : first + _CHUNK])
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
