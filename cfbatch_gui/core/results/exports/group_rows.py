"""What is written of groups and near duplicates: columns beside the user's own, in own sheets and beside vectors."""

from collections.abc import Callable, Iterator

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.duplicates import read_duplicates
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.base import Cell, Row, Work
from cfbatch_gui.core.results.exports.own_sheet import OwnRows
from cfbatch_gui.core.results.job_groups import JobGroups, read_groups
from cfbatch_gui.core.results.list_rows import ListRow

GROUP_COLUMNS = ("group", "group_name", "similarity_to_group", "duplicate_of")
_HEADERS = message("group_2"), message("group_name_2"), message("likeness_to_group"), message("duplicate_of_2")
_GROUPED = tuple(zip(GROUP_COLUMNS, _HEADERS, ("int64", "utf8", "float64", "utf8"), strict=True))
_KEPT = ("group", message("group_2"), "int64"), ("keep", message("keep_2"), "utf8")
GROUPS_SHEET, DUPLICATES_SHEET = message("groups_sheet"), message("duplicates_sheet")
GROUPS_HEADERS = message("group_2"), message("group_name_2"), message("texts"), message("typical_text")
Cells = Callable[[int], tuple[Cell, ...]]  # of an item by its number; empty ones for a row that was never sent


def group_cells(work: Work, found: JobGroups) -> Cells:
    """The cells of GROUP_COLUMNS; a duplicate is that of the id, or the row without ids, of the text that stays."""
    embeddings = Embeddings(work.folder, work.job.failed_batches)
    twins = read_duplicates(embeddings, work.job.options.duplicates, _teller(work))
    gone = twins.stays != twins.item_numbers
    stays = dict(zip(twins.item_numbers[gone].tolist(), twins.stays[gone].tolist(), strict=True))
    kept = {each.item_no: each for each in embeddings.texts(sorted(set(stays.values())))}
    of_groups = zip(found.members.tolist(), found.similarities.tolist(), strict=True)
    groups = dict(zip(found.item_numbers.tolist(), of_groups, strict=True))

    def cells(item: int) -> tuple[Cell, ...]:
        group, similarity = groups.get(item, (-1, 0.0))
        stay = kept.get(stays.get(item, 0))
        of = "" if stay is None else stay.id if embeddings.has_ids else str(stay.row)
        if group < 0:
            return None, "", None, of
        return group + 1, found.groups[group].name, round(similarity, 6), of

    return cells


def group_rows(work: Work, *, for_people: bool = False) -> OwnRows:
    return grouped_rows(work, read_groups(work.folder, work.job, _teller(work)), for_people=for_people)


def grouped_rows(work: Work, found: JobGroups, *, for_people: bool) -> OwnRows:
    """The own sheet with GROUP_COLUMNS."""
    cells = group_cells(work, found)
    table = OwnRows(work, _GROUPED, lambda row: cells(row.item_no), for_people=for_people)
    likeness = {} if found.likeness is None else {"likeness": found.likeness}
    sizes = [{"group": at, "name": each.name, "rows": each.size} for at, each in enumerate(found.groups, 1)]
    table.notes = {"groups": {**likeness, "groups": sizes}}
    return table


def lines_of_groups(work: Work, found: JobGroups) -> Iterator[Row]:
    """A row for each group: its number, name, size, and its most typical text."""
    typical = Embeddings(work.folder).texts([each.typical[0] for each in found.groups])
    for at, (group, text) in enumerate(zip(found.groups, typical, strict=True), 1):
        yield at, group.name, group.size, text.text


def duplicate_rows(work: Work, *, for_people: bool = False) -> OwnRows:
    """The own sheet with the group of near duplicates that a row is in, and whether it is to be kept."""
    embeddings = Embeddings(work.folder, work.job.failed_batches)
    found = read_duplicates(embeddings, work.job.options.duplicates, _teller(work))
    of_groups = found.groups()
    groups = {item: at for at, group in enumerate(of_groups, 1) for item in (group.stays, *group.goes)}
    goes = set(found.item_numbers[found.stays != found.item_numbers].tolist())
    yes, no = (work.say(message("yes")), work.say(message("no"))) if for_people else ("yes", "no")

    def cells(row: ListRow) -> list[Cell]:
        return [groups.get(row.item_no), no if row.item_no in goes else yes]

    table = OwnRows(work, _KEPT, cells, for_people=for_people)
    table.notes = {"duplicates": {"similarity": found.threshold, "groups": len(of_groups), "gone": found.gone}}
    return table


def _teller(work: Work) -> Callable[[float], None]:
    """So that an export stops while it computes."""
    return lambda share: work.steps.wrote(0)
