"""Rows that have another number of cells than the table has columns."""

from collections.abc import Sequence
from functools import lru_cache

from cfbatch_gui.core.inputs.input_values import Row
from cfbatch_gui.core.messages import Message, counted_message, message


def unusual_row(row: Row, width: int) -> Row:
    """Return a row of another number of cells than `width` with exactly `width` cells, and as a problem.

    A row that has a problem keeps it. A row without cells, a blank one, gets empty cells and no problem.
    """
    problem, cells = row.problem, row.cells
    if not problem and cells and len(cells) != width:
        problem = width_problem(len(cells), width)
    return Row(row.number, fitted(cells, width), problem, row.problem_kind, row.raw)


def fitted(cells: Sequence[str], width: int) -> tuple[str, ...]:
    """Return the first `width` cells; empty ones follow where there are fewer."""
    return (*cells[:width], *("",) * (width - len(cells)))


@lru_cache(maxsize=256)
def width_problem(cells: int, columns: int) -> str:
    """The sentence for a row of so many cells in a table of so many columns."""
    return message(
        "This row has {cells}, but the file has {columns}.", cells=cells_text(cells), columns=columns_text(columns)
    )


def cells_text(count: int) -> Message:
    """A number of cells as part of a sentence."""
    return counted_message(count, "{n:,} cell", "{n:,} cells")


def columns_text(count: int) -> Message:
    """A number of columns as part of a sentence."""
    return counted_message(count, "{n:,} column", "{n:,} columns")
