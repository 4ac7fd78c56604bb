"""What is entered of a connection, drawn and read by its rows in `words.connections`; and a step of a test."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QWheelEvent
from PySide6.QtWidgets import QLineEdit, QSpinBox, QWidget

from cfbatch_gui.core.connections.credentials import SecretState
from cfbatch_gui.core.errors import Action, KeyringUnavailable, UserError
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, read_pasted
from cfbatch_gui.ui import display
from cfbatch_gui.ui.icons import icon
from cfbatch_gui.ui.theme import SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import CheckBox, Flow, IconLabel, Label, LinkButton, Role, Sentence, boxed, column, row
from cfbatch_gui.words.connections import Row, secret_words
from cfbatch_gui.words.languages import said, tr

_LONGEST = 4_000  # characters; enough for a whole curl line
_ICON = 18  # pixels
_INDENT = 24  # pixels to the text of a check box
_MOST_DAYS = 365


class RowWidget(QWidget):
    """A row on a card; `edited` is emitted when its value has changed."""

    edited = Signal()
    field: Any
    value: Callable[[], object]
    show_value: Callable[[Any], object]


class TickRow(RowWidget):
    def __init__(self, words: Row) -> None:
        super().__init__()
        self.field = CheckBox(words.label)
        self.value, self.show_value = self.field.isChecked, self.field.setChecked
        below = column(Label(words.help, "small", wrap=True), margins=(scaled(_INDENT), 0, 0, 0))
        self.setLayout(column(self.field, *([boxed(below)] if words.help else []), gap=TINY))
        self.field.toggled.connect(self.edited)


class _Days(QSpinBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # a page that scrolls under the mouse must not change it


class DaysRow(RowWidget):
    def __init__(self, words: Row) -> None:
        super().__init__()
        self.field = _Days()
        self.field.setRange(0, _MOST_DAYS)
        self.field.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it
        self.field.setAccessibleName(words.label)
        label = Sentence(words.label)
        label.setBuddy(self.field)
        self.value, self.show_value = self.field.value, self.field.setValue
        self.setLayout(column(boxed(Flow(label, self.field)), margins=(scaled(_INDENT), 0, 0, 0)))
        self.field.valueChanged.connect(self.edited)


class LineRow(RowWidget):
    """A line to fill in. What is typed into one of a secret is hidden, and what is saved there is never shown.

    `pasted` carries the values in a pasted text that holds more than this one. `follow` is called with the page of its
    link. Below the field stands its help, or the problem with what is in it until that has changed.
    """

    pasted = Signal(object)
    field: QLineEdit

    def __init__(self, words: Row, follow: Callable[[str], object] = str) -> None:
        super().__init__()
        self.words, self.is_secret = words, words.form == "secret"
        self._may_be_empty, self._before = not words.missing, ""
        self.field = QLineEdit()
        self.value, self.show_value = lambda: self.field.text().strip(), self.field.setText
        self.field.setMaxLength(_LONGEST)
        self.field.setPlaceholderText(words.placeholder)
        self.field.setAccessibleName(words.label)
        if self.is_secret:
            self._add_eye()
        label, (link, page) = Label(words.label, "strong"), words.link
        label.setBuddy(self.field)
        self.link = LinkButton(link, "external-link" if page else "save", lambda: follow(page))
        if page:
            self.link.setToolTip(display.plain_tip(page))
            self.link.setAccessibleDescription(tr("Opens {address} in the browser").format(address=page))
        self.unlock, self.remove = LinkButton(tr("Unlock")), LinkButton(tr("Remove…"))
        self.unlock.setAccessibleName(tr("Unlock the keyring"))
        self.remove.setAccessibleName(tr("Remove {what}…").format(what=words.label))
        self._icon, self._hint = IconLabel("circle-x", "error", 14), Label("", "small", wrap=True)
        below = row(self._icon, (self._hint, 1), self.unlock, self.remove, gap=6)
        for part in (self._icon, self.unlock, self.remove):
            below.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        self.setLayout(column(row(label, None, self.link), self.field, below, gap=TINY))
        self.link.setVisible(bool(link))
        for part in (self.unlock, self.remove):
            part.hide()
        self.set_help(words.help)
        self.field.textChanged.connect(self._changed)
        self.field.textEdited.connect(self._edited)

    def _add_eye(self) -> None:
        self.eye = self.field.addAction(icon("eye", "quiet"), QLineEdit.ActionPosition.TrailingPosition)
        self.eye.setText(tr("Show {what}").format(what=self.words.label))
        self.eye.setCheckable(True)
        self.eye.toggled.connect(self._show_plainly)
        self._show_plainly(False)
        self.eye.setVisible(False)

    def _show_plainly(self, plainly: bool) -> None:
        self.field.setEchoMode(QLineEdit.EchoMode.Normal if plainly else QLineEdit.EchoMode.Password)
        self.eye.setIcon(icon("eye-off" if plainly else "eye", "quiet"))

    def forget(self) -> None:
        self.field.setText("")  # unlike clear(), this empties the undo history as well
        if self.is_secret:
            self.eye.setChecked(False)

    def show_secret(self, state: SecretState | None) -> None:
        """Show where it is, as long as nothing is typed in its place."""
        where, text, role = secret_words(state)
        error, is_fixed = (None, False) if state is None else (state.error, state.is_fixed)
        is_known = state is not None and not is_fixed and not isinstance(error, KeyringUnavailable)
        self._may_be_empty = bool(where) or not self.words.missing
        self.field.setPlaceholderText(where or self.words.placeholder)
        self.field.setReadOnly(is_fixed)
        self.unlock.setVisible(error is not None and error.action is Action.UNLOCK)
        self.remove.setVisible(bool(where) and is_known)
        self.set_help(text, role)

    def fix(self, variable: str) -> None:
        """It is set by an environment variable, and cannot be changed here."""
        self.field.setReadOnly(True)
        self.set_help(tr("Set by {variable}; change it there.").format(variable=variable))

    def hint(self) -> str:
        return self._hint.text()

    def set_help(self, text: str, role: Role = "small") -> None:
        self._usual = text, role
        self._show(text, role)

    def has_problem(self) -> bool:
        """Whether the text cannot be saved, which then stands in place of the help."""
        text, problem = self.field.text(), ""
        if not text.strip():
            problem = "" if self._may_be_empty else self.words.missing
        else:
            try:
                self.words.check(text)
            except UserError as error:
                problem = said(error.message)
        if problem:
            self._show(problem, "error")
        return bool(problem)

    def _changed(self) -> None:
        self._before = self.field.text()
        if self.is_secret:
            self.eye.setVisible(bool(self._before))
        self._show(*self._usual)

    def _edited(self, text: str) -> None:
        is_pasted = abs(len(text) - len(self._before)) > 1
        has_more = any(sign in text.strip() for sign in (" ", "\n", "=", "://"))
        found = read_pasted(text) if is_pasted and has_more else Pasted()
        if not found.is_empty:
            self.field.setText("" if self._before in text else self._before)  # what fits it is put back
            self.pasted.emit(found)
        else:
            with suppress(UserError):  # perhaps unfinished: it is said when it is saved
                cleaned = self.words.check(text)
                if isinstance(cleaned, str) and cleaned != text:
                    self.field.setText(cleaned)
        self.edited.emit()

    def _show(self, text: str, role: Role) -> None:
        icons = {"error": "circle-x", "attention": "triangle-alert"}
        self._icon.setVisible(role in icons)
        if role in icons:
            self._icon.set_icon(icons[role], role)
        self._hint.setText(text)
        self._hint.set_role(role)
        self.field.setAccessibleDescription(f"{self.field.placeholderText()} {text}".strip())


def has_problem(*lines: LineRow) -> bool:
    """Whether something cannot be saved: each field of it says why, and the first one gets the focus."""
    wrong = [each for each in lines if each.has_problem()]
    if wrong:
        wrong[0].field.setFocus(Qt.FocusReason.OtherFocusReason)
    return bool(wrong)


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


def open_in_browser(address: str) -> bool:
    return QDesktopServices.openUrl(url_of(address))


def url_of(address: str) -> QUrl:
    return QUrl.fromEncoded(address.encode(), QUrl.ParsingMode.StrictMode)
