"""Embedded texts with their vectors, a block at a time. Only texts whose vector came back: a reader of vectors takes no
empty rows. The manifest and the result of an export say how many are missing.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import compress
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.exports.base import PART, Work, indices_of
from cfbatch_gui.core.results.original_columns import column_of, columns_of_vectors
from cfbatch_gui.core.results.outcomes import has_parts
from cfbatch_gui.core.results.vectors.embeddings import EmbeddedText, Embeddings

BLOCK = 512  # texts; 2 MB of vectors of 1,024 numbers
_MANY_BYTES = 2_000_000
_IDS_AT_ONCE = 50_000
_IDS = """
SELECT t.text_id, t.row FROM items i JOIN texts t USING(text_no)
WHERE i.item_no BETWEEN ? AND ? ORDER BY i.item_no
"""


def vector_columns(folder: JobFolder) -> tuple[str, ...]:
    """What can be chosen beside id and numbers: the user's own columns, after `PART` where texts were split."""
    parts = (PART,) if has_parts(folder) else ()
    return parts + Embeddings(folder, reserved=parts).columns()


class VectorRows:
    """The rows of one export: what is there at this moment, even when more comes back meanwhile.

    `reserved` are names that the user's own columns must not take. `columns` are those of them that were chosen, and
    `PART` where texts were split; without the text's own column when the form has `a_place_for_texts`.
    """

    def __init__(self, work: Work, *, reserved: Collection[str] = (), has_text_column: bool = False) -> None:
        self._folder = work.folder
        parts = (PART,) if has_parts(work.folder) else ()
        self._embeddings = Embeddings(work.folder, work.metadata.failed_batches, reserved=(*parts, *reserved))
        self._present = self._embeddings.present()
        self.count = int(np.count_nonzero(self._present))
        self.dimension = self._embeddings.dimension
        self._parts = len(parts)
        names = parts + self._embeddings.columns()
        text = len(parts) + _index_of_text(work.folder) if has_text_column else -1
        chosen = indices_of(work.options.columns, vector_columns(work.folder))
        self._indices = tuple(index for index in chosen if index != text)
        self.columns = tuple(names[index] for index in self._indices)

    @property
    def item_numbers(self) -> NDArray[np.int64]:
        """The item number of each row, (n,), rising."""
        return np.flatnonzero(self._present) + 1

    @property
    def notes(self) -> dict[str, object]:
        """For the manifest."""
        return {
            "dimension": self.dimension,
            "dtype": "float32",
            "ids": "from the file" if self._embeddings.has_ids else "row numbers of the file, which has no ids",
        }

    def id_of(self, text: EmbeddedText) -> str:
        """The file's own id; the row's number when the file has no ids at all."""
        return text.id if self._embeddings.has_ids else str(text.row)

    def key_of(self, text: EmbeddedText) -> str:
        """`id_of`, and the part of a split text, for forms that keep one vector for an id."""
        identifier = self.id_of(text)
        return identifier if text.part is None else f"{identifier}#{text.part}"

    def cells(self, text: EmbeddedText) -> tuple[str, ...]:
        """One cell for each of `columns`."""
        part = ("" if text.part is None else str(text.part),) * self._parts
        cells = part + text.cells
        return tuple(cells[index] for index in self._indices)

    def blocks(self) -> Iterator[tuple[Sequence[EmbeddedText], NDArray[np.float32]]]:
        """Texts and their vectors, float32 (n, d), in the order of the input. Raises ExportError for a NaN."""
        for start, there, vectors in self._embeddings.vector_blocks(self._present, BLOCK):
            page = self._embeddings.page(start, start + BLOCK)
            texts = [page[index] for index in there]
            _check_finite(texts, vectors)
            yield texts, vectors

    def vector_blocks(self) -> Iterator[NDArray[np.float32]]:
        """The vectors of `blocks` without their texts, more at a time. What has come back never changes."""
        size = max(BLOCK, _MANY_BYTES // max(1, 4 * self.dimension))
        return (vectors for _, _, vectors in self._embeddings.vector_blocks(self._present, size))

    def finite_vector_blocks(self) -> Iterator[NDArray[np.float32]]:
        """`vector_blocks`. Raises ExportError for a NaN."""
        done = 0
        for vectors in self.vector_blocks():
            # One NaN makes a sum NaN, and an infinity makes it infinite or NaN; a sum of large numbers may be so, too.
            with np.errstate(over="ignore", invalid="ignore"):
                total = vectors.sum()
            if not np.isfinite(total) and not np.isfinite(vectors).all():
                (index,) = np.flatnonzero(~np.isfinite(vectors).all(axis=1))[:1]
                item = int(np.flatnonzero(self._present)[done + index]) + 1
                _refuse(self._embeddings.texts([item])[0])
            done += len(vectors)
            yield vectors

    def ids(self) -> Iterator[tuple[Sequence[int], Sequence[str]]]:
        """Rows of the file, and ids, of the texts that have a vector, in order and many at a time."""
        for start in range(0, len(self._present), _IDS_AT_ONCE):
            with self._folder.open(read_only=True) as database:
                found = database.execute(_IDS, (start + 1, start + _IDS_AT_ONCE)).fetchall()
            there = list(compress(found, self._present[start : start + _IDS_AT_ONCE].tolist()))
            if there:
                names, rows = zip(*there, strict=True)
                yield rows, names if self._embeddings.has_ids else [*map(str, rows)]


def _index_of_text(folder: JobFolder) -> int:
    """Among the user's own columns; beyond them when no column is the text alone."""
    with folder.open(read_only=True) as database:
        columns = columns_of_vectors(database).first
        text = column_of(database, 1, Role.TEXT, Role.CONTEXT, Role.QUERY)
    return columns.index(text) if text in columns else len(columns)


def _check_finite(texts: Sequence[EmbeddedText], vectors: NDArray[np.float32]) -> None:
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        _refuse(texts[bad[0]])


def _refuse(text: EmbeddedText) -> NoReturn:
    raise ExportError(
        f"The vector of row {text.row} holds a value that is not a number. Nothing was written. Send the job again.",
        detail=f"item {text.item_no}",
    )
