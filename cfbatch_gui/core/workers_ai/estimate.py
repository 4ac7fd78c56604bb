"""The tokens of a text and the bytes of an answer, estimated by rules of thumb for bge-m3's tokenizer (XLM-R).

English prose has about 4 characters to a token, Chinese and Japanese about one.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind

_DENSE_TOKEN: Final = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,2}|[^\sA-Za-z0-9]")
SPECIAL_TOKENS: Final = 2  # of each text: <s> and </s>, as XLM-R's tokenizer adds them
_NUMBER_BYTES: Final = 22  # a number of a vector, written out, with its comma
_SCORE_BYTES: Final = 56  # {"id":12345,"score":0.12345678901234567},
_ELEMENT_BYTES: Final = 256  # one element of an answer without its numbers, its reference included
_UNKNOWN_DIMENSION: Final = 4_096  # the longest vectors of today's usual models
_SCRIPT_CHARACTERS: Final = 500  # examined by `script_of`; a text is nearly always in one script


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


def answer_bytes(kind: Kind, count: int, dimension: int) -> int:
    """The size of one element of an answer, on the high side; `dimension` 0 when it is not known."""
    if kind is Kind.RANK:
        return _ELEMENT_BYTES + count * _SCORE_BYTES
    return _ELEMENT_BYTES + count * ((dimension or _UNKNOWN_DIMENSION) * _NUMBER_BYTES + 3)


def count_tokens(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """`tokens_upper` and `tokens_lower` of each text, two arrays of shape (n,), uint32."""
    count = len(texts)
    if all(map(str.isascii, texts)):
        return count_ascii_tokens(np.fromiter(map(len, texts), np.uint32, count))
    upper, lower = (np.fromiter(map(tokens, texts), np.uint32, count) for tokens in (tokens_upper, tokens_lower))
    return upper, lower


def count_ascii_tokens(characters: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The same for ASCII texts of so many characters."""
    return (characters + 2) // 3 + np.uint32(SPECIAL_TOKENS), (characters + 3) // 4


_ONE_SCRIPT: Final = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK"}  # by the tokens of a character


def script_of(text: str) -> str:
    """The script of most letters at the beginning of a text, by the names of letters in Unicode; "" without any.

    Chinese, Japanese and Korean are one, and count twice.
    """
    counts: Counter[str] = Counter()
    for letter in filter(str.isalpha, text[:_SCRIPT_CHARACTERS]):
        script = "LATIN" if letter.isascii() else unicodedata.name(letter, "").partition(" ")[0]
        counts[_ONE_SCRIPT.get(script, script)] += 1
    counts["CJK"] *= 2
    return max(counts, key=counts.__getitem__) if counts.total() else ""
