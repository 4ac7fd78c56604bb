"""A first, plain version, which the helper "engine" replaces as a whole: for small lists only."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Side:
    vectors: NDArray[np.float32]
    scales: NDArray[np.float64]
    keys: Numbers
    within: Numbers | None = None
    apart: Numbers | None = None


@dataclass(frozen=True, eq=False)
class Candidates:
    rows: Numbers
    scores: NDArray[np.float64]
    same: NDArray[np.bool_]
    best_of: Numbers

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        scores = self.scores
        return scores[:, 0] - scores[:, 1] if scores.shape[1] > 1 else np.full(len(scores), np.nan)


@dataclass(frozen=True, slots=True)
class Baseline:
    unrelated: float
    proposed: float
    spread: float


class Assignment(NamedTuple):
    rows: Numbers
    scores: NDArray[np.float64]
    is_exact: bool


def _scores(a: Side, b: Side) -> NDArray[np.float64]:
    product = (a.vectors * a.scales[:, None]) @ (b.vectors * b.scales[:, None]).T
    found = np.asarray(np.round(product.astype(np.float64), 7), np.float64)
    found[:, b.scales == 0] = -np.inf
    found[a.scales == 0] = -np.inf
    found[a.keys[:, None] == b.keys[None, :]] = 1
    if a is b:
        np.fill_diagonal(found, -np.inf)
    if a.within is not None and b.within is not None:
        found[a.within[:, None] != b.within[None, :]] = -np.inf
    if a.apart is not None and b.apart is not None:
        found[(a.apart[:, None] == b.apart[None, :]) & (a.apart[:, None] >= 0)] = -np.inf
    return found


def find_candidates(
    a: Side, b: Side, best: int, *, progress: Callable[[float], None] = lambda share: None
) -> Candidates:
    scores = _scores(a, b)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :best]
    found = np.take_along_axis(scores, order, axis=1)
    missing = np.isneginf(found)
    same = a.keys[:, None] == b.keys[order]
    best_of = np.where(np.isneginf(scores.max(axis=0)), -1, scores.argmax(axis=0))
    progress(1.0)
    return Candidates(np.where(missing, -1, order), np.where(missing, np.nan, found), same & ~missing, best_of)


def assigned(
    a: Side, b: Side, candidates: Candidates, *, floor: float = -np.inf, fixed: dict[int, int] | None = None
) -> Assignment:
    rows, scores = np.full(len(a.keys), -1, np.int64), np.full(len(a.keys), np.nan)
    taken = {other for other in (fixed or {}).values() if other >= 0}
    pairs = [
        (-score, row, other)
        for row, (others, of_row) in enumerate(zip(candidates.rows.tolist(), candidates.scores.tolist(), strict=True))
        for other, score in zip(others, of_row, strict=True)
        if other >= 0 and score >= floor and row not in (fixed or {})
    ]
    for score, row, other in sorted(pairs):
        if rows[row] < 0 and other not in taken:
            rows[row], scores[row] = other, -score
            taken.add(other)
    return Assignment(rows, scores, is_exact=False)


def baseline(a: Side, b: Side, candidates: Candidates) -> Baseline:
    scores = _scores(a, b)
    rows = np.arange(len(scores))[candidates.rows[:, 0] >= 0]
    scores[rows, candidates.rows[rows, 0]] = -np.inf
    found = scores[np.isfinite(scores)]
    if not len(found):
        return Baseline(0.0, 0.0, 0.1)
    middle, high = np.percentile(found, (50, 99)).tolist()
    return Baseline(high, high, max(1e-6, high - middle))


_NUMBER = re.compile(r"\d+(?:[.,]\d+)?(?:\s?[^\W\d_]+)?")


def differing_numbers(text_a: str, text_b: str) -> tuple[Spans, Spans]:
    """The spans of numbers in both texts that the other one does not have; none where one has no numbers."""
    ours, theirs = (
        [(found[0].casefold(), found.span()) for found in _NUMBER.finditer(text)] for text in (text_a, text_b)
    )
    if not ours or not theirs:
        return (), ()
    known_a, known_b = {name for name, _ in ours}, {name for name, _ in theirs}
    return (
        tuple(span for name, span in ours if name not in known_b),
        tuple(span for name, span in theirs if name not in known_a),
    )


def differing_words(text_a: str, text_b: str) -> Spans:
    """The spans of words of `text_b` that are not in `text_a`, where over half of them are shared."""
    known = {word.casefold() for word in re.findall(r"\w+", text_a)}
    words = [(found[0].casefold(), found.span()) for found in re.finditer(r"\w+", text_b)]
    missing = tuple(span for word, span in words if word not in known)
    return missing if len(missing) * 2 < len(words) else ()
