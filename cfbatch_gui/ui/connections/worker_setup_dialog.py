"""The dialog that puts the user's Worker into their account by API, and adds the connection to it."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.connections.credentials import TokenSource
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.worker_setup.account_calls import Call, Names, setting_up_calls
from cfbatch_gui.core.worker_setup.setting_up import NotOurs
from cfbatch_gui.core.worker_setup.worker_setup import WorkerSetup
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_secret
from cfbatch_gui.ui.connections.account_dialog import AccountDialog
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import TINY
from cfbatch_gui.ui.widgets import Button, CheckBox, Label, PrimaryButton, boxed, column


class WorkerSetupDialog(AccountDialog):
    """`connected` carries the id of the connection that leads to the Worker, once all is done."""

    connected = Signal(str)

    def __init__(self, program: Program, tasks: Tasks, parent: QWidget, *, paid_plan: bool = False) -> None:
        start = PrimaryButton(QCoreApplication.translate("connections", "Set up in my account"), "check")
        super().__init__(program, tasks, start, parent)
        self._taken = self._other = ""  # a name that somebody else's Worker or Workflow has, and one to take instead
        self.paid_plan = CheckBox(self.tr("The account is on the Workers Paid plan"))
        self.paid_plan.setChecked(paid_plan)
        plan = self.tr("Then batches may have 10 MB, else 1 MB. Collecting works on both plans.")
        self.replace = CheckBox("")
        self.replace.toggled.connect(self._choose_name)
        self.replace.hide()
        self.copy_secret = Button(self.tr("Copy the secret"), "copy")
        self.copy_secret.clicked.connect(lambda: self._tasks.start("copy secret", self._copy_secret()))
        self.copy_secret.hide()
        self._connection_id = ""
        about = self.tr(
            "The program puts the Worker into your account, with a bucket and a Workflow that collect answers while"
            " this computer is off, and adds the connection. Doing it again changes nothing; what others have there"
            " stays."
        )
        self.show_parts(
            about,
            self.replace,
            boxed(column(self.paid_plan, Label(plan, "small", wrap=True), gap=TINY)),
            foot=(self.copy_secret,),
        )

    def plan(self, names: Names, account_id: str) -> Sequence[Call]:
        return setting_up_calls(names, account_id)

    async def work(self, setup: WorkerSetup, account_id: str, token: Token, names: Names) -> tuple[str, str]:
        done = await setup.set_up(
            *(account_id, token, names),
            title=self.tr("My Worker"),
            paid_plan=self.paid_plan.isChecked(),
            may_replace=self.replace.isChecked() and names.worker == self._taken,
            show=self.show_progress,
        )
        self._connection_id = done.connection.id
        name = title_words(done.connection.name)
        added = self.tr("Done: connection “{name}” was added.")
        sentence = (added if done.is_new else self.tr("Done: connection “{name}” is kept.")).format(name=name)
        more = [
            self.tr("A new address may take a minute until it answers: test it on its card then."),
            self.tr("The token is not needed any more: delete it in the dashboard."),
        ]
        if done.has_other_secret:
            more.insert(0, self.tr("The Worker has a new secret: programs elsewhere that use it need it too."))
        if await self._program.credentials.token_source(self._connection_id, check=check_secret) is TokenSource.SESSION:
            more.insert(
                0, self.tr("No keyring took the Worker’s secret: copy it now, or it is lost with this program.")
            )
            self.copy_secret.show()
        self.connected.emit(done.connection.id)
        return sentence, " ".join(more)

    def stopped(self, reason: UserError) -> None:
        if isinstance(reason, NotOurs):
            self._taken, self._other = self.worker.text().strip(), reason.other_name
            self.replace.setText(self.tr("Replace “{name}” instead").format(name=self._taken))
            self.replace.setChecked(False)
            self.replace.show()
            self._choose_name(False)
            self.scroll_to(self.replace)

    async def _copy_secret(self) -> None:
        secret = await self._program.credentials.token(self._connection_id, check=check_secret)
        if secret is not None:
            QGuiApplication.clipboard().setText(secret.reveal())
            self.copy_secret.setText(self.tr("Copied"))

    def _choose_name(self, replaces: bool) -> None:
        self.worker.setText(self._taken if replaces else self._other)
        self.show_plan()
