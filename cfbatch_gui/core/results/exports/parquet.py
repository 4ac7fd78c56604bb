"""Parquet: `id`, `text`, the user's other columns and `vector`, a fixed-size list of float32; or the long table of a
ranking. LanceDB, DuckDB, Polars, Embedding Atlas and Hugging Face datasets read these files.

arro3 writes either a whole table or an Arrow IPC stream; only the stream keeps memory use constant. A Python exception
that is raised in a callback from arro3 makes arro3 panic. So the source and the sink store the first exception and end
the stream early, and it is raised after arro3 has returned.
"""

import io
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, cast

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports import atlas
from cfbatch_gui.core.results.exports.base import Work, Written, command, not_as_written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.score_rows import ScoreRows
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.system.files import atomic_writer

_ROWS_AT_ONCE = 8192  # in a row group, which arro3 holds in memory: 32 MB for vectors of 1,024 numbers
_FIXED = ("id", "text", "vector")
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # the end-of-stream marker of the Arrow IPC format


def write(work: Work) -> Written:
    """Write, compare the bytes of the file with those written, and check the schema in its footer."""
    _check_installed()
    return _write_rankings(work) if work.metadata.kind is Kind.RANK else _write_vectors(work)


def write_with_map(work: Work) -> Written:
    """Write vectors with their coordinates on the map and their neighbours, for Embedding Atlas; see `atlas`."""
    _check_installed()
    return _write_vectors(work, for_atlas=True)


def _check_installed() -> None:
    try:
        import arro3.core
        import arro3.io  # noqa: F401  # the second half of the same extra
    except ImportError as error:
        raise ExportError(
            message(
                "Parquet needs a part of this program that is not installed. Install it with “pip install "
                "'cfbatch-gui[parquet]'” and start again, or choose CSV or JSON Lines. Nothing was written."
            ),
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
    """Write all `batches`, pairs of a number of items and a record batch, and read back; returns the number of rows."""
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
    """Raise ExportError unless the footer of the file has the names and types of `schema`."""
    from arro3.io import read_parquet

    try:
        # By path, not by file object: arro3 then reads without calling Python.
        found = read_parquet(raw.name)
    except Exception as error:  # noqa: BLE001  # the exceptions of arro3 have no common base class
        not_as_written(work.path, str(error))
    if found.schema.names != schema.names or found.schema.types != schema.types:
        not_as_written(work.path, "other columns")


class _ArrowSource:
    """Record batches, all of the given schema, as a readable file object in the Arrow IPC stream format."""

    def __init__(self, schema: Any, batches: Iterator[Any]) -> None:  # Any: arro3 has no type information for mypy
        self._pieces = self._encoded(schema, batches)
        self._rest = memoryview(b"")
        self.failure: BaseException | None = None

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, b"" at the end. A negative `size` gives the rest of the current batch."""
        if not self._rest:
            self._rest = next(self._pieces, memoryview(b""))
        data = bytes(self._rest[:size] if size >= 0 else self._rest)
        self._rest = self._rest[len(data) :]
        return data

    def seek(self, _offset: int, _whence: int = 0) -> int:
        """Raise UnsupportedOperation; arro3 requires the method but does not call it for a stream."""
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
        except BaseException as error:  # noqa: BLE001  # raised again by `_save`
            self.failure = self.failure or error
        yield memoryview(_END)


class _ArrowSink:
    """The file object that arro3 writes to. After a failure it accepts and discards all data."""

    def __init__(self, stream: CheckedStream, source: _ArrowSource) -> None:
        self._stream = stream
        self._source = source

    def write(self, data: bytes) -> int:
        """Write all of `data`; returns its length in bytes."""
        if self._source.failure is None:
            try:
                self._stream.write(bytes(data))
            except BaseException as error:  # noqa: BLE001  # raised again by `_save`
                self._source.failure = error
        return len(data)

    def flush(self) -> None:
        """Do nothing: arro3 calls this method, and the file is flushed when it is complete."""

    def seek(self, _offset: int, _whence: int = 0) -> int:
        """Raise UnsupportedOperation, as in `_ArrowSource`."""
        raise io.UnsupportedOperation("written from the beginning to the end")


def _stream(data: Any) -> memoryview:
    from arro3.io import write_ipc_stream

    buffer = io.BytesIO()
    write_ipc_stream(data, buffer)
    return buffer.getbuffer()
