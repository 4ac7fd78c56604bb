"""A finished batch's answer into the job's data. All of it or nothing, and any number of times with the same end.

The order holds through a power cut: the raw answer is on the disk, then the vectors, then what `data.db` says of them
and of the scores, with their checksum; after that the caller may commit *done*.
"""

import gzip
import sqlite3
from collections.abc import Collection
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

import numpy as np

from cfbatch_gui.core.errors import ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import note_results
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import metadata_value, put_metadata_value, transaction
from cfbatch_gui.core.job_folder.vector_file import VectorFile, new_vectors, open_vectors, stored_vectors
from cfbatch_gui.core.jobs.plan.packing import TEXTS_OF_REQUEST
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import Embedded, Expected, Finished, Matched, Refused, Scored, match


@dataclass(frozen=True, slots=True)
class Collected:
    failed_requests: int
    error: str  # the user's sentence, "" when none failed
    first_error: str  # the service's own words
    tokens: int


def keep_reply(folder: JobFolder, batch: int, raw: bytes) -> None:
    """Write the raw answer to disk, which comes before it is decoded. Raises DiskFull and DataError."""
    folder.write_reply(batch, gzip.compress(raw, compresslevel=1, mtime=0))


def collect(
    folder: JobFolder,
    kind: Kind,
    batch: int,
    finished: Finished,
    *,
    references_required: bool = False,
    dimensions: Collection[int] = (),
) -> Collected:
    """Check the whole answer against what was sent, then store it; on the disk when this returns. `dimensions` are
    those that vectors of the model may have, () when not known.

    Raises ReplyError for any breach of the protocol, DiskFull and DataError; the job's data is then as it was before.
    """
    with folder.open() as database, transaction(database):
        return _Collecting(database, folder, kind, batch, references_required, dimensions).run(finished)


def store(database: sqlite3.Connection, folder: JobFolder, kind: Kind, batch: int, finished: Finished) -> None:
    """`collect` again, within the caller's transaction."""
    _Collecting(database, folder, kind, batch).run(finished)


def verify(folder: JobFolder, kind: Kind, batch: int, finished: Finished) -> None:
    """Raise ReplyError unless the answer shows by its references that it is this batch's."""
    with folder.open(read_only=True) as database:
        _, expected = sent_requests(database, kind, batch)
    for _ in match(finished, expected, references_required=True):
        pass


def sent_requests(database: sqlite3.Connection, kind: Kind, batch: int) -> tuple[list[int], list[Expected]]:
    """The numbers of a batch's requests, and what is to come back for each, in the order they were sent."""
    requests = database.execute(
        f"SELECT request_no, reference, {TEXTS_OF_REQUEST} FROM requests r WHERE batch = ? ORDER BY position",  # noqa: S608 - a constant
        (batch,),
    ).fetchall()
    return [request[0] for request in requests], [Expected(reference, kind, count) for _, reference, count in requests]


@dataclass(slots=True)
class _Collecting:
    _database: sqlite3.Connection
    _folder: JobFolder
    _kind: Kind
    _batch: int
    _references_required: bool = False
    _dimensions: Collection[int] = ()
    _vectors: VectorFile | None = None
    _failed: int = 0
    _first_error: str = ""

    def run(self, finished: Finished) -> Collected:
        numbers, expected = sent_requests(self._database, self._kind, self._batch)
        stored = metadata_value(self._database, "dimension")
        dimension = stored if isinstance(stored, int) else None
        required = self._references_required or metadata_value(self._database, "references_echoed") is True
        with ExitStack() as files:  # closed, and on the disk, before the transaction is committed
            answers = match(finished, expected, dimension=dimension, references_required=required)
            for number, matched in zip(numbers, answers, strict=True):
                self._store(matched, number, files)
            if self._vectors is not None:
                self._vectors.flush()
        if any(element.external_reference for element in finished.elements):
            put_metadata_value(self._database, "references_echoed", True)
        has_vectors = self._kind is Kind.EMBED and metadata_value(self._database, "dimension") is not None
        note_results(self._database, self._batch, stored_vectors(self._folder.vectors) if has_vectors else None)
        refused = message("service_refused_failed_requests_requests", failed=self._failed, requests=len(expected))
        return Collected(self._failed, refused if self._failed else "", self._first_error, finished.tokens)

    def _store(self, matched: Matched, request_no: int, files: ExitStack) -> None:
        match matched:
            case Scored():
                scores = [(score, request_no, position) for position, score in enumerate(matched.scores.tolist())]
                for table in ("items", "parts"):
                    self._database.executemany(
                        f"UPDATE {table} SET score = ? WHERE request_no = ? AND request_position = ?",  # noqa: S608
                        scores,
                    )
            case Embedded():
                self._store_vectors(request_no, matched, files)
            case Refused():
                self._failed += 1
                self._database.execute("UPDATE items SET score = NULL WHERE request_no = ?", (request_no,))
                self._show_failure_of_parts(request_no)
                self._first_error = self._first_error or matched.error
        state, error = ("failed", matched.error) if isinstance(matched, Refused) else ("done", "")
        self._database.execute(
            "UPDATE requests SET state = ?, error = ? WHERE request_no = ?", (state, error, request_no)
        )

    def _show_failure_of_parts(self, request_no: int) -> None:
        """A text of which a part was refused has no score; it is assigned to the request that failed."""
        self._database.execute("UPDATE parts SET score = NULL WHERE request_no = ?", (request_no,))
        self._database.execute(
            "UPDATE items SET request_no = :request WHERE item_no IN"
            " (SELECT item_no FROM parts WHERE request_no = :request)",
            {"request": request_no},
        )

    def _store_vectors(self, request_no: int, matched: Embedded, files: ExitStack) -> None:
        answered, asked = (metadata_value(self._database, name) for name in ("pooling", "asked_pooling"))
        wanted = answered or asked or matched.pooling
        if matched.pooling and matched.pooling != wanted:
            raise ReplyError(
                message("vectors_batch_are_pooled_another_way"),
                detail=f"pooling {matched.pooling[:40]!r}, not {str(wanted)[:40]!r}",
            )
        if self._vectors is None:
            dimension = matched.vectors.shape[1]
            self._vectors = files.enter_context(self._open_vectors(dimension, matched.pooling))
            if self._vectors.dimension != dimension:
                raise ReplyError(message("vectors_batch_another_length_than_those"))
        # Items with the same text share a position in the request, and so a vector.
        places = "SELECT item_no - 1, request_position FROM items WHERE request_no = ? AND request_position >= 0"
        rows, positions = np.array(self._database.execute(places, (request_no,)).fetchall(), np.int64).reshape(-1, 2).T
        self._vectors.write(rows, matched.vectors[positions])

    def _open_vectors(self, dimension: int, pooling: str) -> AbstractContextManager[VectorFile]:
        path = self._folder.vectors
        if metadata_value(self._database, "dimension") is not None:
            return open_vectors(path)
        if self._dimensions and dimension not in self._dimensions:
            raise ReplyError(
                message("vectors_batch_do_not_length_those"),
                detail=f"{dimension} numbers, not {' or '.join(map(str, sorted(self._dimensions)))}",
            )
        count = self._database.execute("SELECT max(item_no) FROM items").fetchone()[0]
        put_metadata_value(self._database, "dimension", dimension)
        put_metadata_value(self._database, "pooling", pooling)
        return new_vectors(path, count, dimension)
