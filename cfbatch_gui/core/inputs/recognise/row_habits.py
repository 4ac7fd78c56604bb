"""Find what is ordinary in the rows of a delimited text, so that what is not can be doubted."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from cfbatch_gui.core.inputs.input_values import RowHabits, Source
from cfbatch_gui.core.inputs.readers.delimited.csv_quoting import csv_rows
from cfbatch_gui.core.inputs.readers.delimited.row_doubts import STRAY_QUOTE, doubt_about

_LEAST_ROWS = 3  # one row may be damaged, and a second one by chance
_LEAST_SHARE = 0.05  # of all rows
_NO_HABITS = RowHabits()


def find_habits(source: Source, sample: str, *, is_whole: bool) -> RowHabits:
    """Return the habits of the table's rows below its header in the sample, the beginning of the file.

    A habit is what at least three rows have in common and one in twenty, or all rows of a table of two.
    """
    records = list(_records(source, sample))
    if not is_whole and len(records) > 1:
        records.pop()  # may be cut off by the end of the sample
    rows = [(cells, raw) for cells, raw in records[source.has_header :] if cells]
    stray = sum(doubt_about(raw, source.separator, source.quoting, _NO_HABITS) == STRAY_QUOTE for _, raw in rows)
    broken = sum("\n" in raw or "\r" in raw for _, raw in rows)
    return RowHabits(
        _widths([cells for cells, _ in rows], len(source.columns)),
        has_line_breaks=_is_habit(broken, len(rows)) or broken > 1,
        has_stray_quotes=_is_habit(stray, len(rows)),
    )


def _records(source: Source, sample: str) -> Iterator[tuple[Sequence[str], str]]:
    """Yield the cells of each record of the table and its text without the line end."""
    lines = list(io.StringIO(sample, newline=""))[source.first_line - 1 :]
    reader = csv_rows(iter(lines), source.separator, source.quoting)
    before = 0
    try:
        for cells in reader:
            yield cells, "".join(islice(lines, before, reader.line_num)).rstrip("\r\n")
            before = reader.line_num
    except csv.Error:
        return


def _widths(rows: Sequence[Sequence[str]], width: int) -> tuple[int, ...]:
    """The numbers of cells that rows have by habit; () if that is only the number of columns."""
    counts = Counter(len(cells) for cells in rows if len(cells) >= width and not any(cells[width:]))
    usual = tuple(sorted(each for each, count in counts.items() if _is_habit(count, len(rows))))
    return usual if usual != (width,) else ()


def _is_habit(count: int, rows: int) -> bool:
    return (count >= _LEAST_ROWS and count >= _LEAST_SHARE * rows) or (count == rows == 2)
