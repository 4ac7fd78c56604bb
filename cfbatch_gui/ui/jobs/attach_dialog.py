"""The dialog that adds a job begun elsewhere: its request ID or whole answer, model, connection, and its file."""

from collections.abc import Sequence

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QLineEdit, QPlainTextEdit, QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.run.attaching import PastedJob, read_pasted_job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui.job_labels import title_words
from cfbatch_gui.ui.jobs.attached_files import AttachedFiles
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import CONTROL_HEIGHT, LARGE, MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    Choice,
    IconLine,
    Label,
    PrimaryButton,
    column,
    row,
)

_SAMPLE = 200  # rows by which the roles of columns are suggested
_WIDTH, _TEXT_HEIGHT = 600, 110  # pixels


class AttachDialog(QDialog):
    """A dialog that is opened with `open()` and deletes itself; `attached` carries the id of the new job."""

    attached = Signal(str)

    def __init__(self, program: Program, parent: QWidget) -> None:
        super().__init__(parent)
        self._program = program
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Add a job by its request ID"))
        self.setMinimumWidth(_WIDTH)
        self.tasks = Tasks(self, self._show_error)
        self.text = QPlainTextEdit()
        self.text.setPlaceholderText(self.tr("The request ID, or the whole answer that curl or your Worker got"))
        self.text.setAccessibleName(self.tr("Request ID"))
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(scaled(_TEXT_HEIGHT))
        self.text.textChanged.connect(self._read_text)
        self.understood = IconLine("", "info")
        self.connection = Choice(self.tr("Connection"))
        self.model = QLineEdit(program.settings.model)
        self.model.setAccessibleName(self.tr("Model"))
        self.files = AttachedFiles(self.tasks, program.remembered_folder(FolderUse.INPUTS))
        self.files.changed.connect(self._files_changed)
        self.problem = IconLine("", "circle-x", "body", icon_role="error")
        self.problem.hide()
        self.add_button = PrimaryButton(self.tr("Add the job"), "plus")
        self.add_button.setDefault(True)
        self.add_button.clicked.connect(lambda: self.tasks.start("attach", self._attach()))
        self.cancel_button = Button(self.tr("Cancel"))
        self.cancel_button.clicked.connect(self.reject)
        self._lay_out()
        self._read_text()
        self.tasks.start("connections", self._list_connections())

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(MEDIUM)
        grid.setVerticalSpacing(SMALL)
        grid.setColumnStretch(1, 1)
        for index, (name, field) in enumerate(
            ((self.tr("Sent through"), self.connection), (self.tr("Model"), self.model))
        ):
            label = Label(name, "quiet")
            label.setBuddy(field)
            grid.addWidget(label, index, 0)
            grid.addWidget(field, index, 1)
        sent = Label(self.tr("What was sent"), "quiet")
        sent.setMinimumHeight(scaled(CONTROL_HEIGHT))
        grid.addWidget(sent, 2, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.files, 2, 1)
        about = Label(
            self.tr("A job that curl, a script or a Worker has sent is watched here and its results are shown."),
            "quiet",
            wrap=True,
        )
        self.setLayout(
            column(
                Label(self.tr("Add a job by its request ID"), "part"),
                about,
                self.text,
                self.understood,
                grid,
                self.problem,
                None,
                row(None, self.cancel_button, self.add_button),
                gap=MEDIUM,
                margins=(WIDE, WIDE - 4, WIDE, LARGE),
            )
        )

    # What was pasted

    def _pasted(self) -> PastedJob | str:
        """The job that was recognised in the text, or the sentence that says why none was."""
        try:
            return read_pasted_job(self.text.toPlainText())
        except UserError as error:
            return said(error.message)

    def _read_text(self) -> None:
        self.problem.hide()
        if not self.text.toPlainText().strip():
            self.understood.set_line(self.tr("Paste it as it is: what stands around it is passed over."), "info")
            self.add_button.set_possible(self.tr("Paste the request ID first."))
            return
        found = self._pasted()
        if isinstance(found, str):
            self.understood.set_line(found, "triangle-alert", "attention")
            self.add_button.set_possible(found)
            return
        if found.model:
            self.model.setText(found.model)
        self.understood.set_line(self.tr("There is a request ID in it."), "circle-check", "done")
        self.add_button.set_possible(self.files.missing())

    def _files_changed(self) -> None:
        self.problem.hide()
        if not isinstance(self._pasted(), str):
            self.add_button.set_possible(self.files.missing())

    async def _list_connections(self) -> None:
        chosen = self._program.settings.connection
        self._fill(await self._program.connections.summaries(), chosen)

    def _fill(self, connections: Sequence[ConnectionSummary], chosen: str) -> None:
        ready = [each for each in connections if each.is_ready]
        for each in ready:
            title = title_words(each.title)
            words = title if each.is_confirmed else self.tr("{name} (batches unconfirmed)").format(name=title)
            self.connection.add(words, each.id)
        usual = next((each.id for each in ready if not each.is_practice), "practice")
        self.connection.set_value(chosen if chosen not in ("", "practice") else usual)

    # Adding

    async def _attach(self) -> None:
        self.problem.hide()
        self._set_possible(self.tr("It is being added."))
        try:
            job = await self._program.attach(
                str(self.connection.value()),
                self.text.toPlainText(),
                model=self.model.text().strip(),
                name="" if self.files.inputs() else self._name(),
                inputs=self.files.inputs(),
            )
        finally:
            self._set_possible("")
        self.attached.emit(job.id)
        self.accept()

    def _name(self) -> str:
        """What a job is called of which nothing else is known."""
        when = QLocale().toString(QDateTime.currentDateTime(), self.tr("d MMM HH:mm"))
        return self.tr("Added job, {when}").format(when=when)

    def _set_possible(self, why_not: str) -> None:
        self.add_button.set_possible(why_not)
        for widget in (self.text, self.connection, self.model, self.files):
            widget.setEnabled(not why_not)

    def _show_error(self, error: UserError) -> None:
        self._say(said(error.message))

    def _say(self, sentence: str) -> None:
        self.problem.set_line(sentence, "circle-x", "error")
        self.problem.show()
