"""All scores of a ranking job as arrays, its queries, and hashes of its texts and queries to compare them by.

The texts are read in blocks, and only their 64-bit Python hashes are kept. These can be compared within one process,
also between jobs; they differ from process to process.
"""

import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.checksums import ITEM_SCORE, read_items
from cfbatch_gui.core.job_folder.damage import check_scores, one_moment
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import data_version
from cfbatch_gui.core.system.databases import database_address

_ALL = "query_no IS NOT NULL ORDER BY item_no"
_OF_QUERIES = "query_no BETWEEN ? AND ?"
_TEXTS = "SELECT text_no, text, text_id FROM texts WHERE text_no BETWEEN ? AND ?"
_IDS = "SELECT text_no, text_id FROM texts WHERE text_id <> ''"
_QUERIES = "SELECT query_no, text, query_id FROM queries WHERE query_no BETWEEN ? AND ?"
_OTHER_TEXT = """
SELECT 1 FROM texts one LEFT JOIN other.texts two USING(text_no)
WHERE text_no BETWEEN ? AND ? AND (two.text IS NOT one.text OR two.text_id IS NOT one.text_id) LIMIT 1
"""
_OTHER_QUERY = """
SELECT 1 FROM queries one LEFT JOIN other.queries two USING(query_no)
WHERE query_no BETWEEN ? AND ? AND (two.text IS NOT one.text OR two.query_id IS NOT one.query_id) LIMIT 1
"""
_WITH_ID = """
SELECT (SELECT count(*) FROM queries WHERE query_id <> '' AND query_no IN (SELECT query_no FROM items)),
(SELECT count(*) FROM items JOIN texts USING(text_no) WHERE query_no IS NOT NULL AND text_id <> '')
"""
_BLOCK = 20_000  # texts; between two blocks a running job can store its answers
_COMPARED = 100_000  # texts; comparing them in SQL is five times as fast as reading them
NO_ID = 0  # the hash of a missing id


@dataclass(frozen=True, slots=True, eq=False)
class Hashes:
    """Hashes of texts or queries and of their ids, both of shape (n,); NO_ID for no id."""

    texts: NDArray[np.int64]
    ids: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Pairs of a query with a text, as arrays of shape (n,).

    `items`, `queries` and `texts` are the numbers of the job's tables, from 1; `positions` counts the texts of a query
    in the order of the input, from 1; `scores` is NaN for a pair without a score.
    """

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
        """The pairs at these indices as a table of their own."""
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
    """All scores of this moment by item number, each held against its checksum. Blocking: a second for a million.

    Raises DataError.
    """
    data_version(folder.data)  # raises DataError with a sentence if the file is missing
    with folder.open(read_only=True) as database:
        (last,) = database.execute("SELECT coalesce(max(query_no), 0) FROM queries").fetchone()
        with one_moment(database):
            items = read_items(database, _ALL)
            check_scores(database, folder.path, items, 1, last)
        return _table(items)


def read_scores_of(database: sqlite3.Connection, folder: JobFolder, first: int, last: int) -> ScoreTable:
    """The scores of the queries numbered `first` to `last`, in any order. Raises DataError."""
    with one_moment(database):
        items = read_items(database, _OF_QUERIES, (first, last))
        check_scores(database, folder.path, items, first, last)
    return _table(items)


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


def has_same_input(one: JobFolder, one_table: ScoreTable, other: JobFolder, other_table: ScoreTable) -> bool:
    """Whether two jobs have the same queries with the same texts, in the same order and with the same ids.

    Blocking: a third of a second for a million pairs, less if an early text differs. Raises DataError.
    """
    pairs = ((one_table.queries, other_table.queries), (one_table.texts, other_table.texts))
    if not all(np.array_equal(*each) for each in pairs):
        return False
    for statement, numbers in ((_OTHER_QUERY, one_table.asked), (_OTHER_TEXT, one_table.texts)):
        for first in range(1, int(numbers.max(initial=0)) + 1, _COMPARED):
            with one.open(read_only=True) as database:
                database.execute("ATTACH ? AS other", (database_address(other.data.resolve(), mode="rw"),))
                if database.execute(statement, (first, first + _COMPARED - 1)).fetchone():
                    return False
    return True


def count_ids(folder: JobFolder) -> tuple[int, int]:
    """The number of queries with pairs that have an id, and of pairs whose text has an id. Raises DataError."""
    with folder.open(read_only=True) as database:
        queries, texts = database.execute(_WITH_ID).fetchone()
    return queries, texts


def hashed_id(identifier: str) -> int:
    """The hash of an id: never NO_ID, except for "", which is no id."""
    return hash(identifier) or 1 if identifier else NO_ID


def _table(rows: NDArray[np.void]) -> ScoreTable:
    items, queries, texts, positions, scores = (np.ascontiguousarray(rows[name]) for name in ITEM_SCORE.names or ())
    scores[np.isneginf(scores)] = np.nan
    return ScoreTable(items, queries, texts, positions, scores)


def _hashes(folder: JobFolder, statement: str, numbers: NDArray[np.int32]) -> Hashes:
    """The hashes of the rows with these numbers, in their order."""
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


class QueryTexts(Sequence[QueryText]):
    """Queries as UTF-8; each is made when it is asked for."""

    def __init__(self, queries: Iterable[tuple[int, str, str]] = ()) -> None:
        """`queries` are numbers, ids and texts."""
        self._numbers, self._ends, self._words = array("q"), array("q"), bytearray()
        for number, *words in queries:
            self._numbers.append(number)
            for each in words:
                self._words += each.encode("utf-8", "surrogatepass")
                self._ends.append(len(self._words))

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> QueryText: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[QueryText, ...]: ...

    def __getitem__(self, index: int | slice) -> QueryText | tuple[QueryText, ...]:
        if isinstance(index, slice):
            return tuple(map(self._query, range(len(self))[index]))
        return self._query(range(len(self))[index])

    def _query(self, index: int) -> QueryText:
        start = self._ends[2 * index - 1] if index else 0
        middle, end = self._ends[2 * index], self._ends[2 * index + 1]
        words = (self._words[start:middle], self._words[middle:end])
        return QueryText(self._numbers[index], *(each.decode("utf-8", "surrogatepass") for each in words))


def read_queries(folder: JobFolder, numbers: NDArray[np.integer]) -> QueryTexts:
    """The queries of these numbers, which must ascend. Raises DataError."""
    if not len(numbers):
        return QueryTexts()
    wanted = np.zeros(int(numbers[-1]) + 1, dtype=np.bool_)
    wanted[numbers] = True
    is_wanted = wanted.tobytes()  # one byte for each number: indexing it creates no objects
    with folder.open(read_only=True) as database:
        rows = database.execute(_UP_TO, (int(numbers[-1]),))
        return QueryTexts(row for row in rows if is_wanted[row[0]])
