"""A caseless substring search over all texts of a job.

The texts' casefolded UTF-8 is searched as bytes, and stays in memory for the next search unless there is very much.
"""

import json
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.numbers import distinct

_END = b"\xff"  # follows each text; no UTF-8 text contains this byte
_IN_MEMORY = 128_000_000  # bytes
_BLOCK_SIZE = 1_000_000  # bytes of texts that are read together, about; at most _MOST_TEXTS texts
_MOST_TEXTS = 5_000


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """`ends[i]` is the offset in `data` after the last text of `numbers[i]`. Both have shape (n,)."""

    numbers: NDArray[np.int32]
    ends: NDArray[np.uint32]
    data: bytes


class CasefoldIndex:
    """The texts of a job, each under a number that successive ones may share.

    `statement` is SQL of a key and a limit for key, number and texts, ascending. Texts that are too many to stay in
    memory are read again for each search. For any thread; raises DataError.
    """

    def __init__(self, folder: JobFolder, statement: str) -> None:
        self._folder, self._statement = folder, statement
        self._lock = threading.Lock()
        self._kept: list[_Block] | None = None
        self._is_large = False

    def prepare(self) -> None:
        """Build the index now, so that the first search is as fast as the others. Blocking: seconds for a million
        texts.
        """
        with self._lock:
            if not self._is_large:
                for _ in self._blocks():
                    pass

    def find(self, text: str) -> NDArray[np.int32]:
        """The numbers of all texts that contain `text`, distinct and ascending; case is ignored. Blocking."""
        needle = _folded(text)
        found = [np.empty(0, dtype=np.int32)]
        with self._lock:
            for block in self._blocks():
                if needle in block.data:
                    found.append(block.numbers[_indices_with(block.data, needle, block.ends)])
        return distinct(np.concatenate(found))

    def _blocks(self) -> Iterator[_Block]:
        if self._kept is not None:
            yield from self._kept
            return
        blocks: list[_Block] = []
        size = 0
        for block in map(_block_of, self._read()):
            size += len(block.data)
            self._is_large = self._is_large or size > _IN_MEMORY
            if not self._is_large:
                blocks.append(block)
            yield block
        if not self._is_large:
            self._kept = blocks

    def _read(self) -> Iterator[list[tuple[int, int, str]]]:
        """The rows in blocks. The database is not read between two of them, so that a running job can write to it."""
        with self._folder.open(read_only=True) as database:
            (count,) = database.execute("SELECT max(text_no) FROM texts").fetchone()
            size = max(1, min(_MOST_TEXTS, _BLOCK_SIZE * (count or 1) // self._folder.data.stat().st_size))
            last = 0
            while rows := database.execute(self._statement, (last, size)).fetchall():
                yield rows
                last = rows[-1][0]


def found_spans(text: str, sought: str) -> list[tuple[int, int]]:
    """The places of `sought`, from left to right; one inside a character ("ß" → "ss") has the whole one."""
    needle, folded = sought.casefold(), text.casefold()
    if not needle or needle not in folded:
        return []
    # A character never becomes fewer than one, so that texts of one length correspond character by character.
    lengths = (map(len, map(str.casefold, text))) if len(folded) != len(text) else (1 for _ in text)
    stops = list(accumulate(lengths))
    spans: list[tuple[int, int]] = []
    at = folded.find(needle)
    while at >= 0:
        stop = at + len(needle)
        first, last = bisect_right(stops, at), bisect_right(stops, stop - 1)
        if spans and first < spans[-1][1]:  # both lie in one character
            spans[-1] = (spans[-1][0], last + 1)
        else:
            spans.append((first, last + 1))
        at = folded.find(needle, stop)
    return spans


def _block_of(rows: Sequence[tuple[int, int, str]]) -> _Block:
    numbers: list[int] = []
    parts: list[bytes] = []
    for number, of_number in groupby(rows, itemgetter(1)):
        numbers.append(number)
        parts.append(b"".join([_folded(text) + _END for row in of_number for text in row[2:]]))
    ends = np.cumsum(np.fromiter(map(len, parts), dtype=np.uint32, count=len(parts)), dtype=np.uint32)
    return _Block(np.array(numbers, dtype=np.int32), ends, b"".join(parts))


def _folded(text: str) -> bytes:
    return text.casefold().encode("utf-8", "surrogatepass")


def _indices_with(data: bytes, needle: bytes, ends: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Indices into `ends` of the texts that contain `needle`, ascending: the search goes on after each of them."""
    places = ends.tolist()
    indices: list[int] = []
    start = data.find(needle)
    while start >= 0 and (index := bisect_right(places, start)) < len(places):
        indices.append(index)
        start = data.find(needle, places[index])
    return np.array(indices, dtype=np.int64)


_QUERY_TEXTS = "SELECT query_no, query_no, text FROM queries WHERE query_no > ? ORDER BY query_no LIMIT ?"
_CONTEXTS = """
SELECT item_no, query_no, text FROM items CROSS JOIN texts USING(text_no)
WHERE item_no > ? AND query_no IS NOT NULL ORDER BY item_no LIMIT ?
"""
# If contexts share their texts, each text is searched once.
_IS_SHARED = "SELECT 2 * (SELECT max(text_no) FROM texts) < (SELECT max(item_no) FROM items)"
_SHARED = "SELECT text_no, text_no, text FROM texts WHERE text_no > ? ORDER BY text_no LIMIT ?"
_WITH_TEXTS = """
SELECT DISTINCT query_no FROM items
WHERE query_no IS NOT NULL AND text_no IN (SELECT value FROM json_each(?))
"""
_ITEMS_OF_TEXTS = """
SELECT item_no, query_no FROM items WHERE query_no IS NOT NULL AND text_no IN (SELECT value FROM json_each(?))
"""
_ITEMS_OF_QUERIES = """
SELECT item_no, query_no, text FROM items JOIN texts USING(text_no)
WHERE query_no IN (SELECT value FROM json_each(?))
"""
_QUERIES_AT_ONCE = 1_000


class TextSearch:
    """The search over the texts of one ranking job, which never change. All calls block and raise DataError."""

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._queries = CasefoldIndex(folder, _QUERY_TEXTS)

    def prepare(self) -> None:
        """Build the indexes now, so that the first search is as fast as the others: seconds for a million texts."""
        self._queries.prepare()
        self._contexts.prepare()

    def queries(self, text: str) -> NDArray[np.int32]:
        """The numbers of the queries that contain `text`, also in a context, ascending; case is ignored."""
        found = self._contexts.find(text)
        if self._is_shared:
            with self._folder.open(read_only=True) as database:
                rows = database.execute(_WITH_TEXTS, (json.dumps(found.tolist()),))
                found = np.fromiter((number for (number,) in rows), dtype=np.int32)
        return distinct(np.concatenate((found, self._queries.find(text))))

    def items(self, text: str) -> frozenset[int]:
        """The numbers of the contexts that contain `text`, and of all of a query that alone contains it."""
        found = self._contexts.find(text).tolist()
        by_text = self._of_texts(found) if self._is_shared else self._of_queries(found, text.casefold())
        with_texts = {query for _, query in by_text}
        alone = [number for number in self._queries.find(text).tolist() if number not in with_texts]
        return frozenset(item for item, _ in (*by_text, *self._of_queries(alone, "")))

    def _of_texts(self, texts: list[int]) -> list[tuple[int, int]]:
        with self._folder.open(read_only=True) as database:
            return database.execute(_ITEMS_OF_TEXTS, (json.dumps(texts),)).fetchall()

    def _of_queries(self, queries: list[int], folded: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            with self._folder.open(read_only=True) as database:
                some = (json.dumps(queries[start : start + _QUERIES_AT_ONCE]),)
                for item, query, text in database.execute(_ITEMS_OF_QUERIES, some):
                    if folded in text.casefold():
                        found.append((item, query))
        return found

    @cached_property
    def _is_shared(self) -> bool:
        with self._folder.open(read_only=True) as database:
            (is_shared,) = database.execute(_IS_SHARED).fetchone()
        return bool(is_shared)

    @cached_property
    def _contexts(self) -> CasefoldIndex:
        return CasefoldIndex(self._folder, _SHARED if self._is_shared else _CONTEXTS)
