"""The fields of a connection: an account ID, a secret and where it is kept, their texts, and pages of the dashboard."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QStackedWidget, QWidget

from cfbatch_gui.core.connections.credentials import TOKEN_VARIABLE, KeyringState, TokenSource
from cfbatch_gui.core.errors import Action, KeyringUnavailable, NotConnected, UserError
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form
from cfbatch_gui.core.workers_ai.connection_kinds import clean_account_id
from cfbatch_gui.ui import display
from cfbatch_gui.ui.icons import icon
from cfbatch_gui.ui.theme import CONTROL_HEIGHT, SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import ElidedLabel, IconLabel, Label, LinkButton, QuietButton, Role, boxed, column, row
from cfbatch_gui.words.languages import said, tr

_ICON = 18  # pixels
_LONGEST = 2_000  # characters; enough for a pasted address, too few for a pasted document


@dataclass(frozen=True, slots=True)
class SecretState:
    """What is known about a token or another secret; never the secret itself.

    `source` is None while there is none. `error` says why it cannot be used: a KeyringUnavailable while the keyring has
    not said whether there is one. `is_checking`: the keyring is being asked for the first time. `is_fixed`: it is set
    by the environment variable `variable`.
    """

    source: TokenSource | None = None
    error: NotConnected | None = None
    keyring: KeyringState = KeyringState.UNKNOWN
    is_checking: bool = False
    is_fixed: bool = False
    variable: str = TOKEN_VARIABLE


class TokenField(QLineEdit):
    def __init__(self, what: str, placeholder: str) -> None:
        super().__init__()
        self._what = what
        self.setMaxLength(_LONGEST)
        self.setPlaceholderText(placeholder)
        self.eye = self.addAction(icon("eye", "quiet"), QLineEdit.ActionPosition.TrailingPosition)
        self.eye.triggered.connect(lambda: self._show_plainly(self.echoMode() == QLineEdit.EchoMode.Password))
        self.textChanged.connect(self._update_eye)
        self._show_plainly(False)

    def forget(self) -> None:
        self.setText("")  # unlike clear(), this empties the undo history as well
        self._show_plainly(False)

    def _show_plainly(self, plainly: bool) -> None:
        self.setEchoMode(QLineEdit.EchoMode.Normal if plainly else QLineEdit.EchoMode.Password)
        self.eye.setIcon(icon("eye-off" if plainly else "eye", "quiet"))
        words = self.tr("Hide {what}") if plainly else self.tr("Show {what}")
        self.eye.setText(words.format(what=self._what))
        self._update_eye()

    def _update_eye(self) -> None:
        self.eye.setVisible(bool(self.text()))


class StepRow(QWidget):
    """A question or a call: how it stands, as an icon and a word, what it is, and what there is to know of it."""

    def __init__(self, sentence: str = "", words: str = "") -> None:
        super().__init__()
        self._icon = IconLabel("circle-dashed", "quiet", _ICON)
        self.sentence, self.word = Label(sentence, wrap=True), Label("", "quiet")
        self.words, self.note = Label(words, "small", wrap=True), Label("", "small", wrap=True)
        texts = boxed(column(self.sentence, self.words, self.note, gap=2))
        self.setLayout(row(column(self._icon, None), (texts, 1), column(self.word, None), gap=SMALL))
        self.words.setVisible(bool(words))

    def show_step(self, icon: str, role: Role, word: str = "", note: str = "", *, spoken: str = "") -> None:
        """`spoken` is read aloud in place of the `word` where the icon alone is shown."""
        self._icon.set_icon(icon, role)
        self.word.setText(word)
        self.word.set_role(role)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        parts = (spoken or (f"{word}:" if word else ""), self.sentence.text(), self.words.text(), note)
        self.setAccessibleName(" ".join(filter(None, parts)))


class FieldBlock(QWidget):
    """`hint` stands below the field. `check` raises a UserError for a text that cannot be saved; `missing` is said of
    an empty one.
    """

    def __init__(
        self,
        title: str,
        link: LinkButton | None,
        field: QLineEdit,
        hint: str = "",
        *,
        check: Callable[[str], object] = str,
        missing: str = "",
        content: QWidget | None = None,
    ) -> None:
        super().__init__()
        self.field, self._check, self._missing = field, check, missing
        self.label = Label(title, "strong")
        self.label.setBuddy(field)
        field.setAccessibleName(title)
        self.link = link or LinkButton()
        self._icon = IconLabel("circle-x", "error", 14)
        self._hint = Label("", "small", wrap=True)
        line = row(self._icon, self._hint, gap=6)
        line.setAlignment(self._icon, Qt.AlignmentFlag.AlignTop)
        below = boxed(line)
        below.setMinimumHeight(scaled(18))
        self.setLayout(column(row(self.label, None, self.link), content or field, below, gap=TINY))
        self.link.setVisible(link is not None)
        self.set_hint(hint)
        field.textChanged.connect(lambda _: self._show(*self._usual))

    def set_hint(self, text: str, icon_name: str = "", role: Role = "small") -> None:
        """Show it until there is a problem, and again when the text has changed."""
        self._usual = (text, icon_name, role)
        self._show(*self._usual)

    def set_problem(self, text: str) -> None:
        self._show(text, "circle-x", "error")

    def set_attention(self, text: str) -> None:
        self.set_hint(text, "triangle-alert", "attention")

    def hint(self) -> str:
        return self._hint.text()

    def says_problem(self) -> bool:
        """Whether the text cannot be saved, which then stands in place of the hint."""
        text = self.field.text()
        problem = "" if text.strip() else self._missing
        try:
            if not problem:
                self._check(text)
        except UserError as error:
            problem = said(error.message)
        if problem:
            self.set_problem(problem)
        return bool(problem)

    def _show(self, text: str, icon_name: str, role: Role) -> None:
        self._icon.setVisible(bool(icon_name))
        if icon_name:
            self._icon.set_icon(icon_name, role)
        self._hint.setText(text)
        self._hint.set_role(role)


class AccountBlock(FieldBlock):
    def __init__(self, open_page: Callable[[str], object]) -> None:
        field = QLineEdit()
        field.setMaxLength(_LONGEST)
        field.setPlaceholderText(self.tr("32 characters, 0–9 and a–f"))
        hint = self.tr("Paste the ID, or the address of any page of your Cloudflare dashboard.")
        link = page_link(self.tr("Find my account ID"), ACCOUNT_PAGE, open_page)
        missing = self.tr("Enter your account ID.")
        super().__init__(self.tr("Account ID"), link, field, hint, check=clean_account_id, missing=missing)
        field.textEdited.connect(self._clean)

    def _clean(self, text: str) -> None:
        with suppress(NotConnected):  # perhaps unfinished: it is said when it is saved
            if (cleaned := clean_account_id(text)) != text:
                self.field.setText(cleaned)


def page_link(text: str, address: str, open_page: Callable[[str], object]) -> LinkButton:
    link = LinkButton(text, "external-link", lambda: open_page(address), tip=display.plain_tip(address))
    link.setAccessibleDescription(tr("Opens {address} in the browser").format(address=address))
    return link


def has_problem(*blocks: FieldBlock) -> bool:
    """Whether something cannot be saved: each field of it says why, and the first one gets the focus."""
    fields = [block.field for block in blocks if block.says_problem()]
    if fields:
        fields[0].setFocus(Qt.FocusReason.OtherFocusReason)
    return bool(fields)


class TokenBlock(FieldBlock):
    """`edited` is emitted whenever the field, or whether it is shown, changes. `what` is like “the token”.

    It may stay empty unless it `is_needed`.
    """

    edited = Signal()
    field: TokenField

    def __init__(
        self,
        title: str,
        what: str,
        placeholder: str,
        link: LinkButton | None = None,
        check: Callable[[str], Token] = check_form,
        *,
        is_needed: bool = False,
    ) -> None:
        self._state, self._is_needed = SecretState(), is_needed
        self.field = TokenField(what, placeholder)
        self.cancel = QuietButton(self.tr("Cancel"), on_click=self._stop_replacing)
        self.cancel.setAccessibleName(self.tr("Keep {what} that is saved").format(what=what))
        self.cancel.hide()
        self._where = ElidedLabel("")
        self.unlock = self._small_link(self.tr("Unlock"), self.tr("Unlock the keyring"))
        self.replace = self._small_link(self.tr("Replace…"), self.tr("Replace {what}…").format(what=what))
        self.replace.clicked.connect(self._start_replacing)
        self.remove = self._small_link(self.tr("Remove…"), self.tr("Remove {what}…").format(what=what))
        self._editor = boxed(row(self.field, self.cancel))
        self._saved = boxed(
            row(IconLabel("key-round", "quiet", 16), (self._where, 1), self.unlock, self.replace, self.remove)
        )
        self._stack = QStackedWidget()
        self._stack.setFixedHeight(scaled(CONTROL_HEIGHT))
        for part in (self._editor, self._saved):
            self._stack.addWidget(part)
        super().__init__(title, link, self.field, check=check, content=self._stack)
        self.field.textEdited.connect(self._hint_for_new)
        self.field.textEdited.connect(self.edited)

    def show_state(self, state: SecretState) -> None:
        self._state = state
        if self.is_typing():
            return
        error, is_shut = state.error, isinstance(state.error, KeyringUnavailable) and not state.is_fixed
        can_unlock = is_shut and error is not None and error.action is Action.UNLOCK
        hint = said(error.message) if error is not None else ""
        if state.is_checking:
            where = self.tr("Checking the keyring…")
        elif state.is_fixed:
            where = self.tr("From an environment variable")
            hint = hint or self.tr("Set by {variable}; change it there.").format(variable=state.variable)
        elif is_shut:
            where = self.tr("Your keyring is locked") if can_unlock else self.tr("Your keyring does not answer")
        elif error is not None:
            where = self.tr("What is saved cannot be used")
        elif state.source is TokenSource.KEYRING:
            where, hint = self.tr("Saved in this computer’s keyring"), self.tr("It is not shown again.")
        elif state.source is TokenSource.SESSION:
            where, hint = self.tr("Kept in memory"), self._words_without_keyring()
        else:
            self._show_editor(can_cancel=False)
            return
        self._where.setText(where)
        is_changeable = not (state.is_checking or state.is_fixed or is_shut)
        self.unlock.setVisible(can_unlock)
        self.replace.setVisible(is_changeable or (is_shut and not can_unlock))
        self.remove.setVisible(is_changeable)
        self._stack.setCurrentWidget(self._saved)
        self.label.setBuddy(self.replace)
        if is_shut or state.source is TokenSource.SESSION:
            self.set_attention(hint)
        elif error is not None:
            self.set_problem(hint)
        else:
            self.set_hint(hint)

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

    def says_problem(self) -> bool:
        return self.takes_text() and (self._is_needed or bool(self.field.text())) and super().says_problem()

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
        return words.format(variable=self._state.variable)

    def _small_link(self, text: str, name: str) -> LinkButton:
        link = LinkButton(text)
        link.setAccessibleName(name)
        link.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        return link


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


def open_in_browser(address: str) -> bool:
    return QDesktopServices.openUrl(url_of(address))


def url_of(address: str) -> QUrl:
    return QUrl.fromEncoded(address.encode(), QUrl.ParsingMode.StrictMode)
