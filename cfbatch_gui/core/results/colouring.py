"""The colouring of a map by one of the user's columns: a few categories, or a scale of numbers."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OTHER = -1
_FEW = 12  # up to so many distinct numbers are categories, such as years or ratings


@dataclass(frozen=True, eq=False)
class Categories:
    """`codes` (n,) are indices in `names`, or OTHER.

    `counts` are the texts of each name, descending for those of a column.
    """

    names: tuple[str, ...]
    counts: tuple[int, ...]
    codes: NDArray[np.int16]
    others: int  # texts under OTHER


@dataclass(frozen=True, eq=False)
class Numbers:
    """`values[i]` is text i's number or NaN; (n,). `low` and `high` are the 1 % and 99 % quantiles, `low` < `high`."""

    values: NDArray[np.float64]
    low: float
    high: float


Colouring = Categories | Numbers


def colouring(cells: Sequence[str], most: int) -> Colouring:
    """Numbers if all cells that are not blank are, and more than 12 differ; else at most `most` categories."""
    counts = Counter(cell for cell in cells if cell.strip())
    values = _numbers(counts)
    if values is None or len(counts) <= _FEW:
        return _categories(cells, counts, most)
    found = np.array([values.get(cell, math.nan) for cell in cells])
    there = found[np.isfinite(found)]
    low, high = (float(each) for each in np.quantile(there, (0.01, 0.99)))
    return Numbers(found, low, high if high > low else low + 1.0)


def by_number(members: NDArray[np.int64], names: Sequence[str], most: int) -> Categories:
    """Categories from `members` (n,), indices into `names` or -1 for none; those from `most` on become OTHER."""
    codes = np.where(members < most, members, OTHER).astype(np.int16)
    counts = np.bincount(members[members >= 0], minlength=len(names))[:most]
    return Categories(
        tuple(names[:most]), tuple(int(count) for count in counts), codes, int(np.count_nonzero(codes == OTHER))
    )


def _categories(cells: Sequence[str], counts: Counter[str], most: int) -> Categories:
    chosen = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]
    indices = {name: index for index, (name, _) in enumerate(chosen)}
    codes = np.fromiter((indices.get(cell, OTHER) for cell in cells), dtype=np.int16, count=len(cells))
    return Categories(
        tuple(name for name, _ in chosen),
        tuple(count for _, count in chosen),
        codes,
        int(np.count_nonzero(codes == OTHER)),
    )


def _numbers(counts: Counter[str]) -> dict[str, float] | None:
    values = {}
    for cell in counts:
        try:
            value = float(cell.strip().replace(",", "."))
        except ValueError:
            return None
        if not math.isfinite(value):
            return None
        values[cell] = value
    return values or None
