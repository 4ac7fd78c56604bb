"""The fields of a connection: an account ID, a secret and where it is kept, their texts, and pages of the dashboard."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QStackedWidget, QWidget

from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE, BASE_URL_VARIABLE
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, TOKEN_VARIABLE, KeyringState, TokenSource
from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form
from cfbatch_gui.core.workers_ai.connection_kinds import clean_account_id
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.icons import icon
from cfbatch_gui.ui.theme import CONTROL_HEIGHT, SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import ElidedLabel, IconLabel, Label, LinkButton, QuietButton, Role, boxed, column, row


@dataclass(frozen=True, slots=True)
class AccountState:
    """What is known about an account; never the token itself.

    `token_source` is None while there is no token. `token_problem` and `problem` are sentences, "" when all is well.
    `keyring_problem` is one while the keyring has not said whether there is a token; with `can_unlock` it is locked.
    `is_checking`: the keyring is being asked for the first time, and it is supposed that all is well.
    `service` is the address that the environment sets instead of Cloudflare's, else "".
    """

    account: str = ""
    token_source: TokenSource | None = None
    token_problem: str = ""
    keyring_problem: str = ""
    can_unlock: bool = False
    keyring: KeyringState = KeyringState.UNKNOWN
    is_checking: bool = False
    problem: str = ""
    service: str = ""
    is_ready: bool = False
    account_is_fixed: bool = False  # set by the environment
    token_is_fixed: bool = False  # set by the environment variable `token_variable`
    token_variable: str = TOKEN_VARIABLE

    @property
    def is_fixed(self) -> bool:
        return self.account_is_fixed and self.token_is_fixed


def known_account_state(program: Program) -> AccountState:
    held = program.address_book.held_by_environment()
    service = problem = ""
    if program.address_book.account_id:
        try:
            connection = program.address_book.connection(CLOUDFLARE)
            service = connection.base_url if BASE_URL_VARIABLE in held else ""
        except NotConnected as error:
            problem = error.message
    return AccountState(
        account=program.address_book.account_id,
        is_checking=True,
        problem=problem,
        service=service,
        is_ready=bool(program.address_book.account_id),
        account_is_fixed=ACCOUNT_VARIABLE in held,
        token_is_fixed=TOKEN_VARIABLE in held,
    )


_LONGEST = 2_000  # characters; enough for a pasted address, too few for a pasted document


@dataclass(frozen=True, slots=True)
class SecretWords:
    title: str
    placeholder: str
    in_keyring: str
    in_memory: str
    in_environment: str
    unusable: str
    replace: str
    remove: str
    keep: str
    show: str
    hide: str


class AccountField(QLineEdit):
    def __init__(self) -> None:
        super().__init__()
        self.setMaxLength(_LONGEST)
        self.setPlaceholderText(self.tr("32 characters, 0–9 and a–f"))
        self.textEdited.connect(self._clean)

    def problem(self) -> str:
        if not self.text().strip():
            return self.tr("Enter your account ID.")
        try:
            clean_account_id(self.text())
        except NotConnected as error:
            return said(error.message)
        return ""

    def _clean(self, text: str) -> None:
        try:
            cleaned = clean_account_id(text)
        except NotConnected:
            return  # perhaps unfinished: `problem` reports it when it is saved
        if cleaned != text:
            self.setText(cleaned)


class TokenField(QLineEdit):
    """`check` parses the text, and raises NotConnected for text that cannot be such a secret."""

    def __init__(self, words: SecretWords | None = None, check: Callable[[str], Token] = check_form) -> None:
        super().__init__()
        self._words, self._check = words or token_words(), check
        self.setMaxLength(_LONGEST)
        self.setPlaceholderText(self._words.placeholder)
        self.setInputMethodHints(
            Qt.InputMethodHint.ImhSensitiveData
            | Qt.InputMethodHint.ImhHiddenText
            | Qt.InputMethodHint.ImhNoPredictiveText
            | Qt.InputMethodHint.ImhNoAutoUppercase
        )
        self.eye = self.addAction(icon("eye", "quiet"), QLineEdit.ActionPosition.TrailingPosition)
        self.eye.triggered.connect(lambda: self._show_plainly(self.echoMode() == QLineEdit.EchoMode.Password))
        self.textChanged.connect(self._update_eye)
        self._show_plainly(False)

    def forget(self) -> None:
        self.setText("")  # unlike clear(), this empties the undo history as well
        self._show_plainly(False)

    def problem(self) -> str:
        try:
            self._check(self.text())
        except NotConnected as error:
            return said(error.message)
        return ""

    def _show_plainly(self, plainly: bool) -> None:
        self.setEchoMode(QLineEdit.EchoMode.Normal if plainly else QLineEdit.EchoMode.Password)
        self.eye.setIcon(icon("eye-off" if plainly else "eye", "quiet"))
        self.eye.setText(self._words.hide if plainly else self._words.show)
        self._update_eye()

    def _update_eye(self) -> None:
        self.eye.setVisible(bool(self.text()))


class FieldBlock(QWidget):
    def __init__(self, title: str, link: LinkButton, content: QWidget) -> None:
        super().__init__()
        self.label = Label(title, "strong")
        self.link = link
        self._icon = IconLabel("circle-x", "error", 14)
        self._hint = Label("", "small", wrap=True)
        line = row(self._icon, self._hint, gap=6)
        line.setAlignment(self._icon, Qt.AlignmentFlag.AlignTop)
        below = boxed(line)
        below.setMinimumHeight(scaled(18))
        self.setLayout(column(row(self.label, None, link), content, below, gap=TINY))
        self.set_hint("")

    def set_hint(self, text: str) -> None:
        self._show(text, "", "small")

    def set_problem(self, text: str) -> None:
        self._show(text, "circle-x", "error")

    def set_attention(self, text: str) -> None:
        self._show(text, "triangle-alert", "attention")

    def hint(self) -> str:
        return self._hint.text()

    def _show(self, text: str, icon_name: str, role: Role) -> None:
        self._icon.setVisible(bool(icon_name))
        if icon_name:
            self._icon.set_icon(icon_name, role)
        self._hint.setText(text)
        self._hint.set_role(role)


def token_words() -> SecretWords:
    return SecretWords(
        title=tr("API token"),
        placeholder=tr("Paste the token"),
        in_keyring=tr("A token is saved in this computer’s keyring"),
        in_memory=tr("A token is kept in memory"),
        in_environment=tr("The token comes from an environment variable"),
        unusable=tr("The saved token cannot be used"),
        replace=tr("Replace the token…"),
        remove=tr("Remove the token…"),
        keep=tr("Keep the saved token"),
        show=tr("Show the token"),
        hide=tr("Hide the token"),
    )


def worker_secret_words() -> SecretWords:
    return SecretWords(
        title=tr("Secret"),
        placeholder=tr("The Worker’s SHARED_SECRET"),
        in_keyring=tr("A secret is saved in this computer’s keyring"),
        in_memory=tr("A secret is kept in memory"),
        in_environment=tr("The secret comes from the environment"),
        unusable=tr("The saved secret cannot be used"),
        replace=tr("Replace the secret…"),
        remove=tr("Remove the secret…"),
        keep=tr("Keep the saved secret"),
        show=tr("Show the secret"),
        hide=tr("Hide the secret"),
    )


def gateway_token_words() -> SecretWords:
    return SecretWords(
        title=tr("Gateway token, if it asks for one"),
        placeholder=tr("Only for an authenticated gateway"),
        in_keyring=tr("A gateway token is saved in this computer’s keyring"),
        in_memory=tr("A gateway token is kept in memory"),
        in_environment=tr("The gateway token comes from the environment"),
        unusable=tr("The saved gateway token cannot be used"),
        replace=tr("Replace the gateway token…"),
        remove=tr("Remove the gateway token…"),
        keep=tr("Keep the saved gateway token"),
        show=tr("Show the gateway token"),
        hide=tr("Hide the gateway token"),
    )


class TokenBlock(FieldBlock):
    """`edited` is emitted whenever the field, or whether it is shown, changes."""

    remove_pressed = Signal()
    unlock_pressed = Signal()  # of the keyring
    edited = Signal()

    def __init__(
        self, link: LinkButton, words: SecretWords | None = None, check: Callable[[str], Token] = check_form
    ) -> None:
        self._words = words or token_words()
        self.field = TokenField(self._words, check)
        self.cancel = QuietButton(self.tr("Cancel"))
        self.cancel.setAccessibleName(self._words.keep)
        self._where_icon = IconLabel("key-round", "quiet", 16)
        self._where = ElidedLabel("")
        self.replace = LinkButton(self.tr("Replace…"))
        self.replace.setAccessibleName(self._words.replace)
        self.remove = LinkButton(self.tr("Remove…"))
        self.remove.setAccessibleName(self._words.remove)
        self.unlock = LinkButton(self.tr("Unlock"))
        self.unlock.setAccessibleName(self.tr("Unlock the keyring"))
        self.unlock.hide()
        self._editor = boxed(row(self.field, self.cancel))
        saved = row(self._where_icon, self._where, self.unlock, self.replace, self.remove, gap=SMALL)
        saved.setStretch(1, 1)
        for link_button in (self.unlock, self.replace, self.remove):
            link_button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._saved = boxed(saved)
        self._stack = QStackedWidget()
        self._stack.setFixedHeight(scaled(CONTROL_HEIGHT))
        self._stack.addWidget(self._editor)
        self._stack.addWidget(self._saved)
        super().__init__(self._words.title, link, self._stack)
        self.label.setBuddy(self.field)
        self.field.setAccessibleName(self._words.title)
        self._state = AccountState()
        self.field.textEdited.connect(self._hint_for_new)
        self.field.textEdited.connect(self.edited)
        self.replace.clicked.connect(self._start_replacing)
        self.cancel.clicked.connect(self._stop_replacing)
        self.remove.clicked.connect(self.remove_pressed)
        self.unlock.clicked.connect(self.unlock_pressed)
        self.show_waiting()

    def show_waiting(self) -> None:
        self._show_where(self.tr("Checking the keyring…"), "loader", changeable=False)
        self.set_hint("")

    def show_state(self, state: AccountState) -> None:
        self._state = state
        if self.is_typing():
            return
        if state.is_checking:
            self.show_waiting()
            return
        if state.token_is_fixed:
            self._show_where(self._words.in_environment, "key-round", changeable=False)
            if state.token_problem:
                self.set_problem(said(state.token_problem))
            else:
                self.set_hint(self.tr("Set by {variable}; change it there.").format(variable=state.token_variable))
        elif state.keyring_problem:
            self._show_where(self._keyring_words(state), "key-round", changeable=False)
            self.unlock.setVisible(state.can_unlock)
            self.replace.setVisible(not state.can_unlock)
            self.set_attention(said(state.keyring_problem))
        elif state.token_problem:
            self._show_where(self._words.unusable, "triangle-alert", changeable=True)
            self.set_problem(said(state.token_problem))
        elif state.token_source is TokenSource.KEYRING:
            self._show_where(self._words.in_keyring, "key-round", changeable=True)
            self.set_hint(self.tr("It is not shown again."))
        elif state.token_source is TokenSource.SESSION:
            self._show_where(self._words.in_memory, "key-round", changeable=True)
            self.set_attention(self._words_without_keyring())
        else:
            self._show_editor(can_cancel=False)

    def _keyring_words(self, state: AccountState) -> str:
        if state.keyring is KeyringState.BROKEN:
            return self.tr("Your keyring cannot be used")
        return self.tr("Your keyring is locked") if state.can_unlock else self.tr("Your keyring does not answer")

    def is_typing(self) -> bool:
        return bool(self.field.text()) or (not self._editor.isHidden() and not self.cancel.isHidden())

    def takes_text(self) -> bool:
        return not self._editor.isHidden()

    def where(self) -> str:
        return self._where.whole_text()

    def put(self, token: Token) -> None:
        if not self.takes_text():
            self._show_editor(can_cancel=True)
        self.field.setText(token.reveal())
        self._hint_for_new()
        self.edited.emit()

    def set_possible(self, possible: bool) -> None:
        self._stack.setEnabled(possible)

    def forget_typed(self) -> None:
        self.field.forget()
        self.cancel.hide()

    def _start_replacing(self) -> None:
        self._show_editor(can_cancel=True)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.edited.emit()

    def _stop_replacing(self) -> None:
        self.forget_typed()
        self.show_state(self._state)
        self.replace.setFocus(Qt.FocusReason.OtherFocusReason)
        self.edited.emit()

    def _show_editor(self, *, can_cancel: bool) -> None:
        self.cancel.setVisible(can_cancel)
        self._stack.setCurrentWidget(self._editor)
        self.label.setBuddy(self.field)
        self._hint_for_new()

    def _hint_for_new(self) -> None:
        if self._state.keyring is KeyringState.ABSENT:
            self.set_attention(self._words_without_keyring())
        else:
            self.set_hint(self.tr("Goes into this computer’s keyring, if there is one, and is never shown again."))

    def _words_without_keyring(self) -> str:
        words = self.tr("No keyring takes it: it is kept until the program ends. To keep it outside, set {variable}.")
        return words.format(variable=self._state.token_variable)

    def _show_where(self, text: str, icon: str, *, changeable: bool) -> None:
        self._where.setText(text)
        self._where_icon.set_icon(icon, "quiet")
        self.unlock.hide()
        self.replace.setVisible(changeable)
        self.remove.setVisible(changeable)
        self._stack.setCurrentWidget(self._saved)
        self.label.setBuddy(self.replace)


# With "Workers AI Read" and "Workers AI Edit" filled in. Source:
# https://developers.cloudflare.com/fundamentals/api/how-to/account-owned-token-template/
TOKEN_PAGE = (
    "https://dash.cloudflare.com/profile/api-tokens?permissionGroupKeys="  # noqa: S105 - an address, no secret
    "%5B%7B%22key%22%3A%22ai%22%2C%22type%22%3A%22read%22%7D%2C%7B%22key%22%3A%22ai%22%2C%22type%22%3A%22edit%22%7D%5D"
    "&accountId=%2A&zoneId=all&name=Batch%20client"
)
# Leads to Workers AI of the account that is chosen there; "Use REST API" shows its id.
ACCOUNT_PAGE = "https://dash.cloudflare.com/?to=/:account/ai/workers-ai"

GATEWAY_PAGE = "https://dash.cloudflare.com/?to=/:account/ai/ai-gateway"
STORAGE_PAGE = "https://dash.cloudflare.com/?to=/:account/r2/overview"
WORKERS_PAGE = "https://dash.cloudflare.com/?to=/:account/workers-and-pages"


def open_in_browser(address: str) -> bool:
    return QDesktopServices.openUrl(url_of(address))


def url_of(address: str) -> QUrl:
    return QUrl.fromEncoded(address.encode(), QUrl.ParsingMode.StrictMode)
