"""The records at the beginning of a delimited text, as they are needed to recognise how it is to be read."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cfbatch_gui.core.inputs.input_values import Quoting
from cfbatch_gui.core.inputs.readers.delimited.csv_quoting import csv_rows
from cfbatch_gui.core.inputs.readers.delimited.row_doubts import width_of_line


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a sample. `line` is the number of its first line, from 1; `after_blank`: a blank line is above.

    `raw` is how it stands in the file, without the line end at its end.
    """

    line: int
    cells: tuple[str, ...]
    after_blank: bool
    raw: str = ""

    @property
    def filled(self) -> int:
        """How many cells are not blank."""
        return sum(1 for cell in self.cells if cell.strip())

    @property
    def reach(self) -> int:
        """How many cells there are up to the last that is not blank."""
        return filled_width(self.cells)


def filled_width(cells: Sequence[str]) -> int:
    """Return how many cells a row has up to the last that is not blank."""
    return next((index for index in range(len(cells), 0, -1) if cells[index - 1].strip()), 0)


def sample_records(sample: str, separator: str, quoting: Quoting, *, first_line: int = 1) -> Iterator[Record]:
    """Yield the records of a sample that are not blank, from a line on, up to the first that cannot be read.

    A record that swallows rows, because a quotation mark opens in it and is not closed, is left out: the rows are
    yielded.
    """
    lines = list(io.StringIO(sample, newline=""))
    above, line, width, after_blank = first_line - 1, first_line, 0, False
    reader = csv_rows(iter(lines[above:]), separator, quoting)
    try:
        while True:
            cells = next(reader)
            below = above + reader.line_num + 1
            if below > line + 1 and len(cells) != width > 1 and _hides_row(lines, line, width, separator, quoting):
                above, line = line, line + 1
                reader = csv_rows(iter(lines[above:]), separator, quoting)
                continue
            if cells and (len(cells) > 1 or cells[0].strip()):
                is_blank = not any(cell.strip() for cell in cells)
                if not is_blank:
                    raw = "".join(lines[line - 1 : below - 1]).rstrip("\r\n")
                    yield Record(line, tuple(cells), after_blank, raw)
                    width = width or len(cells)
                after_blank = is_blank
            else:
                after_blank = True
            line = below
    except (csv.Error, StopIteration):
        return


def _hides_row(lines: Sequence[str], line: int, width: int, separator: str, quoting: Quoting) -> bool:
    """Return whether the line below the line of this number is a row of this width by itself."""
    return line < len(lines) and width_of_line(lines[line], separator, quoting) == width
