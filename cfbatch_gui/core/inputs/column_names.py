"""Columns as people name them."""

from collections.abc import Sequence

_SHOWN = 12


def place_of(name: str, columns: Sequence[str]) -> int | None:
    """The place, from 0, of the column with exactly this name, else of the only one that differs in case or spaces."""
    if name in columns:
        return columns.index(name)
    alike = [place for place, column in enumerate(columns) if column.strip().casefold() == name.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def listed(columns: Sequence[str]) -> str:
    """The names for a sentence; of very many only the first."""
    shown = ", ".join(f"“{column}”" for column in columns[:_SHOWN])
    return f"{shown} and {len(columns) - _SHOWN:,} more" if len(columns) > _SHOWN else shown
