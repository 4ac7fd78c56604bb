"""Split long texts into parts that are within a model's limit."""

import re
import unicodedata
from collections.abc import Callable

_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]+")
_WORD = re.compile(r"\s+")
_LETTERS_A_TOKEN = 3  # of ASCII, in the estimate that counts most tokens


def split_text(text: str, most: int, overlap: int, count: Callable[[str], int]) -> tuple[tuple[int, int], ...]:
    """Return (start, stop) of the parts, in order; one part for a text that is short enough.

    `start` and `stop` are indices of characters. No part has more than `most` tokens by `count`. A part ends after the
    last paragraph, sentence or word that ends in its second half, in this order of preference, otherwise within a word;
    the next part begins about `overlap` tokens before that. Every character but white space is in a part.
    """
    if count(text) <= most:
        return ((0, len(text)),)
    overlap = max(0, min(overlap, most // 2))
    parts: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        stop = _longest(text, start, most, count)
        if stop < len(text):
            stop = _good_end(text, start, stop)
        if text[start:stop].strip():
            parts.append((start, stop))
        if stop >= len(text):
            break
        start = max(_begin_again(text, start, stop, overlap, count), start + 1)
    return tuple(parts) or ((0, len(text)),)


def _longest(text: str, start: int, most: int, count: Callable[[str], int]) -> int:
    high = min(len(text), start + most * _LETTERS_A_TOKEN)
    if count(text[start:high]) <= most:
        return high
    low = start + 1
    while low + 1 < high:
        middle = (low + high) // 2
        if count(text[start:middle]) <= most:
            low = middle
        else:
            high = middle
    return low


def _good_end(text: str, start: int, stop: int) -> int:
    middle = (start + stop) // 2
    for pattern in (_PARAGRAPH, _SENTENCE, _WORD):
        ends = [found.end() for found in pattern.finditer(text, middle, stop)]
        if ends:
            return ends[-1]
    # Split within a word, but not within a character with its combining marks.
    for earlier in range(stop, max(start + 1, stop - 16), -1):
        if not unicodedata.combining(text[earlier]) and text[earlier] not in "\u200d\ufe0f":
            return earlier
    return stop


def _begin_again(text: str, start: int, stop: int, overlap: int, count: Callable[[str], int]) -> int:
    if not overlap:
        return stop
    begin = max(start + 1, stop - overlap * _LETTERS_A_TOKEN)
    around = count("")  # tokens that each part has besides those of its text
    while begin < stop and count(text[begin:stop]) - around > overlap:
        begin += max(1, (stop - begin) // 4)
    word = _WORD.search(text, begin, stop)
    return word.end() if word and word.end() < stop else begin
