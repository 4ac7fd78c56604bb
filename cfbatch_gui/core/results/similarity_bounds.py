"""Which pairs of vectors can be similar at all: an upper bound of the cosine for an eighth of its price.

In an orthonormal basis whose first directions hold most of the vectors' length, split each unit vector into head and
rest: cos = head · head + rest · rest ≤ head · head + |rest| |rest|, by Cauchy and Schwarz. With |rest| as one more
coordinate of the head the bound is itself a product of two short vectors. What passes is looked at once more with twice
as many directions. The bound is never below the cosine, but for rounding, for which `_SLACK` makes room.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.principal import Rows, main_subspace, orthonormal
from cfbatch_gui.core.results.unit_vectors import UnitVectors

_HEAD = 127  # directions; with the length of the rest that makes 128 numbers a text
_SAMPLE = 3_000
_SLACK = 1e-5
_MOST_LOOKED_AT, _MOST_LEFT = 1 / 20, 1 / 150  # shares of all pairs
_PAIRS = 4_096  # that are looked at once more together


class SimilarityBounds:
    """Of all vectors of `unit`; they are named by their places in `order`."""

    def __init__(self, unit: UnitVectors, order: NDArray[np.int64]) -> None:
        directions = _directions(unit)
        self._first = np.empty((unit.count, _HEAD + 1), dtype=np.float32)
        self._second = np.empty((unit.count, _HEAD + 1), dtype=np.float32)
        turned = np.argsort(order)
        for start, rows, factors in unit.blocks():
            found = (rows @ directions) * factors[:, None]
            places = turned[start : start + len(rows)]
            self._first[places] = _with_rest(found[:, :_HEAD], 1.0)
            self._second[places] = _with_rest(found[:, _HEAD:], self._first[places, _HEAD] ** 2)

    @staticmethod
    def pays(unit: UnitVectors) -> bool:
        """Whether vectors are so long, and so many, that bounds are worth having."""
        return unit.dimension > 3 * _HEAD and unit.count > _SAMPLE

    def near(
        self, lines: NDArray[np.int64], columns: NDArray[np.int64], least: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Pairs that may be at least so similar, as indices into `lines` and `columns`.

        None when there are so many of them that the cosines of all are had for less.
        """
        bound = self._first[lines] @ self._first[columns].T
        near = np.flatnonzero(bound >= least - _SLACK)
        if len(near) > bound.size * _MOST_LOOKED_AT:
            return None
        line, column = near // len(columns), near % len(columns)
        left = np.empty(len(near), dtype=np.bool_)
        for start in range(0, len(near), _PAIRS):
            part = slice(start, start + _PAIRS)
            one, other = lines[line[part]], columns[column[part]]
            rest = self._first[one, _HEAD] * self._first[other, _HEAD]
            more = np.einsum("ij,ij->i", self._second[one], self._second[other])
            left[part] = bound[line[part], column[part]] - rest + more >= least - _SLACK
        if np.count_nonzero(left) > bound.size * _MOST_LEFT:
            return None
        return line[left], column[left]


def _directions(unit: UnitVectors) -> NDArray[np.float32]:
    """Twice as many directions as a head has, those that hold most first, (d, 254); from a sample, which suffices."""
    sample = unit.rows(unit.sample(_SAMPLE))
    ones = np.ones(len(sample), dtype=np.float32)

    def passes() -> Iterator[Rows]:
        yield sample, ones

    basis = main_subspace(passes, unit.dimension, 2 * _HEAD, centred=False, rounds=2)
    found = sample @ basis.directions
    axes = np.linalg.eigh(found.T @ found)[1][:, ::-1].astype(np.float64)
    # Orthonormal in float32 as well: a bound stands on it.
    return orthonormal(basis.directions.astype(np.float64) @ axes)


def _with_rest(head: NDArray[np.float32], squared: NDArray[np.float32] | float) -> NDArray[np.float32]:
    """A head of vectors of that squared length, with the length of their rest as its last column."""
    found = np.empty((len(head), head.shape[1] + 1), dtype=np.float32)
    found[:, :-1] = head
    found[:, -1] = np.sqrt(np.maximum(squared - np.einsum("ij,ij->i", head, head), 0.0))
    return found
