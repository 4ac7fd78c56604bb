"""The parts of a push: the vectors to send in the order of the input, each part within the limits of an upload."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from cfbatch_gui.core.results.exports.vector_text import vector_texts
from cfbatch_gui.core.vectorize.limits import PART_BYTES
from cfbatch_gui.core.vectorize.planning import PushPlan
from cfbatch_gui.core.vectorize.wire import encode_line
from cfbatch_gui.core.workers_ai.limits import MAX_UPLOAD_VECTORS

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
