"""Results as CSV: rankings, vectors with a column for each number, and the failed rows of the user's file as they were.

For Excel a text that could be a formula gets an apostrophe in front, also behind others; with semicolons our numbers
have a decimal comma.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, groupby, islice
from operator import itemgetter
from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.schema import LEFT_OUT, cells_sql
from cfbatch_gui.core.messages import message, restored, stored
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.results.exports.base import Cell, Row, RowsOfTable, Work, Written, export_file
from cfbatch_gui.core.results.exports.people import people_columns
from cfbatch_gui.core.results.exports.rows import ScoreRows, VectorRows, write_vector_lines
from cfbatch_gui.core.results.outcomes import columns_of_file
from cfbatch_gui.core.system.files import atomic_writer

FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_END = "\r\n"


class Dialect:
    """Encodes rows as bytes. Use a new object for each file: it counts the formulas that it marked.

    With a separator for Excel: a byte order mark, \\r\\n, and no cell that could be taken for a formula; without one
    for programs: comma and \\n.
    """

    def __init__(self, for_excel: str = "") -> None:
        self._for_excel = bool(for_excel)
        self.separator = for_excel or ","
        self.decimal_point = "," if self.separator == ";" else "."
        self.line_end = b"\r\n" if for_excel else b"\n"
        self.start = "\ufeff".encode() if for_excel else b""
        self.harmless: Counter[int] = Counter()  # by column, from 0

    def encode(self, rows: Iterable[Row]) -> bytes:
        """Whole lines. Numbers in their shortest form, None as an empty cell."""
        lines = _Lines()
        writer = csv.writer(lines, delimiter=self.separator, lineterminator=_END)
        writer.writerows(map(self._marked, rows) if self._for_excel else rows)
        return self.line_end.join([*lines.found, b""])

    def encode_header(self, columns: Row) -> bytes:
        """The beginning of a file."""
        return self.start + self.encode([columns])

    def notes(self, columns: Sequence[str]) -> dict[str, object]:
        """Notes for the manifest: the dialect, and how to undo the marking of formulas."""
        notes: dict[str, object] = {
            "csv": {
                "encoding": "UTF-8 with byte order mark" if self._for_excel else "UTF-8",
                "separator": self.separator,
                "line_end": self.line_end.decode(),
                "decimal_point": self.decimal_point,
            }
        }
        if self._for_excel:
            notes["formulas_made_harmless"] = {
                "mark": "'",
                "cells": self.harmless.total(),
                "columns": [columns[column] for column in sorted(self.harmless)],
                "undo": "In these columns, take one ' away from a cell of one or more ' and then = + - @ tab or CR.",
            }
        return notes

    def _marked(self, row: Row) -> list[Cell]:
        return [
            self._mark(index, cell) if isinstance(cell, str) and _is_formula(cell) else self._number(cell)
            for index, cell in enumerate(row)
        ]

    def _number(self, cell: Cell) -> Cell:
        is_decimal = isinstance(cell, float) and self.decimal_point != "."
        return str(cell).replace(".", self.decimal_point) if is_decimal else cell

    def _mark(self, index: int, cell: str) -> str:
        self.harmless[index] += 1
        return "'" + cell


class _Lines:
    def __init__(self) -> None:
        self.found: list[bytes] = []

    def write(self, line: str) -> None:
        self.found.append(line[: -len(_END)].encode())


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet could take the cell for a formula; a number such as "-12.50" is none."""
    return FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None


def write_scores(work: Work, *, for_excel: bool = False) -> Written:
    """A score is the shortest decimal that reads back as the same double."""
    if not for_excel:
        return write_rows(work, ScoreRows(work, work.options.columns))
    headers = people_columns(work, ScoreRows(work), has_reasons=True)
    table = ScoreRows(work, tuple(headers))
    reason = table.columns.index("error") if "error" in table.columns else None
    return write_rows(work, table, tuple(headers.values()), for_excel=True, reason=reason)


def write_rows(
    work: Work,
    table: RowsOfTable,
    headers: tuple[str, ...] = (),
    *,
    for_excel: bool = False,
    reason: int | None = None,
) -> Written:
    """Write a table, under its own names without other headers; the column of the `reason` is put into words."""
    dialect, columns = Dialect(work.options.separator if for_excel else ""), headers or table.columns
    rows = 0
    with export_file(work) as stream:
        stream.write(dialect.encode_header(columns))
        for block in table.blocks():
            stream.write(dialect.encode(block if reason is None else [_said(row, reason, work.say) for row in block]))
            rows += len(block)
    return Written(rows, (work.path,), {**dialect.notes(columns), **table.notes})


def _said(row: Row, reason: int, say: Callable[[str], str]) -> Row:
    cell = row[reason]
    return (*row[:reason], say(cell), *row[reason + 1 :]) if isinstance(cell, str) and cell else row


def write_vectors(work: Work) -> Written:
    """Each number is the shortest decimal that reads back as the same float32."""
    numbers = [f"dim_{index}" for index in range(Embeddings(work.folder).dimension)]
    table = VectorRows(work, reserved=("id", *numbers))
    dialect = Dialect()

    def line(text: EmbeddedText, decimals: bytes) -> bytes:
        own = dialect.encode([(table.id_of(text), *table.cells(text))])
        return own.removesuffix(b"\n") + b"," + decimals[1:-1] + b"\n"

    columns = ("id", *table.columns)
    write_vector_lines(work, table, line, dialect.encode_header((*columns, *numbers)))
    return Written(table.count, (work.path,), {**dialect.notes(columns), **table.notes})


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Row], for_excel: str = "") -> int:
    """Write a table whole or not at all; returns the number of its rows. `for_excel` is a separator.

    Blocking. Raises UserError.
    """
    dialect, count = Dialect(for_excel), 0
    with atomic_writer(path) as stream:
        stream.write(dialect.encode_header(columns))
        found = iter(rows)
        while block := list(islice(found, _ROWS_AT_ONCE)):
            stream.write(dialect.encode(block))
            count += len(block)
    return count


_ROWS_AT_ONCE = 2_000


# In a ranking whose texts are from a second file, the query's row is the failed one, not that of the shared text.
_FAILED = """
SELECT {file} AS file, {row} AS row, {item} AS item_no,
    CASE WHEN r.state = 'failed' THEN r.error ELSE coalesce(b.value, '') END AS reason
FROM items i JOIN requests r USING(request_no) JOIN texts t USING(text_no) {queries}
LEFT JOIN json_each(:batches) b ON b.key = CAST(r.batch AS TEXT)
WHERE (r.state = 'failed' OR (r.state <> 'done' AND b.key IS NOT NULL)) AND {chosen}
"""
_HAS_RAW = "SELECT EXISTS(SELECT 1 FROM raw_rows WHERE file = ?)"
_CHOSEN = "{item} IN (SELECT value FROM json_each(:items))"
_FAILED_ROWS = """
SELECT p.file, p.row, p.reason, {cells}, w.raw
FROM (SELECT file, row, item_no, reason FROM problems WHERE {problem} AND {chosen} UNION {failed}) p
LEFT JOIN source_rows f ON f.file = p.file AND f.row = p.row
LEFT JOIN raw_rows w ON w.file = p.file AND w.row = p.row
LEFT JOIN items i ON i.item_no = p.item_no LEFT JOIN texts t USING(text_no)
WHERE p.file = :file ORDER BY p.row, p.reason
"""
_CELLS = msgspec.json.Decoder(list[str])


_FailedRow = tuple[int, tuple[str, ...], list[str], str]  # its number, the reasons, its cells, and as it is in the file


def write_failed_rows(work: Work) -> Written:
    """Rows of a second file go to `<stem>-second-file<suffix>` beside, or to the path where the first file has none.

    Raises ExportError if no row failed.
    """
    counts = {file: sum(1 for _ in _failed_rows(work, file)) for file in (1, 2)}
    failed = [file for file, count in counts.items() if count]
    if not failed:
        raise ExportError(message("no_row_failed_there_is_nothing"))
    second = work.path.with_name(f"{work.path.stem}-second-file{work.path.suffix}")
    paths = dict(zip(failed, (work.path, second), strict=False))
    notes: dict[str, object] = {}
    for file, path in paths.items():
        dialect = Dialect(work.options.separator)
        with work.folder.open(read_only=True) as database:
            columns = list(columns_of_file(database, file))
            width, has_raw = len(columns), database.execute(_HAS_RAW, (file,)).fetchone()[0]
        for word in (message("row_2"), message("reason_2"), *([message("in_the_file")] if has_raw else [])):
            name = work.say(word)
            columns.append(next(each for each in (name + "_" * times for times in count()) if each not in columns))
        with export_file(work, path) as stream:
            stream.write(dialect.encode_header(columns))
            for number, reasons, cells, raw in _failed_rows(work, file):
                row: Row = [*(cells + [""] * width)[:width], number, " ".join(map(work.say, reasons)), raw]
                stream.write(dialect.encode([row[: len(columns)]]))
                work.steps.wrote(1)
        notes[path.name] = {"source": f"file {file}", "rows": counts[file], **dialect.notes(columns)}
    return Written(sum(counts.values()), tuple(paths.values()), notes)


def _failed_rows(work: Work, file: int) -> Iterator[_FailedRow]:
    is_ranking = work.job.kind is Kind.RANK
    items = work.options.items
    failed = _FAILED.format(
        chosen="TRUE" if items is None else _CHOSEN.format(item="i.item_no"),
        file="1" if is_ranking else "t.file",
        row="CASE t.file WHEN 1 THEN t.row ELSE q.row END" if is_ranking else "t.row",
        queries="JOIN queries q USING(query_no)" if is_ranking else "",
        # A ranking stores the cells of every row; an embedding job may store only the text, which its item gives.
        item="NULL" if is_ranking else "i.item_no",
    )
    batches = msgspec.json.encode({str(number): stored(reason) for number, reason in work.job.failed_batches.items()})
    values = {"batches": batches.decode(), "file": file, "problem": work.options.problem}
    if items is not None:
        values["items"] = str(sorted(items))
    statement = _FAILED_ROWS.format(
        failed=failed,
        cells=cells_sql(),
        problem="kind = :problem" if work.options.problem else LEFT_OUT,
        chosen="TRUE" if items is None else _CHOSEN.format(item="item_no"),
    )
    with work.folder.open(read_only=True) as database:
        found = database.execute(statement, values)
        for number, same in groupby(found, itemgetter(1)):
            reasons, cells, raw = [], "", ""
            for _, _, reason, cells, raw in same:  # noqa: B007
                reasons.append(restored(reason) or message("service_gave_no_result"))
            yield number, tuple(dict.fromkeys(reasons)), _CELLS.decode(cells) if cells else [], raw or ""
