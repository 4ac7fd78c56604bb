"""All scores of a ranking job as arrays, and 64-bit hashes of its texts, which are of this process only."""

import sqlite3
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder import checksums
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import data_version

_TEXTS = "SELECT text_no, text, text_id FROM texts WHERE text_no BETWEEN ? AND ?"
_IDS = "SELECT text_no, text_id FROM texts WHERE text_id <> ''"
_QUERIES = "SELECT query_no, text, query_id FROM queries WHERE query_no BETWEEN ? AND ?"
_BLOCK = 20_000  # texts; between two blocks a running job can store its answers
NO_ID = 0  # the hash of a missing id


@dataclass(frozen=True, slots=True, eq=False)
class Hashes:
    """Hashes of texts or queries and of their ids, both of shape (n,); NO_ID for no id."""

    texts: NDArray[np.int64]
    ids: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Pairs as arrays of shape (n,), by numbers from 1; `scores` is NaN for none."""

    items: NDArray[np.int32]
    queries: NDArray[np.int32]
    texts: NDArray[np.int32]
    positions: NDArray[np.int32]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def asked(self) -> NDArray[np.int32]:
        """The numbers of the queries that have pairs, ascending."""
        return np.flatnonzero(np.bincount(self.queries)).astype(np.int32)

    @property
    def has_score(self) -> NDArray[np.bool_]:
        """Which pairs have a score, of shape (n,)."""
        return ~np.isnan(self.scores)

    def part(self, indices: NDArray[np.int64]) -> "ScoreTable":
        return ScoreTable(
            *(self.items[indices], self.queries[indices], self.texts[indices], self.positions[indices]),
            self.scores[indices],
        )

    def query_indices(self) -> NDArray[np.int32]:
        """The index of each pair's query in `asked`, of shape (n,)."""
        index = np.zeros(int(self.asked.max(initial=0)) + 1, dtype=np.int32)
        index[self.asked] = np.arange(len(self.asked))
        return index[self.queries]


def read_score_table(folder: JobFolder) -> ScoreTable:
    """All scores of this moment by item number, held against the checksums of their batches. Blocking: a second
    for a million. Raises DataError.
    """
    data_version(folder.data)  # raises DataError with a sentence if the file is missing
    with folder.open(read_only=True) as database:
        return _table(checksums.read_scores(database, folder.path))


def read_scores_of(database: sqlite3.Connection, folder: JobFolder, first: int, last: int) -> ScoreTable:
    """The scores of the queries numbered `first` to `last`, by item number. Raises DataError."""
    return _table(checksums.read_scores_of(database, folder.path, first, last))


def read_text_hashes(folder: JobFolder, table: ScoreTable) -> Hashes:
    """The hashes of the pairs' texts, (n,). Blocking: a second or two for a million. Raises DataError."""
    return _hashes(folder, _TEXTS, table.texts)


def read_id_hashes(folder: JobFolder, table: ScoreTable) -> NDArray[np.int64]:
    """The hashes of the ids of the pairs' texts, (pairs,), without reading the texts. Raises DataError."""
    ids = np.zeros(int(table.texts.max(initial=0)) + 1, np.int64)
    with folder.open(read_only=True) as database:
        for number, identifier in database.execute(_IDS):
            if number < len(ids):
                ids[number] = hashed_id(identifier)
    return ids[table.texts]


def read_query_hashes(folder: JobFolder, table: ScoreTable) -> Hashes:
    """The hashes of the queries `table.asked`, in their order. Raises DataError."""
    return _hashes(folder, _QUERIES, table.asked)


def hashed_id(identifier: str) -> int:
    """The hash of an id: never NO_ID, except for "", which is no id."""
    return hash(identifier) or 1 if identifier else NO_ID


def _table(rows: NDArray[np.void]) -> ScoreTable:
    items, queries, texts, positions, scores = (
        np.ascontiguousarray(rows[name]) for name in ("item", "query", "text", "position", "score")
    )
    scores[np.isneginf(scores)] = np.nan
    return ScoreTable(items, queries, texts, positions, scores)


def _hashes(folder: JobFolder, statement: str, numbers: NDArray[np.int32]) -> Hashes:
    size = int(numbers.max(initial=0)) + 1
    texts, ids = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for first in range(1, size, _BLOCK):
        with folder.open(read_only=True) as database:
            rows = database.execute(statement, (first, min(first + _BLOCK, size) - 1)).fetchall()
        if rows:
            found, of_texts, of_ids = zip(*rows, strict=True)
            numbered = np.fromiter(found, np.int32, len(rows))
            texts[numbered] = np.fromiter(map(hash, of_texts), np.int64, len(rows))
            if any(of_ids):
                ids[numbered] = np.fromiter(map(hashed_id, of_ids), np.int64, len(rows))
    return Hashes(texts[numbers], ids[numbers])


_UP_TO = "SELECT query_no, query_id, text FROM queries WHERE query_no <= ? ORDER BY query_no"


class QueryText(msgspec.Struct, frozen=True, gc=False):
    """A query as in the file; `id` is "" if it has none."""

    number: int
    id: str
    text: str


def read_queries(folder: JobFolder, numbers: NDArray[np.integer]) -> tuple[QueryText, ...]:
    """The queries of these numbers, which must ascend. Raises DataError."""
    wanted = set(numbers.tolist())
    with folder.open(read_only=True) as database:
        rows = database.execute(_UP_TO, (max(wanted, default=0),))
        return tuple(QueryText(*row) for row in rows if row[0] in wanted)
