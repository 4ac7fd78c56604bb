"""Which queries have a text in them, or in one of their contexts: a million texts in two threads.

SQLite lets Python's other threads go on while it compares, so that two connections take half the time.
"""

import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.finding import Finding, have_nul
from cfbatch_gui.core.results.finding_blocks import SEPARATOR, BlockFinding

Found = TypeVar("Found")

_THREADS = 2
_FEW = 20_000  # texts; a second thread would take longer to begin
_BLOCK_SIZE = 2_000_000  # bytes of texts in one block, about; one is of _MOST_TEXTS at most
_MOST_TEXTS = 2_000

# Where contexts share their texts, each text is looked at once.
_IS_SHARED = "SELECT 2 * (SELECT max(text_no) FROM texts) < (SELECT max(item_no) FROM items)"
_WITH_TEXTS = """
SELECT DISTINCT query_no FROM items
WHERE query_no IS NOT NULL AND text_no IN (SELECT value FROM json_each(?))
"""
_BOUNDS = "SELECT min({key}), max({key}) FROM {table}"
_FOUND = "SELECT DISTINCT {number} FROM {rows} AND {found}"
_NUMBERS = "SELECT {number} FROM {table} WHERE {key} BETWEEN :first AND :last AND {number} IS NOT NULL ORDER BY {key}"
_JOINED = "SELECT group_concat(text, :separator), count(*) FROM (SELECT text FROM {rows} ORDER BY {key})"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where texts are: `number` is what is wanted of those that are found, `key` what they are in order of."""

    table: str
    key: str
    number: str
    rows: str

    def statement(self, pattern: str, *, found: str = "") -> str:
        """A statement about these texts."""
        return pattern.format(table=self.table, key=self.key, number=self.number, rows=self.rows, found=found)


_IN_QUERIES = _Place("queries", "query_no", "query_no", "queries WHERE query_no BETWEEN :first AND :last")
_IN_CONTEXTS = _Place(
    "items",
    "item_no",
    "query_no",
    "items CROSS JOIN texts USING(text_no) WHERE item_no BETWEEN :first AND :last AND query_no IS NOT NULL",
)
_IN_SHARED = _Place("texts", "text_no", "text_no", "texts WHERE text_no BETWEEN :first AND :last")


@dataclass(frozen=True, slots=True)
class _Part:
    """Neighbouring texts, and how many of them make a block."""

    place: _Place
    first: int
    last: int
    block: int


class TextSearch:
    """The texts of one job; they never change. Used by one thread at a time. Raises DataError."""

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._have_nul: bool | None = None

    def queries(self, text: str) -> frozenset[int]:
        """Numbers of the queries that have it; case is ignored in every script."""
        with self._folder.open(read_only=True) as database:
            (is_shared,) = database.execute(_IS_SHARED).fetchone()
            contexts = self._parts(database, _IN_SHARED if is_shared else _IN_CONTEXTS)
            queries = self._parts(database, _IN_QUERIES)
        finding = Finding(text, with_nul=False)
        if not finding.blocks:
            finding = Finding(text, with_nul=self._nul_is_there(queries, contexts))
        in_contexts = self._in_each(contexts, finding)
        if is_shared:
            with self._folder.open(read_only=True) as database:
                found = database.execute(_WITH_TEXTS, (json.dumps(sorted(in_contexts)),))
                in_contexts = {number for (number,) in found}
        return frozenset(in_contexts | self._in_each(queries, finding))

    def _nul_is_there(self, *parts: list[_Part]) -> bool:
        if self._have_nul is None:

            def is_there(part: _Part) -> bool:
                with self._folder.open(read_only=True) as database:
                    return have_nul(database, part.place.rows, {"first": part.first, "last": part.last})

            self._have_nul = any(found for each in parts for found in _in_threads(is_there, each))
        return self._have_nul

    def _in_each(self, parts: list[_Part], finding: Finding) -> set[int]:
        def numbers(part: _Part) -> set[int]:
            with self._folder.open(read_only=True) as database:
                finding.prepare(database)
                if finding.blocks:
                    return _in_blocks(database, part, finding.blocks)
                return _numbers(database, part, finding)

        return set().union(*_in_threads(numbers, parts))

    def _parts(self, database: sqlite3.Connection, place: _Place) -> list[_Part]:
        first, last = database.execute(place.statement(_BOUNDS)).fetchone()
        if first is None:
            return []
        count = last - first + 1
        mean = self._folder.data.stat().st_size / count
        block = max(1, min(_MOST_TEXTS, int(_BLOCK_SIZE / mean)))
        threads = _THREADS if count > _FEW else 1
        bounds = [first + count * number // threads for number in range(threads + 1)]
        return [_Part(place, start, following - 1, block) for start, following in pairwise(bounds)]


def _in_threads(work: Callable[[_Part], Found], parts: list[_Part]) -> list[Found]:
    if len(parts) < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(len(parts), thread_name_prefix="find") as threads:
        return list(threads.map(work, parts))


def _numbers(database: sqlite3.Connection, part: _Part, finding: Finding) -> set[int]:
    """Found by SQLite, which asks Python where it cannot judge."""
    statement = part.place.statement(_FOUND, found=finding.condition("text"))
    values = {"first": part.first, "last": part.last, **finding.values}
    return {number for (number,) in database.execute(statement, values)}


def _in_blocks(database: sqlite3.Connection, part: _Part, blocks: BlockFinding) -> set[int]:
    """Found in many texts at once."""
    place = part.place
    joined, numbers = place.statement(_JOINED), place.statement(_NUMBERS)
    by_python = place.statement(_FOUND, found="found(text)")
    found: set[int] = set()
    for first in range(part.first, part.last + 1, part.block):
        values: dict[str, int | str] = {"first": first, "last": min(first + part.block - 1, part.last)}
        try:
            block, count = database.execute(joined, {**values, "separator": SEPARATOR}).fetchone()
            places = blocks.places(block, count) if count else []
        except (ValueError, sqlite3.DataError):  # texts that have the separator, or are too long to be joined
            found.update(number for (number,) in database.execute(by_python, values))
            continue
        if places:
            # Texts are never missing, so that there is one number for each.
            of_block = [number for (number,) in database.execute(numbers, values)]
            found.update(of_block[each] for each in places)
    return found
