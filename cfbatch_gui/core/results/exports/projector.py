"""A folder for TensorFlow's Embedding Projector.

Its reader splits at every tab and line feed, quoted or not, and skips blank lines.
"""

import json
from collections.abc import Iterable

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Work, Written, checked_file
from cfbatch_gui.core.results.exports.vector_rows import VectorRows, vector_texts
from cfbatch_gui.core.system.files import atomic_folder

_VECTORS, _METADATA, _CONFIG = "vectors.tsv", "metadata.tsv", "projector_config.json"
_NAMES = (_VECTORS, _METADATA, _CONFIG)
# Characters that split lines or cells in this reader or in other readers of TSV.
_BREAKS = str.maketrans(dict.fromkeys("\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\x00", " "))


def write(work: Work) -> Written:
    """Write and read back, with blanks for tabs and line breaks. Raises ExportError for one dimension."""
    table = VectorRows(work, reserved=("id", "text"), has_text_column=True)
    if table.dimension < 2:
        raise ExportError(
            message("The Embedding Projector takes vectors of two numbers and more. Nothing was written.")
        )
    names = ("id", "text", *table.columns)
    header = [name.translate(_BREAKS) or f"column {index}" for index, name in enumerate(names, 1)]
    done = changed = 0
    with atomic_folder(work.path, _NAMES.__contains__) as folder:
        with (
            checked_file(folder, _VECTORS, work) as vectors_file,
            checked_file(folder, _METADATA, work) as metadata_file,
            checked_file(folder, _CONFIG, work) as config_file,
        ):
            metadata_file.write(_line(header))
            for texts, vectors in table.blocks():
                rows = [vector[1:-1].replace(b",", b"\t") for vector in vector_texts(vectors)]
                vectors_file.write(b"\n".join(rows) + b"\n")
                for text in texts:
                    cells = (table.id_of(text), text.text, *table.cells(text))
                    clean = [cell.translate(_BREAKS) for cell in cells]
                    changed += sum(before != after for before, after in zip(cells, clean, strict=True))
                    # The reader would skip a line whose cells are all blank; so the first cell gets the row number.
                    clean[0] = clean[0] if clean[0].strip("\ufeff \u00a0\u3000") else str(text.row)
                    metadata_file.write(_line(clean))
                done += len(texts)
                work.tick(done)
            config_file.write(json.dumps(_config(work, table), ensure_ascii=False, indent=2).encode() + b"\n")
        work.tick_end()
    notes = {**table.notes, "columns": header, "cells_with_breaks_made_blanks": changed}
    return Written(done, tuple(work.path / name for name in _NAMES), notes)


def _config(work: Work, table: VectorRows) -> dict[str, object]:
    embedding = {
        "tensorName": work.metadata.name or work.metadata.id,
        "tensorShape": [table.count, table.dimension],
        "tensorPath": _VECTORS,
        "metadataPath": _METADATA,
    }
    return {"embeddings": [embedding]}


def _line(cells: Iterable[str]) -> bytes:
    return "\t".join(cells).encode() + b"\n"
