"""The cards of all connections but the first account, and the work that their buttons start."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QVBoxLayout, QWidget

from cfbatch_gui.core.connections.address_book import free_name, gateway_secret_id
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, TokenSource, variable_of
from cfbatch_gui.core.connections.keyring_state import KeyringState
from cfbatch_gui.core.errors import Action, KeyringUnavailable, NotConnected
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import FolderUse, SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import check_form, check_secret
from cfbatch_gui.ui.connections.account_state import AccountState
from cfbatch_gui.ui.connections.saved_card import CardState, SavedCard
from cfbatch_gui.ui.connections.worker_guide import WorkerGuide
from cfbatch_gui.ui.connections.worker_removal_dialog import WorkerRemovalDialog
from cfbatch_gui.ui.connections.worker_setup_dialog import WorkerSetupDialog
from cfbatch_gui.ui.dialogs import ask, ask_text
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM

KindName = Literal["cloudflare", "worker", "gateway"]


class OtherConnections(QWidget):
    """One card for each connection in the order in which they were added; unsaved ones come last.

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

    def __init__(self, program: Program, tasks: Tasks, uses: QButtonGroup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._program, self._tasks, self._uses = program, tasks, uses
        self.cards: list[SavedCard] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(MEDIUM)
        self.hide()

    def add(self, kind: KindName, url: str = "") -> SavedCard:
        """Show a card for a new connection; an unsaved card of the same kind is used again."""
        for card in self.cards:
            if not card.record.id and card.record.kind == kind:
                break
        else:
            card = self._new_card(SavedConnection("", self._free_name(kind), kind, url=url))
        self.shown.emit(card)
        return card

    def card(self, connection_id: str) -> SavedCard | None:
        """The card of a saved connection, None when there is none; "" is the id of those that are not saved."""
        return next((each for each in self.cards if connection_id and each.record.id == connection_id), None)

    def show_saved(self) -> None:
        """Read the settings again, and add and remove cards accordingly; a new one waits for the keyring."""
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
        """Read settings and keyring again, and add, remove and update the cards accordingly."""
        self.show_saved()
        for record in self._saved():
            state = await self._state_of(record)
            if (card := self.card(record.id)) is not None:  # it may have been removed meanwhile
                card.show_state(state)

    def _saved(self) -> list[SavedConnection]:
        return [each for each in self._program.address_book.saved() if each.id != CLOUDFLARE]

    # Cards

    def _new_card(self, record: SavedConnection) -> SavedCard:
        card = SavedCard(record)
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
        self._column.addWidget(card)
        self.cards.append(card)
        self.show()
        card.show()  # now, so that it can take the focus
        return card

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
        variable = variable_of(secret_id)
        try:
            source = await find_source()
        except KeyringUnavailable as error:
            can_unlock = error.action is Action.UNLOCK
            is_broken = self._program.credentials.state is KeyringState.BROKEN
            return AccountState(
                keyring_problem=error.message,
                can_unlock=can_unlock,
                is_keyring_broken=is_broken,
                token_variable=variable,
            )
        except NotConnected as error:
            return AccountState(token_problem=error.message, token_variable=variable)
        return AccountState(
            token_source=source, token_is_fixed=source is TokenSource.ENVIRONMENT, token_variable=variable
        )

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
        """Show the card of a Worker that was set up, in place of the one from which that was begun."""
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

        self._tasks.start(f"card {id(card)}", do())

    async def _save(self, card: SavedCard) -> None:
        card.show_results(())
        card.set_working(self.tr("Saving… a keyring may ask for its password."))
        is_new = not card.record.id
        gateway_secret = card.gateway_block.field.text() if card.record.kind == "gateway" else ""
        record = await self._program.connections.save(
            card.typed(), secret=card.token_block.field.text(), gateway_secret=gateway_secret
        )
        card.forget_typed()
        for field in card.fields():
            field.clear()  # the record holds the cleaned form of what was pasted
        card.show_record(record)
        await self.refresh()
        self.changed.emit()
        await self._test(card)
        if is_new and record.kind != "gateway" and card.has_passed():
            await self._program.connections.use_if_none(record.id)
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
        if not await ask(self.window(), title, sentence, accept=self.tr("Remove"), danger=True):
            return
        card.set_working(self.tr("Removing…"))
        connection_id = card.record.id
        try:
            await self._program.credentials.forget(gateway_secret_id(connection_id) if is_gateways else connection_id)
            card.show_results(())
        finally:
            await self.refresh()
            self.changed.emit()
