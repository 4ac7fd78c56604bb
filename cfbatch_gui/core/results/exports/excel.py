"""Rankings as an Excel workbook for people: the user's own columns under their own headers, beside rank and score.

Sheets: Ranking, Problems where rows have no score, Per query, About.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Cell, Work, Written
from cfbatch_gui.core.results.exports.export_manifest import about
from cfbatch_gui.core.results.exports.people_columns import PeopleColumn, people_columns
from cfbatch_gui.core.results.exports.score_rows import ScoreRows
from cfbatch_gui.core.results.exports.workbooks import Sheet, fill, read_back, workbook
from cfbatch_gui.core.results.numbers import SCORE_DECIMALS
from cfbatch_gui.core.results.rankings.rankings import Rankings
from cfbatch_gui.core.system.files import atomic_writer

if TYPE_CHECKING:
    import xlsxwriter

ABOUT, ABOUT_WIDTHS = message("About"), (24, 80)
_RANKING, _PROBLEMS, _PER_QUERY_SHEET = message("Ranking"), message("Problems"), message("Per query")
_QUERY, _REASON = message("Query"), message("Reason")
_PER_QUERY = (message("Texts"), message("With a score"), message("Best score"), message("Margin"))
_PER_QUERY_WIDTHS = (60, 8, 14, 12, 10)
_PER_QUERY_DECIMALS = {1: 0, 2: 0, 3: SCORE_DECIMALS, 4: SCORE_DECIMALS}
_REASON_WIDTH = 60
_DECIMALS = {"score": SCORE_DECIMALS, "rank": 0, "part": 0}


def write(work: Work) -> Written:
    """Write and read back. Until the workbook is closed, its sheets are in the system's folder for temporary files."""
    (table, chosen), say = _table(work), work.say
    every = people_columns(work.folder, table, chosen, say)
    columns = [column for column in every if column.is_of_scores]
    own = [column for column in every if column.name not in ("rank", "score", "error")]
    shown = [*own, PeopleColumn(table.columns.index("error"), "error", say(_REASON), _REASON_WIDTH)]
    with atomic_writer(work.path) as stream:
        with workbook(stream) as book:
            ranking = _sheet_of(book, say(_RANKING), columns)
            problems: Sheet | None = None  # there is one only if it has rows
            done = 0
            for block in table.blocks():
                for row, is_scored in zip(block.rows, block.are_scored, strict=True):
                    if is_scored:
                        ranking.add([each.cell(row) for each in columns])
                        continue
                    if problems is None:
                        problems = _sheet_of(book, say(_PROBLEMS), shown)
                    problems.add(_said(say, shown, row))
                done += block.items
                work.tick(done)
            query = next((each.header for each in every if each.name == "query"), say(_QUERY))
            per_query = Sheet(
                book, say(_PER_QUERY_SHEET), (query, *map(say, _PER_QUERY)), _PER_QUERY_WIDTHS, _PER_QUERY_DECIMALS
            )
            fill(per_query, _per_query(work, table.asked))
            about_sheet = Sheet(book, say(ABOUT), (say(ABOUT), ""), ABOUT_WIDTHS)
            fill(about_sheet, about(work.metadata, work.folder, say))
            sheets = [ranking, *([problems] if problems is not None else []), per_query, about_sheet]
            for sheet in sheets:
                sheet.finish()
        read_back(work, stream, sheets)
        work.tick_end()
    notes = {
        "sheets": {sheet.name: sheet.rows for sheet in sheets},
        "dropped_by_top_k_or_threshold": table.dropped,
    }
    return Written(ranking.rows + (problems.rows if problems is not None else 0), (work.path,), notes)


def write_in_file_order(work: Work) -> Written:
    """Write and read back: the user's own sheet, row by row, with rank, score and, where there is none, the reason."""
    (table, chosen), say = _table(work), work.say
    columns = people_columns(work.folder, table, chosen, say, as_in_file=True)
    with atomic_writer(work.path) as stream:
        with workbook(stream) as book:
            ranking = _sheet_of(book, say(_RANKING), columns)
            done = 0
            for block in table.in_file_order():
                fill(ranking, (_said(say, columns, row) for row in block.rows))
                done += block.items
                work.tick(done)
            about_sheet = Sheet(book, say(ABOUT), (say(ABOUT), ""), ABOUT_WIDTHS)
            fill(about_sheet, about(work.metadata, work.folder, say))
            for sheet in (ranking, about_sheet):
                sheet.finish()
        read_back(work, stream, (ranking, about_sheet))
        work.tick_end()
    notes = {
        "sheets": {sheet.name: sheet.rows for sheet in (ranking, about_sheet)},
        "order": "of the file",
        "dropped_by_top_k_or_threshold": table.dropped,
    }
    return Written(ranking.rows, (work.path,), notes)


def _sheet_of(book: "xlsxwriter.Workbook", name: str, columns: Sequence[PeopleColumn]) -> Sheet:
    shown = ((at, _DECIMALS.get(each.name, each.decimals)) for at, each in enumerate(columns))
    decimals = {at: count for at, count in shown if count is not None}
    return Sheet(book, name, [each.header for each in columns], [each.width for each in columns], decimals)


def _said(say: Callable[[str], str], columns: Sequence[PeopleColumn], row: Sequence[Cell]) -> list[Cell]:
    """The cells of a row, the reason why it has no score in the user's language."""
    cells = ((each, each.cell(row)) for each in columns)
    return [say(cell) if each.name == "error" and isinstance(cell, str) else cell for each, cell in cells]


def _table(work: Work) -> tuple[ScoreRows, tuple[str, ...] | None]:
    """The rows with all columns, and the names of those that the user has chosen, None for the usual ones."""
    chosen = None if work.options.columns is None else ScoreRows(work).columns
    return ScoreRows(replace(work, options=replace(work.options, columns=None))), chosen


def _per_query(work: Work, asked: Container[int]) -> Iterator[Sequence[Cell]]:
    """The queries of the rows that are written, each with the figures of its whole ranking."""
    for query in Rankings(work.folder, work.metadata.failed_batches).queries():
        if work.options.items is not None and query.query_no not in asked:
            continue
        yield query.text, query.contexts, query.scored, query.best, query.margin
