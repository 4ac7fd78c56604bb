"""The models that run on this machine: wordllama where it is installed, hashed n-grams otherwise."""

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

_TEXTS_AT_ONCE = 512
_WORDLLAMA_CHARACTERS = 65_536  # at once

DIMENSION = 1024
_RUN_LENGTHS = (3, 4, 5)
_BUCKET_BITS = 10
_NGRAM_CHARACTERS = 1_000_000  # at once
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~\u2000-\u206f\u3000-\u303f]+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FINISHER = np.uint64(0xBF58476D1CE4E5B9)

log = logging.getLogger(__name__)


class PracticeModel(Protocol):
    @property
    def name(self) -> str:
        """The name shown to the user, never that of Cloudflare's model."""

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension)."""


class WordLlama:
    """Averages of wordllama's token vectors, from the file inside the package; nothing is downloaded.

    Raises ImportError or OSError when the package, or its file, is not there.
    """

    name = "wordllama 256"
    dimension = 256

    def __init__(self) -> None:
        import wordllama  # calls logging.basicConfig, which does nothing beside the program's handler

        package = Path(wordllama.__file__).parent
        model = wordllama.WordLlama.load(cache_dir=package, disable_download=True, dim=self.dimension)
        self._tokenizer: Any = model.tokenizer
        self._tokenizer.no_padding()
        self._token_vectors: npt.NDArray[np.float32] = model.embedding

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors, shape (len(texts), 256); white space alone gets the first unit vector."""
        return _embedded(
            (" ".join(text.split()) for text in texts), _WORDLLAMA_CHARACTERS, self._averages, self.dimension
        )

    def _averages(self, texts: list[str]) -> npt.NDArray[np.float32]:
        # The library's own pooling pads every text to the longest of 64: a gigabyte for one long text.
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(texts, add_special_tokens=False)]
        counts = np.array([len(ids) for ids in tokens])
        filled, averages = counts > 0, np.zeros((len(texts), self.dimension), np.float32)
        if not filled.any():
            return averages
        ids = np.concatenate([np.array(each, np.int64) for each in tokens if each])
        np.clip(ids, 0, len(self._token_vectors) - 1, out=ids)
        starts = np.concatenate([[0], np.cumsum(counts[filled])[:-1]])
        sums = np.add.reduceat(self._token_vectors[ids], starts, axis=0)
        averages[filled] = sums / counts[filled, None]
        return averages


@cache
def choose_model() -> PracticeModel:
    """wordllama, or the n-grams where it cannot be loaded; one for the whole process. Blocks up to a second."""
    try:
        return WordLlama()
    except (ImportError, OSError, RuntimeError) as problem:  # RuntimeError: a user without a home folder
        log.info("practice model: n-grams, for want of wordllama (%s)", type(problem).__name__)
        return HashedNgrams()


def usual_model_name() -> str:
    """The name of the model that `choose_model` takes, without loading it."""
    return WordLlama.name if find_spec("wordllama") else HashedNgrams.name


class HashedNgrams:
    """Texts with common parts of words get similar vectors ("cloud", "Cloudflare"), whatever they mean.

    Every run of 3 to 5 characters within a word, its ends included, falls into one of 1,024 signed buckets. White
    space alone gets the first unit vector.
    """

    name = "hashed n-grams 1024"
    dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return _embedded(map(_prepared, texts), _NGRAM_CHARACTERS, _count, DIMENSION)


def _prepared(text: str) -> str:
    folded = text.casefold()
    words = _PUNCTUATION.sub(" ", folded).split() or folded.split()
    return f" {' '.join(words)} "


def _count(texts: list[str]) -> npt.NDArray[np.float64]:
    """Signed counts of each text's n-grams, damped by a square root; shape (len(texts), 1024)."""
    letters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    inside = letters != ord(" ")
    counts = np.zeros(len(texts) * DIMENSION)
    for length in _RUN_LENGTHS:
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


def _embedded(
    texts: Iterable[str], characters: int, vectors_of: Callable[[list[str]], npt.NDArray[Any]], dimension: int
) -> npt.NDArray[np.float32]:
    """Unit vectors, made of at most 512 texts and about `characters` characters at a time, which takes little memory; a
    row of zeros becomes the first unit vector.
    """
    found, group, held = [np.empty((0, dimension), np.float32)], list[str](), 0
    for text in texts:
        if group and (len(group) == _TEXTS_AT_ONCE or held + len(text) > characters):
            found.append(vectors_of(group).astype(np.float32))
            group, held = [], 0
        group.append(text)
        held += len(text)
    if group:
        found.append(vectors_of(group).astype(np.float32))
    vectors = np.concatenate(found)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    empty = lengths[:, 0] == 0
    vectors[empty, 0] = 1
    lengths[empty] = 1
    vectors /= lengths
    return vectors
