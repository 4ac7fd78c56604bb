"""The page of connections: which service new jobs use, and the connections with their tests."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QApplication, QButtonGroup, QWidget

from cfbatch_gui.core.connections.address_book import free_name, gateway_secret_id
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, SecretState
from cfbatch_gui.core.errors import ConnectionProblem, UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, check_secret, read_pasted
from cfbatch_gui.core.workers_ai.checking import CheckResult, has_failed, has_passed
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.ui.connections import connection_dialogs
from cfbatch_gui.ui.connections.connection_cards import ConnectionCard, SavedCard, open_in_browser
from cfbatch_gui.ui.dialogs import ask, ask_text
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY
from cfbatch_gui.ui.widgets import PAGE_MARGINS, Button, MenuButton, PageHeader, boxed, column, discard, scrolled
from cfbatch_gui.words.connections import KINDS, Kind, kind_words
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import title_words


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
        self.practice = ConnectionCard(SavedConnection(PRACTICE.id, said(PRACTICE.title), "cloudflare"), self)
        self.practice.more.add(tr("Check the service…"), lambda: self.check_service(PRACTICE.id), "search")
        self._uses = QButtonGroup(self)
        self._uses.addButton(self.practice.choice)
        left, _, right, bottom = PAGE_MARGINS
        self._column = column(self.practice, None, gap=MEDIUM, margins=(left, TINY, right, bottom))
        self.cloudflare = self._new_card(program.address_book.saved()[0])
        self.cards: list[SavedCard] = []  # but for the first account's
        tip = tr("An id, a token, a curl line, an export line or an address")
        self.paste_button = self.header.add_button(Button(tr("Paste"), "clipboard-paste", self.paste, tip=tip))
        self.new_button = self.header.add_button(MenuButton(tr("New connection"), "plus"))
        words = {kind: kind_words(kind) for kind in KINDS}
        self._kinds = {
            kind: self.new_button.add(each.title, partial(self._begin, kind), each.icon) for kind, each in words.items()
        }
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
        if card is not None and has_failed(card.results):
            card.show_results(())
            self.refresh()

    def has_failed(self) -> bool:
        card = self._card(self.program.settings.connection)
        return card is not None and has_failed(card.results)

    # Cards

    def _card(self, connection_id: str) -> SavedCard | None:
        cards = (self.cloudflare, *self.cards)
        return next((each for each in cards if connection_id and each.record.id == connection_id), None)

    def _new_card(self, record: SavedConnection) -> SavedCard:
        card = SavedCard(record, self)
        states: dict[str, SecretState | None] = dict.fromkeys(card.secrets, None if record.id else SecretState())
        card.show_state(states, is_ready=bool(record.account_id if record.id == CLOUDFLARE else record.id))
        self._uses.addButton(card.choice)
        self._column.insertWidget(self._column.count() - 1, card)
        if not card.isWindow():
            card.show()  # now, so that it can take the focus
        return card

    def _drop(self, card: SavedCard) -> None:
        self.cards.remove(card)
        self._uses.removeButton(card.choice)
        discard(self._column, card)

    def _add(self, kind: Kind, url: str = "") -> SavedCard:
        """A card for a new connection, the one that is there if there is one."""
        card = next((each for each in self.cards if not each.record.id and each.record.kind == kind), None)
        if card is None:
            taken = (each.name for each in self.program.address_book.saved())
            name = free_name(kind_words(kind).name, [*taken, *(each.record.name for each in self.cards)])
            card = self._new_card(SavedConnection("", name, kind, url=url))
            self.cards.append(card)
        self._reveal(card)
        return card

    def _reveal(self, card: QWidget) -> None:
        bar = self._area.verticalScrollBar()
        QTimer.singleShot(0, card, lambda: bar.setValue(card.mapTo(self._content, QPoint()).y() - SMALL))

    # New connections and pasted text

    def _begin(self, kind: Kind) -> None:
        first, *_ = self._add(kind).lines.values()
        first.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def paste(self) -> None:
        focused, cards = QApplication.focusWidget(), (self.cloudflare, *self.cards)
        into = next((card for card in cards if focused is not None and card.isAncestorOf(focused)), None)
        self.route(read_pasted(QGuiApplication.clipboard().text()), into)

    def route(self, pasted: Pasted, into: SavedCard | None) -> None:
        card = self._card_for(pasted, into)
        if not card.take(pasted) and not pasted.problem:
            self._notices.show_notice(
                tr("Nothing in what you pasted looks like an account ID, a token, a Worker’s address or a gateway’s."),
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
        for card in (self.cloudflare, *self.cards):
            if record_id := card.record.id:
                await self._show_state(card, record_id)
        self._show_used()

    async def _show_state(self, card: SavedCard, record_id: str) -> None:
        program, states = self.program, dict[str, SecretState | None]()
        for name in card.secrets:
            check = check_secret if name == "gateway_secret" else program.address_book.check_of(record_id)
            states[name] = await program.credentials.state_of(_secret_id(record_id, name), check)
        summaries = await program.address_book.summaries(record_id)
        if self._card(record_id) is card:  # it may have been removed meanwhile
            card.show_state(states, is_ready=next(each.is_ready for each in summaries if each.id == record_id))

    def _show_saved(self) -> None:
        for kind, action in self._kinds.items():
            action.setVisible(kind == "cloudflare" or self.program.settings.for_developers)
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

    def _show_used(self) -> None:
        used = self.program.settings.connection
        card = self._card(used)
        (card or self.practice).choice.setChecked(True)
        if card is None:
            self.header.set_state(tr("New jobs use the practice service"), "flask-conical", "quiet")
        else:
            name = worded("New jobs use {name}", name=title_words(self.program.address_book.title(used)))
            is_well = card.is_ready and not has_failed(card.results)
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
                if card in (self.cloudflare, *self.cards):  # one that was removed is deleted by now
                    card.set_working("")

        self.tasks.start("account" if card is self.cloudflare else f"card {id(card)}", do())

    async def save(self, card: SavedCard) -> None:
        card.show_results(())
        card.set_working(tr("Saving… a keyring may ask for its password."))
        connections, typed = self.program.connections, card.typed()
        may_use = card is self.cloudflare or not (card.record.id or typed.kind == "gateway")
        record = await connections.save(typed, **{name: each.field.text() for name, each in card.secrets.items()})
        card.forget_typed()
        card.show_record(record)
        await self._was_changed()
        await self.test(card)
        if may_use and has_passed(card.results):
            await connections.use_if_none(record.id)
            await self._was_changed()

    async def test(self, card: SavedCard) -> None:
        card.set_working(tr("Asking the service…"))
        card.checks.show_running()
        results: tuple[CheckResult, ...] = ()
        try:
            results = await self.program.connections.check(card.record.id, self.program.settings.model)
        finally:
            card.show_results(results)
            self.refresh()

    async def remove(self, card: SavedCard) -> None:
        if not card.record.id:
            self._drop(card)
            return
        sentence = tr("Its secrets are deleted from this computer. Finished jobs keep their results.")
        jobs = [job for job in self.program.ledger.jobs() if job.connection == card.record.id]
        if any(not batch.state.is_final for job in jobs for batch in job.batches):
            sentence += " " + tr(
                "Jobs that are under way pause: what is at the service stays there, and can be collected only by adding"
                " the job again with its request ID."
            )
        title = worded("Remove “{name}”?", name=card.record.name)
        if await ask(self.window(), title, sentence, accept=tr("Remove"), danger=True):
            await self._removing(card, self.program.connections.remove(card.record.id))

    async def rename(self, card: SavedCard) -> None:
        name = await ask_text(self.window(), tr("Rename"), tr("Name"), text=card.record.name)
        name = (name or "").strip()
        if not name or name == card.record.name:
            return
        renamed = replace(card.record, name=name)
        if card.record.id:
            renamed = await self.program.connections.save(renamed)
        card.show_record(renamed)
        await self._was_changed()

    async def forget(self, card: SavedCard, name: str) -> None:
        sentence = tr(
            "It is deleted from this computer, and stays valid at the other end until you revoke it there. Batches that"
            " are under way go on, but cannot be collected before it is entered again."
        )
        if await ask(self.window(), tr("Remove the secret?"), sentence, accept=tr("Remove"), danger=True):
            await self._removing(card, self.program.connections.forget_secret(_secret_id(card.record.id, name)))

    async def _removing(self, card: SavedCard, work: Awaitable[None]) -> None:
        card.set_working(tr("Removing…"))
        try:
            await work
            card.show_results(())
        finally:
            await self._was_changed()

    def start_using(self, connection_id: str) -> None:
        self.tasks.start("use", self._use(connection_id))

    async def _use(self, connection_id: str) -> None:
        try:
            await self.program.keep_settings(connection=connection_id)
        finally:
            await self._was_changed()

    def show_guide(self, card: SavedCard) -> None:
        connection_dialogs.WorkerGuide(self, card).open()

    def set_up(self, card: SavedCard) -> None:
        connection_dialogs.WorkerSetupDialog(self, card).open()

    def was_set_up(self, begun: SavedCard, connection_id: str) -> None:
        if begun in self.cards and not begun.record.id:
            self._drop(begun)
        self._show_saved()
        card = self._card(connection_id)
        if card is not None:
            card.rows["paid_plan"].show_value(card.record.paid_plan)
            card.show_results(())
            self._reveal(card)
        self.connections_changed()

    def connections_changed(self) -> None:
        self.tasks.start("refresh", self._was_changed())

    def take_down(self, card: SavedCard) -> None:
        connection_dialogs.WorkerRemovalDialog(self, card.record).open()

    def check_service(self, connection_id: str) -> None:
        connection_dialogs.ServiceCheck(self, connection_id).open()

    def open_page(self, address: str) -> None:
        if not self._open_in_browser(address):
            self._notices.show_notice(
                tr("No browser could be opened. Copy the address of the page, and open it yourself."),
                "attention",
                button=tr("Copy the address"),
                on_button=lambda: QGuiApplication.clipboard().setText(address),
            )

    def _show_error(self, error: UserError) -> None:
        if isinstance(error, ConnectionProblem):  # its button would open this page
            self._notices.show_notice(said(error.message), "attention")
        else:
            self._notices.show_error(error)


def _secret_id(connection_id: str, row: str) -> str:
    return gateway_secret_id(connection_id) if row == "gateway_secret" else connection_id


def _kind_of(pasted: Pasted) -> Kind | None:
    """The kind of connection that the pasted text belongs to; None when any account could take it."""
    if pasted.worker_url:
        return "worker"
    if pasted.gateway:
        return "gateway"
    return "cloudflare" if pasted.base_url else None
