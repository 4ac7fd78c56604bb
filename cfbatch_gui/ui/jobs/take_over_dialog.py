"""The dialog that takes a job over which another computer has sent: with the file that was sent, or without."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.account.taking_over import AccountJob
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import display
from cfbatch_gui.ui.jobs.attached_files import AttachedFiles
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, IconLine, Label, PrimaryButton, column, row

_WIDTH = 560  # pixels
_TASK = "take over"


class TakeOverDialog(QDialog):
    """Open it with `open()`; it deletes itself. `taken` carries the id of the job once it is here.

    `tasks` are the window's, so that its end waits until what was begun is put away.
    """

    taken = Signal(str)

    def __init__(
        self, program: Program, tasks: Tasks, connection_id: str, found: AccountJob, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._program, self._tasks, self._connection_id, self._found = program, tasks, connection_id, found
        title = self.tr("Take over “{name}”").format(name=display.one_line(found.title, 60))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setMinimumWidth(_WIDTH)
        self.files = AttachedFiles(
            Tasks(self, self._show_error), program.remembered_folder(FolderUse.INPUTS), kind=found.kind
        )
        self.files.changed.connect(self._files_changed)
        self.doing = IconLine("", "loader", "quiet", icon_role="accent")
        self.doing.hide()
        self.problem = IconLine("", "circle-x", "body", icon_role="error")
        self.problem.hide()
        self.take_button = PrimaryButton(self.tr("Take over"), "download")
        self.take_button.setDefault(True)
        self.take_button.clicked.connect(lambda: tasks.start(_TASK, self._take_over()))
        self.cancel_button = Button(self.tr("Cancel"))
        self.cancel_button.clicked.connect(self.reject)
        self.finished.connect(lambda _: tasks.cancel(_TASK))
        about = self.tr(
            "This computer then watches the job and fetches its answers too. Nothing is sent again, and nothing is paid"
            " for again."
        )
        self.setLayout(
            column(
                Label(title, "part", wrap=True),
                Label(about, "quiet", wrap=True),
                column(Label(self.tr("The file that was sent"), "strong"), self.files, gap=SMALL),
                self.doing,
                self.problem,
                None,
                row(None, self.cancel_button, self.take_button),
                gap=MEDIUM,
                margins=(WIDE, WIDE - 4, WIDE, LARGE),
            )
        )

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
