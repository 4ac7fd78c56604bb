"""The order of contexts with equal scores: by document id, descending, as trec_eval reads a run.

It is one rule for the window, for exports and for measures, so that a measure of an exported run is the one shown here.
Ids are compared as UTF-8. Contexts that have the same id in one query keep the order of the input.
"""

import json
import sqlite3

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.rankings.score_table import ScoreTable
from cfbatch_gui.core.results.retrieval_ids import RetrievalIds

_IDS = "SELECT text_no, text_id, row FROM texts WHERE text_no IN (SELECT value FROM json_each(?))"
_BLOCK = 100_000  # numbers of texts in one statement


def ranked_order(database: sqlite3.Connection, table: ScoreTable, ids: RetrievalIds) -> NDArray[np.int64]:
    """The indices that sort the table as it is ranked, of shape (pairs,).

    By query number, descending score and descending document id; pairs without a score last, by position. Ids are read
    only of pairs with equal scores. Raises sqlite3.Error.
    """
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
    for first in range(0, len(texts), _BLOCK):
        rows = database.execute(_IDS, (json.dumps(texts[first : first + _BLOCK]),))
        known.update((number, (identifier, row)) for number, identifier, row in rows)
    columns = (table.texts[pairs].tolist(), table.positions[pairs].tolist())
    return [
        ids.document(*known[text], position).encode("utf-8", "surrogatepass")
        for text, position in zip(*columns, strict=True)
    ]
