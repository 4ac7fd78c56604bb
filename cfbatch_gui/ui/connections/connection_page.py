"""The page of connections: which service new jobs use, and the connections with their tests."""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QButtonGroup, QVBoxLayout, QWidget

from cfbatch_gui.core.connections.address_book import free_name, gateway_secret_id
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, TokenSource, variable_of
from cfbatch_gui.core.errors import Action, ConnectionProblem, KeyringUnavailable, NotConnected, UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse, SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, check_form, check_secret, read_pasted
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.ui.connections.connection_cards import CardState, CloudflareCard, SavedCard
from cfbatch_gui.ui.connections.connection_fields import (
    AccountState,
    known_account_state,
    open_in_browser,
)
from cfbatch_gui.ui.connections.service_check import ServiceCheck
from cfbatch_gui.ui.connections.tested_card import ConnectionCard, TestedCard
from cfbatch_gui.ui.connections.worker_dialogs import WorkerRemovalDialog, WorkerSetupDialog
from cfbatch_gui.ui.connections.worker_guide import WorkerGuide
from cfbatch_gui.ui.dialogs import ask, ask_text
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY
from cfbatch_gui.ui.widgets import PAGE_MARGINS, Button, MenuButton, PageHeader, column, scrolled

KindName = Literal["cloudflare", "worker", "gateway"]


class OtherConnections(QWidget):
    """One card for each connection in the order in which they were added; unsaved ones come last. What is done on the
    card of the first account, which stands above, is done here too.

    `changed` follows every change of a saved connection, `tested` the end of every test, `chosen` carries the id of the
    connection to use for new jobs, `page_wanted` an address to open in the browser, and `shown` a card to scroll to.
    `tasks` reports errors.
    """

    changed = Signal()
    unlock_wanted = Signal()  # of the keyring
    tested = Signal()
    chosen = Signal(str)
    page_wanted = Signal(str)
    pasted = Signal(object, object)  # a Pasted, and the card that it was pasted into
    shown = Signal(object)
    check_wanted = Signal(str)  # of the service, through the connection with this id
    account_wanted = Signal(str)  # the list of what is in the account behind this connection

    def __init__(self, program: Program, tasks: Tasks, uses: QButtonGroup) -> None:
        super().__init__()
        self._program, self._tasks, self._uses = program, tasks, uses
        self.cards: list[SavedCard] = []
        self.first = CloudflareCard()
        self._connect(self.first)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(MEDIUM)
        self.hide()

    def add(self, kind: KindName, url: str = "") -> SavedCard:
        for card in self.cards:
            if not card.record.id and card.record.kind == kind:
                break
        else:
            card = self._new_card(SavedConnection("", self._free_name(kind), kind, url=url))
        self.shown.emit(card)
        return card

    def card(self, connection_id: str) -> SavedCard | None:
        return next((each for each in self.cards if connection_id and each.record.id == connection_id), None)

    def show_saved(self) -> None:
        saved = self._saved()
        for card in [each for each in self.cards if each.record.id]:
            if all(each.id != card.record.id for each in saved):
                self._drop(card)
        for record in saved:
            shown = self.card(record.id)
            card = shown or self._new_card(record)
            card.show_record(record)
            if shown is None:
                waiting = AccountState(is_checking=True)
                card.show_state(CardState(True, waiting, waiting))
            card.choice.setChecked(self._program.settings.connection == record.id)

    async def refresh(self) -> None:
        self.show_saved()
        self._show_first(await self._state_of_first())
        for record in self._saved():
            state = await self._state_of(record)
            if (card := self.card(record.id)) is not None:  # it may have been removed meanwhile
                card.show_state(state)

    def show_known(self) -> None:
        """All that is known without the keyring."""
        self.show_saved()
        self._show_first(known_account_state(self._program))

    def _show_first(self, state: AccountState) -> None:
        self.first.show_account(state, self._program.address_book.title(CLOUDFLARE))

    def _saved(self) -> list[SavedConnection]:
        return [each for each in self._program.address_book.saved() if each.id != CLOUDFLARE]

    # Cards

    def _new_card(self, record: SavedConnection) -> SavedCard:
        card = SavedCard(record)
        self._connect(card)
        self._column.addWidget(card)
        self.cards.append(card)
        self.show()
        card.show()  # now, so that it can take the focus
        return card

    def _connect(self, card: SavedCard) -> None:
        self._uses.addButton(card.choice)
        card.choice.clicked.connect(lambda: self.chosen.emit(card.record.id))
        card.save_pressed.connect(lambda: self._work(card, self._save(card)))
        card.test_pressed.connect(lambda: self._work(card, self._test(card)))
        card.check_pressed.connect(lambda: self.check_wanted.emit(card.record.id))
        card.account_pressed.connect(lambda: self.account_wanted.emit(card.record.id))
        card.remove_pressed.connect(lambda: self._work(card, self._remove(card)))
        card.rename_pressed.connect(lambda: self._work(card, self._rename(card)))
        card.secret_remove_pressed.connect(lambda is_gateways: self._work(card, self._forget(card, is_gateways)))
        card.unlock_pressed.connect(self.unlock_wanted)
        card.guide_pressed.connect(lambda: self._show_guide(card))
        card.take_down_pressed.connect(lambda: self._take_down(card))
        card.page_wanted.connect(self.page_wanted)
        card.pasted.connect(lambda found: self.pasted.emit(found, card))

    def _drop(self, card: SavedCard) -> None:
        self.cards.remove(card)
        self._uses.removeButton(card.choice)
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()
        self.setVisible(bool(self.cards))

    def _free_name(self, kind: KindName) -> str:
        first = {"cloudflare": self.tr("Cloudflare"), "worker": self.tr("My Worker"), "gateway": self.tr("AI Gateway")}
        saved = (each.name for each in self._program.address_book.saved())
        return free_name(first[kind], [*saved, *(card.record.name for card in self.cards)])

    async def _state_of_first(self) -> AccountState:
        token = await self._secret(CLOUDFLARE, lambda: self._program.credentials.token_source(CLOUDFLARE))
        summary = next(each for each in await self._program.connections.summaries() if each.id == CLOUDFLARE)
        known = known_account_state(self._program)
        return replace(
            token,
            account=known.account,
            problem=known.problem,
            service=known.service,
            is_ready=summary.is_ready,
            account_is_fixed=known.account_is_fixed,
            token_is_fixed=known.token_is_fixed,
        )

    async def _state_of(self, record: SavedConnection) -> CardState:
        summary = next(each for each in await self._program.connections.summaries() if each.id == record.id)
        credentials = self._program.credentials
        check = check_secret if record.kind == "worker" else check_form
        token = await self._secret(record.id, lambda: credentials.token_source(record.id, check=check))
        gateway = AccountState()
        if record.kind == "gateway":
            secret_id = gateway_secret_id(record.id)
            gateway = await self._secret(secret_id, lambda: credentials.token_source(secret_id, check=check_secret))
        return CardState(summary.is_ready, token, gateway)

    async def _secret(self, secret_id: str, find_source: Callable[[], Awaitable[TokenSource | None]]) -> AccountState:
        state = AccountState(token_variable=variable_of(secret_id))
        try:
            source = await find_source()
        except KeyringUnavailable as error:
            state = replace(state, keyring_problem=error.message, can_unlock=error.action is Action.UNLOCK)
        except NotConnected as error:
            state = replace(state, token_problem=error.message)
        else:
            state = replace(state, token_source=source, token_is_fixed=source is TokenSource.ENVIRONMENT)
        return replace(state, keyring=self._program.credentials.state)

    def _show_guide(self, card: SavedCard) -> None:
        guide = WorkerGuide(self._tasks, self._program.remembered_folder(FolderUse.WORKERS), self.window())
        guide.secret_chosen.connect(card.token_block.put)
        guide.set_up_wanted.connect(lambda: self._set_up(card))
        guide.finished.connect(lambda _: card.url.setFocus(Qt.FocusReason.OtherFocusReason))
        guide.open()

    def _set_up(self, card: SavedCard) -> None:
        dialog = WorkerSetupDialog(self._program, self._tasks, self.window(), paid_plan=card.paid_plan.isChecked())
        dialog.page_wanted.connect(self.page_wanted)
        dialog.connected.connect(lambda connection_id: self._was_set_up(card, connection_id))
        dialog.open()

    def _was_set_up(self, begun: SavedCard, connection_id: str) -> None:
        if begun in self.cards and not begun.record.id:
            self._drop(begun)
        self.show_saved()
        card = self.card(connection_id)
        if card is not None:
            card.paid_plan.setChecked(card.record.paid_plan)
            card.show_results(())
            self.shown.emit(card)
        self.changed.emit()

    def _take_down(self, card: SavedCard) -> None:
        dialog = WorkerRemovalDialog(self._program, self._tasks, card.record, self.window())
        dialog.page_wanted.connect(self.page_wanted)
        dialog.forgotten.connect(self.changed)
        dialog.open()

    # Work

    def _work(self, card: SavedCard, work: Awaitable[None]) -> None:
        async def do() -> None:
            try:
                await work
            finally:
                card.set_working("")

        self._tasks.start("account" if card is self.first else f"card {id(card)}", do())

    async def _save(self, card: SavedCard) -> None:
        card.show_results(())
        card.set_working(self.tr("Saving… a keyring may ask for its password."))
        connections, typed, secret = self._program.connections, card.typed(), card.token_block.field.text()
        may_use = card is self.first or not (card.record.id or typed.kind == "gateway")
        if card is self.first:
            record = await connections.save_cloudflare(typed.account_id, secret)
        else:
            gateway_secret = card.gateway_block.field.text() if typed.kind == "gateway" else ""
            record = await connections.save(typed, secret=secret, gateway_secret=gateway_secret)
        card.forget_typed()
        for field in card.fields():
            field.clear()  # the record holds the cleaned form of what was pasted
        card.show_record(record)
        await self.refresh()
        self.changed.emit()
        await self._test(card)
        if may_use and card.has_passed():
            await connections.use_if_none(record.id)
            await self.refresh()
            self.changed.emit()

    async def _test(self, card: SavedCard) -> None:
        try:
            await card.show_test(self._program.connections.check(card.record.id, self._program.settings.model))
        finally:
            self.tested.emit()

    async def _remove(self, card: SavedCard) -> None:
        if not card.record.id:
            self._drop(card)
            return
        at_work = [
            job
            for job in self._program.ledger.jobs()
            if job.connection == card.record.id and any(not batch.state.is_final for batch in job.batches)
        ]
        sentence = self.tr("Its secrets are deleted from this computer. Finished jobs keep their results.")
        if at_work:
            sentence += " " + self.tr(
                "Jobs that are under way pause: what is at the service stays there, and can be collected only by adding"
                " the job again with its request ID."
            )
        title = self.tr("Remove “{name}”?").format(name=card.record.name)
        if not await ask(self.window(), title, sentence, accept=self.tr("Remove"), danger=True):
            return
        card.set_working(self.tr("Removing…"))
        try:
            await self._program.connections.remove(card.record.id)
        finally:
            await self.refresh()
            self.changed.emit()

    async def _rename(self, card: SavedCard) -> None:
        name = await ask_text(self.window(), self.tr("Rename"), self.tr("Name"), text=card.record.name)
        if not name or not name.strip() or name.strip() == card.record.name:
            return
        if card.record.id:
            card.show_record(await self._program.connections.save(replace(card.record, name=name)))
            self.changed.emit()
        else:
            card.show_record(replace(card.record, name=name.strip()))

    async def _forget(self, card: SavedCard, is_gateways: bool) -> None:
        sentence = self.tr("It is deleted from this computer; at the other end it stays valid.")
        title = self.tr("Remove the secret?")
        if card is self.first:
            title = self.tr("Remove the token?")
            sentence = self.tr(
                "It is deleted from this computer, and stays valid at Cloudflare until you revoke it there. Batches"
                " that are at Cloudflare go on, but cannot be collected before a token is entered again."
            )
        if not await ask(self.window(), title, sentence, accept=self.tr("Remove"), danger=True):
            return
        card.set_working(self.tr("Removing…"))
        connection_id = card.record.id
        try:
            if card is self.first:
                await self._program.connections.forget_cloudflare()
            else:
                secret_id = gateway_secret_id(connection_id) if is_gateways else connection_id
                await self._program.credentials.forget(secret_id)
            card.show_results(())
        finally:
            await self.refresh()
            self.changed.emit()


class ConnectionPage(QWidget):
    """Reads everything again whenever it is shown. Tasks use keyring and network, so the window never blocks."""

    changed = Signal()  # a connection changed, or which one new jobs use
    state_shown = Signal()  # the state of the connection that new jobs use was read again
    account_wanted = Signal(str)  # the list of what is in the account behind the connection with this id

    def __init__(
        self, program: Program, notices: Notices, *, open_in_browser: Callable[[str], bool] = open_in_browser
    ) -> None:
        super().__init__()
        self._program, self._notices, self._open_in_browser = program, notices, open_in_browser
        self._is_known = False  # what needs no keyring is shown
        self.tasks = Tasks(self, on_error=self._show_error)
        self.header = PageHeader()
        self.paste_button = Button(self.tr("Paste"), "clipboard-paste")
        self.paste_button.setToolTip(self.tr("An id, a token, a curl line, an export line or an address"))
        self.new_button = MenuButton(self.tr("New connection"), "plus")
        for button in (self.paste_button, self.new_button):
            self.header.add_button(button)
        self.practice = ConnectionCard("flask-conical")
        self.practice.set_words(
            self.tr("Practice service"),
            self.tr(
                "On this computer. Costs nothing, nothing leaves this machine. Scores come from a small local model,"
                " so they are for trying things out."
            ),
            self.tr("Use the practice service for new jobs"),
        )
        self.practice.more.add(self.tr("Check the service…"), lambda: self._check_service(PRACTICE.id), "search")
        self.practice.more.show()
        self._uses = QButtonGroup(self)
        self._uses.addButton(self.practice.choice)
        self.others = OtherConnections(program, self.tasks, self._uses)
        self.cloudflare = self.others.first
        content = QWidget()
        left, _, right, bottom = PAGE_MARGINS
        content.setLayout(
            column(
                self.practice,
                self.cloudflare,
                self.others,
                None,
                gap=MEDIUM,
                margins=(left, TINY, right, bottom),
            )
        )
        self._content = content
        self._area = scrolled(content)
        self.setLayout(column(self.header, self._area, gap=SMALL))
        self._set_tab_order()
        self._connect()

    def refresh(self) -> None:
        self.tasks.start("refresh", self._refresh())

    def unlock(self) -> None:
        self.tasks.start("unlock", self._program.credentials.unlock())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.refresh()

    def _set_tab_order(self) -> None:
        card = self.cloudflare
        order = (
            self.practice.choice,
            card.choice,
            card.account,
            card.account_block.link,
            card.token_block.field,
            card.token_block.cancel,
            card.token_block.replace,
            card.token_block.remove,
            card.token_block.link,
            card.save_button,
            card.test_button,
            card.check_button,
            self.paste_button,
            self.new_button,
        )
        for before, after in itertools.pairwise(order):
            QWidget.setTabOrder(before, after)

    def _connect(self) -> None:
        self.practice.choice.clicked.connect(lambda: self._start_using(PRACTICE.id))
        self.others.check_wanted.connect(self._check_service)
        self.others.account_wanted.connect(self.account_wanted)
        self.others.page_wanted.connect(self._open_page)
        self.others.pasted.connect(self._route)
        self.others.chosen.connect(self._start_using)
        self.others.changed.connect(self._others_changed)
        self.others.unlock_wanted.connect(self.unlock)
        self.others.tested.connect(lambda: self.tasks.start("refresh", self._refresh()))
        self.others.shown.connect(self._reveal)
        self.new_button.add(self.tr("Cloudflare account"), lambda: self._begin("cloudflare"), "cloud")
        self.new_button.add(self.tr("Your own Worker"), lambda: self._begin("worker"), "layers")
        self.new_button.add(self.tr("AI Gateway"), lambda: self._begin("gateway"), "link")
        self.paste_button.clicked.connect(self.paste)
        paste = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self)
        paste.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        paste.activated.connect(self.paste)

    # New connections and pasted text

    def _begin(self, kind: KindName) -> None:
        self.others.add(kind).fields()[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def paste(self) -> None:
        focused = QApplication.focusWidget()
        into = next((card for card in self._cards() if focused is not None and card.isAncestorOf(focused)), None)
        self._route(read_pasted(QGuiApplication.clipboard().text()), into)

    def _route(self, pasted: Pasted, into: TestedCard | None) -> None:
        card = self._card_for(pasted, into)
        if not card.take(pasted) and not pasted.problem:
            self._notices.show_notice(
                self.tr(
                    "Nothing in what you pasted looks like an account ID, a token, a Worker’s address or a gateway’s."
                ),
                "attention",
            )
            return
        self._reveal(card)

    def _card_for(self, pasted: Pasted, into: TestedCard | None) -> TestedCard:
        kind = _kind_of(pasted)
        is_fitting = kind is None or (isinstance(into, SavedCard) and into.record.kind == kind)
        if into is not None and is_fitting:
            return into
        if kind is not None:
            return self.others.add(kind, pasted.base_url if kind == "cloudflare" else "")
        unsaved = next((each for each in self.others.cards if not each.record.id), None)
        return unsaved or self.cloudflare

    def _cards(self) -> tuple[TestedCard, ...]:
        return (self.cloudflare, *self.others.cards)

    def _reveal(self, card: QWidget) -> None:
        def scroll() -> None:
            if card.height() < self._area.viewport().height():
                self._area.ensureWidgetVisible(card, 0, SMALL)
            else:  # too tall for the page: show its top
                top = card.mapTo(self._content, QPoint()).y()
                self._area.verticalScrollBar().setValue(top - SMALL)

        QTimer.singleShot(0, card, scroll)

    def _others_changed(self) -> None:
        self._show()
        self.tasks.start("refresh", self._refresh())
        self.changed.emit()

    # State

    async def _refresh(self) -> None:
        if not self._is_known:  # the keyring may take its time
            self.others.show_known()
            self._show()
            self._is_known = True
        await self.others.refresh()
        self._show()

    def _show(self) -> None:
        if self._program.settings.connection == CLOUDFLARE:
            self.cloudflare.choice.setChecked(True)
        elif self.others.card(self._program.settings.connection) is None:
            self.practice.choice.setChecked(True)
        self._show_used()
        self.state_shown.emit()

    def has_worked(self, connection_id: str) -> None:
        card = self._card(connection_id)
        if card is not None and card.has_failed():
            card.show_results(())
            self.tasks.start("refresh", self._refresh())

    def has_failed(self) -> bool:
        card = self._card(self._program.settings.connection)
        return card is not None and card.has_failed()

    def _card(self, connection_id: str) -> SavedCard | None:
        return self.cloudflare if connection_id == CLOUDFLARE else self.others.card(connection_id)

    def _show_used(self) -> None:
        used = self._program.settings.connection
        card = self._card(used)
        if card is None:
            self.header.set_state(self.tr("New jobs use the practice service"), "flask-conical", "quiet")
            self.header.set_facts(self.tr("nothing leaves this computer"))
            return
        name = self.tr("New jobs use {name}").format(name=title_words(self._program.address_book.title(used)))
        if not card.is_ready():
            self.header.set_state(name, "triangle-alert", "attention")
            self.header.set_facts(self.tr("connect the account before you send"))
        elif self.has_failed():
            self.header.set_state(name, "triangle-alert", "attention")
            self.header.set_facts(self.tr("its last test failed"))
        else:
            self.header.set_state(name, "cloud", "accent")
            self.header.set_facts(self.tr("nothing is sent before you say so"))

    def _start_using(self, connection_id: str) -> None:
        self.tasks.start("use", self._use(connection_id))

    async def _use(self, connection_id: str) -> None:
        try:
            await self._program.keep_settings(connection=connection_id)
        finally:
            await self._refresh()
        self.changed.emit()

    def _check_service(self, connection_id: str) -> None:
        dialog = ServiceCheck(self._program, self.tasks, connection_id, self.window())
        dialog.checked.connect(self.changed)
        dialog.open()

    def _open_page(self, address: str) -> None:
        if not self._open_in_browser(address):
            self._notices.show_notice(
                self.tr("No browser could be opened. Copy the address of the page, and open it yourself."),
                "attention",
                button=self.tr("Copy the address"),
                on_button=lambda: QGuiApplication.clipboard().setText(address),
            )

    def _show_error(self, error: UserError) -> None:
        if isinstance(error, ConnectionProblem):  # its button would open this page
            self._notices.show_notice(said(error.message), "attention")
        else:
            self._notices.show_error(error)


def _kind_of(pasted: Pasted) -> KindName | None:
    """The kind of connection that the pasted text belongs to; None when any account could take it."""
    if pasted.worker_url:
        return "worker"
    if pasted.gateway:
        return "gateway"
    return "cloudflare" if pasted.base_url else None
