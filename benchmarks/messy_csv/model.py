"""A messy file and what is true of it."""

from dataclasses import dataclass

Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What someone meant to write: names for the columns, () when they gave none, and the rows."""

    names: Cells
    rows: tuple[Cells, ...]

    @property
    def width(self) -> int:
        """Columns."""
        return len(self.names or self.rows[0])


@dataclass(frozen=True, slots=True)
class MessyFile:
    """Bytes, and what they mean.

    `encoding` is the Python codec they were written with, `separator` is "" for a single column, `first_line` is where
    the table begins (its names, or its first row), counted from 1. Blank lines and lines around the table are no rows.
    """

    name: str
    family: str
    data: bytes
    encoding: str
    separator: str
    first_line: int
    table: Table

    @property
    def text(self) -> str:
        """The file's text without a byte order mark, for programs that are told the encoding."""
        return self.data.decode(self.encoding).removeprefix("\ufeff")
