"""What is decided by single keys, one after the other: what such pages share, and that of the doubtful matches."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.judgements.review import MOST_OPTIONS, NONE, Asked, Given, Option, Review
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.categories import read_by_purpose
from cfbatch_gui.core.results.list_rows import ListColumns
from cfbatch_gui.core.results.matches import Matches
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.evaluation.judge_page import OneByOne, key_cap
from cfbatch_gui.ui.notices import Notices, PageUndo, announce
from cfbatch_gui.ui.results.results_page import named_cells
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import ElidedLabel, IconLabel, Label, LinkButton, StateLabel, boxed, column, row
from cfbatch_gui.ui.widgets.bars import Bar
from cfbatch_gui.ui.widgets.marks import MarkedText
from cfbatch_gui.words.figures import listed, one_line, score_text, worded
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.matches import doubt_words, number_words

_MOST_COLUMNS = 5  # of list A, below its text
_CARD, _KEYS, _REMARK, _SCORE, _BAR, _BAR_HEIGHT, _LAST = 62, 78, 214, 52, 110, 6, 40  # pixels
_NARROW = 760  # pixels; a narrower card has no bar
_LONGEST = 60  # characters of the last decision's text


class OptionCard(widgets.Clickable):
    """A candidate; the first is the one that Enter accepts. Without one its place stays empty."""

    accessible_role = QAccessible.Role.Button

    def __init__(self, place: int, on_chosen: Callable[[], object]) -> None:
        super().__init__()
        self.clicked.connect(on_chosen)
        is_first = place == 0
        self.setProperty("kind", "choice")
        self.setProperty("selected", "true" if is_first else "false")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(scaled(_CARD))
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        keys = boxed(row(key_cap(str(place + 1)), *([key_cap(tr("Enter"))] if is_first else []), None, gap=TINY))
        keys.setMinimumWidth(scaled(_KEYS))
        self.text, self._remark = MarkedText("large", has_more=True), StateLabel()
        self._score, self._bar = Label(), Bar()
        self._score.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._score.setMinimumWidth(scaled(_SCORE))
        self._bar.is_selected = is_first
        self._bar.setFixedSize(scaled(_BAR), _BAR_HEIGHT)
        side = LARGE - (2 if is_first else 1)  # besides the border, which is wider there
        self._remark.setMaximumWidth(scaled(_REMARK))
        parts = (keys, (self.text, 1), column(None, self._remark, None, gap=0), self._score, self._bar)
        self.setLayout(row(*parts, gap=MEDIUM, margins=(side, 0, side, 0)))

    def show_option(self, option: Option | None, of: str, columns: ListColumns, *, is_category: bool) -> None:
        """`of` is the text of list A, which is not like a category."""
        self.setVisible(option is not None)
        if option is None:
            return
        names, cells = ([each[at] for at in columns.others] for each in (columns.names, option.row.cells))
        differs = "" if is_category else number_words(of, option.row.text)
        fits = tr("fits no other row of A better") if option.fits_no_other and not is_category else ""
        than, more = ("", cells[0]) if is_category else (of, named_cells(names, cells))
        self.text.show_text(option.row.text, than=than, more=more)
        self._remark.remark(differs or fits, "triangle-alert" if differs else "link", is_urgent=bool(differs))
        self._score.setText(score_text(option.score))
        self._bar.share = option.score
        self._bar.update()
        self.setAccessibleName(self.text.text())
        self.setAccessibleDescription(f"{self._score.text()} · {self._remark.text()}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._bar.setVisible(self.width() >= scaled(_NARROW))


class DecidedView(OneByOne):
    """Says what was decided last."""

    def __init__(self) -> None:
        super().__init__()
        self._saved, self._last = StateLabel(), ElidedLabel("", "quiet")
        self._last.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._last.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._last.setMinimumWidth(scaled(_LAST))

    def show_last(self, words: str) -> None:
        """Without words nothing was decided yet."""
        self._saved.set_state(tr("Saved"), "check", "done")
        self._saved.setVisible(bool(words))
        self._last.setText(words)


class ReviewView(DecidedView):
    """`decide` is called with the place of a candidate, or NONE."""

    def __init__(self, decide: Callable[[int], object], take_back: Callable[[], object]) -> None:
        super().__init__()
        self._row, self._why = Label("", "strong"), StateLabel()
        self.text = MarkedText("reviewed")
        self._cells = [(ElidedLabel("", "small"), ElidedLabel()) for _ in range(_MOST_COLUMNS)]
        cells = row(*((boxed(column(*pair, gap=0)), 1) for pair in self._cells), gap=WIDE)
        self.cards = [OptionCard(place, partial(decide, place)) for place in range(MOST_OPTIONS)]
        self._question = Label("", "strong")
        legend = _look("8", "number"), Label(tr("another number"), "small"), MEDIUM, _look(tr("word"), "word")
        self._legend = boxed(row(*legend, Label(tr("another word"), "small")))
        keys = (
            row(key_cap(tr("Enter")), _link(tr("Accept the first"), partial(decide, 0)), gap=TINY),
            row(key_cap(f"1 – {MOST_OPTIONS}"), Label(tr("Take this one"), "accent"), gap=TINY),
            row(key_cap("0"), _link(tr("None of these"), partial(decide, NONE)), gap=TINY),
            row(key_cap("⌫"), _link(tr("Take back"), take_back), gap=TINY),
        )
        said = tr(
            "Each decision is on disk before the next row appears. What you decide stays, whatever the slider says."
        )
        self.lay_out(
            self._saved,
            TINY,
            row(IconLabel("list-a", "accent", 18), self._row, None, self._why),
            widgets.Card(self.text, cells, inset=True, gap=TINY, margins=(20, TINY, 20, SMALL)),
            TINY,
            row(IconLabel("list-b", "accent", 18), self._question, None, self._legend),
            *self.cards,
            TINY,
            boxed(widgets.Flow(*map(boxed, keys), self._last, gap=LARGE)),
            foot=widgets.IconLine(said, "save"),
            top=0,
            bottom=MEDIUM,
        )

    def show_row(self, review: Review, asked: Asked) -> None:
        self.show_progress(review.done, review.total, review.seconds_left())
        self.show_last(_last_words(review.given[-1]) if review.given else "")
        self._row.setText(worded("Row {n}", n=asked.row.row))
        is_category = review.matches.categories is not None
        self._question.setText(tr("Which category?") if is_category else tr("Which of these is the same?"))
        self._legend.setVisible(not is_category)
        reasons = listed([doubt_words(doubt) for doubt in asked.doubts])
        why = worded("Here because {reasons}", reasons=reasons) if reasons else tr("Drawn at random")
        self._why.remark(why, "circle-help", is_urgent=True)
        self.text.show_text(asked.row.text)
        pairs = _named(review.matches.columns_a, asked.row.cells)
        for labels, pair in zip(self._cells, (*pairs, *[("", "")] * _MOST_COLUMNS), strict=False):
            for label, text in zip(labels, pair, strict=True):
                label.setText(text)
        for place, card in enumerate(self.cards):
            option = asked.options[place] if place < len(asked.options) else None
            card.show_option(option, asked.row.text, review.matches.columns_b, is_category=is_category)
        options = ". ".join(f"{place}: {option.row.text}" for place, option in enumerate(asked.options, 1))
        self.setAccessibleName(self.text.text())
        self.setAccessibleDescription(f"{why}. {options}")
        announce(self, f"{self.text.text()}. {options}")


def _look(text: str, kind: str) -> Label:
    label = Label(text)
    label.setProperty("kind", kind)
    return label


def _link(text: str, on_click: Callable[[], object]) -> LinkButton:
    link = LinkButton(text, on_click=on_click)
    link.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it has a key
    return link


def _named(columns: ListColumns, cells: Sequence[str]) -> list[tuple[str, str]]:
    """The columns of list A that are shown below its text, of which this may be one."""
    texts = [at for at, role in enumerate(columns.roles) if role in (Role.TEXT, Role.CONTEXT)]
    shown = sorted((*columns.others, *(texts if len(texts) > 1 else ())))
    return [(columns.names[at], cells[at]) for at in shown]


def _last_words(given: Given) -> str:
    text = one_line(given.asked.row.text, _LONGEST)
    if given.place == 0:
        return worded("Before: “{text}” was accepted", text=text)
    if given.place == NONE:
        return worded("Before: “{text}” got none", text=text)
    return worded("Before: “{text}” got candidate {n}", text=text, n=given.place + 1)


def _end_words(given: Sequence[Given]) -> str:
    if not given:
        return tr("Nothing is left to check.")
    places = [each.place for each in given]
    first, none = places.count(0), places.count(NONE)
    return worded(
        "Nothing is left to check. The first candidate accepted: {first}. Another one: {other}. None: {none}. This also"
        " counts for the same texts in later lists.",
        first=first,
        other=len(places) - first - none,
        none=none,
    )


class Deciding(Protocol):
    """What goes on; `given` is what was decided since it began. To take back is blocking."""

    @property
    def given(self) -> Sequence[object]: ...
    def take_back(self) -> None: ...


SessionT = TypeVar("SessionT", bound=Deciding)


class DecidingPage(QWidget, Generic[SessionT]):
    """Each decision is on the disk before the next row appears. `done` brings the id of the job and the key of the tab
    that is to be shown then.
    """

    done = Signal(str, str)

    def __init__(self, program: Program, notices: Notices, *, title: str, undo: str, tab: str) -> None:
        super().__init__()
        self.program, self.job_id, self._tab = program, "", tab
        self.session: SessionT | None = None  # what is going on
        self._written: asyncio.Future[None] | None = None  # the last decision, once it is
        self.tasks = Tasks(self, notices.show_error)
        self.header = widgets.PageHeader(title)
        self.header.add_button(widgets.Button(tr("Pause"), "pause", self.leave))
        self._page_undo = PageUndo(self, notices.undos, undo, self.take_back)

    # For the pages

    def lay_out(self, view: DecidedView, button: str, on_pressed: Callable[[], object]) -> None:
        """The button stands below what is said at the end."""
        self._view, self._pages = view, QStackedWidget()
        self.place = widgets.EmptyPlace("circle-check", "", button)
        self.place.pressed.connect(on_pressed)
        for page in (self.place, view):
            self._pages.addWidget(page)
        self.setLayout(column(self.header, 6, widgets.Roomy(self._pages), gap=0))

    def begin(self, job: Job, about: str, sentence: str, read: Callable[[], Awaitable[SessionT]]) -> None:
        """The sentence is shown while the session is read."""

        async def read_and_show() -> None:
            self.session = await read()
            self._show_current(self.session)

        self.job_id, self.session = job.id, None
        self.header.set_facts(job.name, about)
        self._say(sentence, button=False)
        self.tasks.start("read", read_and_show())

    def take_key(self, event: QKeyEvent) -> bool:
        """Whether the key means something on this page."""
        raise NotImplementedError

    def show_next(self, session: SessionT) -> str:
        """Show what is to be decided next, else return what is said at the end."""
        raise NotImplementedError

    def write(self, write: Callable[[], object]) -> None:
        """Run this in a thread, unless another decision is being written, and show what comes then."""
        session = self.session

        async def write_and_show() -> None:
            await asyncio.to_thread(write)
            if session is not None and session is self.session:
                self._show_current(session)

        if not self.tasks.is_running("write"):
            self._written = self.tasks.start("write", write_and_show())

    def take_back(self) -> None:
        if (session := self.session) is not None:
            self.write(session.take_back)

    def leave(self, tab: str = "") -> None:
        """What is decided stays, and is on the disk before the tab is shown."""

        async def leave() -> None:
            if self._written is not None:
                await asyncio.wait({self._written})
            self.done.emit(self.job_id, tab or self._tab)

        self.tasks.cancel("read")
        self.session = None
        self._page_undo.renew(False)
        self.tasks.start("leave", leave())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        has_modifier = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        if event.isAutoRepeat() or has_modifier:
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Backspace:
            self.take_back()
        elif event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif not self.take_key(event):
            super().keyPressEvent(event)

    def _show_current(self, session: SessionT) -> None:
        self._page_undo.renew(bool(session.given))
        if said := self.show_next(session):
            self._say(said, button=True)
            self.place.button.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._pages.setCurrentWidget(self._view)
            self._view.keyboard.setFocus(Qt.FocusReason.OtherFocusReason)

    def _say(self, sentence: str, *, button: bool) -> None:
        self.place.set_sentence(sentence)
        self.place.button.setVisible(button)
        self._pages.setCurrentWidget(self.place)


class ReviewPage(DecidingPage[Review]):
    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, title=tr("Review"), undo=tr("Undo the last decision"), tab="matches")
        self.view = ReviewView(self._decide, self.take_back)
        self.lay_out(self.view, tr("Back to the job"), self.leave)

    def review(self, job: Job, matches: Matches | None = None, rows: Sequence[int] | None = None) -> None:
        """`matches` as they are shown elsewhere are not read anew; `rows` of them instead of the doubtful ones."""
        self._tab = "categories" if job.purpose is Purpose.CATEGORIES else "matches"
        about = tr("the most doubtful rows first") if rows is None else tr("these rows only")
        self.begin(job, about, tr("Reading the results…"), partial(self._read, job, matches, rows))

    async def _read(self, job: Job, matches: Matches | None, rows: Sequence[int] | None) -> Review:
        program, decisions = self.program, self.program.decisions_of(job)
        if matches is None:
            matches = await in_thread(read_by_purpose, program.folder(job.id), job, decisions.find)
        return await asyncio.to_thread(partial(Review, matches, decisions, clock=program.clock, rows=rows))

    def take_key(self, event: QKeyEvent) -> bool:
        if event.text().isdecimal() and event.text().isascii():
            self._decide(int(event.text()) - 1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._decide(0)
        else:
            return False
        return True

    def show_next(self, session: Review) -> str:
        if session.asked is None:
            return _end_words(session.given)
        self.view.show_row(session, session.asked)
        return ""

    def _decide(self, place: int) -> None:
        session = self.session
        if session is not None and session.asked is not None and place < len(session.asked.options):
            self.write(partial(session.decide, place))
