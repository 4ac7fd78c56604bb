"""Whether vectors are what a model should give: finite, of one length, none zero, none the same twice."""

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_UNIT_TOLERANCE = 1e-3  # half-precision values: a norm is off by some 1e-4

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class VectorChecks:
    """Of all vectors that came back. Norms are NaN when there is none.

    `repeated` counts vectors that are, byte for byte, one that stands before them.
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
    """Look at all vectors, `count` of `texts`, which come in blocks of shape (n, dimension): memory stays flat but for
    24 bytes a vector. `progress` gets (done, total).
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
    """In double: the square of a small float32 may be nothing. NaN and infinity stay what they are."""
    wide = block.astype(np.float64)
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return lengths


def _marks(block: NDArray[np.float32]) -> NDArray[np.uint64]:
    """128 bits of a hash of each row's bytes: equal for equal rows only, as far as anyone will ever see."""
    digests = b"".join(hashlib.blake2b(row, digest_size=16).digest() for row in block)
    return np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
