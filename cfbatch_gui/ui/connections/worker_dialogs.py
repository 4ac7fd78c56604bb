"""The dialogs about the user's own Worker: the guide, and those that put it into their account or take it out."""

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFontDatabase, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLayout, QLineEdit, QVBoxLayout, QWidget
from shiboken6 import isValid

from cfbatch_gui.core.connections.credentials import TokenSource
from cfbatch_gui.core.errors import NotConnected, TokenRefused, UsageError, UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import RememberedFolder, SavedConnection
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
from cfbatch_gui.core.worker_setup.worker_setup import (
    COSTS,
    GUIDE,
    NEEDS,
    REMOVAL,
    GuideStep,
    NotOurs,
    Stopped,
    WorkerSetup,
    in_the_way,
    new_secret,
    save_worker,
)
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form, check_secret
from cfbatch_gui.core.workers_ai.connection_kinds import clean_account_id
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.connections.connection_fields import (
    STORAGE_PAGE,
    WORKERS_PAGE,
    AccountBlock,
    FieldBlock,
    StepRow,
    TokenField,
    has_problem,
)
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
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
    line,
    row,
    scrolled,
)
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import title_words

_LEAST = 480  # pixels that it may have above a window that is lower


class TallDialog(QDialog):
    """Opened with `open()`; deletes itself when it is closed. What does not fit above the window behind it scrolls."""

    def __init__(self, title: str, parent: QWidget, *, width: int) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self._window, self._width = parent.window(), scaled(width)

    def lay_out(self, content: QLayout, foot: QLayout) -> None:
        content.setContentsMargins(WIDE, WIDE - 4, WIDE, LARGE)
        foot.setContentsMargins(WIDE, MEDIUM, WIDE, LARGE)
        self._content, self._foot = boxed(content), boxed(foot)
        self._area = scrolled(self._content)
        whole = column(self._area, line(), self._foot, gap=0)
        whole.setStretch(0, 1)
        self.setLayout(whole)

    def fit(self) -> None:
        """Take the height of the content, as far as the window behind has it; never less than while it was shown."""
        width = max(self.minimumSizeHint().width(), min(self._width, self._window.width() - 2 * WIDE))
        screen, middle = self.screen().availableGeometry(), self._window.frameGeometry().center()
        room = min(max(self._window.height(), _LEAST), screen.height()) - 2 * WIDE
        needed = sum(_height(each, width) for each in (self._content, self._foot))
        height = max(self.height() if self.isVisible() else 0, min(needed + 2, room))
        self.resize(width, height)
        self.move(middle.x() - width // 2, max(screen.top(), middle.y() - height // 2))

    def scroll_to(self, part: QWidget) -> None:
        self._area.ensureWidgetVisible(part, 0, LARGE)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.fit()  # the height of wrapped texts is known only once the width is


def _height(part: QWidget, width: int) -> int:
    return part.heightForWidth(width) if part.hasHeightForWidth() else part.sizeHint().height()


_SECRET_STEP = 1  # index in GUIDE


class WorkerGuide(TallDialog):
    """`secret_chosen` carries the offered secret, a Token, when the user copies it.

    `set_up_wanted`: the user lets the program do it, in a dialog of its own; this one closes.
    """

    secret_chosen = Signal(object)
    set_up_wanted = Signal()

    def __init__(self, tasks: Tasks, folder: RememberedFolder, parent: QWidget) -> None:
        super().__init__(tr("A Worker of your own"), parent, width=620)
        self._secret, self._remembered, self._folder = new_secret(), folder, Path()
        words = self.tr("Save the Worker…")
        self.save_button = PrimaryButton(words, "save", lambda: tasks.start("worker", self._save()))
        self.folder_button = Button(
            self.tr("Show folder"),
            "folder-open",
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder))),
        )
        self.folder_button.hide()
        self.saved = Saying("circle-check")
        self.secret = QLineEdit(self._secret)
        self.secret.setReadOnly(True)
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        self.secret.setAccessibleName(self.tr("New secret"))
        self.copy_secret = Button(self.tr("Copy"), "copy", self._copy_secret)
        self.copy_secret.setAccessibleName(self.tr("Copy the secret"))
        self.commands: list[Button] = []
        close = Button(self.tr("Done"), on_click=self.accept)
        close.setDefault(True)
        steps = column(*(self._step(index, step) for index, step in enumerate(GUIDE)), gap=MEDIUM)
        self.set_up_button = Button(self.tr("Set up in my account…"), "cloud", self._hand_over)
        self.lay_out(
            column(
                Label(self.tr("A Worker of your own"), "part"),
                Label(said(NEEDS), "quiet", wrap=True),
                row(self.save_button, self.folder_button, self.saved, None, gap=MEDIUM),
                steps,
                self._second_way(),
                self._explained(self.tr("What collecting costs"), said(COSTS)),
                self._explained(self.tr("To remove it again"), said(REMOVAL)),
                None,
                gap=LARGE,
            ),
            row(self.set_up_button, None, close),
        )

    def _second_way(self) -> Card:
        sentence = self.tr(
            "It puts the Worker into your account, with a bucket and a Workflow that collect answers while this"
            " computer is off, and adds the connection. It needs no Node.js, but a token of your account that is used"
            " once and stored nowhere; every call is listed before anything is sent."
        )
        title = Label(self.tr("Or let this program do it"), "strong")
        return Card(title, Label(sentence, "quiet", wrap=True), inset=True)

    def _explained(self, title: str, text: str) -> QVBoxLayout:
        return column(Label(title, "strong"), Label(text, "small", wrap=True), gap=2)

    def _hand_over(self) -> None:
        self.set_up_wanted.emit()
        self.accept()

    def _step(self, index: int, step: GuideStep) -> Card:
        title = self.tr("{n}. {title}").format(n=index + 1, title=said(step.title))
        card = Card(Label(title, "strong"), Label(said(step.text), "quiet", wrap=True), inset=True)
        if step.command:
            card.body.addLayout(self._command_line(step.command))
        if index == _SECRET_STEP:
            about = self.tr("A new secret that nobody can guess. Copied, it is entered here, too.")
            card.body.addWidget(Label(about, "small"))
            card.body.addLayout(row(self.secret, self.copy_secret))
        return card

    def _command_line(self, command: str) -> QHBoxLayout:
        field = QLineEdit(command)
        field.setReadOnly(True)
        field.setAccessibleName(self.tr("Command"))
        field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        copy = Button(self.tr("Copy"), "copy", on_click=lambda: QGuiApplication.clipboard().setText(command))
        copy.setAccessibleName(self.tr("Copy {command}").format(command=command))
        self.commands.append(copy)
        return row(field, copy)

    def _copy_secret(self) -> None:
        QGuiApplication.clipboard().setText(self._secret)
        self.copy_secret.setText(self.tr("Copied"))
        self.secret_chosen.emit(check_secret(self._secret))

    async def _save(self) -> None:
        folder = await dialogs.choose_folder(self, self.tr("Save the Worker in a folder"), folder=self._remembered)
        if folder is None:
            return
        try:
            others = await asyncio.to_thread(in_the_way, folder)
            if others and not await self._may_replace(others):
                return
            paths = await asyncio.to_thread(save_worker, folder)
        except UserError as error:
            self.saved.set_line(said(error.message), "triangle-alert", "attention")
            return
        self._folder = folder
        files = figures.plural(len(paths), "{n} file", "{n} files")
        words = self.tr("{files} saved in “{name}”.").format(files=files, name=folder.name)
        self.saved.set_line(words, "circle-check", "done")
        self.folder_button.show()

    async def _may_replace(self, others: tuple[Path, ...]) -> bool:
        names = figures.listed([f"“{path.name}”" for path in others])
        return await dialogs.ask(
            self,
            self.tr("Replace files?"),
            self.tr("{names} in this folder would be lost.").format(names=names),
            accept=self.tr("Replace"),
            danger=True,
        )


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
        states: dict[State | None, tuple[str, Role]] = {
            None: ("circle-dashed", "quiet"),
            State.RUNNING: ("loader", "accent"),
            State.WAITING: ("clock", "attention"),
            State.DONE: ("circle-check", "done"),
            State.NOT_NEEDED: ("minus", "quiet"),
            State.FAILED: ("circle-x", "error"),
        }
        icon, role = states[state]
        self.show_step(icon, role, note=note, spoken=said(state.value) if state else "")


_TASK = "account calls"
# Of the dashboard, where each is put right.
_PAGES: dict[type[UserError], str] = {StorageNotActivated: STORAGE_PAGE, AddressMissing: WORKERS_PAGE}


class AccountDialog(TallDialog):
    """`tasks` and `open_page`, which takes an address for the browser, are the page's."""

    def __init__(
        self, program: Program, tasks: Tasks, open_page: Callable[[str], object], start_button: Button, parent: QWidget
    ) -> None:
        super().__init__(start_button.text(), parent, width=660)
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
        self.calls: list[CallRow] = []  # in the order in which they are made
        self._list = Card(inset=True, gap=MEDIUM)
        self._list.setAccessibleName(self.tr("Calls that are made"))
        self.problem = Saying("circle-x", "error", "body")
        self.page_link = LinkButton(self.tr("Open the dashboard"), "external-link", lambda: open_page(self._page))
        self.outcome = StateLabel()
        self.afterwards = Label("", "quiet", wrap=True)
        self._done = boxed(column(row(self.outcome, None), self.afterwards, gap=SMALL))
        self.start_button = start_button
        self.start_button.clicked.connect(self._try_to_start)
        self.close_button = Button(self.tr("Cancel"), on_click=self._close_or_stop)
        self.finished.connect(lambda _: self._forget())
        for hidden in (self.page_link, self._done):
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
        self.lay_out(
            column(title, self._about, self._form, self._note, self._list, None, gap=MEDIUM),
            column(self._done, self.problem, row(self.page_link, *foot, None, *buttons), gap=SMALL),
        )
        self.show_plan()
        (self.token if self.account.text() else self.account).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_plan(self) -> None:
        with suppress(UsageError):
            planned = self.plan(names_of(self.worker.text().strip()), self._account_id())
            for each in self.calls:
                each.hide()
                each.deleteLater()
            self.calls = [CallRow(call) for call in planned]
            for each in self.calls:
                self._list.body.addWidget(each)
        calls = self.plan(names_of(), self._account_id())
        permissions = figures.listed([*dict.fromkeys(each.permission for each in calls)])
        hint = self.tr(
            "For this one time; it is stored nowhere. It needs {permissions}, which the dashboard calls “Edit”."
        )
        self.token_block.set_hint(hint.format(permissions=permissions))
        self._note.setVisible(bool(self.calls))
        self._list.setVisible(bool(self.calls))

    def show_progress(self, progress: Progress) -> None:
        for each in self.calls if isValid(self) else ():
            if each.call.step is progress.call.step:
                each.show_state(progress.state, said(progress.note))
                if progress.state is State.RUNNING:
                    self.scroll_to(each)

    def is_working(self) -> bool:
        return self._tasks.is_running(_TASK)

    def _account_id(self) -> str:
        try:
            return clean_account_id(self.account.text())
        except NotConnected:
            return ""

    def _edited(self) -> None:
        self.problem.hide()
        self.page_link.hide()
        self.show_plan()

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
            if isValid(self):
                self._show_done(done, afterwards)
        except UserError as error:
            if isValid(self):
                self._show_stopped(error)
        finally:
            if isValid(self):
                for each in self.calls:
                    if each.state in (State.RUNNING, State.WAITING):
                        each.show_state(None)
                self._set_working(False)

    def _show_stopped(self, error: UserError) -> None:
        reason = error.reason if isinstance(error, Stopped) else error
        self.problem.set_line("\n".join(filter(None, (said(error.message), error.detail))))
        self._page = _PAGES.get(type(reason), "")
        self.page_link.setVisible(bool(self._page))
        if isinstance(reason, TokenRefused):
            self.token.forget()
            self.token.setFocus(Qt.FocusReason.OtherFocusReason)
        self.stopped(reason)
        self.fit()

    def _show_done(self, sentence: str, afterwards: str) -> None:
        self.token.forget()
        for each in self.calls:
            each.setVisible(each.state is not None)
        self.outcome.set_state(sentence, "circle-check", "done")
        self.afterwards.setText(afterwards)
        self._done.show()
        self.start_button.hide()
        self.close_button.setDefault(True)
        self.fit()

    def _set_working(self, working: bool) -> None:
        if working:
            self.problem.hide()
            self.page_link.hide()
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
                0, figures.plural(taken.answers, "{n} stored object was deleted.", "{n} stored objects were deleted.")
            )
        if self.forget.isChecked():
            await self._program.connections.remove(self._record.id)
            self.forgotten.emit()
        sentence = self.tr("Done: “{name}” is not in the account any more.").format(name=names.worker)
        return sentence, " ".join(more)
