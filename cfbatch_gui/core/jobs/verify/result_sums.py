"""The checksums of a whole job held against its results, and written anew from them."""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import (
    UNKNOWN,
    Summed,
    Sums,
    read_items,
    read_sums,
    score_checksums,
    vector_checksums,
    write_all_sums,
)
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.vector_file import read_layout, stored_vectors
from cfbatch_gui.core.messages import message

_LOST = message("The results were damaged on the disk, and so was the answer.")
_AT_ONCE = 512  # vectors
_SENT = np.dtype([("item", "<i8"), ("batch", "<i8"), ("is_done", "?")])


@dataclass(frozen=True, slots=True)
class Judged:
    """`damaged` has the numbers of items whose result is not as it was stored, or not there, by batch; only of batches
    whose answer proves nothing.
    """

    damaged: Mapping[int, list[int]]
    are_sums_wrong: bool


class ResultSums:
    """The stored checksums are those of the moment when the object is made; results are read when they are needed."""

    def __init__(self, database: sqlite3.Connection, folder: JobFolder, kind: Kind, done: Collection[int]) -> None:
        """`done` are the numbers of batches whose results are there, NOT_SENT for what earlier jobs had."""
        self._database, self._folder, self._kind = database, folder, kind
        self._done = np.array(list(done), dtype=np.int64)
        self._summed = Summed.SCORES if kind is Kind.RANK else Summed.VECTORS
        table, column = ("queries", "query_no") if kind is Kind.RANK else ("items", "item_no")
        (self._count,) = database.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()  # noqa: S608
        self._stored = read_sums(database, self._summed, 1, self._count)

    def judge(self, unproven: Collection[int], right_scores: Mapping[int, float], wrong: Collection[int]) -> Judged:
        """`unproven` are batches whose answer proves nothing; of the others all results are right but `wrong` ones, of
        which `right_scores` has some scores.
        """
        sent = self._sent()
        sent = sent[np.isin(sent["batch"], self._done)]
        is_unproven = np.isin(sent["batch"], list(unproven))
        is_damaged = is_unproven & self._without_result(sent)
        are_sums_wrong = False
        if self._kind is Kind.RANK:
            differ = self._queries_that_differ(right_scores, wrong)
            in_doubt = np.isin(sent["item"], differ.items)
            is_damaged |= is_unproven & sent["is_done"] & in_doubt
            are_sums_wrong = len(differ.queries) > len(differ.queries_of(sent["item"][is_unproven]))
        else:
            found, stored = self._vector_sums(sent), self._stored[sent["item"] - 1]
            is_damaged |= is_unproven & sent["is_done"] & (stored != UNKNOWN) & (found != stored)
            is_proven = ~is_unproven & sent["is_done"] & ~np.isin(sent["item"], list(wrong))
            are_sums_wrong = bool(np.any(is_proven & (found != stored)))
        damaged: dict[int, list[int]] = {}
        for item, batch in zip(sent["item"][is_damaged].tolist(), sent["batch"][is_damaged].tolist(), strict=True):
            damaged.setdefault(batch, []).append(item)
        return Judged(damaged, are_sums_wrong)

    def are_as_stored(self, items: list[int]) -> bool:
        """Whether these items have the vectors that were stored for them. Of scores that cannot be told one by one."""
        if self._kind is Kind.RANK or not items:
            return False
        numbers = np.array(items, dtype=np.int64)
        sent = np.zeros(len(numbers), _SENT)
        sent["item"] = numbers
        stored = self._stored[numbers - 1]
        return bool(np.all(stored != UNKNOWN) and np.all(self._vector_sums(sent) == stored))

    def write(self) -> None:
        """Write the checksums of the results as they are now; the caller commits."""
        if self._kind is Kind.RANK:
            sums = score_checksums(read_items(self._database, "query_no IS NOT NULL"), 1, self._count)
        else:
            sums = np.zeros(self._count, np.uint64)
            sent = self._sent()
            sent = sent[sent["is_done"]]
            sums[sent["item"] - 1] = self._vector_sums(sent)
        if not np.array_equal(sums, read_sums(self._database, self._summed, 1, self._count)):
            write_all_sums(self._database, self._summed, sums)

    def _sent(self) -> NDArray[np.void]:
        rows = self._database.execute(
            "SELECT item_no, batch, state = 'done' FROM items JOIN requests USING(request_no)"
        )
        return np.fromiter(rows, dtype=_SENT)

    def _without_result(self, sent: NDArray[np.void]) -> NDArray[np.bool_]:
        """Items of requests that still wait, by the data, although their batch is done."""
        waiting = self._database.execute(
            "SELECT item_no FROM items JOIN requests USING(request_no) WHERE state NOT IN ('done', 'failed')"
        )
        found: NDArray[np.bool_] = np.isin(sent["item"], [item for (item,) in waiting])
        return found

    def _queries_that_differ(self, right_scores: Mapping[int, float], wrong: Collection[int]) -> "_Queries":
        items = read_items(self._database, "query_no IS NOT NULL ORDER BY item_no")
        if right_scores:
            numbers = np.array(sorted(right_scores), dtype=np.int64)
            places = np.flatnonzero(np.isin(items["item"], numbers))
            items["score"][places] = [right_scores[item] for item in items["item"][places].tolist()]
        differ = np.flatnonzero(score_checksums(items, 1, self._count) != self._stored) + 1
        not_known = items["query"][np.isin(items["item"], [item for item in wrong if item not in right_scores])]
        return _Queries(np.setdiff1d(differ, not_known), items)

    def _vector_sums(self, sent: NDArray[np.void]) -> Sums:
        """Of the vectors in the file; UNKNOWN for all when it cannot be read."""
        sums = np.full(len(sent), UNKNOWN, np.uint64)
        try:
            layout = read_layout(self._folder.vectors)
        except DataError:
            return sums
        if not len(sent) or int(sent["item"].max()) > layout.rows:
            return sums
        for rows in _blocks(len(sent)):
            vectors = stored_vectors(self._folder.vectors, layout)
            sums[rows] = vector_checksums(vectors[sent["item"][rows] - 1])
        return sums


@dataclass(frozen=True, eq=False)
class _Queries:
    queries: NDArray[np.int64]
    _items: NDArray[np.void]

    @property
    def items(self) -> NDArray[np.int32]:
        """The numbers of their items."""
        found: NDArray[np.int32] = self._items["item"][np.isin(self._items["query"], self.queries)]
        return found

    def queries_of(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of them that one of `items` belongs to."""
        theirs = self._items["query"][np.isin(self._items["item"], items)]
        return np.intersect1d(self.queries, theirs)


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, count, _AT_ONCE))


def items_of_batch(database: sqlite3.Connection, batch: int) -> NDArray[np.int64]:
    """The numbers of the items that a batch has the results of."""
    found = database.execute("SELECT item_no FROM items JOIN requests USING(request_no) WHERE batch = ?", (batch,))
    return np.fromiter((item for (item,) in found), dtype=np.int64)


def forget_results(database: sqlite3.Connection, items: Collection[int], *, is_failed: bool) -> int:
    """Take out the results of the requests that these items belong to, which then wait or have failed; returns how many
    requests. The caller commits.
    """
    found = database.execute(
        "SELECT DISTINCT request_no FROM items WHERE item_no IN (SELECT value FROM json_each(?))", (str(list(items)),)
    )
    requests = [(request,) for (request,) in found]
    state, error = ("failed", _LOST) if is_failed else ("waiting", "")
    database.executemany(
        "UPDATE requests SET state = ?, error = ? WHERE request_no = ?", [(state, error, *each) for each in requests]
    )
    database.executemany(
        "UPDATE items SET score = NULL WHERE request_no = ?1 OR item_no IN"
        " (SELECT item_no FROM parts WHERE request_no = ?1)",
        requests,
    )
    database.executemany("UPDATE parts SET score = NULL WHERE request_no = ?", requests)
    return len(requests)
