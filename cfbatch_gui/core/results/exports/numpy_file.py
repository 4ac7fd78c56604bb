"""Vectors as `.npy`: float32, little endian, shape (n, d); the ids in a second file `.ids.txt`, one on each line."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Work, Written, not_as_written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.system.files import atomic_writer


def write(work: Work) -> Written:
    """Write and read back both files."""
    ids_path = work.path.with_suffix(".ids.txt")
    table = VectorRows(work)
    done = 0
    # The inner file is moved to its final path first: a new array always has its ids.
    with atomic_writer(work.path) as stream, atomic_writer(ids_path) as ids:
        np.lib.format.write_array_header_1_0(stream, header(table))
        start = stream.tell()
        for vectors in table.finite_vector_blocks():
            stream.write(vectors.data)
            done += len(vectors)
            work.tick(done)
        with _flushing(stream):
            lines = CheckedStream(ids, ids_path)
            for rows, names in table.ids():
                lines.write(_lines(rows, names, ids_path))
            _compare(stream, start, table, work)
        lines.compare(work, done)
        work.tick_end()
    return Written(done, (work.path, ids_path), {**table.notes, "ids_file": ids_path.name})


def header(table: VectorRows) -> dict[str, object]:
    """The header of the `.npy` format for all vectors of the table."""
    return {"descr": "<f4", "fortran_order": False, "shape": (table.count, table.dimension)}


@contextmanager
def _flushing(stream: BinaryIO) -> Iterator[None]:
    """Flush the stream to the disk in another thread while the block runs, and wait for it at the end of the block."""
    stream.flush()
    with ThreadPoolExecutor(1) as pool:
        flushed = pool.submit(os.fsync, stream.fileno())
        yield
        flushed.result()


def are_same(found: NDArray[np.float32], vectors: NDArray[np.float32]) -> bool:
    """Whether both arrays are equal bit for bit: -0.0 differs from 0.0."""
    return np.array_equal(found.reshape(-1).view("<u4"), np.ascontiguousarray(vectors).reshape(-1).view("<u4"))


def _compare(stream: BinaryIO, start: int, table: VectorRows, work: Work) -> None:
    """Compare the file from byte `start` on with the job's vectors, through memory maps. Raises ExportError."""
    done = 0
    for vectors in table.vector_blocks():
        offset = start + done * table.dimension * 4
        if os.fstat(stream.fileno()).st_size < offset + vectors.nbytes:
            not_as_written(work.path, "it is too short")
        found = np.memmap(stream, dtype="<f4", mode="r", offset=offset, shape=vectors.shape)
        is_same = are_same(found, vectors)
        del found  # an error would keep it, and Windows removes no file that is mapped
        if not is_same:
            not_as_written(work.path, f"a vector of rows {done} to {done + len(vectors)} differs")
        done += len(vectors)
        work.tick_back(done)


def _lines(rows: Sequence[int], names: Sequence[str], path: Path) -> bytes:
    text = "\n".join((*names, ""))
    if "\r" in text or text.count("\n") != len(rows):
        row = next(row for row, name in zip(rows, names, strict=True) if "\n" in name or "\r" in name)
        raise ExportError(
            message(
                "The id of row {row} has a line break, and “{name}” holds one id a line. Nothing was written. "
                "Choose .npz, which takes any id.",
                row=row,
                name=path.name,
            ),
        )
    return text.encode()
