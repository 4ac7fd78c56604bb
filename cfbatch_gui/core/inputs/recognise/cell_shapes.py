"""The shape of a cell: what it looks like when the particular letters and digits are forgotten.

The cells of one column of data mostly have one shape, or a few, and the column's name seldom has the same.
"""

import re
import unicodedata
from functools import lru_cache

NUMBER = "9"
LONG = "long"  # more than 60 characters without a space
TEXT = "text"  # three words or more; "text.", "text?" and so on for two or more that end with such a sign
_LONGEST = 60  # characters
_FIGURE = re.compile(
    r"[<>≤≥~±]?\s?[$€£¥]?\s?[-+]?[$€£¥]?[\d.,' \u00a0\u202f]*\d[\d.,' \u00a0\u202f]*(?:[eE][-+]?\d+)?\s?[%€$£¥]?"
)
_REPEATED = re.compile(r"(.)\1+", re.DOTALL)
_PARTED_NUMBER = re.compile(r"9(?:[.,]9)+")
_WORD = re.compile(r"(?:^|(?<= ))\W?[Aax]")
_ENDS = {**dict.fromkeys(".!。！।…", "."), **dict.fromkeys("?？؟", "?"), ":": ":", "：": ":"}


class _Classes(dict[int, str]):
    """Unicode characters as "A", "a", "x" for letters of scripts without cases, "9", or themselves."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category in ("Lu", "Lt"):
            found = "A"
        elif category == "Ll":
            found = "a"
        elif category[0] in "LM":
            found = "x"
        else:
            found = "9" if category == "Nd" else character
        self[code] = found
        return found


_CLASSES = _Classes()


def shape_of(cell: str) -> str:
    """Return the shape of a stripped cell that is not empty: "Aa" for "Berlin", "A9" for "B12", "9" for "-1,204.50"."""
    if cell.isalpha() and len(cell) <= _LONGEST:  # most texts are words, and these methods take least time
        if cell.islower():
            return "a"
        if cell.isupper():
            return "A"
        if cell.istitle():
            return "Aa"
    elif cell.isdecimal():
        return NUMBER
    if len(cell) > _LONGEST:
        return _prose(cell[-1]) if " " in cell else LONG
    return NUMBER if _FIGURE.fullmatch(cell) else _shape_of_text(cell)


@lru_cache(maxsize=4096)
def _shape_of_text(cell: str) -> str:
    shape = _REPEATED.sub(r"\1", cell.translate(_CLASSES))
    if " " in shape and (len(_WORD.findall(shape)) > 2 or (shape[-1] in _ENDS and has_letters(shape))):
        return _prose(shape[-1])
    return _PARTED_NUMBER.sub("9", shape) if "9" in shape else shape


def _prose(last: str) -> str:
    return TEXT + _ENDS.get(last, "")


def has_letters(shape: str) -> bool:
    """Return whether cells of this shape hold a letter."""
    return shape == LONG or any(letter in shape for letter in "Aax")
