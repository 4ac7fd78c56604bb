"""CSV in the two presets.

With Preset.EXCEL a text that could be a formula gets an apostrophe in front, also behind others; with semicolons our
numbers have a decimal comma.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from cfbatch_gui.core.results.exports.base import Cell, ExportOptions, Preset

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_END = "\r\n"


class Dialect:
    """Encodes rows as bytes. Use a new object for each file: it counts the formulas that it marked."""

    def __init__(self, options: ExportOptions) -> None:
        self._excel = options.preset is Preset.EXCEL
        self.separator = options.separator if self._excel else ","
        self.decimal_point = "," if self.separator == ";" else "."
        self.line_end = b"\r\n" if self._excel else b"\n"
        self.start = "\ufeff".encode() if self._excel else b""
        self.harmless: Counter[int] = Counter()  # by column, from 0

    def encode(self, rows: Iterable[Sequence[Cell]]) -> bytes:
        """Whole lines. Numbers in their shortest form, None as an empty cell."""
        return self.line_end.join([*self._lines(map(self._marked, rows) if self._excel else rows), b""])

    def encode_start(self, row: Sequence[Cell]) -> bytes:
        """The beginning of a line: the cells and a separator after them, without a line end."""
        return self._lines([self._marked(row) if self._excel else row])[0] + self.separator.encode()

    def notes(self, columns: Sequence[str]) -> dict[str, object]:
        """Notes for the manifest: the dialect, and how to undo the marking of formulas."""
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
        """Encode rows, whose formulas are marked already, as lines without line ends."""
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
    def __init__(self) -> None:
        self.found: list[bytes] = []

    def write(self, line: str) -> None:
        self.found.append(line[:-2].encode())


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet could take the cell for a formula; a number such as "-12.50" is none."""
    return _FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None
