"""Near duplicates: groups of texts of which one is kept, and the list of what stays and what goes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QSizePolicy, QStackedWidget

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import EmbeddedText
from cfbatch_gui.core.results.exports.csv_tables import write_keep_list
from cfbatch_gui.core.results.groups import (
    UNASKED_TEXTS,
    USUAL_THRESHOLD,
    Duplicates,
    Group,
    Keep,
    find_duplicates,
)
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.ranking_limits import ThresholdField
from cfbatch_gui.ui.results.vector_page import (
    VectorPage,
    id_column,
    item_no_of,
    row_column,
    selected_items,
    show_whole,
    similarity_column,
    table_over_text,
    text_column,
)
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, ScoreColumn
from cfbatch_gui.ui.tables.table_view import PagedRows, Rows, TableView
from cfbatch_gui.ui.widgets import Choice, EmptyPlace, Flow, IconButton, Label, QuietButton, boxed, row, split
from cfbatch_gui.ui.widgets.text_panel import TextPanel

_RESTING = 0.35  # seconds after the last key
_MEMBERS = 1_000  # of a group that are listed


@dataclass(frozen=True, slots=True)
class GroupRow:
    group: Group
    text: EmbeddedText


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A text of a group; `similarity` is that to the one that stays, None for itself."""

    text: EmbeddedText
    similarity: float | None


class DuplicatesView(VectorPage):
    """Searches again whenever the threshold or what is to be kept changes; for many texts only when asked."""

    def __init__(self, program: Program, notices: Notices, *, memory: Memory | None = None) -> None:
        super().__init__(program, notices, "copy")
        self.found: Duplicates | None = None
        self._groups: tuple[Group, ...] = ()
        self._make_widgets(memory)
        self._lay_out()

    def clear(self) -> None:
        self.found, self._groups = None, ()
        self.threshold.blockSignals(True)
        self.threshold.setText(display.number(USUAL_THRESHOLD, ".2f"))
        self.threshold.blockSignals(False)
        self.count.setText("")
        self._body.setCurrentWidget(self._wait)

    def arrived(self, *, is_first: bool) -> None:
        embeddings = self.embeddings
        if embeddings is None:
            return
        if embeddings.count <= UNASKED_TEXTS or self.found is not None:
            self.look()
        else:
            self._body.setCurrentWidget(self._ask)
            self.show_foot()

    def row_choices(self) -> tuple[RowChoice, ...]:
        found = self.found
        if found is None or not self._groups:
            return ()
        stays = found.stays == found.item_numbers
        members = [each.text.item_no for each in self.members.rows()]
        groups = [self._groups[index] for index in self.group_table.selected_rows()]
        return row_choices(
            (self.tr("without near duplicates"), found.item_numbers[stays].tolist()),
            (self.tr("near duplicates that go"), found.item_numbers[~stays].tolist()),
            (self.tr("this group") if len(groups) < 2 else self.tr("selected groups"), _items_of(groups) or members),
            selected_items(self.member_table, self.members),
        )

    def look(self) -> None:
        self.tasks.start("look", self._look(0.0))

    # Making

    def _make_widgets(self, memory: Memory | None) -> None:
        self.threshold = ThresholdField()
        self.threshold.setAccessibleName(self.tr("Similar from"))
        self.threshold.setPlaceholderText("")
        self.threshold.changed.connect(self._changed)
        kept = ((self.tr("Keep the first"), Keep.FIRST), (self.tr("Keep the longest"), Keep.LONGEST))
        self.keep = Choice(self.tr("Which text of a group stays"), kept, lambda _: self._changed())
        self.count = Label("", "quiet")
        self.save_button = QuietButton(
            self.tr("Save list without duplicates…"),
            "download",
            lambda: self.tasks.start("save", self._save()),
            tip=self.tr("A CSV that says for every row whether it stays or goes"),
        )
        words = self.tr("Show the texts that go in the table")
        self.table_button = IconButton("table", words, self._show_in_table)
        self.groups: PagedRows[GroupRow] = PagedRows(_group_columns(), count=0, fetch=self._fetch, parent=self)
        self.group_table = TableView(
            "vectors/groups", self.tr("Groups"), self.groups, memory=memory, on_picked=self._group_picked
        )
        self.members: Rows[MemberRow] = Rows(_member_columns(), key=item_no_of, sortable=False, parent=self)
        title = self.tr("Texts of the group")
        self.member_table = TableView(
            "vectors/members", title, self.members, memory=memory, on_picked=self._member_picked
        )
        self.panel = TextPanel(lines=4)
        self._wait, self._none = EmptyPlace("hourglass", ""), EmptyPlace("circle-check", "")
        self._ask = EmptyPlace(
            "copy",
            self.tr("Comparing so many texts takes a while: every text is compared with every other."),
            self.tr("Look for near duplicates"),
            "search",
        )
        self._ask.pressed.connect(self.look)

    def _lay_out(self) -> None:
        label = Label(self.tr("Similar from"), "quiet")
        label.setBuddy(self.threshold)
        self.count.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        fields = boxed(row(label, self.threshold, self.keep))
        buttons = boxed(row(self.table_button, self.save_button))
        members = boxed(table_over_text(self.member_table, self.panel))
        self._groups_and_members = split(self.group_table, members, sizes=(420, 580))
        self._body = QStackedWidget()
        for each in (self._wait, self._ask, self._none, self._groups_and_members):
            self._body.addWidget(each)
        self.lay_out_content(self._body, above=Flow(fields, self.count, buttons))

    # Looking

    def _changed(self) -> None:
        if self.embeddings is not None:
            self.tasks.start("look", self._look(_RESTING))

    async def _look(self, resting: float) -> None:
        await asyncio.sleep(resting)
        embeddings, threshold, keep = self.embeddings, self.threshold.value(), Keep(str(self.keep.value()))
        if embeddings is None or threshold is None:
            return
        if not 0 < threshold <= 1:
            self.foot.set_line(self.tr("A similarity is above 0 and at most 1."), "triangle-alert", "attention")
            return
        found = await self.worked_out(
            self.tr("Comparing every text with every other…"),
            lambda tell: find_duplicates(embeddings, threshold, keep, tell),
        )
        self.found, self._groups = found, await asyncio.to_thread(found.groups)
        self._show(found)

    def _show(self, found: Duplicates) -> None:
        self.groups.refresh(len(self._groups))
        some = bool(self._groups)
        self._body.setCurrentWidget(self._groups_and_members if some else self._none)
        threshold = self.threshold.text()
        self._none.set_sentence(self.tr("No two texts are as similar as {n}.").format(n=threshold))
        groups = display.plural(len(self._groups), "{n} group", "{n} groups")
        goes = display.plural(found.gone, "{n} would go", "{n} would go")
        self.count.setText(f"{goes} · {groups}" if some else self.tr("no near duplicates"))
        why_not = "" if some else self.tr("There is nothing to leave out.")
        self.save_button.set_possible(why_not)
        self.table_button.setEnabled(some)
        if some:
            self.group_table.selectRow(0)
            self._group_picked(0)
        self.show_foot(
            self.tr("Every text that goes is at least so similar to the one that stays. Nothing in the job changes."),
            without_direction=found.without_direction,
        )

    def _fetch(self, start: int, stop: int) -> Sequence[GroupRow]:
        groups = self._groups[start:stop]
        texts = self.texts([group.stays for group in groups])
        return tuple(GroupRow(group, text) for group, text in zip(groups, texts, strict=True))

    def _group_picked(self, index: int) -> None:
        if not 0 <= index < len(self._groups):
            return
        group = self._groups[index]
        texts = self.texts([group.stays, *group.goes[:_MEMBERS]])
        similarities = (None, *group.similarities[:_MEMBERS])
        self.members.set_rows(tuple(map(MemberRow, texts, similarities)))
        self.member_table.selectRow(0)
        self._member_picked(0)

    def _member_picked(self, index: int) -> None:
        if 0 <= index < self.members.rowCount():
            show_whole(self.members.row(index).text, self.panel)

    # Saving

    def _show_in_table(self) -> None:
        if self.found is not None:
            going = self.found.item_numbers[self.found.stays != self.found.item_numbers]
            self.rows_wanted.emit(tuple(going.tolist()), self.tr("Near duplicates that go"))

    async def _save(self) -> None:
        path = await dialogs.save_file(
            self,
            self.tr("Save list without duplicates"),
            name=self.tr("{name}, without duplicates").format(name=self.job.name) + ".csv",
            filters=(self.tr("CSV for Excel (*.csv)"),),
            folder=self.program.remembered_folder(FolderUse.KEEP_LISTS),
            suffix="csv",
        )
        if path is not None:
            await self.write(path)

    async def write(self, path: Path) -> None:
        """Write the list of what stays and what goes. Raises UserError."""
        embeddings, found = self.embeddings, self.found
        if embeddings is None or found is None:
            return
        separator = display.csv_separator()
        gone = await asyncio.to_thread(lambda: write_keep_list(path, embeddings, found, separator=separator))
        pattern = self.tr("Wrote {n} rows to “{name}”: {stay} stay, {go} go.")
        stay = display.number(embeddings.count - gone)
        self.notices.show_written(
            pattern.format(n=display.number(embeddings.count), name=path.name, stay=stay, go=display.number(gone)), path
        )


def _items_of(groups: Sequence[Group]) -> list[int]:
    return [item for group in groups for item in (group.stays, *group.goes)]


def _group_columns() -> tuple[Column[GroupRow], ...]:
    least = tr("Least similar")
    return (
        Column(tr("Stays"), lambda each: each.text.text, key="text", stretch=True),
        NumberColumn(tr("Texts"), lambda each: len(each.group.goes) + 1, key="texts", width=70),
        ScoreColumn(least, lambda each: min(each.group.similarities), key="least", width=104, gives_way=True),
    )


def _member_columns() -> tuple[Column[MemberRow], ...]:
    return (
        Column(
            "",
            lambda each: each.similarity,
            key="decision",
            width=84,
            widest=(tr("stays"), tr("goes")),
            copies_text=True,
            text=lambda each: tr("stays") if each.similarity is None else tr("goes"),
            icon=lambda each: ("check", "done") if each.similarity is None else ("minus", "quiet"),
            colour=lambda each: "text" if each.similarity is None else "quiet",
        ),
        row_column(gives_way=True),
        text_column(),
        id_column(hidden=True),
        similarity_column(),
    )
