"""Read Parquet files with arro3, an optional dependency."""

import base64
import datetime
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import Candidate, Row, Source
from cfbatch_gui.core.inputs.open_file import without_rows
from cfbatch_gui.core.inputs.readers.decoding_process import DecodingError, decoding
from cfbatch_gui.core.inputs.readers.decoding_program import PARQUET
from cfbatch_gui.core.inputs.readers.json_shapes import cell_text, columns_of
from cfbatch_gui.core.messages import message

MARK = b"PAR1"


def recognise_parquet(candidate: Candidate) -> Source | None:
    is_named = candidate.suffix == ".parquet"
    if not candidate.head.startswith(MARK) or not (is_named or b"\0" in candidate.head[4:64]):
        return None
    candidate.refuse_text_options(message("a Parquet file"))
    columns = _columns(candidate.path)
    if not columns:
        raise without_rows(candidate.path)
    return Source(candidate.path, "parquet", columns, candidate.size, has_header=True)


def read_parquet(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield the rows, numbered from 1, one batch in memory at a time; lists and records as JSON, times as ISO 8601."""
    number = 0
    with _reading(source.path) as (batches, finish):
        for batch in batches:
            values = [batch.column(name).to_pylist() for name in source.columns]
            for cells in zip(*values, strict=True):
                number += 1
                yield Row(number, tuple([_cell(cell) for cell in cells]))
            if progress is not None:
                progress(number)
        finish()


def _columns(path: Path) -> tuple[str, ...]:
    with _reading(path) as (batches, _):
        return columns_of([dict.fromkeys(batches.schema.names)])


@contextmanager
def _reading(path: Path) -> Iterator[tuple[Any, Callable[[], None]]]:
    """Give the batches, with their schema, and a function to be called after the last batch."""
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
            try:
                batches = read_ipc_stream(decoded.stream)
            except Exception:
                decoded.finish()  # its error has the cause
                raise
            yield batches, decoded.finish
    except (GeneratorExit, KeyboardInterrupt, SystemExit, InputError):
        raise
    except DecodingError as exc:
        raise _damaged(path, str(exc)) from exc
    except BaseException as exc:
        # A panic of the library is a BaseException; a file that it cannot read must not end the program.
        if isinstance(exc, Exception) and not type(exc).__module__.startswith(("arro3", "builtins")):
            raise
        raise _damaged(path, f"{type(exc).__name__}: {exc}") from exc


def _damaged(path: Path, detail: str) -> InputError:
    return InputError(
        message("{name} is damaged or incomplete. Write it again, and choose that file.", name=path.name), detail=detail
    )


def _cell(value: object) -> str:
    if isinstance(value, str | int | float) or value is None:
        return cell_text(repr(value) if isinstance(value, float) else value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return cell_text(value.decode())
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, list | dict):
        return cell_text(value)
    return cell_text(str(value))
