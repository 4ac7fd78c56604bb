"""The rows and columns of the list of a draft's rows beside the version before it, and how new words are marked."""

from PySide6.QtCore import QCoreApplication, QModelIndex, QPersistentModelIndex

from cfbatch_gui.core.versions.differences import Change, VersionRow, new_words
from cfbatch_gui.core.versions.draft_version import ComparedRow
from cfbatch_gui.ui.display import one_line
from cfbatch_gui.ui.tables.cells import CellDelegate
from cfbatch_gui.ui.tables.table_rows import Column, PagedRows
from cfbatch_gui.ui.widgets.search_marks import spans_in_units

COLOURS = {Change.ADDED: "done", Change.CHANGED: "accent", Change.MOVED: "accent"}
MOST_COMPARED = 1_000  # characters of the text before; of the new one as many as are painted
_NOT_READ = VersionRow(0, "", "", "", "", 0)


def change_words(change: Change) -> str:
    """What became of a row, in a word or two."""
    return {
        Change.ADDED: _tr("new"),
        Change.CHANGED: _tr("changed"),
        Change.MOVED: _tr("other ID"),
        Change.UNCHANGED: _tr("as before"),
        Change.REMOVED: _tr("gone"),
    }[change]


def version_columns(*, has_ids: bool, has_queries: bool, has_sources: bool) -> tuple[Column[ComparedRow], ...]:
    """What became of a row, its id, its query and its text, and the job that its result is taken from."""
    return (
        Column(
            _tr("Change"),
            lambda each: each.change,
            change_words,
            key="change",
            width=96,
            sortable=False,
            colour=lambda each: COLOURS.get(each.change, "quiet"),
            widest=tuple(change_words(change) for change in Change),
        ),
        Column(_tr("ID"), lambda each: each.row.id, key="id", width=110, sortable=False, hidden=not has_ids),
        Column(
            _tr("Query"), lambda each: each.row.query, key="query", width=200, sortable=False, hidden=not has_queries
        ),
        Column(_tr("Text"), lambda each: each.row.text, key="text", stretch=True, sortable=False),
        Column(
            _tr("Taken from"),
            lambda each: each.source,
            key="source",
            width=150,
            sortable=False,
            hidden=not has_sources,
            gives_way=True,
        ),
    )


def unread_rows(count: int) -> list[ComparedRow]:
    """What stands for rows that cannot be read."""
    return [ComparedRow(_NOT_READ, Change.UNCHANGED)] * count


class NewWordsDelegate(CellDelegate):
    """Marks the words of a text that are not in the version before."""

    def marks(self, index: QModelIndex | QPersistentModelIndex, shown: str) -> list[tuple[int, int]]:
        model = index.model()
        if not isinstance(model, PagedRows) or model.columns[index.column()].name != "text":
            return []
        before: str = model.row(index.row()).before
        if not before:
            return []
        places = new_words(shown.removesuffix("…"), one_line(before, MOST_COMPARED))
        return spans_in_units(shown, places)


def _tr(text: str) -> str:
    return QCoreApplication.translate("inputs", text)
