"""The page that sends the vectors of a job to an index of Vectorize, says what became of it, and searches there."""

import asyncio
from contextlib import suppress

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSizePolicy, QStackedWidget

from cfbatch_gui.core.errors import Action, UsageError, UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.vectorize.client import check_connection_kind
from cfbatch_gui.core.vectorize.push_values import Push, PushOptions, PushOutcome
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.ui import display
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.notices import Notices, action_words
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.vectorize.push_form import CHECK, JobVectors, PushForm, read_job
from cfbatch_gui.ui.vectorize.push_summary import PushProgressView, PushSummary, SearchPanel
from cfbatch_gui.ui.vectorize.running_pushes import RunningPushes
from cfbatch_gui.ui.widgets import (
    PAGE_MARGINS,
    Button,
    EmptyPlace,
    Flow,
    Label,
    PrimaryButton,
    boxed,
    column,
    line,
    scrolled,
)


def other_way(program: Program) -> Connection | None:
    """The first connection to an account."""
    for each in program.address_book.saved():
        with suppress(UserError):
            connection = program.address_book.connection(each.id)
            check_connection_kind(connection)
            return connection
    return None


_LEAST_PART = 150  # pixels of what scrolls above it
_LEAST_LINE = 120  # pixels of the sentence at the foot


class VectorizePage(ResultView):
    """`pushes` are the program's: they go on while the page shows another job. `rows_wanted` brings item numbers to
    be shown in the table, and what they are called there.
    """

    rows_wanted = Signal(object, str)

    def __init__(
        self, program: Program, notices: Notices, pushes: RunningPushes, *, memory: Memory | None = None
    ) -> None:
        super().__init__()
        self._program, self._notices, self._pushes = program, notices, pushes
        self._job: Job | None = None
        self._known: JobVectors | None = None
        self._push: Push | None = None  # the one that is shown, of the job's
        self._chooses = False  # the form is shown although there are pushes
        self._through: dict[str, str] = {}  # the connection that was chosen for a job whose own has no such API
        self._other_way = ""  # the connection that the empty page offers
        self._found = ""  # about the last search
        self.tasks = Tasks(self, self._show_failure)
        pushes.changed.connect(self._push_changed)
        pushes.ended.connect(self._push_ended)
        self._make_widgets(memory)
        self._lay_out()

    def show_job(self, job: Job) -> None:
        before, self._job = self._job, job
        if before is not None and _version_of(before) == _version_of(job):
            return
        if before is None or before.id != job.id:
            for name in self.tasks.running():
                self.tasks.cancel(name)
            self._known = self._push = None
            self._chooses = False
            self.form.stop()
            self._show_sentence("")
            self.search.clear()
            self._found = ""
        self.tasks.start("load", self._load(job))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.form.has_failed:  # the connection may have been put right since
            self._list_again()

    # Making

    def _make_widgets(self, memory: Memory | None) -> None:
        self.form = PushForm(
            self._program,
            self.tasks,
            changed=self._show_foot,
            show_items=lambda items: self.rows_wanted.emit(items, self.tr("Would be refused")),
        )
        self.progress = PushProgressView(pause=self._stop, carry_on=self._carry_on, choose=self._choose)
        self.summary = PushSummary(
            *(self._program.clock, self._check_again, self._choose), choose=self._show_push, memory=memory
        )
        self.search = SearchPanel(lambda: self.tasks.start("search", self._search()), memory=memory)
        self.search.sentence.textChanged.connect(self._show_price)
        self.line = Label("", "quiet", wrap=True)
        self.line.setMinimumWidth(scaled(_LEAST_LINE))
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.back_button = Button(self.tr("Back"), on_click=self._leave_form)
        self.send_button = PrimaryButton(self.tr("Send vectors"), "send", self._send)

    def _lay_out(self) -> None:
        after = column(self.summary, (self.search, 1), gap=MEDIUM, margins=PAGE_MARGINS)
        self._parts = QStackedWidget()
        self._form_part, self._progress_part = scrolled(self.form), scrolled(self.progress)
        self._after_part = scrolled(boxed(after))
        for part in (self._form_part, self._progress_part, self._after_part):
            self._parts.addWidget(part)
        # Each part scrolls by itself, so that the foot with its button is always in reach.
        self._parts.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self._parts.setMinimumHeight(scaled(_LEAST_PART))
        words = boxed(Flow(self.line, self.back_button, self.send_button))
        self._foot = boxed(column(line(), column(words, margins=(WIDE, SMALL, WIDE, MEDIUM)), gap=0))
        content = column(SMALL, (self._parts, 1), self._foot, gap=0)
        self.empty = EmptyPlace("layers", "")
        self.empty.pressed.connect(self._use_other_way)
        self._whole = QStackedWidget()
        self._whole.addWidget(self.empty)
        self._whole.addWidget(boxed(content))
        self.setLayout(column(self._whole, gap=0))

    # What is shown

    async def _load(self, job: Job) -> None:
        through = self._through.get(job.id, job.connection)
        await self._program.prepare("vectorize")
        try:
            known = await asyncio.to_thread(read_job, self._program, job, through)
        except UserError as error:
            self._show_no_way(error)
            return
        is_first = self._known is None
        self._known = known
        if not known.dimension:
            self._show_sentence(self.tr("Nothing of this job has a vector that could be sent."))
            return
        self._whole.setCurrentIndex(1)
        if is_first or self._push is None:
            self._push = known.pushes[0] if known.pushes else None
        self._show_part()

    def _show_part(self) -> None:
        known, push = self._known, self._push
        if known is None:
            return
        job = known.job
        running = self._pushes.of(job.id)
        if running is not None and not running.is_check:
            self.progress.show_running(running)
            self._parts.setCurrentWidget(self._progress_part)
        elif push is None or self._chooses:
            if not self.form.is_of(job):
                self.form.begin(known, push)
            self._parts.setCurrentWidget(self._form_part)
        elif push.outcome is PushOutcome.SENDING:
            self.progress.show_stopped(push)
            self._parts.setCurrentWidget(self._progress_part)
        else:
            self._show_push(push)
            self._parts.setCurrentWidget(self._after_part)
        self._show_foot()

    def _show_push(self, push: Push) -> None:
        known = self._known
        if known is None:
            return
        self._push = push
        self.summary.show_pushes(known.pushes, push, known.dimension)
        self.summary.show_checking(self._pushes.of(known.job.id))
        self._show_price()

    def _show_foot(self) -> None:
        is_form = self._parts.currentWidget() is self._form_part
        self.send_button.setVisible(is_form)
        self.back_button.setVisible(is_form and self._push is not None)
        words = []
        if self._known is not None and self._known.connection.is_practice:
            words.append(self.tr("Practice: the index is on this computer, and nothing leaves it."))
        if is_form:
            why_not = self.form.why_not()
            words.append(why_not or self.form.size_words())
            self.send_button.setText(self.form.send_words())
            self.send_button.set_possible(why_not)
        elif self._parts.currentWidget() is self._after_part:
            words.append(self.tr("Vectorize finds neighbours approximately."))
            words.append(self._found)
        self.line.setText(" ".join(filter(None, words)))
        self._foot.setVisible(is_form or bool(self.line.text()))

    def _show_sentence(self, sentence: str) -> None:
        self.empty.set_sentence(sentence)
        self.empty.button.hide()
        self._whole.setCurrentIndex(0)

    def _show_no_way(self, error: UserError) -> None:
        self._show_sentence(said(error.message))
        other = other_way(self._program) if isinstance(error, UsageError) else None
        if other is not None:
            self._other_way = other.id
            self.empty.button.setText(self.tr("Use “{title}”").format(title=title_words(other.title)))
            self.empty.button.show()

    def _use_other_way(self) -> None:
        if self._job is not None:
            self._through[self._job.id] = self._other_way
            self.tasks.start("load", self._load(self._job))

    def _show_failure(self, error: UserError) -> None:
        if self._known is None:
            self._show_sentence(said(error.message))
            return
        bar = self._notices.show_error(error)
        if self.form.has_failed and self._parts.currentWidget() is self._form_part:
            bar.add_link(action_words(Action.RETRY), self._list_again)

    # The form

    def _list_again(self) -> None:
        self.form.list_indexes(self.form.index.index_name())

    def _choose(self) -> None:
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
            is_new = form.index.index() is None
            self._begin(form.index.index_name(), form.options(), new_dimension=known.dimension if is_new else 0)

    def _carry_on(self) -> None:
        if self._push is not None:
            self._begin(self._push.index, self._push.options)

    def _begin(self, index: str, options: PushOptions, *, new_dimension: int = 0) -> None:
        known = self._known
        if known is None:
            return
        self._chooses = False

        async def send() -> None:  # after a check, which uses the record of the index too
            self._pushes.send(known.job, known.connection.id, index, options, new_dimension=new_dimension)

        self.tasks.start(CHECK, send())

    def _check_again(self) -> None:
        known, push = self._known, self._push
        if known is not None and push is not None:
            self._pushes.check(known.job.id, known.connection.id, push.index)

    def _stop(self) -> None:
        if self._job is not None:
            self._pushes.stop(self._job.id)

    def _push_changed(self, job_id: str) -> None:
        known = self._known
        if known is None or known.job.id != job_id:
            return
        running = self._pushes.of(job_id)
        if running is None:
            self.tasks.start("load", self._load_ended(known.job))
        elif running.is_check:
            self.summary.show_checking(running)
        else:
            self._show_part()

    async def _load_ended(self, job: Job) -> None:
        self._push = None
        await self._load(job)
        if self._parts.currentWidget() is self._form_part:  # the index could not be created
            self._list_again()

    def _push_ended(self, job_id: str, push: Push) -> None:
        if not self.isVisible() or self._job is None or self._job.id != job_id:
            self._notices.show_notice(said(push.sentence), "done" if push.outcome == "verified" else "attention")

    # Searching

    def _show_price(self) -> None:
        known = self._known
        if known is None:
            return
        dollars = self._program.vectorize.search_price(known.job.id, self.search.text() or " ").dollars
        pattern = self.tr("as your site would ask it; one request, {price}")
        free = self.tr("as your site would ask it; one request, which costs nothing here")
        self.search.price.setText(pattern.format(price=display.dollars(dollars)) if dollars else free)

    async def _search(self) -> None:
        known, push, text = self._known, self._push, self.search.text()
        if known is None or push is None:
            return
        self.search.set_busy(busy=True)
        try:
            found = await self._program.vectorize.search(known.job.id, known.connection.id, push.index, text)
            self.search.show_result(found)
            self._found = said(found.sentence) if found.hits else ""
            self._show_foot()
        except UserError:
            self.search.show_sentence(self.tr("The search did not come back with an answer."))
            raise
        finally:
            self.search.set_busy(busy=False)


def _version_of(job: Job) -> tuple[object, ...]:
    return (job.id, job.state, job.batches_done, job.texts_forgotten_at)
