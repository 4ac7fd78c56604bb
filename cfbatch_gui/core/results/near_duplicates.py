"""Near duplicates: texts whose vectors have at least a given cosine.

Texts are visited in the order of preference; one goes if a text that stays is similar to it. The result is exact, by
upper bounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.unit_vectors import Progress, Rows, UnitVectors, main_subspace, orthonormal, unit_vectors

USUAL_THRESHOLD = 0.95  # the default of the cosine similarity from which texts are near duplicates
TOLERANCE = 2e-6  # the rounding error of a float32 cosine over a thousand dimensions
_BLOCK, _CHUNK = 512, 4096  # texts that are decided together, and texts that stay which they are compared with
UNASKED_TEXTS = 30_000  # up to so many texts are compared without the user asking for it
_HEAD = 127  # directions; with the length of the remainder that makes 128 numbers for each text
_SAMPLE = 3_000
_SLACK = 1e-5
_MOST_NEAR = 1 / 100  # of all pairs: the share of those whose cosines are faster computed one by one


class Keep(StrEnum):
    """Which of several similar texts stays."""

    FIRST = "first"  # the first in the file
    LONGEST = "longest"  # the one with the most characters; of several the first in the file


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Arrays of shape (n,) for texts with a direction, ascending.

    `stays` is the number of the text that stays for each, `similarities` the cosine of the two.
    """

    threshold: float
    item_numbers: NDArray[np.int64]
    stays: NDArray[np.int64]
    similarities: NDArray[np.float32]
    missing: int
    without_direction: int

    @property
    def gone(self) -> int:
        return int(np.count_nonzero(self.stays != self.item_numbers))

    def groups(self) -> tuple["Group", ...]:
        """Each text that stays with those that go for it: the largest group first, equal sizes in input order."""
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
    """Item numbers: the text that stays, and those that go, the most similar to it first, with their similarities."""

    stays: int
    goes: tuple[int, ...]
    similarities: tuple[float, ...]


def find_duplicates(
    embeddings: Embeddings, threshold: float, keep: Keep = Keep.FIRST, progress: Progress = lambda share: None
) -> Duplicates:
    """Find texts with a cosine similarity ≥ `threshold`, which is above 0.

    Blocking: seconds for many texts; call it in a thread. Raises DataError.
    """
    unit = unit_vectors(embeddings)
    order = _order(unit, keep)
    search = _Search(unit, order, threshold)
    for done in search.run():
        progress((done / max(1, unit.count)) ** 2)  # later texts are compared with more
    stays = np.empty(unit.count, dtype=np.int64)
    similarities = np.empty(unit.count, dtype=np.float32)
    stays[order] = unit.item_numbers[order[search.kept_by]]
    similarities[order] = np.clip(search.similarities, 0, 1)
    return Duplicates(threshold, unit.item_numbers, stays, similarities, unit.missing, unit.without_direction)


def _order(unit: UnitVectors, keep: Keep) -> NDArray[np.int64]:
    if keep is Keep.FIRST:
        return np.arange(unit.count)
    lengths = unit.embeddings.text_lengths()[unit.item_numbers - 1]
    return np.argsort(-lengths, kind="stable")


class _Search:
    """The search over the texts in `order`; `kept_by` is the index of the text that stays for each."""

    def __init__(self, unit: UnitVectors, order: NDArray[np.int64], threshold: float) -> None:
        self._unit, self._order = unit, order
        self._least = threshold - TOLERANCE
        self.kept_by = np.arange(unit.count)
        self.similarities = np.ones(unit.count, dtype=np.float32)
        self._bounds = SimilarityBounds(unit, order) if SimilarityBounds.pays(unit) else None
        self._kept = np.empty(unit.count, dtype=np.int64)  # the texts that stay: the first `_count` elements
        self._count = 0

    def run(self) -> Iterator[int]:
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
        """Update for each row of the block the highest cosine so far and its text, the earliest of equal ones."""
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
        """Decide the texts of the block one by one, as each is compared with those of the block that stay before it."""
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
    """Upper bounds of the cosines of vectors, by their index in `order`.

    A vector is its coordinates in `_HEAD` directions and the length of the remainder.
    """

    def __init__(self, unit: UnitVectors, order: NDArray[np.int64]) -> None:
        directions = _directions(unit)
        self._heads = np.empty((unit.count, _HEAD + 1), dtype=np.float32)
        turned = np.argsort(order)
        for start, rows, factors in unit.blocks():
            found = (rows @ directions) * factors[:, None]
            rest = np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", found, found), 0.0))
            self._heads[turned[start : start + len(rows)]] = np.column_stack((found, rest))

    @staticmethod
    def pays(unit: UnitVectors) -> bool:
        return unit.dimension > 3 * _HEAD and unit.count > _SAMPLE

    def near(
        self, lines: NDArray[np.int64], columns: NDArray[np.int64], least: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Pairs whose cosine may be ≥ `least`, as indices into `lines` and `columns`.

        None if there are so many of them that computing all cosines is faster.
        """
        bound = self._heads[lines] @ self._heads[columns].T
        near = np.flatnonzero(bound >= least - _SLACK)
        return None if len(near) > bound.size * _MOST_NEAR else (near // len(columns), near % len(columns))


def _directions(unit: UnitVectors) -> NDArray[np.float32]:
    """`_HEAD` orthonormal directions, (d, 127), found on a sample."""
    sample = unit.rows(unit.sample(_SAMPLE))
    ones = np.ones(len(sample), dtype=np.float32)

    def passes() -> Iterator[Rows]:
        yield sample, ones

    basis = main_subspace(passes, unit.dimension, _HEAD, centred=False, rounds=2)
    # The bounds are valid only if the directions are orthonormal in float32, too.
    return orthonormal(basis.directions.astype(np.float64))
