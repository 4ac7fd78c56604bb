"""Excel workbooks of plain cells: texts, never links, formulas or numbers. Raises ExportError beyond Excel's limits."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Cell
from cfbatch_gui.core.system.files import temporary_folder

if TYPE_CHECKING:
    import xlsxwriter

MOST_ROWS = 1_048_576  # the header included
MOST_COLUMNS = 16_384
MOST_CHARACTERS = 32_767  # in UTF-16 code units, as Excel counts
_MOST_ON_PAPER = 20  # columns
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


_NO_XML = re.compile("[\0-\x08\x0b-\x1f\ufffe\uffff]")
_LIKE_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}[_\0-\x08\x0b-\x1f\ufffe\uffff])")


class _Exact(float):
    """A double formatted with up to 17 digits: with xlsxwriter's 16, not every one reads back as the same number."""

    def __format__(self, format_spec: str) -> str:
        return repr(float(self))


class Sheet:
    """One sheet, written row by row from the header on.

    `decimals` has how many a column of numbers is shown with; their value is kept whole.
    """

    def __init__(
        self,
        workbook: "xlsxwriter.Workbook",
        name: str,
        columns: Sequence[str],
        widths: Sequence[int] = (),
        decimals: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.rows = 0
        self.width = len(columns)
        self._sheet = workbook.add_worksheet(name)
        self._sheet._escape_control_characters = _escaped  # in place of xlsxwriter's, see there
        self._sheet.freeze_panes(1, 0)
        self._sheet.repeat_rows(0)  # on each page of paper, of which the sheet is as wide as one
        self._sheet.set_landscape()
        if self.width <= _MOST_ON_PAPER:
            self._sheet.fit_to_pages(1, 0)
        if self.width > MOST_COLUMNS:
            raise ExportError(
                message(
                    "Excel takes {most:,} columns; these are {width:,}. Choose CSV.",
                    most=MOST_COLUMNS,
                    width=self.width,
                )
            )
        # “_)” leaves room for a parenthesis, so that a number does not touch the text at its right.
        shown = {count: f"0.{'0' * count}_)" if count else "0_)" for count in set(decimals.values())}
        forms = {count: workbook.add_format({"num_format": form}) for count, form in shown.items()}
        self._forms = {column: forms[count] for column, count in decimals.items()}
        for column, width in enumerate(widths):
            self._sheet.set_column(column, column, width)
        # Texts such as "007" are meant to be texts, and need no mark that warns of it.
        self._sheet.ignore_errors({"number_stored_as_text": f"A1:{_last_cell(self.width)}"})
        bold, beside = workbook.add_format({"bold": True}), workbook.add_format({"bold": True, "align": "right"})
        for column, title in enumerate(columns):
            if title:
                self._check_length(title, columns)
                self._sheet.write_string(0, column, title, beside if column in decimals else bold)

    def add(self, row: Sequence[Cell]) -> None:
        """Write the next row. Raises ExportError if Excel's limits of rows or of characters in a cell are exceeded."""
        if self.rows + 1 >= MOST_ROWS:
            raise ExportError(
                message(
                    "Excel takes {most:,} rows, and the sheet “{name}” needs more. Nothing was written. Keep "
                    "fewer with top k or a threshold, or choose CSV.",
                    most=MOST_ROWS,
                    name=self.name,
                ),
            )
        self.rows += 1
        for column, cell in enumerate(row):
            if isinstance(cell, str):
                if cell:
                    self._check_length(cell, row)
                    self._sheet.write_string(self.rows, column, cell)
            elif cell is not None:
                number = _Exact(cell) if isinstance(cell, float) else cell
                self._sheet.write_number(self.rows, column, number, self._forms.get(column))

    def finish(self) -> None:
        if self.rows:
            self._sheet.autofilter(0, 0, self.rows, self.width - 1)

    def _check_length(self, cell: str, row: Sequence[Cell]) -> None:
        # A character outside the Basic Multilingual Plane counts as two; texts of half the limit need no encoding.
        if len(cell) * 2 > MOST_CHARACTERS and len(cell.encode("utf-16-le")) // 2 > MOST_CHARACTERS:
            raise ExportError(
                message(
                    "Excel takes {most:,} characters a cell, and a text in row {row:,} of the sheet "
                    "“{name}” has {length:,}. Nothing was written, and nothing is ever cut. Choose CSV.",
                    most=MOST_CHARACTERS,
                    row=self.rows + 1,
                    name=self.name,
                    length=len(cell),
                ),
                detail=f"{row[0]!r}",
            )


def _last_cell(columns: int) -> str:
    from xlsxwriter.utility import xl_rowcol_to_cell  # see `workbook`

    cell: str = xl_rowcol_to_cell(MOST_ROWS - 1, columns - 1)
    return cell


def _escaped(text: str) -> str:
    """What XML cannot hold as _xHHHH_, as xlsxwriter (3.3) misses the second of two that share an underscore."""
    if "_x" in text:
        text = _LIKE_ESCAPE.sub("_x005F_", text)
    return _NO_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def fill(sheet: Sheet, rows: Iterable[Sequence[Cell]]) -> None:
    """Add all rows to the sheet. Raises ExportError, as `Sheet.add` does."""
    for row in rows:
        sheet.add(row)


class _Sink:
    """The workbook's file, which discards all once `is_over`: a broken archive writes when it is collected."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._position = 0  # used once `is_over` is set
        self.is_over = False

    def write(self, data: bytes) -> int:
        if not self.is_over:
            return self._stream.write(data)
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        if not self.is_over:
            return self._stream.seek(offset, whence)
        self._position = offset
        return offset

    def tell(self) -> int:
        return self._position if self.is_over else self._stream.tell()

    def flush(self) -> None:
        if not self.is_over:
            self._stream.flush()


@contextmanager
def workbook(stream: BinaryIO) -> "Iterator[xlsxwriter.Workbook]":
    """A workbook for `Sheet`s, written to the stream at the end of the block."""
    import xlsxwriter  # here, because every command imports this module, and few write a workbook
    from xlsxwriter.exceptions import FileCreateError

    with temporary_folder() as folder:
        sink = _Sink(stream)
        book = xlsxwriter.Workbook(sink, {**_OPTIONS, "tmpdir": str(folder)})
        book.use_zip64()
        try:
            yield book
            book.close()
        except FileCreateError as error:
            # The wrapped OSError has the error number, which shows whether the disk is full.
            raise error.args[0] from error
        finally:
            sink.is_over = True
            for sheet in book.worksheets():
                # close() does the same, but is not called after an error. A second error of a full disk adds nothing.
                with suppress(OSError):
                    sheet._opt_close()
