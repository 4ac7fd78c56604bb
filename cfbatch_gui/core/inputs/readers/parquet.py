"""Read Parquet files with arro3, an optional dependency."""

import base64
import datetime
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.input_values import Block, Candidate, Source
from cfbatch_gui.core.inputs.open_file import damaged, without_rows
from cfbatch_gui.core.inputs.readers.decoding_process import DecodingError, decoding
from cfbatch_gui.core.inputs.readers.decoding_program import PARQUET
from cfbatch_gui.core.inputs.readers.json_shapes import Fields, columns_of, rows_of_objects
from cfbatch_gui.core.messages import message

MARK = b"PAR1"
_ROWS_FOR_COLUMNS = 1000
_CURE = message("Write it again, and choose that file.")


def recognise_parquet(candidate: Candidate) -> Source | None:
    is_named = candidate.suffix == ".parquet"
    if not candidate.head.startswith(MARK) or not (is_named or b"\0" in candidate.head[4:64]):
        return None
    candidate.refuse_text_options(message("a Parquet file"))
    columns = _columns(candidate.path)
    if not columns:
        raise without_rows(candidate.path)
    return Source(candidate.path, "parquet", columns, candidate.size, has_header=True)


def read_parquet(source: Source, progress: Callable[[int], None] | None) -> Generator[Block, None, None]:
    """Yield the rows, numbered from 1, one batch in memory at a time; lists and maps as JSON, times as ISO 8601.

    A value that Python cannot hold, such as a date beyond the year 9999, is empty.
    """
    number = 1
    with _reading(source.path) as batches:
        for batch in batches:
            rows = rows_of_objects(_records(batch), source.columns)
            yield Block(range(number, number + len(rows)), rows)
            number += len(rows)
            if progress is not None:
                progress(number - 1)


def _columns(path: Path) -> tuple[str, ...]:
    with _reading(path) as batches:
        names = complete_names(batches.schema.names, len(batches.schema.names))
        rows = (fields for batch in batches for fields in _records(batch))
        return columns_of([dict.fromkeys(names), *islice(rows, _ROWS_FOR_COLUMNS)]) if names else ()


def _records(batch: Any) -> list[Fields]:
    names = complete_names(batch.schema.names, batch.num_columns)  # two columns may have one name, or none
    columns = [map(_plain, _values(batch.column(index))) for index in range(batch.num_columns)]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _values(column: Any) -> list[object]:
    try:
        return list(column.to_pylist())
    except Exception:  # noqa: BLE001 # what the library raises for one such value
        return [_value(each) for each in column]


def _value(scalar: Any) -> object:
    try:
        return scalar.as_py()
    except Exception:  # noqa: BLE001
        return None


@contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """Give the batches, with their schema."""
    try:
        from arro3.io import read_ipc_stream
    except ImportError as exc:
        raise InputError(
            message(
                "{name} is a Parquet file, and the part that reads those is not installed. Install "
                "cfbatch-gui[parquet], or export the table as CSV or JSON Lines.",
                name=path.name,
            ),
            detail=str(exc),
        ) from exc
    try:
        with decoding(PARQUET, path) as decoded:
            yield read_ipc_stream(decoded)
    except (GeneratorExit, KeyboardInterrupt, SystemExit, InputError):
        raise
    except DecodingError as exc:
        raise damaged(path, str(exc), _CURE) from exc
    except BaseException as exc:
        # A panic of the library is a BaseException; a file that it cannot read must not end the program.
        if isinstance(exc, Exception) and not type(exc).__module__.startswith(("arro3", "builtins")):
            raise
        raise damaged(path, exc, _CURE) from exc


def _plain(value: object) -> object:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [each if isinstance(each, float) else _plain(each) for each in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    return value if isinstance(value, str | int) or value is None else str(value)
