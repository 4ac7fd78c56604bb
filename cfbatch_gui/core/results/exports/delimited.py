"""CSV as Python's and every other reader takes it, in the two presets.

`\\r` and `\\n` inside a cell are always quoted. Under Preset.EXCEL a text that a spreadsheet could take for a formula
gets an apostrophe before it; so does one that already has apostrophes there, so that taking one away is always right.
A spreadsheet that separates cells by semicolons has decimals with a comma, and would take 0.125 for 125: so have our
own numbers there. Texts stay as they are.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from cfbatch_gui.core.results.exports.base import Cell, ExportOptions, Preset

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_END = "\r\n"


class Dialect:
    """How rows become bytes. One object for one export: it counts the cells that it made harmless."""

    def __init__(self, options: ExportOptions) -> None:
        self._excel = options.preset is Preset.EXCEL
        self.separator = options.separator if self._excel else ","
        self.decimal_point = "," if self.separator == ";" else "."
        self.line_end = b"\r\n" if self._excel else b"\n"
        self.start = "\ufeff".encode() if self._excel else b""
        self.harmless: Counter[int] = Counter()  # by column, from 0

    def encode(self, rows: Iterable[Sequence[Cell]]) -> bytes:
        """Whole lines. Numbers in their shortest form, None as an empty cell."""
        rows = [self._marked(row) for row in rows] if self._excel else list(rows)
        text = io.StringIO(newline="")
        # With this line end the writer quotes both characters wherever they stand in a cell.
        csv.writer(text, delimiter=self.separator, lineterminator=_END).writerows(rows)
        lines = text.getvalue()
        if lines.count("\r") == len(rows):
            return lines.replace(_END, self.line_end.decode()).encode()
        # A cell has one, too: lines have to be told apart while they are written.
        return self.line_end.join([*self._lines(rows), b""])

    def encode_start(self, row: Sequence[Cell]) -> bytes:
        """A line whose end is still to come: cells, and the separator after them."""
        return self._lines([self._marked(row) if self._excel else row])[0] + self.separator.encode()

    def notes(self, columns: Sequence[str]) -> dict[str, object]:
        """What the manifest says, so that a reader can undo it."""
        notes: dict[str, object] = {
            "csv": {
                "encoding": "UTF-8 with byte order mark" if self._excel else "UTF-8",
                "separator": self.separator,
                "line_end": self.line_end.decode(),
                "decimal_point": self.decimal_point,
            }
        }
        if self._excel:
            notes["formulas_made_harmless"] = {
                "mark": "'",
                "cells": self.harmless.total(),
                "columns": [columns[column] for column in sorted(self.harmless)],
                "undo": "In these columns, take one ' away from a cell of one or more ' and then = + - @ tab or CR.",
            }
        return notes

    def _lines(self, rows: Iterable[Sequence[Cell]]) -> list[bytes]:
        """Without their ends; formulas are marked already."""
        lines = _Lines()
        csv.writer(lines, delimiter=self.separator, lineterminator=_END).writerows(rows)
        return lines.found

    def _marked(self, row: Sequence[Cell]) -> list[Cell]:
        return [
            self._mark(index, cell) if isinstance(cell, str) and _is_formula(cell) else self._number(cell)
            for index, cell in enumerate(row)
        ]

    def _number(self, cell: Cell) -> Cell:
        is_decimal = isinstance(cell, float) and self.decimal_point != "."
        return str(cell).replace(".", self.decimal_point) if is_decimal else cell

    def _mark(self, index: int, cell: str) -> str:
        self.harmless[index] += 1
        return "'" + cell


class _Lines:
    """What csv.writer writes to: called once a line."""

    def __init__(self) -> None:
        self.found: list[bytes] = []

    def write(self, line: str) -> None:
        self.found.append(line[:-2].encode())


def _is_formula(cell: str) -> bool:
    """A number is none: "-12.50" stays a number for whoever opens the file."""
    return _FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None
