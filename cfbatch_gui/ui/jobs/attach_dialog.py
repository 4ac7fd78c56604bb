"""The dialog that adds a job begun elsewhere: its request ID or whole answer, model, connection, and its file."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.elsewhere import PastedJob, read_pasted_job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse, RememberedFolder
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.dialogs import FormDialog
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import CONTROL_HEIGHT, MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    Choice,
    ElidedLabel,
    Flow,
    IconLabel,
    IconLine,
    Label,
    LinkButton,
    PrimaryButton,
    boxed,
    column,
    row,
)

_SAMPLE = 200  # rows by which the roles of columns are suggested


class AttachedFiles(QWidget):
    """`changed` is emitted whenever `inputs()` or `missing()` may differ. `tasks` reports a file that cannot be
    read, and the files chosen before stay. With `kind` it is known how they were read, and nothing of that is
    asked or missing.
    """

    changed = Signal()

    def __init__(self, tasks: Tasks, folder: RememberedFolder, *, kind: Kind | None = None) -> None:
        super().__init__()
        self._tasks, self._folder, self._known_kind = tasks, folder, kind
        self._paths: tuple[Path, ...] = ()
        self._inputs: AttachedInput | None = None
        self._missing = ""
        self._is_reading = False
        self.choose_file = Button(self.tr("Choose the file…"), "file-up", self._choosing())
        self.choose_folder = Button(self.tr("Choose a folder…"), "folder", self._choosing(is_folder=True))
        self._buttons = boxed(Flow(self.choose_file, self.choose_folder))
        self.names = (ElidedLabel(""), ElidedLabel(""))
        self.removes = (LinkButton(self.tr("Remove")), LinkButton(self.tr("Remove")))
        self._lines = tuple(map(_line, self.names, self.removes))
        self.add_second = LinkButton(self.tr("Add the file of contexts…"), "plus", self._choosing(is_second=True))
        kinds = ((self.tr("Ranked texts"), Kind.RANK), (self.tr("Vectors"), Kind.EMBED))
        self.kind = Choice(self.tr("Kind"), kinds, lambda kind: self._read_as(Kind(str(kind))))
        self._about = IconLine("", "info")
        read_as = Label(self.tr("Read as"), "quiet")
        self._below = boxed(row(read_as, self.kind, None, self.add_second, gap=SMALL))
        for each in (read_as, self.kind):
            each.setVisible(kind is None)
        self.setLayout(column(self._buttons, *self._lines, self._below, self._about, gap=SMALL))
        for index, remove in enumerate(self.removes):
            remove.clicked.connect(partial(self._remove, index))
        self._show()

    def inputs(self) -> AttachedInput | None:
        """The files that were read; None without a file, and while something is missing."""
        return self._inputs

    def missing(self) -> str:
        return self.tr("Wait until the file is read.") if self._is_reading else self._missing

    def open(self, *paths: Path) -> None:
        self._tasks.start("choose", self._read(paths, None))

    def _choosing(self, *, is_folder: bool = False, is_second: bool = False) -> Callable[[], object]:
        return lambda: self._tasks.start("choose", self._choose(is_folder=is_folder, is_second=is_second))

    async def _choose(self, *, is_folder: bool, is_second: bool) -> None:
        if is_folder:
            title = self.tr("Open the folder whose texts were sent")
            path = await dialogs.choose_folder(self.window(), title, folder=self._folder)
        else:
            title = self.tr("Open the file with the contexts") if is_second else self.tr("Open the file that was sent")
            path = await dialogs.open_file(self.window(), title, filters=dialogs.input_filters(), folder=self._folder)
        if path is not None:
            await self._read((*self._paths[:1], path) if is_second else (path,), None)

    def _read_as(self, kind: Kind) -> None:
        paths = self._paths if kind is Kind.RANK else self._paths[:1]  # vectors are made of one file
        self._tasks.start("choose", self._read(paths, kind))

    async def _read(self, paths: tuple[Path, ...], kind: Kind | None) -> None:
        self._is_reading = True
        self.changed.emit()
        try:
            inputs = await asyncio.to_thread(_read_inputs, paths, kind or self._known_kind)
        finally:
            self._is_reading = False
            self.changed.emit()
        missing = "" if self._known_kind else check_mapping(inputs.mapping, inputs.source, inputs.second)
        self._paths, self._missing, self._inputs = paths, said(missing), None if missing else inputs
        self.kind.set_value(inputs.mapping.kind)
        self._show()

    def _remove(self, index: int) -> None:
        if index == 1:
            self._tasks.start("choose", self._read(self._paths[:1], None))
            return
        self._paths, self._inputs, self._missing = (), None, ""
        self._show()
        self.choose_file.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        count = len(self._paths)
        self._buttons.setVisible(not count)
        takes_second = self._known_kind is not Kind.EMBED  # vectors are made of one file
        self._below.setVisible(count > 0 and (self._known_kind is None or (takes_second and count == 1)))
        for index, line in enumerate(self._lines):
            line.setVisible(index < count)
            name = self._paths[index].name if index < count else ""
            self.names[index].setText(name)
            self.removes[index].setAccessibleName(self.tr("Remove {name}").format(name=name))
        self.add_second.setVisible(count == 1)
        if self._missing:
            self._about.set_line(self._missing, "triangle-alert", "attention")
        elif count:
            self._about.set_line(
                self.tr("The answer is put in the order of what was sent; it is checked to fit."), "info"
            )
        else:
            self._about.set_line(
                self.tr("Without the file, results are named by their order: “Query 1 · Context 2”."), "info"
            )
        self.changed.emit()


def _line(name: ElidedLabel, remove: LinkButton) -> QWidget:
    remove.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    line = boxed(row(IconLabel("file-text", "text", 16), (name, 1), remove))
    line.setMinimumHeight(scaled(CONTROL_HEIGHT))
    return line


def _read_inputs(paths: tuple[Path, ...], kind: Kind | None) -> AttachedInput:
    first, *others = [open_source(path) for path in paths]
    second = others[0] if others else None
    sample = preview(second, _SAMPLE) if second is not None else ()
    return AttachedInput(first, suggest_mapping(first, kind, preview(first, _SAMPLE), second, sample), second)


_WIDTH, _TEXT_HEIGHT = 600, 110  # pixels


class AttachDialog(FormDialog):
    """A dialog that is opened with `open()` and deletes itself; `attached` carries the id of the new job."""

    attached = Signal(str)

    def __init__(self, program: Program, parent: QWidget) -> None:
        super().__init__(tr("Add a job by its request ID"), parent)
        self.add_button = PrimaryButton(tr("Add the job"), "plus", lambda: self.tasks.start("attach", self._attach()))
        self._program = program
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
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
        about = self.tr("A job that curl, a script or a Worker has sent is watched here and its results are shown.")
        content = (self.text, self.understood, grid, self.problem, None)
        self.lay_out(self.windowTitle(), about, *content, accept=self.add_button)

    # What was pasted

    def _pasted(self) -> PastedJob | str:
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
        when = QLocale().toString(QDateTime.currentDateTime(), self.tr("d MMM HH:mm"))
        return self.tr("Added job, {when}").format(when=when)

    def _set_possible(self, why_not: str) -> None:
        self.add_button.set_possible(why_not)
        for widget in (self.text, self.connection, self.model, self.files):
            widget.setEnabled(not why_not)

    def _show_error(self, error: UserError) -> None:
        self.problem.set_line(said(error.message), "circle-x", "error")
        self.problem.show()
