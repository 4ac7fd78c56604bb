"""The columns of a table that people read: their own under the headers of their file, beside ours that add something.

A ranking has rank and score beside the user's own columns. Columns that are empty throughout are left out, unless they
were chosen by name.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

from cfbatch_gui.core.inputs.input_values import Layout, Role
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import PART, SOURCE_JOB, Cell
from cfbatch_gui.core.results.exports.score_rows import COLUMNS, Block, ScoreRows
from cfbatch_gui.core.results.original_columns import column_mapping

_OURS = {"rank": message("Rank"), "score": message("Score"), "error": message("Reason"), PART: message("Part")}
_FIRST = ("query", "rank", "score", "text", "doc_id", "query_id", "label", PART)
_BY_ROLE: dict[str, tuple[tuple[Role, ...], str]] = {
    "query": ((Role.QUERY,), message("Query")),
    "text": ((Role.CONTEXT, Role.TEXT), message("Text")),
    "doc_id": ((Role.ID,), message("ID")),
    "query_id": ((Role.ID,), message("Query ID")),
    "label": ((Role.LABEL,), message("Label")),
}
_OTHERS = {
    "query": message("Query"),
    "text": message("Text"),
    "doc_id": message("Doc id"),
    "query_id": message("Query id"),
    "label": message("Label"),
    "tie_group": message("Tie group"),
    "initial_rank": message("Initial rank"),
    "rank_change": message("Rank change"),
    "external_reference": message("External reference"),
    "request_id": message("Request id"),
    "status": message("Status"),
    SOURCE_JOB: message("From job"),
}
_ADDED = ("rank", "score", PART, "error")  # to the user's own sheet
_SHOWN_AGAIN = re.compile(r"(?!-0(?:\.0+)?$)-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?")
_MOST_DIGITS = 15
_MEASURED = 200  # rows from which a column's width is taken
_NARROWEST, _WIDEST = 6, 60  # characters


@dataclass(frozen=True, slots=True)
class PeopleColumn:
    """A column: where it is in `ScoreRows.columns`, its header, and a width in characters that suits its content.

    `decimals` is None for texts; else the column holds numbers, which the user's file writes with so many decimals, 0
    for whole ones. A cell that is no such number is a text all the same. `is_of_scores` is False for a column that only
    rows without a score have something in.
    """

    index: int
    name: str
    header: str
    width: int
    decimals: int | None = None
    is_of_scores: bool = True

    def cell(self, row: Sequence[Cell]) -> Cell:
        """The cell of this column in a row of `ScoreRows`, as a number if it is one."""
        return as_number(row[self.index], self.decimals)


def people_columns(
    folder: JobFolder,
    table: ScoreRows,
    chosen: Sequence[str] | None = None,
    say: Callable[[str], str] = str,
    *,
    as_in_file: bool = False,
) -> tuple[PeopleColumn, ...]:
    """The columns of a ranking in the order in which people read them, or as they were chosen by their names.

    With `as_in_file` they are those of the user's file, in its order and also where they are empty, before ours.
    `table` has all columns; `say` words our own headers.
    """
    names, are_chosen = table.columns, chosen is not None
    own = _as_in_file(folder, table) if as_in_file else ()
    rest = [name for name in _usual(names) if name not in own]
    if as_in_file:
        rest = [*(name for name in rest if name not in _ADDED), *(name for name in _ADDED if name in names)]
    wanted: Sequence[str] = (*own, *rest) if chosen is None else chosen
    headers = _headers(folder, table, say)
    blocks = table.in_file_order() if as_in_file else table.blocks()
    found = looked_at(blocks, [names.index(name) for name in wanted], stop_early=not are_chosen)
    columns = []
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
        width = found.width(index, header)
        decimals = None if name in ("query", "text") else found.decimals.get(index)
        is_of_scores = is_always or index in found.of_scores
        columns.append(PeopleColumn(index, name, header, width, decimals, is_of_scores))
    order = {name: place for place, name in enumerate(wanted)}
    return tuple(sorted(columns, key=lambda column: order[column.name]))


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
class Looked:
    """By the indices of columns: which hold anything, their widths in characters, and the decimals of their numbers."""

    filled: set[int]
    of_scores: set[int]  # filled in rows with a score
    widths: dict[int, int]
    decimals: dict[int, int]

    def width(self, index: int, header: str) -> int:
        """A width that suits a column with this header, which has the button of the filter beside it."""
        return min(_WIDEST, max(_NARROWEST, len(header) + 4, self.widths.get(index, 0) + 2))


def looked_at(blocks: Iterable[Block], indices: Sequence[int], *, stop_early: bool) -> Looked:
    """Which columns hold anything, and how wide the first rows are and what numbers; read as far as is needed."""
    filled: set[int] = set()
    of_scores: set[int] = set()
    widths: dict[int, int] = {}
    decimals: dict[int, int] = {}
    for block in blocks:
        if not widths:
            forms = {index: _decimals_of_all([row[index] for row in block.rows]) for index in indices}
            decimals = {index: form for index, form in forms.items() if form is not None}
        for row in block.rows[:_MEASURED] if not widths else ():
            for index in indices:
                widths[index] = max(widths.get(index, 0), _width(row[index]))
        scored = list(compress(block.rows, block.are_scored))
        for found, rows in ((filled, block.rows), (of_scores, scored)):
            missing = [index for index in indices if index not in found]
            found.update(index for index in missing if any(row[index] not in (None, "") for row in rows))
        if not stop_early or len(of_scores) == len(indices):
            break
    return Looked(filled, of_scores, widths, decimals)


def as_number(cell: Cell, decimals: int | None) -> Cell:
    """A text as the number that it writes with so many decimals; itself where it is none, or without `decimals`."""
    if decimals is None or not isinstance(cell, str) or _decimals_of(cell) != decimals:
        return cell
    return float(cell) if decimals else int(cell)


def _decimals_of_all(cells: Sequence[Cell]) -> int | None:
    """How many decimals all of these texts have as numbers; None if one is no number, or they differ."""
    found: set[int | None] = set()
    for cell in cells:
        if cell not in (None, ""):
            found.add(_decimals_of(cell) if isinstance(cell, str) else None)
        if None in found or len(found) > 1:
            return None
    return found.pop() if found else None


def _decimals_of(text: str) -> int | None:
    """The decimals of a number that a spreadsheet shows again exactly as it is written; None for other texts.

    So "007", "+1" and a number of more digits than a spreadsheet keeps are texts.
    """
    found = _SHOWN_AGAIN.fullmatch(text)
    return None if found is None or sum(map(str.isdigit, text)) > _MOST_DIGITS else len(found[1] or "")


def _width(cell: Cell) -> int:
    if isinstance(cell, float):
        return 8
    return min(_WIDEST, max(map(len, str(cell).split("\n")))) if cell is not None else 0


def _headers(folder: JobFolder, table: ScoreRows, say: Callable[[str], str]) -> dict[str, str]:
    """The header of each column, by its name: the user's own where one column of the file has that role."""
    with folder.open(read_only=True) as database:
        files = column_mapping(database)
    headers = {name: table.own_names.get(name) or say(_OTHERS[name]) for name in table.columns if name not in _OURS}
    headers |= {name: say(words) for name, words in _OURS.items()}
    for name, (roles, usual) in _BY_ROLE.items():
        of_query = name in ("query", "query_id")
        file = files.get("file 1", {}) if of_query or "file 2" not in files else files["file 2"]
        own = [header for header, role in file.items() if role in roles]
        is_shared = name == "query_id" and "file 2" not in files  # the id of the only file is the text's
        headers[name] = own[0] if len(own) == 1 and own[0] and not is_shared else say(usual)
    return headers
