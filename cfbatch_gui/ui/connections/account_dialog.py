"""What the dialogs have in common that make calls in the user's account with a token that is used once."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.errors import NotConnected, TokenRefused, UsageError, UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.worker_setup.account import (
    AddressMissing,
    Call,
    Names,
    Progress,
    State,
    StorageNotActivated,
    names_of,
    token_page,
)
from cfbatch_gui.core.worker_setup.worker_setup import Stopped, WorkerSetup
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form
from cfbatch_gui.core.workers_ai.connection_kinds import clean_account_id
from cfbatch_gui.ui import display
from cfbatch_gui.ui.connections import dashboard
from cfbatch_gui.ui.connections.call_list import CallList
from cfbatch_gui.ui.connections.connection_fields import AccountField, FieldBlock, TokenField
from cfbatch_gui.ui.connections.tall_dialog import TallDialog
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Button, IconLine, Item, Label, LinkButton, StateLabel, boxed, column, row

_WIDTH = 660  # pixels
_LONGEST_NAME = 100  # characters; a Worker's has fewer
_TASK = "account calls"


class AccountDialog(TallDialog):
    """Account, token, the calls before they are made and while they are, and what came of them.

    `tasks` are the page's. `page_wanted` carries an address for the browser. The token is in its field alone, and the
    field is emptied when all is done, when the token was refused, and when the dialog is closed.
    """

    page_wanted = Signal(str)

    def __init__(self, program: Program, tasks: Tasks, start_button: Button, parent: QWidget) -> None:
        super().__init__(start_button.text(), parent, width=_WIDTH)
        self._program, self._tasks = program, tasks
        self._page = ""  # of the dashboard, where what stopped the work is put right
        self.account = AccountField()
        self.account.setText(program.address_book.account_id)
        self.account.setAccessibleName(self.tr("Account ID"))
        self.account_block = FieldBlock(
            self.tr("Account ID"),
            self._link(self.tr("Find my account ID"), lambda: dashboard.ACCOUNT_PAGE),
            self.account,
        )
        self.account_block.label.setBuddy(self.account)
        self.token = TokenField()
        self.token.setAccessibleName(self.tr("One-time API token"))
        self.token_block = FieldBlock(
            self.tr("One-time API token"), self._link(self.tr("Make the token"), self._token_page), self.token
        )
        self.token_block.label.setBuddy(self.token)
        self.worker = QLineEdit(names_of().worker)
        self.worker.setMaxLength(_LONGEST_NAME)
        self.worker.setAccessibleName(self.tr("Name of the Worker"))
        self.worker_block = FieldBlock(self.tr("Name of the Worker"), self._no_link(), self.worker)
        self.worker_block.label.setBuddy(self.worker)
        self.calls = CallList()
        self.problem = IconLine("", "circle-x", "body", icon_role="error")
        self.details = Label("", "small", wrap=True)
        self.page_link = LinkButton(self.tr("Open the dashboard"), "external-link")
        self.page_link.clicked.connect(lambda: self.page_wanted.emit(self._page))
        self.outcome = StateLabel()
        self.afterwards = Label("", "quiet", wrap=True)
        self.start_button = start_button
        self.start_button.clicked.connect(self._try_to_start)
        self.close_button = Button(self.tr("Cancel"))
        self.close_button.clicked.connect(self._close_or_stop)
        self.finished.connect(lambda _: self._forget())
        for hidden in (self.problem, self.details, self.page_link, self.outcome, self.afterwards):
            hidden.hide()
        for field in (self.account, self.token, self.worker):
            field.textEdited.connect(self._edited)
            field.returnPressed.connect(self._try_to_start)

    # What each dialog does

    def plan(self, names: Names, account_id: str) -> Sequence[Call]:
        """The calls, for these names in this account."""
        raise NotImplementedError

    async def work(self, setup: WorkerSetup, account_id: str, token: Token, names: Names) -> tuple[str, str]:
        """Make them; what is said then, and what there is to know afterwards. Raises UserError."""
        raise NotImplementedError

    def stopped(self, reason: UserError) -> None:
        """Offer what helps against a reason that this dialog knows more about."""

    # Shared

    def show_parts(self, about: str, *options: Item, foot: Sequence[QWidget] = ()) -> None:
        """Lay the dialog out, with its options between the fields and the calls, and its own buttons in the foot."""
        self._about = Label(about, "quiet", wrap=True)
        note = self.tr("This is sent to Cloudflare, and nothing before you press “{button}”:").format(
            button=self.start_button.text()
        )
        self._form = boxed(column(self.account_block, self.token_block, self.worker_block, *options, gap=MEDIUM))
        self._note = Label(note, "strong", wrap=True)
        self.lay_out(
            column(
                Label(self.windowTitle(), "part"),
                self._about,
                self._form,
                self._note,
                self.calls,
                None,
                gap=MEDIUM,
            ),
            column(
                row(self.outcome, None),
                self.afterwards,
                self.problem,
                self.details,
                row(self.page_link, *foot, None, self.close_button, self.start_button),
                gap=SMALL,
            ),
        )
        self.show_plan()
        self._show_hints()
        (self.token if self.account.text() else self.account).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_plan(self) -> None:
        """Show the calls for what the fields hold; for a name that cannot be one, those of before."""
        with suppress(UsageError):
            self.calls.show_calls(self.plan(names_of(self.worker.text().strip()), self._account_id()))
        self._note.setVisible(bool(self.calls.rows))
        self.calls.setVisible(bool(self.calls.rows))

    def show_progress(self, progress: Progress) -> None:
        """Show how far a call is; the dialog may have been closed."""
        if isValid(self):
            row = self.calls.show_progress(progress)
            if row is not None and progress.state is State.RUNNING:
                self.scroll_to(row)

    def is_working(self) -> bool:
        """Whether calls are being made."""
        return self._tasks.is_running(_TASK)

    def _account_id(self) -> str:
        try:
            return clean_account_id(self.account.text())
        except NotConnected:
            return ""

    def _token_page(self) -> str:
        return token_page(self._account_id())

    def token_hint(self) -> str:
        """What the token has to have for the calls that are shown."""
        calls = self.plan(names_of(), self._account_id())
        permissions = display.listed([*dict.fromkeys(each.permission for each in calls if each.permission)])
        return self.tr(
            "For this one time; it is stored nowhere. It needs {permissions}, which the dashboard calls “Edit”."
        ).format(permissions=permissions)

    def _edited(self) -> None:
        self._hide_outcome()
        self.show_plan()
        self._show_hints()

    def _show_hints(self) -> None:
        self.account_block.set_hint(self.tr("Paste the ID, or the address of any page of your Cloudflare dashboard."))
        self.token_block.set_hint(self.token_hint())
        self.worker_block.set_hint(self.tr("What belongs to it is called after it."))

    def _hide_outcome(self) -> None:
        for each in (self.problem, self.details, self.page_link):
            each.hide()

    def _try_to_start(self) -> None:
        """Start, or focus the first field with a problem."""
        if self.is_working() or self.start_button.isHidden():
            return
        found: list[QWidget] = []
        for field, block, problem in (
            (self.account, self.account_block, self.account.problem()),
            (self.token, self.token_block, self.token.problem()),
            (self.worker, self.worker_block, self._name_problem()),
        ):
            if problem:
                block.set_problem(problem)
                found.append(field)
        if found:
            found[0].setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.show_plan()
        self._tasks.start(_TASK, self._run())

    def _name_problem(self) -> str:
        try:
            names_of(self.worker.text().strip())
        except UsageError as error:
            return said(error.message)
        return ""

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
        self.problem.show()
        self.details.setText(error.detail)
        self.details.setVisible(bool(error.detail))
        self._page = _page_for(reason)
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
        self.problem.show()

    def _forget(self) -> None:
        self._tasks.cancel(_TASK)
        self.token.forget()

    def _link(self, text: str, address: Callable[[], str]) -> LinkButton:
        """A link to a page of the dashboard, whose address may depend on the fields."""
        link = LinkButton(text, "external-link")
        link.setAccessibleDescription(self.tr("Opens the dashboard in the browser"))
        link.clicked.connect(lambda: self.page_wanted.emit(address()))
        return link

    def _no_link(self) -> LinkButton:
        link = LinkButton()
        link.hide()
        return link


def _page_for(reason: UserError) -> str:
    """The page of the dashboard where it is put right, "" for none."""
    match reason:
        case StorageNotActivated():
            return dashboard.STORAGE_PAGE
        case AddressMissing():
            return dashboard.WORKERS_PAGE
        case _:
            return ""
