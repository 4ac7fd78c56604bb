"""Read the rows of a file with the reader of its format."""

from collections.abc import Callable, Generator
from contextlib import closing
from itertools import groupby, islice

from cfbatch_gui.core.inputs.input_values import Block, Progress, Row, Source, single_rows
from cfbatch_gui.core.inputs.readers.formats import format_of
from cfbatch_gui.core.system.threads import check_stopped

_LOOKED_THROUGH = 20_000  # rows
_ROWS_IN_BLOCK = 20  # few, as each may be a file


def read_rows(source: Source, *, progress: Progress = None) -> Generator[Row, None, None]:
    """Yield the rows exactly as `source` says, in file order, without the header. `progress` gets bytes or rows.

    Raises InputError.
    """
    return single_rows(format_of(source).read(source, _looking(progress)))


def read_blocks(source: Source, *, progress: Progress = None) -> Generator[Block | Row, None, None]:
    """Yield the rows as `read_rows` does, those without a problem in blocks."""
    found = format_of(source).read(source, _looking(progress))
    for is_plain, group in groupby(found, lambda each: isinstance(each, Row) and not each.problem):
        if not is_plain:
            yield from group
            continue
        rows = single_rows(group)
        while some := list(islice(rows, _ROWS_IN_BLOCK)):
            yield Block([row.number for row in some], [row.cells for row in some])


def _looking(progress: Progress) -> Callable[[int], None]:
    def report(position: int) -> None:
        check_stopped()
        if progress is not None:
            progress(position)

    return report


def preview(source: Source, limit: int = 200) -> tuple[Row, ...]:
    """The first rows by the reader that a job uses. Raises InputError."""
    with closing(read_rows(source)) as rows:
        return tuple(islice(rows, limit))


def preview_beyond_ascii(source: Source, limit: int = 200) -> tuple[Row, ...]:
    """Rows as `preview` gives, those beyond ASCII first. Raises InputError."""
    with closing(read_rows(source)) as rows:
        first = sorted(islice(rows, _LOOKED_THROUGH), key=lambda row: all(map(str.isascii, row.cells)))
    return tuple(first[:limit])
