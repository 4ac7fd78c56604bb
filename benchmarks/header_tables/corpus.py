"""The tables, from text files that hold many of them each.

A table begins with a line "### header | name" or "### none | name", which says whether its first row is a header, and
goes on as CSV with commas to the next such line.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BEGIN = re.compile(r"^### (header|none) \| (.+)\n", re.MULTILINE)
_FOLDER = Path(__file__).parent
REAL, WRITTEN = _FOLDER / "real.txt", _FOLDER / "written.txt"


@dataclass(frozen=True, slots=True)
class Table:
    """The first rows of a table, and whether the first of them names the columns."""

    name: str
    rows: tuple[tuple[str, ...], ...]
    is_header: bool

    @property
    def text(self) -> str:
        """The table as CSV."""
        target = io.StringIO(newline="")
        csv.writer(target).writerows(self.rows)
        return target.getvalue()

    def without_first_row(self) -> "Table":
        """The rest of the table, which is a table without a header."""
        return Table(f"{self.name}, from its second row on", self.rows[1:], is_header=False)


def tables(path: Path) -> Iterator[Table]:
    """The tables of one file, in its order."""
    _, *parts = _BEGIN.split(path.read_text("utf-8"))
    for answer, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        rows = csv.reader(io.StringIO(text.rstrip("\n") + "\n", newline=""))
        yield Table(name, tuple(map(tuple, rows)), answer == "header")
