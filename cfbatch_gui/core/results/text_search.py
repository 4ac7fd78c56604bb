"""A caseless substring search over all texts of a job. Blocking: half a second for a million texts."""

import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate, chain

from cfbatch_gui.core.job_folder.folder import JobFolder

_TEXTS = """
SELECT item_no FROM items JOIN texts USING(text_no) WHERE contains(text) OR contains(text_id) ORDER BY item_no
"""
_CONTEXTS = """
SELECT query_no, item_no FROM items
WHERE query_no IS NOT NULL AND text_no IN (SELECT text_no FROM texts WHERE contains(text))
"""
_QUERIES = "SELECT query_no FROM queries WHERE contains(text)"
_ITEMS_OF = "SELECT item_no FROM items WHERE query_no IN (SELECT value FROM json_each(?))"


@contextmanager
def _searching(folder: JobFolder, sought: str) -> Iterator[sqlite3.Connection]:
    """The data of a job, where `contains` says whether a text contains what is sought; case is ignored."""
    needle = sought.casefold()
    with folder.open(read_only=True) as database:
        database.create_function("contains", 1, lambda text: needle in text.casefold(), deterministic=True)
        yield database


def items_with(folder: JobFolder, sought: str) -> tuple[int, ...]:
    """The numbers of the items whose text or id contains `sought`, ascending. Raises DataError."""
    with _searching(folder, sought) as database:
        return tuple(item for (item,) in database.execute(_TEXTS))


def search_ranking(folder: JobFolder, sought: str) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of the queries that contain `sought`, also in a context, and of the contexts that do, or whose query
    alone does. Raises DataError.
    """
    with _searching(folder, sought) as database:
        found = database.execute(_CONTEXTS).fetchall()
        queries = {query for query, _ in found}
        alone = {query for (query,) in database.execute(_QUERIES)} - queries
        of_alone = database.execute(_ITEMS_OF, (str(sorted(alone)),))
        items = frozenset(chain((item for _, item in found), (item for (item,) in of_alone)))
    return frozenset(queries | alone), items


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
