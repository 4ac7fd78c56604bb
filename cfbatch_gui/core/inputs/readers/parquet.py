"""Read Parquet files with arro3, an optional dependency, in a process of its own."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.input_values import Block, Candidate, Progress, Source
from cfbatch_gui.core.inputs.open_file import without_rows
from cfbatch_gui.core.inputs.readers.decoding_process import decoding
from cfbatch_gui.core.inputs.readers.decoding_program import PARQUET
from cfbatch_gui.core.inputs.readers.json_shapes import Fields, columns_of, rows_of_objects
from cfbatch_gui.core.messages import message

MARK = b"PAR1"
_ROWS_FOR_COLUMNS = 1000


def recognise_parquet(candidate: Candidate) -> Source | None:
    is_named = candidate.suffix == ".parquet"
    if not candidate.head.startswith(MARK) or not (is_named or b"\0" in candidate.head[4:64]):
        return None
    candidate.refuse_text_options(message("parquet_file"))
    with _reading(candidate.path) as (names, batches):
        rows = (fields for batch in batches for fields in batch)
        columns = columns_of([dict.fromkeys(names), *islice(rows, _ROWS_FOR_COLUMNS)]) if names else ()
    if not columns:
        raise without_rows(candidate.path)
    return Source(candidate.path, "parquet", columns, candidate.size, has_header=True)


def read_parquet(source: Source, progress: Progress) -> Generator[Block, None, None]:
    """Yield the rows, numbered from 1, one batch in memory at a time; lists and maps as JSON, times as ISO 8601.

    A value that Python cannot hold, such as a date beyond the year 9999, is empty.
    """
    count = 0
    with _reading(source.path) as (_, batches):
        for batch in batches:
            yield Block(range(count + 1, count + 1 + len(batch)), rows_of_objects(batch, source.columns))
            count += len(batch)
            if progress is not None:
                progress(count)


@contextmanager
def _reading(path: Path) -> Iterator[tuple[tuple[str, ...], Iterator[list[Fields]]]]:
    """Give the names of the columns, of which two may have one, or none, and batches of rows by these names."""
    with decoding(PARQUET, path, message("write_again_choose_file")) as lines:
        given: list[str] = next(lines, [])
        names = complete_names(given, len(given))
        yield names, ([dict(zip(names, values, strict=True)) for values in rows] for rows in lines)
