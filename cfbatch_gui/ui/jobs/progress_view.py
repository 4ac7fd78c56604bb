"""The progress of a job: finished batches, each batch with the raw answer to it, and what needs the user."""

import gzip
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QPlainTextEdit, QSizePolicy, QWidget

from cfbatch_gui.core.errors import Action, DataError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.spending import Planned
from cfbatch_gui.core.jobs.states import (
    STOPPED,
    Batch,
    BatchState,
    Job,
    account_progress,
    goes_on_elsewhere,
    wants_account,
)
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.logs import redacted
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.ui import dialogs, widgets
from cfbatch_gui.ui.budget import send_within_budget
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.notices import Notices, action_words
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order
from cfbatch_gui.words import figures, jobs, states
from cfbatch_gui.words.languages import said, tr

MOST_BYTES = 200_000  # of a raw answer that are shown


def time_words(batch: Batch, now: float) -> str:
    """How long it took, or how long it has been in its state; `now` is in seconds since 1970."""
    if batch.state is BatchState.PLANNED:
        return ""
    if batch.state is BatchState.DONE:
        return tr("took {time}").format(time=figures.duration(max(1.0, batch.changed_at - batch.sent_at)))
    return _coarse(now - batch.changed_at)


def next_check_words(batch: Batch, now: float) -> str:
    """When the service is asked for it; the account asks by itself."""
    if batch.state.is_final or batch.state is BatchState.OUTCOME_UNKNOWN:
        return "–"
    if batch.is_handed_over or not batch.next_check_at:
        return ""
    left = batch.next_check_at - now
    if left < 1:
        return tr("now")
    return tr("in {time}").format(time=_coarse(left))


def _coarse(seconds: float) -> str:
    """Seconds below a minute, then their largest unit."""
    return figures.duration(seconds) if seconds < 60 else figures.short_duration(seconds)


class BatchTable(TableView):
    """The batches of a job; Enter opens the answer to one as it came."""

    def __init__(self, program: Program) -> None:
        super().__init__("batches", tr("Batches"), inset=True, on_opened=self.open_answer)
        self._program, self._now = program, 0.0
        self._job: Job | None = None
        self.batches: Rows[Batch] = Rows(self._columns(), key=lambda batch: batch.number, parent=self)
        self.show_rows(self.batches)

    def show_job(self, job: Job) -> None:
        self._job, self._now = job, self._program.clock()
        self.batches.set_rows(job.batches)
        self.viewport().update()

    def state_of(self, batch: Batch) -> states.StateWords:
        return states.words_of_batch(batch, self._job)

    def open_answer(self, index: int) -> None:
        number = self.batches.row(index).number
        if self._job is not None and self._program.folder(self._job.id).reply(number).exists():
            RawAnswerDialog(self._program.folder(self._job.id), number, self).open()

    def add_to_menu(self, menu: QMenu, index: int) -> None:
        batch = self.batches.row(index)
        if batch.state is BatchState.DONE:
            widgets.add_action(menu, tr("Open the answer"), lambda: self.open_answer(index), "file-text")
        if batch.request_id and self._program.settings.for_developers:
            copy = partial(QGuiApplication.clipboard().setText, batch.request_id)
            widgets.add_action(menu, tr("Copy request ID"), copy, "copy")

    def _next_check(self, batch: Batch) -> str:
        is_paused = self._job is not None and bool(self._job.paused_because)
        return "" if is_paused else next_check_words(batch, self._now)

    def _columns(self) -> tuple[Column[Batch], ...]:
        def or_dash(words: Callable[[int], str]) -> Callable[[int], str]:
            """What is not known of a batch that was sent by another program is a dash."""
            return lambda count: words(count) if count else "–"

        moving: dict[str, Any] = {"sortable": False}  # these change every second
        count: dict[str, Any] = {"width": 88, "gives_way": True}
        return (
            Column(tr("Batch"), lambda batch: batch.number, align="right", width=66),
            NumberColumn(tr("Texts"), lambda batch: batch.texts, or_dash(figures.number), **count),
            Column(tr("Size"), lambda batch: batch.bytes, or_dash(figures.size), hidden=True, width=84),
            Column(
                tr("State"),
                lambda batch: self.state_of(batch).text,
                width=110,
                widest=states.state_texts(),
                icon=lambda batch: (self.state_of(batch).icon, self.state_of(batch).role),
                colour=lambda batch: self.state_of(batch).role,
            ),
            Column(tr("Request ID"), lambda batch: batch.request_id, hidden=True, stretch=True),
            Column(
                tr("Note"),
                lambda batch: jobs.note_of(batch)[0],
                stretch=True,
                colour=lambda batch: jobs.note_of(batch)[1],
            ),
            NumberColumn(tr("Requests"), lambda batch: batch.requests, hidden=True, **count),
            NumberColumn(tr("Tokens"), lambda batch: batch.tokens or None, hidden=True, **count),
            NumberColumn(tr("Checks"), lambda batch: batch.checks, hidden=True, **count),
            Column(
                tr("Sent"),
                lambda batch: batch.sent_at or None,
                figures.moment,
                hidden=True,
                width=166,
                gives_way=True,
                copies_text=True,
            ),
            Column(
                tr("Time"),
                lambda batch: time_words(batch, self._now),
                width=110,
                widest=[tr("took {time}").format(time=figures.duration(3599))],
                tip=tr("How long it took, or how long it has been in its state."),
                **moving,
            ),
            Column(
                tr("Last answer"),
                lambda batch: figures.age(batch.checked_at, self._now) if batch.checked_at else "",
                hidden=True,
                width=110,
                **moving,
            ),
            Column(tr("Next check"), self._next_check, width=98, gives_way=True, **moving),
        )


class RawAnswerDialog(Dialog):
    """The beginning of a raw answer."""

    def __init__(self, folder: JobFolder, batch: int, parent: QWidget | None = None) -> None:
        title = tr("Answer to batch {n}").format(n=batch)
        super().__init__(title, parent, (760, 560))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(title)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(self.fontInfo().pixelSize())
        self.text.setFont(font)
        copy = widgets.Button(tr("Copy"), "copy", lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        about = widgets.IconLine("", wrap=False)
        self.lay_out(title, self.text, beside=((about, 1), copy))
        try:
            text, is_whole = _beginning(folder.reply(batch))
        except DataError as error:
            about.set_line(said(error.message), "triangle-alert", "attention")
            return
        self.text.setPlainText(text)
        words = tr("The whole answer, as the service sent it.")
        if not is_whole:
            words = tr("The first {size} of the answer, as the service sent it.").format(size=figures.size(MOST_BYTES))
        about.set_line(words)


def _beginning(path: Path) -> tuple[str, bool]:
    """The first MOST_BYTES bytes of an answer as text, and whether that is all of it. Raises DataError."""
    try:
        with gzip.open(path) as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError) as error:
        raise DataError(
            "This answer could not be read from the job's folder.", detail=f"{path.name}: {error}"
        ) from error
    return data[:MOST_BYTES].decode("utf-8", "replace"), len(data) <= MOST_BYTES


Trouble = Sequence[Batch]
"""Batches in the same state for the same reason."""


def troubles_of(job: Job) -> list[Trouble]:
    """The batches with an error, grouped by state and error. Batches of unknown outcome are left out, because they have
    cards of their own, and so is the error for which the whole job is paused.
    """
    by_reason: dict[tuple[BatchState, str, str], list[Batch]] = {}
    for batch in job.batches:
        is_shown = batch.state is BatchState.OUTCOME_UNKNOWN or batch.error == job.paused_because
        if batch.error and not is_shown:
            by_reason.setdefault((batch.state, batch.error, batch.error_detail), []).append(batch)
    return list(by_reason.values())


def ranges(numbers: list[int]) -> str:
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)


class UnknownOutcomeCard(widgets.Card):
    def __init__(self, program: Program, job: Job, batch: Batch) -> None:
        self._title = widgets.Label("", "part")
        self._seen, self._means = widgets.Label("", "body", wrap=True), widgets.Label("", "quiet", wrap=True)
        self.problem = widgets.Saying("circle-x", "error", "error")
        choices = widgets.Flow()
        head = widgets.row(widgets.IconLabel("triangle-alert", "attention", 18), self._title, None)
        super().__init__(head, self._seen, self._means, MEDIUM - SMALL, widgets.boxed(choices), self.problem)
        self._program, self._actions, self._job, self._batch = program, program.actions, job, batch
        self.tasks = Tasks(self, lambda error: self.problem.set_line(said(error.message)))
        self.id_field = QLineEdit()
        self.id_field.setPlaceholderText(tr("Request ID, if you have it"))
        self.id_field.setAccessibleName(tr("Request ID of batch {n}").format(n=batch.number))
        self.id_field.setMinimumWidth(scaled(190))
        self.id_field.setMaximumWidth(scaled(340))
        self.id_field.textChanged.connect(self._typed)
        self.id_field.returnPressed.connect(self.adopt)
        self.adopt_button = widgets.Button(tr("Use this ID"), "link", self.adopt)
        self.again_button = widgets.Button(
            tr("Send again…"), "rotate-ccw", lambda: self.tasks.start("send again", self._send_again())
        )
        self.dismiss_button = widgets.QuietButton(
            tr("Leave it out"),
            "x",
            lambda: self.tasks.start("dismiss", self._actions.dismiss(job.id, batch.number)),
            tip=tr("Leave this batch without results. It can still be sent again."),
        )
        self.fields = (self.id_field, self.adopt_button, self.again_button, self.dismiss_button)
        for each in self.fields:
            choices.addWidget(each)
        self._typed("")

    def show_batch(self, job: Job, batch: Batch, planned: Planned) -> None:
        self._job, self._batch = job, batch
        for widget in (self.id_field, self.adopt_button):
            widget.setVisible(not batch.at_once)  # a batch that was run without the queue has no request id
        self._title.setText(tr("Batch {n} may or may not have arrived").format(n=batch.number))
        self._seen.setText(said(batch.error))
        self._means.setText(" ".join((self._what_it_means(), self._what_it_cost(planned))))

    def adopt(self) -> None:
        if request_id := self.id_field.text().strip():
            self.problem.hide()
            self.tasks.start("adopt", self._actions.adopt(self._job.id, self._batch.number, request_id))

    def _what_it_means(self) -> str:
        if self._batch.at_once:
            return tr("It was run without the queue, so its answer cannot be asked for any more.")
        texts = figures.plural(self._batch.texts, "{n} text", "{n} texts")
        return tr(
            "The service keeps no list of what it has accepted, so only a request ID can tell. If you have it, from a"
            " log or a proxy, paste it: it is adopted when the answer fits these {texts}."
        ).format(texts=texts)

    def _what_it_cost(self, planned: Planned) -> str:
        if states.is_practice(self._job):
            return tr("Practice costs nothing.")
        price = jobs.batch_price_words(self._job, self._batch, planned)
        if not price:
            return tr("If it was accepted, it was billed; sending it again is billed again.")
        return tr("If it was accepted, it cost {price}; sending it again costs that again.").format(price=price)

    def _typed(self, text: str) -> None:
        self.adopt_button.set_possible("" if text.strip() else tr("Paste the request ID first."))
        self.problem.hide()

    async def _send_again(self) -> None:
        sure = await dialogs.ask(
            self.window(),
            tr("Send batch {n} again?").format(n=self._batch.number),
            tr("If it did arrive the first time, it may be billed twice."),
            accept=tr("Send again"),
            danger=True,
        )
        if sure:
            await send_within_budget(self, self._program, self._job.id, self._batch.number)


class AccountPart(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._looks = tuple(map(states.state_words, (BatchState.PLANNED, *states.AnswerPlace)))
        self.figures = tuple(widgets.StateLabel("", words.icon, words.role) for words in self._looks)
        self.line = widgets.Saying("info", role="body")
        self.setLayout(widgets.column(widgets.boxed(widgets.Flow(*self.figures, gap=LARGE)), self.line, gap=SMALL))
        self.hide()

    def show_job(self, job: Job, connection: Connection | None) -> None:
        words = jobs.account_words(job, connection)
        self.setVisible(words is not None)
        if words is None:
            return
        for label, (count, text), look in zip(self.figures, words.counts, self._looks, strict=True):
            label.set_state(text, look.icon, look.role if count else "quiet")
        self.figures[0].setVisible(words.counts[0][0] > 0)  # what waits to be sent
        icon = ("circle-check", "done") if words.may_close else ("info", "quiet")
        self.line.set_line(words.line, *icon)


@dataclass(frozen=True, slots=True)
class Need:
    """What the user should know or do, with the words of each link and what it does."""

    text: str
    level: widgets.Level
    links: tuple[tuple[str, Callable[[], object]], ...] = ()


_SECOND = 1000  # milliseconds
_TABLE_HEIGHT = 240  # pixels, at least


class ProgressView(QWidget):
    """`look_wanted` asks for the results so far."""

    look_wanted = Signal()

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__()
        self._program, self._notices = program, notices
        self._job: Job | None = None
        self._planned = Planned()
        self.tasks = Tasks(self, notices.show_error)
        self.cards: dict[int, UnknownOutcomeCard] = {}
        self.bars: list[widgets.NoticeBar] = []
        self._shown_needs: list[tuple[str, ...]] = []
        self.table = BatchTable(program)
        self._make_widgets()
        self._lay_out()
        self._seconds = QTimer(self, interval=_SECOND)
        self._seconds.timeout.connect(self._tick)

    def show_job(self, job: Job, planned: Planned) -> None:
        if self._job is None or job.id != self._job.id:
            self._remove_cards(set(self.cards))
        self._job, self._planned = job, planned
        self.account.show_job(job, states.connection_of(self._program, job))
        self._show_needs(list(self._needs(job)))
        self._show_cards(job)
        self._attention_box.setVisible(bool(self.bars or self.cards))
        self._tick()
        self._foot.set_line(self._foot_words(job))

    # Widgets

    def _make_widgets(self) -> None:
        self.account = AccountPart()
        self.title = widgets.Label("", "part")
        self.look_link = widgets.LinkButton(tr("Look at what is here"), on_click=self.look_wanted.emit)
        self.bar = widgets.ThinProgress()
        self.times = widgets.Label("", "quiet", wrap=True)
        self._foot = widgets.Saying("info")

    def _lay_out(self) -> None:
        head = widgets.row(self.title, None, self.look_link)
        summary = widgets.Card(head, self.bar, self.times, self.account, gap=13)
        batches = widgets.Card(self.table, margins=(SMALL, 4, SMALL, SMALL))
        self.table.setMinimumHeight(_TABLE_HEIGHT)
        batches.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self._attention = widgets.column()
        self._attention_box = widgets.boxed(self._attention)
        parts = (self._attention_box, summary, (batches, 1), self._foot)
        content = widgets.column(*parts, gap=LARGE - 2, margins=widgets.PAGE_MARGINS)
        self.setLayout(widgets.column(widgets.scrolled(widgets.boxed(content)), gap=0))

    # What needs the user

    def _needs(self, job: Job) -> Iterator[Need]:
        """Why the job is paused, why the account does not collect, and what became of batches."""
        over, connection = jobs.is_over(job), states.connection_of(self._program, job)
        if job.paused_because and not over:
            trouble = self._program.runner.pause_error(job.id)
            act = self._notices.act_of(trouble.action) if trouble is not None else None
            first = ((action_words(trouble.action), act),) if trouble is not None and act is not None else ()
            level: widgets.Level = "info" if job.paused_because in STOPPED else "attention"
            yield Need(said(job.paused_because), level, (*first, (tr("Carry on"), self.carry_on)))
        if job.account_problem and not over and connection is not None and wants_account(job, connection):
            collect = partial(self._start, "account", self._program.actions.collect_in_account)
            links = () if job.taken_over else ((tr("Collect in my account"), collect),)
            yield Need(said(job.account_problem), "attention", links)
        for trouble_of_some in troubles_of(job):
            yield self._need_of(job, trouble_of_some)

    def _need_of(self, job: Job, trouble: Trouble) -> Need:
        first, links = trouble[0], list[tuple[str, Callable[[], object]]]()
        # Otherwise they wait, or some of their requests were refused.
        is_end = first.state in (BatchState.FAILED, BatchState.GONE, BatchState.DISMISSED)
        pattern = tr("Batch {n}: {why}") if len(trouble) == 1 else tr("Batches {n}: {why}")
        level: widgets.Level = "error" if is_end else "attention"
        why = said(first.error)
        if first.state is BatchState.DISMISSED:
            level, why = "info", tr("left as it is; it may or may not have arrived.")
        if first.error_detail:
            details = redacted(f"{said(first.error)}\n{first.error_detail}")
            links.append((tr("Copy details"), partial(QGuiApplication.clipboard().setText, details)))
        is_ours = not (job.attached or job.taken_over)
        if is_end and is_ours:
            is_at_once = first.error_action == Action.RUN_SYNCHRONOUSLY
            words = tr("Run at once") if is_at_once else tr("Send again")
            links.append((words, partial(self._start, "send again", partial(self._send_again, trouble))))
        elif first.failed_requests and is_ours:
            again = partial(self._start, "send again", partial(send_within_budget, self, self._program))
            links.append((tr("Send these again"), again))
        return Need(pattern.format(n=ranges([batch.number for batch in trouble]), why=why), level, tuple(links))

    def _show_needs(self, needs: Sequence[Need]) -> None:
        """Bars that say the same as before stay, with the focus that may be in them."""
        shown = [(need.text, need.level, *(words for words, _ in need.links)) for need in needs]
        if shown == self._shown_needs:
            return
        self._shown_needs = shown
        widgets.discard(self._attention, *self.bars)
        self.bars = [widgets.NoticeBar(need.text, need.level) for need in needs]
        for index, (bar, need) in enumerate(zip(self.bars, needs, strict=True)):
            for words, act in need.links:
                bar.add_link(words, act)
            self._attention.insertWidget(index, bar)
        self._order_tab()

    def _order_tab(self) -> None:
        """What needs the user comes first, as on the page."""
        links = (link for bar in self.bars for link in bar.links())
        fields = (field for card in self.cards.values() for field in card.fields)
        follow_in_tab_order(self, *links, *fields, self.look_link, self.table)

    def carry_on(self) -> None:
        self._start("carry on", self._program.runner.carry_on)

    def _start(self, name: str, work: Callable[[str], Coroutine[Any, Any, object]]) -> None:
        if self._job is not None:
            self.tasks.start(name, work(self._job.id))

    async def _send_again(self, trouble: Trouble, job_id: str) -> None:
        if any(batch.request_id for batch in trouble) and not states.is_practice(self._program.ledger.job(job_id)):
            sure = await dialogs.ask(
                self.window(),
                tr("Send again?"),
                tr("The service had accepted this work and may have billed it. Sent again, it is billed again."),
                accept=tr("Send again"),
            )
            if not sure:
                return
        await send_within_budget(self, self._program, job_id, *(batch.number for batch in trouble))

    def _show_cards(self, job: Job) -> None:
        unknown = {batch.number: batch for batch in job.batches if batch.state is BatchState.OUTCOME_UNKNOWN}
        self._remove_cards(set(self.cards) - set(unknown))
        for number, batch in unknown.items():
            if number not in self.cards:
                self.cards[number] = UnknownOutcomeCard(self._program, job, batch)
                self._attention.addWidget(self.cards[number])
                self._order_tab()
            self.cards[number].show_batch(job, batch, self._planned)

    def _remove_cards(self, numbers: set[int]) -> None:
        widgets.discard(self._attention, *(self.cards.pop(number) for number in numbers))

    # Updates

    def _tick(self) -> None:
        job = self._job
        if job is None:
            return
        self.title.setText(self._title_words(job))
        self.bar.set_parts(job.batches_done, len(job.batches))
        usual = "" if jobs.is_over(job) else jobs.usual_words(job, self._program.ledger.jobs())
        self.times.setText(" ".join(filter(None, (jobs.running_words(job, self._program.clock()), usual))))
        self.look_link.setVisible(job.has_results)
        self.table.show_job(job)
        if jobs.is_over(job):
            self._seconds.stop()
        elif self.isVisible() and not self._seconds.isActive():
            self._seconds.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tick()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._seconds.stop()

    def _title_words(self, job: Job) -> str:
        done, total = job.batches_done, len(job.batches)
        if not total:
            return tr("Nothing had to be sent")
        return tr("Batches back: {done} of {n}").format(done=figures.number(done), n=figures.number(total))

    def _foot_words(self, job: Job) -> str:
        progress = account_progress(job)
        if jobs.is_over(job):
            return tr("A double click on a batch opens the answer as it came.")
        if progress.lid_may_close:  # said beside the figures
            return ""
        if states.is_practice(job):
            return tr(
                "Practice runs on this computer: it waits while the program is closed and goes on at the next start."
            )
        if job.paused_because and not any(batch.state.is_at_service for batch in job.batches):
            return tr("What has not left waits on this computer; carry on to send it.")
        if job.paused_because:
            return tr("What was sent goes on at Cloudflare; carry on to collect it.")
        if not jobs.is_under_way(job):
            return tr("Nothing more happens by itself. Choose above what happens next.")
        if not goes_on_elsewhere(job):
            return tr("You can close the program: what has not left waits here and is sent at the next start.")
        return tr("You can close the program: what was sent goes on at Cloudflare; the next start picks it up.")
