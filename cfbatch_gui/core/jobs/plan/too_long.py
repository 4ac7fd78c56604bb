"""The texts and queries of which a model reads the beginning only, one by one."""

import json
import sqlite3
from collections.abc import Iterator
from heapq import merge
from itertools import islice
from operator import attrgetter

from cfbatch_gui.core.inputs.input_values import ProblemKind
from cfbatch_gui.core.job_folder.filling import StoredProblem
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_cells import cells_sql
from cfbatch_gui.core.workers_ai.catalogue import ModelFacts
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_most


def too_long_texts(folder: JobFolder, facts: ModelFacts, *, limit: int = -1) -> Iterator[StoredProblem]:
    """Texts and queries that may be longer than the model reads and are sent, in the order of the file, with their
    row's cells; a query once, however many texts it ranks.

    Those that are left out for it are among the job's problems. Texts in parts are not too long.
    """
    with folder.open(read_only=True) as database:
        # No text has more tokens than characters, by any estimate: only long ones are looked at.
        texts = database.execute(
            f"SELECT t.file, t.row, t.text, {cells_sql()} FROM items i JOIN texts t USING(text_no)"  # noqa: S608 - constants
            " LEFT JOIN source_rows f ON f.file = t.file AND f.row = t.row"
            f" WHERE length(t.text) > ? AND {_SENT}"
            " AND (i.query_no IS NULL OR NOT EXISTS(SELECT 1 FROM parts p WHERE p.item_no = i.item_no))"
            " GROUP BY i.text_no ORDER BY t.file, t.row, i.text_no",
            (facts.max_tokens,),
        )
        queries = database.execute(
            # Of its texts the one in its own row, whose cells are wanted: min() says which row the others are from.
            f"SELECT 1, q.row, q.text, {cells_sql()}, min(t.file != 1 OR t.row != q.row) FROM queries q"  # noqa: S608 - constants
            " JOIN items i ON i.query_no = q.query_no JOIN texts t USING(text_no)"
            " LEFT JOIN source_rows f ON f.file = 1 AND f.row = q.row"
            f" WHERE length(q.text) > ? AND {_SENT}"
            " GROUP BY q.query_no ORDER BY q.row, q.query_no",
            (facts.max_tokens,),
        )
        found = merge(_problems(queries, facts, "The query: "), _problems(texts, facts), key=attrgetter("file", "row"))
        yield from islice(found, limit if limit >= 0 else None)


_SENT = "i.item_no NOT IN (SELECT item_no FROM problems WHERE item_no IS NOT NULL)"


def _problems(found: sqlite3.Cursor, facts: ModelFacts, what: str = "") -> Iterator[StoredProblem]:
    for file, row, text, cells, *_ in found:
        high = tokens_most(text)
        if high <= facts.max_tokens:
            continue
        low = tokens_lower(text)
        reads = f"tokens; the model reads {facts.max_tokens:,}."
        size = f"{low:,} to {high:,}" if low > facts.max_tokens else f"{'up' if what else 'Up'} to {high:,}"
        yield StoredProblem(
            file, row, ProblemKind.TOO_LONG, f"{what}{size} {reads}", tuple(json.loads(cells)) if cells else ()
        )
