"""Looks for a text in many at once, as one long text, where SQLite cannot judge its letters.

A block is looked at as UTF-16: where a sign of it stands for the wanted one, its neighbours are looked at too. Signs
that are several without case ("ß") are replaced before that where they may matter.
"""

from collections import defaultdict
from functools import cache

import numpy as np
from numpy.typing import NDArray

SEPARATOR = "\x1f"  # stands between the texts of a block
_LONGEST = 1_000  # signs; each of them is looked for
_MOST_UNIT = 0xFFFF

Units = NDArray[np.uint16]


class BlockFinding:
    """`needle` is without case already, and `is_possible`."""

    def __init__(self, needle: str) -> None:
        self._needle = needle
        self._is_ascii = needle.isascii()
        alike = _alike()
        units = np.frombuffer(needle.encode("utf-16-le"), dtype=np.uint16).tolist()
        self._units = [np.array(alike.get(unit, (unit,)), dtype=np.uint16) for unit in units]
        # Letters beyond ASCII are the rarer ones, where there are both.
        self._anchor = next((place for place, unit in enumerate(units) if unit in alike and unit > 0x7F), 0)
        self._several = {sign: folded for sign, folded in _several().items() if folded in needle}

    @staticmethod
    def is_possible(needle: str) -> bool:
        """Whether it can be found this way: not where a letter with case needs two units."""
        beyond = (sign for sign in needle if ord(sign) > _MOST_UNIT)
        return (
            0 < len(needle) <= _LONGEST
            and SEPARATOR not in needle
            and all(sign.upper() == sign == sign.lower() for sign in beyond)
        )

    def places(self, block: str, count: int) -> list[int]:
        """Which of the `count` texts in a block have it, from 0 and in order.

        Raises ValueError where a text has the separator in it, so that they cannot be told apart.
        """
        if block.isascii():
            return _in_lines(block.lower(), self._needle, count) if self._is_ascii else []
        for sign, folded in self._several.items():
            if sign in block:
                block = block.replace(sign, folded)
        units = np.frombuffer(block.encode("utf-16-le"), dtype=np.uint16)
        starts = self._matches(units)
        if not len(starts):
            return []
        ends = np.flatnonzero(units == ord(SEPARATOR))
        _check(len(ends), count)
        places: list[int] = np.unique(np.searchsorted(ends, starts)).tolist()
        return places

    def _matches(self, units: Units) -> NDArray[np.int64]:
        """Where it begins, in order."""
        starts = np.flatnonzero(_any_of(units, self._units[self._anchor])) - self._anchor
        starts = starts[(starts >= 0) & (starts <= len(units) - len(self._units))]
        for offset, alike in enumerate(self._units):
            if offset != self._anchor and len(starts):
                starts = starts[_any_of(units[starts + offset], alike)]
        return starts


def _in_lines(block: str, needle: str, count: int) -> list[int]:
    if needle not in block:
        return []
    texts = block.split(SEPARATOR)
    _check(len(texts) - 1, count)
    return [place for place, text in enumerate(texts) if needle in text]


def _check(separators: int, count: int) -> None:
    if separators != count - 1:
        raise ValueError("A text has the separator in it.")


def _any_of(units: Units, wanted: Units) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = units == wanted[0]
    for each in wanted[1:]:
        found |= units == each
    return found


@cache
def _alike() -> dict[int, tuple[int, ...]]:
    """For each sign without case all those that become it, itself among them; where there are several."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for unit in range(_MOST_UNIT + 1):
        folded = chr(unit).casefold()
        if len(folded) == 1:
            found[ord(folded)].append(unit)
    return {unit: tuple(each) for unit, each in found.items() if len(each) > 1}


@cache
def _several() -> dict[str, str]:
    """Signs that are several without case."""
    folded = ((chr(unit), chr(unit).casefold()) for unit in range(_MOST_UNIT + 1))
    return {sign: text for sign, text in folded if len(text) > 1}
