"""Find what is ordinary in the rows of a delimited text, so that what is not can be doubted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cfbatch_gui.core.inputs.input_values import RowHabits, Source
from cfbatch_gui.core.inputs.readers.delimited.row_doubts import STRAY_QUOTE, doubt_about
from cfbatch_gui.core.inputs.readers.row_widths import cells_text, columns_text
from cfbatch_gui.core.inputs.recognise.sample_records import Record, sample_records
from cfbatch_gui.core.messages import message

_LEAST_ROWS = 3  # one row may be damaged, and a second one by chance
_LEAST_SHARE = 0.05  # of all rows
_MOST_ROWS = 0.8  # share of the rows that are shorter than the header, if that is a habit
_NO_HABITS = RowHabits()
_OTHER_WIDTH = message(
    "The first row names {columns}, but the rows have {cells}. Check that each name is above its own texts."
)
_AS_R = message(
    "The first row names {columns}, but the rows have {cells}. Check that each name is above its own texts. R writes"
    " tables so, and then the first column has no name."
)


def with_habits(source: Source, sample: str, *, is_whole: bool) -> Source:
    """Return the source with the habits of its rows, as the sample, the beginning of the file, shows them.

    A habit is what at least three rows have in common and one in twenty, or all rows of a table of two. There are
    notices where a header does not go with the rows.
    """
    records = list(sample_records(sample, source.separator, source.quoting, first_line=source.first_line))
    if not is_whole and len(records) > 1:
        records.pop()  # may be cut off by the end of the sample
    rows = records[source.has_header :]
    notices = tuple(_notices_of_header(records[0], rows, source)) if source.has_header and records else ()
    return replace(source, habits=_habits(rows, source), notices=(*source.notices, *notices))


def _notices_of_header(header: Record, rows: Sequence[Record], source: Source) -> Iterator[str]:
    if doubt_about(header.raw, source.separator, source.quoting, _NO_HABITS):
        yield message("There is a quotation mark in the first row where none belongs. Check the names of the columns.")
    names, width = header.reach, len(source.columns)
    cells = Counter(len(row.cells) for row in rows).most_common(1)[0][0] if rows else width
    widest = max((row.reach for row in rows if len(row.cells) == cells), default=width)
    is_wider = names > cells or (len(header.cells) > cells and names > widest)
    if is_wider or names < width or len(header.cells) < cells:
        template = _AS_R if source.columns[0] == "Column 1" else _OTHER_WIDTH
        yield template.filled(columns=columns_text(names), cells=cells_text(cells))


def _habits(rows: Sequence[Record], source: Source) -> RowHabits:
    stray = sum(doubt_about(row.raw, source.separator, source.quoting, _NO_HABITS) == STRAY_QUOTE for row in rows)
    broken = sum("\n" in row.raw or "\r" in row.raw for row in rows)
    return RowHabits(
        _widths([row.cells for row in rows], len(source.columns)),
        has_line_breaks=_is_habit(broken, len(rows)) or broken > 1,
        has_stray_quotes=_is_habit(stray, len(rows)),
    )


def _widths(rows: Sequence[Sequence[str]], width: int) -> tuple[int, ...]:
    """The numbers of cells that rows have by habit; () if that is only the number of columns.

    Nearly all rows may have fewer cells than the header has names, where empty cells at the end are not written.
    """
    counts = Counter(len(cells) for cells in rows if not any(map(str.strip, cells[width:])))
    usual = [each for each, count in counts.items() if each >= width and _is_habit(count, len(rows))]
    short = [each for each, count in counts.items() if each < width and count >= max(2, _MOST_ROWS * len(rows))]
    return tuple(sorted((*usual, *short))) if usual != [width] or short else ()


def _is_habit(count: int, rows: int) -> bool:
    return (count >= _LEAST_ROWS and count >= _LEAST_SHARE * rows) or (count == rows == 2)
