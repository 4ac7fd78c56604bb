"""What became of the items of a job: how many have a result, why the others have none, which were sent in parts."""

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from cfbatch_gui.core.job_folder.folder import JobFolder

_REQUESTS = """
SELECT request_no, state, error, reference, batch FROM requests
WHERE request_no IN (SELECT value FROM json_each(:requests))
"""


class Status(StrEnum):
    """What became of an item, in the words that files carry."""

    DONE = "done"
    FAILED = "failed"  # the service could not do its request
    WAITING = "waiting"  # not back yet, or not sent yet
    LEFT_OUT = "left out"  # of what is sent, by planning; the reason is in `problems`
    SKIPPED = "skipped"  # a row of the file that never became an item


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """Counts of items by status; `skipped` counts the problems of rows that gave no item."""

    done: int
    failed: int
    waiting: int
    left_out: int
    skipped: int

    @property
    def items(self) -> int:
        """Texts, or pairs of a query and a context."""
        return self.done + self.failed + self.waiting + self.left_out

    @property
    def is_complete(self) -> bool:
        """Every item came back."""
        return self.done == self.items


class Sent(msgspec.Struct, frozen=True, gc=False):
    """What the tables say of one request; None where an item was not sent."""

    request: int | None
    state: str | None
    error: str | None
    reference: str | None
    batch: int | None


NOT_SENT = Sent(None, None, None, None, None)


def sent_of(database: sqlite3.Connection, requests: Collection[int | None]) -> dict[int | None, Sent]:
    """What became of these requests, by their number; None is what was not sent."""
    found = database.execute(_REQUESTS, {"requests": str([number for number in requests if number is not None])})
    sent: dict[int | None, Sent] = {None: NOT_SENT}
    for number, state, error, reference, batch in found:
        sent[number] = Sent(number, state, error, reference, batch)
    return sent


def status_of(is_done: bool, sent: Sent, left_out: str | None, failed_batches: Mapping[int, str]) -> tuple[Status, str]:
    """The rule for one item, and why it has no result ("" while it may still come).

    `is_done` is whether the result is at hand, `left_out` why planning did not send it, None when it did or will.
    `failed_batches` are those that ended without an answer.
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
    """Count all items of a job by the same rule."""
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
    (skipped,) = database.execute("SELECT count(*) FROM problems WHERE item_no IS NULL").fetchone()
    return OutcomeCounts(
        done=counts[Status.DONE],
        failed=counts[Status.FAILED],
        waiting=counts[Status.WAITING] + unsent - left_out,
        left_out=left_out,
        skipped=skipped,
    )


def has_parts(folder: JobFolder) -> bool:
    """Whether any text of the job was split. Of a ranking, a score is then that of the best part. Raises DataError."""
    with folder.open(read_only=True) as database:
        return database.execute("SELECT 1 FROM parts LIMIT 1").fetchone() is not None
