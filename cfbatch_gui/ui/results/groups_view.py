"""Groups of similar texts: how they are made, their names, their texts, and how they share the values of a column."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QPoint,
    QRect,
    QSignalBlocker,
    QSize,
    Qt,
    QTimer,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import QKeySequence, QMouseEvent, QPainter, QResizeEvent, QShortcut
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QMenu, QSizePolicy, QSlider, QStyle, QStyleOptionViewItem

from cfbatch_gui.core.jobs.states import DuplicateOptions, GroupOptions, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.duplicates import UNASKED_TEXTS, read_duplicates
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.groups import MOST_CLUSTERS, share_table, usual_number
from cfbatch_gui.core.results.job_groups import JobGroups, read_groups
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui import icons, theme, widgets
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import PictureButtons, ShareBars
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results import results_page
from cfbatch_gui.ui.results.results_page import TextList, VectorPage, text_column
from cfbatch_gui.ui.tables.cells import CELL_MARGIN, CellDelegate
from cfbatch_gui.ui.tables.table_rows import Column, Index, NumberColumn, PagedRows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import ElidedLabel, Flow, Label, LinkButton, Switch, add_action, boxed, column, line, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import tr

_RESTING = 0.35  # seconds after the last step of the slider
_ROW, _MEMBER = 54, 34  # heights
_LIST, _NARROW_LIST, _NARROW = 450, 260, 900  # widths of the list, and of a page that has no room for its bars
_BARS = 232  # height of the bars by column, at most
_USUALLY_UP_TO = 30  # groups, at the end of the slider
_SAMPLE, _PENCIL, _MOST_IN_MENU = 300, 14, 50
TEXTS, BARS, NUMBER, LIKENESS, COUNTS, SHARES = "texts", "bars", "number", "likeness", "counts", "shares"


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group by its index, -1 for the texts that are in none."""

    index: int
    name: str
    below: str
    size: int


def _colour(each: GroupRow) -> str:
    return "text" if each.index >= 0 else "quiet"


class GroupCells(CellDelegate):
    """Has a pencil behind the name of the chosen group."""

    sample = ""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        if option.state & QStyle.StateFlag.State_Selected and (spot := self._pencil(option, index)) is not None:
            painter.fillRect(spot.adjusted(-TINY, -TINY, TINY, TINY), theme.colour("selection"))  # over a long name
            icons.paint_icon(painter, spot, "pencil", "accent")

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonRelease:
            spot, table = self._pencil(option, index), self.parent()
            if spot is not None and spot.adjusted(-4, -4, 4, 4).contains(event.position().toPoint()):
                assert isinstance(table, TableView)  # noqa: S101 - whose cells these are
                table.opened.emit(index.row())
        return False

    def _pencil(self, option: QStyleOptionViewItem, index: Index) -> QRect | None:
        model = index.model()
        if index.column() or not isinstance(model, PagedRows) or model.row(index.row()).index < 0:
            return None
        wide = min(
            option.fontMetrics.horizontalAdvance(str(index.data())),
            option.rect.width() - 2 * CELL_MARGIN - SMALL - _PENCIL,
        )
        middle = option.rect.center().y() - option.fontMetrics.height() // 2 + 2
        left = option.rect.left() + CELL_MARGIN + wide + SMALL
        spot = QRect(QPoint(left, middle - _PENCIL // 2), QSize(_PENCIL, _PENCIL))
        return QStyle.visualRect(option.direction, option.rect, spot)


def column_choices(embeddings: Embeddings) -> list[tuple[str, int]]:
    """The user's columns whose values differ, by name and index, those with the fewest values first."""
    sample, found = embeddings.page(0, _SAMPLE), []
    for index, name in enumerate(embeddings.columns()):
        cells = [text.cells[index] for text in sample if index < len(text.cells)]
        if len(set(cells)) > 1 and cells != [text.text for text in sample]:
            found.append((len(set(cells)), index, name))
    return [(name, index) for _, index, name in sorted(found)]


class GroupsView(VectorPage):
    """Makes the groups again whenever their options change, however they were changed. `duplicates_wanted` asks for the
    page of duplicates.
    """

    duplicates_wanted = Signal()

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "layers")
        self.found: JobGroups | None = None
        self._made_by = GroupOptions()
        self._item = 0  # the most typical one of the chosen group, -1 for the texts in none
        self._twice_by: DuplicateOptions | None = None  # those that the hint goes by
        self._is_allowed = False  # to take long
        self._is_narrow = False
        self._values: tuple[int, Sequence[str]] = (-1, ())
        self._make_tools()
        self._make_list()
        self._make_members()
        self._make_card()
        right = column(self._head, line(), self.parts_switch, (self.members, 1), self._card_place, gap=0)
        self._split = widgets.split(self.table, boxed(right), sizes=(_LIST, 639), name="groups/parts", stretched=1)
        tools = Flow(self.way, self.slider, self.field, self.count, self._twice)
        self.lay_out(boxed(column(line(), (self._split, 1), gap=0)), tools, side=0)

    def clear(self) -> None:
        self.found, self._item, self._is_allowed, self._values = None, 0, False, (-1, ())
        self._twice.hide()

    def arrived(self, *, is_first: bool) -> None:
        self.tasks.start("columns", self._show_columns())
        self.found, self._twice_by = None, None
        self._begin()

    def show_job(self, job: Job) -> None:
        super().show_job(job)
        if self.vectors_read is not None and self.vectors_read.done and job.options.grouping != self._made_by:
            self._begin()
        elif self.found is not None and not self.tasks.is_running("group"):
            self.tasks.start("twice", self._count_twice(job.options.duplicates))

    def row_choices(self) -> tuple[RowChoice, ...]:
        return row_choices(self._selection(), self.members.selected()) if self.found is not None else ()

    # Making

    def _make_tools(self) -> None:
        self.way = Switch(tr("How to group"), self._way_picked, {NUMBER: tr("By number"), LIKENESS: tr("By likeness")})
        self.slider, self.field = QSlider(Qt.Orientation.Horizontal), QDoubleSpinBox()
        self.slider.setFixedWidth(scaled(190))
        self.field.setFixedWidth(scaled(54))
        self.field.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.field.setKeyboardTracking(False)
        self.slider.valueChanged.connect(lambda value: self.field.setValue(value / self._steps()))
        self.field.valueChanged.connect(self._moved)
        self.count = Label("", "quiet")
        self.count.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._twice_words = widgets.IconLine("", "copy", wrap=False)
        self.look_link = LinkButton(tr("Look at them"), on_click=self.duplicates_wanted.emit)
        self._twice = boxed(row(self._twice_words, self.look_link))
        self._twice.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def _make_list(self) -> None:
        columns: tuple[Column[GroupRow], ...] = (
            Column(
                tr("Group"),
                lambda each: each.name,
                stretch=True,
                below=lambda each: each.below,
                colour=_colour,
            ),
            Column("", lambda each: "", width=114, gives_way=True, bar=self._share, colour=_colour),
            NumberColumn(tr("Texts"), lambda each: each.size, width=68, colour=_colour),
        )
        self.rows: PagedRows[GroupRow] = PagedRows(columns, count=0, fetch=self._fetch, parent=self)
        self.table = TableView("groups/list", tr("Groups"), self.rows, on_picked=self._picked)
        self.table.on_menu = self._fill_menu
        self.table.cells = GroupCells(self.table)
        self.table.setItemDelegate(self.table.cells)
        self.table.verticalHeader().setDefaultSectionSize(scaled(_ROW))
        self.table.opened.connect(lambda _: self.edit_name())
        self.table.own_keys = {Qt.Key.Key_F2: self.edit_name}

    def _make_members(self) -> None:
        self.name_field = QLineEdit()
        self.name_field.setMaximumWidth(scaled(236))
        self.name_field.setMaxLength(200)
        self.name_field.setAccessibleName(tr("Name of the group"))
        self.name_field.returnPressed.connect(self.table.setFocus)
        self.name_field.editingFinished.connect(self._keep_name)
        escape = QKeySequence(Qt.Key.Key_Escape)
        QShortcut(escape, self.name_field, self._leave_name, Qt.ShortcutContext.WidgetShortcut)
        self.more_button = widgets.MoreButton(tr("More"))
        self.more_button.menu().aboutToShow.connect(self._fill_more)
        self._kept = ElidedLabel(tr("kept and exported"), "small")
        link = LinkButton(tr("Show in table"), "table", lambda: self._show_at(self.rows_wanted))
        head = row((self.name_field, 3), (self._kept, 2), link, self.more_button, margins=(LARGE, 5, WIDE, 5))
        self._head = boxed(head)
        self.members = TextList(self, "groups/texts", tr("Texts of the group"), has_panel=False)
        table = self.members.table
        table.on_menu = self._fill_member_menu
        table.verticalHeader().setDefaultSectionSize(scaled(_MEMBER))
        table.own_keys = {Qt.Key.Key_Delete: self.remove}

    def _make_card(self) -> None:
        self.column_choice = widgets.Choice(
            tr("By column"), on_picked=lambda _: self.tasks.start("column", self._show_column())
        )
        self.column_choice.setMaximumWidth(scaled(200))
        self.bars = ShareBars(tr("Groups by column"))
        self.unit = Switch(tr("What the bars show"), self._unit_picked, {COUNTS: tr("Counts"), SHARES: tr("Shares")})
        self.unit.set_value(SHARES)
        folder = self.program.remembered_folder(FolderUse.PICTURES)
        self.picture = PictureButtons(self.bars, self.notices, self.tasks, folder, as_icons=True)
        top = Flow(Label(tr("By column"), "strong"), self.column_choice, None, self.unit, self.picture)
        self._area = widgets.scrolled(boxed(column(self.bars, None, gap=0)))
        self.card = widgets.Card(boxed(top), (self._area, 1), margins=(LARGE, MEDIUM, MEDIUM, MEDIUM))
        self._card_place = boxed(column((self.card, 1), margins=(LARGE, MEDIUM, WIDE, MEDIUM)))
        self.parts = Switch(tr("What is shown"), self._arrange, {TEXTS: tr("Texts"), BARS: tr("By column")})
        self.parts_switch = boxed(row(self.parts, None, margins=(LARGE, SMALL, WIDE, SMALL)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (self.width() < scaled(_NARROW)) is not self._is_narrow:
            self._is_narrow = not self._is_narrow
            self._arrange()
            QTimer.singleShot(0, self._split, self._size_parts)  # when the splitter has its new width

    def _size_parts(self) -> None:
        left = scaled(_NARROW_LIST) if self._is_narrow else _LIST
        self._split.setSizes([left, self._split.width() - left])

    def _arrange(self) -> None:
        """Texts and bars below each other, or one of them where there is little room."""
        narrow, has_bars = self._is_narrow, self.column_choice.count() > 0
        self.parts_switch.setVisible(narrow and has_bars)
        shows_bars = narrow and has_bars and self.parts.value == BARS
        self.members.setVisible(not shows_bars)
        self._kept.setVisible(not narrow)
        self._card_place.setVisible(has_bars and (shows_bars or not narrow))
        most = 2**14 if narrow else min(self.bars.minimumHeight(), scaled(_BARS))
        self._area.setMaximumHeight(most)
        self._area.setMinimumHeight(0 if narrow else most)

    # How they are made

    def _steps(self) -> int:
        return 100 if self.way.value == LIKENESS else 1

    def _begin(self) -> None:
        job, options = self.job, self.job.options.grouping
        self._made_by = options
        self._show_options(options)
        if options.by_likeness and self.embeddings.count > UNASKED_TEXTS and not self._is_allowed:
            sentence = tr("Comparing so many texts takes a while: every text is compared with every other.")
            self.say(sentence, tr("Group them by likeness"), self._allow)
            self.show_foot()
        else:
            self.tasks.start("group", self._group(job))

    def _allow(self) -> None:
        self._is_allowed = True
        self._begin()

    def _show_options(self, options: GroupOptions) -> None:
        """Show them in the fields, as they are kept."""
        found = self.found.likeness if self.found is not None else None
        number = options.number or usual_number(self.embeddings.count)
        with QSignalBlocker(self.slider), QSignalBlocker(self.field):
            self.way.set_value(LIKENESS if options.by_likeness else NUMBER)
            name, value, most = tr("Number of groups"), float(number), float(MOST_CLUSTERS)
            if options.by_likeness:
                name, value, most = tr("Alike from"), options.likeness or found or 0.8, 1.0
            for part in (self.slider, self.field):
                part.setAccessibleName(name)
                part.setToolTip(name)
            self.field.setDecimals(2 if options.by_likeness else 0)
            self.field.setSingleStep(1 / self._steps())
            self.field.setRange(0.01 if options.by_likeness else 2, most)
            self.field.setValue(value)
            ends = (30, 100) if options.by_likeness else (2, max(_USUALLY_UP_TO, number))
            self.slider.setRange(*ends)
            self.slider.setValue(round(value * self._steps()))

    def _way_picked(self) -> None:
        if self.vectors_read is not None:
            self._change(tr("Undo how to group"), by_likeness=self.way.value == LIKENESS)

    def _moved(self, value: float) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(value * self._steps()))
        if self.vectors_read is not None:
            self.tasks.start("move", self._keep_value(value))

    async def _keep_value(self, value: float) -> None:
        await asyncio.sleep(_RESTING)
        if self.way.value == LIKENESS:
            self._change(tr("Undo the likeness"), likeness=round(value, 2))
        else:
            self._change(tr("Undo the number of groups"), number=round(value))

    def _change(self, undo_words: str, **changes: Any) -> None:
        self.keep("grouping", lambda options: replace(options, **changes), undo_words)

    async def _group(self, job: Job) -> None:
        folder = self.program.folder(job.id)
        found = await self.worked_out(tr("Grouping the texts…"), lambda tell: read_groups(folder, job, tell))
        self.found = found
        self._show_options(job.options.grouping)
        self._say_count(found, job.options.grouping)
        self.rows.refresh(len(found.groups) + (found.alone > 0))
        self.stack.show_content()
        is_none = self._item < 0 and found.alone > 0
        self.table.selectRow(len(found.groups) if is_none else max(0, found.group_of(self._item)))
        await self._show_column()
        sentences = [tr("Names are the words that tell a group from all others.")]
        if found.likeness is None:
            sentences.append(tr("The same number gives the same groups again."))
        else:
            sentences.insert(0, tr("All texts of a group are at least so alike."))
        self.show_foot(" ".join(sentences), without_direction=found.clusters.without_direction)
        await self._count_twice(job.options.duplicates)

    async def _count_twice(self, options: DuplicateOptions) -> None:
        """Say how many texts would go as near duplicates, where that does not take long."""
        if options != self._twice_by and self.embeddings.count <= UNASKED_TEXTS:
            gone = (await in_thread(read_duplicates, self.embeddings, options)).gone
            words = figures.plural(gone, "{n} text is there twice", "{n} texts are there twice")
            self._twice_words.set_line(words, "copy", "text")
            self._twice.setVisible(gone > 0)
            self._twice_by = options

    def _say_count(self, found: JobGroups, options: GroupOptions) -> None:
        words = [figures.plural(len(found.members), "groups of {n} text", "groups of {n} texts")]
        if found.likeness is not None:
            words = [figures.plural(len(found.groups), "{n} group", "{n} groups")]
        elif len(found.groups) < round(self.field.value()):
            words.append(
                worded("{n} are left", n=len(found.groups)) if options.joined else tr("no more texts that differ")
            )
        if rest := found.alone:
            words.append(worded("In no group: {n}", n=rest))
        self.count.setText(" · ".join(words))

    # The list

    def _fetch(self, start: int, stop: int) -> Sequence[GroupRow]:
        found = self.found
        if found is None:
            return ()
        groups = found.groups[start:stop]
        typical = self.texts([each.typical[0] for each in groups])
        rows = [
            GroupRow(index, each.name, each.words if each.is_named else text.text, each.size)
            for index, (each, text) in enumerate(zip(groups, typical, strict=True), start)
        ]
        if stop > len(found.groups):
            below = tr("Not alike enough to any other, or removed from its group")
            rows.append(GroupRow(-1, tr("In no group"), below, found.alone))
        return rows

    def _share(self, each: GroupRow) -> float:
        return each.size / max(1, self.rows.row(0).size, each.size if each.index < 0 else 1)

    def _chosen(self) -> list[GroupRow]:
        return [self.rows.row(index) for index in self.table.selected_rows()]

    def _selection(self) -> tuple[str, tuple[int, ...]]:
        """The texts of the selected groups, and what they are called."""
        found, chosen = self.found, self._chosen()
        name = chosen[0].name if len(chosen) == 1 else tr("selected groups")
        parts = (found.items_of(each.index) for each in chosen) if found is not None else ()
        return name, tuple(item for part in parts for item in part.tolist())

    def _show_at(self, wanted: SignalInstance) -> None:
        """Have the selected groups shown by another page."""
        name, items = self._selection()
        if items:
            wanted.emit(self.job, items, name)

    def _picked(self, index: int) -> None:
        if (found := self.found) is None:
            return
        chosen = self.rows.row(index)
        self._item = found.groups[chosen.index].typical[0] if chosen.index >= 0 else -1
        self.name_field.setText(chosen.name)
        self.name_field.setEnabled(chosen.index >= 0)
        self.name_field.setCursorPosition(0)
        self.bars.choose(chosen.index)
        self._show_members(chosen)

    def _show_members(self, chosen: GroupRow) -> None:
        assert self.found is not None  # noqa: S101 - it has rows
        items, table = self.found.items_of(chosen.index), self.members.table
        model, at = self.members.rows, table.currentIndex().row() if table.hasFocus() else -1
        count = figures.plural(len(items), "{n} text", "{n} texts")
        title = worded("{texts}, most typical first", texts=count) if chosen.index >= 0 else count
        model.columns = (replace(model.columns[0], title=title), *model.columns[1:])
        likeness = self.found.likeness_of(items).tolist() if chosen.index >= 0 else [None] * len(items)
        self.members.show_items(items.tolist(), likeness, name=chosen.name)
        if at >= 0:  # what stood there has been removed
            table.selectRow(min(at, len(items) - 1))

    # What the user does with them

    def edit_name(self) -> None:
        if self.name_field.isEnabled():
            self.name_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.name_field.selectAll()

    def _leave_name(self) -> None:
        if self.found is not None and self._item > 0:
            self.name_field.setText(self.found.groups[self.found.group_of(self._item)].name)
        self.table.setFocus()

    def _keep_name(self) -> None:
        """Keep what was typed as the name of the chosen group; nothing, or its own words, gives it these again."""
        name, item, found = figures.one_line(self.name_field.text()), self._item, self.found
        if found is None or item <= 0 or not self.name_field.isModified():
            return
        self.name_field.setModified(False)
        group = found.group_of(item)
        is_own = bool(name) and name != found.groups[group].words

        def change(options: GroupOptions) -> GroupOptions:
            if is_own:
                return replace(options, names=(*(each for each in options.names if each[0] != item), (item, name)))
            return replace(options, names=tuple(each for each in options.names if found.group_of(each[0]) != group))

        self.keep("grouping", change, tr("Undo the name"))

    def _join(self, items: Sequence[int]) -> None:
        pairs = tuple((items[0], other) for other in items[1:])
        undo = tr("Undo joining the groups")
        self.keep("grouping", lambda options: replace(options, joined=(*options.joined, *pairs)), undo)

    def _take_apart(self, group: int) -> None:
        """Let the groups that were joined to this one be groups of their own again."""
        found, undo = self.found, tr("Undo taking apart")
        if found is not None:
            apart = {pair for pair in found.options.joined if found.group_of(pair[0]) == group}
            self._change(undo, joined=tuple(pair for pair in found.options.joined if pair not in apart))

    def remove(self) -> None:
        """Remove the selected texts from their group."""
        items = [self.members.items[index] for index in self.members.table.selected_rows()]
        if items and self._item > 0:
            undo = tr("Undo removing from the group")
            self.keep("grouping", lambda now: replace(now, removed=tuple(sorted({*now.removed, *items}))), undo)

    def _put_back(self, items: Sequence[int]) -> None:
        def change(options: GroupOptions) -> GroupOptions:
            return replace(options, removed=tuple(item for item in options.removed if item not in items))

        self.keep("grouping", change, tr("Undo putting back"))

    def _fill_more(self) -> None:
        self.more_button.menu().clear()
        self._fill_menu(self.more_button.menu(), self.table.currentIndex().row())
        self.more_button.menu().addSeparator()
        self._fill_member_menu(self.more_button.menu(), 0)

    def _fill_menu(self, menu: QMenu, index: int) -> None:
        found, chosen = self.found, self._chosen() or ([self.rows.row(index)] if index >= 0 else [])
        if found is None or not chosen:
            return
        typical = [found.groups[each.index].typical[0] for each in chosen if each.index >= 0]
        if len(typical) == 1:
            add_action(menu, tr("Rename"), self.edit_name, "pencil").setShortcut(QKeySequence(Qt.Key.Key_F2))
            joining = menu.addMenu(tr("Join with…"))
            for other in (each for each in found.groups[:_MOST_IN_MENU] if each.typical[0] != typical[0]):
                words = figures.one_line(other.name, 60).replace("&", "&&")
                add_action(joining, words, partial(self._join, [typical[0], other.typical[0]]))
            if any(found.group_of(one) == chosen[0].index for one, _ in found.options.joined):
                add_action(menu, tr("Take apart again"), partial(self._take_apart, chosen[0].index), "undo-2")
        elif typical:
            add_action(menu, worded("Join these {n} groups", n=len(typical)), partial(self._join, typical), "layers")
        add_action(menu, tr("Show in table"), partial(self._show_at, self.rows_wanted), "table")
        add_action(menu, tr("Show on the map"), partial(self._show_at, self.map_wanted), "chart-scatter")

    def _fill_member_menu(self, menu: QMenu, _: int) -> None:
        items = [self.members.items[index] for index in self.members.table.selected_rows()]
        back = set(items) & set(self.job.options.grouping.removed)
        if self._item > 0 and items:
            action = add_action(menu, tr("Remove from this group"), self.remove, "minus")
            action.setShortcut(QKeySequence(Qt.Key.Key_Delete))
        elif back:
            add_action(menu, tr("Put back into its group"), partial(self._put_back, tuple(back)), "undo-2")

    # By column

    async def _show_columns(self) -> None:
        self.column_choice.refill(await in_thread(column_choices, self.embeddings))
        self.picture.set_name(worded("{name}, groups by column", name=self.job.name))
        await self._show_column()

    async def _show_column(self) -> None:
        """Show the shares of the chosen column, and its cells beside the texts."""
        found, embeddings, index = self.found, self.embeddings, self.column_choice.value()
        if found is None or not isinstance(index, int):
            self._arrange()
            return
        if self._values[0] != index:
            self._values = index, await in_thread(embeddings.column, index)
            chosen = embeddings.columns()[index]
            own = results_page.original_columns(embeddings.columns(), lambda each: each.text.cells, width=110)
            columns = [replace(each, hidden=each.title != chosen, gives_way=True) for each in own]
            self.members.show_columns(
                (text_column(), *columns, ScoreColumn(tr("Likeness"), lambda each: each.similarity, width=88))
            )
        values = [self._values[1][item - 1] for item in found.item_numbers.tolist()]
        names, counts = await in_thread(share_table, found.members, len(found.groups), values)
        words = [tr("others") if name is None else name or tr("empty") for name in names]
        groups = [each.name for each in found.groups]
        self.bars.show_table(groups, words, counts, has_others=None in names)
        self._arrange()
        if (row := self.table.currentIndex().row()) >= 0:
            self._picked(row)

    def _unit_picked(self) -> None:
        self.bars.show_counts(self.unit.value == COUNTS)
