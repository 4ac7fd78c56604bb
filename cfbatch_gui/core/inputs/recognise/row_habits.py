"""Find what is ordinary in the rows of a delimited text, so that what is not can be doubted."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from cfbatch_gui.core.inputs.input_values import RowHabits, Source
from cfbatch_gui.core.inputs.readers.delimited.csv_quoting import csv_rows
from cfbatch_gui.core.inputs.readers.delimited.row_doubts import STRAY_QUOTE, doubt_about

_LEAST_ROWS = 3  # one row may be damaged, and a second one by chance
_LEAST_SHARE = 0.05  # of all rows
_MOST_ROWS = 0.8  # share of the rows that are shorter than the header, if that is a habit
_NO_HABITS = RowHabits()


def with_habits(source: Source, sample: str, *, is_whole: bool, names: int) -> Source:
    """Return the source with the habits of its rows, as the sample, the beginning of the file, shows them.

    A habit is what at least three rows have in common and one in twenty, or all rows of a table of two. With a header,
    of `names` cells, there are notices where it does not go with the rows.
    """
    records = [(cells, raw) for cells, raw in _records(source, sample) if cells]
    if not is_whole and len(records) > 1:
        records.pop()  # may be cut off by the end of the sample
    rows = records[source.has_header :]
    habits = _habits(rows, source)
    notices = tuple(_notices_of_header(records, source, habits, names)) if source.has_header else ()
    return replace(source, habits=habits, notices=(*source.notices, *notices))


def _notices_of_header(
    records: Sequence[tuple[Sequence[str], str]], source: Source, habits: RowHabits, names: int
) -> Iterator[str]:
    is_of_r = bool(records) and len(records[0][0]) == names - 1
    width, usual = len(source.columns), max(habits.widths, default=len(source.columns))
    if is_of_r:
        yield "The first row has a name less than the rows have cells, as R writes tables: the first column has none."
    elif names < width:
        yield (
            f"The first row names {names:,} columns, but the rows have {width:,} cells. Check that each name is above "
            "its own texts."
        )
    elif usual < width:
        yield (
            f"The first row names {width:,} columns, but the rows have {usual:,} cells. Check that each name is above "
            "its own texts."
        )
    if records and doubt_about(records[0][1], source.separator, source.quoting, _NO_HABITS):
        yield "There is a quotation mark in the first row where none belongs. Check the names of the columns."


def _habits(rows: Sequence[tuple[Sequence[str], str]], source: Source) -> RowHabits:
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
    """The numbers of cells that rows have by habit; () if that is only the number of columns.

    Nearly all rows may have fewer cells than the header has names, where empty cells at the end are not written.
    """
    counts = Counter(len(cells) for cells in rows if not any(cells[width:]))
    usual = [each for each, count in counts.items() if each >= width and _is_habit(count, len(rows))]
    short = [each for each, count in counts.items() if each < width and count >= max(2, _MOST_ROWS * len(rows))]
    return tuple(sorted((*usual, *short))) if usual != [width] or short else ()


def _is_habit(count: int, rows: int) -> bool:
    return (count >= _LEAST_ROWS and count >= _LEAST_SHARE * rows) or (count == rows == 2)
