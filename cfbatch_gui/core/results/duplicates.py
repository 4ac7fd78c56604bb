"""Near duplicates: which texts say so much the same that one of them will do.

Texts are gone through in the order in which they are preferred. Each either stays, or goes because a text that stays is
at least so similar to it: so everything that goes has its like among what stays, which a chain of neighbours (A like B,
B like C) would not give.

Exact, and yet without a product of everything with everything: see `similarity_bounds`. The cosine itself is worked
out, in float32, only for the pairs whose bound reaches the threshold, or for all where these are many. Similarities
within `TOLERANCE` below the threshold count as equal to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.similarity_bounds import SimilarityBounds
from cfbatch_gui.core.results.unit_vectors import Progress, UnitVectors, unit_vectors

TOLERANCE = 2e-6  # what float32 is off by, over a thousand dimensions
_BLOCK, _CHUNK = 512, 4096  # texts that are looked at together, and texts that stay beside them


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
    """Places, the preferred ones first."""
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
