"""The ranks of scores, and the order of equal ones.

Equal scores share a rank (1, 2=, 2=, 4) and stand by falling document id, as trec_eval reads a run, else as in the
input.
"""

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.score_table import ScoreTable

_UNSAFE = re.compile(r"""[\s\x00-\x20\x7f\x85\u200b\ufeff"%]""")
# Layouts in which a row of a file is one text; in the others a row has several.
_ROW_IS_TEXT = frozenset({Layout.LONG, Layout.SHARED, Layout.CANDIDATES})


class RetrievalIds:
    """The ids of one export; it counts the ids that were encoded."""

    def __init__(self, folder: JobFolder) -> None:
        with folder.open(read_only=True) as database:
            self._row_is_text = schema.metadata_value(database, "layout") in _ROW_IS_TEXT
            self._queries_have_ids = _any(database.execute("SELECT 1 FROM queries WHERE query_id <> '' LIMIT 1"))
            self._texts_have_ids = _any(database.execute("SELECT 1 FROM texts WHERE text_id <> '' LIMIT 1"))
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
        return _UNSAFE.sub(_percent, identifier)

    def _made(self, identifier: str, is_mixed: bool) -> str:
        # An encoded id has a hexadecimal digit after each percent sign, so that this equals none of them.
        return f"%row-{identifier}" if is_mixed else identifier


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _any(rows: sqlite3.Cursor) -> bool:
    return rows.fetchone() is not None


_IDS = "SELECT text_no, text_id, row FROM texts WHERE text_no IN (SELECT value FROM json_each(?))"
_IDS_AT_ONCE = 100_000  # numbers of texts in one statement


def ranked_order(database: sqlite3.Connection, table: ScoreTable, ids: RetrievalIds) -> NDArray[np.int64]:
    """The indices (pairs,) that sort by query, falling score and id; without a score last. Raises sqlite3.Error."""
    order = _by_score(table)
    queries, scores = table.queries[order], table.scores[order]
    starts = np.ones(len(order), dtype=np.bool_)
    starts[1:] = (queries[1:] != queries[:-1]) | (scores[1:] != scores[:-1])  # NaN differs from NaN: no tie
    run = np.cumsum(starts) - 1
    tied = np.flatnonzero(np.bincount(run, minlength=1)[run] > 1) if len(order) else order
    if len(tied):
        members = order[tied]
        names = _names(database, table, members, ids)
        falling = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True), dtype=np.int64)
        order[tied] = members[falling[np.argsort(run[tied][falling], kind="stable")]]
    return order


def _by_score(table: ScoreTable) -> NDArray[np.int64]:
    """The indices that sort the table by query number, descending score (NaN last) and position."""
    queries, positions = table.queries, table.positions
    same = queries[1:] == queries[:-1]
    rises = bool((queries[1:] >= queries[:-1]).all() and (positions[1:] > positions[:-1])[same].all())
    # Mostly the rows are sorted by query and position already: then a stable sort needs no third key.
    return np.lexsort((-table.scores, queries) if rises else (positions, -table.scores, queries))


def _names(database: sqlite3.Connection, table: ScoreTable, pairs: NDArray[np.int64], ids: RetrievalIds) -> list[bytes]:
    """The document ids of these pairs as UTF-8, in their order."""
    texts = np.unique(table.texts[pairs]).tolist()
    known: dict[int, tuple[str, int]] = {}
    for first in range(0, len(texts), _IDS_AT_ONCE):
        rows = database.execute(_IDS, (json.dumps(texts[first : first + _IDS_AT_ONCE]),))
        known.update((number, (identifier, row)) for number, identifier, row in rows)
    columns = (table.texts[pairs].tolist(), table.positions[pairs].tolist())
    return [
        ids.document(*known[text], position).encode("utf-8", "surrogatepass")
        for text, position in zip(*columns, strict=True)
    ]


_BLOCK = 10_000  # queries whose values are Python numbers at a time


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


@dataclass(frozen=True, slots=True, eq=False)
class RankedItems:
    """Contexts by query number and rank, shape (n,); without a score `ranks` is 0 and `scores` NaN."""

    items: NDArray[np.int64]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int64]
    tie_groups: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.items)

    def rows(self) -> Iterator[tuple[int, float, int, int]]:
        columns = (self.items, self.scores, self.ranks, self.tie_groups)
        return zip(*(column.tolist() for column in columns), strict=True)

    def part(self, start: int, stop: int | None) -> "RankedItems":
        """The contexts from index `start` to before `stop`."""
        wanted = slice(start, stop)
        return RankedItems(self.items[wanted], self.scores[wanted], self.ranks[wanted], self.tie_groups[wanted])

    def by_item(self) -> "RankedItems":
        """The same contexts in the order of the input."""
        order = np.argsort(self.items, kind="stable")
        return RankedItems(self.items[order], self.scores[order], self.ranks[order], self.tie_groups[order])


def ranked_items(table: ScoreTable, order: NDArray[np.int64]) -> RankedItems:
    return _ranked(table.items[order], table.queries[order], table.scores[order])


# Its number, contexts, and scored ones; the best score less the second, None for fewer than two; the best or None.
QueryScores = tuple[int, int, int, float | None, float | None]


class RankedScores:
    """The scores of a table in the order of the ranking; 17 bytes each.

    `order` is that of `tie_order.ranked_order`, `version` the `data_version` from before the table was read.
    """

    def __init__(self, table: ScoreTable, order: NDArray[np.int64], version: bytes) -> None:
        self.version = version
        self._items = table.items[order]
        queries, self._scores = table.queries[order], table.scores[order]
        runs = _Runs(queries, self._scores)
        self._starts = np.flatnonzero(runs.starts_query)
        self._ranks = runs.ranks.astype(np.int32)
        self._has_score = ~np.isnan(self._scores)
        self._queries = queries[self._starts]  # those that have contexts

    def count(self, top_k: int | None, threshold: float | None) -> tuple[int, int]:
        kept = self._has_score if threshold is None else self._has_score & (self._scores >= threshold)
        if top_k is not None:
            kept = kept & (self._ranks <= top_k)
        return int(np.count_nonzero(kept)), int(np.count_nonzero(self._has_score))

    def of_query(self, query_no: int, start: int, stop: int | None) -> RankedItems:
        """The contexts of one query from index `start` to before `stop` of its ranking; empty without contexts."""
        at = int(np.searchsorted(self._queries, query_no))
        if at == len(self._queries) or self._queries[at] != query_no:
            first = last = 0
        else:
            first = int(self._starts[at])
            last = int(self._starts[at + 1]) if at + 1 < len(self._starts) else len(self._scores)
        if stop is not None:
            last = min(last, first + stop + 1)  # one more, to know whether the last one is in a tie
        scores = self._scores[first:last]
        return _ranked(self._items[first:last], np.zeros(len(scores), dtype=np.int32), scores).part(start, stop)

    def by_query(self) -> Iterator[QueryScores]:
        lengths = np.diff(self._starts, append=len(self._scores))
        for start in range(0, len(self._queries), _BLOCK):
            some = slice(start, start + _BLOCK)
            starts, length = self._starts[some], lengths[some]
            end = int(starts[-1] + length[-1])
            scored = np.add.reduceat(self._has_score[:end], starts, dtype=np.int64)
            best = np.where(scored > 0, self._scores[starts], np.nan)
            second = np.where(scored > 1, self._scores[np.minimum(starts + 1, len(self._scores) - 1)], np.nan)
            columns = (self._queries[some], length, scored, best, second)
            for query, contexts, count, first, next_one in zip(*(column.tolist() for column in columns), strict=True):
                yield query, contexts, count, first - next_one if count > 1 else None, first if count else None


def _ranked(items: NDArray[np.integer], queries: NDArray[np.integer], scores: NDArray[np.float64]) -> RankedItems:
    has_score = ~np.isnan(scores)
    runs = _Runs(queries, scores)
    tied = (runs.lengths > 1) & has_score
    return RankedItems(
        items.astype(np.int64),
        scores,
        np.where(has_score, runs.ranks, 0),
        np.where(tied, _counted_by_query(runs.starts & tied, runs.starts_query), 0),
    )


class _Runs:
    """Runs of equal scores in rows sorted by query and falling score; shape (n,)."""

    def __init__(self, queries: NDArray[np.integer], scores: NDArray[np.float64]) -> None:
        count = len(queries)
        index = np.arange(count)
        self.starts_query = np.ones(count, dtype=np.bool_)
        self.starts_query[1:] = queries[1:] != queries[:-1]
        self.starts = self.starts_query.copy()
        self.starts[1:] |= scores[1:] != scores[:-1]
        lengths = np.diff(np.flatnonzero(self.starts), append=count)
        self.lengths: NDArray[np.int64] = np.repeat(lengths, lengths)
        first_of_query = np.maximum.accumulate(np.where(self.starts_query, index, 0))
        first_of_run = np.maximum.accumulate(np.where(self.starts, index, 0))
        self.ranks: NDArray[np.int64] = first_of_run - first_of_query + 1


def _counted_by_query(marked: NDArray[np.bool_], starts: NDArray[np.bool_]) -> NDArray[np.int64]:
    counted = np.cumsum(marked)
    before = np.maximum.accumulate(np.where(starts, counted - marked, 0))
    result: NDArray[np.int64] = counted - before
    return result
