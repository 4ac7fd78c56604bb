"""The raw answers of a job held against its results: what was stored of each batch, bit for bit."""

import sqlite3
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import noted_reply, trailer_of
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.run.attaching import by_id_alone
from cfbatch_gui.core.jobs.run.collecting import items_of_request, sent_requests
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import Embedded, Finished, Refused, Scored, match, read_answer, read_run

_POSITIONS = "SELECT position FROM requests WHERE batch = ? ORDER BY position"
_STORED = "SELECT item_no, request_position, score FROM {} WHERE request_no = ? AND request_position >= 0"


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A batch's answer as it is in the folder; `finished` is None when there is none to go by.

    `problem` says what is wrong with it, "" when nothing is. `is_noted` tells whether it is known by its checksum to be
    the one that the results are from: False when it is another one, None when that was never noted. `is_named` is
    whether each of its elements names its request. `is_foreign` is whether it is rather that of another batch.
    """

    finished: Finished | None
    problem: str = ""
    is_noted: bool | None = None
    is_named: bool = False
    is_foreign: bool = False


def kept_answer(database: sqlite3.Connection, folder: JobFolder, job: Job, batch: Batch) -> KeptAnswer:
    """Read the answer of a batch that is done."""
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
    """What of a batch is stored otherwise than it was answered.

    `right_scores` has the scores of wrong items by the answer; a score of an item in parts is not among them.
    `agreeing` counts the scores or vectors that are the same, which those of another batch would not be.
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
    """SQLite holds no NaN, and no negative zero in a column of numbers."""
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
