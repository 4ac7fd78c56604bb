"""Workbooks that people read: their own columns beside ours that add something.

Columns that are empty throughout are left out, unless they were chosen by name.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from shutil import copyfileobj
from typing import TYPE_CHECKING

import orjson

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Role
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.base import PART, SOURCE_JOB, Cell, Steps, Work, Written, check_archive
from cfbatch_gui.core.results.exports.rows import COLUMNS, Row, ScoreRows, VectorRows
from cfbatch_gui.core.results.numbers import SCORE_DECIMALS
from cfbatch_gui.core.results.outcomes import column_mapping, count_items
from cfbatch_gui.core.results.rankings import Rankings
from cfbatch_gui.core.system.files import atomic_writer, temporary_folder

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


@dataclass(frozen=True, slots=True)
class PeopleColumn:
    """Where a column is in a row, its header and width; `decimals` is None for texts, which `say` puts into words."""

    index: int
    name: str
    header: str
    width: int
    decimals: int | None = None
    is_of_scores: bool = True
    say: Callable[[str], str] = str

    def cell(self, row: Row) -> Cell:
        """A text that is a number as it, if a spreadsheet shows it again as it is written."""
        cell = row[self.index]
        if not isinstance(cell, str):
            return cell
        if self.decimals is None or _decimals_of(cell) != self.decimals:
            return self.say(cell)
        return float(cell) if self.decimals else int(cell)


class Sheet:
    """One sheet, written row by row from the header on; numbers are kept whole, however many decimals are shown."""

    def __init__(self, book: "xlsxwriter.Workbook", name: str, columns: Sequence[PeopleColumn]) -> None:
        from xlsxwriter.utility import xl_rowcol_to_cell  # see `_checked_workbook`

        self.name, self._columns = name, columns
        self.rows = 0
        self._sheet = book.add_worksheet(name)
        self._sheet._escape_control_characters = _escaped  # in place of xlsxwriter's, see there
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
        last_cell = xl_rowcol_to_cell(MOST_ROWS - 1, len(columns) - 1)
        self._sheet.ignore_errors({"number_stored_as_text": f"A1:{last_cell}"})
        bold, beside = book.add_format({"bold": True}), book.add_format({"bold": True, "align": "right"})
        titles = [each.header for each in columns]
        for at, each in enumerate(columns):
            self._sheet.set_column(at, at, each.width)
            if each.header:
                self._check_length(each.header, titles)
                self._sheet.write_string(0, at, each.header, bold if each.decimals is None else beside)

    def add(self, row: Row) -> None:
        """Write the next row. Raises ExportError if Excel's limits of rows or of characters in a cell are exceeded."""
        if self.rows + 1 >= MOST_ROWS:
            raise ExportError(message("excel_takes_most_rows_sheet_name", most=MOST_ROWS, name=self.name))
        self.rows += 1
        for at, (column, form) in enumerate(zip(self._columns, self._forms, strict=True)):
            cell = column.cell(row)
            if isinstance(cell, str):
                if cell:
                    self._check_length(cell, row)
                    self._sheet.write_string(self.rows, at, cell)
            elif cell is not None:
                self._sheet.write_number(self.rows, at, _Exact(cell) if isinstance(cell, float) else cell, form)

    def finish(self) -> None:
        if self.rows:
            self._sheet.autofilter(0, 0, self.rows, len(self._columns) - 1)

    def _check_length(self, cell: str, row: Row) -> None:
        # A character outside the Basic Multilingual Plane counts as two; texts of half the limit need no encoding.
        if len(cell) * 2 > MOST_CHARACTERS and len(cell.encode("utf-16-le")) // 2 > MOST_CHARACTERS:
            raise ExportError(
                message(
                    "excel_takes_most_characters_cell_text",
                    most=MOST_CHARACTERS,
                    row=self.rows + 1,
                    name=self.name,
                    length=len(cell),
                ),
                detail=f"{row[0]!r}",
            )


def _escaped(text: str) -> str:
    """What XML cannot hold as _xHHHH_, as xlsxwriter (3.3) misses the second of two that share an underscore."""
    if "_x" in text:
        text = _LIKE_ESCAPE.sub("_x005F_", text)
    return _NO_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def fill(sheet: Sheet, rows: Iterable[Row]) -> None:
    """Add all rows to the sheet. Raises ExportError, as `Sheet.add` does."""
    for row in rows:
        sheet.add(row)


_OURS = {"rank": message("rank_2"), "score": message("score_2"), "error": message("reason_2"), PART: message("part_2")}
_FIRST = ("query", "rank", "score", "text", "doc_id", "query_id", "label", PART)
_BY_ROLE: dict[str, tuple[tuple[Role, ...], str]] = {
    "query": ((Role.QUERY,), message("query")),
    "text": ((Role.CONTEXT, Role.TEXT), message("text")),
    "doc_id": ((Role.ID,), message("id")),
    "query_id": ((Role.ID,), message("query_id")),
    "label": ((Role.LABEL,), message("label")),
}
_OTHERS = {
    "tie_group": message("tie_group_2"),
    "initial_rank": message("initial_rank_2"),
    "rank_change": message("rank_change_2"),
    "external_reference": message("external_reference_2"),
    "request_id": message("request_id_2"),
    "status": message("status_2"),
    SOURCE_JOB: message("from_job"),
}
_RANK = COLUMNS.index("rank")
_DECIMALS = {"score": SCORE_DECIMALS, "rank": 0, PART: 0}
_ADDED = ("rank", "score", PART, "error")  # to the user's own sheet
_SHOWN_AGAIN = re.compile(r"(?!-0(?:\.0+)?$)-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?")
_MOST_DIGITS = 15
_MEASURED = 200  # rows from which a column's width is taken
_NARROWEST, _WIDEST = 6, 60  # characters


def people_columns(
    work: Work, table: ScoreRows, chosen: Sequence[str] | None, *, as_in_file: bool = False
) -> tuple[PeopleColumn, ...]:
    """The columns of a ranking as people read them, or as chosen; with `as_in_file` the file's come first. Looks at
    the rows of `table`.
    """
    names, are_chosen = table.columns, chosen is not None
    own = _as_in_file(work.folder, table) if as_in_file else ()
    rest = [name for name in _usual(names) if name not in own]
    if as_in_file:
        rest = [*(name for name in rest if name not in _ADDED), *(name for name in _ADDED if name in names)]
    wanted: Sequence[str] = (*own, *rest) if chosen is None else chosen
    headers = _headers(work.folder, table, work.say)
    blocks = table.in_file_order() if as_in_file else table.blocks()
    found = _look_at(blocks, [names.index(name) for name in wanted], reads_on=not are_chosen, rank=_RANK)
    columns: dict[str, PeopleColumn] = {}
    taken: set[str] = set()
    for name in sorted(wanted, key=lambda each: each in _OURS):  # the user's own headers stay as they are
        index = names.index(name)
        is_always = are_chosen or name in own or name in ("rank", "score")
        if not is_always and index not in found.filled:
            continue
        header = headers[name]
        while header.casefold() in taken:
            header += " (CF Batch)" if name in _OURS else " (2)"
        taken.add(header.casefold())
        column = found.column(index, name, header)
        decimals = _DECIMALS.get(name, None if name in ("query", "text") else column.decimals)
        is_of_scores = is_always or index in found.of_scores
        said = work.say if name == "error" else str
        columns[name] = replace(column, decimals=decimals, is_of_scores=is_of_scores, say=said)
    return tuple(columns[name] for name in wanted if name in columns)


def _usual(names: Sequence[str]) -> list[str]:
    first = [name for name in _FIRST if name in names]
    return [*first, *(name for name in names if name not in (*COLUMNS, PART, SOURCE_JOB))]


def _as_in_file(folder: JobFolder, table: ScoreRows) -> tuple[str, ...]:
    """The names of the columns of the first file in its order, as far as the results have them; each once."""
    with folder.open(read_only=True) as database:
        roles = column_mapping(database).get("file 1", {})
        layout = schema.metadata_value(database, "layout")
    texts = "doc_id" if layout == Layout.LONG else "query_id"
    by_role = {Role.QUERY: "query", Role.CONTEXT: "text", Role.TEXT: "text", Role.ID: texts, Role.LABEL: "label"}
    own = {header: name for name, header in reversed(table.own_names.items())}
    found = (by_role.get(Role(role)) or own.get(header, "") for header, role in roles.items())
    return tuple(dict.fromkeys(name for name in found if name in table.columns))


@dataclass(frozen=True, slots=True)
class _Looked:
    """By the indices of columns: which hold anything, also in rows with a score; and the first rows."""

    filled: set[int]
    of_scores: set[int]
    first: list[Row]

    def column(self, index: int, name: str, header: str) -> PeopleColumn:
        """With a width that suits its header, which has the button of the filter beside it, and its first rows."""
        widest = max((_width(row[index]) for row in self.first[:_MEASURED]), default=0)
        width = min(_WIDEST, max(_NARROWEST, len(header) + 4, widest + 2))
        return PeopleColumn(index, name, header, width, _decimals_of_all([row[index] for row in self.first]))


def _look_at(
    blocks: Iterable[list[Row]], indices: Sequence[int], *, reads_on: bool, rank: int | None = None
) -> _Looked:
    """Read one block, or as far as is needed; `rank` is the index of the column that only rows with a score have."""
    found = _Looked(set(), set(), [])
    for block in blocks:
        if not found.first:
            found.first.extend(block)
        scored = [row for row in block if rank is None or row[rank] is not None]
        for filled, rows in ((found.filled, block), (found.of_scores, scored)):
            missing = [index for index in indices if index not in filled]
            filled.update(index for index in missing if any(row[index] not in (None, "") for row in rows))
        if not reads_on or len(found.of_scores) == len(indices):
            break
    return found


def _decimals_of_all(cells: Row) -> int | None:
    """How many decimals all of these texts have as numbers; None if one is no number, or they differ."""
    found = {_decimals_of(cell) if isinstance(cell, str) else None for cell in cells if cell not in (None, "")}
    return found.pop() if len(found) == 1 else None


def _decimals_of(text: str) -> int | None:
    """The decimals of a number that a spreadsheet shows again as it is written; None for other texts ("007")."""
    found = _SHOWN_AGAIN.fullmatch(text)
    return None if found is None or sum(map(str.isdigit, text)) > _MOST_DIGITS else len(found[1] or "")


def _width(cell: Cell) -> int:
    if isinstance(cell, float):
        return 8
    return min(_WIDEST, max(map(len, str(cell).split("\n")))) if cell is not None else 0


def _headers(folder: JobFolder, table: ScoreRows, say: Callable[[str], str]) -> dict[str, str]:
    with folder.open(read_only=True) as database:
        files = column_mapping(database)
    others = [name for name in table.columns if name not in _OURS and name not in _BY_ROLE]
    headers = {name: table.own_names.get(name) or say(_OTHERS[name]) for name in others}
    headers |= {name: say(words) for name, words in _OURS.items()}
    for name, (roles, usual) in _BY_ROLE.items():
        of_query = name in ("query", "query_id")
        file = files.get("file 1", {}) if of_query or "file 2" not in files else files["file 2"]
        own = [header for header, role in file.items() if role in roles]
        is_shared = name == "query_id" and "file 2" not in files  # the id of the only file is the text's
        headers[name] = own[0] if len(own) == 1 and own[0] and not is_shared else say(usual)
    return headers


_ABOUT, _RANKING, _PROBLEMS = message("about"), message("ranking_3"), message("problems")
_PER_QUERY_SHEET, _QUERY, _REASON = message("per_query"), message("query"), message("reason_2")
_PER_QUERY = (
    *((message("texts"), 8, 0), (message("score_3"), 14, 0)),
    *((message("best_score"), 12, SCORE_DECIMALS), (message("margin"), 10, SCORE_DECIMALS)),
)  # titles, widths and decimals


def write_rankings(work: Work) -> Written:
    """Write and read back. Until the workbook is closed, its sheets are in the system's folder for temporary files."""
    table, every = _table(work)
    columns = [column for column in every if column.is_of_scores]
    own = [column for column in every if column.name not in ("rank", "score", "error")]
    shown = [*own, PeopleColumn(table.columns.index("error"), "error", work.say(_REASON), _WIDEST, say=work.say)]
    with _checked_workbook(work) as (book, sheets):
        sheets.append(ranking := Sheet(book, work.say(_RANKING), columns))
        problems: Sheet | None = None  # there is one only if it has rows
        for block in table.blocks():
            for row in block:
                if row[_RANK] is not None:
                    ranking.add(row)
                    continue
                if problems is None:
                    sheets.append(problems := Sheet(book, work.say(_PROBLEMS), shown))
                problems.add(row)
        query = next((each.header for each in every if each.name == "query"), work.say(_QUERY))
        columns = [PeopleColumn(0, "", query, _WIDEST)]
        for at, (title, width, decimals) in enumerate(_PER_QUERY, 1):
            columns.append(PeopleColumn(at, "", work.say(title), width, decimals))
        sheets.append(Sheet(book, work.say(_PER_QUERY_SHEET), columns))
        fill(sheets[-1], _per_query(work, table.asked))
    notes = {**_rows_of(sheets), "dropped_by_top_k_or_threshold": table.dropped}
    return Written(ranking.rows + (problems.rows if problems is not None else 0), (work.path,), notes)


def write_in_file_order(work: Work) -> Written:
    """Write and read back: the user's own sheet, row by row, with rank, score and, where there is none, the reason."""
    table, columns = _table(work, as_in_file=True)
    with _checked_workbook(work) as (book, sheets):
        sheets.append(ranking := Sheet(book, work.say(_RANKING), columns))
        for block in table.in_file_order():
            fill(ranking, block)
    notes = {**_rows_of(sheets), "order": "of the file", "dropped_by_top_k_or_threshold": table.dropped}
    return Written(ranking.rows, (work.path,), notes)


@contextmanager
def _checked_workbook(work: Work) -> "Iterator[tuple[xlsxwriter.Workbook, list[Sheet]]]":
    """A workbook for the sheets that are added to the list; the last one says where it comes from."""
    import xlsxwriter  # here, because every command imports this module, and few write a workbook
    from xlsxwriter.exceptions import FileCreateError

    with atomic_writer(work.path) as stream, temporary_folder() as folder:
        path = folder / "book.xlsx"  # not the stream: a broken archive is written to once more when it is collected
        book = xlsxwriter.Workbook(path, {**_OPTIONS, "tmpdir": str(folder)})
        book.use_zip64()
        sheets: list[Sheet] = []
        try:
            yield book, sheets
            about = [PeopleColumn(0, "", work.say(_ABOUT), 24), PeopleColumn(1, "", "", 80)]
            sheets.append(Sheet(book, work.say(_ABOUT), about))
            fill(sheets[-1], _about(work))
            for sheet in sheets if work.job.kind is Kind.RANK else sheets[:-1]:
                sheet.finish()
            book.close()
        except FileCreateError as error:
            # The wrapped OSError has the error number, which shows whether the disk is full.
            raise error.args[0] from error
        finally:
            for each in book.worksheets():
                # close() does the same, but is not called after an error. A second error of a full disk adds nothing.
                with suppress(OSError):
                    each._opt_close()
        with path.open("rb") as file:
            copyfileobj(file, stream)
        check_archive(work, stream)
        work.end()


def _rows_of(sheets: Sequence[Sheet]) -> dict[str, object]:
    return {"sheets": {sheet.name: sheet.rows for sheet in sheets}}


def _table(work: Work, *, as_in_file: bool = False) -> tuple[ScoreRows, tuple[PeopleColumn, ...]]:
    """All columns of the rows, and those that are shown. Raises UsageError for a choice of others, or of none."""
    chosen = None if work.options.columns is None else ScoreRows(work).columns
    work = replace(work, options=replace(work.options, columns=None))
    looked_at = ScoreRows(replace(work, steps=Steps()))
    return ScoreRows(work), people_columns(work, looked_at, chosen, as_in_file=as_in_file)


def _per_query(work: Work, asked: Container[int]) -> Iterator[Row]:
    """The queries of the rows that are written, each with the figures of its whole ranking."""
    for query in Rankings(work.folder, work.job.failed_batches).queries():
        if work.options.items is not None and query.query_no not in asked:
            continue
        yield query.text, query.contexts, query.scored, query.best, query.margin


_EMBEDDINGS = message("embeddings_2")
_NUMBER_WIDTH = 11  # characters


def write_vectors(work: Work) -> Written:
    """Write and read back. Raises ExportError if there are more rows or columns than Excel accepts."""
    dimension = Embeddings(work.folder).dimension if work.options.has_numbers else 0
    numbers = [f"dim_{index}" for index in range(dimension)]
    table = VectorRows(work, reserved=numbers)
    own = table.own_columns(work.say, numbers)
    blocks: Iterator[list[Row]] = ([table.own_cells(text) for text in texts] for texts in table.texts())
    found = _look_at(blocks, range(len(own)), reads_on=work.options.columns is None)
    kept = range(len(own)) if work.options.columns else sorted({*found.filled, table.ids_at})
    columns = [found.column(index, own[index], own[index]) for index in kept]
    of_numbers = [PeopleColumn(len(own) + at, name, name, _NUMBER_WIDTH) for at, name in enumerate(numbers)]
    with _checked_workbook(work) as (book, sheets):
        sheets.append(Sheet(book, work.say(_EMBEDDINGS), [*columns, *of_numbers]))
        for block in table.lines(has_numbers=bool(numbers)):
            for text, decimals in block:
                sheets[0].add([*table.own_cells(text), *orjson.loads(decimals)])
    return Written(table.count, (work.path,), {**table.notes, **_rows_of(sheets)})


def _about(work: Work) -> Iterator[tuple[str, str]]:
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
    yield from ((say(name), value) for name, value in rows.items())
    if is_ranking:
        yield (
            say(message("ranks")),
            say(message("equal_scores_share_rank_next_rank")),
        )
        yield say(message("scores")), say(message("compare_scores_within_one_query_they"))
