"""What a push sends: a job's rows as an index gets them, what Vectorize would refuse of them, and what has changed.

Vectors are sent whose checksum is not the one that was sent last, in parts.
"""

import asyncio
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.results.embeddings import EmbeddedText
from cfbatch_gui.core.results.exports.base import REQUEST_ID, SOURCE_JOB, ExportOptions, Work
from cfbatch_gui.core.results.exports.rows import BLOCK, VectorRows, columns_of, vector_texts
from cfbatch_gui.core.results.exports.vector_files import usual_key
from cfbatch_gui.core.results.outcomes import has_origins
from cfbatch_gui.core.system.threads import check_stopped, in_thread
from cfbatch_gui.core.vectorize.client import Metadata, VectorizeIndex, encode_line
from cfbatch_gui.core.vectorize.push_values import IdSource, PushCheck, PushOptions, PushProblem, PushProgress, Show
from cfbatch_gui.core.vectorize.record import CHECKSUM_BITS, FIRST_CHECKSUM, NEVER_CONFIRMED, IndexRecord
from cfbatch_gui.core.workers_ai import limits

Progress = Callable[[int, int], None]

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


class PushRows(VectorRows):
    """The vectors that a job has when this is made. Raises UsageError for a column that does not exist, DataError."""

    def __init__(self, folder: JobFolder, job: Job, options: PushOptions) -> None:
        of_ids = options.id_column if options.ids is IdSource.COLUMN else ""
        chosen = filter(None, (of_ids, options.namespace, *(each.column for each in options.metadata)))
        super().__init__(Work(folder, job, Path(), ExportOptions(columns=tuple(dict.fromkeys(chosen)))))
        self._ids = options.ids
        index_of = {name: index for index, name in enumerate(self.columns)}
        self._id = index_of.get(options.id_column, -1)
        self._namespace = index_of.get(options.namespace, -1)
        self._beside = tuple(index_of[each.column] for each in options.metadata)
        self._keys = tuple(each.key for each in options.metadata)

    @property
    def texts_in_all(self) -> int:
        return self._embeddings.count

    def rows(self) -> Iterator[list[PushRow]]:
        """The rows without their vectors, in the order of the input."""
        return ([self._row(text) for text in texts] for texts in self.texts())

    def rows_with_vectors(self) -> Iterator[tuple[list[PushRow], NDArray[np.float32]]]:
        """Rows and their vectors, float32 (n, d), some hundred at a time. Raises ExportError for one with a NaN."""
        return (([self._row(text) for text in texts], vectors) for texts, vectors in self.blocks())

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
        found = (row for block in self.rows() for row in block)
        return {row.id: row.item_no for row in found if row.id in ids or row.item_no in items}

    def _row(self, text: EmbeddedText) -> PushRow:
        cells = self.cells(text)
        return PushRow(
            text.item_no,
            text.row,
            self._id_of(text, cells),
            cells[self._namespace] if self._namespace >= 0 else "",
            tuple(cells[index] for index in self._beside),
        )

    def _id_of(self, text: EmbeddedText, cells: Sequence[str]) -> str:
        match self._ids:
            case IdSource.OWN:
                found = self.id_of(text)
            case IdSource.ROWS:
                found = str(text.row)
            case IdSource.COLUMN:
                found = cells[self._id]
        return found if text.part is None or not found else f"{found}#{text.part}"


def push_columns(folder: JobFolder) -> tuple[str, ...]:
    """The columns that can be chosen for ids, namespaces and metadata. Raises DataError."""
    ours = (SOURCE_JOB, REQUEST_ID) if has_origins(folder) else ()  # where a vector came from is nothing to search by
    return tuple(name for name in columns_of(folder, Kind.EMBED) if name not in ours)


def is_plain_number(cell: str) -> bool:
    """Whether a cell is a number that can be sent as one without a loss."""
    return _PLAIN_NUMBER.fullmatch(cell) is not None and sum(map(str.isdigit, cell)) <= _MOST_DIGITS


def _number(cell: str) -> int | float:
    return float(cell) if "." in cell else int(cell)


ROWS_NAMED = 5  # rows that a problem names

_Kind = tuple[Message, int]
# What Vectorize would refuse of a row, and the most that it takes.
_NO_ID: _Kind = message("rows_without_id_n_choose_another"), 1
_REPEATED: _Kind = message("rows_id_earlier_row_n_choose"), 1
_LONG_ID: _Kind = message("rows_id_more_than_most_bytes"), limits.MAX_VECTOR_ID_BYTES
_LONG_NAMESPACE: _Kind = message("rows_namespace_more_than_most_bytes"), limits.MAX_NAMESPACE_BYTES
_LARGE: _Kind = message("rows_more_than_most_bytes_metadata"), limits.MAX_METADATA_BYTES


def check_rows(rows: PushRows, options: PushOptions, progress: Progress) -> tuple[tuple[str, ...], list[PushProblem]]:
    """The keys whose cells are all plain numbers, and are sent as such; and what would be refused of the rows.

    Looks at no vector. Blocking. An exception of `progress` stops it. Raises DataError.
    """
    keys = [each.key for each in options.metadata]
    filled, texts_only, ids = set[str](), set(keys) if options.numbers_as_text else set[str](), set[str]()
    refused, counts, done = defaultdict[_Kind, list[tuple[int, int]]](list), Counter[_Kind](), 0

    def refuse(kind: _Kind, row: PushRow) -> None:
        counts[kind] += 1
        if counts[kind] <= ROWS_NAMED:
            refused[kind].append((row.row, row.item_no))

    for block in rows.rows():
        for row in block:
            if not row.id:
                refuse(_NO_ID, row)
            elif row.id in ids:
                refuse(_REPEATED, row)
            elif len(row.id.encode()) > limits.MAX_VECTOR_ID_BYTES:
                refuse(_LONG_ID, row)
            ids.add(row.id)
            if len(row.namespace.encode()) > limits.MAX_NAMESPACE_BYTES:
                refuse(_LONG_NAMESPACE, row)
            # Numbers are never longer than their cells with two quotation marks, so that this is the most it can be.
            if row.cells and len(rows.metadata(row, ())) > limits.MAX_METADATA_BYTES:
                refuse(_LARGE, row)
            written = {key: cell for key, cell in zip(keys, row.cells, strict=True) if cell}
            filled |= written.keys()
            texts_only |= {key for key, cell in written.items() if key not in texts_only and not is_plain_number(cell)}
        done += len(block)
        progress(done, rows.count)
    of_rows = []
    for kind, first in refused.items():
        sentence = kind[0].filled(n=counts[kind], most=kind[1])
        of_rows.append(PushProblem(sentence, counts[kind], *zip(*first, strict=True)))
    return tuple(key for key in keys if key in filled - texts_only), of_rows


def _of_job(rows: PushRows, options: PushOptions, index: VectorizeIndex | None) -> Iterator[Message]:
    dimension = rows.dimension
    if not rows.count:
        yield message("job_no_vectors_yet")
    if dimension > limits.MAX_INDEX_DIMENSIONS:
        yield message(
            "vectorize_takes_vectors_most_most_numbers", most=limits.MAX_INDEX_DIMENSIONS, dimension=dimension
        )
    if index is not None and dimension and index.config.dimensions not in (0, dimension):
        about = {"index": index.name, "wanted": index.config.dimensions, "dimension": dimension}
        yield message("index_takes_vectors_wanted_numbers_these", **about)
    for each in options.metadata:
        if not each.key or "." in each.key or '"' in each.key or each.key.startswith("$"):
            yield message("vectorize_takes_no_key_name_metadata", key=each.key, usual=usual_key(each.column))
    for key, count in Counter(each.key for each in options.metadata).items():
        if count > 1:
            yield message("two_columns_are_sent_under_name", key=key)


@dataclass(frozen=True, slots=True)
class PushPlan:
    """The rows, and the checksums of those that are to be sent, uint64 (items,), by item number - 1; 0 is not sent."""

    rows: PushRows
    check: PushCheck
    checksums: NDArray[np.uint64]

    @property
    def to_send(self) -> int:
        return int(np.count_nonzero(self.checksums))


async def plan_push(
    folder: JobFolder,
    job: Job,
    options: PushOptions,
    record: IndexRecord,
    *,
    index: VectorizeIndex | None = None,
    show: Show = lambda progress: None,
) -> PushPlan:
    """Check a job against what the index was sent; cancelling stops its thread too.

    `show` is called in the event loop. Raises UsageError, DataError, ExportError.
    """
    loop = asyncio.get_running_loop()

    def progress(done: int, total: int) -> None:
        check_stopped()
        loop.call_soon_threadsafe(show, PushProgress(done=done, total=total))

    return await in_thread(lambda: _plan(PushRows(folder, job, options), options, record, index, progress))


def _plan(
    rows: PushRows, options: PushOptions, record: IndexRecord, index: VectorizeIndex | None, progress: Progress
) -> PushPlan:
    total = 2 * rows.count
    numbers, of_rows = check_rows(rows, options, lambda done, _: progress(done, total))
    problems = [*map(PushProblem, _of_job(rows, options, index)), *of_rows]
    checksums = np.zeros(int(rows.item_numbers[-1]) if rows.count else 0, np.uint64)
    new = changed = 0
    gone: tuple[tuple[str, int], ...] = ()
    if not problems:
        record.begin_seen()
        done = rows.count
        for block, vectors in rows.rows_with_vectors():
            ids = [row.id for row in block]
            record.note_seen(ids)
            held = record.checksums_of(ids)
            for row, vector in zip(block, vectors, strict=True):
                number = _checksum(vector, row.namespace, rows.metadata(row, numbers))
                before = held.get(row.id, NEVER_CONFIRMED)
                if before != number or options.everything:
                    checksums[row.item_no - 1] = number
                new += before == NEVER_CONFIRMED
                changed += before not in (NEVER_CONFIRMED, number)
            done += len(block)
            progress(done, total)
        for ids in rows.ids_without_vector():
            record.note_seen(ids)  # their vectors in the index are of an earlier version, and still wanted
        gone = record.gone()
    found = PushCheck(
        vectors=rows.count,
        without_vector=rows.texts_in_all - rows.count,
        dimension=rows.dimension,
        new=new,
        changed=changed,
        unchanged=rows.count - new - changed if not problems else 0,
        gone=sum(n for _, n in gone),
        gone_by_job=gone,
        numbers=numbers,
        problems=tuple(problems),
        notes=(record.damage,) if record.damage else (),
    )
    return PushPlan(rows, found, checksums)


def _checksum(vector: NDArray[np.float32], namespace: str, metadata: bytes) -> int:
    """Never below FIRST_CHECKSUM."""
    digest = hashlib.blake2b(vector.tobytes(), digest_size=8)
    digest.update(namespace.encode() + b"\0" + metadata)
    number = int.from_bytes(digest.digest()) >> (64 - CHECKSUM_BITS)
    return number if number >= FIRST_CHECKSUM else number + FIRST_CHECKSUM


class SentVector(NamedTuple):
    """`line` is its line of NDJSON."""

    id: str
    checksum: int
    line: bytes


def parts(plan: PushPlan, *, most_vectors: int, most_bytes: int) -> Iterator[list[SentVector]]:
    """The uploads; for a thread. The same plan gives the same ones. Raises DataError and ExportError."""
    part, size = list[SentVector](), 0
    for block, vectors in plan.rows.rows_with_vectors():
        wanted = [index for index, row in enumerate(block) if plan.checksums[row.item_no - 1]]
        if not wanted:
            continue
        for index, values in zip(wanted, vector_texts(vectors[wanted]), strict=True):
            row = block[index]
            metadata = plan.rows.metadata(row, plan.check.numbers)
            line = encode_line(row.id, values, row.namespace, metadata)
            if part and (len(part) >= most_vectors or size + len(line) > most_bytes):
                yield part
                part, size = [], 0
            part.append(SentVector(row.id, int(plan.checksums[row.item_no - 1]), line))
            size += len(line)
    if part:
        yield part
