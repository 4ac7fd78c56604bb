"""The models that run on this machine: wordllama where it is installed, hashed n-grams otherwise."""

import logging
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

_TEXTS_AT_ONCE = 512
_CHARACTERS_AT_ONCE = 65_536

_RUN_LENGTHS = (3, 4, 5)
_MULTIPLIER = np.uint32(0x9E3779B1)  # without it, runs that differ in one character often share a bucket
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~\u2000-\u206f\u3000-\u303f]+")

log = logging.getLogger(__name__)


# Each has the name that is shown to the user, never that of Cloudflare's model, and gives unit vectors.
PracticeModel: TypeAlias = "WordLlama | HashedNgrams"


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
        """Unit vectors, shape (len(texts), 256), made of few texts at a time; white space alone gets the first one."""
        found, group, held = [np.empty((0, self.dimension), np.float32)], list[str](), 0
        for text in (" ".join(each.split()) for each in texts):
            if group and (len(group) == _TEXTS_AT_ONCE or held + len(text) > _CHARACTERS_AT_ONCE):
                found.append(self._averages(group))
                group, held = [], 0
            group.append(text)
            held += len(text)
        return _unit(np.concatenate([*found, self._averages(group)]))

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

    Every run of 3 to 5 characters within a word, its ends included, falls into one of 1,024 signed buckets, whose
    counts are damped by a square root. White space alone gets the first unit vector.
    """

    name = "hashed n-grams 1024"
    dimension = 1024

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors, shape (len(texts), 1024)."""
        counts = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(counts, texts, strict=True):
            hashes = np.fromiter(_hashes_of_runs(text), np.uint32) * _MULTIPLIER
            row[:] = np.bincount(hashes >> 22, np.where(hashes & 1 << 21, 1, -1), self.dimension)
        return _unit(np.sign(counts) * np.sqrt(np.abs(counts)))


def _hashes_of_runs(text: str) -> Iterator[int]:
    folded = text.casefold()
    for word in _PUNCTUATION.sub(" ", folded).split() or folded.split():
        data = f" {word} ".encode("utf-32-le", "surrogatepass")
        for length in (4 * each for each in _RUN_LENGTHS):
            yield from (zlib.crc32(data[start : start + length]) for start in range(0, len(data) - length + 1, 4))


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """A row of zeros becomes the first unit vector."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[lengths[:, 0] == 0, 0] = 1
    vectors /= np.where(lengths == 0, 1, lengths)
    return vectors
