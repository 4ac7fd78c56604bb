"""Dialogs for jobs begun elsewhere: added by request ID, listed as the account has them, taken over from there."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QPlainTextEdit, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.elsewhere import AccountJob, read_pasted_job
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse, RememberedFolder
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, ConnectionKind
from cfbatch_gui.ui import dialogs, widgets
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import Button, Choice, IconLine, Label, LinkButton, Saying, boxed, column, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.jobs import account_columns
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.purposes import ICONS
from cfbatch_gui.words.states import title_words

_SAMPLE = 200  # rows by which the roles of columns are suggested
_TEXT_HEIGHT = 110  # pixels


class AttachedFiles(QWidget):
    """The files that were sent. `changed` is emitted whenever `inputs()` or `missing()` may differ. `tasks` reports a
    file that cannot be read, and the files chosen before stay.
    """

    changed = Signal()

    def __init__(self, tasks: Tasks, folder: RememberedFolder) -> None:
        super().__init__()
        self._tasks, self._folder = tasks, folder
        self._known_kind: Kind | None = None
        self._paths: tuple[Path, ...] = ()
        self._inputs: AttachedInput | None = None
        self._missing, self._is_reading = "", False
        self.choose_file = Button(tr("Choose the file…"), "file-up", partial(self._choose))
        self.choose_folder = Button(tr("Choose a folder…"), "folder", partial(self._choose, is_folder=True))
        self.names = widgets.ElidedLabel("")
        self.remove = LinkButton(tr("Remove"), on_click=self._remove)
        self.add_second = LinkButton(tr("Add the file of candidates…"), "plus", partial(self._choose, is_second=True))
        kinds = ((tr("Ranked texts"), Kind.RANK), (tr("Vectors"), Kind.EMBED))
        self.kind = Choice(tr("Read as"), kinds, lambda kind: self._read_as(Kind(str(kind))))
        self._about = IconLine("", "info")
        chosen = row(self.choose_file, self.choose_folder, (self.names, 1), self.remove)
        self.setLayout(column(chosen, row(self.kind, self.add_second, None), self._about, gap=SMALL))
        self._show()

    def begin(self, kind: Kind) -> None:
        """Without files; how they were read is known, and nothing of it is asked or missing."""
        self._known_kind = kind
        self._remove()

    def inputs(self) -> AttachedInput | None:
        """The files that were read; None without a file, and while something is missing."""
        return self._inputs

    def missing(self) -> str:
        return tr("Wait until the file is read.") if self._is_reading else self._missing

    def open(self, *paths: Path, kind: Kind | None = None) -> None:
        self._tasks.start("read", self._read(paths, kind))

    def _choose(self, *, is_folder: bool = False, is_second: bool = False) -> None:
        self._tasks.start("choose", self._choose_path(is_folder=is_folder, is_second=is_second))

    async def _choose_path(self, *, is_folder: bool, is_second: bool) -> None:
        if is_folder:
            title = tr("Open the folder whose texts were sent")
            path = await dialogs.choose_folder(self.window(), title, folder=self._folder)
        else:
            title = tr("Open the file with the candidates") if is_second else tr("Open the file that was sent")
            path = await dialogs.open_file(self.window(), title, filters=dialogs.input_filters(), folder=self._folder)
        if path is not None:
            self.open(*(*self._paths[:1], path) if is_second else (path,))

    def _read_as(self, kind: Kind) -> None:
        self.open(*self._paths if kind is Kind.RANK else self._paths[:1], kind=kind)  # vectors are made of one file

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

    def _show(self) -> None:
        count, is_asked = len(self._paths), self._known_kind is None
        names = figures.listed([path.name for path in self._paths])
        self.names.setText(names)
        self.remove.setAccessibleName(tr("Remove {name}").format(name=names))
        for each, is_shown in (
            (self.choose_file, not count),
            (self.choose_folder, not count),
            (self.remove, count > 0),
            (self.kind, count > 0 and is_asked),
            (self.add_second, count == 1 and self._known_kind is not Kind.EMBED),
        ):
            each.setVisible(is_shown)
        about = tr("Without the file, results are named by their order: “Query 1 · Candidate 2”.")
        if count:
            about = tr("The answer is put in the order of what was sent; it is checked to fit.")
        look = ("triangle-alert", "attention") if self._missing else ("info", "quiet")
        self._about.set_line(self._missing or about, *look)
        self.changed.emit()


def _read_inputs(paths: tuple[Path, ...], kind: Kind | None) -> AttachedInput:
    first, *others = [open_source(path) for path in paths]
    second = others[0] if others else None
    sample = preview(second, _SAMPLE) if second is not None else ()
    return AttachedInput(first, suggest_mapping(first, kind, preview(first, _SAMPLE), second, sample), second)


class AttachDialog(Dialog):
    """`added` carries the id of the job once it is here."""

    added = Signal(str)

    def __init__(self, program: Program, parent: QWidget) -> None:
        super().__init__(tr("Add a job by its request ID"), parent, (600, 0))
        self._program = program
        self.tasks = Tasks(self, lambda error: self.problem.set_line(said(error.message)))
        self.files = AttachedFiles(self.tasks, program.remembered_folder(FolderUse.INPUTS))
        self.problem = Saying("circle-x", "error", "body")
        self.add_button = widgets.PrimaryButton(
            tr("Add the job"), "plus", lambda: self.tasks.start("attach", self._attach())
        )
        self.text = QPlainTextEdit(tabChangesFocus=True)
        self.text.setPlaceholderText(tr("The request ID, or the whole answer that curl or your Worker got"))
        self.text.setAccessibleName(tr("Request ID"))
        self.text.setFixedHeight(scaled(_TEXT_HEIGHT))
        self.understood = IconLine("", "info")
        self.connection = Choice(tr("Connection"), _ways(program))
        self.connection.setCurrentIndex(min(1, self.connection.count() - 1))  # an account, where there is one
        if program.settings.connection != PRACTICE.id:
            self.connection.set_value(program.settings.connection)
        self.model = QLineEdit(program.settings.model)
        self.model.setAccessibleName(tr("Model"))
        self.text.textChanged.connect(self._update)
        self.files.changed.connect(self._update)
        fields = widgets.form()
        fields.addRow(Label(tr("Sent through"), "quiet"), self.connection)
        fields.addRow(Label(tr("Model"), "quiet"), self.model)
        fields.addRow(Label(tr("What was sent"), "quiet"), self.files)
        about = tr("A job that curl, a script or a Worker has sent is watched here and its results are shown.")
        content = (self.text, self.understood, fields, self.problem, None)
        self.lay_out(self.windowTitle(), *content, about=about, buttons=[self.add_button])
        self._update()

    def _update(self) -> None:
        """Say what was understood of the text, and whether it can be added."""
        self.problem.hide()
        text, why_not = self.text.toPlainText(), ""
        words, look = tr("There is a request ID in it."), ("circle-check", "done")
        if not text.strip():
            why_not, look = tr("Paste the request ID first."), ("info", "quiet")
            words = tr("Paste it as it is: what stands around it is passed over.")
        else:
            try:
                self.model.setText(read_pasted_job(text).model or self.model.text())
            except UserError as error:
                words = why_not = said(error.message)
                look = ("triangle-alert", "attention")
        self.understood.set_line(words, *look)
        self.add_button.set_possible(why_not or self.files.missing())
        self.fit()

    async def _attach(self) -> None:
        self._set_possible(tr("It is being added."))
        when = QLocale().toString(QDateTime.currentDateTime(), tr("d MMM HH:mm"))
        try:
            job = await self._program.elsewhere.attach(
                str(self.connection.value()),
                self.text.toPlainText(),
                usual_model=self.model.text().strip() or self._program.settings.model,
                name="" if self.files.inputs() else tr("Added job, {when}").format(when=when),
                inputs=self.files.inputs(),
            )
        finally:
            if isValid(self):  # not when it was closed meanwhile
                self._set_possible("")
        self.added.emit(job.id)
        self.accept()

    def _set_possible(self, why_not: str) -> None:
        self.problem.hide()
        self.add_button.set_possible(why_not)
        for widget in (self.text, self.connection, self.model, self.files):
            widget.setEnabled(not why_not)


def _ways(program: Program) -> Iterator[tuple[str, str]]:
    """The connections that are set up, each with its id."""
    for each in (PRACTICE.id, *(each.id for each in program.address_book.saved())):
        with suppress(UserError):
            connection = program.address_book.connection(each)
            title, is_sure = title_words(connection.title), connection.kind is not ConnectionKind.GATEWAY
            yield title if is_sure else tr("{name} (batches unconfirmed)").format(name=title), connection.id


class AccountDialog(Dialog):
    """`opened` carries the id of a job on this computer, also of one that was just taken over."""

    opened = Signal(str)

    def __init__(self, program: Program, connection_id: str, parent: QWidget) -> None:
        super().__init__(tr("In your account"), parent, (760, 560))
        self._program, self.tasks = program, Tasks(self, self._failed)
        workers = [each for each in program.address_book.saved() if each.kind == "worker"]
        usual = sorted(workers, key=lambda each: (each.id != program.settings.connection, not each.collects))
        self.connection = Choice(tr("Worker"), [(each.name, each.id) for each in workers], lambda _: self.look())
        self.connection.set_value(connection_id or (usual[0].id if usual else ""))
        self.look_button = Button(tr("Look again"), "refresh-cw", self.look)
        self.problem = Saying("triangle-alert", "attention", "body")
        self.rows: Rows[AccountJob] = Rows(tuple(self._columns()), key=lambda job: job.id, parent=self)
        title = tr("Jobs in your account")
        self.table = TableView("account/jobs", title, self.rows, on_opened=lambda _: self.take_button.click())
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selected())
        self.places = widgets.MaybeEmpty("inbox", self.table)
        self.places.show_sentence(
            tr(
                "A Worker of your own can collect answers in your account while this computer is off. There is none"
                " yet."
            )
        )
        self.files = AttachedFiles(self.tasks, program.remembered_folder(FolderUse.INPUTS))
        self.files.changed.connect(self._files_changed)
        note = tr(
            "This computer then watches the job and fetches its answers too. Nothing is sent again, and nothing is paid"
            " for again."
        )
        sent = (Label(tr("The file that was sent"), "strong"), self.files, Label(note, "small", wrap=True))
        self._sent = boxed(column(*sent, gap=SMALL))
        self.doing = Saying("loader", "accent", "quiet", wrap=False)
        self.take_button = widgets.PrimaryButton(tr("Take over"), "download", self._take_over_or_open)
        remove = partial(self._start, self._remove)
        self.remove_button = widgets.DangerButton(tr("Remove from my account…"), "trash-2", remove)
        which = boxed(row(Label(tr("Worker"), "quiet"), self.connection, None, self.look_button, gap=MEDIUM))
        about = tr("Jobs whose answers your account collects, whichever computer has sent them.")
        content = (which, self.problem, (self.places, 1), self._sent, self.doing)
        buttons, beside = [self.take_button], [self.remove_button]
        self.lay_out(self.windowTitle(), *content, about=about, buttons=buttons, beside=beside)
        self.close_button.setText(tr("Close"))
        for each in (which, self.remove_button, self.take_button):
            each.setVisible(bool(workers))
        self._selected()
        self.look()

    def look(self) -> None:
        if self.connection.count():
            self.tasks.start("look", self._look())

    def _columns(self) -> Iterator[Column[AccountJob]]:
        looks: tuple[dict[str, Any], ...] = (
            {"icon": _icon, "stretch": True},
            {"width": 90, "gives_way": True},
            {"width": 80, "align": "right", "sortable": False},
            {"width": 166},
            {"width": 170, "colour": lambda job: "" if job.is_here else "quiet"},
        )
        for (title, words), look in zip(account_columns(), looks, strict=True):
            yield Column(title, partial(self._words, words), **look)

    def _words(self, words: Callable[[AccountJob, Job | None], str], job: AccountJob) -> str:
        return words(job, self._job_here(job))

    # What is shown

    async def _look(self) -> None:
        name = title_words(self._program.address_book.title(self._connection_id))
        self.problem.hide()
        self.rows.set_rows(())
        self.places.show_sentence(tr("Asking “{name}”…").format(name=name))
        self._selected()
        found = await self._program.elsewhere.listed(self._connection_id)
        self.rows.set_rows(found)
        if not found:
            self.places.show_sentence(
                tr(
                    "Nothing is in this account. Jobs stand here while it collects their answers, also those that"
                    " another computer has sent."
                )
            )
            return
        self.places.show_content()
        self.table.selectRow(0)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _failed(self, error: UserError) -> None:
        self.problem.set_line(said(error.message))
        if not self.rows.rowCount():
            self.places.show_sentence("")

    def _selected(self) -> None:
        chosen = self._chosen()
        is_here = chosen is not None and self._job_here(chosen) is not None
        self._sent.setVisible(chosen is not None and not is_here)
        self.take_button.setText(tr("Open") if is_here else tr("Take over"))
        self.take_button.set_icon("chevron-right" if is_here else "download")
        if chosen is not None:
            self.files.begin(chosen.kind)
        self._update_buttons()

    def _files_changed(self) -> None:
        self.problem.hide()
        self._update_buttons()

    def _update_buttons(self) -> None:
        why_not = self.doing.text() or ("" if self._chosen() else tr("Choose a job first."))
        self.remove_button.set_possible(why_not)
        self.take_button.set_possible(why_not or self.files.missing())

    def _chosen(self) -> AccountJob | None:
        selected = self.table.selected_rows() if self.places.currentWidget() is self.table else []
        return self.rows.row(selected[0]) if selected else None

    def _job_here(self, found: AccountJob) -> Job | None:
        return next((job for job in self._program.ledger.jobs() if job.id == found.id and job.is_sent), None)

    @property
    def _connection_id(self) -> str:
        return str(self.connection.value())

    # What can be done

    def _start(self, work: Callable[[AccountJob], Coroutine[Any, Any, None]]) -> None:
        if (chosen := self._chosen()) is not None:
            self.problem.hide()
            self.tasks.start("account", self._do(work(chosen)))

    async def _do(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            if isValid(self):  # not when it was closed meanwhile
                self._set_doing("")

    def _take_over_or_open(self) -> None:
        chosen = self._chosen()
        if chosen is not None and self._job_here(chosen) is not None:
            self._open(chosen.id)
        else:
            self._start(self._take_over)

    async def _take_over(self, found: AccountJob) -> None:
        self._set_doing(tr("Fetching what was handed over with it…"))
        job = await self._program.elsewhere.take_over(self._connection_id, found, self.files.inputs())
        self._open(job.id)

    def _open(self, job_id: str) -> None:
        self.opened.emit(job_id)
        self.accept()

    async def _remove(self, found: AccountJob) -> None:
        title = tr("Remove “{name}” from your account?").format(name=figures.one_line(found.title, 60))
        text = tr(
            "What your account has of it is deleted. Answers that no computer has fetched yet are lost, unless the"
            " service still has them: it keeps them for some days, and nobody says how many."
        )
        if await dialogs.ask(self, title, text, accept=tr("Remove"), danger=True):
            self._set_doing(tr("Removing it…"))
            await self._program.elsewhere.remove(self._connection_id, found)
            self.look()

    def _set_doing(self, doing: str) -> None:
        self.doing.set_line(doing)
        for each in (self.table, self.files):
            each.setEnabled(not doing)
        self._update_buttons()


def _icon(job: AccountJob) -> tuple[str, str]:
    return ICONS[Purpose.RANK if job.kind is Kind.RANK else Purpose.VECTORS], "quiet"
