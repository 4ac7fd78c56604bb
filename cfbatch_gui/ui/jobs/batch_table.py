"""The batches of a job as a table, and the raw answer to one of them."""

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QWidget

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.widgets import Button, IconLine, add_action
from cfbatch_gui.words import figures
from cfbatch_gui.words.jobs import note_of
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import StateWords, state_texts, words_of_batch

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

    def state_of(self, batch: Batch) -> StateWords:
        return words_of_batch(batch, self._job)

    def open_answer(self, index: int) -> None:
        number = self.batches.row(index).number
        if self._job is not None and self._program.folder(self._job.id).reply(number).exists():
            RawAnswerDialog(self._program.folder(self._job.id), number, self).open()

    def add_to_menu(self, menu: QMenu, index: int) -> None:
        batch = self.batches.row(index)
        if batch.state is BatchState.DONE:
            add_action(menu, tr("Open the answer"), lambda: self.open_answer(index), "file-text")
        if batch.request_id and self._program.settings.for_developers:
            copy = partial(QGuiApplication.clipboard().setText, batch.request_id)
            add_action(menu, tr("Copy request ID"), copy, "copy")

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
                widest=state_texts(),
                icon=lambda batch: (self.state_of(batch).icon, self.state_of(batch).role),
                colour=lambda batch: self.state_of(batch).role,
            ),
            Column(tr("Request ID"), lambda batch: batch.request_id, hidden=True, stretch=True),
            Column(
                tr("Note"),
                lambda batch: note_of(batch)[0],
                stretch=True,
                colour=lambda batch: note_of(batch)[1],
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
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        copy = Button(tr("Copy"), "copy", lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        about = IconLine("", wrap=False)
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
