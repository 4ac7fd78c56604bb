"""The page that sends the vectors of a job to an index of Vectorize, says what became of it, and searches there."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QStackedWidget, QWidget

from cfbatch_gui.core.errors import Action, UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.nearest import LONGEST
from cfbatch_gui.core.vectorize import push_values
from cfbatch_gui.core.vectorize.client import Metric
from cfbatch_gui.core.vectorize.push_values import Hit, Push, PushOutcome, PushProgress, PushStage, Show
from cfbatch_gui.core.vectorize.vectorize import TOP_K
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.notices import Notices, action_words
from cfbatch_gui.ui.results.push_form import CHECK, JobVectors, PushForm, read_job, short_name
from cfbatch_gui.ui.results.results_page import LOADING, ResultsPage
from cfbatch_gui.ui.tables.table_rows import Column, Rows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import HEADER_HEIGHT, TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, ROW_HEIGHT, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, Card, Flow, Label, PrimaryButton, Saying, boxed, column, row, scrolled
from cfbatch_gui.words import figures
from cfbatch_gui.words.indexes import dimension_words, push_facts
from cfbatch_gui.words.languages import said, tr

_AT_THE_INDEX = (PushStage.PROCESSING, PushStage.COMPARING)  # everything was sent


@dataclass(frozen=True, slots=True)
class RunningPush:
    """A push, or with `is_check` a comparison alone. `is_stopping`: it ends once the call is over that is made now."""

    index: str
    is_check: bool = False
    progress: PushProgress | None = None
    is_stopping: bool = False


class PushView(QWidget):
    """A push while it runs, is stopped or is over; `indexes` has those of its job, by the names of their indexes."""

    def __init__(self, page: "VectorizePage") -> None:
        super().__init__()
        self._clock = page.program.clock
        self._icon = widgets.IconLabel("loader", "accent", 18)
        self.title = Label("", "part", wrap=True)
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.line = Label("", "body", wrap=True)
        self.bar = widgets.ThinProgress()
        self.more, self.waiting, self.notes = Label("", "quiet", wrap=True), Saying("clock"), Saying("info")
        self.pause_button = Button("", "pause", page.stop_pushing)
        self.carry_on_button = PrimaryButton(tr("Carry on"), "play", page.carry_on)
        self.check_button = Button(tr("Check again"), on_click=page.check_again)
        self.choose_button = Button(on_click=page.choose)
        self._buttons = (self.pause_button, self.carry_on_button, self.check_button, self.choose_button)
        self.indexes = widgets.Choice(tr("Index"), on_picked=page.show_push_into)
        self.sent = widgets.LabelGrid("quiet", stretches=(0, 1), gap=WIDE, wrapped=1)
        title, buttons = row(self._icon, (self.title, 1)), boxed(Flow(*self._buttons))
        state = Card(title, self.line, self.bar, self.more, self.waiting, self.notes, buttons)
        self._sent = Card(row(Label(tr("What was sent"), "strong"), None, self.indexes), self.sent)
        self.setLayout(column(state, self._sent, gap=MEDIUM))

    def show_running(self, running: RunningPush) -> None:
        progress = running.progress or PushProgress()
        is_sent = progress.stage in _AT_THE_INDEX
        line = tr("You can close the window: what was accepted stays so, and the rest can be sent later.")
        if is_sent:
            line = tr("Then it is counted, and some of the vectors are read back and compared.")
        title = said(progress.sentence) if running.progress else tr("Asking for the index…")
        self._show(("loader", "accent"), title, line, short_name(running.index), self.pause_button)
        self._show_parts(progress.total if is_sent else progress.done, progress.total)
        if progress.waiting:
            again, reason = figures.duration(progress.waiting_seconds), said(progress.waiting)
            words = figures.worded("{reason} The next try is in {seconds}.", reason=reason, seconds=again)
            self.waiting.set_line(words, "clock", "attention")
        self.pause_button.setText(tr("Stop waiting") if is_sent else tr("Pause"))
        stopping = tr("It stops as soon as the call is over that is being made.") if running.is_stopping else ""
        self.pause_button.set_possible(stopping)

    def show_push(self, push: Push, pushes: Sequence[Push], dimension: int, checking: RunningPush | None) -> None:
        """One of the `pushes`, while nothing is sent; `checking` is there while its index is being compared."""
        title, line = said(push.sentence), said(push.finding)
        if not push.is_whole:
            title = title if push.vectors else tr("It stopped before the first vector was sent.")
            self._show(_STATES[push.outcome], title, line, "", self.carry_on_button, self.choose_button)
            self._show_parts(push.acknowledged, push.vectors)
            self.waiting.set_line(said(push.failure), "triangle-alert", "attention")
            self.choose_button.setText(tr("Choose anew…"))
        else:
            if checking is not None and checking.progress is not None:
                line = said(checking.progress.waiting or checking.progress.sentence)
            age = figures.age(push.checked_at, self._clock()) if push.checked_at else ""
            more = " · ".join(filter(None, (dimension_words(dimension), age)))
            self._show(_STATES[push.outcome], title, line, more, self.check_button, self.choose_button)
            self.notes.set_line("\n".join(map(said, push.notes)))
            self.choose_button.setText(tr("Send changes…"))
            self._sent.show()
            self.sent.show_lines(push_facts(push))
            self.indexes.refill((each.index, each.index) for each in pushes)
            self.indexes.set_value(push.index)
            self.indexes.setVisible(len(pushes) > 1)
        busy = tr("The index is being compared.") if checking is not None else ""
        self.check_button.set_possible(busy)
        self.choose_button.set_possible(busy)

    def _show_parts(self, done: int, total: int) -> None:
        self.bar.set_parts(done, total)
        self.bar.show()

    def _show(self, icon: tuple[str, str], title: str, line: str, more: str, *offered: Button) -> None:
        """What each state has, without what only some have."""
        self._icon.set_icon(*icon)
        for label, words in ((self.title, title), (self.line, line), (self.more, more)):
            label.setText(words)
        for saying in (self.waiting, self.notes):
            saying.set_line("")
        self.bar.hide()
        self._sent.hide()
        for button in self._buttons:
            button.setVisible(button in offered)


_STATES = {
    PushOutcome.VERIFIED: ("check", "done"),
    PushOutcome.SENT: ("circle-dashed", "attention"),
    PushOutcome.NOT_YET: ("clock", "attention"),
    PushOutcome.DIFFERENT: ("triangle-alert", "attention"),
    PushOutcome.SENDING: ("pause", "attention"),
}


_LEAST_ROWS = 4


class SearchPanel(Card):
    """`search` is called by the button and by Enter, when there is a sentence."""

    def __init__(self, search: Callable[[], object]) -> None:
        super().__init__()
        self.price = widgets.Sentence("", "quiet")
        self.sentence = QLineEdit(maxLength=LONGEST)
        self.sentence.setAccessibleName(tr("A sentence to look for in the index"))
        self.sentence.setPlaceholderText(tr("Type what a visitor of your site would type"))
        self.sentence.setMinimumHeight(scaled(30))
        self.sentence.textChanged.connect(self.show_possible)
        self.button = PrimaryButton(tr("Search"), on_click=search)
        self.sentence.returnPressed.connect(self.button.click)
        self.found: Rows[Hit] = Rows(_hit_columns(), key=lambda each: each.id, parent=self)
        title = tr("Found in the index")
        self.table = TableView("vectorize/found", title, self.found, inset=True)
        self._found_or_not = widgets.MaybeEmpty("search", self.table)
        self._found_or_not.setMinimumHeight(scaled(HEADER_HEIGHT) + _LEAST_ROWS * scaled(ROW_HEIGHT))
        self.show_sentence = self._found_or_not.show_sentence
        self.body.addWidget(boxed(Flow(Label(tr("Try a search"), "strong"), self.price, gap=SMALL)))
        self.body.addLayout(row((self.sentence, 1), self.button))
        self.body.addWidget(self._found_or_not, 1)
        self.clear()

    def clear(self) -> None:
        self.sentence.clear()
        self.found.set_rows(())
        self.show_sentence(
            figures.worded("What the index finds will stand here: up to {n} texts with their scores.", n=TOP_K)
        )
        self.show_possible()

    def text(self) -> str:
        return self.sentence.text().strip()

    def show_possible(self) -> None:
        self.button.set_possible("" if self.text() else tr("Type a sentence first."))

    def show_result(self, result: push_values.SearchResult) -> None:
        self.found.set_rows(result.hits)
        if not result.hits:
            self.show_sentence(
                tr("The index found nothing. It may not have taken the vectors in yet; “Check again” tells.")
            )
            return
        self._found_or_not.show_content()
        self.table.scrollToTop()


def _hit_columns() -> tuple[Column[Hit], ...]:
    other = tr("not of this job")
    return (
        ScoreColumn(
            tr("Score"), lambda hit: hit.score, width=90, tip=tr("As the index computes it, by its own metric.")
        ),
        Column(tr("ID"), lambda hit: hit.id, width=110, least=60),
        Column(
            tr("Text"),
            lambda hit: hit.text,
            stretch=True,
            text=lambda hit: other if hit.text is None else hit.text,
            colour=lambda hit: "quiet" if hit.text is None else "text",
        ),
    )


_LEAST_PART = 150  # pixels of what scrolls above it


class VectorizePage(ResultsPage[JobVectors]):
    """`rows_wanted` brings the job, item numbers to be shown in its table, and what they are called there."""

    rows_wanted = Signal(object, object, str)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "layers")
        self.pushing = Tasks(self, notices.show_error)  # by ids of jobs: they go on while the page shows another one
        self._running: dict[str, RunningPush] = {}
        self._known: JobVectors | None = None
        self._push: Push | None = None  # the one that is shown, of the job's
        self._chooses = False  # the form is shown although there are pushes
        self._found = ""  # about the last search
        self._lay_out()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_part()
        if self.form.has_failed:  # the connection may have been put right since
            self._list_again()

    # Making

    def _lay_out(self) -> None:
        self.form, self.state = PushForm(self), PushView(self)
        self.search = SearchPanel(self._ask)
        self.search.sentence.textChanged.connect(self._show_price)
        self.back_button = Button(tr("Back"), on_click=self._leave_form)
        self.send_button = PrimaryButton(tr("Send vectors"), "send", self._send)
        self._form_part = scrolled(self.form)
        self._push_part = scrolled(
            boxed(column(self.state, (self.search, 1000), None, gap=MEDIUM, margins=widgets.PAGE_MARGINS))
        )
        self._parts = QStackedWidget()
        for part in (self._form_part, self._push_part):
            self._parts.addWidget(part)
        # Each part scrolls by itself, so that the foot with its button is always in reach.
        self._parts.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self._parts.setMinimumHeight(scaled(_LEAST_PART))
        self.lay_out(self._parts, beside_foot=[self.back_button, self.send_button])

    # What is shown

    def begin(self, job: Job) -> None:
        self._known = self._push = None
        self._chooses = False
        self._found = ""
        self.form.stop()
        self.search.clear()
        super().begin(job)

    async def read(self, job: Job) -> JobVectors:
        return await asyncio.to_thread(read_job, self.program, job)

    async def show_read(self, job: Job, known: JobVectors) -> None:
        self._known = known
        if not known.dimension:
            self.stack.show_sentence(tr("Nothing of this job has a vector that could be sent."))
            return
        if self._push is None and known.pushes:
            self._push = known.pushes[0]
        self._show_part()
        self.stack.show_content()

    def _show_part(self) -> None:
        known, push = self._known, self._push
        if known is None:
            return
        running = self._running.get(known.job.id)
        is_sending = running is not None and not running.is_check
        is_form = not is_sending and (push is None or self._chooses)
        if is_form and self.form.job_id != known.job.id:
            self.form.begin(known, push)
        elif running is not None and is_sending:
            self.state.show_running(running)
        elif push is not None:
            self.state.show_push(push, known.pushes, known.dimension, running)
            self._show_price()
        self.search.setVisible(not is_sending and push is not None and push.is_whole)
        self._parts.setCurrentWidget(self._form_part if is_form else self._push_part)
        self.show_foot()

    def show_push_into(self, index: str) -> None:
        self._push = next((each for each in self._known.pushes if each.index == index), None) if self._known else None
        self._show_part()

    def show_foot(self) -> None:
        is_form = self._parts.currentWidget() is self._form_part
        self.send_button.setVisible(is_form)
        self.back_button.setVisible(is_form and self._push is not None)
        words = []
        if is_form:
            why_not = self.form.why_not()
            words.append(why_not or self.form.size_words())
            self.send_button.setText(self.form.send_words())
            self.send_button.set_possible(why_not)
        elif not self.search.isHidden():
            words.append(tr("Vectorize finds neighbours approximately."))
            words.append(self._found)
        self.foot.set_line(" ".join(filter(None, words)))

    def show_error(self, error: UserError) -> None:
        if self._known is None:
            super().show_error(error)
            return
        bar = self.notices.show_error(error)
        if self.form.has_failed and self._parts.currentWidget() is self._form_part:
            bar.add_link(action_words(Action.RETRY), self._list_again)

    # The form

    def show_rows(self, items: Sequence[int]) -> None:
        self.rows_wanted.emit(self.shown, items, tr("Would be refused"))

    def _list_again(self) -> None:
        self.form.list_indexes(self.form.index_name())

    def choose(self) -> None:
        self._chooses = True
        if self._known is not None:
            self.form.begin(self._known, self._push)
        self._show_part()

    def _leave_form(self) -> None:
        self.form.stop()
        self._chooses = False
        self._show_part()

    # The push

    def _send(self) -> None:
        known, form = self._known, self.form
        if known is not None and not form.why_not():
            is_new = form.chosen_index() is None
            self._send_to(form.index_name(), form.options(), new_dimension=known.dimension if is_new else 0)

    def carry_on(self) -> None:
        if self._push is not None:
            self._send_to(self._push.index, self._push.options)

    def _send_to(self, index: str, options: push_values.PushOptions, *, new_dimension: int = 0) -> None:
        """`new_dimension` is that of an index that is created first, 0 for one that is there."""
        known, vectorize = self._known, self.program.vectorize
        if known is None:
            return
        job, through = known.job, known.connection.id
        self._chooses = False

        async def push(show: Show) -> Push:
            if new_dimension:
                await vectorize.calls(through).create(index, new_dimension, Metric.COSINE, job.name)
            return await vectorize.push(job.id, through, index, options, show=show)

        async def begin() -> None:  # after a check, which uses the record of the index too
            self._begin(job.id, RunningPush(index), push)

        self.tasks.start(CHECK, begin())

    def check_again(self) -> None:
        known, push = self._known, self._push
        if known is not None and push is not None:
            verify = partial(self.program.vectorize.verify, known.job.id, known.connection.id, push.index)
            self._begin(known.job.id, RunningPush(push.index, is_check=True), lambda show: verify(show=show))

    def _begin(self, job_id: str, begun: RunningPush, work: Callable[[Show], Awaitable[Push]]) -> None:
        if job_id in self._running:
            return

        async def run() -> None:
            push = await work(lambda progress: self._change(job_id, progress=progress))
            if not self.isVisible() or self.shown is None or self.shown.id != job_id:
                self.notices.show_notice(said(push.sentence), "done" if push.outcome == "verified" else "attention")

        def over(_: object) -> None:  # also where it never made its first step
            del self._running[job_id]
            if self._known is not None and self._known.job.id == job_id:
                self.tasks.start(LOADING, self._load_ended())

        self._running[job_id] = begun
        self.pushing.start(job_id, run()).add_done_callback(over)
        self._change(job_id)

    def _change(self, job_id: str, **changes: Any) -> None:
        self._running[job_id] = replace(self._running[job_id], **changes)
        if self._known is not None and self._known.job.id == job_id:
            self._show_part()

    def stop_pushing(self) -> None:
        if self.shown is not None and self.shown.id in self._running:
            self._change(self.shown.id, is_stopping=True)
            self.pushing.cancel(self.shown.id)

    async def _load_ended(self) -> None:
        self._push, self.loaded = None, ()
        await self._load()
        if self._parts.currentWidget() is self._form_part:  # the index could not be created
            self._list_again()

    # Searching

    def _show_price(self) -> None:
        if self._known is None:
            return
        dollars = self.program.vectorize.search_price(self._known.job.id, self.search.text() or " ").dollars
        pattern = tr("as your site would ask it; one request, {price}")
        free = tr("as your site would ask it; one request, which costs nothing here")
        self.search.price.setText(pattern.format(price=figures.dollars(dollars)) if dollars else free)

    def _ask(self) -> None:
        if not self.tasks.is_running("search"):
            self.tasks.start("search", self._search())

    async def _search(self) -> None:
        known, push, text = self._known, self._push, self.search.text()
        if known is None or push is None:
            return
        self.search.button.set_possible(tr("The sentence is on its way."))
        try:
            found = await self.program.vectorize.search(known.job.id, known.connection.id, push.index, text)
            self.search.show_result(found)
            self._found = said(found.sentence) if found.hits else ""
            self.show_foot()
        except UserError:
            self.search.show_sentence(tr("The search did not come back with an answer."))
            raise
        finally:
            self.search.show_possible()
