"""The dialog that lists the jobs in the user's account, and the one that takes over what another computer has sent."""

from PySide6.QtCore import QItemSelection, QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QStackedWidget, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.errors import Action, UserError
from cfbatch_gui.core.jobs.account.taking_over import AccountJob
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse, SavedConnection
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.dialogs import FormDialog
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.jobs.attach_dialog import AttachedFiles
from cfbatch_gui.ui.notices import action_words
from cfbatch_gui.ui.state_names import kind_icon, kind_words, words_of_job
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import (
    Button,
    Choice,
    DangerButton,
    EmptyPlace,
    IconLine,
    Label,
    NoticeBar,
    PrimaryButton,
    boxed,
    column,
    row,
)

_WIDTH = 560  # pixels
_TASK = "take over"


class TakeOverDialog(FormDialog):
    """Open it with `open()`; it deletes itself. `taken` carries the id of the job once it is here.

    `tasks` are the window's, so that its end waits until what was begun is put away.
    """

    taken = Signal(str)

    def __init__(
        self, program: Program, tasks: Tasks, connection_id: str, found: AccountJob, parent: QWidget | None = None
    ) -> None:
        title = tr("Take over “{name}”").format(name=display.one_line(found.title, 60))
        super().__init__(title, parent)
        self.take_button = PrimaryButton(tr("Take over"), "download", lambda: tasks.start(_TASK, self._take_over()))
        self._program, self._tasks, self._connection_id, self._found = program, tasks, connection_id, found
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(_WIDTH)
        self.files = AttachedFiles(
            Tasks(self, self._show_error), program.remembered_folder(FolderUse.INPUTS), kind=found.kind
        )
        self.files.changed.connect(self._files_changed)
        self.doing = IconLine("", "loader", "quiet", icon_role="accent")
        self.doing.hide()
        self.problem = IconLine("", "circle-x", "body", icon_role="error")
        self.problem.hide()
        self.finished.connect(lambda _: tasks.cancel(_TASK))
        about = self.tr(
            "This computer then watches the job and fetches its answers too. Nothing is sent again, and nothing is paid"
            " for again."
        )
        sent = column(Label(self.tr("The file that was sent"), "strong"), self.files, gap=SMALL)
        self.lay_out(title, about, sent, self.doing, self.problem, None, accept=self.take_button)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        layout = self.layout()
        if layout is not None and not event.spontaneous():
            self.resize(self.width(), layout.totalHeightForWidth(self.width()))  # of wrapped texts at this width

    def _files_changed(self) -> None:
        self.problem.hide()
        self.take_button.set_possible(self.files.missing())

    async def _take_over(self) -> None:
        self.problem.hide()
        self._set_doing(self.tr("Fetching what was handed over with it…"))
        try:
            job = await self._program.account_jobs.take_over(self._connection_id, self._found, self.files.inputs())
        except UserError as error:
            self._show_error(error)
            return
        finally:
            if isValid(self):  # not when the window was closed meanwhile
                self._set_doing("")
        self.taken.emit(job.id)
        self.accept()

    def _set_doing(self, doing: str) -> None:
        self.doing.set_line(doing)
        self.doing.setVisible(bool(doing))
        self.files.setEnabled(not doing)
        self.take_button.set_possible(self.tr("It is being taken over.") if doing else self.files.missing())

    def _show_error(self, error: UserError) -> None:
        self.problem.set_line(said(error.message), "circle-x", "error")
        self.problem.show()


class AccountDialog(FormDialog):
    """Open it with `open()`; it deletes itself. `tasks` are the window's, so that its end waits for what is under way.

    `opened` carries the id of a job on this computer, also of one that was just taken over.
    """

    opened = Signal(str)
    connection_wanted = Signal()
    unlock_wanted = Signal()  # of the keyring

    def __init__(
        self, program: Program, tasks: Tasks, *, connection_id: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("In your account"), parent)
        self.take_button = PrimaryButton(tr("Take over…"), "download", self._take_over_or_open)
        self._program, self._tasks = program, tasks
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._workers = tuple(each for each in program.address_book.saved() if each.kind == "worker")
        names = [(each.name, each.id) for each in self._workers]
        self.connection = Choice(self.tr("Worker"), names, lambda _: self.look())
        self.connection.set_value(connection_id or _usual(self._workers, program.settings.connection))
        self.look_button = Button(self.tr("Look again"), "refresh-cw", self.look)
        self.problem = NoticeBar("", "attention")
        self.problem.hide()
        self._make_table()
        self.doing = IconLine("", "loader", "quiet", icon_role="accent", wrap=False)
        self.doing.hide()
        self.remove_button = DangerButton(self.tr("Remove from my account…"), "trash-2", self._remove)
        self.cancel_button.setText(self.tr("Close"))
        for name in ("account list", "account removal"):
            self.finished.connect(lambda _, name=name: tasks.cancel(name))
        self._lay_out()
        self._selected()
        self.look()

    def sizeHint(self) -> QSize:
        return QSize(760, 520)

    def look(self) -> None:
        if self._workers:
            self._tasks.start("account list", self._look())

    # Widgets

    def _make_table(self) -> None:
        self.rows: Rows[AccountJob] = Rows(self._columns(), key=lambda job: job.id, parent=self)
        title = self.tr("Jobs in your account")
        self.table = TableView("account/jobs", title, self.rows, on_opened=lambda _: self.take_button.click())
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.selectionModel().selectionChanged.connect(self._selected)
        no_worker = self.tr(
            "A Worker of your own can collect answers in your account while this computer is off. There is none yet."
        )
        self.nothing = EmptyPlace("inbox", "" if self._workers else no_worker, self.tr("Open connections"), "settings")
        self.nothing.button.setVisible(not self._workers)
        self.nothing.pressed.connect(self._open_connections)
        self._places = QStackedWidget()
        for each in (self.nothing, self.table):
            self._places.addWidget(each)

    def _lay_out(self) -> None:
        about = self.tr("Jobs whose answers your account collects, whichever computer has sent them.")
        label = Label(self.tr("Worker"), "quiet")
        label.setBuddy(self.connection)
        which = boxed(row(label, self.connection, None, self.look_button, gap=MEDIUM))
        which.setVisible(bool(self._workers))
        content = (which, self.problem, self._places, self.doing)
        whole = self.lay_out(self.windowTitle(), about, *content, accept=self.take_button, beside=self.remove_button)
        whole.setStretchFactor(self._places, 1)
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
                lambda at: display.age(at, now),
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
        self._show_nothing(self.tr("Asking “{name}”…").format(name=name))
        self._selected()
        try:
            found = await self._program.account_jobs.listed(self._connection_id)
        except UserError as error:
            self._show_nothing("")
            self._show_problem(error)
            return
        self._show_jobs(found)

    def _show_jobs(self, found: tuple[AccountJob, ...]) -> None:
        self.rows.set_rows(found)
        if not found:
            self._show_nothing(
                self.tr(
                    "Nothing is in this account. Jobs stand here while it collects their answers, also those that"
                    " another computer has sent."
                )
            )
            return
        self._places.setCurrentWidget(self.table)
        self.table.selectRow(0)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_nothing(self, sentence: str) -> None:
        self.nothing.set_sentence(sentence)
        self._places.setCurrentWidget(self.nothing)

    def _show_problem(self, error: UserError) -> None:
        self.problem.set_text(said(error.message), "attention")
        self.problem.clear_links()
        if error.action is Action.OPEN_CONNECTION:
            self.problem.add_link(action_words(error.action), self._open_connections)
        elif error.action is Action.UNLOCK:
            self.problem.add_link(action_words(error.action), self.unlock_wanted.emit)
        else:
            self.problem.add_link(action_words(Action.RETRY), self.look)
        self.problem.show()

    def _selected(self, _now: QItemSelection | None = None, _before: QItemSelection | None = None) -> None:
        chosen = self._chosen()
        why = "" if chosen else self.tr("Choose a job first.")
        self.take_button.set_possible(why)
        self.remove_button.set_possible(why)
        is_here = chosen is not None and self._job_here(chosen) is not None
        self.take_button.setText(self.tr("Open") if is_here else self.tr("Take over…"))
        self.take_button.set_icon("chevron-right" if is_here else "download")

    def _chosen(self) -> AccountJob | None:
        selected = self.table.selected_rows() if self._places.currentWidget() is self.table else []
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
        dialog.taken.connect(self._open)
        dialog.open()

    def _open(self, job_id: str) -> None:
        self.opened.emit(job_id)
        self.accept()

    def _open_connections(self) -> None:
        self.connection_wanted.emit()
        self.accept()

    def _remove(self) -> None:
        if (chosen := self._chosen()) is not None:
            self._tasks.start("account removal", self._remove_after_asking(chosen))

    async def _remove_after_asking(self, found: AccountJob) -> None:
        title = self.tr("Remove “{name}” from your account?").format(name=display.one_line(found.title, 60))
        text = self.tr(
            "What your account has of it is deleted. Answers that no computer has fetched yet are lost, unless the"
            " service still has them: it keeps them for some days, and nobody says how many."
        )
        if not await dialogs.ask(self, title, text, accept=self.tr("Remove"), danger=True):
            return
        self._set_doing(self.tr("Removing it…"))
        try:
            await self._program.account_jobs.remove(self._connection_id, found)
        except UserError as error:
            self._show_problem(error)
            return
        finally:
            if isValid(self):  # not when the window was closed meanwhile
                self._set_doing("")
        self.look()

    def _set_doing(self, doing: str) -> None:
        self.doing.set_line(doing)
        self.doing.setVisible(bool(doing))
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
