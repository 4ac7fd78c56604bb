"""The few directions in which vectors differ most, by a randomised method: three passes over the data, no big matrix.

N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness", SIAM Review 53 (2011), algorithm 4.4, on
the covariance matrix, which is never formed: each pass multiplies it with a thin matrix, block by block.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.float32], NDArray[np.float32]]  # rows (n, d) and what each is to be multiplied with, (n,)

_SEED = 20_250_401  # any number; the same one each time, so that a map looks the same each time


def orthonormal(columns: NDArray[np.float64]) -> NDArray[np.float32]:
    """The same space with columns of length 1 at right angles, by Gram and Schmidt, each column twice; (d, width).

    A column that adds no direction becomes zero. numpy's own qr holds the interpreter's lock from end to end, for
    seconds on a busy machine; here it is free between any two columns.
    """
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
    """`directions` (d, width), orthonormal, in no order; `mean` (d,) of the rows, zero where it was not wanted."""

    directions: NDArray[np.float32]
    mean: NDArray[np.float32]

    def project(self, rows: NDArray[np.float32], factors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Coordinates in the subspace, (n, width)."""
        found: NDArray[np.float32] = (rows @ self.directions) * factors[:, None] - self.mean @ self.directions
        return found


def main_subspace(
    passes: Callable[[], Iterable[Rows]],
    dimension: int,
    width: int,
    *,
    centred: bool,
    rounds: int = 3,
) -> Subspace:
    """The subspace of `width` directions that holds most of the rows' spread, or of their length if not `centred`.

    `passes` gives all rows once, each of the `rounds` times it is called.
    """
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
