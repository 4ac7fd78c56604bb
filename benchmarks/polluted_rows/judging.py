"""Whether what was read from a spoilt file is right, or said to be wrong."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from benchmarks.messy_csv.model import Cells
from benchmarks.polluted_rows.files import CleanFile, PollutedFile
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import Row, Source
from cfbatch_gui.core.inputs.recognise.recogniser import open_source


@dataclass(frozen=True, slots=True)
class Verdict:
    """`silent`: rows that differ from what was meant, without a word about them or about the file; `lost`: rows of the
    clean part of the file that are not read as they stand, said or not."""

    silent: int
    lost: int
    is_refused: bool = False


def judge(file: PollutedFile, path: Path) -> Verdict:
    """Read a spoilt file and compare each row that would be sent with what was meant.

    A quotation mark that stands in a text as it stands in the file is no difference. A notice about the file counts as
    a word about each of its rows.
    """
    path.write_text(file.text, encoding="utf-8", newline="")
    try:
        source, rows = _read(path)
    except UserError:
        return Verdict(0, len(file.clean.rows) - 2, is_refused=True)
    meant = list(map(_plain, file.clean.cells))
    names_are_right = _plain(source.columns[: len(meant[0])]) == meant[0]
    silent = int(not names_are_right and not any(row.number == 1 and row.problem for row in rows))
    at, is_said = 1, False  # the next row that was meant, and whether a row above was said to have a problem
    read = set[int]()
    for row in rows:
        if row.problem:
            is_said = True
        elif (found := _place(row, meant, at)) is None:
            silent += 1
        else:
            silent += 0 if is_said else found - at
            read.add(found)
            at, is_said = found + 1, False
    silent += 0 if is_said else len(meant) - at
    return Verdict(0 if source.notices else silent, len({*range(1, len(meant))} - {file.row} - read))


def _place(row: Row, meant: list[Cells], at: int) -> int | None:
    """The index of the first row from `at` on that was meant with these cells."""
    cells = _plain(row.cells)
    return next((at + index for index, each in enumerate(meant[at:]) if _fitted(cells, len(each)) == each), None)


def is_silent_in_csv_module(file: PollutedFile) -> bool:
    """Whether the csv module, told the separator, returns a wrong row of the right width, or misses a sound row."""
    records = csv.reader(io.StringIO(file.text, newline=""), delimiter=file.clean.separator)
    width = len(file.clean.cells[0]) + (file.clean.rows[0].endswith(file.clean.separator))
    read = [_plain(tuple(cells)) for cells in records if len(cells) == width]
    meant = {_fitted(_plain(cells), width) for cells in file.clean.cells}
    sound = {_fitted(_plain(cells), width) for index, cells in enumerate(file.clean.cells) if index != file.row}
    found = {_fitted(cells, len(file.clean.cells[0])) for cells in read}
    return bool(found - meant or sound - found)


def _fitted(cells: Cells, width: int) -> Cells:
    return cells[:width] if not any(cells[width:]) else cells


def _read(path: Path) -> tuple[Source, list[Row]]:
    source = open_source(path)
    return source, list(read_rows(source))


def _plain(cells: Cells) -> Cells:
    return tuple(cell.replace('"', "") for cell in cells)


def false_alarms(clean: CleanFile, path: Path) -> tuple[int, int]:
    """Of a clean file: the rows that are said to have a problem, or are not read as they stand; and all rows."""
    path.write_text(clean.text, encoding="utf-8", newline="")
    source, rows = _read(path)
    width = len(source.columns)
    meant = [(*cells[:width], *("",) * (width - len(cells))) for cells in clean.cells[1:]]
    wrong = sum(row.problem != "" for row in rows)
    wrong += [row.cells for row in rows if not row.problem] != meant and not wrong
    return wrong, len(meant)
