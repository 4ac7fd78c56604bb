"""The tokens of a text and the bytes of an answer, estimated by rules of thumb for bge-m3's tokenizer (XLM-R).

English prose has about 4 characters to a token, Chinese and Japanese about one.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.workers_ai.requests import AnswerKind

_DENSE_TOKEN: Final = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,2}|[^\sA-Za-z0-9]")
SPECIAL_TOKENS: Final = 2  # of each text: <s> and </s>, as XLM-R's tokenizer adds them
_NUMBER_BYTES: Final = 22  # a number of a vector, written out, with its comma
_SCORE_BYTES: Final = 56  # {"id":12345,"score":0.12345678901234567},
_ELEMENT_BYTES: Final = 256  # one element of an answer without its numbers, its reference included
_UNKNOWN_DIMENSION: Final = 4_096  # the longest vectors of today's usual models
_SCRIPT_CHARACTERS: Final = 2_000  # examined by `script_of`; a text is nearly always in one script


def tokens_upper(text: str) -> int:
    """One token for three ASCII characters, one for each other, and SPECIAL_TOKENS."""
    if text.isascii():
        return -(-len(text) // 3) + SPECIAL_TOKENS
    ascii_count = len(text.encode("ascii", "ignore"))
    return -(-ascii_count // 3) + len(text) - ascii_count + SPECIAL_TOKENS


def tokens_most(text: str) -> int:
    """`tokens_upper`, or up to three times that for codes, figures and punctuation."""
    return max(tokens_upper(text), _DENSE_TOKEN.subn("", text)[1] + SPECIAL_TOKENS)


def tokens_lower(text: str) -> int:
    """One token for four characters, or for two from U+0800 on."""
    if text.isascii():
        return -(-len(text) // 4)
    ascii_count = len(text.encode("ascii", "ignore"))
    # Bytes beyond one a character, less one for each that is not ASCII: 1 for three bytes, 2 for four (an emoji).
    wide = len(text.encode("utf-8", "surrogatepass")) - 2 * len(text) + ascii_count
    return -(-max(0, len(text) - wide) // 4) + -(-wide // 2)


def answer_bytes(kind: AnswerKind, count: int, dimension: int) -> int:
    """The size of one element of an answer, on the high side; `dimension` 0 when it is not known."""
    if kind == "scores":
        return _ELEMENT_BYTES + count * _SCORE_BYTES
    return _ELEMENT_BYTES + count * ((dimension or _UNKNOWN_DIMENSION) * _NUMBER_BYTES + 3)


def count_tokens(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """`tokens_upper` and `tokens_lower` of each text, two arrays of shape (n,), uint32."""
    count = len(texts)
    if all(map(str.isascii, texts)):
        return count_ascii_tokens(np.fromiter(map(len, texts), np.uint32, count))
    return np.fromiter(map(tokens_upper, texts), np.uint32, count), np.fromiter(
        map(tokens_lower, texts), np.uint32, count
    )


def count_ascii_tokens(characters: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The same for ASCII texts of so many characters."""
    return (characters + 2) // 3 + np.uint32(SPECIAL_TOKENS), (characters + 3) // 4


class Script(StrEnum):
    """Groups of scripts with a similar number of characters per token."""

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
    """The script of most letters in the first 2,000 characters; a CJK character counts twice."""
    beginning = text[:_SCRIPT_CHARACTERS]
    if beginning.isascii():
        return Script.LATIN
    counts = {script: len(letters.findall(beginning)) for script, letters in _LETTERS.items()}
    counts[Script.CJK] *= 2
    most = max(counts, key=lambda script: counts[script])
    return most if counts[most] else Script.OTHER
