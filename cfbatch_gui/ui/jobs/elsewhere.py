"""Dialogs for jobs begun elsewhere: added by request ID, listed as the account has them, taken over from there."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QWidget,
)
from shiboken6 import isValid

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.elsewhere import AccountJob, read_pasted_job
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse, RememberedFolder, SavedConnection
from cfbatch_gui.core.workers_ai.answers import Waiting
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import CONTROL_HEIGHT, MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    Choice,
    DangerButton,
    ElidedLabel,
    Flow,
    IconLabel,
    IconLine,
    Label,
    LinkButton,
    MaybeEmpty,
    PrimaryButton,
    Saying,
    boxed,
    column,
    form,
    row,
)
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import kind_icon, kind_words, title_words, words_of_job

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
        self.names = ElidedLabel("")
        self.remove = LinkButton(self.tr("Remove"), on_click=self._remove)
        self.remove.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._chosen = boxed(row(IconLabel("file-text", "text", 16), (self.names, 1), self.remove))
        self._chosen.setMinimumHeight(scaled(CONTROL_HEIGHT))
        self.add_second = LinkButton(self.tr("Add the file of candidates…"), "plus", self._choosing(is_second=True))
        kinds = ((self.tr("Ranked texts"), Kind.RANK), (self.tr("Vectors"), Kind.EMBED))
        self.kind = Choice(self.tr("Kind"), kinds, lambda kind: self._read_as(Kind(str(kind))))
        self._about = IconLine("", "info")
        read_as = Label(self.tr("Read as"), "quiet")
        self._below = boxed(row(read_as, self.kind, None, self.add_second, gap=SMALL))
        for each in (read_as, self.kind):
            each.setVisible(kind is None)
        self.setLayout(column(self._buttons, self._chosen, self._below, self._about, gap=SMALL))
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
            title = (
                self.tr("Open the file with the candidates") if is_second else self.tr("Open the file that was sent")
            )
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

    def _remove(self) -> None:
        self._paths, self._inputs, self._missing = (), None, ""
        self._show()
        self.choose_file.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        count = len(self._paths)
        self._buttons.setVisible(not count)
        self._chosen.setVisible(count > 0)
        names = figures.listed([path.name for path in self._paths])
        self.names.setText(names)
        self.remove.setAccessibleName(self.tr("Remove {name}").format(name=names))
        takes_second = self._known_kind is not Kind.EMBED  # vectors are made of one file
        self._below.setVisible(count > 0 and (self._known_kind is None or (takes_second and count == 1)))
        self.add_second.setVisible(count == 1)
        about = self.tr("Without the file, results are named by their order: “Query 1 · Candidate 2”.")
        if count:
            about = self.tr("The answer is put in the order of what was sent; it is checked to fit.")
        look = ("triangle-alert", "attention") if self._missing else ("info", "quiet")
        self._about.set_line(self._missing or about, *look)
        self.changed.emit()


def _read_inputs(paths: tuple[Path, ...], kind: Kind | None) -> AttachedInput:
    first, *others = [open_source(path) for path in paths]
    second = others[0] if others else None
    sample = preview(second, _SAMPLE) if second is not None else ()
    return AttachedInput(first, suggest_mapping(first, kind, preview(first, _SAMPLE), second, sample), second)


_WIDTH, _TEXT_HEIGHT = 600, 110  # pixels


class _BegunElsewhere(Dialog):
    """Open it with `open()`; it deletes itself. `added` carries the id of the job once it is here."""

    added = Signal(str)

    def __init__(self, program: Program, title: str, parent: QWidget | None, kind: Kind | None = None) -> None:
        super().__init__(title, parent, (_WIDTH, 0))
        self._program = program
        self.tasks = Tasks(self, self._show_error)
        self.files = AttachedFiles(self.tasks, program.remembered_folder(FolderUse.INPUTS), kind=kind)
        self.problem = Saying("circle-x", "error", "body")

    def _show_error(self, error: UserError) -> None:
        self.problem.set_line(said(error.message))


class AttachDialog(_BegunElsewhere):
    def __init__(self, program: Program, parent: QWidget) -> None:
        super().__init__(program, tr("Add a job by its request ID"), parent)
        self.add_button = PrimaryButton(tr("Add the job"), "plus", lambda: self.tasks.start("attach", self._attach()))
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
        self.files.changed.connect(self._files_changed)
        self._lay_out()
        self._read_text()
        self.tasks.start("connections", self._list_connections())

    def _lay_out(self) -> None:
        fields = form()
        fields.addRow(Label(self.tr("Sent through"), "quiet"), self.connection)
        fields.addRow(Label(self.tr("Model"), "quiet"), self.model)
        fields.addRow(Label(self.tr("What was sent"), "quiet"), self.files)
        about = self.tr("A job that curl, a script or a Worker has sent is watched here and its results are shown.")
        content = (self.text, self.understood, fields, self.problem, None)
        self.lay_out(self.windowTitle(), *content, about=about, buttons=[self.add_button])

    # What was pasted

    def _pasted(self) -> Waiting | str:
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
        ready = [each for each in await self._program.connections.summaries() if each.is_ready]
        for each in ready:
            title = title_words(each.title)
            words = title if each.is_confirmed else self.tr("{name} (batches unconfirmed)").format(name=title)
            self.connection.add(words, each.id)
        usual = next((each.id for each in ready if each.id != PRACTICE.id), PRACTICE.id)
        self.connection.set_value(chosen if chosen not in ("", "practice") else usual)

    # Adding

    async def _attach(self) -> None:
        self.problem.hide()
        self._set_possible(self.tr("It is being added."))
        try:
            job = await self._program.elsewhere.attach(
                str(self.connection.value()),
                self.text.toPlainText(),
                usual_model=self.model.text().strip() or self._program.settings.model,
                name="" if self.files.inputs() else self._name(),
                inputs=self.files.inputs(),
            )
        finally:
            self._set_possible("")
        self.added.emit(job.id)
        self.accept()

    def _name(self) -> str:
        when = QLocale().toString(QDateTime.currentDateTime(), self.tr("d MMM HH:mm"))
        return self.tr("Added job, {when}").format(when=when)

    def _set_possible(self, why_not: str) -> None:
        self.add_button.set_possible(why_not)
        for widget in (self.text, self.connection, self.model, self.files):
            widget.setEnabled(not why_not)


_TASK = "take over"


class TakeOverDialog(_BegunElsewhere):
    """`tasks` are the window's, so that its end waits until what was begun is put away."""

    def __init__(
        self, program: Program, tasks: Tasks, connection_id: str, found: AccountJob, parent: QWidget | None = None
    ) -> None:
        title = tr("Take over “{name}”").format(name=figures.one_line(found.title, 60))
        super().__init__(program, title, parent, found.kind)
        self.take_button = PrimaryButton(tr("Take over"), "download", lambda: tasks.start(_TASK, self._take_over()))
        self._connection_id, self._found = connection_id, found
        self.files.changed.connect(self._files_changed)
        self.doing = Saying("loader", "accent", "quiet")
        self.finished.connect(lambda _: tasks.cancel(_TASK))
        about = self.tr(
            "This computer then watches the job and fetches its answers too. Nothing is sent again, and nothing is paid"
            " for again."
        )
        sent = column(Label(self.tr("The file that was sent"), "strong"), self.files, gap=SMALL)
        self.lay_out(title, sent, self.doing, self.problem, None, about=about, buttons=[self.take_button])

    def _files_changed(self) -> None:
        self.problem.hide()
        self.take_button.set_possible(self.files.missing())

    async def _take_over(self) -> None:
        self.problem.hide()
        self._set_doing(self.tr("Fetching what was handed over with it…"))
        try:
            job = await self._program.elsewhere.take_over(self._connection_id, self._found, self.files.inputs())
        except UserError as error:
            self._show_error(error)
            return
        finally:
            if isValid(self):  # not when the window was closed meanwhile
                self._set_doing("")
        self.added.emit(job.id)
        self.accept()

    def _set_doing(self, doing: str) -> None:
        self.doing.set_line(doing)
        self.files.setEnabled(not doing)
        self.take_button.set_possible(self.tr("It is being taken over.") if doing else self.files.missing())


class AccountDialog(Dialog):
    """Open it with `open()`; it deletes itself. `tasks` are the window's, so that its end waits for what is under way.

    `opened` carries the id of a job on this computer, also of one that was just taken over.
    """

    opened = Signal(str)

    def __init__(self, program: Program, tasks: Tasks, connection_id: str, parent: QWidget) -> None:
        super().__init__(tr("In your account"), parent, (760, 520))
        self.take_button = PrimaryButton(tr("Take over…"), "download", self._take_over_or_open)
        self._program, self._tasks = program, tasks
        self._workers = tuple(each for each in program.address_book.saved() if each.kind == "worker")
        names = [(each.name, each.id) for each in self._workers]
        self.connection = Choice(self.tr("Worker"), names, lambda _: self.look())
        self.connection.set_value(connection_id or _usual(self._workers, program.settings.connection))
        self.look_button = Button(self.tr("Look again"), "refresh-cw", self.look)
        self.problem = Saying("triangle-alert", "attention", "body")
        self._make_table()
        self.doing = Saying("loader", "accent", "quiet", wrap=False)
        self.remove_button = DangerButton(self.tr("Remove from my account…"), "trash-2", self._remove)
        for name in ("account list", "account removal"):
            self.finished.connect(lambda _, name=name: tasks.cancel(name))
        self._lay_out()
        self._selected()
        self.look()

    def look(self) -> None:
        if self._workers:
            self._tasks.start("account list", self._look())

    # Widgets

    def _make_table(self) -> None:
        self.rows: Rows[AccountJob] = Rows(self._columns(), key=lambda job: job.id, parent=self)
        title = self.tr("Jobs in your account")
        self.table = TableView("account/jobs", title, self.rows, on_opened=lambda _: self.take_button.click())
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selected())
        self.places = MaybeEmpty("inbox", self.table)
        if not self._workers:
            self.places.show_sentence(
                self.tr(
                    "A Worker of your own can collect answers in your account while this computer is off. There is none"
                    " yet."
                )
            )

    def _lay_out(self) -> None:
        about = self.tr("Jobs whose answers your account collects, whichever computer has sent them.")
        label = Label(self.tr("Worker"), "quiet")
        label.setBuddy(self.connection)
        which = boxed(row(label, self.connection, None, self.look_button, gap=MEDIUM))
        which.setVisible(bool(self._workers))
        content = (which, self.problem, (self.places, 1), self.doing)
        buttons, beside = [self.take_button], [self.remove_button]
        self.lay_out(self.windowTitle(), *content, about=about, buttons=buttons, beside=beside)
        self.close_button.setText(self.tr("Close"))
        for each in (self.remove_button, self.take_button):
            each.setVisible(bool(self._workers))

    def _columns(self) -> tuple[Column[AccountJob], ...]:
        now = self._program.clock()
        here, not_here = self.tr("On this computer"), self.tr("not here")
        return (
            Column(self.tr("Job"), lambda job: job.title, key="job", icon=_icon, stretch=True),
            Column(self.tr("Kind"), lambda job: kind_words(job.kind), key="kind", width=90, gives_way=True),
            NumberColumn(self.tr("Batches"), lambda job: job.batches, key="batches", width=80),
            Column(
                self.tr("Handed over"),
                lambda job: job.at,
                lambda at: figures.age(at, now),
                key="at",
                width=110,
                copies_text=True,
            ),
            Column(
                here,
                lambda job: words_of_job(known).text if (known := self._job_here(job)) else not_here,
                key="here",
                width=170,
                colour=lambda job: "" if job.is_here else "quiet",
            ),
        )

    # What is shown

    async def _look(self) -> None:
        name = self._program.address_book.title(self._connection_id)
        self.problem.hide()
        self.rows.set_rows(())
        self.places.show_sentence(self.tr("Asking “{name}”…").format(name=name))
        self._selected()
        try:
            found = await self._program.elsewhere.listed(self._connection_id)
        except UserError as error:
            self.places.show_sentence("")
            self._show_problem(error)
            return
        self._show_jobs(found)

    def _show_jobs(self, found: tuple[AccountJob, ...]) -> None:
        self.rows.set_rows(found)
        if not found:
            self.places.show_sentence(
                self.tr(
                    "Nothing is in this account. Jobs stand here while it collects their answers, also those that"
                    " another computer has sent."
                )
            )
            return
        self.places.show_content()
        self.table.selectRow(0)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_problem(self, error: UserError) -> None:
        self.problem.set_line(said(error.message))

    def _selected(self) -> None:
        chosen = self._chosen()
        why = "" if chosen else self.tr("Choose a job first.")
        self.take_button.set_possible(why)
        self.remove_button.set_possible(why)
        is_here = chosen is not None and self._job_here(chosen) is not None
        self.take_button.setText(self.tr("Open") if is_here else self.tr("Take over…"))
        self.take_button.set_icon("chevron-right" if is_here else "download")

    def _chosen(self) -> AccountJob | None:
        selected = self.table.selected_rows() if self.places.currentWidget() is self.table else []
        return self.rows.row(selected[0]) if selected else None

    def _job_here(self, found: AccountJob) -> Job | None:
        return next((job for job in self._program.ledger.jobs() if job.id == found.id and job.is_sent), None)

    @property
    def _connection_id(self) -> str:
        return str(self.connection.value())

    # What can be done

    def _take_over_or_open(self) -> None:
        chosen = self._chosen()
        if chosen is None:
            return
        if self._job_here(chosen) is not None:
            self._open(chosen.id)
            return
        dialog = TakeOverDialog(self._program, self._tasks, self._connection_id, chosen, self)
        dialog.added.connect(self._open)
        dialog.open()

    def _open(self, job_id: str) -> None:
        self.opened.emit(job_id)
        self.accept()

    def _remove(self) -> None:
        if (chosen := self._chosen()) is not None:
            self._tasks.start("account removal", self._remove_after_asking(chosen))

    async def _remove_after_asking(self, found: AccountJob) -> None:
        title = self.tr("Remove “{name}” from your account?").format(name=figures.one_line(found.title, 60))
        text = self.tr(
            "What your account has of it is deleted. Answers that no computer has fetched yet are lost, unless the"
            " service still has them: it keeps them for some days, and nobody says how many."
        )
        if not await dialogs.ask(self, title, text, accept=self.tr("Remove"), danger=True):
            return
        self._set_doing(self.tr("Removing it…"))
        try:
            await self._program.elsewhere.remove(self._connection_id, found)
        except UserError as error:
            self._show_problem(error)
            return
        finally:
            if isValid(self):  # not when the window was closed meanwhile
                self._set_doing("")
        self.look()

    def _set_doing(self, doing: str) -> None:
        self.doing.set_line(doing)
        self.table.setEnabled(not doing)
        self._selected()
        if doing:
            for each in (self.take_button, self.remove_button):
                each.set_possible(doing)


def _icon(job: AccountJob) -> tuple[str, str]:
    return kind_icon(job.kind), "quiet"


def _usual(workers: tuple[SavedConnection, ...], used: str) -> str:
    ranked = sorted(workers, key=lambda each: (each.id != used, not each.collects))
    return ranked[0].id if ranked else ""
