"""Read the rows of a file with the reader of its format."""

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from itertools import islice

from cfbatch_gui.core.inputs.input_values import Block, Row, Source, single_rows
from cfbatch_gui.core.inputs.readers.formats import format_of
from cfbatch_gui.core.system.threads import check_stopped

_LOOKED_THROUGH = 20_000  # rows
_ROWS_IN_BLOCK, _CHARACTERS_IN_BLOCK = 1_000, 256 * 1024


def read_rows(source: Source, *, progress: Callable[[int], None] | None = None) -> Generator[Row, None, None]:
    """Yield the rows exactly as `source` says, in file order, without the header. `progress` gets bytes or rows.

    Raises InputError.
    """
    return single_rows(format_of(source).read(source, _looking(progress)))


def read_blocks(source: Source, *, progress: Callable[[int], None] | None = None) -> Generator[Block | Row, None, None]:
    return _in_blocks(format_of(source).read(source, _looking(progress)))


def _looking(progress: Callable[[int], None] | None) -> Callable[[int], None]:
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
        first = tuple(islice(rows, _LOOKED_THROUGH))
    telling = [row for row in first if not all(map(str.isascii, row.cells))]
    others = [row for row in first if all(map(str.isascii, row.cells))]
    return (*telling, *others)[:limit]


def _in_blocks(rows: Iterable[Block | Row]) -> Generator[Block | Row, None, None]:
    numbers: list[int] = []
    cells: list[tuple[str, ...]] = []
    size = 0
    for row in rows:
        if isinstance(row, Block) or row.problem:
            if numbers:
                yield Block(numbers, cells)
                numbers, cells, size = [], [], 0
            yield row
            continue
        numbers.append(row.number)
        cells.append(row.cells)
        size += sum(map(len, row.cells))
        if len(numbers) >= _ROWS_IN_BLOCK or size >= _CHARACTERS_IN_BLOCK:
            yield Block(numbers, cells)
            numbers, cells, size = [], [], 0
    if numbers:
        yield Block(numbers, cells)
