"""What became of the rows of the user's own file."""

from collections.abc import Iterator
from dataclasses import dataclass

from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder.filling import problems
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import fact

# An item's row in the first file: with shared contexts that is its query's, for the text stands in the second.
_ITEM_ROW = "SELECT DISTINCT {file}, {row} FROM items i JOIN texts t USING(text_no) LEFT JOIN queries q USING(query_no)"


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row, or a part of it, without a result. `file` is 1 or 2; `reason` a sentence, or the service's own words."""

    file: int
    row: int
    reason: str


def count_sent_rows(folder: JobFolder) -> int:
    """Rows of the first file that were sent, whole or in part. 0 for a draft."""
    with folder.open(read_only=True) as database:
        rows = fact(database, "rows", 0)
        item_row = _item_row(fact(database, "layout"))
        sent = {row for _, row in database.execute(f"{item_row} WHERE request_no IS NOT NULL")}
    left_out = {problem.row for problem in problems(folder) if problem.file == 1}
    return int(str(rows)) - len(left_out - sent) if sent else 0


def row_problems(folder: JobFolder) -> Iterator[RowProblem]:
    """Rows that were left out, in the order of the file, then those that the service refused."""
    for problem in problems(folder):
        yield RowProblem(problem.file, problem.row, problem.reason)
    with folder.open(read_only=True) as database:
        item_row = _item_row(fact(database, "layout"), ", r.error")
        refused = database.execute(
            f"{item_row} JOIN requests r USING(request_no) WHERE r.state = 'failed' ORDER BY 1, 2"
        )
        for file, row, reason in refused:
            yield RowProblem(file, row, reason)


def _item_row(layout: object, more: str = "") -> str:
    if layout == Layout.SHARED:
        return _ITEM_ROW.format(file="1", row=f"q.row{more}")
    return _ITEM_ROW.format(file="t.file", row=f"t.row{more}")
