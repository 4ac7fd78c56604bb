"""The page of connections: which service new jobs use, and the connections with their tests."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QApplication, QButtonGroup, QWidget

from cfbatch_gui.core.connections.address_book import free_name, gateway_secret_id
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, TOKEN_VARIABLE, TokenSource, variable_of
from cfbatch_gui.core.errors import ConnectionProblem, NotConnected, UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, Token, check_secret, read_pasted
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.ui.connections.connection_cards import ConnectionCard, SavedCard
from cfbatch_gui.ui.connections.connection_fields import SecretState, open_in_browser
from cfbatch_gui.ui.connections.service_check import ServiceCheck
from cfbatch_gui.ui.connections.worker_dialogs import WorkerGuide, WorkerRemovalDialog, WorkerSetupDialog
from cfbatch_gui.ui.dialogs import ask, ask_text
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY
from cfbatch_gui.ui.widgets import PAGE_MARGINS, Button, MenuButton, PageHeader, boxed, column, scrolled
from cfbatch_gui.words.languages import said
from cfbatch_gui.words.states import title_words

KindName = Literal["cloudflare", "worker", "gateway"]


class ConnectionPage(QWidget):
    """One card for each connection in the order in which they were added; unsaved ones come last.

    Reads everything again whenever it is shown. Tasks use keyring and network, so the window never blocks.
    """

    changed = Signal()  # a connection changed, or which one new jobs use
    state_shown = Signal()  # the state of the connection that new jobs use was read again
    account_wanted = Signal(str)  # the list of what is in the account behind the connection with this id

    def __init__(
        self, program: Program, notices: Notices, *, open_in_browser: Callable[[str], bool] = open_in_browser
    ) -> None:
        super().__init__()
        self.program, self._notices, self._open_in_browser = program, notices, open_in_browser
        self.tasks = Tasks(self, on_error=self._show_error)
        self.header = PageHeader()
        self.practice = ConnectionCard("flask-conical")
        self.practice.set_words(
            self.tr("Practice service"),
            self.tr(
                "On this computer. Costs nothing, nothing leaves this machine. Scores come from a small local model,"
                " so they are for trying things out."
            ),
            self.tr("Use the practice service for new jobs"),
        )
        self.practice.more.add(self.tr("Check the service…"), lambda: self.check_service(PRACTICE.id), "search")
        self.practice.more.show()
        self.practice.choice.clicked.connect(lambda: self._start_using(PRACTICE.id))
        self._uses = QButtonGroup(self)
        self._uses.addButton(self.practice.choice)
        left, _, right, bottom = PAGE_MARGINS
        self._column = column(self.practice, gap=MEDIUM, margins=(left, TINY, right, bottom))
        self._column.addStretch(1)
        self.cloudflare = self._new_card(program.address_book.saved()[0])
        self.cards: list[SavedCard] = []  # but for the first account's
        self.paste_button = Button(self.tr("Paste"), "clipboard-paste", self.paste)
        self.paste_button.setToolTip(self.tr("An id, a token, a curl line, an export line or an address"))
        self.new_button = MenuButton(self.tr("New connection"), "plus")
        self.new_button.add(self.tr("Cloudflare account"), lambda: self._begin("cloudflare"), "cloud")
        self.new_button.add(self.tr("Your own Worker"), lambda: self._begin("worker"), "layers")
        self.new_button.add(self.tr("AI Gateway"), lambda: self._begin("gateway"), "link")
        self.account_button = Button(self.tr("Another account"), "plus", lambda: self._begin("cloudflare"))
        for button in (self.paste_button, self.account_button, self.new_button):
            self.header.add_button(button)
        self._content = boxed(self._column)
        self._area = scrolled(self._content)
        self.setLayout(column(self.header, self._area, gap=SMALL))

    def refresh(self) -> None:
        self.tasks.start("refresh", self._refresh())

    def unlock(self) -> None:
        self.tasks.start("unlock", self.program.credentials.unlock())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.refresh()

    def has_worked(self, connection_id: str) -> None:
        card = self._card(connection_id)
        if card is not None and card.has_failed():
            card.show_results(())
            self.refresh()

    def has_failed(self) -> bool:
        card = self._card(self.program.settings.connection)
        return card is not None and card.has_failed()

    # Cards

    def _card(self, connection_id: str) -> SavedCard | None:
        cards = (self.cloudflare, *self.cards)
        return next((each for each in cards if connection_id and each.record.id == connection_id), None)

    def _new_card(self, record: SavedConnection) -> SavedCard:
        card = SavedCard(record, self)
        waiting = SecretState(is_checking=bool(record.id))
        card.show_state(waiting, waiting, is_ready=bool(record.account_id if record.id == CLOUDFLARE else record.id))
        self._uses.addButton(card.choice)
        card.choice.clicked.connect(lambda: self._start_using(card.record.id))
        self._column.insertWidget(self._column.count() - 1, card)
        if not card.isWindow():
            card.show()  # now, so that it can take the focus
        return card

    def _drop(self, card: SavedCard) -> None:
        self.cards.remove(card)
        self._uses.removeButton(card.choice)
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()

    def _add(self, kind: KindName, url: str = "") -> SavedCard:
        """A card for a new connection, the one that is there if there is one."""
        card = next((each for each in self.cards if not each.record.id and each.record.kind == kind), None)
        if card is None:
            first = {"cloudflare": "Cloudflare", "worker": self.tr("My Worker"), "gateway": self.tr("AI Gateway")}
            taken = (each.name for each in self.program.address_book.saved())
            name = free_name(first[kind], [*taken, *(each.record.name for each in self.cards)])
            card = self._new_card(SavedConnection("", name, kind, url=url))
            self.cards.append(card)
        self._reveal(card)
        return card

    def _reveal(self, card: QWidget) -> None:
        def scroll() -> None:
            self._area.verticalScrollBar().setValue(card.mapTo(self._content, QPoint()).y() - SMALL)

        QTimer.singleShot(0, card, scroll)

    # New connections and pasted text

    def _begin(self, kind: KindName) -> None:
        self._add(kind).first_field().setFocus(Qt.FocusReason.OtherFocusReason)

    def paste(self) -> None:
        focused, cards = QApplication.focusWidget(), (self.cloudflare, *self.cards)
        into = next((card for card in cards if focused is not None and card.isAncestorOf(focused)), None)
        self.route(read_pasted(QGuiApplication.clipboard().text()), into)

    def route(self, pasted: Pasted, into: SavedCard | None) -> None:
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

    def _card_for(self, pasted: Pasted, into: SavedCard | None) -> SavedCard:
        kind = _kind_of(pasted)
        if into is not None and kind in (None, into.record.kind):
            return into
        if kind is not None:
            return self._add(kind, pasted.base_url if kind == "cloudflare" else "")
        return next((each for each in self.cards if not each.record.id), self.cloudflare)

    # State

    async def _refresh(self) -> None:
        self._show_saved()
        self._show_used()  # the keyring may take its time
        for record in self.program.address_book.saved():
            token = await self._secret(record.id, self.program.address_book.check_of(record.id))
            gateway = SecretState()
            if record.kind == "gateway":
                gateway = await self._secret(gateway_secret_id(record.id), check_secret)
            summaries = await self.program.connections.summaries(record.id)
            if (card := self._card(record.id)) is not None:  # it may have been removed meanwhile
                is_ready = next(each.is_ready for each in summaries if each.id == record.id)
                card.show_state(token, gateway, is_ready=is_ready)
        self._show_used()

    def _show_saved(self) -> None:
        for_developers = self.program.settings.for_developers
        self.new_button.setVisible(for_developers)
        self.account_button.setVisible(not for_developers)  # the one kind that is left
        saved = self.program.address_book.saved()
        for card in [each for each in self.cards if each.record.id]:
            if all(each.id != card.record.id for each in saved):
                self._drop(card)
        for record in saved:
            shown = self._card(record.id)
            if shown is None:
                self.cards.append(self._new_card(record))
            else:
                shown.show_record(record)

    async def _secret(self, secret_id: str, check: Callable[[str], Token]) -> SecretState:
        credentials, source, error = self.program.credentials, None, None
        try:
            source = await credentials.token_source(secret_id, check=check)
        except NotConnected as caught:
            error = caught
        held = secret_id == CLOUDFLARE and TOKEN_VARIABLE in self.program.address_book.held_by_environment()
        is_fixed = held or source is TokenSource.ENVIRONMENT
        return SecretState(source, error, credentials.state, is_fixed=is_fixed, variable=variable_of(secret_id))

    def _show_used(self) -> None:
        used = self.program.settings.connection
        card = self._card(used)
        (card or self.practice).choice.setChecked(True)
        if card is None:
            self.header.set_state(self.tr("New jobs use the practice service"), "flask-conical", "quiet")
        else:
            name = self.tr("New jobs use {name}").format(name=title_words(self.program.address_book.title(used)))
            is_well = card.is_ready() and not card.has_failed()
            self.header.set_state(name, *(("cloud", "accent") if is_well else ("triangle-alert", "attention")))
        self.state_shown.emit()

    async def _was_changed(self) -> None:
        await self._refresh()
        self.changed.emit()

    # What is done on a card

    def start(self, card: SavedCard, work: Callable[[SavedCard], Awaitable[None]]) -> None:
        async def do() -> None:
            try:
                await work(card)
            finally:
                card.set_working("")

        self.tasks.start("account" if card is self.cloudflare else f"card {id(card)}", do())

    async def save(self, card: SavedCard) -> None:
        card.show_results(())
        card.set_working(self.tr("Saving… a keyring may ask for its password."))
        connections, typed = self.program.connections, card.typed()
        may_use = card is self.cloudflare or not (card.record.id or typed.kind == "gateway")
        secret, gateway_secret = card.token_block.field.text(), card.gateway_block.field.text()
        record = await connections.save(typed, secret=secret, gateway_secret=gateway_secret)
        card.forget_typed()
        card.show_record(record)
        await self._was_changed()
        await self.test(card)
        if may_use and card.has_passed():
            await connections.use_if_none(record.id)
            await self._was_changed()

    async def test(self, card: SavedCard) -> None:
        try:
            await card.show_test(self.program.connections.check(card.record.id, self.program.settings.model))
        finally:
            self.refresh()

    async def remove(self, card: SavedCard) -> None:
        if not card.record.id:
            self._drop(card)
            return
        sentence = self.tr("Its secrets are deleted from this computer. Finished jobs keep their results.")
        jobs = [job for job in self.program.ledger.jobs() if job.connection == card.record.id]
        if any(not batch.state.is_final for job in jobs for batch in job.batches):
            sentence += " " + self.tr(
                "Jobs that are under way pause: what is at the service stays there, and can be collected only by adding"
                " the job again with its request ID."
            )
        title = self.tr("Remove “{name}”?").format(name=card.record.name)
        if await ask(self.window(), title, sentence, accept=self.tr("Remove"), danger=True):
            await self._removing(card, self.program.connections.remove(card.record.id))

    async def rename(self, card: SavedCard) -> None:
        name = await ask_text(self.window(), self.tr("Rename"), self.tr("Name"), text=card.record.name)
        name = (name or "").strip()
        if not name or name == card.record.name:
            return
        renamed = replace(card.record, name=name)
        if card.record.id:
            renamed = await self.program.connections.save(renamed)
        card.show_record(renamed)
        await self._was_changed()

    async def forget_gateway(self, card: SavedCard) -> None:
        await self.forget(card, gateway_secret_id(card.record.id))

    async def forget(self, card: SavedCard, secret_id: str = "") -> None:
        sentence = self.tr(
            "It is deleted from this computer, and stays valid at the other end until you revoke it there. Batches that"
            " are under way go on, but cannot be collected before it is entered again."
        )
        if await ask(self.window(), self.tr("Remove the secret?"), sentence, accept=self.tr("Remove"), danger=True):
            await self._removing(card, self.program.connections.forget_secret(secret_id or card.record.id))

    async def _removing(self, card: SavedCard, work: Awaitable[None]) -> None:
        card.set_working(self.tr("Removing…"))
        try:
            await work
            card.show_results(())
        finally:
            await self._was_changed()

    def _start_using(self, connection_id: str) -> None:
        self.tasks.start("use", self._use(connection_id))

    async def _use(self, connection_id: str) -> None:
        try:
            await self.program.keep_settings(connection=connection_id)
        finally:
            await self._was_changed()

    def show_guide(self, card: SavedCard) -> None:
        guide = WorkerGuide(self)
        guide.secret_chosen.connect(card.token_block.put)
        guide.set_up_wanted.connect(lambda: self._set_up(card))
        guide.finished.connect(lambda _: card.url.setFocus(Qt.FocusReason.OtherFocusReason))
        guide.open()

    def _set_up(self, card: SavedCard) -> None:
        dialog = WorkerSetupDialog(self, paid_plan=card.paid_plan.isChecked())
        dialog.connected.connect(lambda connection_id: self._was_set_up(card, connection_id))
        dialog.open()

    def _was_set_up(self, begun: SavedCard, connection_id: str) -> None:
        if begun in self.cards and not begun.record.id:
            self._drop(begun)
        self._show_saved()
        card = self._card(connection_id)
        if card is not None:
            card.paid_plan.setChecked(card.record.paid_plan)
            card.show_results(())
            self._reveal(card)
        self.tasks.start("refresh", self._was_changed())

    def take_down(self, card: SavedCard) -> None:
        dialog = WorkerRemovalDialog(self, card.record)
        dialog.forgotten.connect(lambda: self.tasks.start("refresh", self._was_changed()))
        dialog.open()

    def check_service(self, connection_id: str) -> None:
        dialog = ServiceCheck(self, connection_id)
        dialog.checked.connect(self.changed)
        dialog.open()

    def open_page(self, address: str) -> None:
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
