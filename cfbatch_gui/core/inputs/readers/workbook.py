"""Read workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) in a process of its own, after a check of what they unpack to."""

import zipfile
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import msgspec

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs import open_file
from cfbatch_gui.core.inputs.column_names import is_context, is_text
from cfbatch_gui.core.inputs.input_values import Block, Candidate, ProblemKind, ReadOptions, Row, Source, single_rows
from cfbatch_gui.core.inputs.readers import decoding_program
from cfbatch_gui.core.inputs.readers.decoding_process import decoding
from cfbatch_gui.core.inputs.recognise.headers import ROWS_FOR_HEADER, with_header
from cfbatch_gui.core.inputs.recognise.table_bounds import Record, first_of_table, notice_above
from cfbatch_gui.core.messages import Message, cut_list, message, quoted

MOST_BYTES = 4 * 1024**3  # unpacked; a full sheet of 1,048,576 rows takes about 1 GB
MOST_RATIO = 200  # unpacked to packed, for members over 64 MiB; real sheets stay below 60
_MOST_OLD_WORKBOOK = 256 * 1024**2
_MOST_OTHER = 1024**3  # as MOST_BYTES, of other packed workbooks
RATIO_COUNTS_FROM = 64 * 1024**2


def archive_names(path: Path) -> frozenset[str]:
    """The names in a zip archive in lower case; none for any other file. Raises InputError."""
    return frozenset(each.filename.replace("\\", "/").lower() for each in _members(path))


def _members(path: Path) -> list[zipfile.ZipInfo]:
    with open_file.open_raw(path) as raw:
        try:
            with zipfile.ZipFile(raw) as archive:
                return archive.infolist()
        except decoding_program.DAMAGE:
            return []


def _check(path: Path) -> None:
    """Read a zip's directory only. Raises InputError for a bomb, another kind of zip, and an old workbook too large."""
    members, names = _members(path), archive_names(path)
    if not members:
        if (size := open_file.regular_file_size(path)) > _MOST_OLD_WORKBOOK:
            raise InputError(message("name_size_mb_more_than_can", name=path.name, size=size / 1000000.0))
        return
    if "content.xml" not in names and not any(name.startswith("xl/workbook.") for name in names):
        raise InputError(_other_zip(path, names), detail=f"no workbook among {len(names):,} members")
    total = sum(member.file_size for member in members)
    swollen = [each for each in members if each.file_size > max(RATIO_COUNTS_FROM, MOST_RATIO * each.compress_size)]
    if swollen or total > (MOST_BYTES if "xl/workbook.xml" in names else _MOST_OTHER):
        raise InputError(
            message("name_would_unpack_total_gb_far", name=path.name, total=total / 1e9),
            detail=f"{total:,} bytes in {len(members):,} members; swollen: {[m.filename for m in swollen][:3]}",
        )


def _other_zip(path: Path, names: Collection[str]) -> str:
    if any(name.startswith("index/") and name.endswith(".iwa") for name in names):
        return message("name_is_apple_numbers_file_export", name=path.name)
    if any(name.startswith("ppt/") for name in names):
        return message("name_is_presentation_not_table_copy", name=path.name)
    return message("name_is_zip_archive_unpack_choose", name=path.name)


_CURE = message("open_spreadsheet_program_save_again_choose")
_NO_VALUE = message("formula_column_row_no_stored_value")
_OUT_OF_RANGE = message("row_number_is_shown_time_is")
_MARKS: dict[str, tuple[Message | Literal[""], ProblemKind]] = {
    "": ("", ProblemKind.UNREADABLE_ROW),
    decoding_program.FORMULA: (_NO_VALUE, ProblemKind.FORMULA_WITHOUT_VALUE),
    decoding_program.OUT_OF_RANGE: (_OUT_OF_RANGE, ProblemKind.UNREADABLE_ROW),
    decoding_program.HIDDEN: (message("row_is_hidden_file"), ProblemKind.HIDDEN_ROW),
}


def read_workbook(source: Source, progress: Callable[[int], None] | None) -> Generator[Block | Row, None, None]:
    """Yield the rows of `source.sheet` with their numbers there.

    A formula without a value makes the row a problem; cells with an error such as #N/A are empty.
    """
    first = source.first_line + source.has_header
    count = 0
    with open_sheet(source.path, source.sheet) as sheet:
        for found in sheet.rows:
            count += len(found.rows) if isinstance(found, Block) else 1
            if progress is not None:
                progress(count)
            if isinstance(found, Block) and found.numbers[0] >= first:
                yield found
                continue
            for row in single_rows((found,)):
                is_read = row.problem_kind is ProblemKind.HIDDEN_ROW and not source.leaves_hidden
                if row.number >= first:
                    yield Row(row.number, row.cells) if is_read else row


@dataclass(frozen=True, slots=True)
class OpenSheet:
    """A sheet that is being read, from its first row that is not blank to the last, all equally wide.

    `sheets` are the names of all, and whether they are visible; `name` is "" if what was asked for has no rows.
    `hidden` counts hidden rows, which come as problems of that kind.
    """

    sheets: tuple[tuple[str, bool], ...]
    name: str
    hidden: int
    rows: Iterator[Block | Row]


@contextmanager
def open_sheet(path: Path, wanted: str = "") -> Iterator[OpenSheet]:
    """Give a sheet by its name, by default the first with rows, hidden ones last. Raises InputError."""
    _check(path)
    with decoding(decoding_program.WORKBOOK, path, _CURE, msgspec.json.encode(wanted).decode()) as lines:
        sheets = tuple((name, is_visible) for name, is_visible in next(lines, ()))
        name, hidden, too_large = next(lines, ("", 0, ()))
        if too_large:
            rows, columns = too_large
            said = message("sheet_sheet_name_spreads_over_rows", sheet=name, name=path.name, rows=rows, columns=columns)
            raise InputError(said, detail=f"more than {decoding_program.MOST_CELLS:,} cells")
        yield OpenSheet(sheets, name, hidden, _rows(lines))


def _rows(blocks: Iterator[Any]) -> Iterator[Block | Row]:
    for first, rows, marks in blocks:
        if not marks and all(map(any, rows)):
            yield Block(range(first, first + len(rows)), rows)
            continue
        marked = {index: (mark, column) for index, mark, column in marks}
        for index, cells in enumerate(rows):
            mark, column = marked.get(index, ("", ""))
            sentence, kind = _MARKS[mark]
            number = first + index
            yield Row(number, tuple(cells), sentence and sentence.filled(column=column, row=number), kind)


def recognise_workbook(candidate: Candidate) -> Source | None:
    """The source of a workbook, None for another file. Raises InputError, also for other archives; UsageError."""
    names = candidate.members or ("xl/",)  # of an archive that cannot be looked into
    is_packed = "content.xml" in names or any(name.startswith(("xl/", "ppt/", "index/")) for name in names)
    is_old = open_file.is_old_workbook(candidate.path, candidate.head)
    return _open(candidate) if is_old or (is_packed and candidate.head.startswith(open_file.ZIP)) else None


def _open(candidate: Candidate) -> Source:
    """Recognise the sheet that the options name, otherwise the first with rows, hidden ones last.

    Raises InputError, UsageError.
    """
    path, options = candidate.path, candidate.options
    if options.separator or options.encoding:
        raise UsageError(message("name_is_workbook_no_separator_no", name=path.name))
    with open_sheet(path, options.sheet or "") as sheet:
        rows = list(islice(single_rows(sheet.rows), ROWS_FOR_HEADER))
    if not rows:
        raise _without_rows(path, options.sheet, tuple(name for name, _ in sheet.sheets))
    begin = _first_row(rows)
    table = rows[begin:]
    cells = [row.cells for row in table if any(row.cells)]
    source = Source(
        *(path, "workbook", (), candidate.size),
        sheet=sheet.name,
        sheets=tuple(name for name, _ in sheet.sheets),
        first_line=table[0].number,
        hidden=sheet.hidden,
    )
    source = with_header(source, cells, options.has_header)
    above = notice_above([" ".join(" ".join(row.cells).split()) for row in rows[:begin]])
    said = _notices(sheet, options, above, source.columns, cells[1:] if source.has_header else [])
    return replace(source, notices=tuple(said))


def _notices(
    sheet: OpenSheet, options: ReadOptions, above: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    is_visible = dict(sheet.sheets)
    if not options.sheet and not is_visible[sheet.name] and any(is_visible.values()):
        yield message("sheet_name_is_hidden_those_are", name=sheet.name)
    if above:
        yield above
    if sheet.hidden and not options.leaves_hidden:
        yield message("n_rows_are_hidden_or_filtered", n=sheet.hidden)
    # In .xls a formula without a value cannot be told from an empty text, which is said of columns named as texts.
    named = [index for index, name in enumerate(columns) if is_text(name) or is_context(name)]
    if empty := [quoted(columns[index]) for index in named if rows and not any(row[index] for row in rows)]:
        yield message("column_names_is_empty_first_rows", names=cut_list(empty[:3], len(empty) - 3))


def _first_row(rows: Sequence[Row]) -> int:
    """The index of the table's first row: below titles."""
    filled = [index for index, row in enumerate(rows) if any(cell.strip() for cell in row.cells)]
    records = [Record(index, rows[index].cells, after_blank=index - 1 not in filled) for index in filled]
    return filled[first_of_table(records)] if filled else 0


def _without_rows(path: Path, sheet: str | None, names: tuple[str, ...]) -> InputError:
    others = [quoted(name) for name in names if name != sheet]
    listed = cut_list(others[:10], len(others) - 10)
    if sheet and sheet not in names:
        return InputError(message("name_no_sheet_sheet_list", name=path.name, sheet=sheet, list=listed))
    if not sheet or not others:
        return open_file.without_rows(path)
    return InputError(message("sheet_sheet_name_is_empty_choose", sheet=sheet, name=path.name, list=listed))
