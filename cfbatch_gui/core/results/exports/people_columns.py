"""The columns of a table that people read: their own under the headers of their file, beside ours that add something.

A ranking has rank and score beside the user's own columns. Columns that are empty throughout are left out, unless they
were chosen by name.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import PART, Cell
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
}
_MEASURED = 200  # rows from which a column's width is taken
_NARROWEST, _WIDEST = 6, 60  # characters


@dataclass(frozen=True, slots=True)
class PeopleColumn:
    """A column: where it is in `ScoreRows.columns`, its header, and a width in characters that suits its content."""

    index: int
    name: str
    header: str
    width: int


def people_columns(
    folder: JobFolder, table: ScoreRows, chosen: Sequence[str] | None = None, say: Callable[[str], str] = str
) -> tuple[PeopleColumn, ...]:
    """The columns of a ranking in the order in which people read them, or as they were chosen by their names.

    `table` has all columns; `say` words our own headers.
    """
    names, are_chosen = table.columns, chosen is not None
    wanted: Sequence[str] = _usual(names) if chosen is None else chosen
    headers = _headers(folder, table, say)
    found = _looked_at(table.blocks(), [names.index(name) for name in wanted], stop_early=not are_chosen)
    columns = []
    taken: set[str] = set()
    for name in sorted(wanted, key=lambda each: each in _OURS):  # the user's own headers stay as they are
        index = names.index(name)
        if not are_chosen and name not in ("rank", "score") and index not in found.filled:
            continue
        header = headers[name]
        while header.casefold() in taken:
            header += " (CF Batch)" if name in _OURS else " (2)"
        taken.add(header.casefold())
        width = min(_WIDEST, max(_NARROWEST, len(header) + 4, found.widths.get(index, 0) + 2))
        columns.append(PeopleColumn(index, name, header, width))
    order = {name: place for place, name in enumerate(wanted)}
    return tuple(sorted(columns, key=lambda column: order[column.name]))


def _usual(names: Sequence[str]) -> list[str]:
    first = [name for name in _FIRST if name in names]
    return [*first, *(name for name in names if name not in COLUMNS and name != PART)]


@dataclass(frozen=True, slots=True)
class _Looked:
    filled: set[int]
    widths: dict[int, int]


def _looked_at(blocks: Iterable[Block], indices: Sequence[int], *, stop_early: bool) -> _Looked:
    """Which columns hold anything, and how wide the first rows are; no further than is needed."""
    filled: set[int] = set()
    widths: dict[int, int] = {}
    for block in blocks:
        for row in block.rows[:_MEASURED] if not widths else ():
            for index in indices:
                widths[index] = max(widths.get(index, 0), _width(row[index]))
        missing = [index for index in indices if index not in filled]
        for index in missing:
            if any(row[index] not in (None, "") for row in block.rows):
                filled.add(index)
        if not stop_early or len(filled) == len(indices):
            break
    return _Looked(filled, widths)


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
