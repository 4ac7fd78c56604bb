"""The page of connections: which service new jobs use, and the connections with their tests."""

import itertools
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QButtonGroup, QWidget

from cfbatch_gui.core.connections.credentials import CLOUDFLARE
from cfbatch_gui.core.errors import ConnectionProblem, UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.pasted import Pasted, read_pasted
from cfbatch_gui.ui.connections import dashboard
from cfbatch_gui.ui.connections.account_state import AccountState, known_account_state, read_account_state
from cfbatch_gui.ui.connections.cloudflare_card import CloudflareCard
from cfbatch_gui.ui.connections.connection_card import ConnectionCard
from cfbatch_gui.ui.connections.other_connections import KindName, OtherConnections
from cfbatch_gui.ui.connections.saved_card import SavedCard
from cfbatch_gui.ui.connections.service_check import ServiceCheck
from cfbatch_gui.ui.connections.tested_card import TestedCard
from cfbatch_gui.ui.dialogs import ask, ask_text
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY
from cfbatch_gui.ui.widgets import PAGE_MARGINS, Button, MenuButton, PageHeader, column, scrolled


class ConnectionPage(QWidget):
    """Reads everything again whenever it is shown. Tasks use keyring and network, so the window never blocks."""

    changed = Signal()  # a connection changed, or which one new jobs use
    state_shown = Signal()  # the state of the connection that new jobs use was read again
    account_wanted = Signal(str)  # the list of what is in the account behind the connection with this id

    def __init__(
        self,
        program: Program,
        notices: Notices,
        parent: QWidget | None = None,
        *,
        open_in_browser: Callable[[str], bool] = dashboard.open_in_browser,
    ) -> None:
        super().__init__(parent)
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
        self.cloudflare = CloudflareCard()
        self._uses = QButtonGroup(self)
        self._uses.addButton(self.practice.choice)
        self._uses.addButton(self.cloudflare.choice)
        self.others = OtherConnections(program, self.tasks, self._uses)
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
        """Read the state again in a task; text that was typed and not saved stays."""
        self.tasks.start("refresh", self._refresh())

    def unlock(self) -> None:
        """Have the system ask for the keyring's password."""
        self.tasks.start("unlock", self._program.credentials.unlock())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.refresh()

    def _set_tab_order(self) -> None:
        """Order the focus from top to bottom, a field before the link above it; what leaves the page comes last."""
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
        self.cloudflare.choice.clicked.connect(lambda: self._start_using(CLOUDFLARE))
        self.cloudflare.save_pressed.connect(lambda: self.tasks.start("account", self._save_and_test()))
        self.cloudflare.test_pressed.connect(lambda: self.tasks.start("account", self._test_again()))
        self.cloudflare.check_pressed.connect(lambda: self._check_service(CLOUDFLARE))
        self.others.check_wanted.connect(self._check_service)
        self.others.account_wanted.connect(self.account_wanted)
        self.cloudflare.remove_pressed.connect(lambda: self.tasks.start("account", self._remove()))
        self.cloudflare.rename_pressed.connect(lambda: self.tasks.start("account", self._rename()))
        self.cloudflare.page_wanted.connect(self._open_page)
        self.cloudflare.pasted.connect(lambda found: self._route(found, self.cloudflare))
        self.others.page_wanted.connect(self._open_page)
        self.others.pasted.connect(self._route)
        self.others.chosen.connect(self._start_using)
        self.others.changed.connect(self._others_changed)
        self.cloudflare.unlock_pressed.connect(self.unlock)
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
        """Put the text on the clipboard into the card that it fits, the focused one first; without a match, say so."""
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
        """Scroll to a card after the layout has positioned it."""

        def scroll() -> None:
            if card.height() < self._area.viewport().height():
                self._area.ensureWidgetVisible(card, 0, SMALL)
            else:  # too tall for the page: show its top
                top = card.mapTo(self._content, QPoint()).y()
                self._area.verticalScrollBar().setValue(top - SMALL)

        QTimer.singleShot(0, card, scroll)

    def _others_changed(self) -> None:
        self.tasks.start("refresh", self._refresh())
        self.changed.emit()

    # State

    async def _refresh(self) -> None:
        if not self._is_known:  # the keyring may take its time
            self.others.show_saved()
            self._show(known_account_state(self._program))
            self._is_known = True
        state = await read_account_state(self._program)
        self._show(state)
        await self.others.refresh()
        self._show_use(state)

    def _show(self, state: AccountState) -> None:
        self.cloudflare.show_name(self._program.address_book.title(CLOUDFLARE))
        self.cloudflare.show_state(state)
        if self._program.settings.connection == CLOUDFLARE:
            self.cloudflare.choice.setChecked(True)
        elif self.others.card(self._program.settings.connection) is None:
            self.practice.choice.setChecked(True)
        self._show_use(state)

    def has_worked(self, connection_id: str) -> None:
        """Forget that the last test of a connection failed, because a request through it was accepted."""
        card: TestedCard | None = self.cloudflare if connection_id == CLOUDFLARE else self.others.card(connection_id)
        if card is not None and card.has_failed():
            card.show_results(())
            self.tasks.start("refresh", self._refresh())

    def has_failed(self) -> bool:
        """Whether the connection that new jobs use has failed the last test since this window was opened."""
        used = self._program.settings.connection
        card: TestedCard | None = self.cloudflare if used == CLOUDFLARE else self.others.card(used)
        return card is not None and card.has_failed()

    def _show_use(self, state: AccountState) -> None:
        self._show_used(state)
        self.state_shown.emit()

    def _show_used(self, state: AccountState) -> None:
        used = self._program.settings.connection
        other = self.others.card(used)
        if used != CLOUDFLARE and other is None:
            self.header.set_state(self.tr("New jobs use the practice service"), "flask-conical", "quiet")
            self.header.set_facts(self.tr("nothing leaves this computer"))
            return
        name = self.tr("New jobs use {name}").format(name=title_words(self._program.address_book.title(used)))
        if not (other.is_ready() if other is not None else state.is_ready):
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

    async def _save_and_test(self) -> None:
        card = self.cloudflare
        card.show_results(())
        try:
            card.set_working(self.tr("Saving… a keyring may ask for its password."))
            await self._program.connections.save_cloudflare(card.account.text(), card.token_block.field.text())
            card.saved()
            await self._refresh()
            self.changed.emit()
            await self._test()
            if card.has_passed():
                await self._program.connections.use_if_none(CLOUDFLARE)
                await self._refresh()
                self.changed.emit()
        finally:
            card.set_working("")

    async def _test_again(self) -> None:
        try:
            await self._test()
        finally:
            self.cloudflare.set_working("")

    async def _test(self) -> None:
        await self.cloudflare.show_test(self._program.connections.check(CLOUDFLARE, self._program.settings.model))
        self._show_use(await read_account_state(self._program))

    def _check_service(self, connection_id: str) -> None:
        dialog = ServiceCheck(self._program, self.tasks, connection_id, self.window())
        dialog.checked.connect(self.changed)
        dialog.open()

    async def _rename(self) -> None:
        record = self._program.address_book.saved()[0]
        name = await ask_text(self, self.tr("Rename"), self.tr("Name"), text=record.name)
        if name and name.strip() and name.strip() != record.name:
            await self._program.connections.save(replace(record, name=name))
            await self._refresh()
            self.changed.emit()

    async def _remove(self) -> None:
        sure = await ask(
            self,
            self.tr("Remove the token?"),
            self.tr(
                "It is deleted from this computer, and stays valid at Cloudflare until you revoke it there. Batches"
                " that are at Cloudflare go on, but cannot be collected before a token is entered again."
            ),
            accept=self.tr("Remove"),
            danger=True,
        )
        if not sure:
            return
        self.cloudflare.set_working(self.tr("Removing…"))
        try:
            await self._program.connections.forget_cloudflare()
            self.cloudflare.show_results(())
        finally:
            self.cloudflare.set_working("")
            await self._refresh()
        self.changed.emit()

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
