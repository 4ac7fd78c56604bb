"""The dialog that takes the user's Worker out of their account again."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.worker_setup.account_calls import Call, Names, names_at, removing_calls
from cfbatch_gui.core.worker_setup.worker_setup import WorkerSetup
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.ui import display
from cfbatch_gui.ui.connections.account_dialog import AccountDialog
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import TINY
from cfbatch_gui.ui.widgets import CheckBox, DangerButton, Label, boxed, column


class WorkerRemovalDialog(AccountDialog):
    """For the Worker that a saved connection leads to. `forgotten`: the connection was removed, too."""

    forgotten = Signal()

    def __init__(self, program: Program, tasks: Tasks, record: SavedConnection, parent: QWidget) -> None:
        start = DangerButton(QCoreApplication.translate("connections", "Remove from my account"), "trash-2")
        super().__init__(program, tasks, start, parent)
        self._record = record
        name = title_words(record.name)
        try:
            self.worker.setText(names_at(record.url).worker)
        except UsageError:  # a domain of the user's own
            self.worker.clear()
        self.keep_bucket = CheckBox(self.tr("Keep the bucket with the stored answers"))
        self.keep_bucket.toggled.connect(self._show_other_calls)
        billed = self.tr("R2 goes on billing what is in it, beyond 10 GB.")
        self.forget = CheckBox(
            self.tr("Remove the connection “{name}” and its secret from this computer, too").format(name=name)
        )
        about = self.tr(
            "The Worker, its Workflow and its bucket are deleted from your account; nothing else is. Collect first:"
            " jobs that are under way there cannot be collected through it any more."
        )
        self.show_parts(
            about,
            boxed(column(self.keep_bucket, Label(billed, "small", wrap=True), gap=TINY)),
            self.forget,
        )

    def plan(self, names: Names, account_id: str) -> Sequence[Call]:
        return removing_calls(names, account_id, keep_bucket=self.keep_bucket.isChecked())

    async def work(self, setup: WorkerSetup, account_id: str, token: Token, names: Names) -> tuple[str, str]:
        taken = await setup.take_down(
            *(account_id, token, names), keep_bucket=self.keep_bucket.isChecked(), show=self.show_progress
        )
        more = [self.tr("The token is not needed any more: delete it in the dashboard.")]
        if taken.bucket:
            more.insert(
                0, display.plural(taken.answers, "{n} stored object was deleted.", "{n} stored objects were deleted.")
            )
        if self.forget.isChecked():
            await self._program.connections.remove(self._record.id)
            self.forgotten.emit()
        sentence = self.tr("Done: “{name}” is not in the account any more.").format(name=names.worker)
        return sentence, " ".join(more)

    def _show_other_calls(self) -> None:
        self.show_plan()
        self.token_block.set_hint(self.token_hint())
