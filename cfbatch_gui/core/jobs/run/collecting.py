"""A finished batch's answer into the job's data. All of it or nothing, and any number of times with the same end."""

import errno
import gzip
import os
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap

from cfbatch_gui.core.errors import DiskFull, ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import metadata_value, put_metadata_value, transaction
from cfbatch_gui.core.jobs.plan.packing import TEXTS_OF_REQUEST
from cfbatch_gui.core.workers_ai.wire.replies import Embedded, Expected, Finished, Matched, Refused, Scored, match
from cfbatch_gui.core.workers_ai.wire.requests import AnswerKind


@dataclass(frozen=True, slots=True)
class Collected:
    """What an answer held."""

    requests: int
    failed_requests: int
    first_error: str  # the service's own words
    tokens: int


def keep_reply(folder: JobFolder, batch: int, raw: bytes) -> None:
    """Write the raw answer to disk, which comes before it is decoded. Raises DiskFull and DataError."""
    folder.write(folder.reply(batch), gzip.compress(raw, compresslevel=1, mtime=0))


def collect(
    folder: JobFolder,
    kind: Kind,
    batch: int,
    finished: Finished,
    *,
    references_are_echoed: bool = False,
    dimensions: Collection[int] = (),
) -> Collected:
    """Check the whole answer against what was sent, then store it.

    `references_are_echoed` is what is known of the connection; the job's own answers may have shown it too.
    `dimensions` are those that vectors of the model may have, () when not known. Raises ReplyError for any breach of
    the protocol; the job's data is then as it was before.
    """
    with folder.open() as database, transaction(database):
        numbers, expected = _sent(database, kind, batch)
        collecting = _Collecting(database, folder, numbers, dimensions)
        return collecting.run(finished, expected, references_are_echoed=references_are_echoed)


def verify(folder: JobFolder, kind: Kind, batch: int, finished: Finished) -> None:
    """Raise ReplyError unless every element of the answer carries the reference of the request at its position."""
    with folder.open(read_only=True) as database:
        _, expected = _sent(database, kind, batch)
    for element in finished.elements:
        if not element.external_reference:
            raise ReplyError(
                "That answer carries no references, so it cannot be told whether it belongs to this batch."
            )
    for _ in match(finished, expected):
        pass


def _sent(database: sqlite3.Connection, kind: Kind, batch: int) -> tuple[list[int], list[Expected]]:
    """The numbers of a batch's requests, and what is to come back for each, in the order they were sent."""
    requests = database.execute(
        f"SELECT request_no, reference, {TEXTS_OF_REQUEST} FROM requests r WHERE batch = ? ORDER BY position",  # noqa: S608 - a constant
        (batch,),
    ).fetchall()
    form: AnswerKind = "scores" if kind is Kind.RANK else "embeddings"
    return [request[0] for request in requests], [Expected(reference, form, count) for _, reference, count in requests]


class _Collecting:
    def __init__(
        self, database: sqlite3.Connection, folder: JobFolder, request_numbers: list[int], dimensions: Collection[int]
    ) -> None:
        self._database, self._folder, self._numbers = database, folder, request_numbers
        self._dimensions = dimensions
        self._vectors: np.memmap[tuple[int, int], np.dtype[np.float32]] | None = None
        self._failed = 0
        self._first_error = ""

    def run(self, finished: Finished, expected: list[Expected], *, references_are_echoed: bool) -> Collected:
        known = metadata_value(self._database, "dimension")
        dimension = known if isinstance(known, int) else None
        required = references_are_echoed or metadata_value(self._database, "references_echoed") is True
        for matched in match(finished, expected, dimension=dimension, references_required=required):
            self._store(matched)
        if any(element.external_reference for element in finished.elements):
            put_metadata_value(self._database, "references_echoed", True)
        if self._vectors is not None:
            self._vectors.flush()
        usage = finished.usage
        return Collected(len(expected), self._failed, self._first_error, usage.total_tokens if usage else 0)

    def _store(self, matched: Matched) -> None:
        request_no = self._numbers[matched.index]
        match matched:
            case Scored():
                self._database.executemany(
                    "UPDATE items SET score = ? WHERE request_no = ? AND request_position = ?",
                    ((score, request_no, position) for position, score in enumerate(matched.scores.tolist())),
                )
                self._store_parts(request_no, matched.scores.tolist())
            case Embedded():
                self._store_vectors(request_no, matched)
            case Refused():
                self._failed += 1
                self._show_failure_of_parts(request_no)
                self._first_error = self._first_error or matched.error
        state, error = ("failed", matched.error) if isinstance(matched, Refused) else ("done", "")
        self._database.execute(
            "UPDATE requests SET state = ?, error = ? WHERE request_no = ?", (state, error, request_no)
        )

    def _show_failure_of_parts(self, request_no: int) -> None:
        """A text of which a part was refused has no score; it is assigned to the request that failed."""
        self._database.execute(
            "UPDATE items SET request_no = :request, score = NULL WHERE item_no IN"
            " (SELECT item_no FROM parts WHERE request_no = :request)",
            {"request": request_no},
        )

    def _store_parts(self, request_no: int, scores: list[float]) -> None:
        """A text in parts has the score of its best part, as soon as all of them have one."""
        found = self._database.executemany(
            "UPDATE parts SET score = ? WHERE request_no = ? AND request_position = ?",
            ((score, request_no, position) for position, score in enumerate(scores)),
        )
        if found.rowcount <= 0:
            return
        for (item_no,) in self._database.execute(
            "SELECT DISTINCT item_no FROM parts WHERE request_no = ?", (request_no,)
        ).fetchall():
            self._database.execute(
                "UPDATE items SET score = (SELECT CASE WHEN count(score) = count(*) THEN max(score) END FROM parts"
                " WHERE item_no = :item) WHERE item_no = :item OR item_no IN"
                " (SELECT item_no FROM repeats WHERE first = :item)",
                {"item": item_no},
            )

    def _store_vectors(self, request_no: int, matched: Embedded) -> None:
        answered, asked = (metadata_value(self._database, name) for name in ("pooling", "asked_pooling"))
        wanted = answered or asked or matched.pooling
        if matched.pooling and matched.pooling != wanted:
            raise ReplyError(
                "The vectors of this batch are pooled in another way than was asked for, or than those before, so they"
                " cannot be compared.",
                detail=f"pooling {matched.pooling[:40]!r}, not {str(wanted)[:40]!r}",
            )
        if self._vectors is None:
            self._vectors = self._open_vectors(matched.vectors.shape[1], matched.pooling)
        items = self._database.execute(
            "SELECT item_no, request_position FROM items WHERE request_no = ? ORDER BY request_position", (request_no,)
        ).fetchall()
        # Items with the same text share a position in the request, and so a vector.
        self._vectors[[item_no - 1 for item_no, _ in items]] = matched.vectors[[position for _, position in items]]

    def _open_vectors(self, dimension: int, pooling: str) -> "np.memmap[tuple[int, int], np.dtype[np.float32]]":
        path = self._folder.vectors
        if path.exists() and metadata_value(self._database, "dimension") is not None:
            found = open_memmap(path, mode="r+")
            if found.shape[1] != dimension:
                raise ReplyError("The vectors of this batch have another length than those before.")
            return found
        if self._dimensions and dimension not in self._dimensions:
            raise ReplyError(
                "The vectors of this batch do not have the length that those of its model have, so they are put aside.",
                detail=f"{dimension} numbers, not {' or '.join(map(str, sorted(self._dimensions)))}",
            )
        count = self._database.execute("SELECT max(item_no) FROM items").fetchone()[0]
        put_metadata_value(self._database, "dimension", dimension)
        put_metadata_value(self._database, "pooling", pooling)
        created = open_memmap(path, mode="w+", dtype=np.float32, shape=(count, dimension))
        _reserve(path)
        return created


def _reserve(path: Path) -> None:
    """Have the disk keep room for all of a new file: a memory map that meets a full disk later kills the process."""
    if not hasattr(os, "posix_fallocate"):
        return  # Windows gives a file its room when it is made that long
    try:
        with path.open("r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return  # a file system that cannot promise it
        path.unlink(missing_ok=True)
        raise DiskFull(
            "The disk is full, so there is no room for the vectors. The answer itself is kept; free some space and"
            " carry on.",
            detail=f"{path.name}: {error.strerror}",
        ) from error
