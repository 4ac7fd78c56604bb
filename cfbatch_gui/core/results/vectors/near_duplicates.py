"""Near duplicates: which texts say so much the same that one of them will do.

Texts are gone through in the order in which they are preferred. Each either stays, or goes because a text that stays is
at least so similar to it: so everything that goes has its like among what stays, which a chain of neighbours (A like B,
B like C) would not give.

Exact, and yet without a product of everything with everything: see `SimilarityBounds`. The cosine itself is worked
out, in float32, only for the pairs whose bound reaches the threshold, or for all where these are many. Similarities
within `TOLERANCE` below the threshold count as equal to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.results.vectors.pca import Rows, main_subspace, orthonormal
from cfbatch_gui.core.results.vectors.unit_vectors import Progress, UnitVectors, unit_vectors

USUAL_THRESHOLD = 0.95  # of the cosine, from which texts are taken for near duplicates
TOLERANCE = 2e-6  # what float32 is off by, over a thousand dimensions
_BLOCK, _CHUNK = 512, 4096  # texts that are looked at together, and texts that stay beside them
UNASKED_TEXTS = 30_000  # up to so many texts are compared without being asked for
_HEAD = 127  # directions; with the length of the rest that makes 128 numbers a text
_SAMPLE = 3_000
_SLACK = 1e-5
_MOST_LOOKED_AT, _MOST_LEFT = 1 / 20, 1 / 150  # shares of all pairs
_PAIRS = 4_096  # that are looked at once more together


class Keep(StrEnum):
    """Which text of several is preferred."""

    FIRST = "first"  # as the file has them
    LONGEST = "longest"  # in characters; of equal ones the first


@dataclass(frozen=True, eq=False)
class Duplicates:
    """`stays[i]` is the item number that stays for `item_numbers[i]`, itself for most; `similarities[i]` to it, 0–1.

    `item_numbers` rise. Texts without a vector or a direction are not among them: nothing is known, so they stay.
    """

    threshold: float
    item_numbers: NDArray[np.int64]
    stays: NDArray[np.int64]
    similarities: NDArray[np.float32]
    missing: int
    without_direction: int

    @property
    def gone(self) -> int:
        """How many texts go."""
        return int(np.count_nonzero(self.stays != self.item_numbers))

    def groups(self) -> tuple["Group", ...]:
        """What stays with what goes for it: the largest first, equal ones in the order of the input."""
        going = np.flatnonzero(self.stays != self.item_numbers)
        order = going[np.lexsort((self.item_numbers[going], -self.similarities[going], self.stays[going]))]
        kept, starts = np.unique(self.stays[order], return_index=True)
        parts = zip(kept.tolist(), np.split(order, starts[1:]), strict=True) if len(order) else ()
        found = [
            Group(item, tuple(self.item_numbers[part].tolist()), tuple(self.similarities[part].tolist()))
            for item, part in parts
        ]
        return tuple(sorted(found, key=lambda group: -len(group.goes)))


@dataclass(frozen=True, slots=True)
class Group:
    """Item numbers; `goes` are ordered by similarity to the one that stays, the most similar first."""

    stays: int
    goes: tuple[int, ...]
    similarities: tuple[float, ...]


def find_duplicates(
    embeddings: Embeddings, threshold: float, keep: Keep = Keep.FIRST, progress: Progress = lambda share: None
) -> Duplicates:
    """Texts at least so similar (cosine, above 0). Runs for seconds: call it in a thread. Raises DataError."""
    unit = unit_vectors(embeddings)
    order = _order(unit, keep)
    search = _Search(unit, order, threshold)
    for done in search.run():
        progress((done / max(1, unit.count)) ** 2)  # later texts are compared with more
    stays = np.empty(unit.count, dtype=np.int64)
    similarities = np.empty(unit.count, dtype=np.float32)
    stays[order] = unit.item_numbers[order[search.kept_by]]
    similarities[order] = np.clip(search.similarities, 0, 1)
    missing = embeddings.count - unit.count - unit.without_direction
    return Duplicates(threshold, unit.item_numbers, stays, similarities, missing, unit.without_direction)


def _order(unit: UnitVectors, keep: Keep) -> NDArray[np.int64]:
    """Indices of the vectors, the preferred ones first."""
    if keep is Keep.FIRST:
        return np.arange(unit.count)
    lengths = unit.embeddings.text_lengths()[unit.item_numbers - 1]
    return np.argsort(-lengths, kind="stable")


class _Search:
    """Goes through `order`; afterwards `kept_by` has, for each, its place in `order` or that of the one kept for it."""

    def __init__(self, unit: UnitVectors, order: NDArray[np.int64], threshold: float) -> None:
        self._unit, self._order = unit, order
        self._least = threshold - TOLERANCE
        self.kept_by = np.arange(unit.count)
        self.similarities = np.ones(unit.count, dtype=np.float32)
        self._bounds = SimilarityBounds(unit, order) if SimilarityBounds.pays(unit) else None
        self._kept = np.empty(unit.count, dtype=np.int64)  # places in `order`, the first `_count` of them
        self._count = 0

    def run(self) -> Iterator[int]:
        """How many are done, after each block."""
        for start in range(0, self._unit.count, _BLOCK):
            block = np.arange(start, min(start + _BLOCK, self._unit.count))
            rows = self._unit.rows(self._order[block])
            best = np.full(len(block), -1.0, dtype=np.float32)
            to = np.full(len(block), -1)
            for first in range(0, self._count, _CHUNK):
                self._compare(block, rows, slice(first, min(first + _CHUNK, self._count)), best, to)
            self._settle(block, rows, best, to)
            yield int(block[-1]) + 1

    def _compare(
        self,
        block: NDArray[np.int64],
        rows: NDArray[np.float32],
        part: slice,
        best: NDArray[np.float32],
        to: NDArray[np.int64],
    ) -> None:
        """Note for each row of the block the most similar of a part of those that stay, the earliest of equal ones."""
        kept = self._kept[part]
        if self._bounds is not None:
            near = self._bounds.near(block, kept, self._least)
            if near is not None:
                self._compare_pairs(near[0], rows, kept[near[1]], best, to)
                return
        product = rows @ self._unit.rows(self._order[kept]).T
        column = product.argmax(axis=1)
        found = product[np.arange(len(block)), column]
        better = (found >= self._least) & (found > best)
        best[better], to[better] = found[better], kept[column[better]]

    def _compare_pairs(
        self,
        lines: NDArray[np.int64],
        rows: NDArray[np.float32],
        kept: NDArray[np.int64],
        best: NDArray[np.float32],
        to: NDArray[np.int64],
    ) -> None:
        if not len(lines):
            return
        found = np.concatenate(
            [
                np.einsum("ij,ij->i", rows[lines[part]], self._unit.rows(self._order[kept[part]]))
                for part in (slice(start, start + _CHUNK) for start in range(0, len(lines), _CHUNK))
            ]
        )
        order = np.lexsort((kept, -found, lines))
        lines, found, kept = lines[order], found[order], kept[order]
        lines, first = np.unique(lines, return_index=True)
        found, kept = found[first], kept[first]
        better = (found >= self._least) & (found > best[lines])
        best[lines[better]], to[lines[better]] = found[better], kept[better]

    def _settle(
        self,
        block: NDArray[np.int64],
        rows: NDArray[np.float32],
        best: NDArray[np.float32],
        to: NDArray[np.int64],
    ) -> None:
        """Decide the block's texts one after the other: those before them in the block may stay, too."""
        inner = np.tril(rows @ rows.T, -1)
        stays = np.zeros(len(block), dtype=np.bool_)
        candidates = inner.max(axis=1) >= self._least
        for line in range(len(block)):
            if candidates[line]:
                here = np.where(stays[:line], inner[line, :line], -1.0)
                column = int(here.argmax())
                if here[column] >= self._least and here[column] > best[line]:
                    best[line], to[line] = here[column], block[column]
            stays[line] = to[line] < 0
        gone = ~stays
        self.kept_by[block[gone]], self.similarities[block[gone]] = to[gone], best[gone]
        new = block[stays]
        self._kept[self._count : self._count + len(new)] = new
        self._count += len(new)


class SimilarityBounds:
    """Upper bounds of the cosines of all vectors of `unit`, which are named by their index in `order`.

    A vector is split into its coordinates in a few directions and the length of the rest. The cosine of two is at most
    the product of the coordinates plus that of the two lengths.
    """

    def __init__(self, unit: UnitVectors, order: NDArray[np.int64]) -> None:
        directions = _directions(unit)
        self._first = np.empty((unit.count, _HEAD + 1), dtype=np.float32)
        self._second = np.empty((unit.count, _HEAD + 1), dtype=np.float32)
        turned = np.argsort(order)
        for start, rows, factors in unit.blocks():
            found = (rows @ directions) * factors[:, None]
            indices = turned[start : start + len(rows)]
            self._first[indices] = _with_rest(found[:, :_HEAD], 1.0)
            self._second[indices] = _with_rest(found[:, _HEAD:], self._first[indices, _HEAD] ** 2)

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
