"""Clean files in the manner of many programs, and each of them with one character too many or too few."""

import csv
import io
import random
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.messy_csv import tables
from benchmarks.messy_csv.model import Cells, Table

_TABLES = (tables.questions, tables.products, tables.people, tables.measurements, tables.sparse, tables.notes)
_SEPARATORS = (",", ",", ",", ";", ";", "\t", "|")
_INCHES = ('5" screen', '27" screen, black', '10" × 12" frame', '3/4" pipe')
_BROKEN = ("First line\nsecond line", "Dear all,\n\nthank you; see below.\n\nAnna", "One\ntwo\nthree")


@dataclass(frozen=True, slots=True)
class CleanFile:
    """A file as a program wrote it. `rows` are its records, the header first, each as text without its line end."""

    separator: str
    end: str
    rows: tuple[str, ...]
    cells: tuple[Cells, ...]

    @property
    def text(self) -> str:
        return "".join(f"{row}{self.end}" for row in self.rows)


@dataclass(frozen=True, slots=True)
class PollutedFile:
    """A clean file of which the record at index `row` was replaced; `what` says how."""

    clean: CleanFile
    row: int
    what: str
    polluted: str

    @property
    def text(self) -> str:
        rows = (*self.clean.rows[: self.row], self.polluted, *self.clean.rows[self.row + 1 :])
        return "".join(f"{row}{self.clean.end}" for row in rows)


def clean_file(chance: random.Random) -> CleanFile:
    """A table of 8 to 60 rows, written in one of the usual ways."""
    table = chance.choice(_TABLES)(chance, chance.randrange(8, 60))
    table = _with_odd_texts(chance, table)
    separator, end = chance.choice(_SEPARATORS), chance.choice(("\n", "\r\n"))
    quoting = chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    surplus = separator if chance.random() < 0.1 else ""  # some programs end every line with a separator
    lines = (table.names, *table.rows)
    return CleanFile(separator, end, tuple(f"{_written(each, separator, quoting)}{surplus}" for each in lines), lines)


def _with_odd_texts(chance: random.Random, table: Table) -> Table:
    """Quotation marks and line breaks in many, in few or in no texts."""
    share = chance.choice((0.0, 0.0, 0.0, 0.05, 0.5))
    column = max(range(table.width), key=lambda index: sum(len(row[index]) for row in table.rows))
    odd = chance.choice((_INCHES, _BROKEN))
    rows = tuple(
        tuple(
            chance.choice(odd) if index == column and chance.random() < share else cell
            for index, cell in enumerate(row)
        )
        for row in table.rows
    )
    return Table(table.names, rows)


def _written(cells: Cells, separator: str, quoting: int) -> str:
    text = io.StringIO(newline="")
    values = [float(cell) if quoting == csv.QUOTE_NONNUMERIC and _is_number(cell) else cell for cell in cells]
    csv.writer(text, delimiter=separator, quoting=quoting).writerow(values)  # type: ignore[arg-type]
    return text.getvalue().removesuffix("\r\n")


def _is_number(cell: str) -> bool:
    try:
        return str(float(cell)) == cell
    except ValueError:
        return False


def polluted_files(chance: random.Random, clean: CleanFile) -> Iterator[PollutedFile]:
    """Every pollution, in every column, of the header, the first row, the last, and one between."""
    last = len(clean.rows) - 1
    for row in dict.fromkeys((0, 1, chance.randrange(2, last), last)):
        raw = clean.rows[row]
        spans = _spans(raw, clean.separator)
        for column, (start, stop) in enumerate(spans):
            middle = (start + stop) // 2
            for what, at, sign in (
                ("separator more", start, clean.separator),
                ("quote more at the beginning", start, '"'),
                ("quote more in the middle", middle, '"'),
                ("quote more at the end", stop, '"'),
            ):
                yield PollutedFile(clean, row, f"{what} in column {column + 1}", raw[:at] + sign + raw[at:])
            if column + 1 < len(spans):
                yield PollutedFile(
                    clean, row, f"separator fewer after column {column + 1}", raw[:stop] + raw[stop + 1 :]
                )
        yield PollutedFile(clean, row, "separator more at the end", raw + clean.separator)


def _spans(raw: str, separator: str) -> list[tuple[int, int]]:
    """Where each cell of a record stands, its quotation marks included."""
    found, start, is_quoted = [], 0, False
    for index, sign in enumerate(raw):
        if sign == '"':
            is_quoted = not is_quoted
        elif sign == separator and not is_quoted:
            found.append((start, index))
            start = index + 1
    return [*found, (start, len(raw))]
