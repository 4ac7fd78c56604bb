"""Results held against their checksums when they are read, and damaged ones named by the user's own rows."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder.checksums import Summed, read_sums, score_checksums
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.messages import Message, enumerated, message

_MOST_NAMED = 8  # ranges of rows in a sentence
# With shared contexts a row of the first file is a query; the contexts stand in the second.
_ROWS = """
SELECT DISTINCT {row} FROM json_each(?) wanted JOIN items i ON i.item_no = wanted.value
JOIN texts t USING(text_no) LEFT JOIN queries q USING(query_no) ORDER BY 1
"""


_DAMAGED = {
    "scores": message(
        "The scores of {rows} are damaged on the disk, so they are not shown. “cfbatch verify {id} --mend” puts right"
        " what the answers that are kept still hold."
    ),
    "vectors": message(
        "The vectors of {rows} are damaged on the disk, so they are not shown. “cfbatch verify {id} --mend” puts right"
        " what the answers that are kept still hold."
    ),
}
_SOME_DAMAGED = {
    "scores": message(
        "Some of the scores are damaged on the disk, so they are not shown. “cfbatch verify {id} --mend” puts right"
        " what the answers that are kept still hold."
    ),
    "vectors": message(
        "Some of the vectors are damaged on the disk, so they are not shown. “cfbatch verify {id} --mend” puts right"
        " what the answers that are kept still hold."
    ),
}


class ResultsDamaged(DataError):
    """Results are not what was stored; the job's answers may still hold them."""


@contextmanager
def one_moment(database: sqlite3.Connection) -> Iterator[None]:
    """All that is read within the block is of one moment; a running job waits that long to store an answer."""
    database.execute("BEGIN")
    try:
        yield
    finally:
        if database.in_transaction:
            database.execute("COMMIT")


def check_scores(database: sqlite3.Connection, path: Path, items: NDArray[np.void], first: int, last: int) -> None:
    """`items` are all those of the queries numbered `first` to `last`, read in the same moment; ITEM_SCORE.

    `path` is the job's folder. Raises ResultsDamaged.
    """
    stored = read_sums(database, Summed.SCORES, first, last)
    wrong = np.flatnonzero(score_checksums(items, first, last) != stored) + first
    if len(wrong):
        damaged = items["item"][np.isin(items["query"], wrong)]
        raise results_damaged("scores", database, path, damaged.tolist())


def results_damaged(
    what: Literal["scores", "vectors"], database: sqlite3.Connection, path: Path, items: Iterable[int]
) -> ResultsDamaged:
    """The user's sentence; `path` is the job's folder."""
    rows = rows_in_words(rows_of_items(database, items))
    return ResultsDamaged(
        (_DAMAGED if rows else _SOME_DAMAGED)[what].filled(rows=rows, id=path.name),
        detail=f"{path.name}: {what} do not have the checksums they were stored with",
    )


def rows_of_items(database: sqlite3.Connection, items: Iterable[int]) -> list[int]:
    """The rows of the user's file that these items are from, ascending."""
    column = "q.row" if metadata_value(database, "layout") == Layout.SHARED else "t.row"
    found = database.execute(_ROWS.format(row=column), (str(list(items)),))
    return [row for (row,) in found if row is not None]


@dataclass(frozen=True, slots=True)
class RowWords:
    """How rows are named: one, several, and the first of many."""

    one: Message
    several: Message
    many: Message


ROWS = RowWords(message("row {rows}"), message("rows {rows}"), message("{n:,} rows, the first {rows}"))
ROWS_AT_START = RowWords(message("Row {rows}"), message("Rows {rows}"), ROWS.many)
TEXTS = RowWords(message("text {rows}"), message("texts {rows}"), message("{n:,} texts, the first {rows}"))
TEXTS_AT_START = RowWords(message("Text {rows}"), message("Texts {rows}"), TEXTS.many)


def rows_in_words(rows: list[int], words: RowWords = ROWS, *, most: int = _MOST_NAMED) -> str:
    """ "row 3", "rows 3 to 7 and 12"; "" for none. Of more than `most` ranges only the first is named."""
    if not rows:
        return ""
    starts = [rows[0], *(after for before, after in pairwise(rows) if after != before + 1)]
    stops = [*(before for before, after in pairwise(rows) if after != before + 1), rows[-1]]
    ranges = [
        message("{row:,}", row=start) if start == stop else message("{first:,} to {last:,}", first=start, last=stop)
        for start, stop in zip(starts, stops, strict=True)
    ]
    if len(ranges) > most:
        return words.many.filled(n=len(rows), rows=ranges[0])
    return (words.one if len(rows) == 1 else words.several).filled(rows=enumerated(ranges))
