"""Groups of texts that are all alike: every two of a group have at least this cosine.

A cosine is that of float64 rounded to nine decimals; float32 excludes, float64 settles what is near the limit.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Embeddings, Progress, lengths_of, unit_vectors
from cfbatch_gui.core.results.groups import Clusters, described
from cfbatch_gui.core.results.matching import Lists, Side, baseline, find_candidates
from cfbatch_gui.core.system.threads import check_stopped

Numbers = NDArray[np.int64]  # indices of rows
RowsOf = Callable[[Numbers], NDArray[np.float32]]

_BLOCK, _WIDE = 1_280, 4_096  # rows that are compared at once, with all others or with the members of a group
_FEW, _CHUNK = 16, 1_024  # candidates of a group that are decided together, at first and at most
_SEEDS, _COSINES = 128, 2**24  # seeds, and cosines of seeds, that are at hand at most
_MANY = 4  # of a hundred pairs near the limit: from so many on all are compared in float64
_STEP = 1e-9  # between cosines that differ
_NEAR = 1e-12  # beyond the rounding error of a float64 product
_SAMPLE, _OTHERS = 2_000, 20


def proposed_likeness(embeddings: Embeddings) -> float:
    """The likeness to begin with: between texts of the sample that belong together and all others. For a thread."""
    unit = unit_vectors(embeddings)
    sample = unit.item_numbers[unit.sample(_SAMPLE)]
    side, _ = _distinct(lambda some: embeddings.rows_of(sample[some]), len(sample), unit.dimension)
    found = find_candidates(side, side, _OTHERS)
    ends = [0, -1]  # the second nearest mostly belongs to the group too
    found = replace(found, rows=found.rows[:, ends], scores=found.scores[:, ends], same=found.same[:, ends])
    return baseline(side, side, found).proposed


def find_alike(
    embeddings: Embeddings, likeness: float, typical: int = 5, progress: Progress = lambda share: None
) -> Clusters:
    """Groups of texts of which every two have a cosine ≥ `likeness`, rounded to nine decimals; the others in none.

    The text with the most alike ones comes first, and takes those that are in no group yet by falling cosine if they
    are alike to all that it took; equal ones in input order. Blocking: minutes for 100,000; holds all vectors in
    memory. Raises DataError.
    """
    unit = unit_vectors(embeddings)
    rows_of: RowsOf = lambda some: embeddings.rows_of(unit.item_numbers[some])  # noqa: E731
    members = alike_members(rows_of, unit.count, unit.dimension, likeness, progress)
    return described(unit, members, typical)


def alike_members(
    rows_of: RowsOf, count: int, dimension: int, likeness: float, progress: Progress = lambda share: None
) -> Numbers:
    """The number of the group of each of `count` vectors that have a direction, -1 for none; see `find_alike`."""
    side, places = _distinct(rows_of, count, dimension)
    return _Groups(side, np.bincount(places, minlength=len(side)), likeness).found(progress)[places]


def _distinct(rows_of: RowsOf, count: int, dimension: int) -> tuple[Side, Numbers]:
    """The different ones of these vectors, multiplied by powers of two, in the order in which they come; and the place
    of each vector among them.
    """
    vectors = np.empty((count, dimension), dtype=np.float32)
    scales, places, known = np.empty(count), np.empty(count, dtype=np.int64), dict[int, int]()
    for start in range(0, count, _BLOCK):
        check_stopped()
        rows = rows_of(np.arange(start, min(start + _BLOCK, count)))
        before = len(known)
        # Two of a million hashes are equal by chance once in 10^7.
        found = np.array([known.setdefault(hash(row.tobytes()), len(known)) for row in rows])
        places[start : start + len(rows)] = found
        numbers, first = np.unique(found, return_index=True)
        new = rows[first[numbers >= before]]
        new = np.ldexp(new, -np.frexp(lengths_of(new))[1][:, None])
        vectors[before : len(known)], scales[before : len(known)] = new, 1.0 / lengths_of(new)
    return Side(vectors[: len(known)], scales[: len(known)], np.arange(len(known))), places


class _Groups:
    """Of different vectors, each of which is that of `weights` texts."""

    def __init__(self, side: Side, weights: Numbers, likeness: float) -> None:
        self._side, self._weights, self._likeness = side, weights, round(likeness, 9)
        self._limit = self._likeness - 0.5 * _STEP
        self._slack = (side.vectors.shape[1] + 16) * 2.0**-24 + _STEP  # the rounding error of a float32 product
        self._lists = Lists(side, side)
        self._groups = np.full(len(side), -1)

    def found(self, progress: Progress) -> Numbers:
        """The group of each vector, -1 for none."""
        counts = self._counts(lambda share: progress(0.6 * share))
        seeds = np.argsort(-counts, kind="stable")
        seeds = seeds[counts[seeds] > 1]
        most = max(1, min(_SEEDS, _COSINES // max(1, len(seeds))))
        at, width, group = 0, 1, 0
        while at < len(seeds):
            check_stopped()
            progress(0.6 + 0.4 * at / len(seeds))
            ahead = seeds[at : at + _WIDE]
            is_open = np.flatnonzero(self._groups[ahead] < 0)[:width]
            at += int(is_open[-1]) + 1 if len(is_open) == width else len(ahead)
            ahead = ahead[is_open]
            products = self._products(ahead, slice(None), np.float32)
            used = 0
            for seed, cosines in zip(ahead.tolist(), products, strict=True):
                if self._groups[seed] < 0:
                    used += 1
                    members = self._group(seed, cosines)
                    self._groups[members] = group
                    group += 1
            width = min(2 * width, most) if 4 * used >= len(ahead) else max(1, 2 * used)
        sizes = np.bincount(self._groups[self._groups >= 0], self._weights[self._groups >= 0], group)
        self._groups[np.append(sizes, 0)[self._groups] < 2] = -1
        return self._groups

    def _counts(self, progress: Progress) -> Numbers:
        """How many texts are alike to each, itself among them."""
        count, weights = len(self._side), self._weights.astype(np.float32)  # sums below 2^24 are exact
        counts = np.zeros(count)
        for start in range(0, count, _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, count))
            for begin in range(start, count, _BLOCK):
                check_stopped()
                columns = np.arange(begin, min(begin + _BLOCK, count))
                alike = self._alike(rows, columns)
                if alike.any():
                    ones = alike.astype(np.float32)
                    counts[rows] += ones @ weights[columns]
                    if begin > start:
                        counts[columns] += weights[rows] @ ones
            progress(1 - (1 - (rows[-1] + 1) / count) ** 2)
        return counts.astype(np.int64)

    def _group(self, seed: int, cosines: NDArray[np.float32]) -> Numbers:
        """The members of the group of this seed, which has these cosines to all vectors."""
        open_rows = (self._groups < 0) & (cosines >= self._limit - self._slack)
        open_rows[seed] = False
        others = np.flatnonzero(open_rows)
        members, size = [np.array([seed])], _FEW
        while len(others):
            check_stopped()
            found = cosines[others]
            size = min(size, len(others))
            least = float(np.partition(found, -size)[-size])
            near = np.flatnonzero(found >= least - 2 * self._slack)
            exact = self._lists.settled(np.full(len(near), seed), others[near])
            # The cosines of all that are not near are below; of the near ones only those above are in their turn.
            ready = np.flatnonzero(exact >= (least - self._slack if len(near) < len(others) else -np.inf))
            ready = ready[np.lexsort((others[near[ready]], -exact[ready]))][:size]
            decided = others[near[ready]]
            taken = self._chosen(decided[exact[ready] >= self._likeness])
            members.append(taken)
            others = np.delete(others, near[ready])
            others = self._alike_to_all(taken, others)
            size = min(2 * size, _CHUNK)
        return np.concatenate(members)

    def _chosen(self, candidates: Numbers) -> Numbers:
        """One after the other those that are alike to all that were chosen before."""
        alike, chosen = self._alike(candidates, candidates), np.ones(len(candidates), dtype=np.bool_)
        for index in range(len(candidates)):
            if chosen[index]:
                chosen[index + 1 :] &= alike[index, index + 1 :]
        return candidates[chosen]

    def _alike_to_all(self, members: Numbers, others: Numbers) -> Numbers:
        found = [np.empty(0, dtype=np.int64)]
        for start in range(0, len(others), _WIDE):
            check_stopped()
            part = others[start : start + _WIDE]
            found.append(part[self._alike(members, part).all(axis=0)])
        return np.concatenate(found)

    def _alike(self, rows: Numbers, columns: Numbers) -> NDArray[np.bool_]:
        """Which pairs, (n, m), are alike; a pair is so in whichever block it is compared."""
        found = self._products(rows, columns, np.float32)
        alike: NDArray[np.bool_] = found >= self._limit + self._slack
        is_open = found >= self._limit - self._slack
        is_open ^= alike
        if 100 * np.count_nonzero(is_open) > _MANY * found.size:
            exact = self._products(rows, columns, np.float64)
            alike = exact >= self._limit
            is_open = np.abs(exact - self._limit) < _NEAR
        index, turn = np.divmod(np.flatnonzero(is_open), max(1, len(columns)))
        alike[index, turn] = self._lists.settled(rows[index], columns[turn]) >= self._likeness
        return alike

    def _products(self, rows: Numbers, columns: Numbers | slice, kind: type[np.floating]) -> NDArray[np.floating]:
        """The cosines of all pairs, (n, m), in this precision."""
        side = self._side
        left, right = side.vectors[rows].astype(kind), side.vectors[columns].astype(kind, copy=False)
        left *= side.scales[rows, None].astype(kind)
        found: NDArray[np.floating] = left @ right.T
        found *= side.scales[columns].astype(kind)
        return found
