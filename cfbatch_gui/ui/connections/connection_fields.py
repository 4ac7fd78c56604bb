"""The fields of a connection: an account ID, a secret, and the texts for each kind of secret."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form
from cfbatch_gui.core.workers_ai.connection_kinds import clean_account_id
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.icons import icon
from cfbatch_gui.ui.theme import TINY, scaled
from cfbatch_gui.ui.widgets import IconLabel, Label, LinkButton, Role, boxed, column, row

_LONGEST = 2_000  # characters; enough for a pasted address, too few for a pasted document


@dataclass(frozen=True, slots=True)
class SecretWords:
    """The texts for a kind of secret: its title, where it is kept, and its actions."""

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
    """A field for an account ID, which it extracts from a pasted address."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMaxLength(_LONGEST)
        self.setPlaceholderText(self.tr("32 characters, 0–9 and a–f"))
        self.textEdited.connect(self._clean)

    def problem(self) -> str:
        """The sentence that says what is wrong with the text, "" when nothing is."""
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
    """A field for a secret, shown as dots, with an eye that shows it as text.

    `check` parses the text, and raises NotConnected for text that cannot be such a secret.
    """

    def __init__(
        self,
        words: SecretWords | None = None,
        check: Callable[[str], Token] = check_form,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
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
        """Empty the field and its undo history, and show dots again."""
        self.setText("")  # unlike clear(), this empties the undo history as well
        self._show_plainly(False)

    def problem(self) -> str:
        """The sentence that says what is wrong with the text, without repeating it; "" when nothing is."""
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
    """A label with a link at its right, the content below, and under it a hint, a warning or an error.

    An empty hint keeps its height, so that the page does not move.
    """

    def __init__(self, title: str, link: LinkButton, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        """Show a hint below the field."""
        self._show(text, "", "small")

    def set_problem(self, text: str) -> None:
        """Show what is wrong, with the icon and colour of an error."""
        self._show(text, "circle-x", "error")

    def set_attention(self, text: str) -> None:
        """Show a warning below the field."""
        self._show(text, "triangle-alert", "attention")

    def hint(self) -> str:
        """The sentence below the field."""
        return self._hint.text()

    def _show(self, text: str, icon_name: str, role: Role) -> None:
        self._icon.setVisible(bool(icon_name))
        if icon_name:
            self._icon.set_icon(icon_name, role)
        self._hint.setText(text)
        self._hint.set_role(role)


def token_words() -> SecretWords:
    """Texts for the API token of an account."""
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
    """Texts for the secret of a Worker."""
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
    """Texts for the token of an authenticated gateway."""
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
