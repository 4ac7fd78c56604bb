"""Vectors from hashed character n-grams: no model file, no library beyond numpy, the same on every machine."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cfbatch_gui.core.practice.vectors import groups, unit

DIMENSION = 1024
_LENGTHS = (3, 4, 5)
_BUCKET_BITS = 10
_CHARACTERS_AT_ONCE = 1_000_000
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~\u2000-\u206f\u3000-\u303f]+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FINISHER = np.uint64(0xBF58476D1CE4E5B9)


class HashedNgrams:
    """Texts that share pieces of words come out alike ("cloud", "Cloudflare"); meaning is not understood.

    Every run of 3, 4 or 5 characters within a word, its two ends included, falls into one of 1,024 signed
    buckets. A text without any such run (white space alone) gets the first unit vector.
    """

    name = "hashed n-grams 1024"
    dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors, shape (len(texts), 1024)."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        row = 0
        for group in groups(map(_prepared, texts), _CHARACTERS_AT_ONCE):
            vectors[row : row + len(group)] = _count(group)
            row += len(group)
        return unit(vectors)


def _prepared(text: str) -> str:
    """Words in lower case between single spaces, one space at each end."""
    folded = text.casefold()
    words = _PUNCTUATION.sub(" ", folded).split() or folded.split()
    return f" {' '.join(words)} "


def _count(texts: list[str]) -> npt.NDArray[np.float64]:
    """Signed counts of the n-grams of each text, damped by a square root; shape (len(texts), 1024)."""
    letters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    inside = letters != ord(" ")
    counts = np.zeros(len(texts) * DIMENSION)
    for length in _LENGTHS:
        windows = len(letters) - length + 1
        if windows <= 0:
            continue
        hashes = np.full(windows, length, np.uint64)
        within = np.ones(windows, bool)
        for offset in range(length):
            hashes = hashes * _MULTIPLIER + letters[offset : offset + windows]
            if 0 < offset < length - 1:  # only the ends of a run may be a word's boundary
                within &= inside[offset : offset + windows]
        mixed = (hashes[within] ^ (hashes[within] >> np.uint64(29))) * _FINISHER
        buckets = (mixed >> np.uint64(64 - _BUCKET_BITS)).astype(np.int64)
        signs = np.where(mixed & np.uint64(1 << 20), 1.0, -1.0)
        counts += np.bincount(rows[:windows][within] * DIMENSION + buckets, signs, minlength=counts.size)
    return (np.sign(counts) * np.sqrt(np.abs(counts))).reshape(len(texts), DIMENSION)
