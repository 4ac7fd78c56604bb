"""The card of an added connection: another account, a Worker of the user's own, or an AI Gateway."""

from dataclasses import dataclass, field, replace

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, check_form, check_secret
from cfbatch_gui.core.workers_ai.checking import COLLECTING_TITLE, titles_of
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind, gateway, worker
from cfbatch_gui.ui.connections import dashboard
from cfbatch_gui.ui.connections.account_state import AccountState
from cfbatch_gui.ui.connections.collect_block import CollectBlock
from cfbatch_gui.ui.connections.connection_fields import (
    AccountField,
    FieldBlock,
    gateway_token_words,
    token_words,
    worker_secret_words,
)
from cfbatch_gui.ui.connections.tested_card import TestedCard
from cfbatch_gui.ui.connections.token_block import TokenBlock
from cfbatch_gui.ui.theme import TINY
from cfbatch_gui.ui.widgets import CheckBox, IconLine, Label, LinkButton, boxed, column

_ICONS = {"cloudflare": "cloud", "worker": "layers", "gateway": "link"}
_LONGEST = 4_000  # characters; enough for a whole curl line
_SOME_ACCOUNT = "0" * 32  # a stand-in while only the form of another field is checked


@dataclass(frozen=True, slots=True)
class CardState:
    """What is known of a saved connection; `token` and `gateway_token` say where its secrets are kept."""

    is_ready: bool = False
    token: AccountState = field(default_factory=AccountState)
    gateway_token: AccountState = field(default_factory=AccountState)


class SavedCard(TestedCard):
    """Shows a `SavedConnection`, whose id is "" until it was saved, and a `CardState`."""

    secret_remove_pressed = Signal(bool)  # True for the gateway's own token
    guide_pressed = Signal()
    account_pressed = Signal()  # for the list of what is in the user's account
    take_down_pressed = Signal()  # of the Worker in the account

    def __init__(self, record: SavedConnection, parent: QWidget | None = None) -> None:
        super().__init__(
            _ICONS[record.kind], titles_of(ConnectionKind(record.kind)), parent, optional_title=COLLECTING_TITLE
        )
        self.record = record
        self._state = CardState()
        self.account = AccountField()
        self.url = self._text_field(self.tr("Address"), "https://batch.example.workers.dev")
        self.gateway = self._text_field(self.tr("Gateway ID"), self.tr("Its name in the dashboard"))
        self.by_header = CheckBox(self.tr("Use Cloudflare’s address with a header"))
        self.by_header.setChecked(record.by_header)
        self.paid_plan = CheckBox(self.tr("It is on the Workers Paid plan"))
        self.paid_plan.setChecked(record.paid_plan)
        self.collect = CollectBlock(record)
        self.guide = LinkButton(self.tr("Save the Worker…"), "save")
        self.guide.clicked.connect(self.guide_pressed)
        is_worker = record.kind == "worker"
        secret_link = self._no_link() if is_worker else self.link(self.tr("Create a token"), dashboard.TOKEN_PAGE)
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
        """The fields of its kind without those for secrets."""
        return {
            "worker": (self.url,),
            "gateway": (self.account, self.gateway),
            "cloudflare": (self.account,),
        }[self.record.kind]

    def show_record(self, record: SavedConnection) -> None:
        """Show a saved record; fields with text that is not saved keep it."""
        before, self.record = self._saved_values(), record
        for each, value in self._saved_values().items():
            if each.text().strip() in ("", before[each]):
                each.setText(value)
        self.set_words(
            record.name, kind_sentence(record.kind), self.tr("Use {name} for new jobs").format(name=record.name)
        )
        self.collect.show_record(record)
        self.checks.show_optional(self.collect.collects())
        if record.kind == "worker":
            self._account.setVisible(bool(record.id))
        if record.kind == "gateway":
            self.mark.set_state(self.tr("Batches unconfirmed by Cloudflare"), "triangle-alert", "attention")
            self.mark.show()
        self.update_buttons()

    def show_state(self, state: CardState) -> None:
        """Show whether it is ready, and where its secrets are kept."""
        self._state = state
        self.token_block.show_state(state.token)
        self.gateway_block.show_state(state.gateway_token)
        self.show_tested()
        self.set_choice_possible("" if self.is_ready() else self.tr("Save and test it first."))
        self.update_buttons()

    def typed(self) -> SavedConnection:
        """The record with the contents of the fields."""
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
        if self.record.kind != "worker" and pasted.account_id:
            self.account.setText(pasted.account_id)
            names.append(self.tr("the account ID"))
        if self.record.kind == "gateway" and pasted.gateway:
            self.gateway.setText(pasted.gateway)
            names.append(self.tr("the gateway"))
        if pasted.token:
            self.token_block.put(pasted.token)
            names.append(self.tr("a secret") if self.record.kind == "worker" else self.tr("an API token"))
        for each in self.fields():
            self._hint_for(each)
        return names

    def forget_typed(self) -> None:
        """Empty the fields of the secrets, after they were saved."""
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
            self.account: self.link(self.tr("Find my account ID"), dashboard.ACCOUNT_PAGE),
            self.url: self.guide,
            self.gateway: self.link(self.tr("Find my gateway"), dashboard.GATEWAY_PAGE),
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
        self.lay_out(parts, (IconLine(_privacy(self.record.kind), "info"),))

    def _connect(self) -> None:
        for block in (self.token_block, self.gateway_block):
            block.unlock_pressed.connect(self.unlock_pressed)
        self._account = self.more.add(self.tr("In your account…"), self.account_pressed.emit, "inbox")
        self._account.setVisible(False)
        self.more.add(self.tr("Rename…"), self.rename_pressed.emit, "pencil")
        self.more.add(self.tr("Remove…"), self.remove_pressed.emit, "trash-2")
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


def kind_sentence(kind: str) -> str:
    """The sentence that describes a kind of connection."""
    return {
        "cloudflare": _tr("Another account, at Cloudflare’s prices."),
        "worker": _tr("A Worker of your own in front of Workers AI: the token stays at Cloudflare, you keep a secret."),
        "gateway": _tr(
            "Your account through an AI Gateway, for its logs and limits. Cloudflare does not say that batches go"
            " through a gateway; try a small job first."
        ),
    }[kind]


def _plan_sentence() -> str:
    return _tr(
        "On the Free plan a Worker has 10 ms for each batch, so batches are kept under 1 MB. On the Paid plan they may"
        " have 10 MB."
    )


def _privacy(kind: str) -> str:
    if kind == "worker":
        return _tr(
            "The secret is sent to your Worker alone; texts go to it and to Workers AI, only when you press send."
        )
    if kind == "gateway":
        return _tr(
            "Tokens and texts go to Cloudflare alone. A gateway keeps what passes through it, if its logs are on."
        )
    return _tr("The token is sent to Cloudflare alone; texts too, and only when you press send.")


def _tr(text: str) -> str:
    return QCoreApplication.translate("connections", text)
