"""Vectors as `.npz`: `vectors` (float32, little endian, shape (n, d)) and `ids` (text). No pickles."""

import zipfile
from collections.abc import Iterator
from typing import IO

import numpy as np

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Digest, Work, Written, not_as_written
from cfbatch_gui.core.results.exports.numpy_file import are_same, header
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.system.files import atomic_writer

_MOST_ID_BYTES = 1_000_000_000
_IDS_AT_ONCE = 10_000


def write(work: Work) -> Written:
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
                    _compare(member, table, work)
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


def _compare(member: IO[bytes], table: VectorRows, work: Work) -> None:
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
