"""One checksum a batch, by which damage on the disk is noticed before results are shown, exported or taken: crc32 over
which item had which place in which request, over its score, and over its vector. docs/decisions/data-at-rest.md.
"""

import sqlite3
import zlib
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import data_version, metadata_value, one_moment
from cfbatch_gui.core.job_folder.vector_file import rows_apart
from cfbatch_gui.core.messages import Message, message

# An item as it is read with its score, or a part of one (then `query` is the part, `text` and `position` where it
# begins and ends). -inf stands for no score, as an answer in JSON cannot hold an infinity; -1 for no batch and for no
# place in a request, whose number is negative until it is done: a state that flips is another checksum.
ITEM_SCORE = np.dtype(
    [(name, "<i4") for name in ("batch", "item", "query", "text", "position", "request", "place")] + [("score", "<f8")]
)
_PLACE = (
    "iif(state = 'done', 1, -1) * coalesce(request_no, 0), coalesce(request_position, -1),"
    # A damaged record may hold anything. What is no number is no score, nor is that of an item that was not sent.
    " iif(typeof(score) = 'real' AND request_no IS NOT NULL, score, -9e999)"
)
_ITEMS = f"""
SELECT coalesce(batch, -1), item_no, coalesce(query_no, 0), text_no, items.position, {_PLACE}
FROM items LEFT JOIN requests USING(request_no) WHERE {{}} ORDER BY item_no
"""  # noqa: S608 - constants, here and below
_PARTS = f"""
SELECT batch, item_no, part, start, stop, {_PLACE}
FROM parts JOIN requests USING(request_no) WHERE {{}} ORDER BY item_no, part
"""  # noqa: S608
_BEST_PARTS = """
WITH best AS (
    SELECT item_no, iif(count(*) = sum(typeof(score) = 'real'), max(score), -9e999) AS score FROM parts
    GROUP BY item_no HAVING count(request_no))
SELECT i.item_no, best.score FROM items i LEFT JOIN repeats r USING(item_no)
JOIN best ON best.item_no = coalesce(r.first, i.item_no) WHERE query_no IS NOT NULL
"""
_IN_BATCHES = "request_no IN (SELECT request_no FROM requests WHERE batch IN (SELECT value FROM json_each(?)))"
_AT_ONCE = 8_000_000  # bytes of vectors

Items = NDArray[np.void]
Numbers = NDArray[np.int64]
Checksums = dict[int, int]  # by batch


def read_pairs(database: sqlite3.Connection) -> Items:
    """All pairs of a ranking by number, ITEM_SCORE; one in parts has the score of its best part, once all parts have
    one. Raises DataError.
    """
    items = _read(database, _ITEMS.format("query_no IS NOT NULL"))
    if database.execute("SELECT 1 FROM parts WHERE request_no IS NOT NULL LIMIT 1").fetchone():
        best = np.fromiter(database.execute(_BEST_PARTS), np.dtype([("item", "<i8"), ("score", "<f8")]))
        items["score"][np.searchsorted(items["item"], best["item"])] = best["score"]
    return items


def _read(database: sqlite3.Connection, statement: str, values: Sequence[object] = ()) -> Items:
    try:
        return np.fromiter(database.execute(statement, values), dtype=ITEM_SCORE)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(message("job_data_is_damaged"), detail=f"items: {error}") from error


def checksums_of(
    database: sqlite3.Connection,
    vectors: NDArray[np.float32] | None = None,
    batches: Collection[int] | None = None,
    *,
    items: Items | None = None,
) -> Checksums:
    """Of the results as they are now: of these `batches`, or of all that have any; `items` are all, if they were read
    already. `vectors` are all of the job, (items, dimension), None for scores. Raises DataError.
    """
    if batches is None:
        where, values = "request_no IS NOT NULL", tuple[str, ...]()
        batches = [batch for (batch,) in database.execute("SELECT batch FROM batches")]
    else:
        where, values = _IN_BATCHES, (str(list(batches)),)
    found = dict.fromkeys(batches, 0)
    items = _read(database, _ITEMS.format(where), values) if items is None else items
    parts = _read(database, _PARTS.format(where), values)
    rows = np.concatenate((items, parts)) if len(parts) else items  # a job has up to a million: no copy without need
    # An item in parts has no place, and no score of its own.
    counts = (rows["batch"] >= 0) & (rows["place"] >= 0) & ((rows["request"] > 0) | ~np.isneginf(rows["score"]))
    rows = rows if counts.all() else rows[counts]
    if np.any(np.diff(rows["batch"]) < 0):
        rows = rows[np.argsort(rows["batch"], kind="stable")]
    starts = np.flatnonzero(np.diff(rows["batch"], prepend=-1))
    for start, stop in pairwise((*starts.tolist(), len(rows))):
        of_batch = rows[start:stop]
        found[int(of_batch["batch"][0])] = _with_vectors(zlib.crc32(of_batch.data), of_batch["item"], vectors)
    return found


def _with_vectors(checksum: int, items: NDArray[np.int32], vectors: NDArray[np.float32] | None) -> int:
    if vectors is None:
        return checksum
    at_once = max(1, _AT_ONCE // max(1, vectors.shape[1] * 4))
    for start in range(0, len(items), at_once):
        numbers = items[start : start + at_once]
        if numbers.min() < 1 or numbers.max() > len(vectors):
            return -1  # no checksum is negative
        first, last = int(numbers[0]), int(numbers[-1])
        follow = last - first + 1 == len(numbers)  # they ascend
        checksum = zlib.crc32((rows_apart(vectors, first - 1, last) if follow else vectors[numbers - 1]).data, checksum)
    return checksum


def noted_checksums(database: sqlite3.Connection) -> Checksums:
    """As they were when the results were stored."""
    return dict(database.execute("SELECT batch, results FROM batches WHERE results IS NOT NULL"))


def differing(found: Checksums, noted: Checksums) -> set[int]:
    """The batches of `found` whose results are not as they were stored; nothing is the checksum of no results."""
    return {batch for batch, checksum in found.items() if noted.get(batch, 0) != checksum}


def note_results(database: sqlite3.Connection, batch: int, vectors: NDArray[np.float32] | None = None) -> None:
    """Store the checksum of what has just been written of a batch; the caller commits."""
    database.execute(
        "INSERT INTO batches(batch, results) VALUES(?, ?) ON CONFLICT DO UPDATE SET results = excluded.results",
        (batch, checksums_of(database, vectors, (batch,))[batch]),
    )


class ResultsDamaged(DataError):
    """Results are not what was stored; the job's answers may still hold them."""


def check_stored(folder: JobFolder, batches: Collection[int]) -> None:
    """Raise ResultsDamaged where results of these batches, which are done, were never stored in this `data.db`."""
    with folder.open(read_only=True) as database:
        lacking = set(batches) - noted_checksums(database).keys()
    if lacking:
        raise ResultsDamaged(
            message("results_n_batches_are_done_are", n=len(lacking), id=folder.path.name),
            detail=f"{folder.path.name}: batches {sorted(lacking)} are not in data.db",
        )


def read_scores(database: sqlite3.Connection, path: Path) -> Items:
    """All pairs of a ranking with their scores, by number, found to be as they were stored. `path` is the job's folder.
    Raises ResultsDamaged and DataError.
    """
    with one_moment(database):
        items = read_pairs(database)
        if damaged := differing(checksums_of(database, items=items), noted_checksums(database)):
            raise results_damaged(database, path, damaged)
    return items


def items_of_batches(database: sqlite3.Connection, batches: Collection[int]) -> list[int]:
    """The numbers of the items that these batches have, whole or in parts."""
    found = database.execute(
        f"SELECT item_no FROM items WHERE {_IN_BATCHES} UNION SELECT item_no FROM parts WHERE {_IN_BATCHES}",  # noqa: S608
        (str(list(batches)),) * 2,
    )
    return [item for (item,) in found]


def results_damaged(database: sqlite3.Connection, path: Path, batches: Collection[int]) -> ResultsDamaged:
    """The user's sentence; `path` is the job's folder."""
    rows = rows_in_words(rows_of_items(database, items_of_batches(database, batches)))
    return ResultsDamaged(
        message("results_rows_are_damaged_on_disk", rows=rows, id=path.name),
        detail=f"{path.name}: batches {sorted(batches)} do not have the checksums they were stored with",
    )


class CheckedVectors:
    """Knows of which items the batches were found to be as they were stored, until the data changes."""

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._version = b""
        self._right = np.zeros(0, np.bool_)  # by number of the item

    def check(self, vectors: NDArray[np.float32], items: Numbers) -> None:
        """The batches of these items, by number; `vectors` are all of the job. Raises ResultsDamaged."""
        version = data_version(self._folder.data) + data_version(self._folder.vectors)
        if version != self._version:
            self._version, self._right = version, np.zeros(len(vectors) + 1, np.bool_)
        items = items[~self._right[items]]
        if not len(items):
            return
        with self._folder.open(read_only=True) as database, one_moment(database):
            batches = batches_of_items(database, items)
            if damaged := differing(checksums_of(database, vectors, batches), noted_checksums(database)):
                raise results_damaged(database, self._folder.path, damaged)
            self._right[items] = True
            self._right[items_of_batches(database, batches)] = True


def batches_of_items(database: sqlite3.Connection, items: Numbers) -> set[int]:
    """Those that the items belong to, as a whole."""
    joined = "items JOIN requests USING(request_no) JOIN json_each(?) ON item_no = value"
    return {batch for (batch,) in database.execute(f"SELECT DISTINCT batch FROM {joined}", (str(items.tolist()),))}  # noqa: S608


# With shared contexts a row of the first file is a query; the contexts stand in the second.
_ROWS = """
SELECT DISTINCT {row} FROM json_each(?) wanted JOIN items i ON i.item_no = wanted.value
JOIN texts t USING(text_no) LEFT JOIN queries q USING(query_no) ORDER BY 1
"""


def rows_of_items(database: sqlite3.Connection, items: Iterable[int]) -> list[int]:
    """The rows of the user's file that these items are from, ascending."""
    column = "q.row" if metadata_value(database, "layout") == Layout.SHARED else "t.row"
    found = database.execute(_ROWS.format(row=column), (str(list(items)),))
    return [row for (row,) in found if row is not None]


def rows_in_words(rows: list[int]) -> Message:
    """ "row 3", "rows 3 to 7", "5 rows, from row 3 to row 12"; `rows` ascend."""
    if not rows:
        return message("some_rows")
    follow = rows[-1] - rows[0] + 1 == len(rows)
    return message("rows_that_follow" if follow else "rows_apart", n=len(rows), first=rows[0], last=rows[-1])
