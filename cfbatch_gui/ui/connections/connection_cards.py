"""The cards of connections: the first Cloudflare account; another account, a Worker or an AI Gateway."""

from dataclasses import dataclass, replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QValidator, QWheelEvent
from PySide6.QtWidgets import QLineEdit, QSpinBox, QWidget

from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE, BASE_URL_VARIABLE
from cfbatch_gui.core.connections.credentials import CLOUDFLARE
from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, check_form, check_secret
from cfbatch_gui.core.workers_ai.checking import COLLECTING_TITLE, titles_of
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind, gateway, worker
from cfbatch_gui.ui import display
from cfbatch_gui.ui.connections.connection_fields import (
    ACCOUNT_PAGE,
    GATEWAY_PAGE,
    TOKEN_PAGE,
    AccountField,
    AccountState,
    FieldBlock,
    TokenBlock,
    gateway_token_words,
    token_words,
    worker_secret_words,
)
from cfbatch_gui.ui.connections.tested_card import TestedCard
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.theme import SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import CheckBox, Flow, IconLine, Label, LinkButton, NoticeBar, boxed, column

_MOST_DAYS = 365
_INDENT = 24  # pixels to the text of a check box


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
        self.days = _Days(self.tr("Days that answers stay in your account once they are here"))
        self.days.setValue(record.keep_days)
        self.jobs_link = LinkButton(self.tr("In your account…"), "inbox")
        self.jobs_link.setAccessibleDescription(self.tr("Lists the jobs in this account"))
        self._keeping = boxed(Flow(Label(self.tr("Once they are here, keep them there for")), self.days))
        below = column(
            Label(about, "small", wrap=True),
            self._keeping,
            boxed(Flow(self.jobs_link)),
            gap=SMALL,
            margins=(scaled(_INDENT), 0, 0, 0),
        )
        self.setLayout(column(self.switch, boxed(below), gap=TINY))
        self.switch.toggled.connect(self._changed)
        self.days.valueChanged.connect(self._changed)
        self.jobs_link.clicked.connect(self.jobs_wanted)
        self._show()

    def show_record(self, record: SavedConnection) -> None:
        before, self._saved = self._saved, record
        if self.switch.isChecked() == before.collects:
            self.switch.setChecked(record.collects)
        if self.days.value() == before.keep_days:
            self.days.setValue(record.keep_days)
        self._show()

    def collects(self) -> bool:
        return self.switch.isChecked()

    def keep_days(self) -> int:
        return self.days.value()

    def has_news(self) -> bool:
        return (self.collects(), self.keep_days()) != (self._saved.collects, self._saved.keep_days)

    def set_possible(self, possible: bool) -> None:
        self.switch.setEnabled(possible)
        self.days.setEnabled(possible)

    def _changed(self, _value: object) -> None:
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        self._keeping.setVisible(self.collects())
        self.jobs_link.setVisible(bool(self._saved.id) and self._saved.collects)


class _Days(QSpinBox):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.setRange(0, _MOST_DAYS)
        self.setAccessibleName(name)
        self.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it

    def textFromValue(self, days: int) -> str:
        return display.plural(days, "{n} day", "{n} days")

    def valueFromText(self, text: str) -> int:
        return int(_digits(text) or 0)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        digits = _digits(text)
        if len(digits) > len(str(_MOST_DAYS)):
            return QValidator.State.Invalid, text, position
        is_known = bool(digits) and int(digits) <= _MOST_DAYS
        return (QValidator.State.Acceptable if is_known else QValidator.State.Intermediate), text, position

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # a page that scrolls under the mouse must not change it


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isascii() and sign.isdigit())


_ICONS = {"cloudflare": "cloud", "worker": "layers", "gateway": "link"}
_LONGEST = 4_000  # characters; enough for a whole curl line
_SOME_ACCOUNT = "0" * 32  # a stand-in while only the form of another field is checked


@dataclass(frozen=True, slots=True)
class CardState:
    """What is known of a saved connection; `token` and `gateway_token` say where its secrets are kept."""

    is_ready: bool = False
    token: AccountState = AccountState()  # noqa: RUF009 - frozen
    gateway_token: AccountState = AccountState()  # noqa: RUF009


class SavedCard(TestedCard):
    """Shows a `SavedConnection`, whose id is "" until it was saved, and a `CardState`."""

    secret_remove_pressed = Signal(bool)  # True for the gateway's own token
    guide_pressed = Signal()
    account_pressed = Signal()  # for the list of what is in the user's account
    take_down_pressed = Signal()  # of the Worker in the account

    def __init__(self, record: SavedConnection) -> None:
        super().__init__(_ICONS[record.kind], titles_of(ConnectionKind(record.kind)), optional_title=COLLECTING_TITLE)
        self.record = record
        self._privacy = IconLine(_privacy(record.kind), "info")
        self._state = CardState()
        self.account = AccountField()
        self.url = self._text_field(self.tr("Address"), "https://batch.example.workers.dev")
        self.gateway = self._text_field(self.tr("Gateway ID"), self.tr("Its name in the dashboard"))
        self.by_header = CheckBox(self.tr("Use Cloudflare’s address with a header"))
        self.by_header.setChecked(record.by_header)
        self.paid_plan = CheckBox(self.tr("It is on the Workers Paid plan"))
        self.paid_plan.setChecked(record.paid_plan)
        self.collect = CollectBlock(record)
        self.guide = LinkButton(self.tr("Save the Worker…"), "save", self.guide_pressed.emit)
        is_worker = record.kind == "worker"
        secret_link = self._no_link() if is_worker else self.link(self.tr("Create a token"), TOKEN_PAGE)
        self.token_block = TokenBlock(
            secret_link,
            worker_secret_words() if is_worker else token_words(),
            check_secret if is_worker else check_form,
        )
        self.gateway_block = TokenBlock(self._no_link(), gateway_token_words(), check_secret)
        self.blocks: dict[QLineEdit, FieldBlock] = {}
        self._lay_out()
        self._connect()
        self.show_record(record)
        self.show_state(self._state)
        self.set_working("")

    def fields(self) -> tuple[QLineEdit, ...]:
        return {
            "worker": (self.url,),
            "gateway": (self.account, self.gateway),
            "cloudflare": (self.account,),
        }[self.record.kind]

    def show_record(self, record: SavedConnection) -> None:
        before, self.record = self._saved_values(), record
        for each, value in self._saved_values().items():
            if each.text().strip() in ("", before[each]):
                each.setText(value)
        self.set_words(record.name, kind_sentence(record), self.tr("Use {name} for new jobs").format(name=record.name))
        self.collect.show_record(record)
        self.checks.show_optional(self.collect.collects())
        if record.kind == "worker":
            self._account.setVisible(bool(record.id))
        if record.kind == "gateway":
            self.mark.set_state(self.tr("Batches unconfirmed by Cloudflare"), "triangle-alert", "attention")
            self.mark.show()
        self.update_buttons()

    def show_state(self, state: CardState) -> None:
        self._state = state
        self.token_block.show_state(state.token)
        self.gateway_block.show_state(state.gateway_token)
        self.show_tested()
        self.set_choice_possible("" if self.is_ready() else self.tr("Save and test it first."))
        self.update_buttons()

    def typed(self) -> SavedConnection:
        record = replace(self.record, by_header=self.by_header.isChecked(), paid_plan=self.paid_plan.isChecked())
        if record.kind == "worker":
            collect = self.collect
            return replace(record, url=self.url.text(), collects=collect.collects(), keep_days=collect.keep_days())
        if record.kind == "gateway":
            record = replace(record, gateway=self.gateway.text())
        return replace(record, account_id=self.account.text())

    def is_ready(self) -> bool:
        return self._state.is_ready

    def has_news(self) -> bool:
        saved = self._saved_values()
        secrets = self._secret_blocks()
        optional = self.record.kind == "worker"
        return (
            not self.record.id
            or any(each.text().strip() != saved[each] for each in self.fields())
            or self.by_header.isChecked() != self.record.by_header
            or self.paid_plan.isChecked() != self.record.paid_plan
            or self.collect.has_news()
            or any(
                bool(block.field.text()) if optional or block is self.gateway_block else block.takes_text()
                for block in secrets
            )
        )

    def set_fields_possible(self, possible: bool) -> None:
        for each in (*self.fields(), self.by_header, self.paid_plan):
            each.setEnabled(possible)
        self.collect.set_possible(possible)
        for block in self._secret_blocks():
            block.set_possible(possible)

    def problems(self) -> list[tuple[QWidget, str]]:
        found: list[tuple[QWidget, str]] = []
        for each in self.fields():
            if sentence := self._problem_of(each):
                self.blocks[each].set_problem(sentence)
                found.append((each, sentence))
        for block in self._secret_blocks():
            is_needed = block is self.token_block and self.record.kind != "worker"
            if block.takes_text() and (is_needed or block.field.text()) and (sentence := block.field.problem()):
                block.set_problem(sentence)
                found.append((block.field, sentence))
        return found

    def fill(self, pasted: Pasted) -> list[str]:
        names = []
        if self.record.kind == "worker" and pasted.worker_url:
            self.url.setText(pasted.worker_url)
            names.append(self.tr("the Worker’s address"))
        if self.account in self.fields() and pasted.account_id:
            self.account.setText(pasted.account_id)
            names.append(self.tr("the account ID"))
        if self.record.kind == "gateway" and pasted.gateway:
            self.gateway.setText(pasted.gateway)
            names.append(self.tr("the gateway"))
        if pasted.token and not self._state.token.token_is_fixed:
            self.token_block.put(pasted.token)
            names.append(self.tr("a secret") if self.record.kind == "worker" else self.tr("an API token"))
        for each in self.fields():
            self._hint_for(each)
        return names

    def forget_typed(self) -> None:
        for block in self._secret_blocks():
            block.forget_typed()

    def _text_field(self, name: str, hint: str) -> QLineEdit:
        made = QLineEdit()
        made.setMaxLength(_LONGEST)
        made.setAccessibleName(name)
        made.setPlaceholderText(hint)
        return made

    def _no_link(self) -> LinkButton:
        link = LinkButton()
        link.hide()
        return link

    def _secret_blocks(self) -> tuple[TokenBlock, ...]:
        return (self.token_block, self.gateway_block) if self.record.kind == "gateway" else (self.token_block,)

    def _saved_values(self) -> dict[QLineEdit, str]:
        record = self.record
        values = {self.account: record.account_id, self.url: record.url, self.gateway: record.gateway}
        return {each: values[each] for each in self.fields()}

    def _lay_out(self) -> None:
        self.account.setAccessibleName(self.tr("Account ID"))
        links = {
            self.account: self.link(self.tr("Find my account ID"), ACCOUNT_PAGE),
            self.url: self.guide,
            self.gateway: self.link(self.tr("Find my gateway"), GATEWAY_PAGE),
        }
        for each in self.fields():
            self.blocks[each] = FieldBlock(each.accessibleName(), links[each], each)
            self.blocks[each].label.setBuddy(each)
            self._hint_for(each)
        parts: list[QWidget] = [*self.blocks.values(), *self._secret_blocks()]
        if self.record.kind == "gateway":
            parts.append(self.by_header)
        if self.record.kind == "worker":
            parts.append(boxed(column(self.paid_plan, Label(_plan_sentence(), "small", wrap=True), gap=TINY)))
            parts.append(self.collect)
        self.lay_out(parts, (self._privacy,))

    def _connect(self) -> None:
        for block in (self.token_block, self.gateway_block):
            block.unlock_pressed.connect(self.unlock_pressed)
        self._account = self.more.add(self.tr("In your account…"), self.account_pressed.emit, "inbox")
        self._account.setVisible(False)
        self.more.add(self.tr("Rename…"), self.rename_pressed.emit, "pencil")
        self._remove = self.more.add(self.tr("Remove…"), self.remove_pressed.emit, "trash-2")
        if self.record.kind == "worker":
            self.take_down = self.more.add(self.tr("Remove from my account…"), self.take_down_pressed.emit, "unplug")
        self.more.show()
        for each in self.fields():
            each.textEdited.connect(lambda _, each=each: self._field_edited(each))
            self.watch(each)
        for box in (self.by_header, self.paid_plan):
            box.toggled.connect(self.update_buttons)
        self.collect.changed.connect(self.update_buttons)
        self.collect.changed.connect(lambda: self.checks.show_optional(self.collect.collects()))
        self.collect.jobs_wanted.connect(self.account_pressed)
        for block in self._secret_blocks():
            self.watch(block.field)
            block.edited.connect(self.update_buttons)
        self.token_block.remove_pressed.connect(lambda: self.secret_remove_pressed.emit(False))
        self.gateway_block.remove_pressed.connect(lambda: self.secret_remove_pressed.emit(True))

    def _field_edited(self, edited: QLineEdit) -> None:
        self._hint_for(edited)
        self.update_buttons()

    def _hint_for(self, each: QLineEdit) -> None:
        hints = {
            self.account: self.tr("Paste the ID, or the address of any page of your Cloudflare dashboard."),
            self.url: self.tr("It ends in workers.dev, or is a domain of your own."),
            self.gateway: self.tr("Or paste the gateway’s whole address."),
        }
        self.blocks[each].set_hint(hints[each])

    def _problem_of(self, each: QLineEdit) -> str:
        if each is self.account:
            return self.account.problem()
        try:
            if each is self.url:
                if not each.text().strip():
                    return self.tr("Enter the Worker’s address.")
                worker(each.text(), connection_id="new", title="new")
            else:
                if not each.text().strip():
                    return self.tr("Enter the gateway’s ID.")
                gateway(_SOME_ACCOUNT, each.text(), connection_id="new", title="new")
        except NotConnected as error:
            return said(error.message)
        return ""


class CloudflareCard(SavedCard):
    """The first account, which is always there; the environment may set its ID, its token, or both."""

    def __init__(self) -> None:
        self._known = AccountState()
        self._problem = NoticeBar("", "attention")
        self._service = IconLine("", "info", wrap=True)
        super().__init__(SavedConnection(CLOUDFLARE, tr("Cloudflare"), "cloudflare"))
        self.account_block = self.blocks[self.account]
        self._remove.setVisible(False)
        self.body.insertWidget(1, self._problem)
        self.body.addWidget(self._service)
        self.show_account(self._known, self.record.name)

    def fields(self) -> tuple[QLineEdit, ...]:
        return () if self._known.account_is_fixed else super().fields()

    def show_account(self, state: AccountState, name: str) -> None:
        """`name` is that of the connection."""
        self.show_record(replace(self.record, name=name, account_id=state.account))
        self._known = state
        if state.account_is_fixed:
            self.account.setText(state.account)
        self.account.setReadOnly(state.account_is_fixed)
        self._hint_for(self.account)
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
        self.show_state(CardState(state.is_ready, state))

    def can_save(self) -> bool:
        return not self._known.is_fixed

    def _hint_for(self, each: QLineEdit) -> None:
        super()._hint_for(each)
        if self._known.account_is_fixed:
            hint = self.tr("Set by {variable}; change it there.").format(variable=ACCOUNT_VARIABLE)
            self.blocks[each].set_hint(hint)


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
