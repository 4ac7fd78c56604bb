"""Two lists of texts by their vectors: the best rows of B for each row of A, exactly, and which pairs belong together.

The score of a pair is the cosine of its vectors in float64, rounded to nine decimals, so that equal vectors have equal
scores wherever they stand. Equal scores come in the order of the rows. Functions that take long call `check_stopped`.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Progress
from cfbatch_gui.core.results.numbers import starts
from cfbatch_gui.core.system.threads import check_stopped

Numbers = NDArray[np.int64]  # mostly indices of rows

MOST_EXACT = 2_000  # rows of either list up to which `assigned` finds the largest total
_BLOCK = 1_280  # rows of either list that are compared at once
_MANY = 64  # pairs of a row in a block from which on all are compared in float64
_NUMBERS = 1_000_000  # of vectors that are copied at once
_DECIMALS = 9
_STEP = 10.0**-_DECIMALS  # between scores that differ
_FAR = 2**60
_OPEN = -2  # a row that has nothing yet, not even a decision
_SAME = 2.0  # the score of equal texts inside this file: above all others
_DRAWN = 450  # rows of either list of which all pairs are looked at for the baseline
_MOST, _LEAST_SPREAD = 0.999, 1e-3
_APART = 0.7  # of the variance lies between two groups that stand apart; 0.64 if there is one, of a normal distribution


@dataclass(frozen=True, eq=False)
class Side:
    """One list, of n rows."""

    vectors: NDArray[np.float32]  # (n, d) as stored, may be a memory map
    scales: NDArray[np.float64]  # (n,), 1 / length; 0 where a row has no vector
    keys: Numbers  # (n,), equal, also across lists, where texts are the same after trimming and case folding
    within: Numbers | None = None  # (n,), only rows with equal numbers are matched; None in both lists: all
    apart: Numbers | None = None  # (n,), rows with equal numbers >= 0 are never matched; -1 shares nothing

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, rows: Numbers) -> "Side":
        """A copy of these rows."""
        within = None if self.within is None else self.within[rows]
        apart = None if self.apart is None else self.apart[rows]
        return Side(self.vectors[rows], self.scales[rows], self.keys[rows], within, apart)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The best k rows of B for each of n rows of A, and the best row of A for each of m rows of B."""

    rows: Numbers  # (n, k), best first, -1 where there is none
    scores: NDArray[np.float64]  # (n, k), NaN where there is none
    same: NDArray[np.bool_]  # (n, k), whether the texts are equal: the score is 1
    best_of: Numbers  # (m,), -1 for none


def find_candidates(a: Side, b: Side, best: int, *, progress: Progress = lambda share: None) -> Candidates:
    """The best 1 to 20 rows of B for each of A; where `b is a`, no row is its own. Blocking: minutes for 100,000."""
    search = _Search(Lists(a, b), best)
    for rows in _parts(np.arange(len(a)), _BLOCK):
        for columns in _parts(np.arange(len(b)), _BLOCK):
            progress((rows[0] + len(rows) * columns[0] / len(b)) / len(a))
            search.compare(rows, columns)
    progress(1.0)
    rows, scores = search.rows, search.scores
    same = scores == _SAME
    scores[same], scores[rows < 0] = 1.0, np.nan
    return Candidates(rows, scores, same, rows[:, 0].copy() if b is a else search.best_of)


def compare_all(a: Side, b: Side, best: int, *, progress: Progress = lambda share: None) -> Candidates:
    """As `find_candidates`, for few rows of B, as each pair is settled at once; `best` may be more than B has."""
    lists, columns = Lists(a, b), np.arange(len(b))
    rows, scores = np.full((len(a), best), -1), np.full((len(a), best), np.nan)
    best_of, highest = np.full(len(b), -1), np.full(len(b), -np.inf)
    same = np.zeros((len(a), best), np.bool_)
    for part in _parts(np.arange(len(a)), _BLOCK if len(b) else len(a)):
        progress(part[0] / len(a))
        found = lists.products(part, columns, np.float64).round(_DECIMALS)
        order = np.argsort(-found, axis=1, kind="stable")[:, :best]
        sorted_scores, kept = np.take_along_axis(found, order, axis=1), slice(0, order.shape[1])
        is_pair = sorted_scores > -np.inf
        rows[part, kept] = np.where(is_pair, order, -1)
        scores[part, kept] = np.where(is_pair, np.minimum(sorted_scores, 1), np.nan)
        same[part, kept] = sorted_scores == _SAME
        nearest = found.argmax(axis=0)
        better = found[nearest, columns] > highest
        best_of[better], highest[better] = part[nearest[better]], found[nearest, columns][better]
    progress(1.0)
    return Candidates(rows, scores, same, best_of)


def _parts(rows: Numbers, size: int) -> Iterator[Numbers]:
    for start in range(0, len(rows), max(1, size)):
        check_stopped()
        yield rows[start : start + max(1, size)]


@dataclass(frozen=True, eq=False)
class Lists:
    """Two lists, and the scores of their pairs."""

    a: Side
    b: Side

    def products(self, rows: Numbers, columns: Numbers, kind: type[np.floating]) -> NDArray[np.floating]:
        """The scores of all pairs of these rows, (n, m), in this precision; -inf for two that are no pair."""
        a, b = self.a.take(rows), self.b.take(columns)
        with np.errstate(all="ignore"):
            units = ((side.vectors * side.scales[:, None]).astype(kind) for side in (a, b))
            found: NDArray[np.floating] = next(units) @ next(units).T
        found[a.scales == 0] = -np.inf
        found[:, b.scales == 0] = -np.inf
        shared = np.flatnonzero(np.isin(b.keys, a.keys))
        found[:, shared] = np.where(a.keys[:, None] == b.keys[shared], _SAME, found[:, shared])
        if a.within is not None and b.within is not None:
            found[a.within[:, None] != b.within] = -np.inf
        if a.apart is not None and b.apart is not None:
            found[(a.apart[:, None] == b.apart) & (b.apart >= 0)] = -np.inf
        if self.a is self.b:
            _, own, others = np.intersect1d(rows, columns, assume_unique=True, return_indices=True)
            found[own, others] = -np.inf
        return found

    def settled(self, rows: Numbers, columns: Numbers) -> NDArray[np.float64]:
        """The scores of pairs, NaN without both vectors, summed in an order that their places do not change."""
        a, b = self.a, self.b
        scores = np.full(len(rows), np.nan)
        scales = a.scales[rows] * b.scales[columns]
        for part in _parts(np.flatnonzero(scales), _NUMBERS // max(1, a.vectors.shape[1])):
            left, right = a.vectors[rows[part]].astype(np.float64), b.vectors[columns[part]].astype(np.float64)
            scores[part] = np.clip(np.einsum("ij,ij->i", left, right) * scales[part], -1, 1).round(_DECIMALS)
        scores[a.keys[rows] == b.keys[columns]] = _SAME
        return scores


class _Search:
    """What the blocks that were compared have brought: float32 excludes most pairs, float64 settles the others."""

    def __init__(self, lists: Lists, best: int) -> None:
        self._lists, self._best = lists, best
        self._slack = (lists.a.vectors.shape[1] + 16) * 2.0**-24 + _STEP  # the rounding error of a float32 product
        self.rows, self.scores = np.full((len(lists.a), best), -1), np.full((len(lists.a), best), -np.inf)
        self.best_of, self._best_scores = np.full(len(lists.b), -1), np.full(len(lists.b), -np.inf)
        if lists.a is lists.b:
            self._best_scores[:] = _SAME  # is known by the rows

    def compare(self, rows: Numbers, columns: Numbers) -> None:
        """Both ascend, and come after all that were compared with the others."""
        if min(self.scores[rows, -1].min(), self._best_scores[columns].min()) == _SAME:
            return
        index, turn = np.divmod(np.flatnonzero(self._possible(rows, columns)), len(columns))
        index, turn = rows[index], columns[turn]
        scores = self._lists.settled(index, turn)
        self._note_best_of(index, turn, scores)
        better = scores > self.scores[index, -1]
        self._note(index[better], turn[better], scores[better])

    def _possible(self, rows: Numbers, columns: Numbers) -> NDArray[np.bool_]:
        """Which pairs, (n, m), may be among the best."""
        found = self._lists.products(rows, columns, np.float32)
        limits = self._below(self.scores[rows, -1])
        new = np.flatnonzero(np.isneginf(self.scores[rows, -1]))
        if len(new) and len(columns) >= self._best:
            least = np.partition(found[new], -self._best, axis=1)[:, -self._best]
            limits[new] = np.maximum(limits[new], least - 2 * self._slack)
        highest = found.max(axis=0)
        lower = np.where(highest > self._below(self._best_scores[columns]), highest - 2 * self._slack, np.inf)
        mask = (found > limits[:, None].astype(np.float32)) | (found > lower.astype(np.float32))
        many = np.flatnonzero(mask.sum(axis=1) > _MANY + 4 * self._best)
        for part in _parts(many, _NUMBERS // len(columns)):
            mask[part] = self._exactly(rows[part], columns)
        return mask

    def _below(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a product in float32 is above if the pair beats this score; nothing beats equal texts."""
        return np.where(scores == _SAME, np.inf, np.maximum(scores, -2) - self._slack)

    def _exactly(self, rows: Numbers, columns: Numbers) -> NDArray[np.bool_]:
        """Where many are about equal: the best new pairs of each row, and the best new one of each column."""
        found = self._lists.products(rows, columns, np.float64)
        mask = found > self.scores[rows, -1:] + 0.4 * _STEP
        found = found.round(_DECIMALS)
        if len(columns) > self._best:
            least = np.partition(found, -self._best, axis=1)[:, -self._best, None]
            ties = found == least
            mask &= (found > least) | (ties & (ties.cumsum(axis=1) <= self._best))
        highest = found.argmax(axis=0)
        mask[highest, range(len(columns))] |= found.max(axis=0) > self._best_scores[columns]
        return mask

    def _note_best_of(self, rows: Numbers, columns: Numbers, scores: NDArray[np.float64]) -> None:
        better = np.flatnonzero(scores > self._best_scores[columns])
        order = better[np.lexsort((rows[better], -scores[better], columns[better]))]
        order = order[starts(columns[order])]
        self.best_of[columns[order]], self._best_scores[columns[order]] = rows[order], scores[order]

    def _note(self, rows: Numbers, columns: Numbers, scores: NDArray[np.float64]) -> None:
        """Put pairs, by rows and columns, among the best of their rows, behind equal ones that are there."""
        changed, index, counts = np.unique(rows, return_inverse=True, return_counts=True)
        turn = np.arange(len(rows)) - np.searchsorted(rows, rows)
        shape = (len(changed), self._best + counts.max(initial=0))
        new, new_scores = np.full(shape, -1), np.full(shape, -np.inf)
        new[:, : self._best], new_scores[:, : self._best] = self.rows[changed], self.scores[changed]
        new[index, self._best + turn], new_scores[index, self._best + turn] = columns, scores
        order = np.argsort(-new_scores, axis=1, kind="stable")[:, : self._best]
        self.rows[changed] = np.take_along_axis(new, order, axis=1)
        self.scores[changed] = np.take_along_axis(new_scores, order, axis=1)


class Assignment(NamedTuple):
    """One row of B at most for each row of A, and none twice."""

    rows: Numbers  # (n,), of B, -1 for none
    scores: NDArray[np.float64]  # (n,), NaN for none
    is_exact: bool  # whether no other has a larger total score


def assigned(
    a: Side, b: Side, candidates: Candidates, *, floor: float = 0.0, fixed: Mapping[int, int] | None = None
) -> Assignment:
    """Each row of B for one row of A at most; `fixed` pairs stay as they are, by row of A, -1 for none.

    No list above `MOST_EXACT`: the pairs with the largest total. Otherwise the candidates by falling score, equal ones
    in the order of A, then of B. Pairs below `floor`, or not above 0, are none. Blocking: seconds.
    """
    fixed, floor, lists = fixed or {}, max(floor, _STEP), Lists(a, b)
    rows = np.full(len(a), _OPEN)
    rows[list(fixed)] = list(fixed.values())
    is_exact = max(len(a), len(b)) <= MOST_EXACT
    (_assign_exactly if is_exact else _assign_falling)(lists, candidates, floor, rows)
    found = np.flatnonzero(rows >= 0)
    scores = np.full(len(a), np.nan)
    scores[found] = np.minimum(lists.settled(found, rows[found]), 1)
    return Assignment(np.maximum(rows, -1), scores, is_exact)


def _assign_falling(lists: Lists, candidates: Candidates, floor: float, rows: Numbers) -> None:
    index, turn = np.nonzero((candidates.scores >= floor) & (rows == _OPEN)[:, None])
    others, taken = candidates.rows[index, turn], set(rows.tolist())
    for part in _parts(np.lexsort((others, index, -candidates.scores[index, turn])), _NUMBERS):
        for row, other in zip(index[part].tolist(), others[part].tolist(), strict=True):
            if other not in taken and rows[row] == _OPEN:
                rows[row] = other
                taken.add(other)


def _assign_exactly(lists: Lists, candidates: Candidates, floor: float, rows: Numbers) -> None:
    ours, theirs = np.flatnonzero(rows == _OPEN), np.setdiff1d(np.arange(len(lists.b)), rows)
    gains = np.minimum(lists.products(ours, theirs, np.float64), 1)
    index, turn = _largest_total(np.rint(np.where(gains >= floor, gains, 0) / _STEP).astype(np.int64))
    rows[ours[index]] = theirs[turn]


def _largest_total(gains: Numbers) -> tuple[Numbers, Numbers]:
    """The rows and columns of pairs, each once, with the largest sum of gains, which are 0 where two are no pair."""
    if len(gains) < gains.shape[1]:
        return _largest_total(np.ascontiguousarray(gains.T))[::-1]
    costs = -np.pad(gains, ((0, 0), (0, len(gains) - gains.shape[1])))
    prices = costs.min(axis=0, initial=0)
    owners, found = np.full(len(gains), -1), np.full(len(gains), -1)
    for row in range(len(gains)):
        check_stopped()
        column, before = _shortest_path(costs, prices, owners, row)
        owner = -1
        while owner != row:
            owner = owners[column] = before[column]
            column, found[owner] = found[owner], column
    rows = np.flatnonzero(costs[np.arange(len(gains)), found])
    return rows, found[rows]


def _shortest_path(costs: Numbers, prices: Numbers, owners: Numbers, row: int) -> tuple[int, Numbers]:
    """The nearest column that nobody owns, and from which row the path reaches each column; adapts the prices.

    R. Jonker, A. Volgenant: A shortest augmenting path algorithm, Computing 38 (1987).
    """
    away, before, reached = costs[row] - prices, np.full(len(prices), row), list[int]()
    shut = np.zeros_like(prices)  # far for columns that are reached
    while True:
        open_away = away + shut
        least = open_away.min()
        nearest = np.flatnonzero(open_away == least)
        free = nearest[owners[nearest] < 0]
        if len(free):
            prices[reached] += away[reached] - least
            return int(free[0]), before
        column = int(nearest[0])
        reached.append(column)
        shut[column] = _FAR
        owner = owners[column]
        further = costs[owner] - prices + (least - costs[owner, column] + prices[column])
        nearer = further + shut < away
        away[nearer], before[nearer] = further[nearer], owner


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the scores of unrelated pairs are like in these lists."""

    unrelated: float  # 99 of 100 unrelated pairs stay below it
    proposed: float  # the threshold
    spread: float  # from the middle of the unrelated pairs to `unrelated`, above 0: the unit of "close"


def baseline(a: Side, b: Side, candidates: Candidates) -> Baseline:
    """The level of unrelated pairs: of some 200,000 evenly spread over both lists all but the best of each row."""
    there = (np.flatnonzero(side.scales) for side in (a, b))
    rows, others = (each[np.linspace(0, len(each) - 1, min(len(each), _DRAWN)).astype(np.int64)] for each in there)
    free = Lists(*(replace(side, within=None, apart=None) for side in (a, b)))
    scores = np.sort(free.products(rows, others, np.float64), axis=1)
    related = min(20, max(1, len(b) // 100)) * len(others) / max(1, len(b))
    found = (scores[:, : len(others) - math.ceil(related)], scores, np.zeros(1))
    unrelated = next(kept for each in found if len(kept := each[np.abs(each) < _SAME]))
    middle, high = np.percentile(unrelated, (50, 99)).tolist()
    return Baseline(high, min(max(_valley(candidates, high), high), _MOST), max(high - middle, _LEAST_SPREAD))


def _valley(candidates: Candidates, otherwise: float) -> float:
    """Between the best scores that belong together and all second ones: these are like the best of unrelated rows.

    Where the two do not stand apart (N. Otsu, IEEE Trans. SMC 9, 1979), what 98 of 100 second ones stay below.
    """
    scores = np.where(candidates.same, np.nan, candidates.scores)
    seconds = scores[:, 1:2][np.isfinite(scores[:, 1:2])]
    both = np.sort(scores[:, :2][np.isfinite(scores[:, :2])])
    if len(both) < 2 or both[0] == both[-1]:
        return otherwise
    below, sums = np.arange(1, len(both)), np.cumsum(both)
    above = len(both) - below
    between = below * above * (sums[:-1] / below - (sums[-1] - sums[:-1]) / above) ** 2 / len(both) ** 2
    at = int(between.argmax())
    valley = float(both[at : at + 2].mean())
    if between[at] > _APART * both.var():
        return valley
    return max(valley, float(np.percentile(seconds, 98))) if len(seconds) else otherwise


Spans = tuple[tuple[int, int], ...]  # start and stop in a text

_UNITS = (
    "nm|[µμ]m|mm|cm|dm|m|km|in|inch|ft|yd|mi|[mck]?m[²³]|ha|[µμ]g|mcg|mg|g|kg|t|oz|lbs?|[µμ]l|ml|cl|dl|l|gal|px|mp|dpi|"
    "bit|[kmgt]b|[mg]bit|[kmg]?hz|[mk]?va?|m?a|m?ah|[mk]?wh?|lm|h?pa|kpa|bar|psi|nm?|k?j|kcal|m?s|sec|min|h|hrs|rpm|db|"
    'eur|usd|gbp|chf|i[ue]|°[cf]|[%‰°€$£¥″"]'
)
_NUMBER = re.compile(  # what is in front without a space; digits; a unit, or what is behind without a space
    r"(?:(?<![^\W_])([^\W\d_]+|[^\W\d_]{1,3}-))?(\d+(?:[.,'’\u00a0\u202f]\d+)*)"
    rf"((?:\s?(?:{_UNITS})|[^\W\d_][^\W_]*)(?![^\W_]))?",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"\d+|\d{1,3}(?:([.,'’ ])\d{3})(?:\1\d{3})*")
_DECIMAL = re.compile(r"(\d+|\d{1,3}(?:([.,'’ ])\d{3})(?:\2\d{3})*)(?!\2)[.,](\d+)")
_WORD = re.compile(r"[^\W_]+")

Number = tuple[tuple[int, int], frozenset[str], tuple[str, str]]  # where; what it may mean; what is before, and behind


def differing_numbers(text_a: str, text_b: str) -> tuple[Spans, Spans]:
    """Where each text has numbers, with their units, that the other one has not; nothing where one has no numbers."""
    a, b = _numbers(text_a), _numbers(text_b)
    return (_unlike(a, b), _unlike(b, a)) if a and b else ((), ())


def _unlike(numbers: list[Number], others: list[Number]) -> Spans:
    known = defaultdict[str, set[tuple[str, str]]](set)
    for _, values, around in others:
        for value in values:
            known[value].add(around)
    return tuple(
        where
        for where, values, around in numbers
        if not any(_agree(around, other) for value in values for other in known.get(value, ()))
    )


def _agree(around: tuple[str, str], other: tuple[str, str]) -> bool:
    """A number without a unit is like one with any."""
    return all(not ours or not theirs or ours == theirs for ours, theirs in zip(around, other, strict=True))


def _numbers(text: str) -> list[Number]:
    found = []
    for match in _NUMBER.finditer(text):
        before, digits, unit = (unicodedata.normalize("NFKC", group or "").casefold() for group in match.groups())
        found.append((match.span(), _values(digits), (before.rstrip("-"), unit.strip())))
    return found


@lru_cache(10_000)
def _values(digits: str) -> frozenset[str]:
    """What these digits may stand for: 1.000 is a thousand, or one; 24.12.2024 is only like itself."""
    plain = "".join(str(unicodedata.digit(each, each)) for each in digits)
    found = {re.sub(r"\D", "", plain)} if _WHOLE.fullmatch(plain) else set()
    if match := _DECIMAL.fullmatch(plain):
        found.add(re.sub(r"\D", "", match[1]) + f".{match[3]}".rstrip("0").rstrip("."))
    return frozenset(each.lstrip("0") or "0" for each in found or {plain})


def differing_words(text_a: str, text_b: str) -> Spans:
    """Where B has words that A has not, if over half of the words of either are in both; () otherwise."""
    known = {match[0].casefold() for match in _WORD.finditer(text_a)}
    words = [(match.span(), match[0].casefold()) for match in _WORD.finditer(text_b)]
    there = {word for _, word in words}
    if 2 * len(known & there) <= max(len(known), len(there)):
        return ()
    return tuple(span for span, word in words if word not in known)
