"""`vectors.npy`, written row by row at its place and flushed before `data.db` says that it is there; no memory map, so
a full disk is an error that can be said.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError, DiskFull
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.system.files import flush_folder, move_own_file, own_opener

_NUMBER = np.dtype("<f4")
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_COPIED_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class VectorLayout:
    rows: int
    dimension: int
    first_byte: int

    @property
    def row_bytes(self) -> int:
        return self.dimension * _NUMBER.itemsize

    @property
    def size(self) -> int:
        return self.first_byte + self.rows * self.row_bytes


def read_layout(path: Path) -> VectorLayout:
    """By the header of the file; its size is checked too. Raises DataError when it is missing or not as it was
    written.
    """
    try:
        with path.open("rb") as stream:
            if npy.read_magic(stream) != (1, 0):
                raise ValueError("not version 1.0")  # noqa: TRY301
            shape, is_fortran, dtype = npy.read_array_header_1_0(stream)
            first = stream.tell()
            size = os.fstat(stream.fileno()).st_size
    except (OSError, ValueError, EOFError) as error:
        raise _damaged(_UNREADABLE, str(error)) from error
    if len(shape) != 2 or is_fortran or dtype != _NUMBER or 0 in shape:
        raise _damaged(_DAMAGED, f"{dtype} {shape}")
    layout = VectorLayout(shape[0], shape[1], first)
    if size != layout.size:
        raise _damaged(_DAMAGED, f"{size} bytes, not {layout.size}")
    return layout


_DAMAGED = message(
    "This job's vectors are damaged. “cfbatch verify --mend” puts right what the answers that are kept still hold."
)
_UNREADABLE = message(
    "This job's vectors could not be read. “cfbatch verify --mend” puts right what the answers that are kept still"
    " hold."
)


def _damaged(sentence: Message, detail: str) -> DataError:
    return DataError(
        sentence,
        detail=f"vectors.npy: {detail}",
    )


def stored_vectors(path: Path, layout: VectorLayout) -> NDArray[np.float32]:
    """All rows, a read-only memory map; they are not held against their checksums."""
    return np.memmap(path, _NUMBER, "r", layout.first_byte, (layout.rows, layout.dimension))


class VectorFile:
    """A file of vectors, open for writing. Nothing is on the disk for sure before `flush`."""

    def __init__(self, path: Path, stream: BinaryIO, layout: VectorLayout) -> None:
        self._path, self._stream, self.layout = path, stream, layout

    def write(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Write vectors, (n, d), into the rows of these indices, (n,). Raises DiskFull and DataError."""
        if not len(rows):
            return
        order = np.argsort(rows, kind="stable")
        rows, vectors = rows[order], np.ascontiguousarray(vectors[order], _NUMBER)
        # Texts of a request mostly follow one another: then this is one write.
        starts = np.flatnonzero(np.diff(rows, prepend=rows[0] - 2) != 1)
        with _said(self._path):
            for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
                self._stream.seek(self.layout.first_byte + int(rows[start]) * self.layout.row_bytes)
                _write_all(self._stream, vectors[start:stop].data.cast("B"))

    def flush(self) -> None:
        """Return when all that was written is on the disk. Raises DiskFull and DataError."""
        with _said(self._path):
            os.fsync(self._stream.fileno())


@contextmanager
def open_vectors(path: Path) -> Iterator[VectorFile]:
    """A file that is there. Raises DataError when it is not as it was written."""
    layout = read_layout(path)
    with _said(path):
        stream = path.open("r+b", buffering=0)
    with stream:
        yield VectorFile(path, cast(BinaryIO, stream), layout)


@contextmanager
def new_vectors(path: Path, rows: int, dimension: int) -> Iterator[VectorFile]:
    """A new file with its room reserved, flushed when the block ends and removed when it raises. Raises DiskFull and
    DataError.
    """
    header = BytesIO()
    npy.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (rows, dimension)})
    layout = VectorLayout(rows, dimension, header.tell())
    try:
        with _said(path):
            stream = open(path, "w+b", buffering=0, opener=own_opener)  # noqa: SIM115  # closed by the caller
        with stream:
            with _said(path):
                _write_all(cast(BinaryIO, stream), header.getbuffer())
                _reserve(stream.fileno(), layout.size)
            yield VectorFile(path, cast(BinaryIO, stream), layout)
        flush_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        raise


def rewrite(path: Path, rows: int, dimension: int) -> None:
    """Put a missing, cut or misshapen file into its form again; rows that cannot be found are 0. Nobody else may write
    to it. Raises DiskFull and DataError.
    """
    fresh = path.with_name("vectors.new.npy")
    with new_vectors(fresh, rows, dimension) as file:
        if path.exists():
            with _said(path):
                _copy(path, file)
        file.flush()
    move_own_file(fresh, path)  # closed, or Windows would refuse
    flush_folder(path.parent)


def _copy(path: Path, file: VectorFile) -> None:
    layout = file.layout
    at_once = max(1, _COPIED_BYTES // layout.row_bytes)
    with path.open("rb") as old:
        old.seek(layout.first_byte)
        for start in range(0, layout.rows, at_once):
            found = old.read(min(at_once, layout.rows - start) * layout.row_bytes)
            whole = np.frombuffer(found[: len(found) // layout.row_bytes * layout.row_bytes], _NUMBER)
            if len(whole):
                vectors = whole.reshape(-1, layout.dimension)
                file.write(np.arange(start, start + len(vectors)), vectors)


def _write_all(stream: BinaryIO, data: memoryview) -> None:
    while data:
        data = data[stream.write(data) :]


def _reserve(descriptor: int, size: int) -> None:
    """Have the disk keep room for the whole file, so that the answers to come can be stored."""
    if not hasattr(os, "posix_fallocate"):
        os.ftruncate(descriptor, size)
        return
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno in _FULL:
            raise
        os.ftruncate(descriptor, size)  # a file system that cannot promise it


@contextmanager
def _said(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        detail = f"{path.name}: {error.strerror}"
        if error.errno in _FULL:
            raise DiskFull(
                message(
                    "The disk is full, so there is no room for the vectors. The answer itself is kept; free some "
                    "space and carry on."
                ),
                detail=detail,
            ) from error
        raise DataError(message("This job's vectors could not be written."), detail=detail) from error
