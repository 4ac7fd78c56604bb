"""The results of an embedding job: its texts and their vectors, held against the checksums of their batches; vectors
divided by their lengths, read in blocks, and the directions in which they vary most.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.checksums import CheckedVectors
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import cells_sql
from cfbatch_gui.core.job_folder.vector_file import stored_vectors
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.outcomes import OutcomeCounts, Status, columns_of_vectors, count_items, status_of
from cfbatch_gui.core.results.text_search import items_with

_TEXTS = f"""
SELECT i.item_no, t.text, t.text_id, t.label, t.row, t.file, {cells_sql()}, p.part, r.reference, r.batch, r.state,
    CASE WHEN i.request_no IS NULL THEN (SELECT reason FROM problems WHERE item_no = i.item_no LIMIT 1) ELSE r.error END
FROM items i
JOIN texts t USING(text_no)
LEFT JOIN source_rows f ON f.file = t.file AND f.row = t.row
LEFT JOIN parts p USING(item_no)
LEFT JOIN requests r USING(request_no)
"""  # noqa: S608 - constants
_PAGE = f"{_TEXTS} WHERE i.item_no BETWEEN :first AND :last ORDER BY i.item_no"
_NAMED = f"{_TEXTS} JOIN json_each(:items) wanted ON wanted.value = i.item_no ORDER BY wanted.key"
_IS_MISSING_ANY = """
SELECT EXISTS(SELECT 1 FROM requests WHERE state <> 'done') OR EXISTS(SELECT 1 FROM items WHERE request_no IS NULL)
"""
_BLOCK_BYTES = 8_000_000

# Index of the block's first text; indices in the block of the texts that have a vector, (n,); these, float32 (n, d).
VectorBlock = tuple[int, NDArray[np.int64], NDArray[np.float32]]


class EmbeddedText(msgspec.Struct, frozen=True, gc=False):
    """A text, its vector row `item_no` - 1 if it is done, and its status.

    `error` is "" where there is a vector or may still be one, `batch` 0 if not sent, `part` from 1, None for a text
    that was not split.
    """

    item_no: int
    text: str
    id: str
    label: str
    row: int
    cells: tuple[str, ...]
    status: Status
    error: str
    batch: int
    part: int | None = None
    reference: str = ""


_UNIT_TOLERANCE = 1e-3  # the norm of half-precision values has an error of about 1e-4


@dataclass(frozen=True, slots=True)
class VectorChecks:
    """What the checks found; norms are of finite vectors, NaN without any, `repeated` counts equal bytes."""

    texts: int  # with and without a vector
    dimension: int
    norm_min: float
    norm_max: float
    unit_length: bool  # every norm is 1, to 0.001
    zero: int
    repeated: int
    non_finite: int  # vectors with a NaN or an infinity
    missing: int  # texts without a vector


def lengths_of(block: NDArray[np.float32]) -> NDArray[np.float64]:
    """Lengths in double, as the square of a small float32 underflows. NaN and infinity give NaN and infinity."""
    wide = block.astype(np.float64)
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return lengths


class Embeddings:
    """The results of an embedding job.

    Each call opens the data read-only, also while the job runs, and raises DataError; `reserved` are names that
    original columns must not have, `beside` leaves out those of the texts themselves.
    """

    def __init__(
        self,
        folder: JobFolder,
        failed_batches: Mapping[int, str] | None = None,
        *,
        reserved: Collection[str] = (),
        beside: bool = False,
    ) -> None:
        self.folder = folder
        self._failed_batches = failed_batches or {}
        with folder.open(read_only=True) as database:
            self._original = columns_of_vectors(database, reserved, beside=beside)
            self.count: int = database.execute("SELECT count(*) FROM items").fetchone()[0]
            self.has_ids = database.execute("SELECT 1 FROM texts WHERE text_id <> '' LIMIT 1").fetchone() is not None
        self._checked = CheckedVectors(folder)

    @property
    def dimension(self) -> int:
        """The length of the vectors, 0 as long as there is none."""
        return int(self._stored().shape[1])

    def columns(self) -> tuple[str, ...]:
        """The names of the user's own columns, without the id and those to be left out."""
        return self._original.names

    def outcome_counts(self) -> OutcomeCounts:
        with self.folder.open(read_only=True) as database:
            return count_items(database, self._failed_batches)

    def page(self, start: int, stop: int) -> tuple[EmbeddedText, ...]:
        return self._read(_PAGE, {"first": start + 1, "last": stop})

    def texts(self, item_numbers: Sequence[int]) -> tuple[EmbeddedText, ...]:
        return self._read(_NAMED, {"items": str(list(item_numbers))})

    def find(self, text: str) -> tuple[int, ...]:
        """The numbers of the items whose text or id contains `text`, ascending; case is ignored."""
        return items_with(self.folder, text)

    def pooling(self) -> str:
        """The pooling that the service reported for the vectors, "" if it reported none."""
        with self.folder.open(read_only=True) as database:
            return str(schema.metadata_value(database, "pooling") or "")

    def column(self, index: int) -> tuple[str, ...]:
        first, second = self._original.first, self._original.second
        file, at = (1, first[index]) if index < len(first) else (2, second[index - len(first)])
        with self.folder.open(read_only=True) as database:
            rows = database.execute(
                f"SELECT CASE t.file WHEN ? THEN ({cells_sql()}) ->> ? END FROM items i JOIN texts t USING(text_no)"  # noqa: S608 - a constant
                " LEFT JOIN source_rows f ON f.file = t.file AND f.row = t.row ORDER BY i.item_no",
                (file, f"$[{at}]"),
            )
            return tuple(value or "" for (value,) in rows)

    def each_text(self, item_numbers: NDArray[np.int64]) -> Iterator[str]:
        """The texts of these items, which ascend."""
        wanted = np.zeros(self.count + 1, dtype=np.bool_)
        wanted[item_numbers] = True
        with self.folder.open(read_only=True) as database:
            rows = database.execute("SELECT item_no, text FROM items JOIN texts USING(text_no) ORDER BY item_no")
            yield from (text for item, text in rows if wanted[item])

    def text_lengths(self) -> NDArray[np.int64]:
        """The number of characters of each text, of shape (count,), index = item number - 1."""
        with self.folder.open(read_only=True) as database:
            rows = database.execute("SELECT length(text) FROM items JOIN texts USING(text_no) ORDER BY item_no")
            return np.fromiter((length for (length,) in rows), dtype=np.int64, count=self.count)

    def rows_of(self, item_numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """A copy of the vectors of these items, of shape (n, dimension)."""
        vectors = self._stored()
        self._checked.check(vectors, item_numbers)
        return vectors[item_numbers - 1]

    def _stored(self) -> NDArray[np.float32]:
        with self.folder.open(read_only=True) as database:
            # The file exists before it has its full size; the dimension is stored together with the first vectors.
            if schema.metadata_value(database, "dimension") is None:
                return np.empty((self.count, 0), dtype=np.float32)
        return self._mapped()

    def _mapped(self) -> NDArray[np.float32]:
        vectors = stored_vectors(self.folder.vectors)
        if len(vectors) != self.count:
            raise DataError(
                message("job_vectors_are_damaged"), detail=f"vectors.npy: {vectors.shape} for {self.count} texts"
            )
        return vectors

    def vector(self, item_no: int) -> NDArray[np.float32] | None:
        """A copy of one text's vector, of shape (dimension,); None if it has none (yet)."""
        found = self.page(item_no - 1, item_no)
        if not found or found[0].status is not Status.DONE:
            return None
        vector: NDArray[np.float32] = self.rows_of(np.array([item_no]))[0]
        return vector

    def present(self) -> NDArray[np.bool_]:
        """Which texts have a vector, of shape (count,), index = item number - 1."""
        with self.folder.open(read_only=True) as database:
            if not database.execute(_IS_MISSING_ANY).fetchone()[0]:
                return np.ones(self.count, dtype=np.bool_)
            mask = np.zeros(self.count, dtype=np.bool_)
            done = database.execute("SELECT item_no FROM items JOIN requests USING(request_no) WHERE state = 'done'")
            mask[np.fromiter((item for (item,) in done), dtype=np.int64) - 1] = True
        return mask

    def vector_blocks(self, present: NDArray[np.bool_], size: int) -> Iterator[VectorBlock]:
        """The vectors of the texts that `present` marks, in maps of at most `size` consecutive texts."""
        if not self.dimension:
            return
        for start in range(0, len(present), size):
            there = np.flatnonzero(present[start : start + size])
            if len(there):
                vectors = self._mapped()
                self._checked.check(vectors, np.arange(start + 1, min(start + size, len(present)) + 1))
                block = vectors[start : start + size]
                yield start, there, block if len(there) == len(block) else block[there]

    def checks(self) -> VectorChecks:
        """Check all vectors, see `VectorChecks`. Blocking: seconds for many."""
        size = max(1, _BLOCK_BYTES // max(1, self.dimension * 4))
        norms, hashes = [np.empty(0)], set[int]()  # two of a million hashes are equal by chance once in 10^7
        for _, _, block in self.vector_blocks(self.present(), size):
            norms.append(lengths_of(block))
            hashes.update(hash(row.tobytes()) for row in block)
        lengths = np.concatenate(norms)
        finite = lengths[np.isfinite(lengths)]
        return VectorChecks(
            texts=self.count,
            dimension=self.dimension,
            norm_min=float(finite.min()) if len(finite) else math.nan,
            norm_max=float(finite.max()) if len(finite) else math.nan,
            unit_length=bool(len(lengths)) and bool(np.all(np.abs(lengths - 1) < _UNIT_TOLERANCE)),
            zero=int(np.count_nonzero(lengths == 0)),
            repeated=len(lengths) - len(hashes),
            non_finite=len(lengths) - len(finite),
            missing=self.count - len(lengths),
        )

    def _read(self, query: str, wanted: Mapping[str, int | str]) -> tuple[EmbeddedText, ...]:
        with self.folder.open(read_only=True) as database:
            rows = database.execute(query, wanted).fetchall()
        found: list[EmbeddedText] = []
        for item, text, text_id, label, row_no, file, cells, part, reference, batch, state, reason in rows:
            status, why = status_of(state == "done", batch, state, reason, self._failed_batches)
            own = self._original.cells(*((cells, None) if file == 1 else (None, cells)))
            about = (item, text, text_id, label, row_no, own, status, why)
            found.append(EmbeddedText(*about, batch or 0, part, reference or ""))
        return tuple(found)


Progress = Callable[[float], None]  # the share that is done, 0 to 1
_UNIT_BYTES = 16_000_000

# Index of its first row among the unit vectors; rows as they are stored, (n, d); 1 / length of each, (n,).
Block = tuple[int, NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class UnitVectors:
    """The vectors that have a direction, by an index below `count`; `item_numbers` ascend."""

    embeddings: Embeddings
    item_numbers: NDArray[np.int64]
    inverse_lengths: NDArray[np.float32]
    dimension: int
    without_direction: int

    @property
    def count(self) -> int:
        return len(self.item_numbers)

    @property
    def missing(self) -> int:
        """How many texts have no vector."""
        return self.embeddings.count - self.count - self.without_direction

    def blocks(self, most_bytes: int = _UNIT_BYTES) -> Iterator[Block]:
        """All of them in order. Each block is a memory map of its own, so that memory use is constant; copy to keep."""
        wanted, start = np.zeros(self.embeddings.count, dtype=np.bool_), 0
        wanted[self.item_numbers - 1] = True
        for _, _, rows in self.embeddings.vector_blocks(wanted, max(1, most_bytes // max(1, self.dimension * 4))):
            yield start, rows, self.inverse_lengths[start : start + len(rows)]
            start += len(rows)

    def rows(self, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        stored = self.embeddings.rows_of(self.item_numbers[indices])
        unit: NDArray[np.float32] = stored * self.inverse_lengths[indices][:, None]
        return unit

    def sample(self, most: int) -> NDArray[np.int64]:
        """Up to `most` indices, ascending, evenly spread and the same each time."""
        if self.count <= most:
            return np.arange(self.count)
        return np.linspace(0, self.count - 1, most).astype(np.int64)


def unit_vectors(embeddings: Embeddings) -> UnitVectors:
    """Measure the lengths of all vectors that came back. Blocking: reads all of them once. Raises DataError."""
    dimension = embeddings.dimension
    items, found = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for start, there, block in embeddings.vector_blocks(
        embeddings.present(), max(1, _UNIT_BYTES // max(1, dimension * 4))
    ):
        items.append(start + there + 1)
        found.append(lengths_of(block))
    item_numbers, lengths = np.concatenate(items), np.concatenate(found)
    with np.errstate(over="ignore", divide="ignore"):
        inverse = (1.0 / lengths).astype(np.float32)
    has_direction = np.isfinite(lengths) & (lengths > 0) & np.isfinite(inverse) & (inverse > 0)
    without = int(np.count_nonzero(~has_direction))
    return UnitVectors(embeddings, item_numbers[has_direction], inverse[has_direction], dimension, without)


Rows = tuple[NDArray[np.float32], NDArray[np.float32]]  # rows (n, d), and the factor that scales each, (n,)

_SEED = 20_250_401  # arbitrary but fixed, so that the same vectors give the same map


def orthonormal(columns: NDArray[np.float64]) -> NDArray[np.float32]:
    """An orthonormal basis (d, width); it holds the interpreter lock for 15 ms of 1,024 × 256 numbers."""
    return np.linalg.qr(columns)[0].astype(np.float32)


@dataclass(frozen=True, eq=False)
class Subspace:
    """`directions` (d, width) are orthonormal, in no order; `mean` (d,) is that of the rows, zero if not centred."""

    directions: NDArray[np.float32]
    mean: NDArray[np.float32]

    def project(self, rows: NDArray[np.float32], factors: NDArray[np.float32]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = (rows @ self.directions) * factors[:, None] - self.mean @ self.directions
        return found


def main_subspace(
    passes: Callable[[], Iterable[Rows]], dimension: int, width: int, *, centred: bool, rounds: int = 3
) -> Subspace:
    """The `width` directions of most variance, or length if not `centred`; `passes` gives all rows each time."""
    start = np.random.default_rng(_SEED).standard_normal((dimension, width))
    directions = orthonormal(start)
    mean = np.zeros(dimension, dtype=np.float64)
    for turn in range(rounds):
        image = np.zeros((dimension, width), dtype=np.float64)
        total, count = np.zeros(dimension, dtype=np.float64), 0
        for rows, factors in passes():
            image += rows.T @ ((rows @ directions) * (factors * factors)[:, None])
            if centred and turn == 0:
                total += factors @ rows
            count += len(rows)
        if centred and turn == 0:
            mean = total / max(1, count)
        image -= count * np.outer(mean, mean @ directions)
        directions = orthonormal(image)
    return Subspace(directions, mean.astype(np.float32))
