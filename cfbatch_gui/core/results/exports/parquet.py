"""Parquet: `id`, `text`, the user's other columns and `vector`, a list of fixed size of float32; or the long table of a
ranking. LanceDB, DuckDB, Polars, Embedding Atlas and Hugging Face datasets read it.
"""

from collections.abc import Iterator
from typing import IO, Any, BinaryIO, cast

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import atlas
from cfbatch_gui.core.results.exports.arrow_stream import ArrowSink, ArrowSource
from cfbatch_gui.core.results.exports.base import Work, Written, not_as_written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.commands import command
from cfbatch_gui.core.results.exports.score_rows import ScoreRows
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.system.files import atomic_writer

_ROWS_AT_ONCE = 8192  # of a group: what arro3 holds in memory, 32 MB of vectors of 1,024 numbers
_FIXED = ("id", "text", "vector")


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

    table = VectorRows(work, reserved=(*_FIXED, *atlas.NAMES), a_place_for_texts=True)
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
        source = ArrowSource(schema, counted())
        write_parquet(
            read_ipc_stream(cast(IO[bytes], source)),
            cast(IO[bytes], ArrowSink(stream, source)),
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
