"""A caseless substring search over all texts of a job.

The texts' casefolded UTF-8 is searched as bytes, and stays in memory for the next search unless there is very much.
"""

import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.numbers import distinct

_END, _BETWEEN = b"\xff", b"\xfe"  # of rows and of the texts of one; no UTF-8 text contains these bytes
_IN_MEMORY = 400_000_000  # bytes of a job's data, of which texts are a half or less
_SIZE = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
_BLOCK_SIZE = 1_000_000  # bytes of texts that are read together, about; at most _MOST_TEXTS texts
_MOST_TEXTS = 5_000

_Block = tuple[NDArray[np.int32], bytes]  # the numbers of some rows, and their texts


class CasefoldIndex:
    """The texts of a job, by number.

    `statement` is SQL of a number and a limit for numbers above it, ascending, and their texts. Texts that are too many
    to stay in memory are read again for each search. For any thread; raises DataError.
    """

    def __init__(self, folder: JobFolder, statement: str) -> None:
        self._folder, self._statement = folder, statement
        self._lock = threading.Lock()
        self._kept: list[_Block] | None = None

    def prepare(self) -> None:
        """Build the index now, so that the first search is as fast as the others. Blocking: seconds for a million
        texts.
        """
        with self._lock:
            self._blocks()

    def find(self, text: str) -> NDArray[np.int32]:
        """The numbers of all rows with a text that contains `text`, ascending; case is ignored. Blocking."""
        needle = _folded(text)
        found = [np.empty(0, dtype=np.int32)]
        with self._lock:
            for numbers, data in self._blocks():
                if needle in data:
                    found.append(numbers[[needle in row for row in data.split(_END)]])
        return np.concatenate(found)

    def _blocks(self) -> Iterable[_Block]:
        if self._kept is None:
            with self._folder.open(read_only=True) as database:
                (size,) = database.execute(_SIZE).fetchone()
            if size > _IN_MEMORY:
                return self._read()
            self._kept = list(self._read())
        return self._kept

    def _read(self) -> Iterator[_Block]:
        """The database is not read between two blocks, so that a running job can write to it."""
        with self._folder.open(read_only=True) as database:
            (count,) = database.execute("SELECT max(text_no) FROM texts").fetchone()
            size = max(1, min(_MOST_TEXTS, _BLOCK_SIZE * (count or 1) // self._folder.data.stat().st_size))
            last = 0
            while rows := database.execute(self._statement, (last, size)).fetchall():
                data = _END.join([_BETWEEN.join(map(_folded, texts)) for _, *texts in rows])
                yield np.array([number for number, *_ in rows], dtype=np.int32), data
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


def _folded(text: str) -> bytes:
    return text.casefold().encode("utf-8", "surrogatepass")


_QUERIES = "SELECT query_no, text FROM queries WHERE query_no > ? ORDER BY query_no LIMIT ?"
_TEXTS = "SELECT text_no, text FROM texts WHERE text_no > ? ORDER BY text_no LIMIT ?"
_CONTEXTS = "SELECT item_no, query_no, text_no FROM items WHERE query_no IS NOT NULL"


class TextSearch:
    """The search over the texts of one ranking job, which never change. All calls block and raise DataError."""

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._queries, self._texts = CasefoldIndex(folder, _QUERIES), CasefoldIndex(folder, _TEXTS)

    def prepare(self) -> None:
        """Build the indexes now, so that the first search is as fast as the others: seconds for a million texts."""
        self._queries.prepare()
        self._texts.prepare()
        _ = self._contexts

    def queries(self, text: str) -> NDArray[np.int32]:
        """The numbers of the queries that contain `text`, also in a context, ascending; case is ignored."""
        _, queries, _ = self._contexts
        return distinct(np.concatenate((queries[self._with_text(text)], self._queries.find(text))))

    def items(self, text: str) -> frozenset[int]:
        """The numbers of the contexts that contain `text`, and of all of a query that alone contains it."""
        items, queries, _ = self._contexts
        has_text = self._with_text(text)
        alone = np.setdiff1d(self._queries.find(text), queries[has_text])
        return frozenset(items[has_text | np.isin(queries, alone)].tolist())

    def _with_text(self, text: str) -> NDArray[np.bool_]:
        """Which of all contexts contain `text`."""
        texts = self._contexts[2]
        is_found = np.zeros(int(texts.max(initial=0)) + 1, dtype=np.bool_)
        found = self._texts.find(text)
        is_found[found[found < len(is_found)]] = True
        has_text: NDArray[np.bool_] = is_found[texts]
        return has_text

    @cached_property
    def _contexts(self) -> NDArray[np.int32]:
        """Item, query and text of each context, by their numbers: (3, n)."""
        with self._folder.open(read_only=True) as database:
            found = np.fromiter(database.execute(_CONTEXTS), dtype=np.dtype((np.int32, 3)))
        return np.ascontiguousarray(found.T)
