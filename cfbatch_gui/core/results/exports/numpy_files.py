"""Vectors as NumPy files, float32, little endian, of shape (n, d), without pickles.

`.npy` has the ids beside it in `.ids.txt`, one on each line; `.npz` has both, as `vectors` and `ids`.
"""

import os
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import CheckedStream, Digest, Work, Written, not_as_written
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.system.files import atomic_writer


def write_array(work: Work) -> Written:
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
            _compare_array(stream, start, table, work)
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


def _compare_array(stream: BinaryIO, start: int, table: VectorRows, work: Work) -> None:
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


_MOST_ID_BYTES = 1_000_000_000
_IDS_AT_ONCE = 10_000


def write_archive(work: Work) -> Written:
    """Write and read back. A NumPy array stores each text at the length of the longest.

    So ExportError is raised if the ids would take more than `_MOST_ID_BYTES`, and for an id that ends with NUL.
    """
    table = VectorRows(work)
    written, read = Digest(), Digest()
    ids: list[str] = []
    with atomic_writer(work.path) as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            with archive.open("vectors.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array_header_1_0(member, header(table))
                for texts, vectors in table.blocks():
                    member.write(vectors.tobytes())
                    ids += [table.id_of(text) for text in texts]
                    work.tick(len(ids))
            with archive.open("ids.npy", "w", force_zip64=True) as member:
                _write_ids(member, ids)
        written.add(ids)
        try:
            with zipfile.ZipFile(stream) as archive:
                with archive.open("vectors.npy") as member:
                    _compare_archive(member, table, work)
                with archive.open("ids.npy") as member:
                    read.add(list(_read_ids(member)))
        except (ValueError, zipfile.BadZipFile) as error:
            not_as_written(work.path, str(error))
        written.compare(read, work.path)
        work.tick_end()
    return Written(len(ids), (work.path,), table.notes)


def _write_ids(member: IO[bytes], ids: list[str]) -> None:
    longest = max(1, max(map(len, ids), default=1))
    if longest * 4 * len(ids) > _MOST_ID_BYTES:
        raise ExportError(
            message(
                "An id has {longest:,} characters, and a NumPy archive makes room for as many for every id. Nothing "
                "was written. Choose .npy, with the ids in a text file.",
                longest=longest,
            )
        )
    if any(identifier.endswith("\0") for identifier in ids):
        raise ExportError(message("An id ends with a NUL character, which a NumPy archive loses. Nothing was written."))
    np.lib.format.write_array_header_1_0(
        member, {"descr": f"<U{longest}", "fortran_order": False, "shape": (len(ids),)}
    )
    for start in range(0, len(ids), _IDS_AT_ONCE):
        member.write(np.array(ids[start : start + _IDS_AT_ONCE], dtype=f"<U{longest}").tobytes())


def _read_ids(member: IO[bytes]) -> Iterator[str]:
    np.lib.format.read_magic(member)
    _, _, dtype = np.lib.format.read_array_header_1_0(member)
    while data := member.read(_IDS_AT_ONCE * dtype.itemsize):
        yield from np.frombuffer(data, dtype=dtype).tolist()


def _compare_archive(member: IO[bytes], table: VectorRows, work: Work) -> None:
    version = np.lib.format.read_magic(member)
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(member)
    if (version, shape, is_fortran, dtype.str) != ((1, 0), (table.count, table.dimension), False, "<f4"):
        not_as_written(work.path, f"{dtype} {shape}")
    done = 0
    for vectors in table.vector_blocks():
        data = member.read(vectors.nbytes)
        if len(data) != vectors.nbytes or not are_same(np.frombuffer(data, "<f4"), vectors):
            not_as_written(work.path, f"a vector of rows {done} to {done + len(vectors)} differs")
        done += len(vectors)
        work.tick_back(done)
    if member.read(1):
        not_as_written(work.path, "more bytes than vectors")
