"""Near duplicates, by upper bounds exact."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.jobs.states import DuplicateOptions
from cfbatch_gui.core.results.embeddings import Embeddings, Progress, UnitVectors, main_subspace, unit_vectors
from cfbatch_gui.core.system.threads import check_stopped

USUAL_THRESHOLD = 0.95  # the default of the cosine similarity from which texts are near duplicates
TOLERANCE = 2e-6  # the rounding error of a float32 cosine over a thousand dimensions
_BLOCK, _CHUNK = 512, 4096  # texts that are decided together, and texts that stay which they are compared with
UNASKED_TEXTS = 30_000  # up to so many texts are compared without the user asking for it
_HEAD = 127  # directions; with the length of the remainder that makes 128 numbers for each text
_SAMPLED = 3_000
_SLACK = 1e-5


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
    embeddings: Embeddings,
    threshold: float,
    keep: Keep = Keep.FIRST,
    progress: Progress = lambda share: None,
    *,
    kept: Sequence[int] = (),
) -> Duplicates:
    """Find texts with a cosine similarity ≥ `threshold`, which is above 0.

    The items `kept` stay before all others; of two of them that are similar the later one in `kept`.
    Blocking: seconds for many texts; call it in a thread. Raises DataError.
    """
    unit = unit_vectors(embeddings)
    order = _order(unit, keep, kept)
    least = threshold - TOLERANCE
    heads = _heads(unit)[order] if has_bounds(unit) else None
    staying = np.empty(0, dtype=np.int64)  # of the texts in this order, those that stay
    kept_by, similarities = np.arange(unit.count), np.ones(unit.count, dtype=np.float32)
    for start in range(0, unit.count, _BLOCK):
        check_stopped()
        block = np.arange(start, min(start + _BLOCK, unit.count))
        rows = unit.rows(order[block])
        best, to = np.full(len(block), -1.0, dtype=np.float32), np.full(len(block), -1)
        for first in range(0, len(staying), _CHUNK):
            near = staying[first : first + _CHUNK]
            if heads is not None:
                near = near[(heads[block] @ heads[near].T >= least - _SLACK).any(axis=0)]
            if len(near):
                product = rows @ unit.rows(order[near]).T
                column = product.argmax(axis=1)
                found = product[np.arange(len(block)), column]
                better = (found >= least) & (found > best)  # of equal ones the earliest
                best[better], to[better] = found[better], near[column[better]]
        # The texts of the block one by one, as each is compared with those of the block that stay before it.
        inner = np.tril(rows @ rows.T, -1)
        stays = to < 0
        for line in np.flatnonzero(inner.max(axis=1) >= least).tolist():
            here = np.where(stays[:line], inner[line, :line], -1.0)
            at = int(here.argmax())
            if here[at] >= least and here[at] > best[line]:
                best[line], to[line], stays[line] = here[at], block[at], False
        kept_by[block[~stays]], similarities[block[~stays]] = to[~stays], best[~stays]
        staying = np.concatenate((staying, block[stays]))
        progress((int(block[-1] + 1) / unit.count) ** 2)  # later texts are compared with more
    stayed, cosines = np.empty_like(kept_by), np.empty_like(similarities)
    stayed[order] = unit.item_numbers[order[kept_by]]
    cosines[order] = np.clip(similarities, 0, 1)
    return Duplicates(threshold, unit.item_numbers, stayed, cosines, unit.missing, unit.without_direction)


def read_duplicates(
    embeddings: Embeddings, options: DuplicateOptions, progress: Progress = lambda share: None
) -> Duplicates:
    """Those of a job, by its options; as `find_duplicates`."""
    keep = Keep.LONGEST if options.longest else Keep.FIRST
    return find_duplicates(embeddings, options.similarity, keep, progress, kept=options.kept)


def _order(unit: UnitVectors, keep: Keep, kept: Sequence[int]) -> NDArray[np.int64]:
    turns = np.zeros(unit.embeddings.count + 1, dtype=np.int64)
    for turn, item in enumerate(kept, 1):
        if 0 < item < len(turns):
            turns[item] = -turn
    lengths = unit.embeddings.text_lengths() if keep is Keep.LONGEST else np.zeros(unit.embeddings.count, np.int64)
    return np.lexsort((-lengths[unit.item_numbers - 1], turns[unit.item_numbers]))


def has_bounds(unit: UnitVectors) -> bool:
    """Whether upper bounds of the cosines are worth their time."""
    return unit.dimension > 3 * _HEAD and unit.count > _SAMPLED


def _heads(unit: UnitVectors) -> NDArray[np.float32]:
    """Each vector as its coordinates in `_HEAD` directions and the length of the remainder, (n, 128): the product of
    two is an upper bound of their cosine.
    """
    sample = unit.rows(unit.sample(_SAMPLED))
    ones = np.ones(len(sample), dtype=np.float32)
    directions = main_subspace(lambda: [(sample, ones)], unit.dimension, _HEAD, centred=False, rounds=2).directions
    heads = np.empty((unit.count, _HEAD + 1), dtype=np.float32)
    for start, rows, factors in unit.blocks():
        found = (rows @ directions) * factors[:, None]
        rest = np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", found, found), 0.0))
        heads[start : start + len(rows)] = np.column_stack((found, rest))
    return heads
