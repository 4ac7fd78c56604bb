"""The rows of a push as an index gets them, and what Vectorize would refuse of them, found before a byte leaves."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import Message, counted_message, message
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.results.exports.base import PART, REQUEST_ID, SOURCE_JOB, ExportOptions, Work
from cfbatch_gui.core.results.exports.vector_rows import BLOCK, VectorRows, vector_columns
from cfbatch_gui.core.results.outcomes import JobMetadata, has_origins, has_parts
from cfbatch_gui.core.vectorize.push_values import IdSource, PushOptions, PushProblem
from cfbatch_gui.core.vectorize.wire import Metadata, VectorizeIndex
from cfbatch_gui.core.workers_ai.limits import (
    MAX_INDEX_DIMENSIONS,
    MAX_INDEX_VECTORS,
    MAX_METADATA_BYTES,
    MAX_NAMESPACE_BYTES,
    MAX_NAMESPACES,
    MAX_VECTOR_ID_BYTES,
)

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
        return self._table.count

    @property
    def texts_in_all(self) -> int:
        return self._embeddings.count

    @property
    def dimension(self) -> int:
        """The numbers of each vector, 0 as long as there is none."""
        return self._table.dimension

    @property
    def item_numbers(self) -> NDArray[np.int64]:
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
        """The metadata as JSON, b"" for none; empty cells are left out, as Vectorize takes no nulls."""
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


def _nothing(_done: int) -> None: ...


ROWS_NAMED = 5  # rows that a problem names

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RowChecks:
    """`numbers` are the keys whose cells are all plain numbers, and are sent as such; `notes` are for the user."""

    numbers: tuple[str, ...]
    problems: tuple[PushProblem, ...]
    notes: tuple[Message, ...]


@dataclass(slots=True)
class _Found:
    """The rows with one kind of problem: how many, and the first of them."""

    count: int = 0
    rows: list[int] = field(default_factory=list)

    def add(self, row: int) -> None:
        self.count += 1
        if len(self.rows) < ROWS_NAMED:
            self.rows.append(row)


class _Rows:
    def __init__(self, rows: PushRows, options: PushOptions) -> None:
        self._rows = rows
        self._no_id, self._long_id, self._long_namespace, self._large, self._repeated = (_Found() for _ in range(5))
        self._ids: set[str] = set()
        self._keys = tuple(each.key for each in options.metadata)
        self._texts_only: set[str] = set(self._keys) if options.numbers_as_text else set()
        self._filled: set[str] = set()
        self._namespaces: set[str] = set()

    def look_at(self, row: PushRow) -> None:
        if not row.id:
            self._no_id.add(row.row)
        elif row.id in self._ids:
            self._repeated.add(row.row)
        elif len(row.id.encode()) > MAX_VECTOR_ID_BYTES:
            self._long_id.add(row.row)
        self._ids.add(row.id)
        self._namespaces.add(row.namespace)
        if len(row.namespace.encode()) > MAX_NAMESPACE_BYTES:
            self._long_namespace.add(row.row)
        # Numbers are never longer than their cells with two quotation marks, so that this is the most it can be.
        if row.cells and len(self._rows.metadata(row, ())) > MAX_METADATA_BYTES:
            self._large.add(row.row)
        for key, cell in zip(self._keys, row.cells, strict=True):
            if cell:
                self._filled.add(key)
                if key not in self._texts_only and not is_plain_number(cell):
                    self._texts_only.add(key)

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(key for key in self._keys if key in self._filled and key not in self._texts_only)

    @property
    def notes(self) -> tuple[Message, ...]:
        n = len(self._namespaces - {""})
        if n <= MAX_NAMESPACES:
            return ()
        sentence = message(
            "The chosen column has {n:,} namespaces. An index takes {most:,} of them on the Workers Free plan.",
            n=n,
            most=MAX_NAMESPACES,
        )
        return (sentence,)

    def problems(self, source: IdSource) -> Iterator[PushProblem]:
        kinds = (
            (self._no_id, _no_id(self._no_id.count, source)),
            (self._repeated, _repeated(self._repeated.count)),
            (self._long_id, _long_id(self._long_id.count)),
            (self._long_namespace, _long_namespace(self._long_namespace.count)),
            (self._large, _large(self._large.count)),
        )
        return (PushProblem(sentence, found.count, tuple(found.rows)) for found, sentence in kinds if found.count)


def check_rows(rows: PushRows, options: PushOptions, progress: Progress = lambda done, total: None) -> RowChecks:
    """Check all rows, without their vectors. Blocking. An exception of `progress` stops it. Raises DataError."""
    found, done = _Rows(rows, options), 0
    for block in rows.texts():
        for row in block:
            found.look_at(row)
        done += len(block)
        progress(done, rows.count)
    problems = (*_of_job(rows), *_of_keys(options), *found.problems(options.ids))
    return RowChecks(found.numbers, problems, found.notes)


def index_problems(index: VectorizeIndex, dimension: int) -> tuple[PushProblem, ...]:
    if not dimension or index.dimensions in (0, dimension):
        return ()
    sentence = message(
        "{index} takes vectors of {wanted:,} numbers, and these have {dimension:,}. Choose another index, or create "
        "one.",
        index=index.name,
        wanted=index.dimensions,
        dimension=dimension,
    )
    return (PushProblem(sentence),)


def usual_key(column: str, taken: Sequence[str] = ()) -> str:
    """The key for a column: its name without what Vectorize refuses, and with “_” behind it where it is taken."""
    key = column.replace(".", "_").replace('"', "'").lstrip("$") or "column"
    while key in taken:
        key += "_"
    return key


def _of_job(rows: PushRows) -> Iterator[PushProblem]:
    if not rows.count:
        yield PushProblem(message("This job has no vectors yet."))
    if rows.dimension > MAX_INDEX_DIMENSIONS:
        yield PushProblem(
            message(
                "Vectorize takes vectors of at most {most:,} numbers, and these have {dimension:,}.",
                most=MAX_INDEX_DIMENSIONS,
                dimension=rows.dimension,
            )
        )
    if rows.count > MAX_INDEX_VECTORS:
        yield PushProblem(
            message(
                "An index takes {most:,} vectors, and these are {count:,}.", most=MAX_INDEX_VECTORS, count=rows.count
            )
        )


def _of_keys(options: PushOptions) -> Iterator[PushProblem]:
    keys = [each.key for each in options.metadata]
    for each in options.metadata:
        if not each.key or "." in each.key or '"' in each.key or each.key.startswith("$"):
            yield PushProblem(
                message(
                    "Vectorize takes no “{key}” as a name in metadata: it may not be empty, hold “.” or a quotation "
                    "mark, or begin with “$”. Send the column as “{usual}”.",
                    key=each.key,
                    usual=usual_key(each.column),
                )
            )
    for key in dict.fromkeys(key for key in keys if keys.count(key) > 1):
        yield PushProblem(
            message("Two columns are sent under the name “{key}”. Give one of them another name.", key=key)
        )


def _no_id(n: int, source: IdSource) -> Message:
    if source is IdSource.COLUMN:
        return counted_message(
            n,
            "{n:,} row has no id in the chosen column. Choose another column for the ids, or the row numbers.",
            "{n:,} rows have no id in the chosen column. Choose another column for the ids, or the row numbers.",
        )
    return counted_message(
        n,
        "{n:,} row has no id. Choose another column for the ids, or the row numbers.",
        "{n:,} rows have no id. Choose another column for the ids, or the row numbers.",
    )


def _repeated(n: int) -> Message:
    return counted_message(
        n,
        "{n:,} row has an id that an earlier row has too; an index keeps one vector for each id. Choose another column "
        "for the ids, or the row numbers.",
        "{n:,} rows have ids that earlier rows have too; an index keeps one vector for each id. Choose another column "
        "for the ids, or the row numbers.",
    )


def _long_id(n: int) -> Message:
    return counted_message(
        n,
        "{n:,} row has an id of more than {most} bytes, the most that Vectorize takes. Choose another column for the "
        "ids, or the row numbers.",
        "{n:,} rows have ids of more than {most} bytes, the most that Vectorize takes. Choose another column for the "
        "ids, or the row numbers.",
        most=MAX_VECTOR_ID_BYTES,
    )


def _long_namespace(n: int) -> Message:
    return counted_message(
        n,
        "{n:,} row has a namespace of more than {most} bytes, the most that Vectorize takes. Choose a column with "
        "shorter cells, or none.",
        "{n:,} rows have namespaces of more than {most} bytes, the most that Vectorize takes. Choose a column with "
        "shorter cells, or none.",
        most=MAX_NAMESPACE_BYTES,
    )


def _large(n: int) -> Message:
    return counted_message(
        n,
        "{n:,} row has more metadata than the {most:,} bytes that Vectorize takes. Leave out the columns with long "
        "texts.",
        "{n:,} rows have more metadata than the {most:,} bytes that Vectorize takes. Leave out the columns with long "
        "texts.",
        most=MAX_METADATA_BYTES,
    )
