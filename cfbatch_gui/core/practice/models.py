"""The models that run on this machine: wordllama where it is installed, hashed n-grams otherwise."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cfbatch_gui.core.practice.ngrams import HashedNgrams
from cfbatch_gui.core.practice.vectors import groups, unit

_CHARACTERS_AT_ONCE = 65_536

log = logging.getLogger(__name__)


class PracticeModel(Protocol):
    """Turns texts into vectors, on this machine alone."""

    @property
    def name(self) -> str:
        """What the user reads: the true name and size, never the name of Cloudflare's model."""

    @property
    def dimension(self) -> int:
        """The length of each vector."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors, shape (len(texts), dimension), in the order of the texts."""


class WordLlama:
    """Averages of wordllama's token vectors (256 dimensions), from the file inside the package.

    Raises ImportError or OSError when the package, or its file, is not there. Nothing is downloaded.
    """

    name = "wordllama 256"
    dimension = 256

    def __init__(self) -> None:
        with _root_logger_left_alone():
            import wordllama
        package = Path(wordllama.__file__).parent
        model = wordllama.WordLlama.load(cache_dir=package, disable_download=True, dim=self.dimension)
        self._tokenizer: Any = model.tokenizer
        self._tokenizer.no_padding()
        self._token_vectors: npt.NDArray[np.float32] = model.embedding

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors, shape (len(texts), 256); white space alone gets the first unit vector."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        start = 0
        for group in groups((" ".join(text.split()) for text in texts), _CHARACTERS_AT_ONCE):
            self._average(group, vectors[start : start + len(group)])
            start += len(group)
        return unit(vectors)

    def _average(self, texts: list[str], into: npt.NDArray[np.float32]) -> None:
        # The library's own pooling pads every text to the longest of 64: a gigabyte for one long text.
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(texts, add_special_tokens=False)]
        counts = np.array([len(ids) for ids in tokens])
        filled = counts > 0
        if not filled.any():
            return
        ids = np.concatenate([np.array(each, np.int64) for each in tokens if each])
        np.clip(ids, 0, len(self._token_vectors) - 1, out=ids)
        starts = np.concatenate([[0], np.cumsum(counts[filled])[:-1]])
        sums = np.add.reduceat(self._token_vectors[ids], starts, axis=0)
        into[filled] = sums / counts[filled, None]


def choose_model() -> PracticeModel:
    """Load wordllama, or the n-grams where it is missing or incomplete. Takes up to a second: not on the loop."""
    try:
        return WordLlama()
    except (ImportError, OSError, RuntimeError) as problem:  # RuntimeError: a user without a home folder
        log.info("practice model: n-grams, for want of wordllama (%s)", type(problem).__name__)
        return HashedNgrams()


@contextmanager
def _root_logger_left_alone() -> Iterator[None]:
    """wordllama calls logging.basicConfig when imported; a root logger that has a handler is left as it is."""
    root = logging.getLogger()
    handler = logging.NullHandler()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
