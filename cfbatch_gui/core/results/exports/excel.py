"""Workbooks that people read: their own columns under their own headers, beside ours that say something."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, islice
from typing import TYPE_CHECKING

import orjson

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.categories import summaries
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.base import PART, REQUEST_ID, SOURCE_JOB, Cell, Row, Work, Written, export_file
from cfbatch_gui.core.results.exports.category_rows import COUNTED, TAKEN, CategoryRows
from cfbatch_gui.core.results.exports.group_rows import (
    DUPLICATES_SHEET,
    GROUPS_HEADERS,
    GROUPS_SHEET,
    duplicate_rows,
    grouped_rows,
    lines_of_groups,
)
from cfbatch_gui.core.results.exports.match_rows import MatchRows
from cfbatch_gui.core.results.exports.own_sheet import OwnRows
from cfbatch_gui.core.results.exports.people import HEADERS, QUERY, REASON, people_columns
from cfbatch_gui.core.results.exports.rows import COLUMNS, ScoreRows, VectorRows
from cfbatch_gui.core.results.exports.screening_rows import screening_rows
from cfbatch_gui.core.results.exports.search_rows import SearchRows
from cfbatch_gui.core.results.job_groups import read_groups
from cfbatch_gui.core.results.matches import Matches
from cfbatch_gui.core.results.numbers import SCORE_DECIMALS
from cfbatch_gui.core.results.outcomes import count_items
from cfbatch_gui.core.results.rankings import Rankings
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
_SHOWN_AGAIN = re.compile(r"(?!-0(?:\.0+)?$)-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?")
_MOST_DIGITS = 15
_FITTED = 2_000  # rows to which columns are fitted
_NARROWEST, _WIDEST, _NUMBER_WIDTH = 6, 60, 11  # characters


class _Exact(float):
    """A double formatted with up to 17 digits: with xlsxwriter's 16, not every one reads back as the same number."""

    def __format__(self, format_spec: str) -> str:
        return repr(float(self))


@dataclass(frozen=True, slots=True)
class Column:
    """Where a column is in a row, its header and width; `decimals` is None for texts, which `say` puts into words."""

    index: int
    header: str
    width: int
    decimals: int | None = None
    say: Callable[[str], str] = str

    def cell(self, row: Row) -> Cell:
        """A text that is a number as it, if a spreadsheet shows it again as it is written."""
        cell = row[self.index]
        if not isinstance(cell, str):
            return cell
        if self.decimals is None or _decimals_of(cell) != self.decimals:
            return self.say(cell)
        return float(cell) if self.decimals else int(cell)


def _fitted(index: int, header: str, rows: Sequence[Row]) -> Column:
    """A column as wide as its header, with the button of the filter, and these rows need; numbers where all are."""
    cells = [row[index] for row in rows]
    lines = (len(line) for cell in cells if isinstance(cell, str | int) for line in str(cell)[:200].split("\n"))
    width = min(_WIDEST, max(_NARROWEST, len(header) + 4, max(lines, default=0) + 2))
    decimals = {_decimals_of(cell) if isinstance(cell, str) else None for cell in cells if cell not in (None, "")}
    return Column(index, header, width, decimals.pop() if len(decimals) == 1 else None)


def _decimals_of(text: str) -> int | None:
    """The decimals of a number that a spreadsheet shows again as it is written; None for other texts ("007")."""
    found = _SHOWN_AGAIN.fullmatch(text)
    return None if found is None or sum(map(str.isdigit, text)) > _MOST_DIGITS else len(found[1] or "")


class Sheet:
    """One sheet, written row by row from the header on; numbers are kept whole, however many decimals are shown."""

    def __init__(self, book: "xlsxwriter.Workbook", name: str, columns: Sequence[Column]) -> None:
        self.name, self._columns = name, columns
        self.rows = 0
        self._sheet = book.add_worksheet(name)
        self._sheet.freeze_panes(1, 0)
        self._sheet.repeat_rows(0)  # on each page of paper, of which the sheet is as wide as one
        self._sheet.set_landscape()
        if len(columns) <= _MOST_ON_PAPER:
            self._sheet.fit_to_pages(1, 0)
        if len(columns) > MOST_COLUMNS:
            raise ExportError(message("excel_takes_most_columns_these_are", most=MOST_COLUMNS, width=len(columns)))
        # “_)” leaves room for a parenthesis, so that a number does not touch the text at its right.
        shown = {each.decimals: f"0.{'0' * each.decimals}_)" if each.decimals else "0_)" for each in columns}
        forms = {count: book.add_format({"num_format": form}) for count, form in shown.items() if count is not None}
        self._forms = [None if each.decimals is None else forms[each.decimals] for each in columns]
        # Texts such as "007" are meant to be texts, and need no mark that warns of it.
        self._sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{MOST_ROWS}"})
        bold, beside = book.add_format({"bold": True}), book.add_format({"bold": True, "align": "right"})
        for at, each in enumerate(columns):
            self._sheet.set_column(at, at, each.width)
            if each.header:
                self._check_length(each.header)
                self._sheet.write_string(0, at, each.header, bold if each.decimals is None else beside)

    def add(self, row: Row) -> None:
        """Write the next row. Raises ExportError if Excel's limits of rows or of characters in a cell are exceeded."""
        self.rows += 1
        if self.rows >= MOST_ROWS:
            raise ExportError(message("excel_takes_most_rows_sheet_name", most=MOST_ROWS, name=self.name))
        for at, (column, form) in enumerate(zip(self._columns, self._forms, strict=True)):
            cell = column.cell(row)
            if isinstance(cell, str):
                if cell:
                    self._check_length(cell)
                    self._sheet.write_string(self.rows, at, cell)
            elif cell is not None:
                self._sheet.write_number(self.rows, at, _Exact(cell) if isinstance(cell, float) else cell, form)

    def finish(self) -> None:
        if self.rows:
            self._sheet.autofilter(0, 0, self.rows, len(self._columns) - 1)

    def _check_length(self, cell: str) -> None:
        # A character outside the Basic Multilingual Plane counts as two; texts of half the limit need no encoding.
        if len(cell) * 2 > MOST_CHARACTERS and len(cell.encode("utf-16-le")) // 2 > MOST_CHARACTERS:
            raise ExportError(
                message(
                    "excel_takes_most_characters_cell_text",
                    most=MOST_CHARACTERS,
                    row=self.rows + 1,
                    name=self.name,
                    length=len(cell),
                )
            )


SheetRows = tuple[str, Sequence[str], Iterable[Row]]  # a name, headers, and rows
_KINDS = {"utf8": None, "int64": 0, "float64": SCORE_DECIMALS}
_DECIMALS = {"score": SCORE_DECIMALS, "rank": 0, PART: 0, "query": None, "text": None}
_RANK = COLUMNS.index("rank")
_ABOUT, _RANKING, _PROBLEMS = message("about"), message("ranking_3"), message("problems")
_PER_QUERY_SHEET = message("per_query")
_PER_QUERY = (
    *((message("texts"), 8, 0), (message("score_3"), 14, 0)),
    *((message("best_score"), 12, SCORE_DECIMALS), (message("margin"), 10, SCORE_DECIMALS)),
)  # titles, widths and decimals


def write_rankings(work: Work) -> Written:
    """In the user's own order all rows are in one sheet, with the reason where there is no score.

    Until the workbook is closed, its sheets are in the system's folder for temporary files.
    """
    table = ScoreRows(work)
    blocks = table.in_file_order() if work.options.in_own_order else table.blocks()
    first = next(blocks, [])
    columns = {}
    for name, header in people_columns(work, table, has_reasons=work.options.in_own_order).items():
        column = _fitted(table.columns.index(name), header, first)
        said = work.say if name == "error" else str
        columns[name] = replace(column, decimals=_DECIMALS.get(name, column.decimals), say=said)
    own = [column for name, column in columns.items() if name not in ("rank", "score", "error")]
    with _checked_workbook(work) as (book, sheets):
        sheets.append(ranking := Sheet(book, work.say(_RANKING), [*columns.values()]))
        problems: Sheet | None = None  # there is one only if it has rows
        for row in chain(first, chain.from_iterable(blocks)):
            if work.options.in_own_order or row[_RANK] is not None:
                ranking.add(row)
                continue
            if problems is None:
                reason = Column(COLUMNS.index("error"), work.say(REASON), _WIDEST, say=work.say)
                sheets.append(problems := Sheet(book, work.say(_PROBLEMS), [*own, reason]))
            problems.add(row)
        if not work.options.in_own_order:
            query = columns["query"].header if "query" in columns else work.say(QUERY)
            shown = [Column(0, query, _WIDEST)]
            for at, (title, width, decimals) in enumerate(_PER_QUERY, 1):
                shown.append(Column(at, work.say(title), width, decimals))
            sheets.append(per_query := Sheet(book, work.say(_PER_QUERY_SHEET), shown))
            for each in Rankings(work.folder, work.job.failed_batches).queries():
                if work.options.items is None or each.query_no in table.asked:
                    per_query.add((each.text, each.contexts, each.scored, each.best, each.margin))
    rows = ranking.rows + (problems.rows if problems is not None else 0)
    return Written(rows, (work.path,), {**_rows_of(sheets), **table.notes})


_MATCHES, _NOT_MATCHED, _ROWS_SHEET = message("matches_sheet"), message("not_matched_in_b"), message("rows_sheet")


def write_matches(work: Work) -> Written:
    """List A with what it gets of B; what is left of B stands in a second sheet, which is there only if it has rows."""
    table = MatchRows(work, for_people=True)
    rest = _NOT_MATCHED, table.columns_of_b, table.unmatched()
    return write_own(work, table, _MATCHES, rest, matches=table.matches)


def write_categories(work: Work) -> Written:
    """The own sheet with categories, how many rows each has, and which are taken for which where that is known."""
    table = CategoryRows(work, for_people=True)
    sheets = (("categories_sheet", COUNTED, table.counted()), ("taken_sheet", TAKEN, table.taken()))
    more = ((message(name), [work.say(each) for each in headers], rows) for name, headers, rows in sheets)
    return write_own(work, table, _ROWS_SHEET, *more, matches=table.matches)


def write_search(work: Work) -> Written:
    return write_own(work, SearchRows(work, for_people=True), message("search_sheet"))


def write_groups(work: Work) -> Written:
    """The own sheet with the groups, and the groups themselves on a second one."""
    found = read_groups(work.folder, work.job, lambda share: work.steps.wrote(0))
    headers = [work.say(each) for each in GROUPS_HEADERS]
    groups = GROUPS_SHEET, headers, lines_of_groups(work, found)
    return write_own(work, grouped_rows(work, found, for_people=True), _ROWS_SHEET, groups)


def write_duplicates(work: Work) -> Written:
    return write_own(work, duplicate_rows(work, for_people=True), DUPLICATES_SHEET)


def write_screening(work: Work) -> Written:
    return write_own(work, screening_rows(work, for_people=True), message("screening_sheet"))


def write_own(
    work: Work, table: OwnRows | MatchRows | SearchRows, name: str, *more: SheetRows, matches: Matches | None = None
) -> Written:
    """A table, in which our columns are numbers; `more` sheets are there only if they have rows."""
    own = name, table.columns, chain.from_iterable(table.blocks())
    with _checked_workbook(work, matches) as (book, sheets):
        for title, headers, rows in (own, *more):
            lines = iter(rows)
            some = list(islice(lines, _FITTED))
            columns = [_fitted(at, header, some) for at, header in enumerate(headers)]
            for at, kind in table.ours.items() if title is name else ():
                columns[at] = replace(columns[at], decimals=_KINDS[kind])
            if some or title is name:
                sheets.append(sheet := Sheet(book, work.say(title), columns))
                for row in chain(some, lines):
                    sheet.add(row)
    return Written(sheets[0].rows, (work.path,), {**_rows_of(sheets), **table.notes})


@contextmanager
def _checked_workbook(
    work: Work, matches: Matches | None = None
) -> "Iterator[tuple[xlsxwriter.Workbook, list[Sheet]]]":
    """A workbook for the sheets that are added to the list; the last one says where it comes from."""
    import xlsxwriter  # here, because every command imports this module, and few write a workbook
    from xlsxwriter.exceptions import FileCreateError

    with export_file(work) as stream, temporary_folder() as folder:
        # By its name, not the stream: a broken archive is written to once more when it is collected.
        book = xlsxwriter.Workbook(stream.name, {**_OPTIONS, "tmpdir": str(folder)})
        book.use_zip64()
        sheets: list[Sheet] = []
        try:
            yield book, sheets
            for sheet in sheets:
                sheet.finish()
            about = Sheet(book, work.say(_ABOUT), [Column(0, work.say(_ABOUT), 24), Column(1, "", 80)])
            for row in _about(work, matches):
                about.add(row)
            book.close()
        except FileCreateError as error:
            # The wrapped OSError has the error number, which shows whether the disk is full.
            raise error.args[0] from error
        finally:
            for each in book.worksheets():
                # close() does the same, but is not called after an error. A second error of a full disk adds nothing.
                for close in (each._opt_close, each._xml_close):
                    with suppress(OSError, AttributeError):  # its XML may not have been begun
                        close()


def _rows_of(sheets: Sequence[Sheet]) -> dict[str, object]:
    return {"sheets": {sheet.name: sheet.rows for sheet in sheets}}


_EMBEDDINGS = message("embeddings_2")


def write_vectors(work: Work) -> Written:
    """Raises ExportError if there are more rows or columns than Excel accepts."""
    dimension = Embeddings(work.folder).dimension if work.options.has_numbers else 0
    numbers = [f"dim_{index}" for index in range(dimension)]
    table = VectorRows(work, reserved=numbers)
    own = table.own_columns(work.say, numbers)
    first = [table.own_cells(text) for text in next(table.texts(), [])]
    shown = [at for at, name in enumerate(own) if name != REQUEST_ID or work.options.columns is not None]
    columns = [_fitted(at, work.say(HEADERS[SOURCE_JOB]) if own[at] == SOURCE_JOB else own[at], first) for at in shown]
    columns += [Column(len(own) + at, name, _NUMBER_WIDTH) for at, name in enumerate(numbers)]
    with _checked_workbook(work) as (book, sheets):
        sheets.append(Sheet(book, work.say(_EMBEDDINGS), columns))
        for block in table.lines(has_numbers=bool(numbers)):
            for text, decimals in block:
                sheets[0].add([*table.own_cells(text), *orjson.loads(decimals)])
    return Written(table.count, (work.path,), {**table.notes, **_rows_of(sheets)})


def _about(work: Work, matches: Matches | None) -> Iterator[tuple[str, str]]:
    """Rows (name, value) of the origin; without the time, so that equal exports are identical."""
    job, say = work.job, work.say
    is_ranking = job.kind is Kind.RANK
    with work.folder.open(read_only=True) as database:
        counts = count_items(database, job.failed_batches)
    missing = {
        message("failed_2"): counts.failed,
        message("not_back_yet"): counts.waiting,
        message("left_out"): counts.left_out + counts.skipped,
        message("sent_although_doubtful"): counts.doubtful_sent,
    }
    sent = f"{datetime.fromtimestamp(job.sent_at, UTC):%Y-%m-%d %H:%M} UTC"
    rows = {
        message("made"): f"CF Batch {__version__}",
        message("job"): job.name,
        message("file_3"): job.source_name,
        message("model"): job.model,
        message("connection"): work.connection,
        **({message("sent"): sent} if job.sent_at else {}),
        (message("texts_score") if is_ranking else message("texts_vector")): str(counts.done),
        **{name: str(count) for name, count in missing.items() if count},
    }
    if is_ranking:
        rows[message("ranks")] = say(message("equal_scores_share_rank_next_rank"))
        rows[message("scores")] = say(message("compare_scores_within_one_query_they"))
    if matches is not None:
        title = _MATCHES if matches.categories is None else message("categories_sheet")
        rows[title] = " ".join(map(say, summaries(matches, job)))
    return ((say(name), value) for name, value in rows.items())
