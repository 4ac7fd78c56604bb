"""Which script a text is written in: what decides, beside its length, how many tokens it has."""

import re
from enum import StrEnum
from typing import Final

_LOOKED_AT: Final = 2_000  # characters of a text; one text is in one script, nearly always


class Script(StrEnum):
    """Scripts that a tokenizer cuts alike."""

    LATIN = "latin"
    GREEK = "greek"
    CYRILLIC = "cyrillic"
    HEBREW = "hebrew"
    ARABIC = "arabic"
    INDIC = "indic"  # of South and South-East Asia
    CJK = "cjk"  # Chinese, Japanese, Korean
    OTHER = "other"


_LETTERS: Final = {
    Script.LATIN: re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"),
    Script.GREEK: re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    Script.CYRILLIC: re.compile("[\u0400-\u052f]"),
    Script.HEBREW: re.compile("[\u0590-\u05ff]"),
    Script.ARABIC: re.compile("[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff]"),
    Script.INDIC: re.compile("[\u0900-\u0fff\u1000-\u109f\u1780-\u17ff]"),
    Script.CJK: re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"),
}


def script_of(text: str) -> Script:
    """The script that most letters of the beginning are in; LATIN for ASCII, OTHER without a letter that is known.

    A sign of Chinese, Japanese or Korean counts twice, for it says more than a letter does.
    """
    beginning = text[:_LOOKED_AT]
    if beginning.isascii():
        return Script.LATIN
    counts = {script: len(letters.findall(beginning)) for script, letters in _LETTERS.items()}
    counts[Script.CJK] *= 2
    most = max(counts, key=lambda script: counts[script])
    return most if counts[most] else Script.OTHER
