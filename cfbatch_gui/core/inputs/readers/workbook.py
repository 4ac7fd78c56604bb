"""Read workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) in a process of its own, after a check of what they unpack to."""

import zipfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import msgspec

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.column_names import complete_names, is_context, is_text
from cfbatch_gui.core.inputs.input_values import Block, Candidate, ProblemKind, ReadOptions, Row, Source, single_rows
from cfbatch_gui.core.inputs.open_file import (
    damaged,
    is_old_workbook,
    only_header,
    open_raw,
    protected,
    regular_file_size,
    without_rows,
)
from cfbatch_gui.core.inputs.readers.decoding_process import Decoding, DecodingError, decoding
from cfbatch_gui.core.inputs.readers.decoding_program import (
    DAMAGE,
    FORMULA,
    HIDDEN,
    MOST_CELLS,
    OUT_OF_RANGE,
    PROTECTED,
    WORKBOOK,
)
from cfbatch_gui.core.inputs.recognise.headers import ROWS_FOR_HEADER, judge_header
from cfbatch_gui.core.inputs.recognise.table_bounds import Record, first_of_table, notice_above
from cfbatch_gui.core.messages import counted_message, cut_list, message, quoted

MOST_BYTES = 4 * 1024**3  # unpacked; a full sheet of 1,048,576 rows takes about 1 GB
MOST_RATIO = 200  # unpacked to packed, for members over 64 MiB; real sheets stay below 60
_MOST_OLD_WORKBOOK = 256 * 1024**2
_MOST_OTHER = 1024**3  # as MOST_BYTES, of other packed workbooks
RATIO_COUNTS_FROM = 64 * 1024**2


def check_archive(path: Path) -> None:
    """Read the zip's directory only. Raises InputError for a damaged zip, a bomb, and any other kind of zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except DAMAGE as exc:
        raise damaged(path, exc, _CURE) from exc
    names = archive_names(path)
    if "content.xml" not in names and not any(name.startswith("xl/workbook.") for name in names):
        raise InputError(_other_zip(path, names), detail=f"no workbook among {len(names):,} members")
    total = sum(member.file_size for member in members)
    swollen = [each for each in members if each.file_size > max(RATIO_COUNTS_FROM, MOST_RATIO * each.compress_size)]
    if swollen or total > (MOST_BYTES if is_xlsx(path) else _MOST_OTHER):
        raise InputError(
            message(
                "{name} would unpack to {total:,.1f} GB, far more than a spreadsheet of its size holds, so it was "
                "not opened. If you trust it, save it as CSV and choose that.",
                name=path.name,
                total=total / 1e9,
            ),
            detail=f"{total:,} bytes in {len(members):,} members; swollen: {[m.filename for m in swollen][:3]}",
        )


def is_xlsx(path: Path) -> bool:
    return "xl/workbook.xml" in archive_names(path)


def archive_names(path: Path) -> frozenset[str]:
    """The names in a zip archive in lower case; none for any other file. Raises InputError."""
    with open_raw(path) as raw:
        try:
            with zipfile.ZipFile(raw) as archive:
                return frozenset(name.replace("\\", "/").lower() for name in archive.namelist())
        except DAMAGE:
            return frozenset()


def _check_old(path: Path) -> None:
    size = regular_file_size(path)
    if size > _MOST_OLD_WORKBOOK:
        raise InputError(
            message(
                "{name} has {size:,.0f} MB, more than can be opened in this old form. Save it as .xlsx or CSV, "
                "and choose that.",
                name=path.name,
                size=size / 1000000.0,
            )
        )


def _other_zip(path: Path, names: frozenset[str]) -> str:
    if any(name.startswith("index/") and name.endswith(".iwa") for name in names):
        return message("{name} is an Apple Numbers file. Export it as Excel or CSV and choose that.", name=path.name)
    if any(name.startswith("ppt/") for name in names):
        return message(
            "{name} is a presentation, not a table. Copy its texts to a text file, and choose that.", name=path.name
        )
    return message("{name} is a zip archive. Unpack it and choose a file that was in it.", name=path.name)


_CURE = message("Open it in a spreadsheet program, save it again, and choose that file.")
_NO_VALUE = message(
    "The formula in {column}{row} has no stored value. Open the file in a spreadsheet program, save it, and choose it "
    "again."
)
_HIDDEN = message("This row is hidden in the file.")
_OUT_OF_RANGE = message(
    "This row has a number that is shown as a time, and is too large to be one. Format it as a number in a "
    "spreadsheet program, save the file, and choose it again."
)


def read_workbook(source: Source, progress: Callable[[int], None] | None) -> Generator[Block | Row, None, None]:
    """Yield the rows of `source.sheet` with their numbers there.

    A formula without a value makes the row a problem; cells with an error such as #N/A are empty.
    """
    skip_header = source.has_header
    blank = count = 0
    with open_sheet(source.path, source.sheet) as sheet:
        for found in sheet.rows:
            first = found.numbers[0] if isinstance(found, Block) else found.number
            count += len(found.rows) if isinstance(found, Block) else 1
            if progress is not None:
                progress(count)
            if isinstance(found, Block) and not skip_header and first >= source.first_line:
                yield from _blank_rows(first, blank, len(found.rows[0]))
                blank = 0
                yield found
                continue
            for each in single_rows((found,)):
                is_read = each.problem_kind is ProblemKind.HIDDEN_ROW and not source.leaves_hidden
                row = Row(each.number, each.cells) if is_read else each
                if row.number < source.first_line:
                    continue
                if skip_header:
                    skip_header = False
                elif any(row.cells) or row.problem:
                    yield from _blank_rows(row.number, blank, len(row.cells))
                    blank = 0
                    yield row
                else:
                    blank += 1


def _blank_rows(number: int, count: int, width: int) -> Iterator[Row]:
    """The blank rows before the one with this number; those at the end of a sheet are none."""
    return (Row(earlier, ("",) * width) for earlier in range(number - count, number))


@dataclass(frozen=True, slots=True)
class OpenSheet:
    """A sheet that is being read; `hidden` counts its hidden rows, which come as problems of that kind."""

    rows: Iterator[Block | Row]
    hidden: int


@contextmanager
def open_sheet(path: Path, sheet: str) -> Iterator[OpenSheet]:
    """Give every row from the first that is not empty, header included, all equally wide. Raises InputError."""
    _check(path)
    with _decoded(path, msgspec.json.encode(sheet).decode()) as lines:
        hidden = next(lines, 0)
        if isinstance(hidden, list):
            raise _too_large(path, sheet, *hidden)
        yield OpenSheet(_rows(lines), hidden)


def _rows(blocks: Iterator[Any]) -> Iterator[Block | Row]:
    number = 0
    started = False
    for block, marks in blocks:
        if started and block and not marks and all(map(any, block)):
            yield Block(range(number + 1, number + 1 + len(block)), block)
            number += len(block)
            continue
        marked = {index: (mark, column) for index, mark, column in marks}
        for index, cells in enumerate(block):
            number += 1
            mark, column = marked.get(index, ("", ""))
            started = started or any(cells) or mark in (FORMULA, OUT_OF_RANGE)
            if mark == FORMULA:
                yield Row(
                    number, tuple(cells), _NO_VALUE.filled(column=column, row=number), ProblemKind.FORMULA_WITHOUT_VALUE
                )
            elif mark == OUT_OF_RANGE:
                yield Row(number, tuple(cells), _OUT_OF_RANGE)
            elif mark == HIDDEN and started:
                yield Row(number, tuple(cells), _HIDDEN, ProblemKind.HIDDEN_ROW)
            elif started:
                yield Row(number, tuple(cells))


def _check(path: Path) -> None:
    if archive_names(path):
        check_archive(path)
    else:
        _check_old(path)


def sheets_of(path: Path) -> tuple[tuple[str, bool], ...]:
    """Return (name, visible) of every sheet with cells, in the workbook's order. Raises InputError."""
    _check(path)
    with _decoded(path) as lines:
        return tuple((name, is_visible) for line in lines for name, is_visible in line)


def _lines(decoded: Decoding) -> Iterator[Any]:
    whole = takewhile(lambda line: line.endswith(b"\n"), decoded.stream)
    yield from map(msgspec.json.decode, whole)
    decoded.finish()


@contextmanager
def _decoded(path: Path, *arguments: str) -> Iterator[Iterator[Any]]:
    """Give the lines that the program writes about a workbook. Raises InputError if it ends early."""
    try:
        with decoding(WORKBOOK, path, *arguments) as decoded:
            yield _lines(decoded)
    except DecodingError as exc:
        raise InputError(protected(path)) if exc.status == PROTECTED else damaged(path, exc, _CURE) from exc


def _too_large(path: Path, sheet: str, rows: int, columns: int) -> InputError:
    return InputError(
        message(
            "The sheet “{sheet}” of {name} spreads over {rows:,} rows and {columns:,} columns, more than can be "
            "opened. Delete what stands far outside the table, or save it as CSV.",
            sheet=sheet,
            name=path.name,
            rows=rows,
            columns=columns,
        ),
        detail=f"more than {MOST_CELLS:,} cells",
    )


def recognise_workbook(candidate: Candidate) -> Source | None:
    """The source of a workbook, None for another file. Raises InputError, UsageError."""
    is_packed = "content.xml" in candidate.members or any(name.startswith("xl/") for name in candidate.members)
    return _open(candidate) if is_packed or is_old_workbook(candidate.path, candidate.head) else None


def _open(candidate: Candidate) -> Source:
    """Recognise the sheet that the options name, otherwise the first with rows, hidden ones last.

    Raises InputError, UsageError.
    """
    path, options = candidate.path, candidate.options
    if options.separator or options.encoding:
        raise UsageError(
            message("{name} is a workbook. It has no separator and no encoding to choose.", name=path.name)
        )
    sheets = sheets_of(path)
    names = tuple(name for name, _ in sheets)
    if options.sheet and options.sheet not in names:
        raise InputError(
            message(
                "{name} has no sheet “{sheet}”. It has {list}.", name=path.name, sheet=options.sheet, list=_list(names)
            )
        )
    chosen = _first_rows(path, options.sheet) if options.sheet else _choose(path, sheets)
    if not chosen.rows:
        raise _empty_sheets(path, options.sheet, names)
    table = chosen.table
    cells = [row.cells for row in table if any(row.cells)]
    judgement = judge_header(cells, decided=options.has_header)
    header = judgement.is_header
    if header and len(table) == 1:
        raise only_header(path)
    columns = complete_names(table[0].cells if header else (), len(table[0].cells))
    above = notice_above([" ".join(" ".join(row.cells).split()) for row in chosen.rows[: chosen.begin]])
    said = (above, _notice_of_hidden(chosen.hidden, options), _notice_of_empty(columns, cells[1:] if header else []))
    notices = (*chosen.notices, *filter(None, said))
    return Source(
        *(path, "workbook", columns, candidate.size),
        has_header=header,
        sheet=chosen.name,
        sheets=names,
        first_line=table[0].number if chosen.begin else 1,
        notices=notices,
        is_header_sure=not judgement.is_close,
        hidden=chosen.hidden,
    )


def _notice_of_hidden(rows: int, options: ReadOptions) -> str:
    if not rows or options.leaves_hidden:
        return ""
    return counted_message(
        rows,
        "{n:,} row is hidden or filtered in the sheet, and is read as the others.",
        "{n:,} rows are hidden or filtered in the sheet, and are read as the others.",
    )


def _notice_of_empty(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Of columns named as texts: in .xls a formula without a value cannot be told from an empty text."""
    named = [index for index, name in enumerate(columns) if is_text(name) or is_context(name)]
    empty = [quoted(columns[index]) for index in named if rows and not any(row[index] for row in rows)]
    if not empty:
        return ""
    return message(
        "The column {names} is empty in the first rows. If it holds formulas, open the file in a spreadsheet program, "
        "save it, and choose it again.",
        names=cut_list(empty[:3], len(empty) - 3),
    )


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet and its first rows, of which the table begins at index `begin`; `notices` say why it was chosen."""

    name: str
    rows: Sequence[Row] = ()
    begin: int = 0
    notices: tuple[str, ...] = ()
    hidden: int = 0

    @property
    def table(self) -> Sequence[Row]:
        return self.rows[self.begin :]


def _first_rows(path: Path, name: str) -> _Sheet:
    with open_sheet(path, name) as sheet:
        rows = list(islice(single_rows(sheet.rows), ROWS_FOR_HEADER))
        return _Sheet(name, rows, _first_row(rows), hidden=sheet.hidden)


def _first_row(rows: Sequence[Row]) -> int:
    """The index of the table's first row: below titles."""
    filled = [index for index, row in enumerate(rows) if any(cell.strip() for cell in row.cells)]
    records = [Record(index, rows[index].cells, after_blank=index - 1 not in filled) for index in filled]
    return filled[first_of_table(records)] if filled else 0


def _choose(path: Path, sheets: Sequence[tuple[str, bool]]) -> _Sheet:
    visible, hidden = ([name for name, is_visible in sheets if is_visible is wanted] for wanted in (True, False))
    found = (_first_rows(path, name) for name in (*visible, *hidden))
    sheet = next((each for each in found if each.rows), _Sheet(""))
    if sheet.name not in hidden or not visible:
        return sheet
    notice = message("The sheet “{name}” is hidden; those that are not are empty.", name=sheet.name)
    return replace(sheet, notices=(notice,))


def _list(names: tuple[str, ...]) -> str:
    return cut_list([quoted(name) for name in names[:10]], len(names) - 10)


def _empty_sheets(path: Path, sheet: str | None, names: tuple[str, ...]) -> InputError:
    others = tuple(name for name in names if name != sheet)
    if not sheet or not others:
        return without_rows(path)
    return InputError(
        message(
            "The sheet “{sheet}” of {name} is empty. Choose another: {list}.",
            sheet=sheet,
            name=path.name,
            list=_list(others),
        )
    )
