"""Rows without a result: those that were left out, those that the service refused, and a file of the first to mend."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import LEFT_OUT, cells_sql, metadata_value
from cfbatch_gui.core.messages import restored

LINE_END, TAB = "↵", "→"  # signs for what is not printed
_NOT_PRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
# An item's row in the first file: with shared contexts that is its query's, for the text stands in the second.
_ITEM_ROW = "SELECT DISTINCT {file}, {row} FROM items i JOIN texts t USING(text_no) LEFT JOIN queries q USING(query_no)"


@dataclass(frozen=True, slots=True)
class StoredProblem:
    """A row, or a part of it, without a result, and its original cells. `file` is 1 or 2; `kind` is "" for what the
    service refused; `raw` is how it stands in the file, "" where that is not known.
    """

    file: int
    row: int
    kind: str
    reason: str
    cells: tuple[str, ...] = ()
    raw: str = ""


def problems(folder: JobFolder, *, kind: str = "", limit: int = -1) -> tuple[StoredProblem, ...]:
    """The rows that are left out, or those of one kind, in the order of the file."""
    with folder.open(read_only=True) as database:
        found = database.execute(
            f"SELECT p.file, p.row, p.kind, p.reason, {cells_sql()}, coalesce(w.raw, '') FROM problems p"  # noqa: S608 - constants
            " LEFT JOIN source_rows f USING(file, row) LEFT JOIN items i USING(item_no)"
            " LEFT JOIN texts t USING(text_no) LEFT JOIN raw_rows w USING(file, row)"
            f" WHERE p.kind = ?1 OR (?1 = '' AND {LEFT_OUT}) ORDER BY p.file, p.row, p.problem_no LIMIT ?2",
            (kind, limit),
        )
        return tuple(
            StoredProblem(file, row, which, restored(reason), tuple(json.loads(cells or "[]")), raw)
            for file, row, which, reason, cells, raw in found
        )


def count_sent_rows(folder: JobFolder) -> int:
    """Rows of the first file that were sent, whole or in part. 0 for a draft."""
    with folder.open(read_only=True) as database:
        rows = metadata_value(database, "rows", 0)
        item_row = _item_row(metadata_value(database, "layout"))
        sent = {row for file, row in database.execute(f"{item_row} WHERE request_no IS NOT NULL") if file == 1}
    left_out = {problem.row for problem in problems(folder) if problem.file == 1}
    return int(str(rows)) - len(left_out - sent) if sent else 0


def row_problems(folder: JobFolder) -> Iterator[StoredProblem]:
    """Rows that were left out, in the order of the file, then those that the service refused."""
    for problem in problems(folder):
        yield problem if problem.raw else replace(problem, cells=())
    with folder.open(read_only=True) as database:
        item_row = _item_row(metadata_value(database, "layout"), ", r.error")
        refused = database.execute(
            f"{item_row} JOIN requests r USING(request_no) WHERE r.state = 'failed' ORDER BY 1, 2"
        )
        for file, row, reason in refused:
            yield StoredProblem(file, row, "", restored(reason))


def _item_row(layout: object, more: str = "") -> str:
    if layout == Layout.SHARED:
        return _ITEM_ROW.format(file="1", row=f"q.row{more}")
    return _ITEM_ROW.format(file="t.file", row=f"t.row{more}")


def with_signs(text: str, *, breaks: bool = False) -> str:
    """Data with signs for what is not printed: "↵" for a line end, "→" for a tab, "�" for other control characters.

    With `breaks` lines still end after their sign.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", TAB)
    signed = lines.replace("\n", f"{LINE_END}\n" if breaks else LINE_END)
    return _NOT_PRINTED.sub("\ufffd", signed)


def problem_columns(folder: JobFolder, *, file: int = 1) -> tuple[str, ...]:
    """The names of the columns of the first or the second file, as they were when it was read."""
    found = folder.fact("columns" if file == 1 else "second_columns")
    return tuple(str(name) for name in found) if isinstance(found, list) else ()
