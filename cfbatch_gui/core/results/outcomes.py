"""The outcome of each item of a job: done, failed, waiting, left out or skipped; their counts and the reasons."""

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from cfbatch_gui.core.inputs.input_values import ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import LEFT_OUT

_REQUESTS = """
SELECT request_no, state, error, reference, batch FROM requests
WHERE request_no IN (SELECT value FROM json_each(:requests))
"""


class Status(StrEnum):
    """The outcome of an item; the values are those written to files."""

    DONE = "done"
    FAILED = "failed"  # its request failed
    WAITING = "waiting"  # not sent yet, or no answer yet
    LEFT_OUT = "left out"  # planning did not put it into a request; the reason is in `problems`
    SKIPPED = "skipped"  # a row of the file that gave no item


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """The number of items by status; `skipped` is the number of problems with rows that gave no item.

    `doubtful_sent` is the number of rows that were sent although they may have been misread.
    """

    done: int
    failed: int
    waiting: int
    left_out: int
    skipped: int
    doubtful_sent: int = 0

    @property
    def items(self) -> int:
        """The number of items: texts, or pairs of a query and a context."""
        return self.done + self.failed + self.waiting + self.left_out

    @property
    def is_complete(self) -> bool:
        """Whether every item has a result."""
        return self.done == self.items


class Sent(msgspec.Struct, frozen=True, gc=False):
    """The stored state of one request; every field is None for an item that is in no request."""

    request: int | None
    state: str | None
    error: str | None
    reference: str | None
    batch: int | None


NOT_SENT = Sent(None, None, None, None, None)


def sent_of(database: sqlite3.Connection, requests: Collection[int | None]) -> dict[int | None, Sent]:
    """The stored states of requests by their number; the key None maps to NOT_SENT."""
    found = database.execute(_REQUESTS, {"requests": str([number for number in requests if number is not None])})
    sent: dict[int | None, Sent] = {None: NOT_SENT}
    for number, state, error, reference, batch in found:
        sent[number] = Sent(number, state, error, reference, batch)
    return sent


def status_of(is_done: bool, sent: Sent, left_out: str | None, failed_batches: Mapping[int, str]) -> tuple[Status, str]:
    """The status of one item and the reason why it has no result, "" if it has one or may still get one.

    `is_done`: its result is stored. `left_out`: why planning did not put it into a request, None if it did.
    `failed_batches`: see `JobMetadata`.
    """
    if is_done:
        return Status.DONE, ""
    if sent.request is None or sent.batch is None:
        return (Status.LEFT_OUT, left_out) if left_out is not None else (Status.WAITING, "")
    if sent.state == "failed":
        return Status.FAILED, sent.error or ""
    if sent.batch in failed_batches:
        return Status.FAILED, failed_batches[sent.batch]
    return Status.WAITING, ""


def count_items(database: sqlite3.Connection, failed_batches: Mapping[int, str]) -> OutcomeCounts:
    """Count all items of a job by the status that `status_of` gives them."""
    counts = dict.fromkeys(Status, 0)
    for state, batch, count in database.execute(
        "SELECT state, batch, sum(texts) FROM requests"
        " JOIN (SELECT request_no, count(*) AS texts FROM items WHERE request_no IS NOT NULL GROUP BY request_no)"
        " USING(request_no) GROUP BY state, batch"
    ):
        status, _ = status_of(state == "done", Sent(1, state, "", "", batch), None, failed_batches)
        counts[status] += count
    (unsent,) = database.execute("SELECT count(*) FROM items WHERE request_no IS NULL").fetchone()
    (left_out,) = database.execute(
        "SELECT count(DISTINCT item_no) FROM problems JOIN items USING(item_no) WHERE request_no IS NULL"
    ).fetchone()
    (skipped,) = database.execute(f"SELECT count(*) FROM problems WHERE item_no IS NULL AND {LEFT_OUT}").fetchone()  # noqa: S608 - a constant
    (doubtful_sent,) = database.execute(
        "SELECT count(*) FROM problems WHERE kind = ?", (ProblemKind.DOUBTFUL_SENT,)
    ).fetchone()
    return OutcomeCounts(
        done=counts[Status.DONE],
        failed=counts[Status.FAILED],
        waiting=counts[Status.WAITING] + unsent - left_out,
        left_out=left_out,
        skipped=skipped,
        doubtful_sent=doubtful_sent,
    )


def has_parts(folder: JobFolder) -> bool:
    """Whether any text of the job was split. A split context has the score of its best part. Raises DataError."""
    with folder.open(read_only=True) as database:
        return database.execute("SELECT 1 FROM parts LIMIT 1").fetchone() is not None
