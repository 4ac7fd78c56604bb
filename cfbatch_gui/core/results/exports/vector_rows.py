"""Embedded texts with their vectors, in blocks, and the shortest decimals that read back as the same float32."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import compress

import numpy as np
import orjson
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.results.exports.base import PART, REQUEST_ID, SOURCE_JOB, Work, checked_export, indices_of
from cfbatch_gui.core.results.outcomes import (
    column_of,
    columns_of_vectors,
    has_origins,
    has_parts,
    origins_by_reference,
)

BLOCK = 512  # texts; 2 MB of vectors of 1,024 numbers
_MANY_BYTES = 2_000_000
_IDS_AT_ONCE = 50_000
_IDS = """
SELECT iif(?, t.text_id, t.row) FROM items i JOIN texts t USING(text_no)
WHERE i.item_no BETWEEN ? AND ? ORDER BY i.item_no
"""


def vector_columns(folder: JobFolder) -> tuple[str, ...]:
    """The names of the columns that can be chosen: ours where they say something, and the user's own."""
    ours = _our_columns(folder)
    return ours + Embeddings(folder, reserved=ours).columns()


class VectorRows:
    """The rows of one export: the texts that have a vector when it is made.

    `has_text_column`: the format has the text's column itself. Raises UsageError for a column that does not exist.
    """

    def __init__(self, work: Work, *, reserved: Collection[str] = (), has_text_column: bool = False) -> None:
        self._folder = work.folder
        ours = _our_columns(work.folder)
        self._metadata, self._has_part, self._has_source = work.metadata, PART in ours, SOURCE_JOB in ours
        with work.folder.open(read_only=True) as database:
            self._origins = origins_by_reference(database)
        self._embeddings = Embeddings(work.folder, work.metadata.failed_batches, reserved=(*ours, *reserved))
        present = self._embeddings.present()
        self._present = present & _wanted(work.options.items, len(present))
        self.count = int(np.count_nonzero(self._present))
        self.dimension = self._embeddings.dimension
        names = ours + self._embeddings.columns()
        text = len(ours) + _index_of_text(work.folder) if has_text_column else -1
        chosen = indices_of(work.options.columns, vector_columns(work.folder))
        self._indices = tuple(index for index in chosen if index != text)
        self.columns = tuple(names[index] for index in self._indices)

    @property
    def item_numbers(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._present) + 1

    @property
    def notes(self) -> dict[str, object]:
        """Notes for the manifest: dimension, dtype, and the origin of the ids."""
        return {
            "dimension": self.dimension,
            "dtype": "float32",
            "ids": "from the file" if self._embeddings.has_ids else "row numbers of the file, which has no ids",
        }

    def id_of(self, text: EmbeddedText) -> str:
        return text.id if self._embeddings.has_ids else str(text.row)

    def key_of(self, text: EmbeddedText) -> str:
        """`id_of`, with "#" and the part of a split text, for formats that store one vector per id."""
        identifier = self.id_of(text)
        return identifier if text.part is None else f"{identifier}#{text.part}"

    def cells(self, text: EmbeddedText) -> tuple[str, ...]:
        cells = ("" if text.part is None else str(text.part),) * self._has_part + self._source(text) + text.cells
        return tuple(cells[index] for index in self._indices)

    def _source(self, text: EmbeddedText) -> tuple[str, ...]:
        """The job and the request that a vector came with; nothing where all are the job's own."""
        if not self._has_source:
            return ()
        if origin := self._origins.get(text.reference):
            return origin.job_name, origin.request_id
        return self._metadata.name, self._metadata.request_ids.get(text.batch, "")

    def blocks(self) -> Iterator[tuple[Sequence[EmbeddedText], NDArray[np.float32]]]:
        """Texts and their vectors, float32 (n, d), in the order of the input; n is at most BLOCK.

        Raises ExportError for a vector that is not finite.
        """
        done = 0
        for start, there, vectors in self._embeddings.vector_blocks(self._present, BLOCK):
            self._check_finite(vectors, done)
            page = self._embeddings.page(start, start + BLOCK)
            yield [page[index] for index in there], vectors
            done += len(vectors)

    def texts(self) -> Iterator[list[EmbeddedText]]:
        for start in range(0, len(self._present), BLOCK):
            page = self._embeddings.page(start, start + BLOCK)
            yield list(compress(page, self._present[start : start + BLOCK].tolist()))

    def vector_blocks(self) -> Iterator[NDArray[np.float32]]:
        """The vectors of `blocks` without their texts, in larger blocks. Raises ExportError as `blocks`."""
        done, size = 0, max(BLOCK, _MANY_BYTES // max(1, 4 * self.dimension))
        for _, _, vectors in self._embeddings.vector_blocks(self._present, size):
            self._check_finite(vectors, done)
            done += len(vectors)
            yield vectors

    def _check_finite(self, vectors: NDArray[np.float32], done: int) -> None:
        # The sum is not finite if a value is not, but also after an overflow; then each value is checked.
        with np.errstate(over="ignore", invalid="ignore"):
            total = vectors.sum()
        if np.isfinite(total) or np.isfinite(vectors).all():
            return
        (index,) = np.flatnonzero(~np.isfinite(vectors).all(axis=1))[:1]
        raise ExportError(
            message(
                "The vector of row {row} holds a value that is not a number. Nothing was written. Send the job again.",
                row=self.row_of(done + int(index)),
            )
        )

    def ids(self) -> Iterator[list[str]]:
        """The ids of the texts that have a vector, in the order of `blocks`, up to 50,000 at a time."""
        for start in range(0, len(self._present), _IDS_AT_ONCE):
            with self._folder.open(read_only=True) as database:
                found = database.execute(_IDS, (self._embeddings.has_ids, start + 1, start + _IDS_AT_ONCE)).fetchall()
            yield [str(name) for (name,) in compress(found, self._present[start : start + _IDS_AT_ONCE].tolist())]

    def row_of(self, index: int) -> int:
        """The row of the file that the text has whose vector is that of this index in the export."""
        return self._embeddings.texts([int(self.item_numbers[index])])[0].row


def write_vector_lines(
    work: Work, table: VectorRows, line: Callable[[EmbeddedText, bytes], bytes], start: bytes = b""
) -> int:
    with checked_export(work) as stream:
        stream.write(start)
        for texts, vectors in table.blocks():
            stream.write(b"".join(map(line, texts, vector_texts(vectors))))
            stream.tick(len(texts))
    return stream.items


def _our_columns(folder: JobFolder) -> tuple[str, ...]:
    parts = (PART,) if has_parts(folder) else ()
    return (*parts, *((SOURCE_JOB, REQUEST_ID) if has_origins(folder) else ()))


def _wanted(items: frozenset[int] | None, count: int) -> NDArray[np.bool_]:
    """Which texts were chosen, (count,), bool; all of them without a choice."""
    if items is None:
        return np.ones(count, np.bool_)
    wanted = np.zeros(count, np.bool_)
    wanted[[number - 1 for number in items if 0 < number <= count]] = True
    return wanted


def _index_of_text(folder: JobFolder) -> int:
    with folder.open(read_only=True) as database:
        columns = columns_of_vectors(database).first
        text = column_of(database, 1, Role.TEXT, Role.CONTEXT, Role.QUERY)
    return columns.index(text) if text in columns else len(columns)


def vector_texts(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each row of `vectors`, float32 (n, d), as a JSON array: b"[0.1,-0.25]", in decimals that read back as it."""
    return [orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY) for row in np.ascontiguousarray(vectors)]


def shortest(vectors: NDArray[np.float32]) -> list[list[float]]:
    """For each float32 the double whose shortest decimal is that of the float32; rows of float32 (n, d)."""
    return [orjson.loads(row) for row in vector_texts(vectors)]
