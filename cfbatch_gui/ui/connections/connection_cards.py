"""The cards of connections: what is entered at the left, and what a test of it has found at the right."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QLocale, Qt, QTime, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QRadioButton, QSizePolicy, QSpinBox, QWidget

from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE, BASE_URL_VARIABLE
from cfbatch_gui.core.connections.credentials import CLOUDFLARE
from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, check_secret, read_pasted
from cfbatch_gui.core.workers_ai.checking import COLLECTING_TITLE, CheckResult, has_failed, has_passed, titles_of
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind, gateway, worker
from cfbatch_gui.ui import display
from cfbatch_gui.ui.connections.connection_fields import (
    ACCOUNT_PAGE,
    GATEWAY_PAGE,
    TOKEN_PAGE,
    AccountField,
    FieldBlock,
    SecretState,
    StepRow,
    TokenBlock,
)
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    Card,
    CheckBox,
    Flow,
    IconLabel,
    IconLine,
    Label,
    LinkButton,
    MoreButton,
    NoticeBar,
    PrimaryButton,
    Role,
    Saying,
    Sentence,
    StateLabel,
    boxed,
    column,
    line,
    row,
)

_LINE = 20  # pixels: the height of the choice beside it
_ICON = 18
_LEAST_FIELDS, _LEAST_CHECKS = 340, 240  # pixels; with less the test is below the fields
_INDENT = 24  # pixels to the text of a check box
_MOST_DAYS = 365
_LONGEST = 4_000  # characters; enough for a whole curl line
_SOME_ACCOUNT = "0" * 32  # a stand-in while only the form of another field is checked
_ICONS = {"cloudflare": "cloud", "worker": "layers", "gateway": "link"}
_FIELDS = {"cloudflare": ("account_id",), "worker": ("url",), "gateway": ("account_id", "gateway")}


class ConnectionCard(Card):
    def __init__(self, icon: str) -> None:
        super().__init__()
        self._title = Label("", "part")
        self._sentence = Label("", "quiet", wrap=True)
        self.state = StateLabel()
        self.state.hide()
        self.mark = StateLabel()
        self.mark.hide()
        self.choice = QRadioButton(self.tr("Use for new jobs"))
        self.more = MoreButton("")
        self.more.setStyleSheet(f"min-height: {_LINE}px; max-height: {_LINE}px")
        self.more.hide()
        head = boxed(Flow(self._title, self.state, self.mark, gap=MEDIUM))
        texts = column(head, self._sentence, gap=TINY)
        right = column(row(self.choice, self.more, gap=TINY), None)
        line = row(column(IconLabel(icon, "accent", 24), None), texts, right, gap=MEDIUM)
        line.setStretch(1, 1)
        self.body.addLayout(line)

    def set_words(self, title: str, sentence: str, choice_name: str) -> None:
        self._title.setText(title)
        self._sentence.setText(sentence)
        self.choice.setAccessibleName(choice_name)
        more = self.tr("More about {name}").format(name=title)
        self.more.setAccessibleName(more)
        self.more.setToolTip(display.plain_tip(more))

    def title(self) -> str:
        return self._title.text()

    def set_choice_possible(self, why_not: str) -> None:
        self.choice.setEnabled(not why_not)
        self.choice.setToolTip(why_not)
        self.choice.setAccessibleDescription(why_not)


class CollectBlock(QWidget):
    """`changed`: the user has changed something. `jobs_wanted`: the list of what is in the account."""

    changed = Signal()
    jobs_wanted = Signal()

    def __init__(self, record: SavedConnection) -> None:
        super().__init__()
        self._saved = record
        self.switch = CheckBox(self.tr("Collect answers in my account"))
        self.switch.setChecked(record.collects)
        about = self.tr(
            "Your account asks for the answers and keeps them until they are fetched, so this computer may be off. The"
            " Worker needs its collecting room and storage (R2)."
        )
        self.days = _Days()
        self.days.setRange(0, _MOST_DAYS)
        self.days.setValue(record.keep_days)
        self.days.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it
        label = Sentence(self.tr("Days that answers stay in your account once they are here"))
        label.setBuddy(self.days)
        self.days.setAccessibleName(label.text())
        self.jobs_link = LinkButton(self.tr("In your account…"), "inbox", self.jobs_wanted.emit)
        self.jobs_link.setAccessibleDescription(self.tr("Lists the jobs in this account"))
        self._keeping = boxed(Flow(label, self.days))
        below = column(Label(about, "small", wrap=True), self._keeping, boxed(Flow(self.jobs_link)))
        below.setContentsMargins(scaled(_INDENT), 0, 0, 0)
        self.setLayout(column(self.switch, boxed(below), gap=TINY))
        self.switch.toggled.connect(self._changed)
        self.days.valueChanged.connect(self._changed)
        self._show()

    def show_record(self, record: SavedConnection) -> None:
        before, self._saved = self._saved, record
        if self.switch.isChecked() == before.collects:
            self.switch.setChecked(record.collects)
        if self.days.value() == before.keep_days:
            self.days.setValue(record.keep_days)
        self._show()

    def _changed(self, _value: object) -> None:
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        self._keeping.setVisible(self.switch.isChecked())
        self.jobs_link.setVisible(bool(self._saved.id) and self._saved.collects)


class _Days(QSpinBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # a page that scrolls under the mouse must not change it


@dataclass(frozen=True, slots=True)
class CardState:
    """What is known of a saved connection beside its record.

    Of the first account alone: `problem` is a sentence, "" when all is well, `service` the address that the environment
    sets instead of Cloudflare's, and with `account_is_fixed` the account is set there, too.
    """

    is_ready: bool = False
    token: SecretState = SecretState()  # noqa: RUF009 - frozen
    gateway_token: SecretState = SecretState()  # noqa: RUF009
    problem: str = ""
    service: str = ""
    account_is_fixed: bool = False


class SavedCard(ConnectionCard):
    """Shows a `SavedConnection`, whose id is "" until it was saved, and a `CardState`.

    `wanted` brings what the user wants to be done: "save" (only while `problems` finds none), "test", "check",
    "remove", "rename", "unlock" (the keyring), "remove token", "remove gateway token", "guide", "account", "take down".
    `page_wanted` carries an address of the dashboard, `pasted` a `Pasted` with more than the field that it was pasted
    into can hold.
    """

    wanted = Signal(str)
    page_wanted = Signal(str)
    pasted = Signal(object)

    def __init__(self, record: SavedConnection) -> None:
        super().__init__(_ICONS[record.kind])
        self.record, self._state = record, CardState()
        self._is_worker, self._is_gateway = record.kind == "worker", record.kind == "gateway"
        self._is_working = self._had_focus = False
        self._results: tuple[CheckResult, ...] = ()
        self._before: dict[QLineEdit, str] = {}
        self._problem = NoticeBar("", "attention")
        self._problem.hide()
        self._make_fields()
        self.found = Saying("circle-check", "done")
        self.save_button = PrimaryButton(self.tr("Save and test"), "check", self._try_to_save)
        self.test_button = Button(self.tr("Test"), "refresh-cw", lambda: self.wanted.emit("test"))
        self.check_button = LinkButton(self.tr("Check the service…"), "search", lambda: self.wanted.emit("check"))
        self._doing = Saying("loader", "accent", "quiet", wrap=False)
        self.checks = CheckList(titles_of(ConnectionKind(record.kind)), COLLECTING_TITLE)
        self._privacy, self._service = IconLine(_privacy(record.kind), "info"), Saying("info")
        self._lay_out()
        self._add_menu()
        self.show_record(record)
        self.show_state(self._state)
        self.set_working("")

    # Making

    def _make_fields(self) -> None:
        record = self.record
        self.account, self.url, self.gateway = AccountField(), QLineEdit(), QLineEdit()
        self.guide = LinkButton(self.tr("Save the Worker…"), "save", lambda: self.wanted.emit("guide"))
        self._inputs: dict[str, QLineEdit] = {"account_id": self.account, "url": self.url, "gateway": self.gateway}
        self.url.setPlaceholderText("https://batch.example.workers.dev")
        self.gateway.setPlaceholderText(self.tr("Its name in the dashboard"))
        for field in (self.url, self.gateway):
            field.setMaxLength(_LONGEST)
        make = {
            "account_id": lambda: (self.tr("Account ID"), self._link(self.tr("Find my account ID"), ACCOUNT_PAGE)),
            "url": lambda: (self.tr("Address"), self.guide),
            "gateway": lambda: (self.tr("Gateway ID"), self._link(self.tr("Find my gateway"), GATEWAY_PAGE)),
        }
        self.blocks = {name: FieldBlock(*make[name](), self._inputs[name]) for name in _FIELDS[record.kind]}
        if self._is_worker:
            placeholder = self.tr("The Worker’s SHARED_SECRET")
            self.token_block = TokenBlock(self.tr("Secret"), self.tr("the secret"), placeholder, check=check_secret)
        else:
            link = self._link(self.tr("Create a token"), TOKEN_PAGE)
            self.token_block = TokenBlock(self.tr("API token"), self.tr("the token"), self.tr("Paste the token"), link)
        self.gateway_block = TokenBlock(
            self.tr("Gateway token, if it asks for one"),
            self.tr("the gateway token"),
            self.tr("Only for an authenticated gateway"),
            check=check_secret,
        )
        self._secrets = (self.token_block, self.gateway_block) if self._is_gateway else (self.token_block,)
        self.by_header = CheckBox(self.tr("Use Cloudflare’s address with a header"))
        self.by_header.setChecked(record.by_header)
        self.paid_plan = CheckBox(self.tr("It is on the Workers Paid plan"))
        self.paid_plan.setChecked(record.paid_plan)
        self.collect = CollectBlock(record)
        for name in self.blocks:
            self._hint_for(name)
            field = self._inputs[name]
            field.textEdited.connect(lambda _, name=name: self._hint_for(name))
            self._watch(field)
        for block, what in zip(self._secrets, ("remove token", "remove gateway token"), strict=False):
            block.unlock_pressed.connect(lambda: self.wanted.emit("unlock"))
            block.remove_pressed.connect(lambda what=what: self.wanted.emit(what))
            block.edited.connect(self.update_buttons)
            self._watch(block.field)
        for box in (self.by_header, self.paid_plan):
            box.toggled.connect(self.update_buttons)
        self.collect.changed.connect(self.update_buttons)
        self.collect.changed.connect(lambda: self.checks.show_optional(self.collect.switch.isChecked()))
        self.collect.jobs_wanted.connect(lambda: self.wanted.emit("account"))

    def _lay_out(self) -> None:
        fields: list[QWidget] = [*self.blocks.values(), *self._secrets]
        if self._is_gateway:
            fields.append(self.by_header)
        if self._is_worker:
            fields += [
                boxed(column(self.paid_plan, Label(_plan_sentence(), "small", wrap=True), gap=TINY)),
                self.collect,
            ]
        buttons = Flow(self.save_button, self.test_button, self.check_button, self._doing, gap=MEDIUM)
        left = boxed(column(*fields, self.found, column(boxed(buttons), margins=(0, TINY, 0, 0)), None, gap=MEDIUM))
        columns = Flow(left, self.checks, gap=WIDE)
        for part, least in ((left, _LEAST_FIELDS), (self.checks, _LEAST_CHECKS)):
            part.setMinimumWidth(scaled(least))
            part.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            columns.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        self.body.addWidget(self._problem)
        self.body.addSpacing(SMALL)
        self.body.addWidget(boxed(columns))
        self.body.addSpacing(LARGE - SMALL)
        self.body.addWidget(line())
        self.body.addSpacing(TINY)
        self.body.addWidget(self._privacy)
        self.body.addWidget(self._service)

    def _add_menu(self) -> None:
        def add(text: str, icon: str, what: str) -> Any:
            return self.more.add(text, lambda: self.wanted.emit(what), icon)

        self._account = add(self.tr("In your account…"), "inbox", "account")
        add(self.tr("Rename…"), "pencil", "rename")
        if self.record.id != CLOUDFLARE:
            add(self.tr("Remove…"), "trash-2", "remove")
        if self._is_worker:
            self.take_down = add(self.tr("Remove from my account…"), "unplug", "take down")
        self.more.show()

    def _link(self, text: str, address: str) -> LinkButton:
        link = LinkButton(text, "external-link", lambda: self.page_wanted.emit(address), tip=display.plain_tip(address))
        link.setAccessibleDescription(self.tr("Opens {address} in the browser").format(address=address))
        return link

    def _watch(self, field: QLineEdit) -> None:
        field.returnPressed.connect(lambda: None if self.save_button.isHidden() else self.save_button.click())
        field.textChanged.connect(lambda text: None if text else self._before.pop(field, None))
        field.textEdited.connect(lambda text: self._edited(field, text))

    # What is shown

    def show_record(self, record: SavedConnection) -> None:
        before, self.record = self.record, record
        for name in self.blocks:
            if self._inputs[name].text().strip() in ("", getattr(before, name)):
                self._inputs[name].setText(getattr(record, name))
        self.set_words(record.name, kind_sentence(record), self.tr("Use {name} for new jobs").format(name=record.name))
        self.collect.show_record(record)
        self.checks.show_optional(self.collect.switch.isChecked())
        self._account.setVisible(self._is_worker and bool(record.id))
        if self._is_gateway:
            self.mark.set_state(self.tr("Batches unconfirmed by Cloudflare"), "triangle-alert", "attention")
            self.mark.show()
        self.update_buttons()

    def show_state(self, state: CardState) -> None:
        self._state = state
        if state.account_is_fixed:
            self.account.setText(self.record.account_id)
        self.account.setReadOnly(state.account_is_fixed)
        if "account_id" in self.blocks:
            self._hint_for("account_id")
        self._problem.set_text(said(state.problem), "attention")
        self._problem.setVisible(bool(state.problem))
        words = self.tr("Requests go to {address}, as {variable} says.")
        where = words.format(address=state.service, variable=BASE_URL_VARIABLE)
        self._service.set_line(where if state.service else "")
        self._privacy.setVisible(not state.service)
        if self.record.id == CLOUDFLARE:
            self.more.setVisible(bool(self.record.account_id) and not state.account_is_fixed)
        self.token_block.show_state(state.token)
        self.gateway_block.show_state(state.gateway_token)
        self._show_tested()
        self.set_choice_possible("" if state.is_ready else self.tr("Save and test it first."))
        self.update_buttons()

    def is_ready(self) -> bool:
        return self._state.is_ready

    def typed(self) -> SavedConnection:
        texts: dict[str, Any] = {name: self._inputs[name].text().strip() for name in self.blocks}
        return replace(
            self.record,
            by_header=self.by_header.isChecked(),
            paid_plan=self.paid_plan.isChecked(),
            collects=self.collect.switch.isChecked(),
            keep_days=self.collect.days.value(),
            **texts,
        )

    def has_news(self) -> bool:
        return (
            not self.record.id
            or self.typed() != self.record
            or bool(self.gateway_block.field.text())
            or (bool(self.token_block.field.text()) if self._is_worker else self.token_block.takes_text())
        )

    def first_field(self) -> QLineEdit:
        return self._inputs[_FIELDS[self.record.kind][0]]

    def problems(self) -> list[tuple[QWidget, str]]:
        found: list[tuple[QWidget, str]] = []
        for name, block in self.blocks.items():
            if not self._state.account_is_fixed and (sentence := self._problem_of(name)):
                block.set_problem(sentence)
                found.append((self._inputs[name], sentence))
        for secret in self._secrets:
            is_needed = secret is self.token_block and not self._is_worker
            if secret.takes_text() and (is_needed or secret.field.text()) and (sentence := secret.field.problem()):
                secret.set_problem(sentence)
                found.append((secret.field, sentence))
        return found

    def forget_typed(self) -> None:
        """Also of the fields: the record holds the cleaned form of what was pasted into them."""
        for secret in self._secrets:
            secret.forget_typed()
        for name in self.blocks:
            self._inputs[name].clear()

    def update_buttons(self) -> None:
        is_fixed = self._state.account_is_fixed and self._state.token.is_fixed
        saving = not is_fixed and (self.has_news() or not self.is_ready())
        self.save_button.setVisible(saving)
        self.test_button.setVisible(not saving)
        self.test_button.setText(self.tr("Test again") if self._results else self.tr("Test"))
        busy = self.tr("Wait until this is done.") if self._is_working else ""
        self.save_button.set_possible(busy)
        self.check_button.setVisible(not saving and not self._is_working)
        self.test_button.set_possible(busy or ("" if self.is_ready() else self.tr("There is nothing to test yet.")))

    def set_working(self, doing: str) -> None:
        focused = QApplication.focusWidget()
        if doing and not self._is_working:
            self._had_focus = focused is not None and self.isAncestorOf(focused)
        self._is_working = bool(doing)
        self._doing.set_line(doing)
        for part in (*self._inputs.values(), self.by_header, self.paid_plan, self.collect.switch, self.collect.days):
            part.setEnabled(not doing)
        for secret in self._secrets:
            secret.set_possible(not doing)
        self.update_buttons()
        if not doing and self._had_focus:  # Qt moved it when its widget was disabled
            button = self.test_button if self.save_button.isHidden() else self.save_button
            button.setFocus(Qt.FocusReason.ActiveWindowFocusReason)
            self._had_focus = False

    def doing(self) -> str:
        return self._doing.text()

    # The test

    async def show_test(self, test: Awaitable[tuple[CheckResult, ...]]) -> None:
        self.set_working(self.tr("Asking the service…"))
        self.checks.show_running()
        results: tuple[CheckResult, ...] = ()
        try:
            results = await test
        finally:
            self.show_results(results)

    def show_results(self, results: Sequence[CheckResult]) -> None:
        self._results = tuple(results)
        if results:
            self.checks.show_results(results)
        else:
            self.checks.reset()
        self._show_tested()
        self.update_buttons()

    def has_failed(self) -> bool:
        return has_failed(self._results)

    def has_passed(self) -> bool:
        """Whether there was a test in which everything worked; what is asked last stays open for a gateway."""
        return has_passed(self._results)

    def _show_tested(self) -> None:
        if not self.is_ready():
            self.state.set_state(self.tr("Not connected yet"), "circle-dashed", "quiet")
        elif not self._results:
            self.state.set_state(self.tr("Set up, not tested yet"), "circle-dot", "quiet")
        elif self.has_failed():
            self.state.set_state(self.tr("The test failed"), "circle-x", "error")
        elif not self.has_passed():
            self.state.set_state(self.tr("The test was cut short"), "triangle-alert", "attention")
        else:
            self.state.set_state(self.tr("Connected"), "circle-check", "done")
        self.state.show()

    # What is entered

    def take(self, pasted: Pasted) -> bool:
        """Fill the fields with what is for them; whether there was anything."""
        names = []
        for name, value, words in (
            ("url", pasted.worker_url, self.tr("the Worker’s address")),
            ("account_id", pasted.account_id, self.tr("the account ID")),
            ("gateway", pasted.gateway, self.tr("the gateway")),
        ):
            if name in self.blocks and value:
                self._inputs[name].setText(value)
                names.append(words)
        if pasted.token and not self._state.token.is_fixed:
            self.token_block.put(pasted.token)
            names.append(self.tr("a secret") if self._is_worker else self.tr("an API token"))
        for name in self.blocks:
            self._hint_for(name)
        if pasted.problem:
            self.found.set_line(said(pasted.problem), "circle-x", "error")
        elif names:
            words = self.tr("Found in what you pasted: {things}.").format(things=display.listed(names))
            self.found.set_line(words, "circle-check", "done")
        else:
            self.found.hide()
        self.update_buttons()
        return bool(names)

    def _edited(self, field: QLineEdit, text: str) -> None:
        before = self._before.get(field, "")
        self.found.hide()
        is_more = any(sign in text.strip() for sign in (" ", "\n", "=", "://"))
        is_typed = abs(len(text) - len(before)) <= 1
        found = read_pasted(text) if is_more and not is_typed else Pasted()
        if not found.is_empty:
            field.setText("" if before in text else before)  # the page fills in what fits this field
            self.pasted.emit(found)
        self._before[field] = field.text()
        self.update_buttons()

    def _try_to_save(self) -> None:
        found = self.problems()
        if found:
            found[0][0].setFocus()
        else:
            self.wanted.emit("save")

    def _hint_for(self, name: str) -> None:
        hints = {
            "account_id": self.tr("Paste the ID, or the address of any page of your Cloudflare dashboard."),
            "url": self.tr("It ends in workers.dev, or is a domain of your own."),
            "gateway": self.tr("Or paste the gateway’s whole address."),
        }
        fixed = self.tr("Set by {variable}; change it there.").format(variable=ACCOUNT_VARIABLE)
        self.blocks[name].set_hint(fixed if self._state.account_is_fixed else hints[name])

    def _problem_of(self, name: str) -> str:
        text = self._inputs[name].text()
        try:
            if name == "account_id":
                return self.account.problem()
            if name == "url":
                if not text.strip():
                    return self.tr("Enter the Worker’s address.")
                worker(text, connection_id="new", title="new")
            else:
                if not text.strip():
                    return self.tr("Enter the gateway’s ID.")
                gateway(_SOME_ACCOUNT, text, connection_id="new", title="new")
        except NotConnected as error:
            return said(error.message)
        return ""


class CheckList(Card):
    """The one of `optional_title` is shown where it was asked for, or where there is a result."""

    def __init__(self, titles: Sequence[str], optional_title: str) -> None:
        super().__init__(inset=True)
        self.rows = tuple(CheckRow(said(title)) for title in titles)
        self.optional = CheckRow(said(optional_title))
        self.optional.hide()
        self.outcome = StateLabel()
        self._foot = Label("", "small", wrap=True)
        self.body.setSpacing(MEDIUM)
        self.body.addLayout(row(Label(self.tr("Test"), "strong"), None, self.outcome, gap=SMALL))
        for each in (*self.rows, self.optional):
            self.body.addWidget(each)
        self.body.addStretch(1)
        self.body.addWidget(self._foot)
        self.setAccessibleName(self.tr("Test of the connection"))
        self._wants_optional = self._has_optional_result = False
        self.reset()

    def show_optional(self, shown: bool) -> None:
        self._wants_optional = shown
        self._show_optional()

    def _show_optional(self) -> None:
        self.optional.setVisible(self._wants_optional or self._has_optional_result)

    def reset(self) -> None:
        self._has_optional_result = False
        self._foot.setText(self.tr("Free of charge. No text of yours is sent."))
        for each in (*self.rows, self.optional):
            each.show_state(self.tr("Not tested yet"), "circle-dashed")
        self.outcome.set_state("", "circle-dashed")
        self.outcome.hide()
        self._show_optional()

    def show_running(self) -> None:
        for each in (*self.rows, self.optional):
            each.show_state(self.tr("Asking…"), "loader", "accent")
        self.outcome.hide()

    def show_results(self, results: Sequence[CheckResult]) -> None:
        asked = True
        first, more = results[: len(self.rows)], results[len(self.rows) :]
        for each, result in zip(self.rows, first, strict=True):
            each.show_result(result, asked=asked)
            asked = asked and result.ok is True
        for result in more or [CheckResult("", None, "")]:
            self.optional.show_result(result, asked=bool(more))
        self._has_optional_result = bool(more)
        self._show_optional()
        if has_failed(results):
            self.outcome.set_state(self.tr("Failed"), "circle-x", "error")
        elif all(result.ok for result in results):
            self.outcome.set_state(self.tr("Everything works"), "circle-check", "done")
        elif any(result.ok is False for result in results):
            self.outcome.set_state(self.tr("Does not collect"), "triangle-alert", "attention")
        else:
            self.outcome.set_state(self.tr("Not certain"), "triangle-alert", "attention")
        self.outcome.show()
        now = QLocale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        self._foot.setText(self.tr("Tested at {time}, free of charge.").format(time=now))


class CheckRow(StepRow):
    def show_result(self, result: CheckResult, *, asked: bool) -> None:
        """Show a result. Without one, `asked` distinguishes an uncertain answer from a check that was not made."""
        failed: tuple[str, Role] = ("circle-x", "error") if result.is_needed else ("triangle-alert", "attention")
        open_: tuple[str, Role] = ("triangle-alert", "attention") if asked else ("circle-dashed", "quiet")
        if result.ok:
            self.show_state(self.tr("Yes"), "circle-check", "done", result.sentence)
        elif result.ok is False:
            self.show_state(self.tr("No"), *failed, result.sentence)
        else:
            self.show_state(self.tr("Not certain") if asked else self.tr("Not asked"), *open_, result.sentence)

    def show_state(self, word: str, icon: str, role: Role = "quiet", reason: str = "") -> None:
        self.show_step(icon, role, word, said(reason))
        self.note.set_role("small" if role == "quiet" else "body")
        self.say(f"{word}:")


def kind_sentence(record: SavedConnection) -> str:
    if record.id == CLOUDFLARE:
        return tr("Your own account, at Cloudflare’s prices. There is a free allowance every day.")
    return {
        "cloudflare": tr("Another account, at Cloudflare’s prices."),
        "worker": tr("A Worker of your own in front of Workers AI: the token stays at Cloudflare, you keep a secret."),
        "gateway": tr(
            "Your account through an AI Gateway, for its logs and limits. Cloudflare does not say that batches go"
            " through a gateway; try a small job first."
        ),
    }[record.kind]


def _plan_sentence() -> str:
    return tr(
        "On the Free plan a Worker has 10 ms for each batch, so batches are kept under 1 MB. On the Paid plan they may"
        " have 10 MB."
    )


def _privacy(kind: str) -> str:
    if kind == "worker":
        return tr(
            "The secret is sent to your Worker alone; texts go to it and to Workers AI, only when you press send."
        )
    if kind == "gateway":
        return tr(
            "Tokens and texts go to Cloudflare alone. Each call asks the gateway to keep no texts in its logs, to"
            " answer nothing from its cache, and to repeat nothing by itself."
        )
    return tr("The token is sent to Cloudflare alone; texts too, and only when you press send.")
