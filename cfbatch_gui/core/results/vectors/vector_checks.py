"""Checks of vectors for what a model should not give: values that are not finite, zero vectors, repeated vectors."""

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_UNIT_TOLERANCE = 1e-3  # the norm of half-precision values has an error of about 1e-4

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class VectorChecks:
    """The checks of all vectors that came back. The norms are those of finite vectors, NaN if there are none.

    `repeated` counts vectors that are equal, byte for byte, to an earlier one.
    """

    texts: int  # with and without a vector
    dimension: int
    norm_min: float
    norm_max: float
    unit_length: bool  # every norm is 1, to 0.001
    zero: int
    repeated: int
    non_finite: int  # vectors with a NaN or an infinity
    missing: int  # texts without a vector


def measure(
    blocks: Iterable[NDArray[np.float32]], texts: int, count: int, dimension: int, progress: Progress | None = None
) -> VectorChecks:
    """Check all vectors, which come in blocks of shape (n, dimension), `count` in all; `texts` counts all texts.

    Needs memory for one block and 24 bytes for each vector. `progress` gets (done, total).
    """
    norms = np.empty(count, dtype=np.float64)
    marks = np.empty((count, 2), dtype=np.uint64)
    done = 0
    for block in blocks:
        norms[done : done + len(block)] = _norms(block)
        marks[done : done + len(block)] = _marks(block)
        done += len(block)
        if progress:
            progress(done, count)
    finite = norms[np.isfinite(norms)]
    return VectorChecks(
        texts=texts,
        dimension=dimension,
        norm_min=float(finite.min()) if len(finite) else math.nan,
        norm_max=float(finite.max()) if len(finite) else math.nan,
        unit_length=bool(len(norms)) and bool(np.all(np.abs(norms - 1) < _UNIT_TOLERANCE)),
        zero=int(np.count_nonzero(norms == 0)),
        repeated=len(marks) - len(np.unique(marks, axis=0)),
        non_finite=len(norms) - len(finite),
        missing=texts - count,
    )


def _norms(block: NDArray[np.float32]) -> NDArray[np.float64]:
    """Norms in double, as the square of a small float32 underflows. NaN and infinity give NaN and infinity."""
    wide = block.astype(np.float64)
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return lengths


def _marks(block: NDArray[np.float32]) -> NDArray[np.uint64]:
    """A 128-bit hash of each row's bytes, of shape (n, 2); a collision is too improbable to matter."""
    digests = b"".join(hashlib.blake2b(row, digest_size=16).digest() for row in block)
    return np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
