"""What is stored of a job's results, held against its raw answers, bit for bit, and against its checksums."""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError, ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import (
    UNKNOWN,
    Summed,
    Sums,
    noted_reply,
    read_items,
    read_sums,
    score_checksums,
    trailer_of,
    vector_checksums,
    write_all_sums,
)
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.vector_file import read_layout, stored_vectors
from cfbatch_gui.core.jobs.run.attaching import by_id_alone
from cfbatch_gui.core.jobs.run.collecting import items_of_request, sent_requests
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import Embedded, Finished, Refused, Scored, match, read_answer, read_run

_POSITIONS = "SELECT position FROM requests WHERE batch = ? ORDER BY position"
_STORED = "SELECT item_no, request_position, score FROM {} WHERE request_no = ? AND request_position >= 0"


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A batch's answer in the folder; `finished` None when there is none to go by. `is_noted`: by its checksum the
    results are from it, None when never noted. `is_named`: each element names its request. `is_foreign`: it is
    another batch's.
    """

    finished: Finished | None
    problem: str = ""
    is_noted: bool | None = None
    is_named: bool = False
    is_foreign: bool = False


def kept_answer(database: sqlite3.Connection, folder: JobFolder, job: Job, batch: Batch) -> KeptAnswer:
    path = folder.reply(batch.number)
    noted, trailer = noted_reply(database, batch.number), trailer_of(path)
    try:
        raw = folder.read_reply(batch.number)
    except FileNotFoundError:
        return KeptAnswer(None, message("is missing"))
    except (OSError, EOFError):
        return KeptAnswer(None, message("is damaged"))
    is_noted = None if noted is None else noted == trailer
    try:
        finished = read_run(raw) if batch.at_once else read_answer(raw)
        if not isinstance(finished, Finished):
            return KeptAnswer(None, message("is not that of a finished batch"), is_noted)
        if not batch.at_once and finished.request_id not in ("", batch.request_id):
            return KeptAnswer(None, message("is that of another batch"), is_noted)
        is_named = all(element.external_reference for element in finished.elements)
        finished = by_id_alone(finished) if job.attached else _without_moved(database, batch, finished)
    except ReplyError:
        return KeptAnswer(None, message("cannot be read"), is_noted)
    is_foreign = noted is not None and trailer is not None and _is_foreign(database, noted, trailer)
    return KeptAnswer(finished, "", is_noted, is_named and not job.attached, is_foreign)


def _is_foreign(database: sqlite3.Connection, noted: tuple[int, int], found: tuple[int, int]) -> bool:
    """A noted answer differs in size and checksum from another; of a damaged note one of the two is still right."""
    if noted[0] != found[0] and noted[1] != found[1]:
        return True
    (elsewhere,) = database.execute("SELECT count(*) FROM replies WHERE size = ? AND checksum = ?", found).fetchone()
    return noted != found and elsewhere > 0


def _without_moved(database: sqlite3.Connection, batch: Batch, finished: Finished) -> Finished:
    """Without the elements of requests that failed in this batch and were put into another since."""
    positions = [position for (position,) in database.execute(_POSITIONS, (batch.number,))]
    if len(positions) == batch.requests or len(positions) == len(finished.elements):
        return finished
    index_of = {position: index for index, position in enumerate(positions)}
    kept = (element for element in finished.elements if element.id is None or element.id in index_of)
    renumbered = (
        element if element.id is None else msgspec.structs.replace(element, id=index_of[element.id]) for element in kept
    )
    return Finished(tuple(renumbered), finished.usage)


@dataclass
class Compared:
    """What is stored otherwise than it was answered; `right_scores` are those of wrong items. `agreeing` counts equal
    scores or vectors, which those of another batch would not be.
    """

    agreeing: int = 0
    wrong: list[int] = field(default_factory=list)  # item numbers
    right_scores: dict[int, float] = field(default_factory=dict)
    wrong_requests: int = 0


def compare(
    database: sqlite3.Connection,
    kind: Kind,
    batch: int,
    finished: Finished,
    *,
    vectors: NDArray[np.float32] | None,
    dimension: int | None,
) -> Compared:
    """Hold an answer against what is stored; without `vectors`, of vectors only their requests. Raises ReplyError when
    it does not fit what was sent.
    """
    numbers, expected = sent_requests(database, kind, batch)
    found = Compared()
    for matched in match(finished, expected, dimension=dimension):
        request_no = numbers[matched.index]
        wanted = ("failed", matched.error) if isinstance(matched, Refused) else ("done", "")
        (state,) = database.execute("SELECT state, error FROM requests WHERE request_no = ?", (request_no,)).fetchall()
        found.wrong_requests += state != wanted
        match matched:
            case Scored():
                _compare_scores(database, request_no, matched.scores, found, is_state_right=state == wanted)
            case Embedded():
                items, positions = items_of_request(database, request_no)
                is_wrong = np.zeros(len(items), np.bool_)
                if vectors is not None:
                    stored, right = vectors[items - 1], matched.vectors[positions]
                    is_wrong = (stored.view(np.uint32) != right.view(np.uint32)).any(axis=1)
                    found.agreeing += int(np.count_nonzero(~is_wrong))
                found.wrong += items[is_wrong | (state != wanted)].tolist()
            case Refused():
                which = "request_no = ? AND (score IS NOT NULL OR ?)"
                refused = database.execute(f"SELECT item_no FROM items WHERE {which}", (request_no, state != wanted))  # noqa: S608
                found.wrong += [item for (item,) in refused]
                parts = "SELECT DISTINCT item_no FROM parts WHERE request_no = ? AND score IS NOT NULL"
                found.wrong += [item for (item,) in database.execute(parts, (request_no,))]
    return found


def _compare_scores(
    database: sqlite3.Connection, request_no: int, scores: NDArray[np.float64], found: Compared, *, is_state_right: bool
) -> None:
    right = scores.tolist()
    for item_no, position, score in database.execute(_STORED.format("items"), (request_no,)):
        is_same = _is_same(score, right[position])
        found.agreeing += is_same
        if not (is_state_right and is_same):
            found.wrong.append(item_no)
            found.right_scores[item_no] = right[position]
    for item_no, position, score in database.execute(_STORED.format("parts"), (request_no,)):
        if not _is_same(score, right[position]):
            found.wrong.append(item_no)


def _is_same(stored: object, right: float) -> bool:
    return isinstance(stored, float) and stored == right


def wrong_by_their_parts(database: sqlite3.Connection) -> list[int]:
    """The items in parts whose score is not that of the best part, or that have one too early."""
    found = database.execute(
        "SELECT i.item_no FROM items i LEFT JOIN repeats r USING(item_no) JOIN (SELECT item_no,"
        " CASE WHEN count(score) = count(*) THEN max(score) END AS best FROM parts"
        " WHERE request_no IS NOT NULL GROUP BY item_no) p"
        " ON p.item_no = coalesce(r.first, i.item_no) WHERE i.score IS NOT p.best"
    )
    return [item_no for (item_no,) in found]


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
        found: NDArray[np.int32] = self._items["item"][np.isin(self._items["query"], self.queries)]
        return found

    def queries_of(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        theirs = self._items["query"][np.isin(self._items["item"], items)]
        return np.intersect1d(self.queries, theirs)


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, count, _AT_ONCE))


def items_of_batch(database: sqlite3.Connection, batch: int) -> NDArray[np.int64]:
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
