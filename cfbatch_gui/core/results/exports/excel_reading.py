"""Reads a workbook of ours back, a row at a time: readers of spreadsheets hold whole sheets in memory."""

import re
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO
from xml.parsers import expat

from cfbatch_gui.core.results.exports.base import Cell

_CHUNK = 1 << 18
_ESCAPED = re.compile(r"_x([0-9A-F]{4})_")


def rows_of_sheet(stream: BinaryIO, number: int, width: int) -> Iterator[list[Cell]]:
    """The rows of the sheet with that number, from 1, header included, padded with None to `width` cells.

    Numbers are doubles; texts are those of inline strings, with `_xHHHH_` undone. Raises ValueError for what is no
    such sheet.
    """
    try:
        with zipfile.ZipFile(stream) as archive, archive.open(f"xl/worksheets/sheet{number}.xml") as part:
            sheet = _Sheet(width)
            while data := part.read(_CHUNK):
                sheet.parser.Parse(data, False)
                while sheet.rows:
                    yield sheet.rows.popleft()
            sheet.parser.Parse(b"", True)
    except (expat.ExpatError, zipfile.BadZipFile, zlib.error, KeyError) as error:
        raise ValueError(f"not readable as a workbook: {error}") from error


class _Sheet:
    """Collects rows while the parser goes along."""

    def __init__(self, width: int) -> None:
        self.rows: deque[list[Cell]] = deque()
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self._width = width
        self._row: list[Cell] = []
        self._column = 0
        self._is_text = False
        self._pieces: list[str] | None = None  # None outside of <v> and <t>

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._row = [None] * self._width
        elif name == "c":
            self._column = _column_of(attributes["r"])
            self._is_text = attributes.get("t") == "inlineStr"
        elif name in ("v", "t"):
            self._pieces = []
        elif name == "f":
            raise ValueError("a formula where there should be none")

    def _characters(self, data: str) -> None:
        if self._pieces is not None:
            self._pieces.append(data)

    def _end(self, name: str) -> None:
        if name == "row":
            self.rows.append(self._row)
        elif name in ("v", "t") and self._pieces is not None:
            text = "".join(self._pieces)
            if self._column >= self._width:
                raise ValueError("a cell beyond the last column")
            if self._is_text:
                self._row[self._column] = _ESCAPED.sub(_character, text) if "_x" in text else text
            else:
                self._row[self._column] = float(text)
            self._pieces = None


def _character(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _column_of(reference: str) -> int:
    """From 0: "A1" → 0, "AB7" → 27."""
    column = 0
    for letter in reference.rstrip("0123456789"):
        column = column * 26 + ord(letter) - 64
    return column - 1
