"""A collection in an SQLite file for Simon Willison's `llm`, with the tables that this program creates."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import BinaryIO

import msgspec

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Work, Written, command, not_as_written, slug
from cfbatch_gui.core.results.exports.vector_rows import BLOCK, VectorRows
from cfbatch_gui.core.system.files import atomic_writer

# The schema that llm 0.36 creates. From the first table it reads which migrations of the others have been applied.
_TABLES = """
CREATE TABLE "_sqlite_migrations" ("id" INTEGER PRIMARY KEY, "migration_set" TEXT, "name" TEXT, "applied_at" TEXT);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE TABLE "collections" ("id" INTEGER PRIMARY KEY, "name" TEXT, "model" TEXT);
CREATE UNIQUE INDEX "idx_collections_name" ON "collections" ("name");
CREATE TABLE "embeddings" (
   "collection_id" INTEGER REFERENCES "collections"("id"),
   "id" TEXT,
   "embedding" BLOB,
   "content" TEXT,
   "content_blob" BLOB,
   "content_hash" BLOB,
   "metadata" TEXT,
   "updated" INTEGER,
   PRIMARY KEY ("collection_id", "id")
);
CREATE INDEX "idx_embeddings_content_hash" ON "embeddings" ("content_hash");
"""
_MIGRATIONS = (
    "m001_create_tables", "m002_foreign_key", "m003_add_updated", "m004_store_content_hash", "m005_add_content_blob",
)  # fmt: skip
_Row = tuple[str, bytes, str, bytes, str | None, int]
_INSERT = "INSERT INTO embeddings VALUES(1, ?, ?, ?, NULL, ?, ?, ?)"
_SELECT = "SELECT id, embedding, content, content_hash, metadata, updated FROM embeddings ORDER BY rowid"


def write(work: Work) -> Written:
    """Write and read back. `updated` is when the job was sent. Raises ExportError for an id that comes twice."""
    table = VectorRows(work, has_text_column=True)
    collection = slug(work.metadata.name, "texts")
    written, read = hashlib.blake2b(), hashlib.blake2b()  # of all rows, in the memory of one
    updated = int(work.metadata.sent_at)
    done, first = 0, ""
    with atomic_writer(work.path) as stream:
        with _database(stream) as database:
            _prepare(database, collection, work.metadata.model, updated)
            for texts, vectors in table.blocks():
                rows: list[_Row] = []
                for text, vector in zip(texts, vectors.astype("<f4", copy=False), strict=True):
                    named = dict(zip(table.columns, table.cells(text), strict=True))
                    metadata = json.dumps(named, ensure_ascii=False) if named else None
                    digest = hashlib.md5(text.text.encode(), usedforsecurity=False).digest()
                    rows.append((table.key_of(text), vector.tobytes(), text.text, digest, metadata, updated))
                first = first or rows[0][0]
                _insert(database, rows)
                for row in rows:
                    written.update(msgspec.msgpack.encode(row))
                done += len(texts)
                work.tick(done)
        try:
            for number, row in enumerate(_stored(stream), 1):
                read.update(msgspec.msgpack.encode(row))
                if number % BLOCK == 0:
                    work.tick_back(number)
        except sqlite3.DatabaseError as error:
            not_as_written(work.path, str(error))
        if written.digest() != read.digest():
            not_as_written(work.path, "the values read back differ from those written")
        work.tick_end()
    notes = {**table.notes, "collection": collection}
    return Written(done, (work.path,), notes, command("llm", "similar", collection, first, "-d", str(work.path)))


@contextmanager
def _database(stream: BinaryIO) -> Iterator[sqlite3.Connection]:
    """The unfinished file as a database, without a journal: after a failure the file is deleted anyway."""
    with closing(sqlite3.connect(stream.name, isolation_level=None)) as database:
        try:
            database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;")
            yield database
            database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            _ask_the_system(stream)
            raise ExportError(
                message("The SQLite file could not be written. Choose another place."), detail=str(error)
            ) from error


def _ask_the_system(stream: BinaryIO) -> None:
    """Append bytes to the file, so that the OSError of a full disk is raised: SQLite does not report the cause."""
    stream.seek(0, os.SEEK_END)
    stream.write(b"\0" * (1 << 20))
    stream.flush()


def _prepare(database: sqlite3.Connection, collection: str, model: str, updated: int) -> None:
    for statement in _TABLES.split(";"):
        database.execute(statement)
    when = str(datetime.fromtimestamp(updated, UTC))
    database.executemany(
        "INSERT INTO _sqlite_migrations(migration_set, name, applied_at) VALUES('llm.embeddings', ?, ?)",
        ((name, when) for name in _MIGRATIONS),
    )
    database.execute("INSERT INTO collections VALUES(1, ?, ?)", (collection, model))


def _insert(database: sqlite3.Connection, rows: list[_Row]) -> None:
    try:
        database.executemany(_INSERT, rows)
    except sqlite3.IntegrityError as error:
        raise ExportError(
            message(
                "An id comes twice, and a collection keeps one text for an id. Nothing was written. Give each text "
                "an id of its own, or choose another format."
            ),
            detail=str(error),
        ) from error


def _stored(stream: BinaryIO) -> Iterator[_Row]:
    with closing(sqlite3.connect(stream.name)) as database:
        yield from database.execute(_SELECT)
        (sound,) = database.execute("PRAGMA integrity_check").fetchone()
        if sound != "ok":
            raise sqlite3.DatabaseError(sound)
