"""Rows without a fault, many at a time: what costs most in a large file is what is done once for each row."""

from collections.abc import Generator, Iterable, Sequence

import msgspec

from cfbatch_gui.core.inputs.input_values import Row

_ROWS, _CHARACTERS = 1_000, 256 * 1024


class Block(msgspec.Struct, frozen=True, gc=False):
    """Rows that can be used, in the order of the file: the number of each, and its cells, as many as columns."""

    numbers: Sequence[int]
    rows: Sequence[Sequence[str]]


def in_blocks(rows: Iterable[Block | Row]) -> Generator[Block | Row, None, None]:
    """Put rows without a problem together, so many that a block takes some megabytes at most or is a single row; those
    in blocks stay in these. A row that comes alone has a problem."""
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
        if len(numbers) >= _ROWS or size >= _CHARACTERS:
            yield Block(numbers, cells)
            numbers, cells, size = [], [], 0
    if numbers:
        yield Block(numbers, cells)
