"""The dialogs of connections: the user's own Worker by hand, put into their account or taken out, and the check."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QScrollArea, QWidget
from shiboken6 import isValid

from cfbatch_gui.core import worker_setup
from cfbatch_gui.core.connections.credentials import TokenSource
from cfbatch_gui.core.errors import NotConnected, TokenRefused, UsageError, UserError
from cfbatch_gui.core.messages import literal, quoted
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.settings import FolderUse, SavedConnection
from cfbatch_gui.core.worker_setup import Names, State, WorkerSetup
from cfbatch_gui.core.workers_ai import probe
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form, check_secret
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, clean_account_id
from cfbatch_gui.ui import dialogs, display, widgets
from cfbatch_gui.ui.connections.connection_cards import LineRow, SavedCard, StepRow, TickRow, has_problem
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY
from cfbatch_gui.ui.widgets import Button, Card, IconLine, Item, Label, PrimaryButton, Role, Saying, boxed, column, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.connections import Row, account_row, token_row
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import title_words

if TYPE_CHECKING:
    from cfbatch_gui.ui.connections.connection_page import ConnectionPage

_TASK = "work of a dialog"
Outcome = tuple[str, str, Role]
"""What came of it, its icon and the role of its colour."""


class WorkDialog(dialogs.Dialog):
    """`start_button` begins its work, a task of the page's; while that runs the form is hidden and Cancel is Stop."""

    words_when_stopped = ""

    def __init__(self, parent: QWidget, tasks: Tasks, start_button: Button, title: str, *, width: int) -> None:
        super().__init__(title, parent, (width, 0))
        self._tasks, self.start_button = tasks, start_button
        start_button.clicked.connect(self.try_to_start)
        self.problem = Saying("circle-x", "error", "body")
        self.outcome, self.afterwards = widgets.StateLabel(), Label("", "quiet", wrap=True)
        self._done = boxed(column(row(self.outcome, None), self.afterwards, gap=SMALL))
        self._done.hide()
        self.close_button.clicked.disconnect()
        self.close_button.clicked.connect(self._close_or_stop)
        self.finished.connect(lambda _: tasks.cancel(_TASK))

    def show_parts(self, form: Sequence[Item], *parts: Item, beside: Sequence[Item] = ()) -> None:
        """`form` is there before the work, `parts` always, and `beside` stands in the row of the buttons."""
        self._form = boxed(column(*form, gap=MEDIUM))
        content = self._form, self._done, self.problem, *parts, None
        self.lay_out(self.windowTitle(), *content, buttons=[self.start_button], beside=beside)

    def scroll_to(self, part: QWidget) -> None:
        for area in self.findChildren(QScrollArea):
            area.ensureWidgetVisible(part, 0, LARGE)

    # What each dialog does

    def may_start(self) -> bool:
        return True

    async def work(self) -> tuple[Outcome, str]:
        """What came of it, and what there is to know besides. Raises UserError."""
        raise NotImplementedError

    def stopped(self, error: UserError) -> None:
        """Show why it ended too early."""
        self.problem.set_line("\n".join(filter(None, (said(error.message), error.detail))))
        self.scroll_to(self.problem)

    def rested(self) -> None:
        """The work is over, however it ended."""

    # Shared

    def is_working(self) -> bool:
        return self._tasks.is_running(_TASK)

    def try_to_start(self) -> None:
        if not (self.is_working() or self.start_button.isHidden()) and self.may_start():
            self._tasks.start(_TASK, self._run())

    async def _run(self) -> None:
        self.problem.hide()
        self._set_working(True)
        try:
            outcome, afterwards = await self.work()
            self.outcome.set_state(*outcome)
            self.afterwards.setText(afterwards)
            self.start_button.hide()
            self._done.show()
        except UserError as error:
            self.stopped(error)
        finally:
            if isValid(self):  # it may have been closed
                self.rested()
                self._set_working(False)
                self.fit()

    def _set_working(self, working: bool) -> None:
        is_done = self.start_button.isHidden()
        self._form.setVisible(not working and not is_done)
        self.start_button.set_possible(tr("Wait until this is done.") if working else "")
        self.close_button.setText(tr("Stop") if working else tr("Close") if is_done else tr("Cancel"))
        if is_done:
            self.close_button.setDefault(True)
            self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close_or_stop(self) -> None:
        if self.is_working():
            self._tasks.cancel(_TASK)
            self.problem.set_line(self.words_when_stopped)
        else:
            self.reject()


class WorkerGuide(dialogs.Dialog):
    """How the Worker of a card comes into an account: by this program, in a dialog of its own, or by hand. The card
    gets the secret that the user copies, and then the focus.
    """

    def __init__(self, page: "ConnectionPage", card: SavedCard) -> None:
        super().__init__(tr("A Worker of your own"), page.window(), (620, 0))
        self._page, self._card = page, card
        self.finished.connect(lambda _: card.lines["url"].field.setFocus(Qt.FocusReason.OtherFocusReason))
        self._secret, self._remembered = worker_setup.new_secret(), page.program.remembered_folder(FolderUse.WORKERS)
        self.set_up_button = PrimaryButton(tr("Set up in my account…"), "cloud", self._hand_over)
        self.save_button = Button(tr("Save the Worker…"), "save", lambda: page.tasks.start("worker", self._save()))
        self.copy_secret = Button(tr("Copy a new secret"), "copy", self._copy_secret)
        self.saved = Saying("circle-check")
        sentence = tr(
            "It puts the Worker into your account, with a bucket and a Workflow that collect answers while this"
            " computer is off, and adds the connection. It needs no Node.js, but a token of your account that is used"
            " once and stored nowhere; every call is listed before anything is sent."
        )
        by_hand = tr(
            "In the folder that is saved, “npx wrangler deploy” puts it on Cloudflare, and “npx wrangler secret put"
            " SHARED_SECRET” gives it the secret that is copied here. It needs Node.js 22.12 or newer; README.md there"
            " says more, also how answers are collected."
        )
        self.lay_out(
            self.windowTitle(),
            Card(
                Label(tr("Let this program do it"), "strong"),
                Label(sentence, "quiet", wrap=True),
                Label(said(worker_setup.COSTS), "small", wrap=True),
                row(self.set_up_button, None),
                inset=True,
            ),
            Card(
                Label(tr("Or do it by hand, in a terminal"), "strong"),
                Label(by_hand, "quiet", wrap=True),
                row(self.save_button, self.copy_secret, None),
                self.saved,
                inset=True,
            ),
        )

    def _hand_over(self) -> None:
        self._page.set_up(self._card)
        self.accept()

    def _copy_secret(self) -> None:
        QGuiApplication.clipboard().setText(self._secret)
        self.copy_secret.setText(tr("Copied"))
        self._card.put_secret(check_secret(self._secret))

    async def _save(self) -> None:
        folder = await dialogs.choose_folder(self, tr("Save the Worker in a folder"), folder=self._remembered)
        if folder is None:
            return
        try:
            saved = await asyncio.to_thread(worker_setup.save_worker, folder)
        except UserError as error:
            self.saved.set_line(said(error.message), "triangle-alert", "attention")
        else:
            words = worded("Saved in “{folder}”.", folder=saved.name)
            self.saved.set_line(words, "circle-check", "done")


_TOKENS = "https://dash.cloudflare.com/profile/api-tokens"

_LOOKS: dict[State | None, tuple[str, Role]] = {
    None: ("circle-dashed", "quiet"),  # not made yet
    State.RUNNING: ("loader", "accent"),
    State.WAITING: ("clock", "attention"),
    State.DONE: ("circle-check", "done"),
    State.NOT_NEEDED: ("minus", "quiet"),
    State.FAILED: ("circle-x", "error"),
}


class CallRow(StepRow):
    def __init__(self, call: worker_setup.Call) -> None:
        # The account is the same in all of them, and its id would take half a line.
        short = f"{call.method} {re.sub('^/accounts/[^/]+', '…', call.path)}"
        words = worded("{call} · needs {permission}", call=short, permission=call.permission)
        super().__init__(said(call.sentence), words)
        self.call = call
        self.words.setToolTip(display.plain_tip(call.words))
        self.show_state(None)

    def show_state(self, state: State | None, note: str = "") -> None:
        self.state = state
        self.show_step(*_LOOKS[state], note=note, spoken=said(literal(state.value)) if state else "")


class AccountDialog(WorkDialog):
    """Calls to the user's account, listed before they are made; `options` and `beside` are what one kind of it adds."""

    def __init__(
        self, page: "ConnectionPage", start_button: Button, about: str, *options: Item, beside: tuple[Item, ...] = ()
    ) -> None:
        super().__init__(page.window(), page.tasks, start_button, start_button.text(), width=660)
        self._page, self._program = page, page.program
        make_token = lambda _: page.open_page(worker_setup.token_page(self._account_id()))  # noqa: E731
        token = replace(token_row(), label=tr("One-time API token"), link=(tr("Make the token"), _TOKENS))
        hint = tr("What belongs to it is called after it.")
        worker = Row("worker", tr("Name of the Worker"), help=hint, check=_names_of)
        self.lines = {
            "account": LineRow(account_row(), page.open_page),
            "token": LineRow(token, make_token),
            "worker": LineRow(worker),
        }
        self.account, self.token, self.worker = (each.field for each in self.lines.values())
        self.account.setText(self._program.address_book.account_id)
        self.worker.setText(worker_setup.names_of().worker)
        self.calls: list[CallRow] = []  # in the order in which they are made
        self._list = Card(inset=True, gap=MEDIUM)
        self._list.setAccessibleName(tr("Calls that are made"))
        self.finished.connect(lambda _: self.lines["token"].forget())
        for each in self.lines.values():
            each.edited.connect(self._edited)
            each.field.returnPressed.connect(self.try_to_start)
        button = start_button.text()
        sent = worded("This is sent to Cloudflare, and nothing before you press “{button}”:", button=button)
        stopped = tr("Stopped. What was done stays; press “{button}” again, and it goes on from there.")
        self.words_when_stopped = stopped.format(button=button)
        form = [Label(about, "quiet", wrap=True), *self.lines.values(), *options, Label(sent, "strong", wrap=True)]
        self.show_parts(form, self._list, beside=beside)
        (self.token if self.account.text() else self.account).setFocus(Qt.FocusReason.OtherFocusReason)

    # What each dialog does

    def plan(self, names: Names, account_id: str) -> Sequence[worker_setup.Call]:
        raise NotImplementedError

    async def make_calls(self, setup: WorkerSetup, account_id: str, token: Token, names: Names) -> tuple[str, str]:
        """What is said then, and what there is to know afterwards. Raises UserError."""
        raise NotImplementedError

    # Shared

    def show_plan(self) -> None:
        with suppress(UsageError):
            planned = self.plan(_names_of(self.worker.text()), self._account_id())
            widgets.discard(self._list.body, *self.calls)
            self.calls = [CallRow(call) for call in planned]
            for each in self.calls:
                self._list.body.addWidget(each)
        calls = self.plan(worker_setup.names_of(), self._account_id())
        permissions = figures.listed([*dict.fromkeys(each.permission for each in calls)])
        hint = tr("For this one time; it is stored nowhere. It needs {permissions}, which the dashboard calls “Edit”.")
        self.lines["token"].set_help(hint.format(permissions=permissions))
        self._list.setVisible(bool(self.calls))

    def show_progress(self, step: worker_setup.Step, state: State, note: str) -> None:
        for each in self.calls:
            if each.call.step is step:
                each.show_state(state, said(note))
                if state is State.RUNNING:
                    self.scroll_to(each)

    def _account_id(self) -> str:
        try:
            return clean_account_id(self.account.text())
        except NotConnected:
            return ""

    def _edited(self) -> None:
        self.problem.hide()
        self.show_plan()

    def may_start(self) -> bool:
        self.show_plan()
        return not has_problem(*self.lines.values())

    async def work(self) -> tuple[Outcome, str]:
        program = self._program
        setup = WorkerSetup(program.connections)
        given = self._account_id(), check_form(self.token.text()), _names_of(self.worker.text())
        sentence, afterwards = await self.make_calls(setup, *given)
        self.lines["token"].forget()
        return (sentence, "circle-check", "done"), afterwards

    def stopped(self, error: UserError) -> None:
        super().stopped(error)
        if isinstance(reason_of(error), TokenRefused):
            self.lines["token"].forget()
            self.token.setFocus(Qt.FocusReason.OtherFocusReason)

    def rested(self) -> None:
        for each in self.calls:
            if each.state in (State.RUNNING, State.WAITING):
                each.show_state(None)


def reason_of(error: UserError) -> UserError:
    return error.reason if isinstance(error, worker_setup.Stopped) else error


def _names_of(text: str) -> Names:
    return worker_setup.names_of(text.strip())


class WorkerSetupDialog(AccountDialog):
    """Once all is done, the page shows the connection that leads to the Worker in place of the card."""

    def __init__(self, page: "ConnectionPage", card: SavedCard) -> None:
        self._card, self._connection_id = card, ""
        plan = tr("Then batches may have 10 MB, else 1 MB. Collecting works on both plans.")
        paid = TickRow(Row("paid_plan", tr("The account is on the Workers Paid plan"), help=plan))
        self.replace, self.paid_plan = widgets.CheckBox(tr("Replace what has this name there")), paid.field
        self.paid_plan.setChecked(card.typed().paid_plan)
        copy = lambda: page.tasks.start("copy secret", self._copy_secret())  # noqa: E731
        self.copy_secret = Button(tr("Copy the secret"), "copy", copy)
        about = tr(
            "The program puts the Worker into your account, with a bucket and a Workflow that collect answers while"
            " this computer is off, and adds the connection. Doing it again changes nothing; what others have there"
            " stays."
        )
        start = PrimaryButton(tr("Set up in my account"), "check")
        super().__init__(page, start, about, self.replace, paid, beside=(self.copy_secret,))
        for each in (self.replace, self.copy_secret):
            each.hide()
        self.worker.textChanged.connect(lambda _: self._offer_replacing(False))
        self.show_plan()

    def plan(self, names: Names, account_id: str) -> Sequence[worker_setup.Call]:
        return worker_setup.setting_up_calls(names, account_id)

    async def make_calls(self, setup: WorkerSetup, account_id: str, token: Token, names: Names) -> tuple[str, str]:
        done = await setup.set_up(
            *(account_id, token, names),
            title=tr("My Worker"),
            paid_plan=self.paid_plan.isChecked(),
            may_replace=self.replace.isChecked(),
            show=self.show_progress,
        )
        self._connection_id = done.connection.id
        sentence, *more = map(said, done.sentences())
        more.append(tr("A new address may take a minute until it answers: test it on its card then."))
        if await self._program.credentials.token_source(self._connection_id, check=check_secret) is TokenSource.SESSION:
            more.insert(0, tr("No keyring took the Worker’s secret: copy it now, or it is lost with this program."))
            self.copy_secret.show()
        self._page.was_set_up(self._card, self._connection_id)
        return sentence, " ".join(more)

    def stopped(self, error: UserError) -> None:
        super().stopped(error)
        if isinstance(reason_of(error), worker_setup.NotOurs):
            self._offer_replacing(True)
            self.scroll_to(self.replace)

    def _offer_replacing(self, is_taken: bool) -> None:
        """Offer it for the name that was refused, and for no other."""
        self.replace.setChecked(False)
        self.replace.setVisible(is_taken)

    async def _copy_secret(self) -> None:
        secret = await self._program.credentials.token(self._connection_id, check=check_secret)
        if secret is not None:
            QGuiApplication.clipboard().setText(secret.reveal())
            self.copy_secret.setText(tr("Copied"))


class WorkerRemovalDialog(AccountDialog):
    def __init__(self, page: "ConnectionPage", record: SavedConnection) -> None:
        self._record = record
        billed = tr("R2 goes on billing what is in it, beyond 10 GB.")
        keeping = TickRow(Row("keep_bucket", tr("Keep the bucket with the stored answers"), help=billed))
        self.keep_bucket = keeping.field
        words = tr("Remove the connection “{name}” and its secret from this computer, too")
        self.forget = widgets.CheckBox(words.format(name=title_words(record.name)))
        about = tr(
            "The Worker, its Workflow and its bucket are deleted from your account; nothing else is. Collect first:"
            " jobs that are under way there cannot be collected through it any more."
        )
        start = widgets.DangerButton(tr("Remove from my account"), "trash-2")
        super().__init__(page, start, about, keeping, self.forget)
        try:
            self.worker.setText(worker_setup.names_at(record.url).worker)
        except UsageError:  # a domain of the user's own
            self.worker.clear()
        self.keep_bucket.toggled.connect(self.show_plan)
        self.show_plan()

    def plan(self, names: Names, account_id: str) -> Sequence[worker_setup.Call]:
        return worker_setup.removing_calls(names, account_id, keep_bucket=self.keep_bucket.isChecked())

    async def make_calls(self, setup: WorkerSetup, account_id: str, token: Token, names: Names) -> tuple[str, str]:
        taken = await setup.take_down(
            *(account_id, token, names), keep_bucket=self.keep_bucket.isChecked(), show=self.show_progress
        )
        sentence, *more = map(said, taken.sentences())
        if self.forget.isChecked():
            await self._program.connections.remove(self._record.id)
            self._page.connections_changed()
        return sentence, " ".join(more)


def finding_looks() -> dict[probe.Outcome, tuple[str, Role, str]]:
    """The icon of each kind of finding, its colour and its word, in the order of the list."""
    return {
        probe.Outcome.NOT_HELD: ("circle-x", "error", tr("Not held")),
        probe.Outcome.HELD: ("circle-check", "done", tr("Held")),
        probe.Outcome.NOT_SEEN: ("circle-dashed", "quiet", tr("Not seen")),
    }


class ServiceCheck(WorkDialog):
    def __init__(self, page: "ConnectionPage", connection_id: str) -> None:
        start = PrimaryButton("", "check")
        super().__init__(page.window(), page.tasks, start, tr("Check the service"), width=700)
        self._page, self._program, self._connection_id = page, page.program, connection_id
        self.words_when_stopped = tr("Stopped. What was sent before may be billed.")
        self._plan: probe.ProbePlan | None = None
        self._result: probe.ProbeResult | None = None
        about = tr(
            "This program was written from what Cloudflare publishes; nobody who made it has an account. A check"
            " sends a few texts of its own through “{name}”, none of yours, and says of each of {n} assumptions"
            " whether it holds."
        ).format(
            name=title_words(self._program.address_book.title(connection_id)),
            n=sum(each.is_visible for each in probe.all_assumptions()),
        )
        self.sends, self.price, self.time = IconLine("", "send"), IconLine("", "info"), IconLine("", "clock")
        self.doing, self.saved = Saying("loader", "accent", "quiet"), Saying("circle-check", "done")
        self._list = column(gap=MEDIUM, margins=(0, TINY, 0, TINY))
        save = lambda: page.tasks.start("service report", self._save())  # noqa: E731
        self.save_button = Button(tr("Save report…"), "save", save)
        self.save_button.hide()
        facts = column(self.sends, self.price, self.time, gap=SMALL)
        self.show_parts(
            (Label(about, "quiet", wrap=True), facts),
            self.doing,
            boxed(self._list),
            beside=(self.save_button, boxed(column(self.saved))),
        )
        self._show_plan()

    def _show_plan(self) -> None:
        model = self._program.settings.model
        try:
            self._plan = self._program.connections.plan_probe(self._connection_id, model)
        except UserError as error:
            self.start_button.hide()
            self.problem.set_line(said(error.message))
            return
        batches = figures.plural(len(self._plan.batches), "{n} small batch", "{n} small batches")
        sends = worded("{batches}, and one request without the queue, to {model}", batches=batches, model=model)
        price, lasts = tr("It costs nothing, and nothing leaves this computer."), tr("It takes a few seconds.")
        button = tr("Check")
        if self._connection_id != PRACTICE.id:
            amount = figures.prices(self._plan.price)
            price, button = worded("It costs {price}.", price=amount), worded("Check for {price}", price=amount)
            lasts = tr("It takes as long as batches wait, usually less than 5 minutes.")
        for line, words in ((self.sends, sends), (self.price, price), (self.time, lasts)):
            line.set_line(words)
        self.start_button.setText(button)

    async def work(self) -> tuple[Outcome, str]:
        assert self._plan is not None  # noqa: S101 - without one there is no button
        result = await self._program.connections.probe(self._connection_id, self._plan, show=self._show_step)
        self._result = result
        for finding in sorted(result.findings, key=lambda each: [*finding_looks()].index(each.outcome)):
            self._list.addWidget(line := FindingRow(finding))
            line.show()  # now, so that the dialog knows its height
        self.save_button.show()
        self._page.changed.emit()
        broken = sum(each.outcome is probe.Outcome.NOT_HELD for each in result.findings)
        is_well = result.is_whole and not broken
        words = tr("All that a check can see is as assumed") if is_well else tr("Not everything could be checked")
        if broken:
            words = figures.plural(broken, "{n} assumption does not hold", "{n} assumptions do not hold")
        unfinished = [batch.sentence for batch in result.sent if batch.answer is None]
        sentences = dict.fromkeys(map(said, (probe.counts_sentence(result.findings), *unfinished)))
        looks: tuple[str, Role] = ("circle-check", "done") if is_well else ("triangle-alert", "attention")
        return (words, *looks), " ".join(sentences)

    def _show_step(self, sentence: str) -> None:
        if isValid(self):
            self.doing.set_line(said(sentence))

    def rested(self) -> None:
        self.doing.hide()
        if self._result is None:
            self._show_plan()  # with references of its own for another check

    async def _save(self) -> None:
        result = self._result
        if result is None:
            return
        day = datetime.fromtimestamp(result.started).astimezone()
        path = await dialogs.save_file(
            self,
            tr("Save report"),
            name=f"cfbatch-check-{day:%Y-%m-%d}.txt",
            filters=(tr("Text (*.txt)"), tr("JSON (*.json)")),
            folder=self._program.remembered_folder(FolderUse.REPORTS),
        )
        if path is None:
            return
        try:
            await asyncio.to_thread(write_atomically, path, probe.report_for(result, path))
        except UserError as error:
            self.saved.hide()
            self.problem.set_line(said(error.message))
            return
        self.problem.hide()
        words = tr("Saved as {name}. It holds no token, no account ID and no text of yours.")
        self.saved.set_line(words.format(name=path.name))


class FindingRow(StepRow):
    def __init__(self, finding: probe.Finding) -> None:
        super().__init__(_quoted(said(finding.assumption.sentence)), said(finding.observation))
        self.finding = finding
        then = worded("What happens then: {sentence}", sentence=_quoted(said(finding.assumption.otherwise)))
        is_broken = finding.outcome is probe.Outcome.NOT_HELD
        self.show_step(*finding_looks()[finding.outcome], then if is_broken else "")


def _quoted(text: str) -> str:
    return re.sub(r"`([^`]*)`", lambda found: said(quoted(found[1])), text)
