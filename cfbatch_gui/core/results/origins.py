"""Which results of a job were taken from earlier jobs, and from which of their requests."""

import sqlite3
from dataclasses import dataclass

from cfbatch_gui.core.job_folder.folder import JobFolder

_ORIGINS = """
SELECT s.job_id, s.job_name, s.request_id, s.sent_at, count(*) FROM sources s JOIN reused USING(source_no)
JOIN items USING(request_no) GROUP BY s.source_no ORDER BY s.source_no
"""
_BY_REFERENCE = """
SELECT r.reference, s.job_id, s.job_name, s.request_id, s.sent_at FROM requests r JOIN reused USING(request_no)
JOIN sources s USING(source_no)
"""


@dataclass(frozen=True, slots=True)
class Origin:
    """The job and the request that a result came from in the first place, and how many texts of this job did.

    `sent_at` is in seconds since 1970, UTC; `request_id` is "" for a request without the queue.
    """

    job_id: str
    job_name: str
    request_id: str
    sent_at: float
    texts: int = 0


def origins(folder: JobFolder) -> tuple[Origin, ...]:
    """All origins of a job's results but its own requests, with their texts. Raises DataError."""
    with folder.open(read_only=True) as database:
        return tuple(Origin(*row) for row in database.execute(_ORIGINS))


def origins_by_reference(database: sqlite3.Connection) -> dict[str, Origin]:
    """The origins of requests that were never sent, by the reference that they would have been sent under."""
    return {reference: Origin(*row) for reference, *row in database.execute(_BY_REFERENCE)}


def has_origins(folder: JobFolder) -> bool:
    """Whether any result was taken from an earlier job. Raises DataError."""
    with folder.open(read_only=True) as database:
        return database.execute("SELECT 1 FROM reused LIMIT 1").fetchone() is not None
