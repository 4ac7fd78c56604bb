"""Parquet of rankings and vectors; for Embedding Atlas with the kept map and the nearest rows.

arro3 panics when a callback raises, so the sink keeps the first exception, which is raised afterwards.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import IO, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import Embeddings, UnitVectors, unit_vectors
from cfbatch_gui.core.results.exports.base import RowsOfTable, Steps, Work, Written, command, export_file
from cfbatch_gui.core.results.exports.rows import ScoreRows, VectorRows
from cfbatch_gui.core.results.text_map import Layout, cached_map, make_map

_ROWS_AT_ONCE = 8192  # in a row group, which arro3 holds in memory: 32 MB for vectors of 1,024 numbers
_FIXED = ("id", "text", "vector")


def _check_installed() -> None:
    try:
        import arro3.core
        import arro3.io  # noqa: F401  # the second half of the same extra
    except ImportError as error:
        raise ExportError(message("parquet_needs_part_program_is_not"), detail=str(error)) from error


def write_vectors(work: Work, *, for_atlas: bool = False) -> Written:
    """`for_atlas` adds coordinates on the map and neighbours, for Embedding Atlas; see `_atlas_columns`."""
    _check_installed()
    from arro3.core import Array, DataType, Field, RecordBatch, Schema, fixed_size_list_array

    table = VectorRows(work, reserved=(*_FIXED, *NAMES), has_text_column=True)
    names = ("id", "text", *table.columns)
    vector_type = DataType.list(Field("item", DataType.float32()), table.dimension)
    fields = [*(Field(name, DataType.utf8()) for name in names), Field("vector", vector_type)]
    more, about = _atlas_columns(work, table) if for_atlas else ({}, {})
    schema = Schema([*fields, *(Field(name, array.type) for name, array in more.items())])

    def batches() -> Iterator[Any]:
        done = 0
        for texts, vectors in table.blocks():
            rows = [(table.id_of(text), text.text, *table.cells(text)) for text in texts]
            columns = [Array(list(column), DataType.utf8()) for column in zip(*rows, strict=True)]
            numbers = Array.from_numpy(vectors.reshape(-1))
            columns.append(fixed_size_list_array(numbers, table.dimension, type=vector_type))
            columns += [array.slice(done, len(texts)) for array in more.values()]
            done += len(texts)
            yield RecordBatch(columns, schema=schema)

    rows = _save(work, schema, batches())
    shape = f"fixed_size_list<float32>[{table.dimension}]"
    notes = {**table.notes, "columns": list(schema.names), "vector": shape, **about}
    options = chain.from_iterable(
        zip(("--x", "--y", "--neighbors"), more, strict=False) if more else [("--vector", "vector")]
    )
    return Written(rows, (work.path,), notes, command("embedding-atlas", str(work.path), *options, "--text", "text"))


def write_rankings(work: Work) -> Written:
    return write_rows(work, lambda work: ScoreRows(work, work.options.columns))


def write_rows(work: Work, table_of: Callable[[Work], RowsOfTable]) -> Written:
    _check_installed()
    from arro3.core import Array, DataType, Field, RecordBatch, Schema

    table = table_of(work)
    kinds = {"utf8": DataType.utf8(), "int64": DataType.int64(), "float64": DataType.float64()}
    types = [kinds[kind] for kind in table.kinds]
    schema = Schema([Field(name, kind) for name, kind in zip(table.columns, types, strict=True)])

    def batches() -> Iterator[Any]:
        for block in table.blocks():
            columns = zip(*block, strict=True) if block else ([] for _ in types)
            arrays = [Array(list(column), kind) for column, kind in zip(columns, types, strict=True)]
            yield RecordBatch(arrays, schema=schema)

    rows = _save(work, schema, batches())
    return Written(rows, (work.path,), {"columns": list(table.columns), **table.notes})


def _save(work: Work, schema: Any, batches: Iterator[Any]) -> int:
    from arro3.core import RecordBatchReader
    from arro3.io import write_parquet

    with export_file(work) as stream:
        sink = _ArrowSink(stream)
        write_parquet(
            RecordBatchReader.from_batches(schema, sink.until_failure(batches)),  # which asks for one after the other
            cast(IO[bytes], sink),
            compression="zstd(1)",
            column_compression={"vector.list.item": "uncompressed"},  # of vectors zstd saves a fourteenth
            dictionary_enabled=False,
            max_row_group_size=_ROWS_AT_ONCE,
        )
        if sink.failure is not None:
            raise sink.failure
    return sink.rows


class _ArrowSink(io.RawIOBase):
    """The file object that arro3 writes to. After a failure it accepts and discards all data."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self.failure: BaseException | None = None
        self.rows = 0

    def until_failure(self, batches: Iterator[Any]) -> Iterator[Any]:
        try:
            for batch in batches:
                yield batch
                self.rows += batch.num_rows
                if self.failure is not None:
                    return
        except BaseException as error:  # noqa: BLE001  # raised again by `_save`
            self.failure = error

    def write(self, data: Any) -> int:
        content = bytes(data)
        if self.failure is None:
            try:
                self._stream.write(content)
            except BaseException as error:  # noqa: BLE001  # raised again by `_save`
                self.failure = error
        return len(content)


NAMES = ("projection_x", "projection_y", "neighbors")
_NEIGHBOURS = 15  # as many as Embedding Atlas itself computes
_NOWHERE: Sequence[float | None] = (None, None)
_PROJECTIONS = {
    Layout.NEIGHBOURS: "by neighbours (t-SNE): the map that is kept with the job",
    Layout.DIRECTION: "by direction (PCA): no map by neighbours is kept with the job",
}
MOST_TEXTS = 20_000  # of 1,024 numbers: some ten seconds on two cores
_BLOCK = 1_024  # texts whose neighbours are looked for together


# Of each row, whether it has neighbours, (n,); these as rows (int32), and distances (1 − cosine), both (n, k).
NearestRows = tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.float32]]


def find_nearest_rows(unit: UnitVectors, item_numbers: NDArray[np.int64], count: int, steps: Steps) -> NearestRows:
    """Up to `count` neighbours of each row, of equal ones the first; `item_numbers` ascend. Blocking for seconds.
    Raises DataError.
    """
    indices = np.flatnonzero(np.isin(unit.item_numbers, item_numbers))
    has_direction = np.isin(item_numbers, unit.item_numbers)
    row_of = np.flatnonzero(has_direction)
    most = max(0, min(count, len(indices) - 1))
    nearest = np.zeros((len(item_numbers), most), dtype=np.int32)
    cosines = np.zeros((len(item_numbers), most), dtype=np.float32)
    rows = unit.rows(indices)
    for start in range(0, len(indices) if most else 0, _BLOCK):
        lines = rows[start : start + _BLOCK].copy()  # of one array with itself NumPy sums in another order
        product = lines @ rows.T
        numbers = np.arange(len(product))
        product[numbers, start + numbers] = -np.inf
        found = np.argpartition(product, len(indices) - most, axis=1)[:, len(indices) - most :]
        values = np.take_along_axis(product, found, axis=1)
        order = np.lexsort((found, -values))
        block = row_of[start : start + _BLOCK]
        nearest[block] = row_of[np.take_along_axis(found, order, axis=1)]
        cosines[block] = np.take_along_axis(values, order, axis=1)
        steps.wrote(len(product))
    return has_direction, nearest, np.clip(np.float32(1) - cosines, 0, 2)


def _atlas_columns(work: Work, table: VectorRows) -> tuple[dict[str, Any], dict[str, object]]:
    """The columns as arrays of all rows, by name, and notes for the manifest."""
    from arro3.core import Array, DataType, Field, list_array, struct_array

    embeddings = Embeddings(work.folder, work.job.failed_batches)
    kept = cached_map(work.folder, unit_vectors(embeddings))
    found = make_map(embeddings, lambda _share: work.steps.wrote(0)) if kept is None else kept
    point_of = dict(zip(found.item_numbers.tolist(), found.points.tolist(), strict=True))
    points = [point_of.get(item, _NOWHERE) for item in table.item_numbers.tolist()]
    x, y, neighbours = NAMES
    columns = {name: Array([point[axis] for point in points], DataType.float32()) for axis, name in enumerate((x, y))}
    notes: dict[str, object] = {"projection": _PROJECTIONS[found.layout]}
    if table.count > MOST_TEXTS:
        return columns, {**notes, neighbours: f"left out: there are more than {MOST_TEXTS:,} texts"}
    unit = unit_vectors(embeddings)
    has_neighbours, *both = find_nearest_rows(unit, table.item_numbers, _NEIGHBOURS, work.steps)
    offsets = Array.from_numpy(np.append(0, np.cumsum(has_neighbours * both[0].shape[1])).astype(np.int32))
    kinds = {"ids": DataType.int32(), "distances": DataType.float32()}
    parts = [Field(name, DataType.list(Field("item", kind))) for name, kind in kinds.items()]
    lists = [
        list_array(offsets, Array.from_numpy(values[has_neighbours].reshape(-1)), type=part.type)
        for part, values in zip(parts, both, strict=True)
    ]
    notes[neighbours] = f"up to {_NEIGHBOURS}: rows of this file from 0, and 1 - cosine"
    return {**columns, neighbours: struct_array(lists, fields=parts)}, notes
