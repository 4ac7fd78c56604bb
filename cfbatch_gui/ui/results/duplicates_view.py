"""Near duplicates: which texts are, which of each group stays, and which differ in a number."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QMenu, QSizePolicy

from cfbatch_gui.core.jobs.states import DuplicateOptions, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.duplicates import UNASKED_TEXTS, Duplicates, Group, read_duplicates
from cfbatch_gui.core.results.embeddings import EmbeddedText, Progress
from cfbatch_gui.core.results.job_groups import differing_groups
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results import results_page
from cfbatch_gui.ui.results.results_page import TextList, VectorPage, id_column, labelled, row_column, text_column
from cfbatch_gui.ui.tables.cells import CellDelegate
from cfbatch_gui.ui.tables.table_rows import Column, Index, NumberColumn, PagedRows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.widgets import Flow, Label, QuietButton, add_action, boxed, split
from cfbatch_gui.ui.widgets.marks import Mark, differing_marks
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import one_line, worded
from cfbatch_gui.words.languages import tr

_RESTING = 0.35  # seconds after the last key
_TEXT = 2  # the column of a text of the group


@dataclass(frozen=True, slots=True)
class GroupRow:
    group: Group
    text: EmbeddedText  # the one that stays
    differs: bool  # in a number from one that goes


class MemberCells(CellDelegate):
    """Marks the numbers of a text that goes which the one that stays has not; sizes stand at the end of a text."""

    elided = Qt.TextElideMode.ElideMiddle

    def marks(self, index: Index, shown: str) -> list[Mark]:
        model = index.model()
        if not isinstance(model, PagedRows) or index.column() != _TEXT or not index.row():
            return []
        return differing_marks(shown, one_line(model.row(index.row()).text.text, 400), model.row(0).text.text)


class DuplicatesView(VectorPage):
    """Searches again whenever the options change, however they were changed; for many texts only when asked.

    `export_wanted` brings the id of the job, of which the rows that stay are to be exported.
    """

    export_wanted = Signal(str)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "copy")
        self.found: Duplicates | None = None
        self._made_by = DuplicateOptions()
        self._item = 0  # one of the chosen group
        self._groups: tuple[Group, ...] = ()
        self._differing: frozenset[int] = frozenset()
        self._shown: Sequence[Group] = ()
        self.threshold = QDoubleSpinBox(minimum=0.001, maximum=1.0, singleStep=0.01, decimals=3)
        self.threshold.setAccessibleName(tr("Similar from"))
        self.threshold.setToolTip(tr("Every text that goes is at least so similar to the one that stays."))
        self.threshold.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.threshold.valueChanged.connect(lambda value: self.tasks.start("rest", self._keep_threshold(value)))
        kept = ((tr("Keep the first"), False), (tr("Keep the longest"), True))
        self.longest = widgets.Choice(tr("Which text of a group stays"), kept, self._keep_longest)
        self.count = Label("", "quiet")
        self.count.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.differing_button = QuietButton("", "triangle-alert", self._fill)
        self.differing_button.setCheckable(True)
        self.save_button = QuietButton(
            tr("Save list without duplicates…"),
            "download",
            lambda: self.export_wanted.emit(self.job.id),
            tip=tr("Your own columns, with the rows that stay"),
        )
        words = tr("Show the texts that go in the table")
        self.table_button = widgets.IconButton("table", words, self._show_in_table)
        self.rows: PagedRows[GroupRow] = PagedRows(_group_columns(), count=0, fetch=self._fetch, parent=self)
        self.table = TableView("vectors/groups", tr("Groups"), self.rows, on_picked=self._picked)
        self.table.on_menu = self._fill_group_menu
        title = tr("Texts of the group")
        self.members = TextList(self, "vectors/members", title, columns=_member_columns())
        self.members.opened.connect(self.keep_one)
        self.members.table.on_menu = self._fill_menu
        self.members.table.cells = MemberCells(self.members.table)
        self.members.table.setItemDelegate(self.members.table.cells)
        fields = labelled(tr("Similar from"), self.threshold, self.longest)
        buttons = boxed(Flow(self.differing_button, self.table_button, self.save_button))
        content = split(self.table, self.members, sizes=(420, 580), name="duplicates")
        self.lay_out(content, Flow(fields, self.count, buttons))

    def clear(self) -> None:
        self.found, self._groups, self._item = None, (), 0
        self.differing_button.setChecked(False)
        self.differing_button.hide()
        self.count.setText("")

    def arrived(self, *, is_first: bool) -> None:
        if self.embeddings.count <= UNASKED_TEXTS or self.found is not None:
            self._look_again()
        else:
            self._show_options(self.job.options.duplicates)
            sentence = tr("Comparing so many texts takes a while: every text is compared with every other.")
            self.say(sentence, tr("Look for near duplicates"), self._look_again)
            self.show_foot()

    def show_job(self, job: Job) -> None:
        super().show_job(job)
        if self.found is not None and job.options.duplicates != self._made_by:
            self._look_again()

    def row_choices(self) -> tuple[RowChoice, ...]:
        found = self.found
        if found is None or not self._groups:
            return ()
        stays = found.stays == found.item_numbers
        chosen = self._chosen()
        without = tr("without near duplicates")
        return row_choices(
            (without, found.item_numbers[stays].tolist()),
            (tr("near duplicates that go"), found.item_numbers[~stays].tolist()),
            (tr("this group") if len(chosen) < 2 else tr("selected groups"), _items(chosen) or self.members.items),
            self.members.selected(),
            proposed=without,
        )

    # The options

    def _show_options(self, options: DuplicateOptions) -> None:
        with QSignalBlocker(self.threshold):
            self.threshold.setValue(options.similarity)
        self.longest.set_value(options.longest)

    async def _keep_threshold(self, value: float) -> None:
        await asyncio.sleep(_RESTING)
        if self.vectors_read is not None:
            self._change(tr("Undo the similarity"), similarity=round(value, 3))

    def _keep_longest(self, longest: bool) -> None:
        if self.vectors_read is not None:
            self._change(tr("Undo which text stays"), longest=longest)

    def _change(self, undo_words: str, **changes: Any) -> None:
        self.keep("duplicates", lambda options: replace(options, **changes), undo_words)

    def keep_one(self, item: int) -> None:
        """Let this text be the one of its group that stays."""
        if not self._shown or item == self.members.items[0]:
            return
        self._item = item

        def change(options: DuplicateOptions) -> DuplicateOptions:
            return replace(options, kept=(*(each for each in options.kept if each != item), item))

        self.keep("duplicates", change, tr("Undo keeping another text"))

    # Looking for them

    def _look_again(self) -> None:
        self._made_by = self.job.options.duplicates
        self._show_options(self._made_by)
        self.tasks.start("look", self._look(self.job))

    async def _look(self, job: Job) -> None:
        embeddings, options = self.embeddings, job.options.duplicates

        def work(tell: Progress) -> tuple[Duplicates, tuple[Group, ...], frozenset[int]]:
            found = read_duplicates(embeddings, options, tell)
            return found, (some := found.groups()), differing_groups(embeddings, some)

        made = await self.worked_out(tr("Comparing every text with every other…"), work)
        self.found, self._groups, self._differing = made
        found, count = made[0], len(self._groups)
        self.differing_button.setText(
            figures.plural(len(self._differing), "{n} group differs in a number", "{n} groups differ in a number")
        )
        self.differing_button.setVisible(bool(self._differing))
        self.differing_button.setChecked(self.differing_button.isChecked() and bool(self._differing))
        if count:
            self.stack.show_content()
        else:
            self.say(worded("No two texts are as similar as {n}.", n=self.threshold.text()))
        self._fill()
        goes = figures.plural(found.gone, "{n} would go", "{n} would go")
        words = figures.plural(count, "{n} group", "{n} groups")
        self.count.setText(f"{goes} · {words}" if count else tr("no near duplicates"))
        self.save_button.set_possible("" if count else tr("There is nothing to leave out."))
        self.table_button.setEnabled(count > 0)
        sentence = tr("Enter or a double click keeps another text of a group. Nothing in the job changes.")
        self.show_foot(sentence, without_direction=found.without_direction)

    def _fill(self) -> None:
        only = self.differing_button.isChecked()
        self._shown = [each for each in self._groups if not only or each.stays in self._differing]
        had_focus = self.members.table.hasFocus()
        self.rows.refresh(len(self._shown))
        at = (index for index, each in enumerate(self._shown) if self._item in (each.stays, *each.goes))
        self.table.selectRow(next(at, 0))
        if had_focus:
            self.members.table.setFocus()

    def _fetch(self, start: int, stop: int) -> Sequence[GroupRow]:
        some = self._shown[start:stop]
        texts = self.texts([group.stays for group in some])
        return [GroupRow(each, text, each.stays in self._differing) for each, text in zip(some, texts, strict=True)]

    # Showing

    def _chosen(self) -> list[Group]:
        return [self._shown[index] for index in self.table.selected_rows()]

    def _picked(self, index: int) -> None:
        group = self._shown[index]
        chosen = self._item if self._item in group.goes else group.stays
        self._item = group.stays
        self.members.show_items((group.stays, *group.goes), (None, *group.similarities), chosen=chosen)

    def _fill_menu(self, menu: QMenu, index: int) -> None:
        if index > 0:
            add_action(menu, tr("Keep this one"), partial(self.keep_one, self.members.items[index]), "check")

    def _fill_group_menu(self, menu: QMenu, index: int) -> None:
        items, name = tuple(_items(self._chosen())), tr("near duplicates")
        add_action(menu, tr("Show in table"), partial(self.rows_wanted.emit, self.job, items, name), "table")
        add_action(menu, tr("Show on the map"), partial(self.map_wanted.emit, self.job, items, name), "chart-scatter")

    def _show_in_table(self) -> None:
        if self.found is not None:
            going = self.found.item_numbers[np.not_equal(self.found.stays, self.found.item_numbers)]
            self.rows_wanted.emit(self.job, tuple(going.tolist()), tr("Near duplicates that go"))


def _items(groups: Sequence[Group]) -> list[int]:
    return [item for group in groups for item in (group.stays, *group.goes)]


def _group_columns() -> tuple[Column[GroupRow], ...]:
    least = tr("Least similar")
    return (
        Column(
            tr("Stays"),
            lambda each: each.text.text,
            stretch=True,
            icon=lambda each: ("triangle-alert", "attention") if each.differs else None,
        ),
        NumberColumn(tr("Texts"), lambda each: len(each.group.goes) + 1, width=70),
        ScoreColumn(least, lambda each: min(each.group.similarities), width=104, gives_way=True),
    )


def _member_columns() -> tuple[Column[results_page.ListedText], ...]:
    return (
        Column(
            "",
            lambda each: each.similarity,
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
        results_page.similarity_column(),
    )
