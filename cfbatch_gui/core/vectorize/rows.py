"""The rows of a push: of each vector its id, namespace and metadata, as an index gets them."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.exports.base import PART, REQUEST_ID, SOURCE_JOB, ExportOptions, Work
from cfbatch_gui.core.results.exports.vector_rows import BLOCK, VectorRows, vector_columns
from cfbatch_gui.core.results.job_metadata import JobMetadata
from cfbatch_gui.core.results.origins import has_origins
from cfbatch_gui.core.results.outcomes import has_parts
from cfbatch_gui.core.results.vectors.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.vectorize.push_values import IdSource, PushOptions
from cfbatch_gui.core.vectorize.wire import Metadata

# Numbers that read back as they are written: no sign, zero or blank before them that would be lost ("007" is a code),
# and at most 15 digits, which a double holds.
_PLAIN_NUMBER: Final = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,14})?", re.ASCII)
_MOST_DIGITS: Final = 15
_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class PushRow:
    """One vector without its numbers. `cells` are those of the metadata columns; `row` is the row of the file."""

    item_no: int
    row: int
    id: str
    namespace: str
    cells: tuple[str, ...]


class PushRows:
    """The vectors that a job has when this is made. Raises UsageError for a column that does not exist, DataError."""

    def __init__(self, folder: JobFolder, metadata: JobMetadata, options: PushOptions) -> None:
        self._options = options
        self._names = tuple(dict.fromkeys(_columns(options)))
        work = Work(folder, metadata, Path(), ExportOptions(columns=self._names), _nothing, _nothing, lambda: None)
        self._table = VectorRows(work)
        parts = (PART,) if has_parts(folder) else ()  # as the table has them, whose cells these are
        self._embeddings = Embeddings(folder, metadata.failed_batches, reserved=parts)
        index_of = {name: index for index, name in enumerate(self._names)}
        self._id = index_of.get(options.id_column, -1)
        self._namespace = index_of.get(options.namespace, -1)
        self._metadata = tuple(index_of[each.column] for each in options.metadata)
        self._keys = tuple(each.key for each in options.metadata)

    @property
    def count(self) -> int:
        """The number of vectors."""
        return self._table.count

    @property
    def texts_in_all(self) -> int:
        """The number of texts, with those that have no vector."""
        return self._embeddings.count

    @property
    def dimension(self) -> int:
        """The numbers of each vector, 0 as long as there is none."""
        return self._table.dimension

    @property
    def item_numbers(self) -> NDArray[np.int64]:
        """The item number of each row, (n,), ascending."""
        return self._table.item_numbers

    def texts(self) -> Iterator[list[PushRow]]:
        """The rows without their vectors, in the order of the input."""
        return ([self._row(text) for text in texts] for texts in self._table.texts())

    def blocks(self) -> Iterator[tuple[list[PushRow], NDArray[np.float32]]]:
        """Rows and their vectors, float32 (n, d), some hundred at a time. Raises ExportError for one with a NaN."""
        return (([self._row(text) for text in texts], vectors) for texts, vectors in self._table.blocks())

    def ids_without_vector(self) -> Iterator[list[str]]:
        """The ids of the texts that have no vector, or not yet, some hundred at a time."""
        absent = np.setdiff1d(np.arange(1, self._embeddings.count + 1), self.item_numbers, assume_unique=True)
        for start in range(0, len(absent), BLOCK):
            texts = self._embeddings.texts(absent[start : start + BLOCK].tolist())
            yield [self._row(text).id for text in texts]

    def sample(self, most: int) -> tuple[list[str], NDArray[np.float32]]:
        """Ids and vectors, float32 (n, d), of at most so many rows that are spread evenly."""
        items = self.item_numbers
        items = items[np.linspace(0, len(items) - 1, min(most, len(items))).astype(np.int64)]
        texts = self._embeddings.texts(items.tolist())
        return [self._row(text).id for text in texts], self._embeddings.rows_of(items)

    def metadata(self, row: PushRow, numbers: Collection[str]) -> bytes:
        """The metadata as JSON, b"" for none. The cells of the keys in `numbers` become numbers; empty ones are left
        out, as Vectorize takes no nulls.
        """
        fields: Metadata = {}
        for key, cell in zip(self._keys, row.cells, strict=True):
            if cell:
                fields[key] = _number(cell) if key in numbers else cell
        return _encode(fields) if fields else b""

    def ids_and_items(self, ids: Collection[str], items: Collection[int]) -> dict[str, int]:
        """The item number of each vector that has one of these ids or item numbers, by its id. Reads all rows."""
        found = (row for block in self.texts() for row in block)
        return {row.id: row.item_no for row in found if row.id in ids or row.item_no in items}

    def _row(self, text: EmbeddedText) -> PushRow:
        cells = self._table.cells(text)
        return PushRow(
            text.item_no,
            text.row,
            self._id_of(text, cells),
            cells[self._namespace] if self._namespace >= 0 else "",
            tuple(cells[index] for index in self._metadata),
        )

    def _id_of(self, text: EmbeddedText, cells: Sequence[str]) -> str:
        match self._options.ids:
            case IdSource.OWN:
                found = self._table.id_of(text)
            case IdSource.ROWS:
                found = str(text.row)
            case IdSource.COLUMN:
                found = cells[self._id]
        return found if text.part is None or not found else f"{found}#{text.part}"


def push_columns(folder: JobFolder) -> tuple[str, ...]:
    """The columns that can be chosen for ids, namespaces and metadata. Raises DataError."""
    ours = (SOURCE_JOB, REQUEST_ID) if has_origins(folder) else ()  # where a vector came from is nothing to search by
    return tuple(name for name in vector_columns(folder) if name not in ours)


def is_plain_number(cell: str) -> bool:
    """Whether a cell is a number that can be sent as one without a loss."""
    return _PLAIN_NUMBER.fullmatch(cell) is not None and sum(map(str.isdigit, cell)) <= _MOST_DIGITS


def _number(cell: str) -> int | float:
    return float(cell) if "." in cell else int(cell)


def _columns(options: PushOptions) -> Iterator[str]:
    if options.ids is IdSource.COLUMN:
        yield options.id_column
    if options.namespace:
        yield options.namespace
    yield from (each.column for each in options.metadata)


def _nothing(_done: int) -> None:
    """No progress is wanted."""
