"""`vectors.npy`, float32 (items, dimension), row = item number - 1: read as a memory map, written by ordinary writes
(on a full disk a write to a memory map ends the process), and flushed before `data.db` says that it is there.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import flush_folder, own_errors, own_opener


def stored_vectors(path: Path) -> np.memmap[tuple[int, int], np.dtype[np.float32]]:
    """All rows, read-only, not held against their checksums. Raises DataError when the file is missing or not as it was
    written.
    """
    try:
        found = npy.open_memmap(path, mode="r")
        size = path.stat().st_size
        if found.ndim != 2 or found.dtype != "<f4" or not found.flags.c_contiguous:
            raise ValueError(f"{found.dtype} {found.shape}")  # noqa: TRY301
        if size != found.offset + found.nbytes:
            raise ValueError(f"{size} bytes, not {found.offset + found.nbytes}")  # noqa: TRY301
    except (OSError, ValueError, EOFError, OverflowError, SyntaxError, TokenError) as error:
        raise DataError(message("job_vectors_are_damaged_cfbatch_verify"), detail=f"vectors.npy: {error}") from error
    return found


def rows_apart(vectors: NDArray[np.float32], start: int, stop: int) -> NDArray[np.float32]:
    """Rows of all vectors, `start` to before `stop`; of a map in one of its own, whose memory is given back with it."""
    if not isinstance(vectors, np.memmap) or vectors.filename is None:
        return vectors[start:stop]
    width = vectors.shape[1]
    first_byte = vectors.offset + start * width * vectors.itemsize
    return np.memmap(vectors.filename, np.float32, "r", first_byte, (stop - start, width))


class VectorFile:
    """A file of vectors, open for writing. Nothing is on the disk for sure before `flush`."""

    def __init__(self, path: Path, stream: FileIO, first_byte: int, dimension: int) -> None:
        self._path, self._stream, self._first_byte, self.dimension = path, stream, first_byte, dimension

    def write(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Write vectors, (n, d), into the rows of these indices, (n,). Raises DiskFull and DataError."""
        if not len(rows):
            return
        order = np.argsort(rows, kind="stable")
        rows, vectors = rows[order], np.ascontiguousarray(vectors[order], "<f4")
        # Texts of a request mostly follow one another: then this is one write.
        starts = np.flatnonzero(np.diff(rows, prepend=rows[0] - 2) != 1)
        with own_errors(self._path):
            for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
                self._stream.seek(self._first_byte + int(rows[start]) * self.dimension * 4)
                data = vectors[start:stop].data.cast("B")
                while data:
                    data = data[self._stream.write(data) :]

    def flush(self) -> None:
        """Return when all that was written is on the disk. Raises DiskFull and DataError."""
        with own_errors(self._path):
            os.fsync(self._stream.fileno())


@contextmanager
def open_vectors(path: Path) -> Iterator[VectorFile]:
    """A file that is there. Raises DataError when it is not as it was written."""
    known = stored_vectors(path)
    first_byte, dimension = known.offset, known.shape[1]
    with own_errors(path):
        stream = FileIO(path, "r+")
    with stream:
        yield VectorFile(path, stream, first_byte, dimension)


@contextmanager
def new_vectors(path: Path, rows: int, dimension: int) -> Iterator[VectorFile]:
    """A new file of its full size, flushed when the block ends and removed when it raises. Raises DiskFull and
    DataError.
    """
    try:
        with own_errors(path):
            stream = FileIO(path, "w+", opener=own_opener)
        with stream:
            with own_errors(path):
                npy.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": (rows, dimension)})
                first_byte = stream.tell()
                os.ftruncate(stream.fileno(), first_byte + rows * dimension * 4)
            yield VectorFile(path, stream, first_byte, dimension)
        flush_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        raise
