"""What results need of their job: the outcome of each item, the results of earlier jobs, the file's own columns."""

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from cfbatch_gui.core.inputs.input_values import Layout, ProblemKind, Role
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import LEFT_OUT
from cfbatch_gui.core.messages import restored


class Status(StrEnum):
    """The outcome of an item; the values are those written to files."""

    DONE = "done"
    FAILED = "failed"  # its request failed
    WAITING = "waiting"  # not sent yet, or no answer yet
    LEFT_OUT = "left out"  # planning did not put it into a request; the reason is in `problems`
    SKIPPED = "skipped"  # a row of the file that gave no item


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """Items by status; `skipped` counts problems with rows that gave none."""

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
        return self.done == self.items

    @property
    def missing(self) -> int:
        """Items and rows without a result, for whatever reason."""
        return self.items - self.done + self.skipped


def status_of(
    is_done: bool, batch: int | None, state: str | None, why: str | None, failed_batches: Mapping[int, str]
) -> tuple[Status, str]:
    """The status of an item and why it has no result, "" if it may still get one; `batch` and `state` are those of its
    request, None without one, and `why` is the error of that or why there is none.
    """
    if is_done:
        return Status.DONE, ""
    if batch is None:
        return (Status.LEFT_OUT, restored(why)) if why is not None else (Status.WAITING, "")
    if state == "failed":
        return Status.FAILED, restored(why or "")
    if batch in failed_batches:
        return Status.FAILED, failed_batches[batch]
    return Status.WAITING, ""


_UNSENT = f"""
SELECT (SELECT count(*) FROM items WHERE request_no IS NULL),
    (SELECT count(DISTINCT item_no) FROM problems JOIN items USING(item_no) WHERE request_no IS NULL),
    (SELECT count(*) FROM problems WHERE item_no IS NULL AND {LEFT_OUT}),
    (SELECT count(*) FROM problems WHERE kind = ?)
"""  # noqa: S608 - a constant


def count_items(database: sqlite3.Connection, failed_batches: Mapping[int, str]) -> OutcomeCounts:
    counts = dict.fromkeys(Status, 0)
    for state, batch, count in database.execute(
        "SELECT state, batch, sum(texts) FROM requests"
        " JOIN (SELECT request_no, count(*) AS texts FROM items WHERE request_no IS NOT NULL GROUP BY request_no)"
        " USING(request_no) GROUP BY state, batch"
    ):
        status, _ = status_of(state == "done", batch, state, None, failed_batches)
        counts[status] += count
    unsent, left_out, skipped, doubtful_sent = database.execute(_UNSENT, (ProblemKind.DOUBTFUL_SENT,)).fetchone()
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
    """The job and request that a result came from first; `request_id` is "" for one without the queue."""

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


_CELLS = msgspec.json.Decoder(list[str])
_KEYS = (("columns", "roles"), ("second_columns", "second_roles"))


@dataclass(frozen=True, slots=True)
class OriginalColumns:
    """Names, and the indices of their cells in a row of the first and of the second file."""

    names: tuple[str, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]

    def cells(self, first_row: str | None, second_row: str | None) -> tuple[str, ...]:
        """One cell for each name, exactly as in the file; "" if a row is short or missing.

        The arguments are values of `source_rows.cells`, which are JSON arrays.
        """
        return _picked(first_row, self.first) + _picked(second_row, self.second)


def columns_of_rankings(database: sqlite3.Connection, taken: Collection[str] = ()) -> OriginalColumns:
    """The columns that the user keeps; a name that is taken gets " (original)"."""
    # The first file's label belongs to the context only if a row is a pair; in other layouts it belongs to the query.
    is_label_of_context = schema.metadata_value(database, "layout") == Layout.LONG
    return _columns(database, (Role.KEEP,) if is_label_of_context else (Role.KEEP, Role.LABEL), (Role.KEEP,), taken)


def columns_of_vectors(
    database: sqlite3.Connection, taken: Collection[str] = (), *, beside: bool = False
) -> OriginalColumns:
    """The columns exported with vectors: all but the id and those that the user leaves out, of two lists those of both.
    `taken` as for rankings; those of the text itself are left out where it stands `beside` them.
    """
    texts = () if beside else (Role.TEXT, Role.CONTEXT, Role.QUERY)
    roles = (*texts, Role.LABEL, Role.KEEP)
    return _columns(database, roles, roles, taken)


def column_of(database: sqlite3.Connection, file: int, *roles: Role) -> int | None:
    """The index of the only column with one of `roles` in file 1 or 2; None if there is none or more than one."""
    found = [index for index, role in enumerate(_names(database, _KEYS[file - 1][1])) if role in roles]
    return found[0] if len(found) == 1 else None


def columns_of_file(database: sqlite3.Connection, file: int) -> tuple[str, ...]:
    return _names(database, _KEYS[file - 1][0])


def column_mapping(database: sqlite3.Connection) -> dict[str, dict[str, str]]:
    both = (
        (file, _names(database, columns), _names(database, roles)) for file, (columns, roles) in enumerate(_KEYS, 1)
    )
    return {f"file {file}": dict(zip(columns, roles, strict=False)) for file, columns, roles in both if columns}


def _columns(
    database: sqlite3.Connection, first: Collection[Role], second: Collection[Role], taken: Collection[str]
) -> OriginalColumns:
    used = set(taken)
    names: list[str] = []
    indices: list[tuple[int, ...]] = []
    for (columns_key, roles_key), roles in zip(_KEYS, (first, second), strict=True):
        columns = _names(database, columns_key)
        found = tuple(index for index, role in enumerate(_names(database, roles_key)[: len(columns)]) if role in roles)
        indices.append(found)
        for index in found:
            name = columns[index]
            while name in used:
                name += " (original)"
            used.add(name)
            names.append(name)
    return OriginalColumns(tuple(names), indices[0], indices[1])


def _names(database: sqlite3.Connection, name: str) -> tuple[str, ...]:
    return msgspec.convert(schema.metadata_value(database, name, ()), tuple[str, ...])


def _picked(row: str | None, indices: tuple[int, ...]) -> tuple[str, ...]:
    if not indices:
        return ()
    cells = _CELLS.decode(row) if row is not None else []
    return tuple(cells[index] if index < len(cells) else "" for index in indices)
