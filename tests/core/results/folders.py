"""Job folders with results, written directly to the tables in the form in which the runner leaves them."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.checksums import note_results
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import Exported, Target, export, target_for

FAILED, WAITING, LEFT_OUT = "failed", "waiting", "left out"
Outcome = float | str  # a score, or one of the constants for a missing one


NASTY = (
    "=1+1", "+49 170", "-12.50", "@SUM(A1)", "\ttab", "\rreturn", "'=quoted", "'plain", "a\r\nb", 'say "hi", ok',
    "bare \r return", "semi;colon", "  spaces  ", "😀 مرحبا 東京", "\ufeffmark", "nul\x00", "''", "=",
)  # fmt: skip
THERE = [index for index in range(len(NASTY)) if index not in (1, 2)]  # those of `embedded` with a vector


QUESTION = "=1+1"  # asked of every job of vectors


@dataclass
class Pair:
    """One row of a file: a query with a context, and the outcome of the pair."""

    query: str
    text: str
    outcome: Outcome
    id: str = ""
    label: str = ""
    kept: tuple[str, ...] = ()


@dataclass
class Table:
    """A job folder that is filled row by row; each query's items of one outcome make a request."""

    path: Path
    kept: tuple[str, ...] = ()  # names of the user's own columns
    rows: int = 1  # the header is row 1
    queries: dict[str, int] = field(default_factory=dict)
    items: int = 0
    requests: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    kind: Kind = Kind.RANK  # of what was filled in

    def __post_init__(self) -> None:
        self.folder = JobFolder(self.path)
        self.folder.create()
        schema.create(self.folder.data)

    def export(self, path: Path, target: Target | str = "", **more: Any) -> Exported:
        """Export the job, to a target or to the form of this name; without one, to that of the path's suffix."""
        chosen = target_for(path, self.kind, target) if isinstance(target, str) else target
        return export(self.folder, self.job(), path, chosen, connection="Practice", **more)

    def job(self) -> Job:
        ids = ("request-1", "request-2", "")
        batches = (Batch("job-1", at, BatchState.QUEUED, 1, 1, 1, request_id=each) for at, each in enumerate(ids, 1))
        return Job(
            "job-1",
            "Support articles, March",
            self.kind,
            "@cf/baai/bge-m3",
            "practice",
            created_at=0.0,
            options=JobOptions(screening=QUESTION),
            source_name="articles.csv",
            source_sha256="ab" * 32,
            rows_in=self.rows - 1,
            sent_at=1_790_000_000.0,
            batches=tuple(replace(each, tokens=1234 * (each.number == 1)) for each in batches),
        )

    def rank(self, pairs: Sequence[Pair], skipped: Sequence[tuple[Pair, str]] = ()) -> "Table":
        """A ranking with a row for each pair. Failed items are in requests of their own, in batch 2."""
        columns = ("question", "article", "number", "stars", *self.kept)
        roles = ("query", "context", "id", "label", *("keep" for _ in self.kept))
        with self.folder.open() as database:
            self._metadata(database, columns, roles, "long")
            for pair in pairs:
                row = self._source(database, (pair.query, pair.text, pair.id, pair.label, *pair.kept))
                self._item(database, pair, row, self._query(database, pair.query, row))
            for pair, reason in skipped:
                row = self._source(database, (pair.query, pair.text, pair.id, pair.label, *pair.kept))
                self._problem(database, row, reason, None)
            note_all(database)
        return self

    def embed(
        self,
        texts: Sequence[tuple[str, str, Outcome]],
        vectors: NDArray[np.float32] | None,
        kept: Sequence[tuple[str, ...]] = (),
    ) -> "Table":
        """Embedded texts of (id, text, outcome); any number is done. No id column when all ids are empty."""
        with_ids = any(identifier for identifier, _, _ in texts)
        self.kind = Kind.EMBED
        columns = (*(("key",) if with_ids else ()), "text", *self.kept)
        roles = (*(("id",) if with_ids else ()), "text", *("keep" for _ in self.kept))
        with self.folder.open() as database:
            self._metadata(database, columns, roles, "texts")
            for index, (identifier, text, outcome) in enumerate(texts):
                cells = (*((identifier,) if with_ids else ()), text, *(kept[index] if kept else ()))
                row = self._source(database, cells)
                self._item(database, Pair("", text, outcome, id=identifier), row)
            if vectors is not None:
                schema.put_metadata_value(database, "dimension", vectors.shape[1])
                np.save(self.folder.vectors, vectors)
                asked = QUESTION, np.ones(vectors.shape[1], "<f4").tobytes(), 1.0, True
                database.execute("INSERT INTO asked VALUES(?, ?, ?, ?)", asked)
            note_all(database, vectors)
        return self

    def _metadata(self, database: sqlite3.Connection, columns: object, roles: object, layout: str) -> None:
        metadata = {"columns": columns, "roles": roles, "second_columns": (), "second_roles": (), "layout": layout}
        for name, value in metadata.items():
            schema.put_metadata_value(database, name, value)

    def _source(self, database: sqlite3.Connection, cells: tuple[str, ...]) -> int:
        self.rows += 1
        database.execute("INSERT INTO source_rows VALUES(1, ?, ?)", (self.rows, json.dumps(cells)))
        return self.rows

    def _query(self, database: sqlite3.Connection, text: str, row: int) -> int:
        if text not in self.queries:
            self.queries[text] = len(self.queries) + 1
            database.execute("INSERT INTO queries VALUES(?, ?, ?, ?)", (self.queries[text], "", text, row))
        return self.queries[text]

    def _item(self, database: sqlite3.Connection, pair: Pair, row: int, query: int | None = None) -> None:
        self.items += 1
        outcome = pair.outcome
        (before,) = database.execute("SELECT count(*) FROM items WHERE query_no = ?", (query,)).fetchone()
        database.execute(
            "INSERT INTO texts VALUES(?, ?, ?, ?, 1, ?)", (self.items, pair.id, pair.text, pair.label, row)
        )
        request, position = None, None
        if outcome == LEFT_OUT:
            self._problem(database, row, "The text is longer than the model reads.", self.items)
        else:
            request, position = self._request(database, pair.query, "done" if isinstance(outcome, float) else outcome)
        score = outcome if isinstance(outcome, float) and query is not None else None
        values = (self.items, query, self.items, before + 1 if query else 1, request, position, score)
        database.execute("INSERT INTO items VALUES(?, ?, ?, ?, ?, ?, ?)", values)

    def _request(self, database: sqlite3.Connection, group: str, state: str) -> tuple[int, int]:
        number, size = self.requests.get((group, state), (0, 0))
        if not number:
            number = len(self.requests) + 1
            error = "The service could not do this one." if state == FAILED else ""
            batch = 2 if state == FAILED else 1
            values = (number, f"reference-{number}", batch, number, state, error)
            database.execute("INSERT INTO requests VALUES(?, ?, ?, ?, ?, ?)", values)
        self.requests[group, state] = (number, size + 1)
        return number, size

    def _problem(self, database: sqlite3.Connection, row: int, reason: str, item: int | None) -> None:
        database.execute(
            "INSERT INTO problems(file, row, kind, reason, item_no) VALUES(1, ?, 'empty_text', ?, ?)",
            (row, reason, item),
        )


def stored(
    path: Path, vectors: NDArray[np.float32], outcomes: Sequence[Outcome] = (), texts: Sequence[str] = ()
) -> Embeddings:
    """A job of these vectors; without further arguments all are done, under texts with their number."""
    outcomes = outcomes or [1.0] * len(vectors)
    texts = texts or [f"text {number}" for number in range(len(vectors))]
    rows = [(f"id{number}", text, outcome) for number, (text, outcome) in enumerate(zip(texts, outcomes, strict=True))]
    return Embeddings(Table(path / "job").embed(rows, vectors.astype(np.float32)).folder)


def note_all(database: sqlite3.Connection, vectors: NDArray[np.float32] | None = None) -> None:
    """Store the checksums of the results as they are now."""
    for (batch,) in database.execute("SELECT DISTINCT batch FROM requests").fetchall():
        note_results(database, batch, vectors)


def unit_vectors(count: int, dimension: int, seed: int = 1) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    return unit


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Limit the size of all files that this process writes to `size` bytes."""
    import resource  # of POSIX only

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
