"""Write a table as text in the ways of many programs."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence

from benchmarks.messy_csv.model import Cells, Table

Writer = Callable[[Iterable[Cells], str, str], str]


def lines_of(table: Table) -> list[Cells]:
    return [table.names, *table.rows] if table.names else list(table.rows)


def doubled(rows: Iterable[Cells], separator: str, end: str = "\n") -> str:
    """What spreadsheets write."""
    return _written(rows, separator, end, csv.QUOTE_MINIMAL)


def all_quoted(rows: Iterable[Cells], separator: str, end: str = "\n") -> str:
    return _written(rows, separator, end, csv.QUOTE_ALL)


def _written(rows: Iterable[Cells], separator: str, end: str, quoting: int) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    return text.getvalue()


def escaped(rows: Iterable[Cells], separator: str, end: str = "\n") -> str:
    r"""Every cell in quotation marks, those of the text as \", what MySQL and many scripts write."""
    return _joined(rows, separator, end, lambda cell: '"' + cell.replace("\\", "\\\\").replace('"', '\\"') + '"')


def single(rows: Iterable[Cells], separator: str, end: str = "\n") -> str:
    """Every text in single quotation marks, as scripts for databases do it."""
    return _joined(rows, separator, end, lambda cell: "'" + cell.replace("'", "''") + "'")


def bare(rows: Iterable[Cells], separator: str, end: str = "\n") -> str:
    """Joined by the separator and nothing else: the texts must not hold it, nor line ends."""
    return _joined(rows, separator, end, lambda cell: cell)


def without(table: Table, signs: str, instead: str = " ") -> Table:
    """The table with certain characters taken out of its texts, for writers that cannot tell them apart."""
    replaced = str.maketrans(dict.fromkeys(signs, instead))
    rows = tuple(tuple(cell.translate(replaced) for cell in row) for row in table.rows)
    return Table(tuple(name.translate(replaced) for name in table.names), rows)


def padded(lines: Sequence[str], width: int, separator: str, end: str) -> str:
    """Lines above a table as spreadsheets write them: filled up with separators to its width."""
    return "".join(doubled([(line, *("",) * (width - 1))], separator, end) for line in lines)


def _joined(rows: Iterable[Cells], separator: str, end: str, form: Callable[[str], str]) -> str:
    return "".join(separator.join(form(cell) for cell in row) + end for row in rows)
