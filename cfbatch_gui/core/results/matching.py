"""Two lists of texts by their vectors: the best rows of B for each row of A, exactly, and which pairs belong together.

The score of a pair is the cosine of its vectors in float64, rounded to nine decimals, so that equal vectors have equal
scores wherever they stand. Equal scores come in the order of the rows. Functions that take long call `check_stopped`.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Progress
from cfbatch_gui.core.results.numbers import starts
from cfbatch_gui.core.system.threads import check_stopped

MOST_BEST = 20
MOST_EXACT = 2_000  # rows of either list up to which `assigned` finds the largest total
_BLOCK = 2_048  # rows of either list that are compared at once
_NUMBERS = 1_000_000  # of vectors that are copied at once
_DECIMALS = 9
_SAME = 2.0  # the score of equal texts inside this file: above all others
_UNRELATED = 450  # rows of either list of which all pairs are drawn


@dataclass(frozen=True, eq=False)
class Side:
    """One list, of n rows."""

    vectors: NDArray[np.float32]  # (n, d) as stored, may be a memory map
    scales: NDArray[np.float64]  # (n,), 1 / length; 0 where a row has no vector
    keys: NDArray[np.int64]  # (n,), equal, also across lists, where texts are the same after trimming and case folding
    within: NDArray[np.int64] | None = None  # (n,), only rows with equal numbers are matched; None in both lists: all
    apart: NDArray[np.int64] | None = None  # (n,), rows with equal numbers >= 0 are never matched; -1 shares nothing

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, rows: NDArray[np.int64]) -> "Side":
        """A copy of these rows."""
        within = None if self.within is None else self.within[rows]
        apart = None if self.apart is None else self.apart[rows]
        return Side(self.vectors[rows], self.scales[rows], self.keys[rows], within, apart)

    def unit(self, kind: type[np.floating]) -> NDArray[np.floating]:
        with np.errstate(all="ignore"):
            return (self.vectors * self.scales[:, None]).astype(kind)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The best k rows of B for each of n rows of A, and the best row of A for each of m rows of B."""

    rows: NDArray[np.int64]  # (n, k), best first, -1 where there is none
    scores: NDArray[np.float64]  # (n, k), NaN where there is none
    same: NDArray[np.bool_]  # (n, k), whether the texts are equal: the score is 1
    best_of: NDArray[np.int64]  # (m,), -1 for none

    @property
    def margins(self) -> NDArray[np.float64]:
        """The best score minus the second, (n,), NaN without a second."""
        if self.scores.shape[1] < 2:
            return np.full(len(self.scores), np.nan)
        return self.scores[:, 0] - self.scores[:, 1]

    @property
    def mutual(self) -> NDArray[np.bool_]:
        """Whether the row and its best candidate are each the other's best, (n,)."""
        best = self.rows[:, 0]
        found = best >= 0
        found[found] = self.best_of[best[found]] == np.flatnonzero(found)
        return found


def find_candidates(a: Side, b: Side, best: int, *, progress: Progress = lambda share: None) -> Candidates:
    """The best 1 to 20 rows of B for each of A. Where `b is a`, no row is its own candidate. Blocking: see `Side`."""
    related = b is a
    groups_b = _groups(b, best + related)
    groups_a = groups_b if related else _groups(a, 1)
    search = _Search(a, b, groups_b, best + related, related)
    found = [search.block(rows, share, progress) for rows, share in _blocks(groups_a.firsts)]
    width = best + related
    rows = np.concatenate([np.empty((0, width), np.int64), *(rows for rows, _ in found)])[groups_a.group]
    scores = np.concatenate([np.empty((0, width)), *(scores for _, scores in found)])[groups_a.group]
    if related:
        others = np.argsort(rows == np.arange(len(a))[:, None], axis=1, kind="stable")[:, :best]
        rows, scores = np.take_along_axis(rows, others, axis=1), np.take_along_axis(scores, others, axis=1)
    same = scores == _SAME
    scores[same], scores[rows < 0] = 1.0, np.nan
    best_of = rows[:, 0].copy() if related else search.best_of[groups_b.group]
    progress(1.0)
    return Candidates(rows, scores, same, best_of)


def pair_scores(
    a: Side, b: Side, rows_a: NDArray[np.int64], rows_b: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The scores of any pairs, (p,), NaN without both vectors, and whether their texts are equal."""
    scores = _settled(a, b, rows_a, rows_b)
    same = scores == _SAME
    scores[same] = 1.0
    return scores, same


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows of a list that are alike in everything: only the first of each group is compared with others."""

    firsts: NDArray[np.int64]  # (g,), ascending
    group: NDArray[np.int64]  # (n,), indices in `firsts`
    members: NDArray[np.int64]  # (g, most), ascending, -1 where there are fewer


def _groups(side: Side, most: int) -> _Groups:
    count = len(side)
    bits = np.ascontiguousarray(side.vectors[:, :4]).view(np.int32)
    columns = [side.keys, side.scales, *bits.T, *(each for each in (side.within, side.apart) if each is not None)]
    order = np.lexsort(columns)
    new = starts(*(column[order] for column in columns)) if count else np.empty(0, np.bool_)
    first = order[np.maximum.accumulate(np.where(new, np.arange(count), 0))] if count else order
    alike = np.flatnonzero(~new)
    for part in _parts(alike, side.vectors.shape[1]):
        differs = (side.vectors[order[part]] != side.vectors[first[part]]).any(axis=1)
        first[part[differs]] = order[part[differs]]
    heads = np.empty(count, dtype=np.int64)
    heads[order] = first
    firsts = np.flatnonzero(heads == np.arange(count))
    group = np.searchsorted(firsts, heads)
    order = np.argsort(group, kind="stable")
    turn = np.arange(count) - np.searchsorted(group[order], group[order])
    members = np.full((len(firsts), most), -1)
    few = turn < most
    members[group[order][few], turn[few]] = order[few]
    return _Groups(firsts, group, members)


def _blocks(rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], tuple[float, float]]]:
    """Blocks of rows, each with the share of all at which it begins and ends."""
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK], (start / len(rows), min(1.0, (start + _BLOCK) / len(rows)))


def _parts(pairs: NDArray[np.int64], dimension: int) -> Iterator[NDArray[np.int64]]:
    step = max(1, _NUMBERS // max(1, dimension))
    for start in range(0, len(pairs), step):
        check_stopped()
        yield pairs[start : start + step]


def _settled(a: Side, b: Side, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """The scores of these pairs, NaN without both vectors. Sums do not depend on where a vector stands."""
    scores = np.full(len(rows), np.nan)
    scales = a.scales[rows] * b.scales[columns]
    for part in _parts(np.flatnonzero(scales), a.vectors.shape[1]):
        left, right = a.vectors[rows[part]].astype(np.float64), b.vectors[columns[part]].astype(np.float64)
        scores[part] = np.clip(np.einsum("ij,ij->i", left, right) * scales[part], -1, 1).round(_DECIMALS)
    scores[a.keys[rows] == b.keys[columns]] = _SAME
    return scores


def _products(a: Side, unit: NDArray[np.floating], b: Side) -> NDArray[np.floating]:
    """The scores of all pairs, (n, m), in the precision of `unit`, the unit vectors of A; -inf where there is none."""
    with np.errstate(all="ignore"):
        found = unit @ b.unit(unit.dtype.type).T
    found[a.scales == 0] = -np.inf
    found[:, b.scales == 0] = -np.inf
    columns = np.flatnonzero(np.isin(b.keys, a.keys))
    if len(columns):
        found[:, columns] = np.where(a.keys[:, None] == b.keys[columns], _SAME, found[:, columns])
    if a.within is not None and b.within is not None:
        found[a.within[:, None] != b.within] = -np.inf
    if a.apart is not None and b.apart is not None:
        found[(a.apart[:, None] == b.apart) & (b.apart >= 0)] = -np.inf
    return found


class _Search:
    """Finds what float32 cannot exclude and settles it in float64, block by block."""

    def __init__(self, a: Side, b: Side, groups: _Groups, best: int, related: bool) -> None:
        self._a, self._b, self._groups, self._best, self._related = a, b, groups, best, related
        self._slack = (a.vectors.shape[1] + 16) * 2.0**-24 + 10.0**-_DECIMALS
        self.best_of = np.full(len(groups.firsts), -1)
        self._best_scores = np.full(len(groups.firsts), -np.inf)

    def block(
        self, rows: NDArray[np.int64], share: tuple[float, float], progress: Progress
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The best rows of B for these of A, and their scores, (n, best); -1 and -inf where there are fewer."""
        left = self._a.take(rows)
        unit = left.unit(np.float32)
        kept = np.full((len(rows), self._best), -1)
        scores = np.full(kept.shape, -np.inf)
        for start in range(0, len(self.best_of), _BLOCK):
            check_stopped()
            progress(share[0] + (share[1] - share[0]) * start / len(self.best_of))
            right = self._b.take(self._groups.firsts[start : start + _BLOCK])
            block = slice(start, start + len(right))
            found, columns = self._possible(left, unit, right, scores[:, -1], self._best_scores[block])
            settled = _settled(left, right, found, columns)
            if not self._related:
                self._note_best(rows[found], columns + start, settled)
            better = settled > scores[found, -1]
            _merge(kept, scores, found[better], columns[better] + start, settled[better])
        return self._members(kept, scores)

    def _possible(
        self,
        left: Side,
        unit: NDArray[np.floating],
        right: Side,
        row_scores: NDArray[np.float64],
        column_scores: NDArray[np.float64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs, by rows, that may beat these scores; where too many may, the best of them by float64."""
        found = _products(left, unit, right)
        limits = np.maximum(self._below(row_scores), self._least(found) - 2 * self._slack)
        mask = found > limits[:, None].astype(np.float32)
        if not self._related:
            highest = found.max(axis=0)
            columns = np.flatnonzero(highest > self._below(column_scores))
            mask[:, columns] |= found[:, columns] >= (highest[columns] - 2 * self._slack).astype(np.float32)
        pairs = np.flatnonzero(mask)
        if len(pairs) > len(mask) * (64 + 4 * self._best):
            pairs = self._best_pairs(left, right)
        rows, columns = np.divmod(pairs, len(right))
        return rows, columns

    def _below(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a product in float32 is above where the pair may beat this score; nothing beats equal texts."""
        return np.where(scores == _SAME, np.inf, np.maximum(scores, -2) - self._slack)

    def _least(self, found: NDArray[np.floating]) -> NDArray[np.floating]:
        """A product that at least `best` pairs of each row reach."""
        rows, columns = found.shape
        folds = columns // 128
        if folds > 1:
            found = found[:, : folds * 128].reshape(rows, folds, 128).max(axis=1)
        if found.shape[1] < self._best:
            return np.full(rows, -np.inf)
        return np.partition(found, -self._best, axis=1)[:, -self._best]

    def _best_pairs(self, left: Side, right: Side) -> NDArray[np.int64]:
        """As indices in the block: the best pairs of each row and the best of each column, in float64."""
        found = np.zeros((len(left), len(right)), dtype=np.bool_)
        for rows in _parts(np.arange(len(left)), len(right)):
            part = left.take(rows)
            scores = _products(part, part.unit(np.float64), right).round(_DECIMALS)
            order = np.argsort(-scores, axis=1, kind="stable")[:, : self._best]
            found[rows[:, None], order] = True
            found[rows[scores.argmax(axis=0)], np.arange(len(right))] = True
            found[rows] &= scores > -np.inf
        return np.flatnonzero(found)

    def _note_best(self, rows: NDArray[np.int64], columns: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        better = np.flatnonzero(scores > self._best_scores[columns])
        order = better[np.lexsort((rows[better], -scores[better], columns[better]))]
        order = order[starts(columns[order])] if len(order) else order
        self.best_of[columns[order]], self._best_scores[columns[order]] = rows[order], scores[order]

    def _members(
        self, kept: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows of B instead of groups, with all members of these that are among the best."""
        members = np.append(self._groups.members, np.full((1, self._best), -1), axis=0)  # of the group -1: none
        rows = members[kept, 0]
        several = np.flatnonzero((members[kept, 1:2] >= 0).any(axis=(1, 2)))
        for part in _parts(several, self._best**2):
            all_rows = members[kept[part]].reshape(len(part), -1)
            all_scores = np.where(all_rows < 0, -np.inf, np.repeat(scores[part], self._best, axis=1))
            order = np.lexsort((all_rows, -all_scores))[:, : self._best]
            rows[part] = np.take_along_axis(all_rows, order, axis=1)
            scores[part] = np.take_along_axis(all_scores, order, axis=1)
        return rows, scores


def _merge(
    kept: NDArray[np.int64],
    scores: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    found: NDArray[np.float64],
) -> None:
    """Put pairs, by rows and columns, among the best of their rows; those that are there come before equal ones."""
    if not len(rows):
        return
    changed, index = np.unique(rows, return_inverse=True)
    turn = np.arange(len(rows)) - np.searchsorted(rows, rows)
    shape = (len(changed), int(turn.max()) + 1)
    new_columns, new_scores = np.full(shape, -1), np.full(shape, -np.inf)
    new_columns[index, turn], new_scores[index, turn] = columns, found
    all_columns = np.concatenate((kept[changed], new_columns), axis=1)
    all_scores = np.concatenate((scores[changed], new_scores), axis=1)
    order = np.argsort(-all_scores, axis=1, kind="stable")[:, : kept.shape[1]]
    kept[changed] = np.take_along_axis(all_columns, order, axis=1)
    scores[changed] = np.take_along_axis(all_scores, order, axis=1)


class Assignment(NamedTuple):
    """One row of B at most for each row of A, and none twice."""

    rows: NDArray[np.int64]  # (n,), of B, -1 for none
    scores: NDArray[np.float64]  # (n,), NaN for none
    is_exact: bool  # whether no other has a larger total score


def assigned(
    a: Side, b: Side, candidates: Candidates, *, floor: float = 0.0, fixed: Mapping[int, int] | None = None
) -> Assignment:
    """Each row of B for one row of A at most; `fixed` pairs stay as they are, by row of A, -1 for none.

    No list above `MOST_EXACT`: the pairs with the largest total. Otherwise the candidates by falling score, equal ones
    in the order of A, then of B. Pairs below `floor` or 0 are none. Blocking: seconds.
    """
    rows = np.full(len(a), -1)
    is_open_a, is_open_b = np.ones(len(a), dtype=np.bool_), np.ones(len(b), dtype=np.bool_)
    for row, other in (fixed or {}).items():
        rows[row], is_open_a[row] = other, False
    is_open_b[rows[rows >= 0]] = False
    is_exact = max(len(a), len(b)) <= MOST_EXACT
    if is_exact:
        open_a, open_b = np.flatnonzero(is_open_a), np.flatnonzero(is_open_b)
        scores = _all_scores(a, b, open_a, open_b)
        gains = np.where(scores >= max(floor, 0), np.rint(scores * 10.0**_DECIMALS), 0).astype(np.int64)
        chosen = _largest_total(gains)
        paired = np.flatnonzero(chosen >= 0)
        rows[open_a[paired]] = open_b[chosen[paired]]
    else:
        _by_falling_score(candidates, np.flatnonzero(is_open_a), is_open_b, max(floor, 0), rows)
    found = np.flatnonzero(rows >= 0)
    scores = np.full(len(a), np.nan)
    scores[found] = pair_scores(a, b, found, rows[found])[0]
    return Assignment(rows, scores, is_exact)


def _all_scores(a: Side, b: Side, rows_a: NDArray[np.int64], rows_b: NDArray[np.int64]) -> NDArray[np.float64]:
    """All scores, (n, m); -inf where a pair is none."""
    scores = np.empty((len(rows_a), len(rows_b)))
    right = b.take(rows_b)
    for part in _parts(np.arange(len(rows_a)), len(rows_b)):
        left = a.take(rows_a[part])
        scores[part] = np.minimum(_products(left, left.unit(np.float64), right), 1)
    if a is b:
        scores[rows_a[:, None] == rows_b] = -np.inf
    return scores


def _by_falling_score(
    candidates: Candidates,
    open_a: NDArray[np.int64],
    open_b: NDArray[np.bool_],
    floor: float,
    rows: NDArray[np.int64],
) -> None:
    columns, scores = candidates.rows[open_a], candidates.scores[open_a]
    index, turn = np.nonzero(scores >= floor)
    pairs = open_a[index], columns[index, turn], scores[index, turn]
    order = np.lexsort((pairs[1], pairs[0], -pairs[2]))
    for part in _parts(order, 1):
        for row, column in zip(pairs[0][part].tolist(), pairs[1][part].tolist(), strict=True):
            if open_b[column] and rows[row] < 0:
                rows[row], open_b[column] = column, False


def _largest_total(gains: NDArray[np.int64]) -> NDArray[np.int64]:
    """The column of each row, (n,), -1 for none, with the largest sum of gains, which are >= 0.

    Shortest augmenting paths: R. Jonker, A. Volgenant, Computing 38 (1987).
    """
    if len(gains) > gains.shape[1]:
        rows = _largest_total(np.ascontiguousarray(gains.T))
        found = np.full(len(gains), -1)
        found[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
        return found
    costs = gains.max(initial=0) - gains
    prices = np.zeros(costs.shape[1], dtype=np.int64)
    owners = np.full(costs.shape[1], -1)
    found = np.full(len(costs), -1)
    for row in range(len(costs)):
        check_stopped()
        _augment(costs, prices, owners, found, row)
    found[gains[np.arange(len(gains)), found] == 0] = -1
    return found


_FAR = 2**60


def _augment(
    costs: NDArray[np.int64],
    prices: NDArray[np.int64],
    owners: NDArray[np.int64],
    found: NDArray[np.int64],
    row: int,
) -> None:
    """Give a row a column, along the shortest path to one that nobody owns."""
    away = costs[row] - prices
    before = np.full(len(away), row)
    seen = prices.copy()  # far below for columns that are reached
    reached: list[int] = []
    while True:
        open_away = np.where(seen == -_FAR, _FAR, away)
        column = int(open_away.argmin())
        least = away[column]
        free = np.flatnonzero((open_away == least) & (owners < 0))
        if len(free):
            column = int(free[0])
            break
        reached.append(column)
        seen[column] = -_FAR
        owner = owners[column]
        further = costs[owner] - seen + (least - costs[owner, column] + prices[column])
        nearer = further < away
        away[nearer] = further[nearer]
        before[nearer] = owner
    prices[reached] += away[reached] - least
    while True:
        owner = before[column]
        owners[column] = owner
        column, found[owner] = found[owner], column
        if owner == row:
            return


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the scores of unrelated pairs are like in these lists."""

    unrelated: float  # 99 of 100 unrelated pairs stay below it
    proposed: float  # the threshold
    spread: float  # from the middle of the unrelated pairs to `unrelated`, above 0: the unit of "close"


def baseline(a: Side, b: Side, candidates: Candidates) -> Baseline:
    """The level of unrelated pairs, by some 200,000 pairs evenly spread over both lists. Blocking: below a second."""
    rows_a, rows_b = _spread(a), _spread(b)
    scores = _all_scores(a, b, rows_a, rows_b)
    drop = min(MOST_BEST, max(1, len(b) // 100)) * len(rows_b) / max(1, len(b))
    unrelated = np.sort(scores, axis=1)[:, : len(rows_b) - int(np.ceil(drop))]
    unrelated = unrelated[np.isfinite(unrelated)]
    if not len(unrelated):
        unrelated = scores[np.isfinite(scores)]
    middle, high = np.percentile(unrelated, (50, 99)) if len(unrelated) else (0.0, 0.0)
    return Baseline(float(high), _proposed(candidates, float(high)), float(max(high - middle, 1e-3)))


def _spread(side: Side) -> NDArray[np.int64]:
    """Up to `_UNRELATED` rows with a vector, evenly spread."""
    there = np.flatnonzero(side.scales)
    return there[np.linspace(0, len(there) - 1, min(len(there), _UNRELATED)).astype(np.int64)]


def _proposed(candidates: Candidates, unrelated: float) -> float:
    """The valley of the best scores above `unrelated` (N. Otsu 1979), or `unrelated`."""
    best = candidates.scores[:, 0][candidates.rows[:, 0] >= 0]
    best = np.sort(best[best > unrelated])
    if len(best) < 2:
        return float(min(unrelated, 0.999))
    sums, count = np.cumsum(best), np.arange(1, len(best))
    gap = sums[:-1] / count - (sums[-1] - sums[:-1]) / (len(best) - count)
    at = int((count * (len(best) - count) * gap**2).argmax())
    return float(np.clip((best[at] + best[at + 1]) / 2, unrelated, 0.999))


Spans = tuple[tuple[int, int], ...]  # start and stop in a text

_UNITS = (
    "nm|µm|μm|mm|cm|dm|m|km|in|inch|ft|yd|mi|mm²|cm²|m²|km²|ha|mm³|cm³|m³|µg|μg|mcg|mg|g|kg|t|oz|lb|lbs|"
    "µl|μl|ml|cl|dl|l|gal|bit|kb|mb|gb|tb|mbit|gbit|hz|khz|mhz|ghz|mv|v|kv|ma|a|mah|ah|mw|w|kw|mw|wh|kwh|lm|k|"
    'pa|hpa|kpa|bar|psi|n|nm|j|kj|kcal|ms|s|sec|min|h|hrs|px|mp|dpi|rpm|db|eur|usd|gbp|chf|iu|ie|°c|°f|[%‰°€$£¥″"]'
)
_NUMBER = re.compile(
    r"(?:(?<![^\W_])([^\W\d_]+|[^\W\d_]{1,3}-))?"  # what is in front without a space
    r"(\d+(?:[.,'’\u00a0\u202f]\d+)*)"
    rf"((?:\s?(?:{_UNITS})|[^\W\d_][^\W_]*)(?![^\W_]))?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Number:
    span: tuple[int, int]
    values: frozenset[str]  # what it may mean: 1.000 is a thousand or one
    before: str
    unit: str

    def is_like(self, other: "_Number") -> bool:
        """Whether both may mean the same; one without a unit is like one with any."""
        units = (self.before, other.before), (self.unit, other.unit)
        return bool(self.values & other.values) and all(a == b or not a or not b for a, b in units)


def differing_numbers(text_a: str, text_b: str) -> tuple[Spans, Spans]:
    """Where each text has numbers, with their units, that the other one has not; nothing where one has no numbers."""
    a, b = _numbers(text_a), _numbers(text_b)
    if not a or not b:
        return (), ()
    return _without_like(a, b), _without_like(b, a)


def _without_like(numbers: list[_Number], others: list[_Number]) -> Spans:
    return tuple(number.span for number in numbers if not any(map(number.is_like, others)))


def _numbers(text: str) -> list[_Number]:
    found = []
    for match in _NUMBER.finditer(text):
        before, digits, unit = (group or "" for group in match.groups())
        unit = unicodedata.normalize("NFKC", unit).strip().casefold()
        found.append(_Number(match.span(), _values(digits), before.rstrip("-").casefold(), unit))
    return found


def _values(digits: str) -> frozenset[str]:
    """The numbers that these digits with separators may stand for, in plain digits."""
    parts = re.split(r"\D", digits)
    parts = ["".join(str(unicodedata.digit(digit)) for digit in part) for part in parts]
    marks = re.sub(r"\d", "", digits)
    found = set()
    if all(len(part) == 3 for part in parts[1:]) and len(set(marks)) <= 1 and len(parts[0]) <= (3 if marks else 99):
        found.add("".join(parts))
    whole, last = parts[:-1], parts[-1]
    if marks and marks[-1] in ".," and marks.count(marks[-1]) == 1 and all(len(part) == 3 for part in whole[1:]):
        found.add(f"{''.join(whole)}.{last}")
    return frozenset(map(_shortest, found or {".".join(parts)}))


def _shortest(number: str) -> str:
    number = number.lstrip("0")
    return (number.rstrip("0").rstrip(".") if number.count(".") == 1 else number) or "0"


def differing_words(text_a: str, text_b: str) -> Spans:
    """Where B has words that A has not, if over half of the words of either are in both; () otherwise."""
    known = {match[0].casefold() for match in _WORD.finditer(text_a)}
    words = [(match.span(), match[0].casefold()) for match in _WORD.finditer(text_b)]
    there = {word for _, word in words}
    if 2 * len(known & there) <= max(len(known), len(there)):
        return ()
    return tuple(span for span, word in words if word not in known)
