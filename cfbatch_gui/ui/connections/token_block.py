"""A sentence about the saved token, or in its stead the field for a new one."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from cfbatch_gui.core.connections.credentials import TokenSource
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form
from cfbatch_gui.ui.connections.account_state import AccountState
from cfbatch_gui.ui.connections.connection_fields import FieldBlock, SecretWords, TokenField, token_words
from cfbatch_gui.ui.theme import CONTROL_HEIGHT, SMALL, scaled
from cfbatch_gui.ui.widgets import ElidedLabel, IconLabel, LinkButton, QuietButton, boxed, row


class TokenBlock(FieldBlock):
    """Shows a saved token as a sentence with "Replace…" and "Remove…", and a field only for a new one.

    `edited` is emitted whenever the field, or whether it is shown, changes.
    """

    remove_pressed = Signal()
    unlock_pressed = Signal()  # of the keyring
    edited = Signal()

    def __init__(
        self,
        link: LinkButton,
        words: SecretWords | None = None,
        check: Callable[[str], Token] = check_form,
        parent: QWidget | None = None,
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
        super().__init__(self._words.title, link, self._stack, parent)
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
        """Show that the keyring is being read for the first time."""
        self._show_where(self.tr("Checking the keyring…"), "loader", changeable=False)
        self.set_hint("")

    def show_state(self, state: AccountState) -> None:
        """Show where the token is kept. A token that is being typed stays in the field."""
        self._state = state
        if self.is_typing():
            return
        if state.token_is_fixed:
            self._show_where(self._words.in_environment, "key-round", changeable=False)
            if state.token_problem:
                self.set_problem(said(state.token_problem))
            else:
                self.set_hint(self.tr("Set by {variable}; change it there.").format(variable=state.token_variable))
        elif state.keyring_problem:
            words = self.tr("Your keyring is locked") if state.can_unlock else self.tr("Your keyring does not answer")
            self._show_where(words, "key-round", changeable=False)
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
            self.set_attention(
                self.tr(
                    "No keyring took it: it is kept until the program ends. To keep it outside, set {variable}."
                ).format(variable=state.token_variable)
            )
        else:
            self._show_editor(can_cancel=False)

    def is_typing(self) -> bool:
        """Whether the field holds text, or was opened to replace a saved token."""
        return bool(self.field.text()) or (not self._editor.isHidden() and not self.cancel.isHidden())

    def takes_text(self) -> bool:
        """Whether the field is shown."""
        return not self._editor.isHidden()

    def where(self) -> str:
        """The sentence about the saved token."""
        return self._where.whole_text()

    def put(self, token: Token) -> None:
        """Put a token that was found in pasted text into the field, as if it had been pasted there."""
        if not self.takes_text():
            self._show_editor(can_cancel=True)
        self.field.setText(token.reveal())
        self._hint_for_new()
        self.edited.emit()

    def set_possible(self, possible: bool) -> None:
        """Enable or disable all controls of the token."""
        self._stack.setEnabled(possible)

    def forget_typed(self) -> None:
        """Empty the field; the next `show_state` decides what is shown."""
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
        self.set_hint(self.tr("Goes into this computer’s keyring, if there is one, and is never shown again."))

    def _show_where(self, text: str, icon: str, *, changeable: bool) -> None:
        self._where.setText(text)
        self._where_icon.set_icon(icon, "quiet")
        self.unlock.hide()
        self.replace.setVisible(changeable)
        self.remove.setVisible(changeable)
        self._stack.setCurrentWidget(self._saved)
        self.label.setBuddy(self.replace)
