"""Principal component analysis by a randomised method: few passes over the data, no matrix of (dimension, dimension).

N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness", SIAM Review 53 (2011), algorithm 4.4, on
the covariance matrix, which is never formed: each pass multiplies it by a matrix of few columns, block by block.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.float32], NDArray[np.float32]]  # rows (n, d), and the factor that scales each, (n,)

_SEED = 20_250_401  # arbitrary but fixed, so that the same vectors give the same map


def orthonormal(columns: NDArray[np.float64]) -> NDArray[np.float32]:
    """An orthonormal basis of the columns' span, (d, width), by the Gram-Schmidt process, applied twice to each column.

    A column that depends on those before it becomes zero. `numpy.linalg.qr` holds the global interpreter lock
    throughout, for seconds on a busy machine; here it is released between any two columns.
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
    """`directions` (d, width) are orthonormal, in no order; `mean` (d,) is that of the rows, zero if not centred."""

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
    """The subspace of `width` directions with most of the rows' variance, or of their squared length if not `centred`.

    `passes` is called `rounds` times and gives all rows each time.
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
