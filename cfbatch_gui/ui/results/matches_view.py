"""The matches of a job: the threshold over the scores of all rows, the rows of list A beside those of list B that they
get, and the candidates of the chosen row. With one list, the rows that are related to each of its rows.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAccessible, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QStackedWidget, QWidget

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.list_rows import ListColumns, ListRow
from cfbatch_gui.core.results.matches import MATCHED, UNMATCHED, Matches, MatchState
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.match_page import MatchPage, MatchRow, or_none, show_axis, text_title
from cfbatch_gui.ui.results.results_page import labelled, named_cells, original_columns
from cfbatch_gui.ui.tables.cells import CellDelegate
from cfbatch_gui.ui.tables.table_rows import Column, Index, NumberColumn, PagedRows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import ColumnsButton, TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import Label, LinkButton, boxed, column, line, row
from cfbatch_gui.ui.widgets.bars import Bar
from cfbatch_gui.ui.widgets.marks import Mark, MarkedText, differing_marks
from cfbatch_gui.ui.widgets.threshold import ScoreField, ThresholdSlider
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import one_line, score_text, worded
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.matches import MatchLook, doubt_words, match_look, numbers_line
from cfbatch_gui.words.states import is_practice, short_model

A, B = "list-a", "list-b"  # the icons of the lists
_NARROW = 900  # pixels of a page in which the panel stands below the table
_TABLE, _PANEL, _PANE = 723, 366, 132  # widths, and the height of the panel below the table
_LONGEST = 2_000  # characters of a text in the panel


class MatchCells(CellDelegate):
    """Marks numbers that differ, and cuts texts in the middle: sizes stand at their end."""

    elided, sample = Qt.TextElideMode.ElideMiddle, score_text(1.0)
    of_b = -1  # the column with the text of list B
    has_texts = True

    def marks(self, index: Index, shown: str) -> list[Mark]:
        model = index.model()
        if not isinstance(model, PagedRows) or index.column() != self.of_b:
            return []
        match: MatchRow = model.row(index.row())
        if match.b is None or not self.has_texts:
            return []
        return differing_marks(shown, one_line(match.b.text, 400), match.a.text)


class CountCard(widgets.ChoiceCard):
    """How many rows are so, and the choice of these alone."""

    def __init__(self, word: str, role: str = "") -> None:
        self._number = Label("", "figure")
        legend = row(*([widgets.IconLabel("square", role, 10)] if role else []), Label(word, "small"), None, gap=6)
        content = column(None, self._number, legend, None, gap=2, margins=(MEDIUM, TINY, MEDIUM, TINY))
        content.addStrut(scaled(90 if role else 74) - 2 * MEDIUM)
        super().__init__("circle", word, "", content)
        self.setMinimumHeight(scaled(69))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def keep_room(self, most: int) -> None:
        self._number.setMinimumWidth(self._number.fontMetrics().horizontalAdvance(figures.number(most)))

    def show_count(self, count: int) -> None:
        self._number.setText(figures.number(count))
        self.setAccessibleDescription(figures.number(count))


class Counts(QWidget):
    """As high as its lines are now: a page whose height went by its width would never be lower than it likes to be."""

    def hasHeightForWidth(self) -> bool:
        return False


class CandidateCard(widgets.Clickable):
    """A candidate, taken by a click or by its digit."""

    accessible_role = QAccessible.Role.Button

    def __init__(self, number: int) -> None:
        super().__init__()
        self.setProperty("kind", "choice")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.key = Label(str(number))
        self.key.setProperty("kind", "key")
        self._text, self._score, self._bar = MarkedText("", has_more=True), Label(), Bar()
        self._bar.setFixedSize(44, 6)
        self._numbers = widgets.StateLabel()
        self._numbers.setProperty("kind", "remark")
        score = column(None, self._score, self._bar, None, gap=TINY)
        words = column(row((self._text, 1), score), row(self._numbers, None), gap=2)
        self.setLayout(row(column(self.key, None), (words, 1), margins=(MEDIUM, SMALL, MEDIUM, SMALL)))

    def show_candidate(self, a: ListRow, b: ListRow, cells: str, score: float, *, is_taken: bool, marked: bool) -> None:
        self._text.show_text(b.text, than=a.text if marked else b.text, more=cells)
        self._score.setText("" if math.isnan(score) else score_text(score))
        self._bar.share, self._bar.is_selected = 0.0 if math.isnan(score) else score, is_taken
        self._bar.update()
        words, differs = numbers_line(a.text, b.text) if marked else ("", False)
        self._numbers.remark(words, "triangle-alert" if differs else "check", is_urgent=differs)
        self.setAccessibleName(f"{self.key.text()}: {b.text}, {self._score.text()}. {words}")
        widgets.restyle(self, "selected", "true" if is_taken else "false")


class MatchPanel(QWidget):
    """The chosen row and its best candidates. `decided` brings the row of B that was taken, -1 for none of them, None
    for a decision that was taken back.
    """

    decided = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.candidates: list[tuple[int, float]] = []  # those that are shown, the one that was taken or the best first
        self._shows_all = False
        self._show_again: Callable[[], object] = int
        self._badges = [widgets.IconLabel(icon, "accent", 18) for icon in (A, B)]
        self._row, self.state = Label("", "strong"), widgets.StateLabel()
        self.state.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.state.setContentsMargins(6, 2, 6, 2)
        self._text, self._cells = Label("", wrap=True), Label("", "small", wrap=True)
        self._text.setProperty("kind", "large")
        self._error, self._best = Label("", "attention", wrap=True), Label("", "strong")
        self._why = widgets.ElidedLabel("", "small")
        self._why.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.cards: list[CandidateCard] = []
        self._cards = column(gap=SMALL)
        self.accept_button = widgets.KeyedButton(tr("Accept"), "check", tr("Enter"), partial(self.take, 0))
        self.none_button = widgets.KeyedButton(tr("None"), "x", "0", lambda: self.decided.emit(-1))
        self.back_link = LinkButton(tr("Take back"), "undo-2", lambda: self.decided.emit(None))
        self.all_link = LinkButton(on_click=self._show_all)
        head = row(self._badges[0], self._row, None, self.state)
        about = column(head, self._text, self._cells, self._error, gap=6)
        best = row(self._badges[1], self._best, (self._why, 1), self.back_link)
        buttons = widgets.Flow(self.accept_button, self.none_button, None, self.all_link)
        self._buttons = column(boxed(buttons))
        self._parts = boxed(about), boxed(column(best, self._cards, gap=SMALL)), boxed(self._buttons)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(LARGE, MEDIUM, WIDE, MEDIUM)
        self._grid.setSpacing(MEDIUM)
        self._grid.setHorizontalSpacing(WIDE)
        self._whole = column((widgets.scrolled(boxed(self._grid)), 1), gap=0)
        self.setLayout(self._whole)
        self.set_beside(False)

    def set_beside(self, is_beside: bool) -> None:
        """Whether the candidates stand beside the row, for a low place."""
        about, best, buttons = self._parts
        self._grid.addWidget(about, 0, 0)
        self._buttons.setContentsMargins(*((0, 0, 0, 0) if is_beside else (LARGE, SMALL, WIDE, SMALL)))
        if is_beside:
            self._grid.addWidget(buttons, 1, 0)
        else:
            self._whole.addWidget(buttons)
        self._grid.addWidget(best, *((0, 1, 4, 1) if is_beside else (1, 0, 1, 1)), Qt.AlignmentFlag.AlignTop)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, int(is_beside))
        self._grid.setRowStretch(3, 1)

    def take(self, at: int) -> None:
        if at < len(self.candidates):
            self.decided.emit(self.candidates[at][0])

    def show_row(self, read: Matches, match: MatchRow, best: int) -> None:
        index = match.at
        self._show_again = partial(self.show_row, read, match, best)
        look = match_look(MatchState(read.states[index]))
        self._row.setText(worded("Row {n}", n=match.a.row))
        self.state.set_state(look.word, look.icon, look.role)
        widgets.restyle(self.state, "chip", look.role)
        self._text.setText(match.a.text[:_LONGEST])
        cells = _cells_line(read.columns_a, match.a, named=True)
        self._cells.say(cells)
        self._error.say(match.a.error)
        doubts = read.doubts(index) if read.states[index] == MatchState.CHECK else ()
        self._why.setText(" · ".join(map(doubt_words, doubts)))
        self._show_candidates(read, match, best)
        for part in (self.accept_button, self.none_button):
            part.setVisible(read.can_be_decided and bool(self.candidates))
        self.back_link.setVisible(index in read.decided)
        for badge in self._badges:
            badge.setVisible(not read.is_related)

    def _show_candidates(self, read: Matches, match: MatchRow, best: int) -> None:
        options, taken = read.options(match.at), int(read.chosen[match.at])
        if taken >= 0 and taken not in dict(options):
            options.insert(0, (taken, math.nan))
        self.candidates = options if self._shows_all else options[:best]
        if taken >= 0 and taken not in dict(self.candidates):
            self.candidates = [*self.candidates[:-1], next(each for each in options if each[0] == taken)]
        self._best.setText(worded("The best {n}", n=len(self.candidates)) if self.candidates else tr("No candidates"))
        self.all_link.setText(tr("Fewer") if self._shows_all else worded("All {n}…", n=len(options)))
        self.all_link.setVisible(len(options) > best)
        rows = read.rows_b([other for other, _ in self.candidates])
        while len(self.cards) < len(rows):
            card = CandidateCard(len(self.cards) + 1)
            card.clicked.connect(partial(self.take, len(self.cards)))
            self.cards.append(card)
            self._cards.addWidget(card)
        for at, card in enumerate(self.cards):
            card.setVisible(at < len(rows))
            card.key.setVisible(at < 9 and not read.is_related)
            if at < len(rows):
                (other, score), b = self.candidates[at], rows[at]
                cells = _cells_line(read.columns_b, b)
                marked, is_taken = read.has_texts, other == taken and not read.is_related
                card.show_candidate(match.a, b, cells, score, is_taken=is_taken, marked=marked)

    def _show_all(self) -> None:
        self._shows_all = not self._shows_all
        self._show_again()


def _cells_line(columns: ListColumns, of: ListRow, *, named: bool = False) -> str:
    if len(of.cells) != len(columns.names):  # texts that were removed
        return of.id
    names, cells = ([each[at] for at in columns.others] for each in (columns.names, of.cells))
    return named_cells(names, cells) if named else " · ".join(filter(None, cells))


class ThresholdCard(widgets.Card):
    """From which score on a row is matched, over the scores of all rows, and how many rows that makes. `moved` brings
    another threshold, None for the proposed one, `picked` the states whose rows are to be shown.
    """

    moved, picked = Signal(object), Signal(object)

    def __init__(self) -> None:
        super().__init__(inset=True, margins=(20, MEDIUM, LARGE, SMALL))
        words = tr("A match from")
        self.field = ScoreField(words, 80)
        self.field.valueChanged.connect(self.moved.emit)
        self.propose_link = LinkButton(tr("as proposed"), on_click=lambda: self.moved.emit(None))
        self._proposed = QStackedWidget()  # of one size
        for each in (widgets.IconLine(tr("as proposed"), "check", wrap=False), self.propose_link):
            self._proposed.addWidget(each)
        self.slider = ThresholdSlider(words, ("quiet", "attention", "accent"))
        for moved in (self.slider.valueChanged, self.slider.sliderReleased):
            moved.connect(lambda *_: self.moved.emit(self.slider.value() / 100))
        self.counts: dict[tuple[MatchState, ...], CountCard] = {
            tuple(MatchState): CountCard(tr("all")),
            MATCHED: CountCard(tr("matched"), "accent"),
            (MatchState.CHECK,): CountCard(tr("to check"), "attention"),
            UNMATCHED: CountCard(tr("without"), "quiet"),
        }
        for states, card in self.counts.items():
            card.chosen.connect(partial(self.pick, states))
        field = column(Label(words, "small"), self.field, self._proposed, None, gap=6)
        counts = Counts()
        counts.setLayout(widgets.Flow(*self.counts.values()))
        self._parts = boxed(field), self.slider, counts
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(WIDE)
        self._grid.setVerticalSpacing(MEDIUM)
        self._grid.setColumnStretch(1, 1)
        self.body.addLayout(self._grid)
        self.set_narrow(False)

    def set_narrow(self, is_narrow: bool) -> None:
        field, slider, counts = self._parts
        end = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        self._grid.addWidget(field, 0, 0)
        self._grid.addWidget(slider, *((1, 0, 1, 3) if is_narrow else (0, 1, 1, 1)))
        self._grid.addWidget(counts, 0, *((1, 1, 2) if is_narrow else (2, 1, 1)), end)

    def pick(self, states: tuple[MatchState, ...]) -> None:
        self.counts[states].set_chosen(True)
        self.picked.emit(states)

    def show_axis(self, read: Matches) -> None:
        show_axis(self.slider, read)
        self.counts[(MatchState.CHECK,)].setVisible(not read.is_related)
        for card in self.counts.values():
            card.keep_room(len(read.items_a))

    def show_matches(self, read: Matches, *, is_proposed: bool) -> None:
        with QSignalBlocker(self.field), QSignalBlocker(self.slider):
            self.field.setValue(read.threshold)
            self.slider.setValue(round(read.threshold * 100))
        self._proposed.setCurrentIndex(int(not is_proposed))
        for states, card in self.counts.items():
            card.show_count(int(np.isin(read.states, states).sum()))
        has_score = np.isfinite(read.scores)
        self.slider.show_scores(
            *(read.scores[has_score & np.isin(read.states, states)] for states in reversed(list(self.counts)[1:]))
        )


class MatchesView(MatchPage):
    """The matches of two lists, or the related rows of one."""

    def __init__(self, program: Program, notices: Notices) -> None:
        table = TableView("matches", tr("Matches"))
        super().__init__(program, notices, "link", table, tr("Find in both lists"))
        self._states: tuple[MatchState, ...] = tuple(MatchState)
        self.card = ThresholdCard()
        self.slider = self.card.slider
        self.card.moved.connect(self.threshold_moved)
        self.card.picked.connect(self._states_picked)
        self._cells = self.table.cells = MatchCells(self.table)
        self.table.setItemDelegate(self._cells)
        orders = ((tr("as in your file"), "file"), (tr("most doubtful first"), "doubt"), (tr("by score"), "score"))
        self.order = widgets.Choice(tr("Order"), orders, lambda _: self.fill())
        self.panel = MatchPanel()
        self.panel.decided.connect(self._decide)
        self._lay_out()
        self.add_keys(self._split, self.panel.take, self.panel.none_button.click)

    def _lay_out(self) -> None:
        bar = widgets.Flow(self.find_field, labelled(tr("Order"), self.order), None, ColumnsButton(self.table))
        self._table_stack = widgets.MaybeEmpty("funnel", self.table)
        left = column(column(boxed(bar), margins=(WIDE, SMALL, MEDIUM, SMALL)), (self._table_stack, 1), gap=0)
        self._split = widgets.split(boxed(left), self.panel, sizes=(_TABLE, _PANEL), name="matches", stretched=0)
        top = column(self.card, margins=(WIDE, MEDIUM, WIDE, MEDIUM))
        help_link = LinkButton(tr("What is a score?"), on_click=self.matching_help_wanted.emit)
        self.lay_out(boxed(column(top, line(), (self._split, 1), gap=0)), beside_foot=[help_link], side=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < scaled(_NARROW)
        is_below = self._split.orientation() == Qt.Orientation.Vertical
        if is_narrow != is_below:
            self.card.set_narrow(is_narrow)
            self.panel.set_beside(is_narrow)
            self._split.setOrientation(Qt.Orientation.Vertical if is_narrow else Qt.Orientation.Horizontal)
            self._split.setSizes([10 * _PANE, scaled(_PANE)] if is_narrow else [_TABLE, _PANEL])

    def title(self) -> str:
        """What is shown is called so."""
        return tr("Related rows") if self.matches is not None and self.matches.is_related else tr("Matches")

    def begin(self, job: Job) -> None:
        super().begin(job)
        self.card.pick(tuple(MatchState))

    async def show_read(self, job: Job, read: Matches | None) -> None:
        is_first, self.matches = self.matches is None, read
        if read is None or not job.has_results or not len(read.items_a):
            self.say_nothing_yet(job)
            return
        if is_first:
            self._cells.of_b, self._cells.has_texts = 2 + len(read.columns_a.others), read.has_texts
            self.show_columns(read)
            hint = tr("Find in texts and ids") if read.is_related else tr("Find in both lists")
            self.find_field.setPlaceholderText(hint)
            self.find_field.setAccessibleName(hint)
        self.card.show_axis(read)
        self.stack.show_content()
        await self.find_text(self.find_field.text())
        self.show_changed(read)

    # The table

    def columns(self, read: Matches) -> tuple[Column[MatchRow], ...]:
        looks = [match_look(state) for state in MatchState]
        most = figures.number(len(read.items_a) + 1)
        badges = ("", "") if read.is_related else (A, B)
        titles = [text_title(columns) for columns in (read.columns_a, read.columns_b)]
        return (
            NumberColumn("", lambda match: match.a.row, width=42, widest=(most,), colour=lambda _: "quiet"),
            Column(titles[0], lambda match: match.a.text, stretch=True, is_searched=True, badge=badges[0]),
            *_other_columns(read.columns_a, badges[0], lambda match: match.a),
            Column(
                tr("Most alike") if read.is_related else titles[1],
                lambda match: match.b.text if match.b is not None else None,
                stretch=True,
                is_searched=True,
                badge=badges[1],
                colour=lambda match: "quiet" if self.is_without(match) else "text",
            ),
            *_other_columns(read.columns_b, badges[1], lambda match: match.b),
            ScoreColumn(
                tr("Score"),
                self.score,
                width=121,
                least=72,
                align="left",
                bar=self.score,
                colour=lambda match: "quiet" if self.is_without(match) else "text",
                tip=tr("How much alike both texts are: 1 is the same meaning, 0 has nothing to do with it."),
            ),
            ScoreColumn(
                tr("Margin"),
                lambda match: or_none(self.now.margins[match.at].item()),
                width=70,
                gives_way=True,
                tip=tr("How far the first stands before the second. Small margins are close calls."),
            ),
            Column(
                tr("State"),
                lambda match: self._look(match).word,
                width=106,
                widest=[look.word for look in looks],
                icon=lambda match: self._look(match)[1:],
                colour=lambda match: self._look(match).role,
            ),
        )

    def _look(self, match: MatchRow) -> MatchLook:
        return match_look(MatchState(self.now.states[match.at]))

    def fill(self) -> None:
        if (read := self.matches) is None:
            return
        kept = np.isin(read.states, self._states)
        rows = np.flatnonzero(kept if self._found is None else kept & self._found)
        if self.order.value() == "score":
            rows = rows[np.argsort(-read.scores[rows], kind="stable")]
        elif self.order.value() == "doubt":
            how_sure = np.fmin(read.margins, np.abs(read.scores - read.threshold))
            rows = rows[np.lexsort((how_sure[rows], read.states[rows] != MatchState.CHECK))]
        self.panel.setVisible(len(rows) > 0)
        self.show_only(rows)
        if len(rows):
            self._table_stack.show_content()
        else:
            self._table_stack.show_sentence(tr("There is no such row."))

    def show_row(self, match: MatchRow) -> None:
        if self.shown is not None:
            self.panel.show_row(self.now, match, self.shown.options.matching.best)

    def _states_picked(self, states: tuple[MatchState, ...]) -> None:
        self._states = states
        self.fill()

    def show_matches(self, read: Matches) -> None:
        self.card.show_matches(read, is_proposed=read.threshold == read.baseline.proposed)
        self._show_foot(read)

    def _show_foot(self, read: Matches) -> None:
        if self.shown is None:
            return
        words = [tr("Each row has beside it the rows of the same list that are most like it.")]
        if not read.is_related:
            words = [tr("A keeps its order and its columns.")]
        if not read.is_related and (count := len(read.unmatched_b())):
            words.append(worded("Rows of B that none matches: {n}. Export puts them on a second sheet.", n=count))
        if read.each_once and not read.is_exact:
            words.append(tr("Each row of B is given once, the best pairs first."))
        if is_practice(self.shown):
            words.append(worded("Practice vectors, not of {model}.", model=short_model(self.shown)))
        self.foot.set_line(" ".join(words), "info")

    def _decide(self, other: int | None) -> None:
        if self.panel.candidates:
            self.decide(other)


def _other_columns(
    columns: ListColumns, badge: str, of: Callable[[MatchRow], ListRow | None]
) -> Iterator[Column[MatchRow]]:
    def cells(match: MatchRow) -> Sequence[str]:
        found = of(match)
        return [found.cells[at] for at in columns.others] if found is not None and found.cells else ()

    names = [columns.names[at] for at in columns.others]
    return (replace(each, badge=badge) for each in original_columns(names, cells, width=120))
