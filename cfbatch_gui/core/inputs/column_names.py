"""Find a column by its name, list names, and complete missing or repeated ones."""

import re
from collections.abc import Sequence

from cfbatch_gui.core.messages import cut_list, quoted

_SHOWN = 12
_LONGEST_FIGURE = 60  # characters
_NUMBER = re.compile(r"\s*[-+]?[\d.,' ]*\d[\d.,' ]*(?:[eE][-+]?\d+)?\s*%?")
_DATE = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ][\d:.]+)?\s*")


def index_of(name: str, columns: Sequence[str]) -> int | None:
    """Return the index of the column with this name, or of the only one that differs just in case or outer spaces."""
    if name in columns:
        return columns.index(name)
    alike = [index for index, column in enumerate(columns) if column.strip().casefold() == name.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def listed(columns: Sequence[str]) -> str:
    """Return the names as part of a sentence; of more than 12 only the first."""
    names = [quoted(column) for column in columns[: _SHOWN + 1]]
    return cut_list(names[:_SHOWN], len(columns) - _SHOWN)


def complete_names(cells: Sequence[str], width: int) -> tuple[str, ...]:
    """Return `width` unique names: "" becomes "Column 3", and a second "text" becomes "text (2)"."""
    taken: set[str] = set()
    names = []
    for number in range(1, width + 1):
        cell = cells[number - 1] if number <= len(cells) else ""
        base = " ".join(cell.split()) or f"Column {number}"
        name, copy = base, 1
        while name in taken:
            copy += 1
            name = f"{base} ({copy})"
        taken.add(name)
        names.append(name)
    return tuple(names)


def is_number_or_date(cell: str) -> bool:
    """Return whether a cell is a number in any country's way of writing it, or a date in figures."""
    return len(cell) <= _LONGEST_FIGURE and bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))
