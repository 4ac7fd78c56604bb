"""Which vectors of a job have to be sent, those whose checksum is not the one sent last, and in which parts."""

import asyncio
import hashlib
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.exports.vector_rows import vector_texts
from cfbatch_gui.core.results.outcomes import JobMetadata
from cfbatch_gui.core.vectorize.client import PART_BYTES
from cfbatch_gui.core.vectorize.push_values import PushCheck, PushOptions, PushProgress, PushStage, Show
from cfbatch_gui.core.vectorize.record import CHECKSUM_BITS, FIRST_CHECKSUM, NEVER_CONFIRMED, GoneVectors, IndexRecord
from cfbatch_gui.core.vectorize.rows import PushRow, PushRows, check_rows, index_problems
from cfbatch_gui.core.vectorize.wire import VectorizeIndex, encode_line
from cfbatch_gui.core.workers_ai.limits import MAX_UPLOAD_VECTORS

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class PushPlan:
    """The rows, and which are to be sent: (items,), bool, by item number - 1, as `checksums`, uint64."""

    rows: PushRows
    check: PushCheck
    is_to_send: NDArray[np.bool_]
    checksums: NDArray[np.uint64]


def plan_push(
    folder: JobFolder,
    metadata: JobMetadata,
    options: PushOptions,
    record: IndexRecord,
    *,
    index: VectorizeIndex | None = None,
    progress: Progress = lambda done, total: None,
) -> PushPlan:
    """Check a job against what the index was sent. Blocking. Raises UsageError, DataError, ExportError."""
    rows = PushRows(folder, metadata, options)
    total = 2 * rows.count
    checks = check_rows(rows, options, lambda done, _: progress(done, total))
    problems = (*checks.problems, *(index_problems(index, rows.dimension) if index is not None else ()))
    last = int(rows.item_numbers[-1]) if rows.count else 0
    is_to_send, checksums = np.zeros(last, np.bool_), np.zeros(last, np.uint64)
    new = changed = 0
    gone = GoneVectors(0, ())
    if not problems:
        record.begin_seen()
        done = rows.count
        for block, vectors in rows.blocks():
            numbers = _checksums(rows, block, vectors, checks.numbers)
            ids = [row.id for row in block]
            record.note_seen(ids)
            held = record.checksums_of(ids)
            for row, number in zip(block, numbers, strict=True):
                before = held.get(row.id, NEVER_CONFIRMED)
                checksums[row.item_no - 1] = number
                is_to_send[row.item_no - 1] = before != number or options.everything
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
        gone=gone.count,
        gone_by_job=gone.by_job,
        numbers=checks.numbers,
        problems=problems,
        notes=(*((record.damage,) if record.damage else ()), *checks.notes),
    )
    return PushPlan(rows, found, is_to_send, checksums)


async def plan_in_thread(
    folder: JobFolder,
    metadata: JobMetadata,
    options: PushOptions,
    record: IndexRecord,
    *,
    index: VectorizeIndex | None = None,
    show: Show = lambda progress: None,
) -> PushPlan:
    """`plan_push` in a thread; cancelling stops the thread too. `show` is called in the event loop."""
    stop, loop = threading.Event(), asyncio.get_running_loop()

    def progress(done: int, total: int) -> None:
        if stop.is_set():
            raise asyncio.CancelledError
        loop.call_soon_threadsafe(show, PushProgress(PushStage.READING, done, total))

    try:
        return await asyncio.to_thread(
            lambda: plan_push(folder, metadata, options, record, index=index, progress=progress)
        )
    finally:
        stop.set()


def _checksums(
    rows: PushRows, block: Sequence[PushRow], vectors: NDArray[np.float32], numbers: Collection[str]
) -> list[int]:
    """The checksum of each vector with its namespace and metadata; never below FIRST_CHECKSUM."""
    found: list[int] = []
    for row, vector in zip(block, vectors, strict=True):
        digest = hashlib.blake2b(vector.tobytes(), digest_size=8)
        digest.update(row.namespace.encode() + b"\0" + rows.metadata(row, numbers))
        number = int.from_bytes(digest.digest()) >> (64 - CHECKSUM_BITS)
        found.append(number if number >= FIRST_CHECKSUM else number + FIRST_CHECKSUM)
    return found


_PIECE_LINES = 64  # sent in one write; about 700 kB of vectors of 1,024 numbers


@dataclass(frozen=True, slots=True)
class Part:
    """One upload: the ids of its vectors, their checksums, and its lines, NDJSON in pieces."""

    ids: tuple[str, ...]
    checksums: tuple[int, ...]
    pieces: tuple[bytes, ...] = field(repr=False)


def parts(plan: PushPlan, *, most_vectors: int = MAX_UPLOAD_VECTORS, most_bytes: int = PART_BYTES) -> Iterator[Part]:
    """The parts; for a thread. The same plan gives the same parts. Raises DataError and ExportError."""
    ids: list[str] = []
    checksums: list[int] = []
    lines: list[bytes] = []
    size = 0
    for block, vectors in plan.rows.blocks():
        wanted = [index for index, row in enumerate(block) if plan.is_to_send[row.item_no - 1]]
        if not wanted:
            continue
        for index, values in zip(wanted, vector_texts(vectors[wanted]), strict=True):
            row = block[index]
            metadata = plan.rows.metadata(row, plan.check.numbers)
            line = encode_line(row.id, values, row.namespace, metadata)
            if lines and (len(lines) >= most_vectors or size + len(line) > most_bytes):
                yield _part(ids, checksums, lines)
                ids, checksums, lines, size = [], [], [], 0
            ids.append(row.id)
            checksums.append(int(plan.checksums[row.item_no - 1]))
            lines.append(line)
            size += len(line)
    if lines:
        yield _part(ids, checksums, lines)


def _part(ids: list[str], checksums: list[int], lines: list[bytes]) -> Part:
    pieces = tuple(b"".join(lines[start : start + _PIECE_LINES]) for start in range(0, len(lines), _PIECE_LINES))
    return Part(tuple(ids), tuple(checksums), pieces)
