"""Parquet: `id`, `text`, the user's other columns and `vector`, a list of fixed size of float32; or the long table of a
ranking. LanceDB, DuckDB, Polars, Embedding Atlas and Hugging Face datasets read it.

arro3 writes a whole table, or what it reads from a stream in Arrow's format; only the second keeps memory flat. A
Python exception inside arro3 makes it panic. So none gets there: the first one is kept, the stream ends early, and the
exception is raised when arro3 has returned.
"""

import io
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, cast

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import atlas
from cfbatch_gui.core.results.exports.base import Work, Written, command, not_as_written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.score_rows import ScoreRows
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.system.files import atomic_writer

_ROWS_AT_ONCE = 8192  # of a group: what arro3 holds in memory, 32 MB of vectors of 1,024 numbers
_FIXED = ("id", "text", "vector")
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # of a stream in Arrow's format


def write(work: Work) -> Written:
    """Write and read back: the bytes of the file, and then as a reader finds its way into it."""
    _check_installed()
    return _write_rankings(work) if work.metadata.kind is Kind.RANK else _write_vectors(work)


def write_with_map(work: Work) -> Written:
    """Vectors with the place of each on the map, and its neighbours, so that Embedding Atlas shows them at once."""
    _check_installed()
    return _write_vectors(work, for_atlas=True)


def _check_installed() -> None:
    try:
        import arro3.core
        import arro3.io  # noqa: F401  # the second half of the same extra
    except ImportError as error:
        raise ExportError(
            "Parquet needs a part of this program that is not installed. Install it with “pip install"
            " 'cfbatch-gui[parquet]'” and start again, or choose CSV or JSON Lines. Nothing was written.",
            detail=str(error),
        ) from error


def _write_vectors(work: Work, *, for_atlas: bool = False) -> Written:
    from arro3.core import Array, DataType, Field, RecordBatch, Schema, fixed_size_list_array

    table = VectorRows(work, reserved=(*_FIXED, *atlas.NAMES), has_text_column=True)
    names = ("id", "text", *table.columns)
    vector_type = DataType.list(Field("item", DataType.float32()), table.dimension)
    fields = [*(Field(name, DataType.utf8()) for name in names), Field("vector", vector_type)]
    more = atlas.AtlasColumns(work, table) if for_atlas else None
    schema = Schema([*fields, *(more.fields if more else ())])

    def batches() -> Iterator[tuple[int, Any]]:
        done = 0
        for texts, vectors in table.blocks():
            rows = [(table.id_of(text), text.text, *table.cells(text)) for text in texts]
            columns = [Array(list(column), DataType.utf8()) for column in zip(*rows, strict=True)]
            numbers = Array.from_numpy(vectors.reshape(-1))
            columns.append(fixed_size_list_array(numbers, table.dimension, type=vector_type))
            if more is not None:
                columns += more.arrays(done, texts)
            done += len(texts)
            yield len(texts), RecordBatch(columns, schema=schema)

    rows = _save(work, schema, batches())
    shape = f"fixed_size_list<float32>[{table.dimension}]"
    notes = {**table.notes, "columns": list(schema.names), "vector": shape, **(more.notes if more else {})}
    options = more.options if more else ("--vector", "vector")
    return Written(rows, (work.path,), notes, command("embedding-atlas", str(work.path), *options, "--text", "text"))


def _write_rankings(work: Work) -> Written:
    from arro3.core import Array, DataType, Field, RecordBatch, Schema

    table = ScoreRows(work)
    kinds = {"utf8": DataType.utf8(), "int64": DataType.int64(), "float64": DataType.float64()}
    types = [kinds[kind] for kind in table.kinds]
    schema = Schema([Field(name, kind) for name, kind in zip(table.columns, types, strict=True)])

    def batches() -> Iterator[tuple[int, Any]]:
        for block in table.blocks():
            columns = zip(*block.rows, strict=True) if block.rows else ([] for _ in types)
            arrays = [Array(list(column), kind) for column, kind in zip(columns, types, strict=True)]
            yield block.items, RecordBatch(arrays, schema=schema)

    rows = _save(work, schema, batches())
    notes = {"columns": list(table.columns), "dropped_by_top_k_or_threshold": table.dropped}
    return Written(rows, (work.path,), notes)


def _save(work: Work, schema: Any, batches: Iterator[tuple[int, Any]]) -> int:
    """Write all batches, each with the number of items it stands for, and compare; returns how many rows they have."""
    from arro3.io import read_ipc_stream, write_parquet

    rows = done = 0

    def counted() -> Iterator[Any]:
        nonlocal rows, done
        for items, batch in batches:
            yield batch
            rows, done = rows + batch.num_rows, done + items
            work.tick(done)

    with atomic_writer(work.path) as raw:
        stream = CheckedStream(raw, work.path)
        source = _ArrowSource(schema, counted())
        write_parquet(
            read_ipc_stream(cast(IO[bytes], source)),
            cast(IO[bytes], _ArrowSink(stream, source)),
            compression="zstd(1)",
            column_compression={"vector.list.item": "uncompressed"},  # of vectors zstd saves a fourteenth
            dictionary_enabled=False,
            max_row_group_size=_ROWS_AT_ONCE,
        )
        if source.failure is not None:
            raise source.failure
        stream.compare(work, done)
        _check_end(raw, work, schema)
        work.tick_end()
    return rows


def _check_end(raw: BinaryIO, work: Work, schema: Any) -> None:
    """What readers look at first, at the end of the file, says what was written."""
    from arro3.io import read_parquet

    try:
        # By its name: arro3 reads faster without Python between it and the file.
        found = read_parquet(raw.name)
    except Exception as error:  # noqa: BLE001  # arro3's own have no common class
        not_as_written(work.path, str(error))
    if found.schema.names != schema.names or found.schema.types != schema.types:
        not_as_written(work.path, "other columns")


class _ArrowSource:
    """Record batches as a file in Arrow's format for streams. `batches` all have this `schema`."""

    def __init__(self, schema: Any, batches: Iterator[Any]) -> None:  # types of arro3, which has none for mypy
        self._pieces = self._encoded(schema, batches)
        self._rest = memoryview(b"")
        self.failure: BaseException | None = None

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, none at the end."""
        if not self._rest:
            self._rest = next(self._pieces, memoryview(b""))
        data = bytes(self._rest[:size] if size >= 0 else self._rest)
        self._rest = self._rest[len(data) :]
        return data

    def seek(self, _offset: int, _whence: int = 0) -> int:
        """arro3 asks whether there is such a method; a stream is never wound back."""
        raise io.UnsupportedOperation("a stream that is made while it is read")

    def _encoded(self, schema: Any, batches: Iterator[Any]) -> Iterator[memoryview]:
        from arro3.core import RecordBatchReader

        start = _stream(RecordBatchReader.from_batches(schema, []))[: -len(_END)]
        yield start
        try:
            for batch in batches:
                yield _stream(batch)[len(start) : -len(_END)]
                if self.failure is not None:
                    break
        except BaseException as error:  # noqa: BLE001  # raised again by the one who writes
            self.failure = self.failure or error
        yield memoryview(_END)


class _ArrowSink:
    """The file that arro3 writes to. After a failure it takes everything and keeps nothing."""

    def __init__(self, stream: CheckedStream, source: _ArrowSource) -> None:
        self._stream = stream
        self._source = source

    def write(self, data: bytes) -> int:
        """Write all of it."""
        if self._source.failure is None:
            try:
                self._stream.write(bytes(data))
            except BaseException as error:  # noqa: BLE001  # as above
                self._source.failure = error
        return len(data)

    def flush(self) -> None:
        """For arro3, which calls it; the file is flushed when it is whole."""

    def seek(self, _offset: int, _whence: int = 0) -> int:
        """As for the source."""
        raise io.UnsupportedOperation("written from the beginning to the end")


def _stream(data: Any) -> memoryview:
    from arro3.io import write_ipc_stream

    buffer = io.BytesIO()
    write_ipc_stream(data, buffer)
    return buffer.getbuffer()
