"""The card of the first Cloudflare account: id and token at the left, the test at the right."""

from dataclasses import replace

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE, BASE_URL_VARIABLE
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.api_tokens import Pasted
from cfbatch_gui.ui.connections import dashboard
from cfbatch_gui.ui.connections.account_state import AccountState
from cfbatch_gui.ui.connections.connection_fields import AccountField, FieldBlock
from cfbatch_gui.ui.connections.tested_card import TestedCard
from cfbatch_gui.ui.connections.token_block import TokenBlock
from cfbatch_gui.ui.widgets import IconLine, NoticeBar


class CloudflareCard(TestedCard):
    """Shows an `AccountState`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("cloud", parent=parent)
        self.show_name(self.tr("Cloudflare"))
        self._state = AccountState()
        self._problem = NoticeBar("", "attention")
        self._problem.hide()
        self._service = IconLine("", "info", wrap=True)
        self._service.hide()
        self._privacy = IconLine(
            self.tr("The token is sent to Cloudflare alone; texts too, and only when you press send."), "info"
        )
        self.account = AccountField()
        self.account.setAccessibleName(self.tr("Account ID"))
        self.account_block = FieldBlock(
            self.tr("Account ID"), self.link(self.tr("Find my account ID"), dashboard.ACCOUNT_PAGE), self.account
        )
        self.account_block.label.setBuddy(self.account)
        self.token_block = TokenBlock(self.link(self.tr("Create a token"), dashboard.TOKEN_PAGE))
        self.more.add(self.tr("Rename…"), self.rename_pressed.emit, "pencil")
        self.body.addWidget(self._problem)
        self.lay_out((self.account_block, self.token_block), (self._privacy, self._service))
        self.account.textEdited.connect(self._account_edited)
        self.token_block.edited.connect(self.update_buttons)
        self.token_block.remove_pressed.connect(self.remove_pressed)
        self.token_block.unlock_pressed.connect(self.unlock_pressed)
        for field in (self.account, self.token_block.field):
            self.watch(field)
        self._hint_for_account()
        self.set_working("")

    def show_name(self, name: str) -> None:
        """Show the name of the connection."""
        self.set_words(
            name,
            self.tr("Your own account, at Cloudflare’s prices. There is a free allowance every day."),
            self.tr("Use {name} for new jobs").format(name=name),
        )

    def show_state(self, state: AccountState) -> None:
        """Show a state. Text that the user has typed and not saved stays."""
        if not self._is_account_changed() or state.account_is_fixed:
            self.account.setText(state.account)
        self._state = state
        self.account.setReadOnly(state.account_is_fixed)
        self._hint_for_account()
        self.token_block.show_state(state)
        self._problem.set_text(said(state.problem), "attention")
        self._problem.setVisible(bool(state.problem))
        self._service.set_line(
            self.tr("Requests go to {address}, as {variable} says.").format(
                address=state.service, variable=BASE_URL_VARIABLE
            )
        )
        self._service.setVisible(bool(state.service))
        self._privacy.setVisible(not state.service)
        self.more.setVisible(bool(state.account) and not state.account_is_fixed)
        self.show_tested()
        self.set_choice_possible("" if state.is_ready else self.tr("Connect your account first."))
        self.update_buttons()

    def is_ready(self) -> bool:
        return self._state.is_ready

    def has_news(self) -> bool:
        return self._is_account_changed() or self.token_block.takes_text()

    def can_save(self) -> bool:
        return not self._state.is_fixed

    def set_fields_possible(self, possible: bool) -> None:
        self.account.setEnabled(possible)
        self.token_block.set_possible(possible)

    def problems(self) -> list[tuple[QWidget, str]]:
        found: list[tuple[QWidget, str]] = []
        if not self._state.account_is_fixed and (account := self.account.problem()):
            self.account_block.set_problem(account)
            found.append((self.account, account))
        if self.token_block.takes_text() and (token := self.token_block.field.problem()):
            self.token_block.set_problem(token)
            found.append((self.token_block.field, token))
        return found

    def fill(self, pasted: Pasted) -> list[str]:
        names = []
        if pasted.account_id and not self._state.account_is_fixed:
            self.account.setText(pasted.account_id)
            self._hint_for_account()
            names.append(self.tr("the account ID"))
        if pasted.token and not self._state.token_is_fixed:
            self.token_block.put(pasted.token)
            names.append(self.tr("an API token"))
        return names

    def saved(self) -> None:
        """Treat what was typed as saved, and empty the field of the token."""
        self._state = replace(self._state, account=self.account.text())
        self.token_block.forget_typed()

    def _is_account_changed(self) -> bool:
        return self.account.text().strip() != self._state.account

    def _account_edited(self) -> None:
        self._hint_for_account()
        self.update_buttons()

    def _hint_for_account(self) -> None:
        if self._state.account_is_fixed:
            self.account_block.set_hint(
                self.tr("Set by {variable}; change it there.").format(variable=ACCOUNT_VARIABLE)
            )
        else:
            self.account_block.set_hint(
                self.tr("Paste the ID, or the address of any page of your Cloudflare dashboard.")
            )
