"""Ranked contexts, read from a job's tables; the rule of the ranks is in `ranks`.

The texts are never all in memory: a million contexts are read in blocks.
"""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import data_version
from cfbatch_gui.core.results.original_columns import OriginalColumns, columns_of_rankings
from cfbatch_gui.core.results.outcomes import OutcomeCounts, Status, count_items, has_parts, sent_of, status_of
from cfbatch_gui.core.results.ranks import (
    RankedItems,
    RankedScores,
    RetrievalIds,
    ranked_items,
    ranked_order,
    written_rank,
)
from cfbatch_gui.core.results.score_table import read_score_table, read_scores_of

BLOCK = 10_000  # contexts that are in memory together

_QUERIES = "SELECT query_no, query_id, text FROM queries ORDER BY query_no"
_ITEMS_OF = "SELECT item_no FROM items WHERE query_no IN (SELECT value FROM json_each(?))"
_QUERIES_OF = "SELECT query_no, query_id, text FROM queries WHERE query_no BETWEEN ? AND ?"

# In any order, without the columns that many contexts have in common, which are read once.
_DETAILS = """
SELECT i.item_no, i.query_no, t.text, t.text_id, t.label, i.position, t.row, i.request_no, {cells},
    CASE WHEN i.request_no IS NULL THEN (SELECT reason FROM problems WHERE item_no = i.item_no LIMIT 1) END
FROM json_each(:items) wanted
CROSS JOIN items i ON i.item_no = wanted.value
JOIN texts t USING(text_no)
{rows}
"""
# The last row of an item is its best part; of parts with equal scores that is the first part.
_PARTS = """
SELECT item_no, part FROM parts WHERE item_no IN (SELECT value FROM json_each(:items)) AND score IS NOT NULL
ORDER BY item_no, score, part DESC
"""
_FIRST_ROW = """
JOIN queries q USING(query_no)
LEFT JOIN source_rows f ON f.file = 1 AND f.row = CASE t.file WHEN 1 THEN t.row ELSE q.row END
"""
_SECOND_ROW = "LEFT JOIN source_rows s ON s.file = 2 AND t.file = 2 AND s.row = t.row"


class RankedQuery(msgspec.Struct, frozen=True, gc=False):
    """A query; `margin` is the best score less the second best, None for fewer than two."""

    query_no: int
    query_id: str
    text: str
    contexts: int
    scored: int
    margin: float | None
    best: float | None


class RankedContext(msgspec.Struct, frozen=True, gc=False):
    """A context in its ranking.

    `initial_rank` counts from 1, `rank_change` is positive if it rose, `tie_group` 0 is no tie; `batch` is 0 if not
    sent, `part` that of a split text with the score.
    """

    item_no: int
    query_no: int
    query_id: str
    query: str
    rank: int | None
    tied: bool
    tie_group: int
    score: float | None
    text: str
    id: str
    label: str
    initial_rank: int
    rank_change: int | None
    row: int
    cells: tuple[str, ...]
    status: Status
    error: str
    reference: str
    batch: int
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The number of scored contexts that a top k and a threshold keep, and of all scored contexts."""

    kept: int
    total: int


def rank_text(context: RankedContext) -> str:
    """The rank for people: "1", "2=" in a tie, "1,000", "" without a score."""
    if context.rank is None:
        return ""
    return written_rank(context.rank, is_tied=context.tied)


class Rankings:
    """The results of a ranking job.

    Each call opens the data read-only, also while the job runs, and raises DataError; scores are kept until the data
    changes.
    """

    def __init__(
        self, folder: JobFolder, failed_batches: Mapping[int, str] | None = None, *, reserved: Collection[str] = ()
    ) -> None:
        self._folder = folder
        self._failed_batches = failed_batches or {}
        self._scores: RankedScores | None = None
        with folder.open(read_only=True) as database:
            self._original: OriginalColumns = columns_of_rankings(database, reserved)
        self._ids = RetrievalIds(folder)
        self._has_parts = has_parts(folder)
        self._details = _DETAILS.format(
            cells=f"{'f.cells' if self._original.first else 'NULL'}, {'s.cells' if self._original.second else 'NULL'}",
            rows=f"{_FIRST_ROW if self._original.first else ''} {_SECOND_ROW if self._original.second else ''}",
        )

    def columns(self) -> tuple[str, ...]:
        return self._original.names

    def outcome_counts(self) -> OutcomeCounts:
        with self._folder.open(read_only=True) as database:
            return count_items(database, self._failed_batches)

    def queries(self) -> tuple[RankedQuery, ...]:
        """All queries in the order of the input."""
        scores = self._all_scores().by_query()
        following = next(scores, None)
        found: list[RankedQuery] = []
        with self._folder.open(read_only=True) as database:
            for number, identifier, text in database.execute(_QUERIES):
                if following is not None and following[0] == number:
                    found.append(RankedQuery(number, identifier, text, *following[1:]))
                    following = next(scores, None)
                else:
                    found.append(RankedQuery(number, identifier, text, 0, 0, None, None))
        return tuple(found)

    def contexts(self, query_no: int, start: int = 0, stop: int | None = None) -> tuple[RankedContext, ...]:
        """The contexts of one query by rank, ties by descending document id, those without a score last; from index
        `start` to before `stop` of this order.
        """
        scores = self._scores
        is_known = scores is not None and scores.version == data_version(self._folder.data)
        with self._folder.open(read_only=True) as database:
            if scores is not None and is_known:
                ranked = scores.of_query(query_no, start, stop)
            else:
                ranked = self._ranked(database, query_no, query_no).part(start, stop)
            return tuple(self._detailed(database, ranked))

    def blocks(self, *, size: int = BLOCK) -> Iterator[tuple[RankedContext, ...]]:
        """All contexts, queries as in the input and by rank; the data is closed between two blocks."""
        return self._in_blocks(self._all_ranked(), size)

    def blocks_in_file_order(self, *, size: int = BLOCK) -> Iterator[tuple[RankedContext, ...]]:
        """All contexts in the order of the input, at most `size` at a time; each with its rank in its query."""
        return self._in_blocks(self._all_ranked().by_item(), size)

    def _all_ranked(self) -> RankedItems:
        with self._folder.open(read_only=True) as database:
            (last,) = database.execute("SELECT coalesce(max(query_no), 0) FROM queries").fetchone()
            return self._ranked(database, 1, last)

    def _in_blocks(self, ranked: RankedItems, size: int) -> Iterator[tuple[RankedContext, ...]]:
        for start in range(0, len(ranked), size):
            with self._folder.open(read_only=True) as database:
                block = tuple(self._detailed(database, ranked.part(start, start + size)))
            yield block

    def items_of(self, queries: Collection[int]) -> frozenset[int]:
        with self._folder.open(read_only=True) as database:
            found = database.execute(_ITEMS_OF, (str(sorted(queries)),))
            return frozenset(item for (item,) in found)

    def counts(self, top_k: int | None = None, threshold: float | None = None) -> Kept:
        """Count the scored contexts with a rank ≤ `top_k` and a score ≥ `threshold`; None is no limit.

        A tie at rank `top_k` is kept as a whole.
        """
        return Kept(*self._all_scores().count(top_k, threshold))

    def _all_scores(self) -> RankedScores:
        """The scores of this moment; they are read again only if the data has changed."""
        version = data_version(self._folder.data)
        if self._scores is None or self._scores.version != version:
            table = read_score_table(self._folder)
            with self._folder.open(read_only=True) as database:
                order = ranked_order(database, table, self._ids)
            self._scores = RankedScores(table, order, version)
        return self._scores

    def _ranked(self, database: sqlite3.Connection, first: int, last: int) -> RankedItems:
        table = read_scores_of(database, self._folder, first, last)
        return ranked_items(table, ranked_order(database, table, self._ids))

    def _detailed(self, database: sqlite3.Connection, ranked: RankedItems) -> Iterator[RankedContext]:
        values = {"items": str(sorted(ranked.items.tolist()))}
        rows = {row[0]: row for row in database.execute(self._details, values)}
        requests = sent_of(database, {row[7] for row in rows.values()})
        parts = dict(database.execute(_PARTS, values)) if self._has_parts else {}
        numbers = {row[1] for row in rows.values()} or {0}
        queries = {
            number: (identifier, text)
            for number, identifier, text in database.execute(_QUERIES_OF, (min(numbers), max(numbers)))
        }
        cells_of = self._original.cells
        no_cells = () if not self._original.names else None
        for item, score, rank, tie_group in ranked.rows():
            _, query_no, text, text_id, label, position, row_no, request, first, second, reason = rows[item]
            query_id, query = queries[query_no]
            sent = requests[request]
            status, why = (Status.DONE, "") if rank else status_of(False, sent, reason, self._failed_batches)
            yield RankedContext(
                item, query_no, query_id, query,
                rank or None, tie_group > 0, tie_group, score if rank else None,
                text, text_id, label, position, position - rank if rank else None,
                row_no, cells_of(first, second) if no_cells is None else no_cells,
                status, why, sent.reference or "", sent.batch or 0, parts.get(item),
            )  # fmt: skip
