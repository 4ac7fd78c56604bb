"""The categories of a job: how many rows got which, the rows of each with their second best, how often that agrees with
what is known to be right, and the categories themselves, which can be changed.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPoint, QRect, QRectF, QSignalBlocker, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHeaderView, QMenu, QStyle, QStyleOptionViewItem, QWidget

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results import categories as core
from cfbatch_gui.core.results.matches import Matches, MatchState
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.core.workers_ai.catalogue import find_model, price
from cfbatch_gui.core.workers_ai.estimate import tokens_upper
from cfbatch_gui.ui import theme, widgets
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.match_page import MatchPage, MatchRow, or_none, show_axis, text_title
from cfbatch_gui.ui.results.results_page import original_columns
from cfbatch_gui.ui.tables.cells import CELL_MARGIN, CellDelegate
from cfbatch_gui.ui.tables.table_rows import (
    ALIGN_ROLE,
    BAR_ROLE,
    COLOUR_ROLE,
    Column,
    Index,
    NumberColumn,
    Rows,
    ScoreColumn,
)
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import ElidedLabel, Flow, IconLabel, Label, LinkButton, boxed, column, line, row
from cfbatch_gui.ui.widgets.bars import Bar, paint_bar
from cfbatch_gui.ui.widgets.category_lines import CategoryLines
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order
from cfbatch_gui.ui.widgets.marks import MarkedText
from cfbatch_gui.ui.widgets.threshold import ScoreField, ScoreSlider
from cfbatch_gui.words.categories import agreement_words, category_lines
from cfbatch_gui.words.figures import about_dollars, number, one_line, percent, plural, score_text, worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import is_practice, short_model

_NARROW = 900  # pixels of a page
_LEFT, _NARROW_LEFT, _RIGHT = 291, 210, 798
_ROW, _BAR = 49, 6
_NONE = -1  # the index of none of these
_BEST = 3  # in the card of a row


class CategoryRow(NamedTuple):
    at: int
    name: str
    rows: int
    share: float  # of all rows
    bar: float  # of the largest one


class CategoryCells(CellDelegate):
    """One bar below all cells of a row; none of these has a rule above it."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        box, role = option.rect, str(index.data(COLOUR_ROLE) or "text")
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setClipRect(box)
        painter.fillRect(box, theme.colour("selection" if is_selected else "card"))
        painter.fillRect(QRect(box.left(), box.bottom(), box.width(), 1), theme.colour("line"))
        if role == "quiet":
            painter.fillRect(QRect(box.left(), box.top() - 1, box.width(), 2), theme.colour("quiet"))
        bottom = box.bottom() - scaled(10)
        words = QRect(box.left(), box.top() + 4, box.width(), bottom - _BAR - box.top() - 4)
        is_name = index.column() == 0
        words.adjust(CELL_MARGIN if is_name else 0, 0, -4 if is_name else -CELL_MARGIN, 0)
        painter.setPen(theme.colour("quiet" if index.column() > 1 else role))
        painter.setFont(option.font)
        side = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag(index.data(ALIGN_ROLE)))
        shown = painter.fontMetrics().elidedText(one_line(str(index.data())), self.elided, words.width())
        painter.drawText(words, side | Qt.AlignmentFlag.AlignAbsolute, shown)
        table = self.parent()
        width = table.viewport().width() if isinstance(table, TableView) else 0
        track = QRectF(CELL_MARGIN, bottom - _BAR, width - 2 * CELL_MARGIN, _BAR)
        share, look = float(index.data(BAR_ROLE)), "quiet" if role == "quiet" else "accent"
        paint_bar(painter, track, share, option.direction, role=look, is_selected=is_selected)
        painter.restore()


class IntervalBar(QWidget):
    """A share, and the interval that it may lie in, from 0 to 1."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(scaled(120), scaled(14))
        self._ends, self._share = (0.0, 0.0), 0.0

    def show_share(self, share: float, low: float, high: float) -> None:
        self._share, self._ends = share, (low, high)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            middle, width = self.height() / 2, self.width() - 8
            paint_bar(painter, QRectF(0, middle - 2, self.width(), 4), 0.0, Qt.LayoutDirection.LeftToRight)
            painter.setBrush(theme.faded("accent", 0.4))
            left, right = (4 + width * end for end in self._ends)
            painter.drawRoundedRect(QRectF(left - 4, middle - 4, right - left + 8, 8), 4, 4)
            painter.setBrush(theme.colour("accent"))
            painter.drawEllipse(QRectF(width * self._share, middle - 4, 8, 8))


class CategoriesDialog(Dialog):
    """Edits the categories of a job, which is `job` with the new ones once it was accepted."""

    def __init__(self, parent: QWidget, program: Program, job: Job, lines: Sequence[str]) -> None:
        title = tr("Edit categories") if lines else tr("Type the categories")
        super().__init__(title, parent, (560, 480))
        self._program, self.job = program, job
        self.tasks = Tasks(self, lambda error: self.problem.set_line(said(error.message)))
        self.lines = CategoryLines(self._look)
        self.lines.show_text("\n".join(category_lines(lines)))
        self.sent, self.problem = widgets.IconLine("", "send"), widgets.Saying("circle-x", "error", "body")
        self.accept_button = widgets.PrimaryButton(tr("Sort into these"), "tag", self._begin)
        self.lay_out(title, (self.lines, 1), self.sent, self.problem, buttons=[self.accept_button])
        follow_in_tab_order(self.lines.field, self.close_button, self.accept_button)
        self.lines.field.setFocus()
        self._look(self.lines.text())

    def _look(self, text: str) -> None:
        """Say what will be sent for these."""
        self.problem.hide()
        self.tasks.start("look", self._count(text.splitlines()))

    async def _count(self, lines: Sequence[str]) -> None:
        found = core.parse_categories(lines)
        self.accept_button.set_possible("" if len(found) > 1 else tr("Type at least two categories, one a line."))
        folder = self._program.folder(self.job.id)
        unknown = frozenset(await asyncio.to_thread(core.unknown_sentences, folder, self.job, lines))
        new = sum(not unknown.isdisjoint(each.sentences) for each in found)
        words = [plural(len(found), "{n} category", "{n} categories")]
        cost = price(sum(map(tokens_upper, unknown)), find_model(self.job.model))
        sent = plural(new, "sends the words of {n} category", "sends the words of {n} categories")
        words.append(sent if unknown else tr("nothing is sent for these"))
        if unknown and cost.is_listed and not is_practice(self.job):
            words.append(worded("one request, about {price}", price=about_dollars(cost.dollars)))
        self.sent.set_line(" · ".join(words))

    def _begin(self) -> None:
        if not self.tasks.is_running("sort"):
            self.tasks.start("sort", self._sort())

    async def _sort(self) -> None:
        program, lines = self._program, self.lines.text().splitlines()
        self.accept_button.set_possible(tr("The words are on their way."))
        try:
            client = program.address_book.client
            self.job = await core.sort_into(client, program.drafts, self.job, lines, now=program.clock())
            self.accept()
        finally:
            self.accept_button.set_possible("")


class ConfusionsDialog(Dialog):
    def __init__(self, parent: QWidget, found: core.Agreement, column_title: str) -> None:
        super().__init__(tr("Who is taken for whom"), parent, (560, 420))
        none = tr("None of these")
        columns: tuple[Column[tuple[str, str, int]], ...] = (
            Column(column_title, lambda each: each[0] or none, stretch=True),
            Column(tr("Given"), lambda each: each[1] or none, stretch=True),
            NumberColumn(tr("Rows"), lambda each: each[2], width=72),
        )
        table = TableView("", self.windowTitle(), Rows(columns, found.confusions), inset=True)
        self.lay_out(self.windowTitle(), (table, 1))


class CategoriesView(MatchPage):
    """What is chosen in the list at the left, or looked for, or decided otherwise by the user's own column."""

    goes_on = True

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "tag", TableView("categories/rows", tr("Rows")), tr("Find in all rows"))
        self._category, self._order = 0, [0]  # the chosen one, and the indices of all in the order of the list
        self._right: tuple[str, ...] = ()  # by row of A, while a column says it
        self._column, self._without = "", ""  # the column, and the job for which none is wanted
        self._agreement: core.Agreement | None = None
        self._wrong: frozenset[int] = frozenset()  # the rows that it counts as wrong
        self._shows_wrong = False
        self._make_head()
        self.list_rows = Rows(_list_columns(), key=lambda each: each.at)
        self.list = TableView("", tr("Categories"), self.list_rows, on_picked=self._category_picked)
        self.list.setItemDelegate(CategoryCells(self.list))
        self.list.setSelectionMode(TableView.SelectionMode.SingleSelection)
        self.list.verticalHeader().setDefaultSectionSize(scaled(_ROW))
        self.list.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._make_card()
        add = LinkButton(tr("Add a category"), "plus", self.edit)
        below = boxed(Flow(add, Label(tr("sends its words only"), "small")))
        left = column((self.list, 1), column(below, margins=(WIDE, SMALL, SMALL, SMALL)), gap=0)
        self.name, self.about = Label("", "strong"), ElidedLabel("", "quiet")
        self.check_link = LinkButton("", "circle-help", self._review_category)
        head = row(self.name, (self.about, 1), self.find_field, self.check_link, margins=(LARGE, SMALL, WIDE, SMALL))
        self._table_stack = widgets.MaybeEmpty("tag", self.table)
        right = column(head, (self._table_stack, 1), column(self.card, margins=(LARGE, MEDIUM, WIDE, MEDIUM)), gap=0)
        self._split = widgets.split(boxed(left), boxed(right), sizes=(_LEFT, _RIGHT), name="categories", stretched=1)
        top = column(self._bar, self.strip, gap=MEDIUM, margins=(WIDE, MEDIUM, WIDE, MEDIUM))
        help_link = LinkButton(tr("What is a score?"), on_click=self.matching_help_wanted.emit)
        self.lay_out(boxed(column(top, line(), (self._split, 1), gap=0)), beside_foot=[help_link], side=0)
        self.add_keys(self._split, self._take, lambda: self.decide(_NONE))

    def _make_head(self) -> None:
        words = tr("A category from")
        self.field, self.slider = ScoreField(words, 80), ScoreSlider(words, 220)
        self.field.valueChanged.connect(self.threshold_moved)
        for moved in (self.slider.valueChanged, self.slider.sliderReleased):
            moved.connect(lambda *_: self.threshold_moved(self.slider.value() / 100))
        self.reason = Label("", "small")
        self.propose_link = LinkButton(tr("as proposed"), on_click=lambda: self.threshold_moved(None))
        self.edit_button = widgets.Button(tr("Edit categories…"), "pencil", self.edit)
        slider = boxed(row(Label(words, "quiet"), self.field, self.slider, gap=MEDIUM))
        self._bar = boxed(Flow(slider, self.reason, self.propose_link, None, self.edit_button, gap=MEDIUM))
        self.agrees, self.interval = widgets.Phrase(), IntervalBar()
        ends = row(Label("0", "small"), self.interval, Label(percent(1.0), "small"))
        self._interval = boxed(ends)
        self.wrong_link = LinkButton(on_click=self._show_wrong)
        self.confusions_link = LinkButton(tr("Who is taken for whom"), on_click=self._show_confusions)
        self.check_rows_link = LinkButton(on_click=self._check_rows)
        self.column_button = widgets.MoreButton(tr("The column with the right categories"))
        self.column_button.menu().aboutToShow.connect(self._fill_columns)
        self._mark = IconLabel("circle-check", "accent", 16)
        sentence = boxed(row(self._mark, self.agrees))
        links = row(self.wrong_link, self.confusions_link, self.check_rows_link, self.column_button, gap=MEDIUM)
        parts = Flow(sentence, self._interval, None, boxed(links), gap=MEDIUM)
        self.strip = widgets.Card(boxed(parts), inset=True, margins=(LARGE, SMALL - 1, SMALL, SMALL - 1))

    def _make_card(self) -> None:
        self.row_name, self.cells = Label("", "strong"), ElidedLabel("", "small")
        tip = tr("Keys 1 to 9 take the best ones, 0 none")
        self.move_link = LinkButton(tr("Move to another category…"), on_click=self._offer_moves, tip=tip)
        self.text = MarkedText("")
        grid = QGridLayout()
        grid.setVerticalSpacing(TINY)
        grid.setHorizontalSpacing(LARGE)
        grid.setColumnStretch(0, 1)
        self.best = [(ElidedLabel(), Bar(), Label()) for _ in range(_BEST)]
        for at, parts in enumerate(self.best):
            parts[0].setMinimumWidth(scaled(90))
            parts[1].setFixedSize(scaled(80), _BAR)
            for place, part in enumerate(parts):
                grid.addWidget(part, at, place, Qt.AlignmentFlag.AlignVCenter)
        head = row(self.row_name, (self.cells, 1), self.move_link)
        body = row((column(self.text, None), 1), (boxed(grid), 1), gap=WIDE)
        self.card = widgets.Card(head, body, inset=True, gap=TINY, margins=(LARGE, SMALL, LARGE, MEDIUM))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < scaled(_NARROW)
        header = self.list.horizontalHeader()
        self.list.setMinimumWidth(header.sectionSizeHint(0) + header.sectionSize(1) + 2 * WIDE)
        if is_narrow is self.list.isColumnHidden(2):
            return
        self._split.setSizes([_NARROW_LEFT if is_narrow else _LEFT, _RIGHT])
        self.list.setColumnHidden(2, is_narrow)
        for part in (self.about, *(bar for _, bar, _ in self.best)):
            part.setVisible(not is_narrow)

    def title(self) -> str:
        return tr("Categories")

    # Reading

    def begin(self, job: Job) -> None:
        super().begin(job)
        self._category, self._shows_wrong = -2, False

    async def read(self, job: Job) -> Matches | None:
        folder = self.program.folder(job.id)
        if not await in_thread(core.lines_of, folder, job):
            return None
        if (read := await super().read(job)) is not None:
            self._column = job.options.sorting.right_column
            if not self._column and self._without != job.id:
                self._column = await in_thread(core.proposed_column, read)
            self._right = await in_thread(core.right_names, read, self._column) if self._column else ()
        return read

    async def show_read(self, job: Job, read: Matches | None) -> None:
        self.matches = read
        if read is None:
            words = tr("Type the categories into which the rows are to be sorted. Only their own words are sent.")
            self.say(words, tr("Type the categories…"), self.edit)
            self._around[1].hide()
            return
        if not job.has_results or not len(read.items_a):
            self.say_nothing_yet(job)
            return
        show_axis(self.slider, read)
        self.stack.show_content()
        self._row = min(self._row, len(read.items_a) - 1)
        await self.find_text(self.find_field.text())
        self.show_changed(read)

    # The rows

    def columns(self, read: Matches) -> tuple[Column[MatchRow], ...]:
        names = [read.columns_a.names[at] for at in read.columns_a.others]
        best = [each.name for each in read.categories or ()]

        def cells(match: MatchRow) -> Sequence[str]:
            return [match.a.cells[at] for at in read.columns_a.others] if match.a.cells else ()

        def is_without(match: MatchRow) -> str:
            return "quiet" if self.is_without(match) else "text"

        def right(match: MatchRow) -> str:
            return self._right[match.at].strip()

        def is_wrong(match: MatchRow) -> bool:
            return match.at in self._wrong

        def look(match: MatchRow) -> tuple[str, str] | None:
            if not right(match):
                return None
            return ("git-compare", "attention") if is_wrong(match) else ("check", "text")

        given: Column[MatchRow] = Column(
            tr("Category"), lambda match: self._name_of(int(self.now.chosen[match.at])), width=150, colour=is_without
        )
        own: Column[MatchRow] = Column(
            tr("Your column"),
            lambda match: right(match) or "–",
            width=146,
            icon=look,
            colour=lambda match: "attention" if is_wrong(match) else "text" if right(match) else "quiet",
            tip=self._column,
        )
        return (
            Column(text_title(read.columns_a), lambda match: match.a.text, stretch=True, is_searched=True),
            *original_columns(names, cells, width=120),
            *([given] if self._is_mixed() else []),
            ScoreColumn(tr("Score"), self.score, width=121, least=72, align="left", bar=self.score, colour=is_without),
            Column(
                tr("Second best"),
                lambda match: self._second(match, best),
                width=150,
                gives_way=True,
                colour=lambda _: "quiet",
            ),
            ScoreColumn(
                tr("Margin"),
                lambda match: or_none(self.now.margins[match.at].item()),
                width=70,
                tip=tr("How far the best category stands before the second. Small margins are close calls."),
            ),
            *([own] if self._right else []),
        )

    def _second(self, match: MatchRow, names: Sequence[str]) -> str:
        given = int(self.now.chosen[match.at])
        others = [other for other, _ in self.now.options(match.at) if other != given]
        at = 1 if given == _NONE else 0
        return names[others[at]] if len(others) > at else ""

    def _name_of(self, category: int) -> str:
        return self.now.categories[category].name if self.now.categories and category >= 0 else tr("None of these")

    def _is_mixed(self) -> bool:
        return self._shows_wrong or self._found is not None

    def fill(self) -> None:
        if (read := self.matches) is None:
            return
        counts = np.bincount(read.chosen + 1, minlength=len(read.categories or ()) + 1)
        by_count = np.argsort(-counts[1:], kind="stable").tolist()
        self._order = [*by_count, _NONE]
        if self._category not in self._order:
            self._category = self._order[0]
        self._show_list(read)
        found = self._agree(read)
        if self._shows_wrong:
            rows = np.array(found.wrong, np.int64)
        elif self._found is not None:
            rows = np.flatnonzero(self._found)
        else:
            rows = np.flatnonzero(read.chosen == self._category)
            rows = rows[np.argsort(-read.scores[rows], kind="stable")]
        self.show_columns(read)
        self.card.setVisible(len(rows) > 0)
        self.show_only(rows)
        if len(rows):
            self._table_stack.show_content()
        else:
            self._table_stack.show_sentence(tr("There is no such row."))
        self._show_head(read)

    def show_matches(self, read: Matches) -> None:
        with QSignalBlocker(self.field), QSignalBlocker(self.slider):
            self.field.setValue(read.threshold)
            self.slider.setValue(round(read.threshold * 100))
        unrelated = number(read.baseline.unrelated, ".2f")
        self.reason.setText(worded("99 of 100 unrelated pairs stay below {n}", n=unrelated))
        self.propose_link.setVisible(read.threshold != read.baseline.proposed)
        self._show_list(read)
        self._show_agreement(read)
        self._show_head(read)
        words = [tr("A row with a small margin stands between two categories. Export adds them beside your columns.")]
        if self.shown is not None and is_practice(self.shown):
            words.append(worded("Practice vectors, not of {model}.", model=short_model(self.shown)))
        self.foot.set_line(" ".join(words), "info")

    def _show_list(self, read: Matches) -> None:
        counts = np.bincount(read.chosen + 1, minlength=len(self._order)).tolist()
        most, total = max(1, *counts), len(read.items_a)
        rows = [
            CategoryRow(at, self._name_of(at), counts[at + 1], counts[at + 1] / total, counts[at + 1] / most)
            for at in self._order
        ]
        with QSignalBlocker(self.list):
            self.list_rows.set_rows(rows)
            if self._is_mixed():
                self.list.clearSelection()
            else:
                self.list.selectRow(self._order.index(self._category))

    def _show_head(self, read: Matches) -> None:
        rows = self._shown_rows
        to_check = int((read.states[rows] == MatchState.CHECK).sum())
        name, about = self._name_of(self._category), tr("below the threshold, or decided so")
        if self._category >= 0 and read.categories:
            about = read.categories[self._category].as_row(0).cells[0]
        if self._is_mixed():
            name, about = plural(len(rows), "{n} row", "{n} rows"), tr("that were found")
            if self._shows_wrong:
                about = tr("that are sorted otherwise")
        self.name.setText(one_line(name, 40))
        self.about.setText(about)
        self.check_link.setText(worded("{n} to check", n=to_check))
        self.check_link.setVisible(to_check > 0)

    def _category_picked(self, index: int) -> None:
        self._category, self._shows_wrong = self.list_rows.row(index).at, False
        if self._found is not None:
            self._found = None
            self.find_field.reset()
        self.fill()

    def _review_category(self) -> None:
        rows = set(self._shown_rows.tolist())
        self.review([row for row in self.now.to_review().tolist() if row in rows])

    # The card of a row, and where it may go

    def show_row(self, match: MatchRow) -> None:
        read, chosen = self.now, int(self.now.chosen[match.at])
        options = read.options(match.at)[:_BEST]
        self.row_name.setText(worded("Row {n}", n=match.a.row))
        cells = [match.a.cells[at] for at in read.columns_a.others] if match.a.cells else []
        self.cells.setText((match.a.error and said(match.a.error)) or " · ".join(filter(None, cells)))
        self.text.show_text(match.a.text)
        self.move_link.setVisible(read.can_be_decided and bool(options))
        for at, (name, bar, score) in enumerate(self.best):
            for part in (name, bar, score):
                part.setVisible(at < len(options))
            bar.setVisible(at < len(options) and not self.about.isHidden())
            if at < len(options):
                name.setText(self._name_of(options[at][0]))
                name.set_role("strong" if options[at][0] == chosen else "body")
                bar.share, bar.role = options[at][1], "accent" if options[at][0] == chosen else "quiet"
                bar.update()
                score.setText(score_text(options[at][1]))

    def _take(self, place: int) -> None:
        options = self.now.options(self._row) if self.matches is not None else []
        if place < len(options):
            self.decide(options[place][0])

    def _offer_moves(self) -> None:
        menu, read = QMenu(self), self.now
        options = [other for other, _ in read.options(self._row)]
        others = [other for other in range(len(read.categories or ())) if other not in options]
        for place, other in enumerate([*options, *others], 1):
            words = one_line(self._name_of(other), 60).replace("&", "&&")
            key = f"\t{place}" if place <= min(9, len(options)) else ""
            is_given = other == read.chosen[self._row]
            widgets.add_action(menu, f"{words}{key}", partial(self.decide, other), checked=is_given)
        menu.addSeparator()
        widgets.add_action(menu, tr("None of these") + "\t0", partial(self.decide, _NONE))
        if self._row in read.decided:
            widgets.add_action(menu, tr("Take back"), partial(self.decide, None), "undo-2")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.move_link.mapToGlobal(QPoint(0, self.move_link.height() + 2)))

    def show_decision(self, index: int, other: int | None) -> None:
        super().show_decision(index, other)
        self.fill()

    # What is right

    def _agree(self, read: Matches) -> core.Agreement:
        found = core.agreement(read, self._right) if self._right else core.agreement_of_checks(read)
        self._agreement, self._wrong = found, frozenset(found.wrong)
        return found

    def _show_agreement(self, read: Matches) -> None:
        found = self._agree(read)
        self.agrees.set_runs(agreement_words(found, self._column if self._right else ""))
        self._mark.set_icon(*(("circle-check", "accent") if found.checked else ("circle-help", "quiet")))
        self._interval.setVisible(found.checked > 0)
        if found.checked:
            self.interval.show_share(found.share, found.low, found.high)
        wrong = len(found.wrong)
        self.wrong_link.setText(plural(wrong, "Show the other one", "Show the other {n}"))
        for link in (self.wrong_link, self.confusions_link):
            link.setVisible(wrong > 0)
        left = [row for row in core.checks(read).tolist() if row not in read.decided]
        self.check_rows_link.setText(plural(len(left), "Check one row by key", "Check {n} rows by key"))
        self.check_rows_link.setVisible(bool(left) and not self._right and read.can_be_decided)
        self.column_button.setVisible(bool(read.columns_a.others))

    def _show_wrong(self) -> None:
        self._shows_wrong = True
        self.fill()

    def _show_confusions(self) -> None:
        if self._agreement is not None:
            ConfusionsDialog(self, self._agreement, self._column or tr("Your decision")).open()

    def _check_rows(self) -> None:
        self.review(core.checks(self.now).tolist())

    def _fill_columns(self) -> None:
        menu, columns = self.column_button.menu(), self.now.columns_a
        menu.clear()
        for name in (columns.names[at] for at in columns.others):
            choose = partial(self._choose_column, name)
            widgets.add_action(menu, one_line(name, 60).replace("&", "&&"), choose, checked=name == self._column)
        menu.addSeparator()
        no_column = tr("No column has the right categories")
        widgets.add_action(menu, no_column, partial(self._choose_column, ""), checked=not self._column)

    def _choose_column(self, name: str) -> None:
        if self.shown is not None:
            self.tasks.start("column", self._use_column(self.shown, name))

    async def _use_column(self, job: Job, name: str) -> None:
        self._without = "" if name else job.id
        right = await in_thread(core.right_names, self.now, name) if name else ()
        if await self.use(job.id, sorting=replace(job.options.sorting, right_column=name)):
            self._column, self._right, self._shows_wrong = name, right, False
            self.fill()
            self.show_changed(self.now)

    # The categories

    def edit(self) -> None:
        if self.shown is not None and not self.tasks.is_running("edit"):
            self.tasks.start("edit", self._edit(self.shown))

    async def _edit(self, job: Job) -> None:
        lines = await in_thread(core.lines_of, self.program.folder(job.id), job)
        dialog = CategoriesDialog(self, self.program, job, lines)
        dialog.accepted.connect(lambda: self._edited(dialog.job, job, can_be_undone=bool(lines)))
        dialog.open()

    def _edited(self, job: Job, before: Job, *, can_be_undone: bool) -> None:
        async def put_back() -> None:
            if await self.use(job.id, sorting=before.options.sorting) and self.shown is not None:
                self.show_job(self.shown)

        self.changed.emit(job)
        if self.shown is not None and self.shown.id == job.id:
            self.show_job(job)
        if can_be_undone:
            self.offer_undo(tr("Undo editing the categories"), "edit", put_back)


def _list_columns() -> tuple[Column[CategoryRow], ...]:
    def role(each: CategoryRow) -> str:
        return "quiet" if each.at == _NONE else "text"

    def bar(each: CategoryRow) -> float:
        return each.bar

    parts: tuple[Column[CategoryRow], ...] = (
        Column(tr("Category"), lambda each: each.name, bar=bar, colour=role),
        NumberColumn(tr("Rows"), lambda each: each.rows, width=52, bar=bar, colour=role),
        NumberColumn(tr("Share"), lambda each: each.share, show=percent, width=56, bar=bar, colour=role),
    )
    return tuple(replace(each, sortable=False) for each in parts)
