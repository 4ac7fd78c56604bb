"""Vectors as NumPy files, little-endian float32 (n, d), without pickles, and as a folder for the Embedding Projector.

`.npy` has its ids in `.ids.txt`. The reader of TensorFlow's Embedding Projector splits at every tab and line feed,
quoted or not, and skips blank lines.
"""

import json
import zipfile
from collections.abc import Iterable, Sequence
from typing import IO, NoReturn

import numpy as np

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import CheckedStream, Work, Written, check_archive, checked_file
from cfbatch_gui.core.results.exports.vector_rows import VectorRows, vector_texts
from cfbatch_gui.core.system.files import atomic_folder, atomic_writer


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
        for names in table.ids():
            lines = "".join([f"{name}\n" for name in names])
            if "\r" in lines or lines.count("\n") != len(names):
                _refuse_id(table, names, ids)
            ids.write(lines.encode())
            ids.items += len(names)
        stream.compare()
        ids.compare()
        work.tick_end()
    return Written(stream.items, (work.path, ids_path), {**table.notes, "ids_file": ids_path.name})


def _header(table: VectorRows) -> dict[str, object]:
    """The header of the `.npy` format for all vectors of the table."""
    return {"descr": "<f4", "fortran_order": False, "shape": (table.count, table.dimension)}


def _refuse_id(table: VectorRows, names: Sequence[str], ids: CheckedStream) -> NoReturn:
    index = next(index for index, name in enumerate(names) if "\n" in name or "\r" in name)
    raise ExportError(
        message(
            "The id of row {row} has a line break, and “{name}” holds one id a line. Nothing was written. "
            "Choose .npz, which takes any id.",
            row=table.row_of(ids.items + index),
            name=ids.path.name,
        ),
    )


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


_TABLE, _METADATA, _CONFIG = "vectors.tsv", "metadata.tsv", "projector_config.json"
_PROJECTOR_FILES = (_TABLE, _METADATA, _CONFIG)
# Characters that split lines or cells in this reader or in other readers of TSV.
_BREAKS = str.maketrans(dict.fromkeys("\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\x00", " "))


def write_projector(work: Work) -> Written:
    """Write and read back, with blanks for tabs and line breaks. Raises ExportError for one dimension."""
    table = VectorRows(work, reserved=("id", "text"), has_text_column=True)
    if table.dimension < 2:
        raise ExportError(
            message("The Embedding Projector takes vectors of two numbers and more. Nothing was written.")
        )
    names = ("id", "text", *table.columns)
    header = [name.translate(_BREAKS) or f"column {index}" for index, name in enumerate(names, 1)]
    done = changed = 0
    with atomic_folder(work.path, _PROJECTOR_FILES.__contains__) as folder:
        with (
            checked_file(folder, _TABLE, work) as vectors_file,
            checked_file(folder, _METADATA, work) as metadata_file,
            checked_file(folder, _CONFIG, work) as config_file,
        ):
            metadata_file.write(_tab_line(header))
            for texts, vectors in table.blocks():
                rows = [vector[1:-1].replace(b",", b"\t") for vector in vector_texts(vectors)]
                vectors_file.write(b"\n".join(rows) + b"\n")
                for text in texts:
                    cells = (table.id_of(text), text.text, *table.cells(text))
                    clean = [cell.translate(_BREAKS) for cell in cells]
                    changed += sum(before != after for before, after in zip(cells, clean, strict=True))
                    # The reader would skip a line whose cells are all blank; so the first cell gets the row number.
                    clean[0] = clean[0] if clean[0].strip("\ufeff \u00a0\u3000") else str(text.row)
                    metadata_file.write(_tab_line(clean))
                done += len(texts)
                work.tick(done)
            config_file.write(json.dumps(_config(work, table), ensure_ascii=False, indent=2).encode() + b"\n")
        work.tick_end()
    notes = {**table.notes, "columns": header, "cells_with_breaks_made_blanks": changed}
    return Written(done, tuple(work.path / name for name in _PROJECTOR_FILES), notes)


def _config(work: Work, table: VectorRows) -> dict[str, object]:
    embedding = {
        "tensorName": work.metadata.name or work.metadata.id,
        "tensorShape": [table.count, table.dimension],
        "tensorPath": _TABLE,
        "metadataPath": _METADATA,
    }
    return {"embeddings": [embedding]}


def _tab_line(cells: Iterable[str]) -> bytes:
    return "\t".join(cells).encode() + b"\n"
