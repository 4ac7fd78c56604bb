"""The details of a job as lines of text."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.spending import Planned
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.catalogue import find_model
from cfbatch_gui.ui.jobs.job_summary import price_words, size_words, token_words
from cfbatch_gui.ui.theme import LARGE, SMALL
from cfbatch_gui.ui.widgets import PAGE_MARGINS, Button, Card, Label, boxed, column, form, row, scrolled
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said
from cfbatch_gui.words.states import (
    connection_of,
    connection_title,
    is_collected,
    is_practice,
    title_words,
    words_of_batch,
)

_DAY = 86_400.0  # seconds
Line = tuple[str, str]


class DetailsView(QWidget):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program
        self._job: Job | None = None
        self._lines: tuple[Line, ...] = ()
        self._form = form(gap=LARGE)
        self.copy_button = Button(self.tr("Copy"), "copy", self.copy)
        self.folder_button = Button(self.tr("Show folder"), "folder-open", self.show_folder)
        about = Card(self._form, SMALL, row(self.copy_button, self.folder_button, None))
        self.setLayout(column(scrolled(boxed(column(about, None, margins=PAGE_MARGINS))), gap=0))

    def show_job(self, job: Job, planned: Planned) -> None:
        self._job = job
        self._show_lines(self._words(job, planned))

    def lines(self) -> tuple[Line, ...]:
        return self._lines

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.as_text())

    def as_text(self) -> str:
        lines = [f"{name}: {value}" for name, value in self._lines]
        for batch in self._job.batches if self._job else ():
            state = words_of_batch(batch, self._job).text
            pattern = self.tr("Batch {n}: {state}, {id}")
            lines.append(pattern.format(n=batch.number, state=state, id=batch.request_id or "–"))
        return "\n".join(lines)

    def show_folder(self) -> None:
        if self._job is not None:
            folder = self._program.folder(self._job.id).path
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _show_lines(self, lines: tuple[Line, ...]) -> None:
        if lines == self._lines:
            return  # a selection stays
        self._lines = lines
        while self._form.rowCount():
            self._form.removeRow(0)
        for name, words in lines:
            value = Label(words, "body", wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setAccessibleDescription(name)
            self._form.addRow(Label(name, "quiet"), value)

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
            (self.tr("Sent"), figures.moment(job.sent_at)),
            (self.tr("Finished"), self._finished_words(job)),
            (self.tr("Tokens expected"), token_words(job, planned)),
            (self.tr("Tokens counted"), figures.number(job.tokens) if job.tokens else ""),
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
        if not is_collected(job):
            return ""
        handed = sum(bool(batch.handed_over_at) for batch in job.batches)
        if job.taken_over:
            return figures.plural(
                handed,
                "{n} batch, handed over by another computer and taken over by this one",
                "{n} batches, handed over by another computer and taken over by this one",
            )
        parts = [figures.plural(handed, "{n} batch handed over", "{n} batches handed over")]
        if job.account_cleared_at:
            parts.append(self.tr("copies deleted {when}").format(when=figures.moment(job.account_cleared_at)))
        elif job.finished_at and (connection := connection_of(self._program, job)) is not None:
            until = job.finished_at + connection.keep_days * _DAY
            is_over = until <= self._program.clock()
            kept = self.tr("copies kept until {when}").format(when=figures.moment(until))
            parts.append(self.tr("copies are deleted at the next start") if is_over else kept)
        return " · ".join(parts)

    def _source_words(self, job: Job) -> str:
        if not job.source_name:
            return ""
        parts = [job.source_name, figures.plural(job.rows_in, "{n} row", "{n} rows")]
        if job.texts_forgotten_at:
            parts.append(self.tr("texts removed {when}").format(when=figures.moment(job.texts_forgotten_at)))
        return " · ".join(parts)

    def _left_out_words(self, job: Job, planned: Planned) -> str:
        count = figures.number(job.problems) if job.problems else ""
        if not planned.doubtful:
            return count
        return self.tr("{count}, of which {doubtful} may have been misread").format(
            count=count, doubtful=figures.number(planned.doubtful)
        )

    def _doubtful_words(self, planned: Planned) -> str:
        if not planned.doubtful_sent:
            return ""
        return figures.plural(planned.doubtful_sent, "{n}, sent as it was read", "{n}, sent as they were read")

    def _finished_words(self, job: Job) -> str:
        if not job.finished_at:
            return ""
        took = self.tr("after {time}").format(time=figures.duration(max(1.0, job.finished_at - job.sent_at)))
        return f"{figures.moment(job.finished_at)} · {took}"

    def _price_words(self, job: Job, planned: Planned) -> str:
        if is_practice(job):
            return self.tr("nothing, practice is free")
        price = price_words(job, planned)
        return self.tr("{price}, before what is free each day").format(price=price) if price else ""
