"""The card of a connection: at the left what is entered, by the rows of `words.connections`, at the right its test."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QLocale, Qt, QTime, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QWheelEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QRadioButton, QSizePolicy, QSpinBox, QWidget

from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE, BASE_URL_VARIABLE
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, SecretState
from cfbatch_gui.core.errors import Action, KeyringUnavailable, NotConnected, UserError
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, Token, read_pasted
from cfbatch_gui.core.workers_ai.checking import COLLECTING_TITLE, CheckResult, titles_of
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind
from cfbatch_gui.ui import display, widgets
from cfbatch_gui.ui.icons import icon
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import Flow, IconLabel, Label, LinkButton, Role, Saying, StateLabel, boxed, column, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.connections import Row, answer_words, kind_words, secret_words, tested_words
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import said, tr

if TYPE_CHECKING:
    from cfbatch_gui.ui.connections.connection_page import ConnectionPage

_LONGEST = 4_000  # characters; enough for a whole curl line
_STEP_ICON = 18  # pixels
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
        self.field = widgets.CheckBox(words.label)
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
        self.field = _Days(maximum=_MOST_DAYS)
        self.field.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it
        self.field.setAccessibleName(words.label)
        label = widgets.Sentence(words.label)
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
        self.field = QLineEdit(maxLength=_LONGEST, placeholderText=words.placeholder)
        self.value, self.show_value = lambda: self.field.text().strip(), self.field.setText
        self.field.setAccessibleName(words.label)
        if self.is_secret:
            self._add_eye()
        label, (link, page) = Label(words.label, "strong"), words.link
        label.setBuddy(self.field)
        self.link = LinkButton(link, "external-link" if page else "save", lambda: follow(page))
        if page:
            self.link.setToolTip(display.plain_tip(page))
            self.link.setAccessibleDescription(worded("Opens {address} in the browser", address=page))
        self.unlock, self.remove = LinkButton(tr("Unlock")), LinkButton(tr("Remove…"))
        self.unlock.setAccessibleName(tr("Unlock the keyring"))
        self.remove.setAccessibleName(worded("Remove {what}…", what=words.label))
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
        self.eye.setText(worded("Show {what}", what=self.words.label))
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
        self.set_help(worded("Set by {variable}; change it there.", variable=variable))

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
        if found != Pasted():
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


_FORMS: dict[str, type[TickRow | DaysRow]] = {"tick": TickRow, "days": DaysRow}  # others are lines


class StepRow(QWidget):
    """A question or a call: how it stands, as an icon and a word, what it is, and what there is to know of it."""

    def __init__(self, sentence: str = "", words: str = "") -> None:
        super().__init__()
        self._icon = IconLabel("circle-dashed", "quiet", _STEP_ICON)
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
        self.note.say(note)
        parts = (spoken or (f"{word}:" if word else ""), self.sentence.text(), self.words.text(), note)
        self.setAccessibleName(" ".join(filter(None, parts)))


def open_in_browser(address: str) -> bool:
    return QDesktopServices.openUrl(url_of(address))


def url_of(address: str) -> QUrl:
    return QUrl.fromEncoded(address.encode(), QUrl.ParsingMode.StrictMode)


_ICON = 24  # pixels
_LINE = 20  # pixels: the height of the choice beside it
_LEAST_FIELDS, _LEAST_CHECKS = 340, 240  # pixels; with less the test is below the fields


class ConnectionCard(widgets.Card):
    """The head of a card, which is all of it for the practice service: `record` is its name and what it is."""

    def __init__(self, record: SavedConnection, page: "ConnectionPage") -> None:
        super().__init__()
        self.record, self._page, self.kind = record, page, kind_words(record.kind, record.id)
        self._title = Label("", "part")
        self.state = StateLabel()
        self.mark = StateLabel(tr("Batches unconfirmed by Cloudflare"), "triangle-alert", "attention")
        self.choice = QRadioButton(tr("Use for new jobs"))
        self.choice.clicked.connect(lambda: page.start_using(self.record.id))
        self.more = widgets.MoreButton("")
        self.more.setStyleSheet(f"min-height: {_LINE}px; max-height: {_LINE}px")
        head = boxed(Flow(self._title, self.state, self.mark, gap=MEDIUM))
        self.state.hide()
        self.mark.setVisible(record.kind == "gateway")
        top = row(IconLabel(self.kind.icon, "accent", _ICON), (head, 1), self.choice, self.more, gap=MEDIUM)
        sentence = Label(self.kind.sentence, "quiet", wrap=True)
        self.body.addLayout(column(top, column(sentence, margins=(scaled(_ICON) + MEDIUM, 0, 0, 0)), gap=0))
        self.show_name(record.name)

    def show_name(self, name: str) -> None:
        self._title.setText(name)
        self.choice.setAccessibleName(worded("Use {name} for new jobs", name=name))
        more = worded("More about {name}", name=name)
        self.more.setAccessibleName(more)
        self.more.setToolTip(display.plain_tip(more))


class SavedCard(ConnectionCard):
    """Shows a `SavedConnection`, whose id is "" until it was saved, with its secrets; the page does what is wanted."""

    def __init__(self, record: SavedConnection, page: "ConnectionPage") -> None:
        super().__init__(record, page)
        self.is_ready = self.is_working = self._had_focus = False
        self.results: tuple[CheckResult, ...] = ()
        self.rows: dict[str, RowWidget] = {each.name: self._made(each) for each in self.kind.rows}
        self.lines = {name: each for name, each in self.rows.items() if isinstance(each, LineRow)}
        self.secrets = {name: each for name, each in self.lines.items() if each.is_secret}
        self.found, self._problem = Saying("circle-check", "done"), Saying("triangle-alert", "attention", "body")
        self.save_button = widgets.PrimaryButton(tr("Save and test"), "check", self._try_to_save)
        self.test_button = widgets.Button(tr("Test"), "refresh-cw", partial(page.start, self, page.test))
        check = lambda: page.check_service(self.record.id)  # noqa: E731
        self.check_button = LinkButton(tr("Check the service…"), "search", check)
        self._doing = Saying("loader", "accent", "quiet", wrap=False)
        collecting = (COLLECTING_TITLE,) if record.kind == "worker" else ()
        self.checks = CheckList((*titles_of(ConnectionKind(record.kind)), *collecting))
        self._privacy = widgets.IconLine(self.kind.privacy, "info")
        self._lay_out()
        self._add_menu()
        self.show_record(record)
        self.set_working("")

    def _made(self, words: Row) -> RowWidget:
        kind = _FORMS.get(words.form)
        made = kind(words) if kind is not None else self._made_line(words)
        if hasattr(self.record, words.name):
            made.show_value(getattr(self.record, words.name))
        made.edited.connect(self.update_buttons)
        return made

    def _made_line(self, words: Row) -> LineRow:
        page = self._page
        made = LineRow(words, lambda address: page.open_page(address) if address else page.show_guide(self))
        made.field.returnPressed.connect(lambda: None if self.save_button.isHidden() else self.save_button.click())
        made.field.textEdited.connect(lambda _: self.found.hide())
        made.pasted.connect(lambda found: page.route(found, self))
        made.unlock.clicked.connect(page.unlock)
        made.remove.clicked.connect(lambda: page.start(self, partial(page.forget, name=words.name)))
        return made

    def _lay_out(self) -> None:
        buttons = Flow(self.save_button, self.test_button, self.check_button, self._doing, gap=MEDIUM)
        self._fields = boxed(column(*self.rows.values(), gap=MEDIUM))
        below = column(boxed(buttons), margins=(0, TINY, 0, 0))
        left = boxed(column(self._fields, self.found, below, None, gap=MEDIUM))
        columns = Flow(left, self.checks, gap=WIDE)
        for part, least in ((left, _LEAST_FIELDS), (self.checks, _LEAST_CHECKS)):
            part.setMinimumWidth(scaled(least))
            part.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            columns.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        rest = (boxed(columns), LARGE - SMALL, widgets.line(), TINY, self._privacy)
        self.body.addLayout(column(self._problem, SMALL, *rest, gap=SMALL))
        for words in self.kind.rows:
            if words.under:
                tick = self.rows[words.under].field
                self.rows[words.name].setVisible(tick.isChecked())
                tick.toggled.connect(self.rows[words.name].setVisible)

    def _add_menu(self) -> None:
        page, is_worker = self._page, self.record.kind == "worker"
        for text, name, act, is_there in (
            (tr("In your account…"), "inbox", lambda: page.account_wanted.emit(self.record.id), is_worker),
            (tr("Rename…"), "pencil", partial(page.start, self, page.rename), True),
            (tr("Remove…"), "trash-2", partial(page.start, self, page.remove), self.record.id != CLOUDFLARE),
            (tr("Remove from my account…"), "unplug", partial(page.take_down, self), is_worker),
        ):
            if is_there:
                self.more.add(text, act, name)

    # What is shown

    def show_record(self, record: SavedConnection) -> None:
        before, self.record = self.record, record
        for name, each in self.rows.items():
            if hasattr(record, name) and each.value() in ("", getattr(before, name)):
                each.show_value(getattr(record, name))
        self.show_name(record.name)
        if record.kind == "worker":
            self.more.menu().actions()[0].setVisible(bool(record.id))
        self.update_buttons()

    def show_state(self, secrets: dict[str, SecretState | None], *, is_ready: bool) -> None:
        """`secrets` by the names of their rows; None is one that the keyring is being asked for."""
        self.is_ready = is_ready
        for name, state in secrets.items():
            self.lines[name].show_secret(state)
        if self.record.id == CLOUDFLARE:
            self._show_environment()
        why_not = "" if is_ready else tr("Save and test it first.")
        self.choice.setEnabled(is_ready)
        self.choice.setToolTip(why_not)
        self.choice.setAccessibleDescription(why_not)
        self.update_buttons()

    def _show_environment(self) -> None:
        """What the environment sets of the first account instead of the settings."""
        book, problem = self._page.program.address_book, ""
        held = book.held_by_environment()
        try:
            if BASE_URL_VARIABLE in held:
                where = {"address": book.connection(CLOUDFLARE).base_url, "variable": BASE_URL_VARIABLE}
                self._privacy.set_line(worded("Requests go to {address}, as {variable} says.", **where))
        except NotConnected as error:
            problem = said(error.message) if book.account_id else ""
        self._problem.set_line(problem)
        if ACCOUNT_VARIABLE in held:
            self.lines["account_id"].show_value(self.record.account_id)
            self.lines["account_id"].fix(ACCOUNT_VARIABLE)
        self.more.setEnabled(bool(self.record.account_id) and ACCOUNT_VARIABLE not in held)

    def typed(self) -> SavedConnection:
        values = {name: each.value() for name, each in self.rows.items() if hasattr(self.record, name)}
        return replace(self.record, **values)  # type: ignore[arg-type]  # by their rows

    def has_news(self) -> bool:
        is_typed = any(each.field.text() for each in self.secrets.values())
        return not self.record.id or self.typed() != self.record or is_typed

    def forget_typed(self) -> None:
        """Also of the fields: the record holds the cleaned form of what was pasted into them."""
        for each in self.lines.values():
            each.forget()

    def update_buttons(self) -> None:
        is_fixed = all(each.field.isReadOnly() for each in self.lines.values())
        saving = not is_fixed and (self.has_news() or not self.is_ready)
        words = tested_words(self.results, is_ready=self.is_ready)
        self.state.set_state(words.text, words.icon, words.role)
        self.state.show()
        self.save_button.setVisible(saving)
        self.test_button.setVisible(not saving)
        self.test_button.setText(tr("Test again") if self.results else tr("Test"))
        busy = tr("Wait until this is done.") if self.is_working else ""
        self.save_button.set_possible(busy)
        self.check_button.setVisible(not saving and not self.is_working)
        self.test_button.set_possible(busy or ("" if self.is_ready else tr("There is nothing to test yet.")))

    def set_working(self, doing: str) -> None:
        focused = QApplication.focusWidget()
        if doing and not self.is_working:
            self._had_focus = focused is not None and self.isAncestorOf(focused)
        self.is_working = bool(doing)
        self._doing.set_line(doing)
        self._fields.setEnabled(not doing)
        self.update_buttons()
        if not doing and self._had_focus:  # Qt moved it when its widget was disabled
            button = self.test_button if self.save_button.isHidden() else self.save_button
            button.setFocus(Qt.FocusReason.ActiveWindowFocusReason)
            self._had_focus = False

    def show_results(self, results: Sequence[CheckResult]) -> None:
        self.results = tuple(results)
        self.checks.show_results(results)
        self.update_buttons()

    def take(self, pasted: Pasted) -> bool:
        """Fill the fields with what is for them; whether there was anything."""
        values = {
            "url": pasted.worker_url,
            "account_id": pasted.account_id,
            "gateway": pasted.gateway,
            "secret": pasted.token.reveal() if pasted.token else "",
        }
        fitting = [each for name, each in self.lines.items() if values.get(name) and not each.field.isReadOnly()]
        for each in fitting:
            each.show_value(values[each.words.name])
        if pasted.problem:
            self.found.set_line(said(pasted.problem), "circle-x", "error")
        else:
            things = figures.listed([each.words.label for each in fitting])
            words = worded("Found in what you pasted: {things}.", things=things) if fitting else ""
            self.found.set_line(words, "circle-check", "done")
        self.update_buttons()
        return bool(fitting)

    def put_secret(self, secret: Token) -> None:
        self.lines["secret"].show_value(secret.reveal())
        self.update_buttons()

    def _try_to_save(self) -> None:
        if not has_problem(*self.lines.values()):
            self._page.start(self, self._page.save)


class CheckList(widgets.Card):
    def __init__(self, titles: Sequence[str]) -> None:
        self.rows = tuple(StepRow(said(title)) for title in titles)
        self._foot = Label("", "small", wrap=True)
        super().__init__(Label(tr("Test"), "strong"), *self.rows, None, self._foot, inset=True, gap=MEDIUM)
        self.setAccessibleName(tr("Test of the connection"))
        self.show_results(())

    def show_running(self) -> None:
        for each in self.rows:
            each.show_step("loader", "accent", tr("Asking…"))

    def show_results(self, results: Sequence[CheckResult]) -> None:
        """None is not tested yet."""
        for number, each in enumerate(self.rows):
            words = answer_words(results, number)
            note = said(results[number].sentence) if number < len(results) else ""
            each.show_step(words.icon, words.role, words.text, note)
            each.note.set_role("small" if words.role == "quiet" else "body")
        now = QLocale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        tested = worded("Tested at {time}, free of charge.", time=now)
        self._foot.setText(tested if results else tr("Free of charge. No text of yours is sent."))
