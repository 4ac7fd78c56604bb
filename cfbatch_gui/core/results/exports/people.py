"""The columns of a ranking as people read them: their own under their own headers, beside ours that say something."""

from collections.abc import Callable, Iterator

from cfbatch_gui.core.inputs.input_values import Layout, Role
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import PART, REQUEST_ID, SOURCE_JOB, Work, indices_of
from cfbatch_gui.core.results.exports.rows import ScoreRows
from cfbatch_gui.core.results.outcomes import column_mapping, count_items

REASON, QUERY = message("reason_2"), message("query")
_OURS = {"rank": message("rank_2"), "score": message("score_2"), PART: message("part_2"), "error": REASON}
HEADERS = {
    **{"query": QUERY, "text": message("text"), "doc_id": message("id"), "query_id": message("query_id")},
    **{"label": message("label"), "tie_group": message("tie_group_2"), "initial_rank": message("initial_rank_2")},
    **{"rank_change": message("rank_change_2"), "external_reference": message("external_reference_2")},
    **{REQUEST_ID: message("request_id_2"), "status": message("status_2"), SOURCE_JOB: message("from_job")},
    **_OURS,
}
_FIRST = ("query", "rank", "score", "text", "doc_id", "query_id", "label", PART)
_ROLES = {
    "query": (Role.QUERY,),
    "text": (Role.CONTEXT, Role.TEXT),
    "doc_id": (Role.ID,),
    "query_id": (Role.ID,),
    "label": (Role.LABEL,),
}
_HAS = """
SELECT EXISTS(SELECT 1 FROM queries WHERE query_id <> ''), EXISTS(SELECT 1 FROM texts WHERE text_id <> ''),
    EXISTS(SELECT 1 FROM texts WHERE label <> '')
"""


def people_columns(work: Work, table: ScoreRows, *, has_reasons: bool) -> dict[str, str]:
    """The header of each column by its name, in their order; those that were chosen, or what says something.

    `has_reasons`: rows without a score are in the same table, and say why.
    """
    with work.folder.open(read_only=True) as database:
        files, layout = column_mapping(database), metadata_value(database, "layout")
        has = dict(zip(("query_id", "doc_id", "label"), database.execute(_HAS).fetchone(), strict=True))
        has["error"] = has_reasons and count_items(database, {}).missing > 0
    if work.options.columns is not None:
        wanted = [table.columns[index] for index in indices_of(work.options.columns, table.columns)]
    else:
        names = (*_FIRST, *table.own_names, "error")
        wanted = [name for name in names if name in table.columns and has.get(name, True)]
        if work.options.in_own_order:
            of_file = list(_as_in_file(files.get("file 1", {}), table, is_long=layout == Layout.LONG))
            added = [name for name in _OURS if name in wanted]
            wanted = list(dict.fromkeys(of_file + [name for name in wanted if name not in added] + added))
    headers: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(wanted, key=_OURS.__contains__):  # the user's own headers stay as they are
        header = _header(name, table, files, work.say)
        while header.casefold() in taken:
            header += " (CF Batch)" if name in _OURS else " (2)"
        taken.add(header.casefold())
        headers[name] = header
    return {name: headers[name] for name in wanted}


def _as_in_file(roles: dict[str, str], table: ScoreRows, *, is_long: bool) -> Iterator[str]:
    """The names of the columns of the first file, in its order, as far as the results have them."""
    ids = "doc_id" if is_long else "query_id"
    by_role = {Role.QUERY: "query", Role.CONTEXT: "text", Role.TEXT: "text", Role.ID: ids, Role.LABEL: "label"}
    own = {header: name for name, header in reversed(table.own_names.items())}
    found = (by_role.get(Role(role)) or own.get(header, "") for header, role in roles.items())
    return (name for name in found if name in table.columns)


def _header(name: str, table: ScoreRows, files: dict[str, dict[str, str]], say: Callable[[str], str]) -> str:
    """The header of the user's file where a column is theirs, else our word."""
    if name in table.own_names:
        return table.own_names[name]
    has_second = "file 2" in files
    of_query = name in ("query", "query_id")
    file = files.get("file 2" if has_second and not of_query else "file 1", {})
    own = [header for header, role in file.items() if role in _ROLES.get(name, ())]
    is_of_text = name == "query_id" and not has_second  # the id of the only file is the text's
    return own[0] if len(own) == 1 and own[0] and not is_of_text else say(HEADERS[name])
