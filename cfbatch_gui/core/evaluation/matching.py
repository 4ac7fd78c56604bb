"""Matching of the entries (queries or texts) of two lists by id and text, never by their order.

There are three passes; each takes only what the earlier ones left unmatched. The first matches entries with the same id
and the same text. The second matches the same text under different ids. The third matches the same id with different
texts, as another template changes the text. Copies of a text are matched in order. An id that occurs more than once in
either list is not used in the third pass.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
_MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9))
_SHIFTS = (np.uint64(29), np.uint64(32))


class MatchedBy(StrEnum):
    """What two matched entries have in common; the passes, in their order."""

    ID_AND_TEXT = "id and text"
    TEXT = "text"
    ID = "id"


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Hashes of ids and texts, shape (n,), id 0 for none. Only entries with the same number in `groups` can match."""

    groups: NDArray[np.int32]
    ids: Numbers
    texts: Numbers

    def part(self, indices: Numbers) -> "Keys":
        """The entries at these indices, in their order."""
        return Keys(self.groups[indices], self.ids[indices], self.texts[indices])

    def are_same(self, other: "Keys") -> bool:
        """Whether both lists are equal, entry by entry."""
        return (
            np.array_equal(self.texts, other.texts)
            and np.array_equal(self.ids, other.ids)
            and np.array_equal(self.groups, other.groups)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """`ours[i]` and `theirs[i]` are the indices of a match in the two lists; `ours` ascends. `by` counts by pass."""

    ours: Numbers
    theirs: Numbers
    by: dict[MatchedBy, int]

    def __len__(self) -> int:
        return len(self.ours)


def match(ours: Keys, theirs: Keys) -> Matches:
    """All matches between the two lists."""
    if ours.are_same(theirs):  # the usual case, the same file: the passes below take seconds for the same result
        indices = np.arange(len(ours.ids))
        with_id = int((ours.ids != 0).sum())
        by_pass = {MatchedBy.ID_AND_TEXT: with_id, MatchedBy.TEXT: len(indices) - with_id, MatchedBy.ID: 0}
        return Matches(indices, indices, by_pass)
    left, right = np.arange(len(ours.ids)), np.arange(len(theirs.ids))
    found: list[tuple[Numbers, Numbers]] = []
    by: dict[MatchedBy, int] = {}
    for each in MatchedBy:
        here, there = ours.part(left), theirs.part(right)
        one, other = _matched(_keys(here, each), _keys(there, each), _usable(here, each), _usable(there, each))
        found.append((left[one], right[other]))
        by[each] = len(one)
        left, right = np.delete(left, one), np.delete(right, other)
    one, other = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(one, kind="stable")
    return Matches(one[order], other[order], by)


def _keys(keys: Keys, by: MatchedBy) -> NDArray[np.uint64]:
    """A hash of what the pass compares, for each entry; two different entries collide with a probability of 2^-64."""
    parts = {MatchedBy.ID_AND_TEXT: (keys.ids, keys.texts), MatchedBy.TEXT: (keys.texts,), MatchedBy.ID: (keys.ids,)}
    mixed = keys.groups.astype(np.uint64)
    for part in parts[by]:
        mixed = _mixed(mixed, part.astype(np.uint64))
    if by is MatchedBy.ID:
        return mixed
    return _mixed(mixed, _occurrence(mixed))


def _usable(keys: Keys, by: MatchedBy) -> NDArray[np.bool_]:
    if by is MatchedBy.TEXT:
        return np.ones(len(keys.ids), dtype=np.bool_)
    has_id = keys.ids != 0
    if by is MatchedBy.ID and len(keys.ids):
        _, index, count = np.unique(_keys(keys, by), return_inverse=True, return_counts=True)
        return np.asarray(has_id & (count[index] == 1))
    return np.asarray(has_id)


def _matched(
    one: NDArray[np.uint64], other: NDArray[np.uint64], one_usable: NDArray[np.bool_], other_usable: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    here, there = np.flatnonzero(one_usable), np.flatnonzero(other_usable)
    _, first, second = np.intersect1d(one[here], other[there], assume_unique=True, return_indices=True)
    return here[first], there[second]


def _occurrence(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """For each key the number of equal keys before it."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    is_first = np.ones(len(keys), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    index = np.arange(len(keys))
    counted = np.empty(len(keys), dtype=np.uint64)
    counted[order] = index - np.maximum.accumulate(np.where(is_first, index, 0))
    return counted


def _mixed(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of two numbers, by the steps of splitmix64."""
    first, second, third = _MULTIPLIERS
    mixed: NDArray[np.uint64] = np.multiply(one, first, dtype=np.uint64)
    folded = np.bitwise_xor(other, np.right_shift(other, _SHIFTS[0]))
    mixed += np.multiply(folded, second, dtype=np.uint64)
    mixed ^= np.right_shift(mixed, _SHIFTS[1])
    mixed *= third
    mixed ^= np.right_shift(mixed, _SHIFTS[0])
    return mixed
