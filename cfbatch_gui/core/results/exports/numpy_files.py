"""Vectors as NumPy files, little-endian float32 (n, d), without pickles; `.npy` has its ids in `.ids.txt`."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import CheckedStream, Work, Written, check_archive
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.system.files import atomic_writer


def write_array(work: Work) -> Written:
    ids_path = work.path.with_suffix(".ids.txt")
    table = VectorRows(work)
    # The inner file is moved to its final path first: a new array always has its ids.
    with atomic_writer(work.path) as raw, atomic_writer(ids_path) as raw_ids:
        stream, ids = CheckedStream(raw, work.path, work), CheckedStream(raw_ids, ids_path, work)
        np.lib.format.write_array_header_1_0(stream, _header(table))
        for vectors in table.vector_blocks():
            stream.write(vectors.data)
            stream.tick(len(vectors))
        for rows, names in table.ids():
            ids.write(_lines(rows, names, ids_path))
        stream.compare()
        ids.compare()
        work.tick_end()
    return Written(stream.items, (work.path, ids_path), {**table.notes, "ids_file": ids_path.name})


def _header(table: VectorRows) -> dict[str, object]:
    """The header of the `.npy` format for all vectors of the table."""
    return {"descr": "<f4", "fortran_order": False, "shape": (table.count, table.dimension)}


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
    """Write and read back.

    Raises ExportError for ids of more than `_MOST_ID_BYTES` together, or one that ends with NUL.
    """
    table = VectorRows(work)
    ids: list[str] = []
    with atomic_writer(work.path) as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            with archive.open("vectors.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array_header_1_0(member, _header(table))
                for texts, vectors in table.blocks():
                    member.write(vectors.tobytes())
                    ids += [table.id_of(text) for text in texts]
                    work.tick(len(ids))
            with archive.open("ids.npy", "w", force_zip64=True) as member:
                _write_ids(member, ids)
        check_archive(work, stream)
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
