"""The details of a job as lines of text, its batches, and the dialog with the raw answer of one."""

import asyncio
import gzip
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QGridLayout, QMenu, QPlainTextEdit, QWidget

from cfbatch_gui.core.errors import DataError, UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.spending import Planned
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.catalogue import find_model
from cfbatch_gui.ui import display
from cfbatch_gui.ui.dialogs import ShownDialog
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.jobs.job_summary import price_words, size_words, state_column, token_words
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.state_names import (
    StateWords,
    connection_of,
    connection_title,
    is_collected,
    is_practice,
    title_words,
    words_of_batch,
)
from cfbatch_gui.ui.tables.table_rows import NumberColumn
from cfbatch_gui.ui.tables.table_view import Column, Rows, TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL
from cfbatch_gui.ui.widgets import PAGE_MARGINS, Button, Card, IconLine, Label, add_action, boxed, column, row, scrolled

MOST_BYTES = 200_000  # of a raw answer that are shown
_LABELS_WIDTH = 170
_TABLE_HEIGHT = 220
_DAY = 86_400.0  # seconds
Line = tuple[str, str]


class DetailsView(QWidget):
    def __init__(self, program: Program, *, memory: Memory | None = None) -> None:
        super().__init__()
        self._program = program
        self._job: Job | None = None
        self._is_collected = False
        self._lines: tuple[Line, ...] = ()
        self._form = QGridLayout()
        self._form.setHorizontalSpacing(LARGE)
        self._form.setVerticalSpacing(SMALL)
        self._form.setColumnMinimumWidth(0, _LABELS_WIDTH)
        self._form.setColumnStretch(1, 1)
        self.copy_button = Button(self.tr("Copy"), "copy", self.copy)
        self.folder_button = Button(self.tr("Show folder"), "folder-open", self.show_folder)
        self.batches: Rows[Batch] = Rows(self._columns(), key=lambda batch: batch.number, parent=self)
        title = self.tr("Batches and their answers")
        self.table = TableView(
            "details/batches", title, self.batches, memory=memory, inset=True, on_opened=self.open_answer
        )
        self.table.setMinimumHeight(_TABLE_HEIGHT)
        self.table.menu_opening.connect(self._add_to_menu)
        self._hint = Label(self.tr("A double click opens the answer as it came."), "small")
        self._lay_out()

    def show_job(self, job: Job, planned: Planned) -> None:
        self._job, self._is_collected = job, is_collected(job)
        self._show_lines(self._words(job, planned))
        self.batches.set_rows(job.batches)

    def lines(self) -> tuple[Line, ...]:
        return self._lines

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.as_text())

    def as_text(self) -> str:
        batches = self._job.batches if self._job else ()
        lines = [f"{name}: {value}" for name, value in self._lines]
        lines += [
            self.tr("Batch {n}: {state}, {id}").format(
                n=batch.number, state=self._state(batch).text, id=batch.request_id or "–"
            )
            for batch in batches
        ]
        return "\n".join(lines)

    def show_folder(self) -> None:
        if self._job is not None:
            folder = self._program.folder(self._job.id).path
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def open_answer(self, index: int) -> None:
        batch = self.batches.row(index)
        if self._job is not None and self._program.folder(self._job.id).reply(batch.number).exists():
            RawAnswerDialog(self._program.folder(self._job.id), batch.number, self).open()

    def copy_request_id(self, index: int) -> None:
        QGuiApplication.clipboard().setText(self.batches.row(index).request_id)

    def _lay_out(self) -> None:
        about = Card(self._form, SMALL, row(self.copy_button, self.folder_button, None))
        hint = row(self._hint, margins=(MEDIUM, 0, 0, 0))
        batches = Card(self.table, hint, margins=(SMALL, 4, SMALL, MEDIUM))
        content = column(about, (batches, 1), gap=LARGE - 2, margins=PAGE_MARGINS)
        self.setLayout(column(scrolled(boxed(content)), gap=0))

    def _show_lines(self, lines: tuple[Line, ...]) -> None:
        if lines == self._lines:
            return  # a selection stays
        self._lines = lines
        while (item := self._form.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for index, (name, words) in enumerate(lines):
            value = Label(words, "body", wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setAccessibleDescription(name)
            self._form.addWidget(Label(name, "quiet"), index, 0, Qt.AlignmentFlag.AlignTop)
            self._form.addWidget(value, index, 1)

    def _words(self, job: Job, planned: Planned) -> tuple[Line, ...]:
        lines = (
            (self.tr("Connection"), self._connection_words(job)),
            (self.tr("Model"), f"{said(find_model(job.model).title)} · {job.model}"),
            (self.tr("Options"), self._option_words(job)),
            (self.tr("Size"), size_words(job, planned)),
            (self.tr("Source"), self._source_words(job)),
            (self.tr("SHA-256 of the file"), job.source_sha256),
            (self.tr("Rows left out"), self._left_out_words(job, planned)),
            (self.tr("Doubtful rows"), self._doubtful_words(planned)),
            (self.tr("Sent"), display.moment(job.sent_at)),
            (self.tr("Finished"), self._finished_words(job)),
            (self.tr("Tokens expected"), token_words(job, planned)),
            (self.tr("Tokens counted"), display.number(job.tokens) if job.tokens else ""),
            (self.tr("Price"), self._price_words(job, planned)),
            (self.tr("In your account"), self._account_words(job)),
            (self.tr("Job"), job.id),
            (self.tr("Folder"), str(self._program.folder(job.id).path)),
        )
        return tuple(line for line in lines if line[1])

    def _connection_words(self, job: Job) -> str:
        title = title_words(connection_title(self._program, job))
        if is_practice(job):
            return self.tr("{title}: on this computer, by a small model in place of Cloudflare's").format(title=title)
        return title

    def _option_words(self, job: Job) -> str:
        found = [
            self.tr("texts that are too long are cut")
            if job.options.truncate_inputs
            else self.tr("texts that are too long are left out")
        ]
        if job.kind is Kind.EMBED and job.options.pooling:
            found.append(self.tr("pooling {name}").format(name=job.options.pooling))
        return " · ".join(found)

    def _account_words(self, job: Job) -> str:
        if not self._is_collected:
            return ""
        handed = sum(bool(batch.handed_over_at) for batch in job.batches)
        if job.taken_over:
            return display.plural(
                handed,
                "{n} batch, handed over by another computer and taken over by this one",
                "{n} batches, handed over by another computer and taken over by this one",
            )
        parts = [display.plural(handed, "{n} batch handed over", "{n} batches handed over")]
        if job.account_cleared_at:
            parts.append(self.tr("copies deleted {when}").format(when=display.moment(job.account_cleared_at)))
        elif job.finished_at and (connection := connection_of(self._program, job)) is not None:
            until = job.finished_at + connection.keep_days * _DAY
            is_over = until <= self._program.clock()
            kept = self.tr("copies kept until {when}").format(when=display.moment(until))
            parts.append(self.tr("copies are deleted at the next start") if is_over else kept)
        return " · ".join(parts)

    def _source_words(self, job: Job) -> str:
        if not job.source_name:
            return ""
        parts = [job.source_name, display.plural(job.rows_in, "{n} row", "{n} rows")]
        if job.texts_forgotten_at:
            parts.append(self.tr("texts removed {when}").format(when=display.moment(job.texts_forgotten_at)))
        return " · ".join(parts)

    def _left_out_words(self, job: Job, planned: Planned) -> str:
        count = display.number(job.problems) if job.problems else ""
        if not planned.doubtful:
            return count
        return self.tr("{count}, of which {doubtful} may have been misread").format(
            count=count, doubtful=display.number(planned.doubtful)
        )

    def _doubtful_words(self, planned: Planned) -> str:
        if not planned.doubtful_sent:
            return ""
        return display.plural(planned.doubtful_sent, "{n}, sent as it was read", "{n}, sent as they were read")

    def _finished_words(self, job: Job) -> str:
        if not job.finished_at:
            return ""
        took = self.tr("after {time}").format(time=display.duration(max(1.0, job.finished_at - job.sent_at)))
        return f"{display.moment(job.finished_at)} · {took}"

    def _price_words(self, job: Job, planned: Planned) -> str:
        if is_practice(job):
            return self.tr("nothing, practice is free")
        price = price_words(job, planned)
        return self.tr("{price}, before what is free each day").format(price=price) if price else ""

    def _columns(self) -> tuple[Column[Batch], ...]:
        return (
            Column(self.tr("Batch"), lambda batch: batch.number, key="batch", align="right", width=66),
            state_column(self._state, width=110),
            Column(self.tr("Request ID"), lambda batch: batch.request_id, key="request", stretch=True),
            NumberColumn(self.tr("Requests"), lambda each: each.requests, key="requests", width=88, gives_way=True),
            NumberColumn(self.tr("Tokens"), lambda each: each.tokens or None, key="tokens", width=88, gives_way=True),
            NumberColumn(self.tr("Checks"), lambda each: each.checks, key="checks", width=78, gives_way=True),
            Column(
                self.tr("Sent"),
                lambda batch: batch.sent_at or None,
                display.moment,
                key="sent",
                width=166,
                gives_way=True,
                copies_text=True,
            ),
        )

    def _state(self, batch: Batch) -> StateWords:
        return words_of_batch(batch, in_collected_job=self._is_collected)

    def _add_to_menu(self, menu: QMenu, index: int) -> None:
        if self.batches.row(index).state is BatchState.DONE:
            add_action(menu, self.tr("Open the answer"), lambda: self.open_answer(index), "file-text")
        if self.batches.row(index).request_id:
            add_action(menu, self.tr("Copy request ID"), lambda: self.copy_request_id(index), "copy")


class RawAnswerDialog(ShownDialog):
    """The beginning of a raw answer, read in a thread."""

    def __init__(self, folder: JobFolder, batch: int, parent: QWidget | None = None) -> None:
        title = tr("Answer to batch {n}").format(n=batch)
        super().__init__(title, parent, (760, 560))
        self._about = IconLine(self.tr("Reading…"), wrap=False)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(title)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        copy = Button(self.tr("Copy"), "copy", lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self.lay_out(title, self.text, foot=((self._about, 1), copy))
        self.tasks = Tasks(self, self._show_error)
        self.tasks.start("read", self._read(folder.reply(batch)))

    async def _read(self, path: Path) -> None:
        text, is_whole = await asyncio.to_thread(_beginning, path)
        self.text.setPlainText(text)
        most = display.size(MOST_BYTES)
        self._about.set_line(
            self.tr("The whole answer, as the service sent it.")
            if is_whole
            else self.tr("The first {size} of the answer, as the service sent it.").format(size=most)
        )

    def _show_error(self, error: UserError) -> None:
        self._about.set_line(said(error.message), "triangle-alert", "attention")


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
