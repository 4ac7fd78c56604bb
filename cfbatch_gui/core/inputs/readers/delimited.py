"""Delimited text: CSV and its relatives, in each way of quoting."""

import csv
import json
import operator
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import accumulate, groupby, islice, repeat, takewhile
from typing import Any, BinaryIO

from cfbatch_gui.core.inputs.files.open_file import open_bytes
from cfbatch_gui.core.inputs.input_values import Block, Quoting, Row, Source
from cfbatch_gui.core.inputs.readers.decoded_text import END_MARK, LONGEST_LINE, text_lines

WRAPPED_LINE = re.compile(r'"((?:[^"]|"")*)"(\r?\n|\r|)')
_READER_OPTIONS: dict[Quoting, dict[str, Any]] = {
    Quoting.DOUBLED: {},
    Quoting.ESCAPED: {"escapechar": "\\"},
    Quoting.OUTFILE: {"escapechar": "\\"},
    Quoting.WRAPPED: {},
    Quoting.SINGLE: {"quotechar": "'"},
    Quoting.SPACED: {"skipinitialspace": True},
    Quoting.NONE: {"quoting": csv.QUOTE_NONE},
    Quoting.COPY: {"quoting": csv.QUOTE_NONE},
}
_MOST_MANIFEST_BYTES = 4 * 1024 * 1024
csv.field_size_limit(LONGEST_LINE)  # the default of 131,072 is less than a chapter of a book; the limit is per process
_REPEATED = "This row repeats the names of the columns."
_MOST_AT_ONCE = 1_500  # records; reading them holds Python for 3 ms, for which the window waits
_BACKSLASH = (Quoting.ESCAPED, Quoting.OUTFILE)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def read_delimited(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield the rows. One with too few or too many cells is a problem, unless the surplus cells at its end are empty.

    A quotation mark that is never closed makes the rest of the file one cell: it is yielded as one problem row with the
    number of the row in which it opened, and that cell is left out.
    """
    yield from _single(read_delimited_blocks(source, progress))


def read_delimited_blocks(source: Source, progress: Callable[[int], None] | None) -> Generator[Block | Row, None, None]:
    """Yield the rows of `read_delimited` in file order, consecutive rows without a problem in blocks."""
    width = len(source.columns)
    with open_bytes(source.path, source.end) as file:
        records = _record_blocks(file, source, progress)
        if source.has_header:
            records = _without_header(records)
        if source.marked:
            records = _unmarked(_single(records), frozenset(source.marked))
        for found in records:
            if isinstance(found, Row):
                yield found if len(found.cells) == width and not found.problem else unusual_row(found, width)
            elif set(map(len, found.rows)) == {width}:
                yield found
            else:
                yield from _by_width(found, width)


def read_records(file: BinaryIO, source: Source, progress: Callable[[int], None] | None = None) -> Iterator[Row]:
    """Yield every record from the table's first line on, the header included, with as many cells as it has.

    A blank line is a record without cells; blank lines at the end of the file are left out. A problem is the last row.
    """
    return _single(_record_blocks(file, source, progress))


def _single(found: Iterable[Block | Row]) -> Iterator[Row]:
    for each in found:
        if isinstance(each, Row):
            yield each
        else:
            yield from map(Row, each.numbers, map(tuple, each.rows))


def _without_header(records: Iterator[Block | Row]) -> Iterator[Block | Row]:
    """Yield the rows below the header. A row that repeats it, as in concatenated files, is a problem."""
    header: tuple[str, ...] = ()
    for found in records:
        if isinstance(found, Row):
            header = found.cells
        else:
            header = tuple(found.rows[0])
            above = rows_of_header(found.rows)
            yield from _without_repeated(Block(found.numbers[above:], found.rows[above:]), header)
        if header:
            break
    for found in records:
        if isinstance(found, Row):
            yield found if len(header) < 2 or found.cells != header else Row(found.number, header, _REPEATED)
        else:
            yield from _without_repeated(found, header)


def rows_of_header(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows belong to the header.

    Beside the names these are the line of dashes of SQL Server's sqlcmd, the kinds of answers of SurveyMonkey, and the
    questions and import ids of Qualtrics.
    """
    width = len(rows[0])
    if len(rows) > 2 and _are_import_ids(rows[2], width):
        return 3
    return 2 if len(rows) > 1 and (_is_underline(rows[1], width) or _are_forms(rows[1], width)) else 1


def _is_underline(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width > 1 and all(len(cell) > 1 and not cell.strip("-") for cell in cells)


def _are_forms(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width > 1 and not cells[0] and "Open-Ended Response" in cells


def _are_import_ids(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width > 1 and all(cell.startswith('{"ImportId":') for cell in cells)


def _without_repeated(block: Block, header: tuple[str, ...]) -> Iterator[Block | Row]:
    if len(header) < 2 or header not in block.rows:
        yield block
        return
    for number, cells in zip(block.numbers, block.rows, strict=False):
        yield Row(number, tuple(cells), _REPEATED if cells == header else "")


def _by_width(block: Block, width: int) -> Iterator[Block | Row]:
    start = 0
    for is_usual, group in groupby(block.rows, lambda cells: len(cells) == width):
        stop = start + sum(1 for _ in group)
        if is_usual:
            yield Block(block.numbers[start:stop], block.rows[start:stop])
        else:
            for number, cells in zip(block.numbers[start:stop], block.rows[start:stop], strict=True):
                yield unusual_row(Row(number, tuple(cells)), width)
        start = stop


def _record_blocks(file: BinaryIO, source: Source, progress: Callable[[int], None] | None) -> Iterator[Block | Row]:
    """Yield records in blocks, one for each chunk of the file, so that the loop over the records runs in C."""
    gate: list[type[tuple[str, ...]]] = []

    def at_end_of_piece(position: int) -> None:
        gate.clear()  # ends the loop over it after the record that is being read
        if progress is not None:
            progress(position)

    lines = text_lines(
        file, source.path.name, source.encoding, at_end_of_piece, is_sure=source.is_encoding_sure, end_mark=True
    )
    if source.first_line > 1:
        lines = islice(lines, source.first_line - 1, None)
    reader = csv_rows(lines, source.separator, source.quoting)
    blank = 0
    while True:
        gate.extend(repeat(tuple, _MOST_AT_ONCE - len(gate)))
        numbers, rows, is_too_large = _next_records(reader, gate, source)
        if not rows and not is_too_large:
            return
        last = rows.pop() if rows and rows[-1] and rows[-1][-1].endswith(END_MARK) else None
        if rows:
            if source.quoting is Quoting.COPY:
                rows = [tuple(map(_copied, cells)) for cells in rows]
            block = Block(numbers[: len(rows)], rows)
            if blank or not all(rows):
                yield from _among_blank_lines(block, blank)
                blank = _blank_at_end(rows, blank)
            else:
                yield block
        if last is not None:
            number = numbers[len(rows)]
            if last != (END_MARK,):
                yield Row(number, last[:-1], _never_closed(number))
            return
        if is_too_large:
            yield Row(numbers[-1], (), _too_large(numbers[-1]))
            return


def _next_records(
    reader: Any, gate: Iterable[Callable[[list[str]], tuple[str, ...]]], source: Source
) -> tuple[Sequence[int], list[tuple[str, ...]], bool]:
    """Read one record for each item of `gate`.

    Return the line number of each record and of the next one, the records, and whether the next is too large to read.
    """
    rows: list[tuple[str, ...]] = []
    before: int = reader.line_num
    first = before + source.first_line
    if source.quoting in _BACKSLASH:  # an escaped line end is part of the cell, so lines cannot be counted by cells
        starts = []
        try:
            for _ in gate:
                starts.append(reader.line_num + source.first_line)
                rows.append(tuple(next(reader)))
        except StopIteration:
            return starts, rows, False
        except csv.Error:
            return starts, rows, True
        return [*starts, reader.line_num + source.first_line], rows, False
    is_too_large = False
    try:
        rows.extend(map(operator.call, gate, reader))
    except csv.Error:  # a reader that is not strict raises it only for the field size limit
        is_too_large = True
    if reader.line_num - before == len(rows):
        return range(first, first + len(rows) + 1), rows, is_too_large
    return list(accumulate(map(_lines_of, rows), initial=first)), rows, is_too_large


def _among_blank_lines(block: Block, blank: int) -> Iterator[Row]:
    """Yield single rows and the blank lines between them; `blank` is how many blank lines precede the block."""
    for number, cells in zip(block.numbers, block.rows, strict=True):
        if not cells:
            blank += 1
            continue
        yield from (Row(earlier, ()) for earlier in range(number - blank, number))
        yield Row(number, tuple(cells))
        blank = 0


def _blank_at_end(rows: Sequence[Sequence[str]], blank: int) -> int:
    at_end = sum(1 for _ in takewhile(operator.not_, reversed(rows)))
    return at_end + (blank if at_end == len(rows) else 0)


def _lines_of(cells: Sequence[str]) -> int:
    return 1 + sum(cell.count("\n") + cell.count("\r") - cell.count("\r\n") for cell in cells)


def _copied(cell: str) -> str:
    """Decode a cell of PostgreSQL's COPY: \\N is empty, \\t a tab, \\n a line end."""
    if "\\" not in cell:
        return cell
    if cell == "\\N":
        return ""
    return _ESCAPE.sub(_meant, cell)


def _meant(found: re.Match[str]) -> str:
    if found[3] is not None:
        return _ESCAPED.get(found[3], found[3])
    code = int(found[1], 8) if found[1] else int(found[2], 16)
    return chr(code) if 0 < code < 128 else found[0]


def _unmarked(rows: Iterator[Row], columns: frozenset[int]) -> Iterator[Row]:
    """Remove the apostrophes that this program's export put before cells that look like formulas."""
    for row in rows:
        if any(cell.startswith("'") for cell in row.cells):
            cells = [
                cell[1:] if index in columns and _MARKED.match(cell) else cell for index, cell in enumerate(row.cells)
            ]
            yield Row(row.number, tuple(cells), row.problem)
        else:
            yield row


def unusual_row(row: Row, width: int) -> Row:
    """Return a row with another number of cells than `width` as a problem, unless only empty cells are surplus."""
    problem, cells = row.problem, row.cells
    if not problem and cells:
        if len(cells) > width and not any(cells[width:]):
            return Row(row.number, cells[:width])
        problem = f"This row has {_cells(len(cells))}, but the file has {_columns(width)}."
    return Row(row.number, (*cells[:width], *("",) * (width - len(cells))), problem)


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count:,} columns"


def _never_closed(line: int) -> str:
    return (
        f"A quotation mark opens in row {line:,} and is never closed, so the rest of the file cannot be read. "
        "Close it, or double it if it belongs to the text."
    )


def _too_large(line: int) -> str:
    return (
        f"A cell that begins in row {line:,} has more than {LONGEST_LINE:,} characters, so the rest of the file was "
        "not read. A quotation mark is probably never closed."
    )


def _unwrapped_lines(lines: Iterable[str]) -> Iterator[str]:
    """Remove the quotation marks around whole lines; other lines stay unchanged."""
    return map(_unwrapped, lines)


def _unwrapped(line: str) -> str:
    found = WRAPPED_LINE.fullmatch(line)
    return found[1].replace('""', '"') + found[2] if found else line


def _with_empty_cells(lines: Iterable[str], separator: str) -> Iterator[str]:
    r"""Replace whole cells \N by empty ones; within quotation marks MySQL writes \\N."""
    return map(partial(null_cell(separator).sub, ""), lines)


@lru_cache(maxsize=8)
def null_cell(separator: str) -> re.Pattern[str]:
    r"""Return the pattern of a whole cell \N without quotation marks."""
    sign = re.escape(separator)
    return re.compile(rf"(?<![^{sign}\r\n])\\N(?![^{sign}\r\n])")


def csv_rows(lines: Iterable[str], separator: str, quoting: Quoting, *, strict: bool = False) -> Any:
    """Return a csv.reader for a way of quoting. It does not decode the escapes of PostgreSQL's COPY."""
    if quoting is Quoting.OUTFILE:
        lines = _with_empty_cells(lines, separator)
    elif quoting is Quoting.WRAPPED:
        lines = _unwrapped_lines(lines)
    return csv.reader(lines, delimiter=separator, strict=strict, **_READER_OPTIONS[quoting])


def marked_columns(source: Source) -> Source:
    """Return the source with `marked` set, according to its manifest, to the columns with added apostrophes."""
    manifest = source.path.with_name(f"{source.path.name}.manifest.json")
    try:
        if not source.has_header or not manifest.is_file() or manifest.stat().st_size > _MOST_MANIFEST_BYTES:
            return source
        content = json.loads(manifest.read_bytes())
        export = content["export"]
        found = export.get("formulas_made_harmless") or {}
        is_ours = str(content["program"]).startswith("CF Batch") and found.get("mark") == "'" and found.get("cells")
        names = {str(name) for name in found.get("columns", ())} if is_ours else set()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return source  # not a manifest of CF Batch
    marked = tuple(index for index, name in enumerate(source.columns) if name in names)
    if not marked:
        return source
    notice = "CF Batch wrote this file for Excel: the apostrophes it put before formulas are taken away again."
    return replace(source, marked=marked, notices=(*source.notices, notice))
