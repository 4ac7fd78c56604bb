"""A folder of NDJSON files for Cloudflare Vectorize, each within the limits of an upload, and commands to load them."""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import EmbeddedText
from cfbatch_gui.core.results.exports.base import Work, Written, checked_file, command, slug
from cfbatch_gui.core.results.exports.vector_rows import VectorRows, vector_texts
from cfbatch_gui.core.system.files import atomic_folder
from cfbatch_gui.core.workers_ai.limits import (
    MAX_INDEX_DIMENSIONS,
    MAX_INDEX_VECTORS,
    MAX_METADATA_BYTES,
    MAX_UPLOAD_BYTES,
    MAX_UPLOAD_VECTORS,
    MAX_VECTOR_ID_BYTES,
)

_OURS = re.compile(r"vectors-\d{4,}\.ndjson")


def write(work: Work) -> Written:
    """Write and read back, changing what Vectorize would refuse. Raises ExportError for an id that comes twice."""
    table = VectorRows(work, reserved=("text", "original_id"), has_text_column=True)
    _check_size(table)
    metadata = _Metadata(table)
    seen: set[str] = set()

    def lines() -> Iterator[bytes]:
        for texts, vectors in table.blocks():
            for text, vector in zip(texts, vector_texts(vectors), strict=True):
                identifier = table.key_of(text)
                if identifier in seen:
                    raise _repeated(identifier, text)
                seen.add(identifier)
                yield metadata.line(identifier, text, vector)
            work.tick(len(seen))

    with atomic_folder(work.path, lambda name: _OURS.fullmatch(name) is not None) as folder:
        paths = tuple(work.path / name for name in _write_files(folder, work, lines()))
        work.tick_end()
    return Written(len(seen), paths, {**table.notes, **metadata.notes}, _commands(work, table.dimension, paths))


def _check_size(table: VectorRows) -> None:
    if table.dimension > MAX_INDEX_DIMENSIONS:
        raise ExportError(
            message(
                "Vectorize takes vectors of {most:,} numbers, and these have {dimension:,}. Nothing was "
                "written. Choose another format.",
                most=MAX_INDEX_DIMENSIONS,
                dimension=table.dimension,
            )
        )
    if table.count > MAX_INDEX_VECTORS:
        raise ExportError(
            message(
                "An index of Vectorize takes {most:,} vectors, and these are {count:,}. Nothing was written.",
                most=MAX_INDEX_VECTORS,
                count=table.count,
            )
        )


def _repeated(identifier: str, text: EmbeddedText) -> ExportError:
    return ExportError(
        message(
            "The id “{identifier}” comes twice, again in row {row}. Vectorize keeps one vector for an id, so the "
            "first would be lost. Nothing was written. Give each text an id of its own, or choose another format.",
            identifier=identifier[:60],
            row=text.row,
        )
    )


def _commands(work: Work, dimension: int, files: Collection[Path]) -> str:
    index = slug(work.metadata.name, "texts")
    create = command("wrangler", "vectorize", "create", index, f"--dimensions={dimension}", "--metric=cosine")
    upserts = (command("wrangler", "vectorize", "upsert", index, f"--file={path}") for path in files)
    return "\n".join((create, *upserts))


def _write_files(folder: Path, work: Work, lines: Iterable[bytes]) -> list[str]:
    names: list[str] = []
    left, size = 0, 0  # lines, and bytes, that the open file takes yet
    with ExitStack() as stack:
        for line in lines:
            if not left or len(line) > size:
                stack.close()
                names.append(f"vectors-{len(names) + 1:04}.ndjson")
                file = stack.enter_context(checked_file(folder, names[-1], work))
                left, size = MAX_UPLOAD_VECTORS, MAX_UPLOAD_BYTES
            file.write(line)
            left, size = left - 1, size - len(line)
    return names


class _Metadata:
    def __init__(self, table: VectorRows) -> None:
        self._table = table
        self._keys = tuple(_keys(table.columns))
        self._encode = msgspec.json.Encoder().encode
        self._long_ids = self._without_text = self._without_columns = 0

    def line(self, identifier: str, text: EmbeddedText, vector: bytes) -> bytes:
        """The JSON line of one vector; `vector` is its JSON array. Metadata that is too large loses the text first."""
        fields = dict(zip(self._keys, self._table.cells(text), strict=True))
        short: dict[str, str] = {}
        if not 0 < len(identifier.encode()) <= MAX_VECTOR_ID_BYTES:
            self._long_ids += 1
            short = {"original_id": identifier}
            identifier = hashlib.sha256(identifier.encode()).hexdigest()
        candidates: tuple[dict[str, str], ...] = (
            {**short, "text": text.text, **fields},
            {**short, **fields},
            short,
            {},
        )
        encoded = b""
        for index, candidate in enumerate(candidates):
            encoded = self._encode(candidate)
            if len(encoded) <= MAX_METADATA_BYTES:
                self._without_text += index >= 1
                self._without_columns += index >= 2 and bool(fields)
                break
        return b'{"id":%b,"values":%b,"metadata":%b}\n' % (self._encode(identifier), vector, encoded)

    @property
    def notes(self) -> dict[str, object]:
        """Notes for the manifest: renamed keys, and the numbers of changed ids and metadata."""
        renamed = {name: key for name, key in zip(self._table.columns, self._keys, strict=True) if name != key}
        return {
            "metadata_keys_renamed": renamed,
            "ids_replaced_by_their_sha256": self._long_ids,
            "texts_too_long_for_metadata": self._without_text,
            "columns_too_long_for_metadata": self._without_columns,
        }


def _keys(names: Collection[str]) -> Iterator[str]:
    """Unique metadata keys for the columns, without dots, double quotes and leading dollar signs, as Vectorize asks."""
    used = {"text", "original_id"}
    for name in names:
        key = name.replace(".", "_").replace('"', "'").lstrip("$") or "column"
        while key in used:
            key += "_"
        used.add(key)
        yield key
