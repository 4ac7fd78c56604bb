"""Checksums by which damage on the disk is noticed: one for each vector, one for the scores of each query (a sum over
its items), gzip's CRC-32 for answers. Numbers: dot products of 64-bit words with odd constants modulo 2 ** 64, of
the words and of the words shifted by half; docs/decisions/data-at-rest.md says why.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.messages import Message, enumerated, message

Sums = NDArray[np.uint64]

BLOCK = 1024  # checksums that are stored together
UNKNOWN = 0  # stands for a checksum that is not known; none is 0

# An item as it is read with its score; -inf stands for no score, as an answer in JSON cannot hold an infinity.
ITEM_SCORE = np.dtype([("item", "<i4"), ("query", "<i4"), ("text", "<i4"), ("position", "<i4"), ("score", "<f8")])
_SELECT_SCORES = "SELECT item_no, query_no, text_no, position, {} FROM items WHERE {}"
_SCORE = "coalesce(score, -9e999)"
_SCORE_OR_DAMAGE = "iif(typeof(score) = 'real', score, -9e999)"  # slower

_WORD, _HALF = np.dtype("<u8"), np.dtype("<u4")
_TRAILER = 8  # bytes at the end of a gzip file: CRC-32 and size of what it holds
_GOLDEN = 0x9E3779B97F4A7C15


class Summed(StrEnum):
    """What a checksum is of, and what its number counts."""

    VECTORS = "vectors"  # item number
    SCORES = "scores"  # query number


def vector_checksums(vectors: NDArray[np.float32]) -> Sums:
    """The checksum of each row's bytes, of shape (n,), never UNKNOWN. `vectors` has shape (n, d)."""
    rows = np.ascontiguousarray(vectors, dtype="<f4")
    if rows.shape[1] % 2:
        rows = np.pad(rows, ((0, 0), (0, 1)))
    found = _dot_products(rows.view(_HALF))
    found[found == UNKNOWN] = 1
    return found


def score_checksums(items: NDArray[np.void], first: int, last: int) -> Sums:
    """The sum over the scored `items` (ITEM_SCORE) of each query from `first` to `last`: number, text, position and
    score bit for bit.
    """
    scored = items[~np.isneginf(items["score"])]
    each = _mixed(_dot_products(np.ascontiguousarray(scored).view(_HALF).reshape(-1, ITEM_SCORE.itemsize // 4)))
    queries = scored["query"]
    sums = np.zeros(max(0, last - first + 1), np.uint64)
    if not len(scored):
        return sums
    if np.any(queries[1:] < queries[:-1]):
        order = np.argsort(queries, kind="stable")
        each, queries = each[order], queries[order]
    starts = np.flatnonzero(np.concatenate(([True], queries[1:] != queries[:-1])))
    found, totals = queries[starts], np.add.reduceat(each, starts)
    inside = (found >= first) & (found <= last)  # a damaged number may be any
    sums[found[inside] - first] = totals[inside]
    return sums


def read_items(database: sqlite3.Connection, where: str, values: Sequence[object] = ()) -> NDArray[np.void]:
    """The items and scores of a ranking, ITEM_SCORE, in the order of `where`, a constant. Raises DataError."""
    try:
        return _read_items(database, _SCORE, where, values)
    except (TypeError, ValueError):
        # A damaged record may hold anything. What is no number is no score, and the sum of its query shows it.
        try:
            return _read_items(database, _SCORE_OR_DAMAGE, where, values)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(message("This job's data is damaged."), detail=f"items: {error}") from error
    except OverflowError as error:
        raise DataError(message("This job's data is damaged."), detail=f"items: {error}") from error


def _read_items(database: sqlite3.Connection, score: str, where: str, values: Sequence[object]) -> NDArray[np.void]:
    return np.fromiter(database.execute(_SELECT_SCORES.format(score, where), values), dtype=ITEM_SCORE)


def read_sums(database: sqlite3.Connection, kind: Summed, first: int, last: int) -> Sums:
    """The stored checksums of the numbers `first` to `last`, of shape (last - first + 1,); UNKNOWN where there is
    none.
    """
    sums = np.zeros(max(0, last - first + 1), np.uint64)
    found = database.execute(
        "SELECT block, sums FROM checksums WHERE kind = ? AND block BETWEEN ? AND ?",
        (kind, (first - 1) // BLOCK, (last - 1) // BLOCK),
    )
    for block, stored in found:
        start = block * BLOCK + 1 - first
        values = np.frombuffer(stored[: len(stored) // 8 * 8], _WORD)[:BLOCK]
        values = values[max(0, -start) : max(0, len(sums) - start)]
        sums[max(0, start) : max(0, start) + len(values)] = values
    return sums


def write_sums(database: sqlite3.Connection, kind: Summed, numbers: NDArray[np.integer], sums: Sums) -> None:
    """Store checksums in place of those that are there; the caller commits. `numbers` count from 1, in any order."""
    if not len(numbers):
        return
    blocks = (numbers - 1) // BLOCK
    for block in np.unique(blocks).tolist():
        chosen = blocks == block
        held = read_sums(database, kind, block * BLOCK + 1, (block + 1) * BLOCK)
        held[numbers[chosen] - 1 - block * BLOCK] = sums[chosen]
        database.execute(
            "INSERT OR REPLACE INTO checksums VALUES(?, ?, ?)", (kind, block, held.astype(_WORD).tobytes())
        )


def write_all_sums(database: sqlite3.Connection, kind: Summed, sums: Sums) -> None:
    """Store all checksums of a kind, index = number - 1; the caller commits."""
    database.execute("DELETE FROM checksums WHERE kind = ?", (kind,))
    write_sums(database, kind, np.arange(1, len(sums) + 1), sums)


def forget_checksums(database: sqlite3.Connection) -> None:
    """When results are removed; the caller commits."""
    database.execute("DELETE FROM checksums")
    database.execute("DELETE FROM replies")


def trailer_of(path: Path) -> tuple[int, int] | None:
    """Size and CRC-32 of what a gzip file says that it holds; None when it cannot be read."""
    try:
        with path.open("rb") as stream:
            stream.seek(-_TRAILER, 2)
            end = stream.read(_TRAILER)
    except (OSError, ValueError):
        return None
    return int.from_bytes(end[4:], "little"), int.from_bytes(end[:4], "little")


def note_reply(database: sqlite3.Connection, batch: int, trailer: tuple[int, int]) -> None:
    """Store which answer the results of a batch are from; the caller commits."""
    database.execute("INSERT OR REPLACE INTO replies VALUES(?, ?, ?)", (batch, *trailer))


def noted_reply(database: sqlite3.Connection, batch: int) -> tuple[int, int] | None:
    """Size and CRC-32 of the answer that the results of a batch are from; None when that was not noted."""
    found: tuple[int, int] | None = database.execute(
        "SELECT size, checksum FROM replies WHERE batch = ?", (batch,)
    ).fetchone()
    return found


def _dot_products(halves: NDArray[np.uint32]) -> Sums:
    words = halves.shape[1] // 2
    found: Sums = np.einsum("ij,j->i", halves.view(_WORD), _odd(0, words))
    if words > 1:
        found += np.einsum("ij,j->i", _shifted(halves), _odd(words, words - 1))
    return found


def _shifted(halves: NDArray[np.uint32]) -> Sums:
    """The 64-bit words that begin in the middle of each word and end in the middle of the next."""
    shape = (halves.shape[0], halves.shape[1] // 2 - 1)
    return (
        np.ndarray(shape, _WORD, halves.data, offset=4, strides=(halves.strides[0], 8))
        if shape[0]
        else np.empty(shape, _WORD)
    )


@lru_cache(maxsize=16)
def _odd(first: int, count: int) -> Sums:
    """Odd constants that look random: a part of one endless sequence."""
    return _mixed(np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)) | np.uint64(1)


def _mixed(values: Sums) -> Sums:
    """Every bit of a value spread over all 64 (the end of SplitMix64, by Vigna, in the public domain)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Sums = values ^ (values >> np.uint64(31))
    return mixed


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
