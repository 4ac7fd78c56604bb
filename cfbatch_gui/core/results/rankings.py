"""Ranked contexts, read from a job's tables, and the rule of the ranks.

Equal scores share a rank (1, 2=, 2=, 4) and stand by falling document id, as trec_eval reads a run, else as in the
input. The texts are never all in memory: a million contexts are read in blocks.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import data_version
from cfbatch_gui.core.results import outcomes
from cfbatch_gui.core.results.numbers import starts
from cfbatch_gui.core.results.score_table import ScoreTable, read_score_table

_UNSAFE = re.compile(r"""[\s\x00-\x20\x7f\x85\u200b\ufeff"%]""")
_HAVE_IDS = """
SELECT EXISTS(SELECT 1 FROM queries WHERE query_id <> ''), EXISTS(SELECT 1 FROM texts WHERE text_id <> '')
"""
# Layouts in which a row of a file is one text; in the others a row has several.
_ROW_IS_TEXT = frozenset({Layout.LONG, Layout.SHARED, Layout.CANDIDATES})

# Those in which the order of a query's contexts in the file may be one that somebody chose.
_ORDERED = frozenset({Layout.LONG, Layout.WIDE, Layout.NESTED, Layout.CANDIDATES})


class RetrievalIds:
    """The ids of one export; it counts the ids that were encoded."""

    def __init__(self, folder: JobFolder) -> None:
        with folder.open(read_only=True) as database:
            self._row_is_text = schema.metadata_value(database, "layout") in _ROW_IS_TEXT
            self._queries_have_ids, self._texts_have_ids = database.execute(_HAVE_IDS).fetchone()
        self._encoded = 0

    def query(self, number: int, identifier: str) -> str:
        return self._safe(identifier) if identifier else self._made(f"q{number}", self._queries_have_ids)

    def document(self, identifier: str, row: int, position: int) -> str:
        """The id of a context by its own id, its row, and its position among the contexts of its query, from 1."""
        if identifier:
            return self._safe(identifier)
        return self._made(f"{row}" if self._row_is_text else f"{row}.{position}", self._texts_have_ids)

    @property
    def notes(self) -> dict[str, object]:
        return {
            "query_ids": "from the file" if self._queries_have_ids else "q and the number of the query",
            "document_ids": "from the file" if self._texts_have_ids else "row of the file, and place in it",
            "ids_percent_encoded": self._encoded,
            "undo": "Decode %XX as in web addresses to have the original id.",
        }

    def _safe(self, identifier: str) -> str:
        if not _UNSAFE.search(identifier):
            return identifier
        self._encoded += 1
        return _UNSAFE.sub(percent_encoded, identifier)

    def _made(self, identifier: str, is_mixed: int) -> str:
        # An encoded id has a hexadecimal digit after each percent sign, so that this equals none of them.
        return f"%row-{identifier}" if is_mixed else identifier


def percent_encoded(found: re.Match[str]) -> str:
    """What was found in UTF-8, each byte as %XX."""
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


_IDS = "SELECT text_id, row FROM texts WHERE text_no IN (SELECT value FROM json_each(?)) ORDER BY text_no"
_IDS_AT_ONCE = 100_000  # numbers of texts in one statement


def ranked_order(database: sqlite3.Connection, table: ScoreTable, ids: RetrievalIds) -> NDArray[np.int64]:
    """The indices (pairs,) that sort by query, falling score and id; without a score last. Raises sqlite3.Error."""
    order = np.lexsort((table.positions, -table.scores, table.queries))  # NaN last
    run = np.cumsum(starts(table.queries[order], table.scores[order])) - 1  # NaN differs from NaN: no tie
    tied = np.flatnonzero(np.bincount(run, minlength=1)[run] > 1) if len(order) else order
    if len(tied):
        members = order[tied]
        names = _names(database, table, members, ids)
        falling = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True), dtype=np.int64)
        order[tied] = members[falling[np.argsort(run[tied][falling], kind="stable")]]
    return order


def _names(database: sqlite3.Connection, table: ScoreTable, pairs: NDArray[np.int64], ids: RetrievalIds) -> list[bytes]:
    """The document ids of these pairs as UTF-8, in their order."""
    texts, places = np.unique(table.texts[pairs], return_inverse=True)
    identifiers: list[str] = []
    rows = np.empty(len(texts), dtype=np.int64)
    for first in range(0, len(texts), _IDS_AT_ONCE):
        wanted = json.dumps(texts[first : first + _IDS_AT_ONCE].tolist())
        for identifier, row in database.execute(_IDS, (wanted,)):
            rows[len(identifiers)] = row
            identifiers.append(identifier)
    return [
        ids.document(identifiers[at], rows.item(at), position).encode("utf-8", "surrogatepass")
        for at, position in zip(places.tolist(), table.positions[pairs].tolist(), strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Arrays of shape (n,) in the order of the scores. `rank` counts from 1; `size` is that of the tie, 1 for none."""

    rank: NDArray[np.int32]
    size: NDArray[np.int32]

    def part(self, indices: NDArray[np.integer]) -> "Ranks":
        return Ranks(self.rank[indices], self.size[indices])

    def texts(self) -> list[str]:
        pairs = zip(self.rank.tolist(), self.size.tolist(), strict=True)
        return [written_rank(rank, is_tied=size > 1) for rank, size in pairs]


def written_rank(rank: int, *, is_tied: bool) -> str:
    return f"{rank:,}=" if is_tied else f"{rank:,}"


def ranks_of(queries: NDArray[np.integer], scores: NDArray[np.float64]) -> Ranks:
    """The ranks of scores, which must be finite; those with the same number in `queries` are ranked together."""
    order = np.lexsort((-scores, queries))
    runs = _Runs(queries[order], scores[order])
    rank, size = np.empty(len(order), dtype=np.int32), np.empty(len(order), dtype=np.int32)
    rank[order], size[order] = runs.ranks, runs.lengths
    return Ranks(rank, size)


# Its contexts, and scored ones; the best score less the second, None for fewer than two; the best or None.
QueryScores = tuple[int, int, float | None, float | None]


class Ranking:
    """All contexts of a table in the order of the ranking, (n,); without a score `ranks` is 0 and `scores` NaN.

    `order` is that of `ranked_order`, `version` the `data_version` from before the table was read.
    """

    def __init__(self, table: ScoreTable, order: NDArray[np.int64], version: bytes) -> None:
        self.version = version
        self.items = table.items[order]
        self._scores = table.scores[order]
        self._queries = table.queries[order]
        self._has_score = ~np.isnan(self._scores)
        runs = _Runs(self._queries, self._scores)
        tied = (runs.lengths > 1) & self._has_score
        self._ranks = np.where(self._has_score, runs.ranks, 0).astype(np.int32)
        starts_tie = runs.starts & tied
        counted = np.cumsum(starts_tie)
        before = np.maximum.accumulate(np.where(runs.starts_query, counted - starts_tie, 0))
        self._tie_groups = np.where(tied, counted - before, 0).astype(np.int32)

    def rows(self, wanted: slice | NDArray[np.int64]) -> Iterator[tuple[int, float, int, int]]:
        """Item, score, rank and tie group of the contexts at these indices."""
        columns = (self.items, self._scores, self._ranks, self._tie_groups)
        return zip(*(column[wanted].tolist() for column in columns), strict=True)

    def count(self, top_k: int | None, threshold: float | None, items: Collection[int] | None) -> tuple[int, int]:
        scored = self._has_score if items is None else self._has_score & np.isin(self.items, list(items))
        kept = scored if threshold is None else scored & (self._scores >= threshold)
        if top_k is not None:
            kept = kept & (self._ranks <= top_k)
        return int(np.count_nonzero(kept)), int(np.count_nonzero(scored))

    def of_query(self, query_no: int) -> slice:
        """The indices of the contexts of one query."""
        return slice(*np.searchsorted(self._queries, (query_no, query_no + 1)).tolist())

    def by_query(self) -> dict[int, QueryScores]:
        """By the numbers of the queries, for those that have contexts."""
        first = np.flatnonzero(starts(self._queries))
        scored = np.add.reduceat(self._has_score, first, dtype=np.int64) if len(first) else first
        best, second = self._scores[first], self._scores[np.minimum(first + 1, len(self._scores) - 1)]
        lengths = np.diff(first, append=len(self._scores))
        columns = (self._queries[first], lengths, scored, best, second)
        return {
            query: (length, count, top - following if count > 1 else None, top if count else None)
            for query, length, count, top, following in zip(*(column.tolist() for column in columns), strict=True)
        }


class _Runs:
    """Runs of equal scores in rows sorted by query and falling score; shape (n,)."""

    def __init__(self, queries: NDArray[np.integer], scores: NDArray[np.float64]) -> None:
        index = np.arange(len(queries))
        self.starts_query, self.starts = starts(queries), starts(queries, scores)
        lengths = np.diff(np.flatnonzero(self.starts), append=len(queries))
        self.lengths: NDArray[np.int64] = np.repeat(lengths, lengths)
        first_of_query = np.maximum.accumulate(np.where(self.starts_query, index, 0))
        first_of_run = np.maximum.accumulate(np.where(self.starts, index, 0))
        self.ranks: NDArray[np.int64] = first_of_run - first_of_query + 1


BLOCK = 10_000  # contexts that are in memory together

_QUERIES = "SELECT query_no, query_id, text FROM queries ORDER BY query_no"
_ITEMS_OF = "SELECT item_no FROM items WHERE query_no IN (SELECT value FROM json_each(?))"

# In any order.
_DETAILS = """
SELECT i.item_no, i.query_no, q.query_id, q.text, t.text, t.text_id, t.label, i.position, t.row, {cells},
    r.reference, r.batch, r.state,
    CASE WHEN i.request_no IS NULL THEN (SELECT reason FROM problems WHERE item_no = i.item_no LIMIT 1) ELSE r.error END
FROM json_each(:items) wanted
CROSS JOIN items i ON i.item_no = wanted.value
JOIN texts t USING(text_no) JOIN queries q USING(query_no)
LEFT JOIN requests r USING(request_no)
{rows}
"""
# The last row of an item is its best part; of parts with equal scores that is the first part.
_PARTS = """
SELECT item_no, part FROM parts WHERE item_no IN (SELECT value FROM json_each(:items)) AND score IS NOT NULL
ORDER BY item_no, score, part DESC
"""
_FIRST_ROW = """
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
    status: outcomes.Status
    error: str
    reference: str
    batch: int
    part: int | None = None


def rank_text(context: RankedContext) -> str:
    """The rank for people: "1", "2=" in a tie, "1,000", "" without a score."""
    if context.rank is None:
        return ""
    return written_rank(context.rank, is_tied=context.tied)


class Rankings:
    """The results of a ranking job.

    Each call opens the data read-only, also while the job runs, and raises DataError; scores are kept until the data
    changes. `was_ordered` says whether a context's place in the file can be compared with its rank.
    """

    def __init__(
        self, folder: JobFolder, failed_batches: Mapping[int, str] | None = None, *, reserved: Collection[str] = ()
    ) -> None:
        self._folder = folder
        self._failed_batches = failed_batches or {}
        self._known: Ranking | None = None
        with folder.open(read_only=True) as database:
            self._original: outcomes.OriginalColumns = outcomes.columns_of_rankings(database, reserved)
            self.was_ordered = schema.metadata_value(database, "layout") in _ORDERED
        self._ids = RetrievalIds(folder)
        self._has_parts = outcomes.has_parts(folder)
        self._details = _DETAILS.format(
            cells=f"{'f.cells' if self._original.first else 'NULL'}, {'s.cells' if self._original.second else 'NULL'}",
            rows=f"{_FIRST_ROW if self._original.first else ''} {_SECOND_ROW if self._original.second else ''}",
        )

    def columns(self) -> tuple[str, ...]:
        return self._original.names

    def outcome_counts(self) -> outcomes.OutcomeCounts:
        with self._folder.open(read_only=True) as database:
            return outcomes.count_items(database, self._failed_batches)

    def queries(self) -> tuple[RankedQuery, ...]:
        """All queries in the order of the input."""
        scores = self._ranking().by_query()
        with self._folder.open(read_only=True) as database:
            return tuple(
                RankedQuery(number, identifier, text, *scores.get(number, (0, 0, None, None)))
                for number, identifier, text in database.execute(_QUERIES)
            )

    def contexts(self, query_no: int, start: int = 0, stop: int | None = None) -> tuple[RankedContext, ...]:
        """The contexts of one query by rank, ties by descending document id, those without a score last; from index
        `start` to before `stop` of this order.
        """
        ranking = self._ranking()
        wanted = range(len(ranking.items))[ranking.of_query(query_no)][start:stop]
        return self._detailed(ranking, slice(wanted.start, wanted.stop))

    def blocks(self, *, size: int = BLOCK) -> Iterator[tuple[RankedContext, ...]]:
        """All contexts, queries as in the input and by rank; the data is closed between two blocks."""
        ranking = self._ranking()
        return (self._detailed(ranking, slice(start, start + size)) for start in range(0, len(ranking.items), size))

    def blocks_in_file_order(self) -> Iterator[tuple[RankedContext, ...]]:
        """All contexts in the order of the input, at most BLOCK at a time; each with its rank in its query."""
        ranking = self._ranking()
        order = np.argsort(ranking.items, kind="stable")
        return (self._detailed(ranking, order[start : start + BLOCK]) for start in range(0, len(order), BLOCK))

    def items_of(self, queries: Collection[int]) -> frozenset[int]:
        with self._folder.open(read_only=True) as database:
            found = database.execute(_ITEMS_OF, (str(sorted(queries)),))
            return frozenset(item for (item,) in found)

    def counts(
        self, top_k: int | None = None, threshold: float | None = None, items: Collection[int] | None = None
    ) -> tuple[int, int]:
        """How many scored contexts have a rank ≤ `top_k` and a score ≥ `threshold`, None being no limit; and all. Only
        those of `items`, where they are given.

        A tie at rank `top_k` is kept as a whole.
        """
        return self._ranking().count(top_k, threshold, items)

    def _ranking(self) -> Ranking:
        """The ranking of this moment; it is read again only if the data has changed."""
        version = data_version(self._folder.data)
        if self._known is None or self._known.version != version:
            table = read_score_table(self._folder)
            with self._folder.open(read_only=True) as database:
                order = ranked_order(database, table, self._ids)
            self._known = Ranking(table, order, version)
        return self._known

    def _detailed(self, ranking: Ranking, wanted: slice | NDArray[np.int64]) -> tuple[RankedContext, ...]:
        values = {"items": str(sorted(ranking.items[wanted].tolist()))}
        with self._folder.open(read_only=True) as database:
            rows = {row[0]: row for row in database.execute(self._details, values)}
            parts = dict(database.execute(_PARTS, values)) if self._has_parts else {}
        found: list[RankedContext] = []
        for item, score, rank, tie_group in ranking.rows(wanted):
            _, query_no, query_id, query, text, text_id, label, position, row_no, first, second, *sent = rows[item]
            reference, batch, state, reason = sent
            status, why = outcomes.status_of(rank > 0, batch, state, reason, self._failed_batches)
            context = RankedContext(
                item, query_no, query_id, query,
                rank or None, tie_group > 0, tie_group, score if rank else None,
                text, text_id, label, position, position - rank if rank else None,
                row_no, self._original.cells(first, second),
                status, why, reference or "", batch or 0, parts.get(item),
            )  # fmt: skip
            found.append(context)
        return tuple(found)
