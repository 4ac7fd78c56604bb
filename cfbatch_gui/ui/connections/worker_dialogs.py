"""The dialogs that put the user's Worker into their account, or take it out, with a token that is used once."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.connections.credentials import TokenSource
from cfbatch_gui.core.errors import NotConnected, TokenRefused, UsageError, UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.worker_setup.account import (
    AddressMissing,
    Call,
    Names,
    Progress,
    State,
    StorageNotActivated,
    names_at,
    names_of,
    removing_calls,
    setting_up_calls,
    token_page,
)
from cfbatch_gui.core.worker_setup.worker_setup import NotOurs, Stopped, WorkerSetup
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form, check_secret
from cfbatch_gui.core.workers_ai.connection_kinds import clean_account_id
from cfbatch_gui.ui import display
from cfbatch_gui.ui.connections.connection_fields import (
    STORAGE_PAGE,
    WORKERS_PAGE,
    AccountBlock,
    FieldBlock,
    StepRow,
    TokenField,
    has_problem,
)
from cfbatch_gui.ui.connections.worker_guide import TallDialog
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY
from cfbatch_gui.ui.widgets import (
    Button,
    Card,
    CheckBox,
    DangerButton,
    Item,
    Label,
    LinkButton,
    PrimaryButton,
    Role,
    Saying,
    StateLabel,
    boxed,
    column,
    row,
)


class CallList(Card):
    """One row for each call, in the order in which they are made."""

    def __init__(self) -> None:
        super().__init__(inset=True, gap=MEDIUM)
        self.rows: list[CallRow] = []
        self.setAccessibleName(self.tr("Calls that are made"))

    def show_calls(self, calls: Sequence[Call]) -> None:
        """Show calls of which none was made yet."""
        for each in self.rows:
            self.body.removeWidget(each)
            each.hide()
            each.deleteLater()
        self.rows = [CallRow(call) for call in calls]
        for each in self.rows:
            self.body.addWidget(each)

    def show_progress(self, progress: Progress) -> "CallRow | None":
        row = next((each for each in self.rows if each.call.step is progress.call.step), None)
        if row is not None:
            row.show_state(progress.state, said(progress.note))
        return row

    def hide_unmade(self) -> None:
        for each in self.rows:
            each.setVisible(each.state is not None)

    def stop(self) -> None:
        for each in self.rows:
            if each.state in (State.RUNNING, State.WAITING):
                each.show_state(None)


class CallRow(StepRow):
    def __init__(self, call: Call) -> None:
        # The account is the same in all of them, and its id would take half a line.
        short = f"{call.method} {re.sub('^/accounts/[^/]+', '…', call.path)}"
        words = tr("{call} · needs {permission}").format(call=short, permission=call.permission)
        super().__init__(said(call.sentence), words)
        self.call = call
        self.state: State | None = None
        self.words.setToolTip(display.plain_tip(call.words))
        self.show_state(None)

    def show_state(self, state: State | None, note: str = "") -> None:
        """Show how far it is; None is not made yet."""
        self.state = state
        states: dict[State | None, tuple[str, Role, str]] = {
            None: ("circle-dashed", "quiet", ""),
            State.RUNNING: ("loader", "accent", self.tr("Under way.")),
            State.WAITING: ("clock", "attention", self.tr("Waits.")),
            State.DONE: ("circle-check", "done", self.tr("Done.")),
            State.NOT_NEEDED: ("minus", "quiet", self.tr("Not needed.")),
            State.FAILED: ("circle-x", "error", self.tr("Failed.")),
        }
        icon, role, words = states[state]
        self.show_step(icon, role, note=note, spoken=words)


_WIDTH = 660  # pixels
_TASK = "account calls"
# Of the dashboard, where each is put right.
_PAGES: dict[type[UserError], str] = {StorageNotActivated: STORAGE_PAGE, AddressMissing: WORKERS_PAGE}


class AccountDialog(TallDialog):
    """`tasks` and `open_page`, which takes an address for the browser, are the page's."""

    def __init__(
        self, program: Program, tasks: Tasks, open_page: Callable[[str], object], start_button: Button, parent: QWidget
    ) -> None:
        super().__init__(start_button.text(), parent, width=_WIDTH)
        self._program, self._tasks = program, tasks
        self._page = ""  # of the dashboard, where what stopped the work is put right
        self.account_block = AccountBlock(open_page)
        self.account = self.account_block.field
        self.account.setText(program.address_book.account_id)
        self.token = TokenField(self.tr("the token"), self.tr("Paste the token"))
        link = LinkButton(self.tr("Make the token"), "external-link", lambda: open_page(token_page(self._account_id())))
        link.setAccessibleDescription(self.tr("Opens the dashboard in the browser"))
        self.token_block = FieldBlock(self.tr("One-time API token"), link, self.token, check=check_form)
        self.worker = QLineEdit(names_of().worker)
        hint = self.tr("What belongs to it is called after it.")
        name = self.tr("Name of the Worker")
        self.worker_block = FieldBlock(name, None, self.worker, hint, check=lambda text: names_of(text.strip()))
        self.calls = CallList()
        self.problem = Saying("circle-x", "error", "body")
        self.details = Label("", "small", wrap=True)
        self.page_link = LinkButton(self.tr("Open the dashboard"), "external-link", lambda: open_page(self._page))
        self.outcome = StateLabel()
        self.afterwards = Label("", "quiet", wrap=True)
        self.start_button = start_button
        self.start_button.clicked.connect(self._try_to_start)
        self.close_button = Button(self.tr("Cancel"), on_click=self._close_or_stop)
        self.finished.connect(lambda _: self._forget())
        for hidden in (self.details, self.page_link, self.outcome, self.afterwards):
            hidden.hide()
        for field in (self.account, self.token, self.worker):
            field.textEdited.connect(self._edited)
            field.returnPressed.connect(self._try_to_start)

    # What each dialog does

    def plan(self, names: Names, account_id: str) -> Sequence[Call]:
        raise NotImplementedError

    async def work(self, setup: WorkerSetup, account_id: str, token: Token, names: Names) -> tuple[str, str]:
        """Make them; what is said then, and what there is to know afterwards. Raises UserError."""
        raise NotImplementedError

    def stopped(self, reason: UserError) -> None: ...

    # Shared

    def show_parts(self, about: str, *options: Item, foot: Sequence[QWidget] = ()) -> None:
        self._about = Label(about, "quiet", wrap=True)
        note = self.tr("This is sent to Cloudflare, and nothing before you press “{button}”:").format(
            button=self.start_button.text()
        )
        self._form = boxed(column(self.account_block, self.token_block, self.worker_block, *options, gap=MEDIUM))
        self._note = Label(note, "strong", wrap=True)
        title, buttons = Label(self.windowTitle(), "part"), (self.close_button, self.start_button)
        below = (row(self.outcome, None), self.afterwards, self.problem, self.details)
        self.lay_out(
            column(title, self._about, self._form, self._note, self.calls, None, gap=MEDIUM),
            column(*below, row(self.page_link, *foot, None, *buttons), gap=SMALL),
        )
        self.show_plan()
        (self.token if self.account.text() else self.account).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_plan(self) -> None:
        with suppress(UsageError):
            self.calls.show_calls(self.plan(names_of(self.worker.text().strip()), self._account_id()))
        calls = self.plan(names_of(), self._account_id())
        permissions = display.listed([*dict.fromkeys(each.permission for each in calls)])
        hint = self.tr(
            "For this one time; it is stored nowhere. It needs {permissions}, which the dashboard calls “Edit”."
        )
        self.token_block.set_hint(hint.format(permissions=permissions))
        self._note.setVisible(bool(self.calls.rows))
        self.calls.setVisible(bool(self.calls.rows))

    def show_progress(self, progress: Progress) -> None:
        if isValid(self):
            row = self.calls.show_progress(progress)
            if row is not None and progress.state is State.RUNNING:
                self.scroll_to(row)

    def is_working(self) -> bool:
        return self._tasks.is_running(_TASK)

    def _account_id(self) -> str:
        try:
            return clean_account_id(self.account.text())
        except NotConnected:
            return ""

    def _edited(self) -> None:
        self._hide_outcome()
        self.show_plan()

    def _hide_outcome(self) -> None:
        for each in (self.problem, self.details, self.page_link):
            each.hide()

    def _try_to_start(self) -> None:
        if self.is_working() or self.start_button.isHidden():
            return
        if not has_problem(self.account_block, self.token_block, self.worker_block):
            self.show_plan()
            self._tasks.start(_TASK, self._run())

    async def _run(self) -> None:
        self._set_working(True)
        program = self._program
        setup = WorkerSetup(program.address_book, program.credentials, program.connections)
        try:
            done, afterwards = await self.work(
                setup, self._account_id(), check_form(self.token.text()), names_of(self.worker.text().strip())
            )
        except UserError as error:
            if isValid(self):
                self._show_stopped(error)
        else:
            if isValid(self):
                self._show_done(done, afterwards)
        finally:
            if isValid(self):
                self.calls.stop()
                self._set_working(False)

    def _show_stopped(self, error: UserError) -> None:
        reason = error.reason if isinstance(error, Stopped) else error
        self.problem.set_line(said(error.message))
        self.details.setText(error.detail)
        self.details.setVisible(bool(error.detail))
        self._page = _PAGES.get(type(reason), "")
        self.page_link.setVisible(bool(self._page))
        if isinstance(reason, TokenRefused):
            self.token.forget()
            self.token.setFocus(Qt.FocusReason.OtherFocusReason)
        self.stopped(reason)
        self.fit()

    def _show_done(self, sentence: str, afterwards: str) -> None:
        self.token.forget()
        self.calls.hide_unmade()
        self.outcome.set_state(sentence, "circle-check", "done")
        self.outcome.show()
        self.afterwards.setText(afterwards)
        self.afterwards.show()
        self.start_button.hide()
        self.close_button.setDefault(True)
        self.fit()

    def _set_working(self, working: bool) -> None:
        if working:
            self._hide_outcome()
        is_done = self.start_button.isHidden()
        for each in (self._about, self._form, self._note):
            each.setVisible(not working and not is_done)
        self.start_button.set_possible(self.tr("Wait until this is done.") if working else "")
        closing = self.tr("Close") if is_done else self.tr("Cancel")
        self.close_button.setText(self.tr("Stop") if working else closing)
        if is_done:
            self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close_or_stop(self) -> None:
        if not self.is_working():
            self.reject()
            return
        self._tasks.cancel(_TASK)
        self.problem.set_line(
            self.tr("Stopped. What was done stays; press “{button}” again, and it goes on from there.").format(
                button=self.start_button.text()
            )
        )

    def _forget(self) -> None:
        self._tasks.cancel(_TASK)
        self.token.forget()


class WorkerSetupDialog(AccountDialog):
    """`connected` carries the id of the connection that leads to the Worker, once all is done."""

    connected = Signal(str)

    def __init__(
        self, program: Program, tasks: Tasks, open_page: Callable[[str], object], parent: QWidget, *, paid_plan: bool
    ) -> None:
        start = PrimaryButton(tr("Set up in my account"), "check")
        super().__init__(program, tasks, open_page, start, parent)
        self._taken = self._other = ""  # a name that somebody else's Worker or Workflow has, and one to take instead
        self.paid_plan = CheckBox(self.tr("The account is on the Workers Paid plan"))
        self.paid_plan.setChecked(paid_plan)
        plan = self.tr("Then batches may have 10 MB, else 1 MB. Collecting works on both plans.")
        self.replace = CheckBox("")
        self.replace.toggled.connect(self._choose_name)
        self.replace.hide()
        copy = self.tr("Copy the secret")
        self.copy_secret = Button(copy, "copy", lambda: tasks.start("copy secret", self._copy_secret()))
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


class WorkerRemovalDialog(AccountDialog):
    """`forgotten`: the connection was removed, too."""

    forgotten = Signal()

    def __init__(
        self,
        program: Program,
        tasks: Tasks,
        open_page: Callable[[str], object],
        record: SavedConnection,
        parent: QWidget,
    ) -> None:
        start = DangerButton(tr("Remove from my account"), "trash-2")
        super().__init__(program, tasks, open_page, start, parent)
        self._record = record
        name = title_words(record.name)
        try:
            self.worker.setText(names_at(record.url).worker)
        except UsageError:  # a domain of the user's own
            self.worker.clear()
        self.keep_bucket = CheckBox(self.tr("Keep the bucket with the stored answers"))
        self.keep_bucket.toggled.connect(self.show_plan)
        billed = self.tr("R2 goes on billing what is in it, beyond 10 GB.")
        self.forget = CheckBox(
            self.tr("Remove the connection “{name}” and its secret from this computer, too").format(name=name)
        )
        about = self.tr(
            "The Worker, its Workflow and its bucket are deleted from your account; nothing else is. Collect first:"
            " jobs that are under way there cannot be collected through it any more."
        )
        self.show_parts(
            about, boxed(column(self.keep_bucket, Label(billed, "small", wrap=True), gap=TINY)), self.forget
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
