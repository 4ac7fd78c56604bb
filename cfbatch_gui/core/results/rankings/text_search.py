"""A substring search for queries by their own text and by the texts of their contexts."""

import json
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.casefold_index import CasefoldIndex
from cfbatch_gui.core.results.numbers import distinct

_QUERIES = "SELECT query_no, query_no, text FROM queries WHERE query_no > ? ORDER BY query_no LIMIT ?"
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
        self._queries = CasefoldIndex(folder, _QUERIES)

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
        """The contexts of these queries that contain a casefolded text, each with its query."""
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
