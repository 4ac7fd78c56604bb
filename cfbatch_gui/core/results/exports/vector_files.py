"""Vectors for other programs: NumPy, the Embedding Projector, Cloudflare Vectorize, and Simon Willison's `llm`.

NumPy files are little-endian float32 (n, d), without pickles; `.npy` has its ids in `.ids.txt`. The reader of
TensorFlow's Embedding Projector splits at every tab and line feed, quoted or not, and skips blank lines. For Vectorize
there are NDJSON files, each within the limits of an upload; for `llm` an SQLite file with the tables that it creates.
"""

import hashlib
import io
import json
import os
import re
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import EmbeddedText
from cfbatch_gui.core.results.exports.base import Work, Written, command, export_file, file_in, slug
from cfbatch_gui.core.results.exports.rows import VectorRows
from cfbatch_gui.core.system.files import atomic_folder, atomic_writer
from cfbatch_gui.core.workers_ai import limits


def write_array(work: Work) -> Written:
    ids_path = work.path.with_suffix(".ids.txt")
    table = VectorRows(work)
    # The inner file is moved to its final path first: a new array always has its ids.
    with atomic_writer(work.path) as numbers, atomic_writer(ids_path) as ids:
        numbers.write(_header(table))
        for _, _, vectors in table.vector_blocks(_AT_ONCE):
            numbers.write(vectors.data)
        for row, name in table.ids():
            if "\n" in str(name) or "\r" in str(name):
                raise ExportError(message("id_row_row_line_break_name", row=row, name=ids_path.name))
            ids.write(f"{name}\n".encode())
        numbers.flush()  # a disk that is full says so before the ids have their name
        work.end()
    return Written(table.count, (work.path, ids_path), {**table.notes, "ids_file": ids_path.name})


def _header(table: VectorRows) -> bytes:
    """The beginning of a `.npy` file of all vectors of the table."""
    start = io.BytesIO()
    shape = (table.count, table.dimension)
    np.lib.format.write_array_header_1_0(start, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return start.getvalue()


_AT_ONCE = 4_096  # vectors
_MOST_ID_BYTES = 200_000_000


def write_archive(work: Work) -> Written:
    """Raises ExportError for ids of more than `_MOST_ID_BYTES` together, or one that ends with NUL."""
    table = VectorRows(work)
    ids: list[str] = []
    with export_file(work) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        with archive.open("vectors.npy", "w", force_zip64=True) as member:
            member.write(_header(table))
            for texts, vectors in table.blocks():
                member.write(vectors.tobytes())
                ids += [table.id_of(text) for text in texts]
        longest = max(map(len, ids), default=1)
        if longest * 4 * len(ids) > _MOST_ID_BYTES:
            raise ExportError(message("id_longest_characters_numpy_archive_makes", longest=longest))
        if any(identifier.endswith("\0") for identifier in ids):
            raise ExportError(message("id_ends_nul_character_numpy_archive"))
        with archive.open("ids.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.array(ids, dtype=str), allow_pickle=False)
    return Written(len(ids), (work.path,), table.notes)


_TABLE, _METADATA, _CONFIG = "vectors.tsv", "metadata.tsv", "projector_config.json"
_PROJECTOR_FILES = (_TABLE, _METADATA, _CONFIG)
# Characters that split lines or cells in this reader or in other readers of TSV.
_BREAKS = str.maketrans(dict.fromkeys("\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\x00", " "))


def write_projector(work: Work) -> Written:
    """Tabs and line breaks become blanks."""
    table = VectorRows(work, reserved=("id", "text"), has_text_column=True)
    names = ("id", "text", *table.columns)
    header = [name.translate(_BREAKS) or f"column {index}" for index, name in enumerate(names, 1)]
    embedding = {
        "tensorName": work.job.name or work.job.id,
        "tensorShape": [table.count, table.dimension],
        "tensorPath": _TABLE,
        "metadataPath": _METADATA,
    }
    changed = 0
    with atomic_folder(work.path, _PROJECTOR_FILES.__contains__) as folder:
        with (
            file_in(folder, _TABLE) as vectors_file,
            file_in(folder, _METADATA) as metadata_file,
            file_in(folder, _CONFIG) as config_file,
        ):
            metadata_file.write("\t".join(header).encode() + b"\n")
            for block in table.lines():
                for text, decimals in block:
                    vectors_file.write(decimals[1:-1].replace(b",", b"\t") + b"\n")
                    cells = (table.id_of(text), text.text, *table.cells(text))
                    clean = [cell.translate(_BREAKS) for cell in cells]
                    changed += sum(before != after for before, after in zip(cells, clean, strict=True))
                    # The reader would skip a line whose cells are all blank; so the first cell gets the row number.
                    clean[0] = clean[0] if clean[0].strip("\ufeff \u00a0\u3000") else str(text.row)
                    metadata_file.write("\t".join(clean).encode() + b"\n")
            config_file.write(json.dumps({"embeddings": [embedding]}, ensure_ascii=False, indent=2).encode() + b"\n")
        work.end()
    notes = {**table.notes, "columns": header, "cells_with_breaks_made_blanks": changed}
    return Written(table.count, tuple(work.path / name for name in _PROJECTOR_FILES), notes)


_CHANGES = ("ids_replaced_by_their_sha256", "texts_too_long_for_metadata", "columns_too_long_for_metadata")
_VECTORIZE_FILES = re.compile(r"vectors-\d{4,}\.ndjson")


def write_vectorize(work: Work) -> Written:
    """What Vectorize would refuse is changed. Raises ExportError for an id that comes twice."""
    table = VectorRows(work, reserved=("text", "original_id"), has_text_column=True)
    if table.dimension > limits.MAX_INDEX_DIMENSIONS or table.count > limits.MAX_INDEX_VECTORS:
        raise ExportError(
            message(
                "index_vectorize_takes_most_vectors_numbers",
                most=limits.MAX_INDEX_VECTORS,
                numbers=limits.MAX_INDEX_DIMENSIONS,
                count=table.count,
                dimension=table.dimension,
            )
        )
    keys: list[str] = []
    for name in table.columns:
        keys.append(usual_key(name, ("text", "original_id", *keys)))
    changed = Counter(dict.fromkeys(_CHANGES, 0))
    seen: set[str] = set()

    def lines() -> Iterator[bytes]:
        for block in table.lines():
            for text, vector in block:
                identifier = table.key_of(text)
                if identifier in seen:
                    raise ExportError(
                        message("id_identifier_comes_twice_again_row", identifier=identifier[:60], row=text.row)
                    )
                seen.add(identifier)
                yield _index_line(identifier, text, dict(zip(keys, table.cells(text), strict=True)), vector, changed)

    with atomic_folder(work.path, lambda name: _VECTORIZE_FILES.fullmatch(name) is not None) as folder:
        paths = tuple(work.path / name for name in _write_uploads(folder, work, lines()))
        work.end()
    index = slug(work.job.name, "texts")
    create = command("wrangler", "vectorize", "create", index, f"--dimensions={table.dimension}", "--metric=cosine")
    upserts = (command("wrangler", "vectorize", "upsert", index, f"--file={path}") for path in paths)
    renamed = {name: key for name, key in zip(table.columns, keys, strict=True) if name != key}
    notes = {**table.notes, "metadata_keys_renamed": renamed, **changed}
    return Written(len(seen), paths, notes, "\n".join((create, *upserts)))


def _write_uploads(folder: Path, work: Work, lines: Iterable[bytes]) -> list[str]:
    names: list[str] = []
    left, size = 0, 0  # lines, and bytes, that the open file takes yet
    with ExitStack() as stack:
        for line in lines:
            if not left or len(line) > size:
                stack.close()
                names.append(f"vectors-{len(names) + 1:04}.ndjson")
                file = stack.enter_context(file_in(folder, names[-1]))
                left, size = limits.MAX_UPLOAD_VECTORS, limits.MAX_UPLOAD_BYTES
            file.write(line)
            left, size = left - 1, size - len(line)
    return names


def _index_line(
    identifier: str, text: EmbeddedText, fields: dict[str, str], vector: bytes, changed: Counter[str]
) -> bytes:
    """The JSON line of one vector; `vector` is its JSON array. Metadata that is too large loses the text first."""
    short: dict[str, str] = {}
    if not 0 < len(identifier.encode()) <= limits.MAX_VECTOR_ID_BYTES:
        changed["ids_replaced_by_their_sha256"] += 1
        short = {"original_id": identifier}
        identifier = hashlib.sha256(identifier.encode()).hexdigest()
    candidates = ({**short, "text": text.text, **fields}, {**short, **fields}, short, dict[str, str]())
    encoded = enumerate(map(msgspec.json.encode, candidates))
    index, metadata = next((index, found) for index, found in encoded if len(found) <= limits.MAX_METADATA_BYTES)
    changed["texts_too_long_for_metadata"] += index >= 1
    changed["columns_too_long_for_metadata"] += index >= 2 and bool(fields)
    return b'{"id":%b,"values":%b,"metadata":%b}\n' % (msgspec.json.encode(identifier), vector, metadata)


def usual_key(column: str, taken: Collection[str] = ()) -> str:
    """The key for a column: its name without what Vectorize refuses, and with “_” behind it where it is taken."""
    key = column.replace(".", "_").replace('"', "'").lstrip("$") or "column"
    while key in taken:
        key += "_"
    return key


# The schema that llm 0.36 creates. From the first table it reads which migrations of the others have been applied.
_LLM_TABLES = """
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
_LlmRow = tuple[str, bytes, str, bytes, str | None, int]


def write_llm(work: Work) -> Written:
    """`updated` is when the job was sent. Raises ExportError for an id that comes twice."""
    table = VectorRows(work, has_text_column=True)
    collection = slug(work.job.name, "texts")
    updated = int(work.job.sent_at)
    first = ""

    def rows() -> Iterator[_LlmRow]:
        nonlocal first
        for texts, vectors in table.blocks():
            for text, vector in zip(texts, vectors.astype("<f4", copy=False), strict=True):
                key, named = table.key_of(text), dict(zip(table.columns, table.cells(text), strict=True))
                metadata = json.dumps(named, ensure_ascii=False) if named else None
                digest = hashlib.md5(text.text.encode(), usedforsecurity=False).digest()
                first = first or key
                yield key, vector.tobytes(), text.text, digest, metadata, updated

    with export_file(work) as stream:
        try:
            _fill_llm(stream.name, collection, work.job.model, updated, rows())
        except sqlite3.IntegrityError as error:
            raise ExportError(message("id_comes_twice_collection_keeps_one"), detail=str(error)) from error
        except sqlite3.OperationalError as error:
            # SQLite does not report the cause: bytes behind the end raise the OSError of a full disk.
            stream.seek(0, os.SEEK_END)
            stream.write(b"\0" * (1 << 20))
            stream.flush()
            raise ExportError(message("sqlite_file_could_not_be_written"), detail=str(error)) from error
    notes = {**table.notes, "collection": collection}
    return Written(table.count, (work.path,), notes, command("llm", "similar", collection, first, "-d", str(work.path)))


def _fill_llm(path: str, collection: str, model: str, updated: int, rows: Iterator[_LlmRow]) -> None:
    """Fill the unfinished file, without a journal: after a failure the file is deleted anyway."""
    when = str(datetime.fromtimestamp(updated, UTC))
    migration = "INSERT INTO _sqlite_migrations(migration_set, name, applied_at) VALUES('llm.embeddings', ?, ?)"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {_LLM_TABLES}")
        database.executemany(migration, ((name, when) for name in _MIGRATIONS))
        database.execute("INSERT INTO collections VALUES(1, ?, ?)", (collection, model))
        database.executemany("INSERT INTO embeddings VALUES(1, ?, ?, ?, NULL, ?, ?, ?)", rows)
        database.execute("COMMIT")
