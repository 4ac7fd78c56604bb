"""The cards of connections: what is entered at the left, and what a test of it has found at the right."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QLocale, Qt, QTime
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QRadioButton, QSizePolicy, QSpinBox, QWidget

from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE, BASE_URL_VARIABLE
from cfbatch_gui.core.connections.credentials import CLOUDFLARE
from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, check_secret, read_pasted
from cfbatch_gui.core.workers_ai.checking import COLLECTING_TITLE, CheckResult, has_failed, has_passed, titles_of
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind, connection_of
from cfbatch_gui.ui import display
from cfbatch_gui.ui.connections.connection_fields import (
    GATEWAY_PAGE,
    TOKEN_PAGE,
    AccountBlock,
    FieldBlock,
    SecretState,
    StepRow,
    TokenBlock,
    has_problem,
    page_link,
)
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
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr

if TYPE_CHECKING:
    from cfbatch_gui.ui.connections.connection_page import ConnectionPage

_LINE = 20  # pixels: the height of the choice beside it
_LEAST_FIELDS, _LEAST_CHECKS = 340, 240  # pixels; with less the test is below the fields
_INDENT = 24  # pixels to the text of a check box
_MOST_DAYS = 365
_LONGEST = 4_000  # characters; enough for a whole curl line
_SOME_ACCOUNT = "0" * 32  # a stand-in while only the form of another field is checked
_ICONS = {"cloudflare": "cloud", "worker": "layers", "gateway": "link"}
_NOT_ASKED = CheckResult("", None, "")
_FIELDS = {"cloudflare": ("account_id",), "worker": ("url",), "gateway": ("account_id", "gateway")}


class ConnectionCard(Card):
    def __init__(self, icon: str) -> None:
        super().__init__()
        self._title = Label("", "part")
        self._sentence = Label("", "quiet", wrap=True)
        self.state = StateLabel()
        self.mark = StateLabel(self.tr("Batches unconfirmed by Cloudflare"), "triangle-alert", "attention")
        self.choice = QRadioButton(self.tr("Use for new jobs"))
        self.more = MoreButton("")
        self.more.setStyleSheet(f"min-height: {_LINE}px; max-height: {_LINE}px")
        for each in (self.state, self.mark, self.more):
            each.hide()
        head = boxed(Flow(self._title, self.state, self.mark, gap=MEDIUM))
        texts = column(head, self._sentence, gap=TINY)
        right = column(row(self.choice, self.more, gap=TINY), None)
        self.body.addLayout(row(column(IconLabel(icon, "accent", 24), None), (texts, 1), right, gap=MEDIUM))

    def set_words(self, title: str, sentence: str, choice_name: str) -> None:
        self._title.setText(title)
        self._sentence.setText(sentence)
        self.choice.setAccessibleName(choice_name)
        more = self.tr("More about {name}").format(name=title)
        self.more.setAccessibleName(more)
        self.more.setToolTip(display.plain_tip(more))

    def title(self) -> str:
        return self._title.text()


class CollectBlock(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.switch = CheckBox(self.tr("Collect answers in my account"))
        about = self.tr(
            "Your account asks for the answers and keeps them until they are fetched, so this computer may be off. The"
            " Worker needs its collecting room and storage (R2)."
        )
        self.days = _Days()
        self.days.setRange(0, _MOST_DAYS)
        self.days.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it
        label = Sentence(self.tr("Days that answers stay in your account once they are here"))
        label.setBuddy(self.days)
        self.days.setAccessibleName(label.text())
        keeping = boxed(Flow(label, self.days))
        keeping.hide()
        below = column(Label(about, "small", wrap=True), keeping)
        below.setContentsMargins(scaled(_INDENT), 0, 0, 0)
        self.setLayout(column(self.switch, boxed(below), gap=TINY))
        self.switch.toggled.connect(keeping.setVisible)


class _Days(QSpinBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # a page that scrolls under the mouse must not change it


class SavedCard(ConnectionCard):
    """Shows a `SavedConnection`, whose id is "" until it was saved, with its secrets; the page does what is wanted."""

    def __init__(self, record: SavedConnection, page: "ConnectionPage") -> None:
        super().__init__(_ICONS[record.kind])
        self.record, self._page = record, page
        self._is_ready, self._token, self._account_is_fixed = False, SecretState(), False
        self._is_worker, self._is_gateway = record.kind == "worker", record.kind == "gateway"
        self._is_working = self._had_focus = False
        self._results: tuple[CheckResult, ...] = ()
        self._before: dict[QLineEdit, str] = {}
        self._problem = NoticeBar()
        self._make_fields()
        self.found = Saying("circle-check", "done")
        self.save_button = PrimaryButton(self.tr("Save and test"), "check", self._try_to_save)
        self.test_button = Button(self.tr("Test"), "refresh-cw", partial(page.start, self, page.test))
        self.check_button = LinkButton(
            self.tr("Check the service…"), "search", lambda: page.check_service(self.record.id)
        )
        self._doing = Saying("loader", "accent", "quiet", wrap=False)
        collecting = (COLLECTING_TITLE,) if self._is_worker else ()
        self.checks = CheckList((*titles_of(ConnectionKind(record.kind)), *collecting))
        self._privacy = IconLine(_privacy(record.kind), "info")
        self.mark.setVisible(self._is_gateway)
        self._lay_out()
        self._add_menu()
        self.show_record(record)
        self.set_working("")

    # Making

    def _make_fields(self) -> None:
        self.url, self.gateway = QLineEdit(), QLineEdit()
        self.guide = LinkButton(self.tr("Save the Worker…"), "save", partial(self._page.show_guide, self))
        self.url.setPlaceholderText("https://batch.example.workers.dev")
        self.gateway.setPlaceholderText(self.tr("Its name in the dashboard"))
        for field in (self.url, self.gateway):
            field.setMaxLength(_LONGEST)
        make: dict[str, Callable[[], FieldBlock]] = {
            "account_id": lambda: AccountBlock(self._page.open_page),
            "url": lambda: FieldBlock(
                *(self.tr("Address"), self.guide, self.url),
                self.tr("It ends in workers.dev, or is a domain of your own."),
                check=lambda text: connection_of(SavedConnection("", "", "worker", url=text)),
                missing=self.tr("Enter the Worker’s address."),
            ),
            "gateway": lambda: FieldBlock(
                self.tr("Gateway ID"),
                page_link(self.tr("Find my gateway"), GATEWAY_PAGE, self._page.open_page),
                self.gateway,
                self.tr("Or paste the gateway’s whole address."),
                check=lambda text: connection_of(
                    SavedConnection("", "", "gateway", account_id=_SOME_ACCOUNT, gateway=text)
                ),
                missing=self.tr("Enter the gateway’s ID."),
            ),
        }
        self.blocks = {name: make[name]() for name in _FIELDS[self.record.kind]}
        if "account_id" in self.blocks:
            self.account = self.blocks["account_id"].field
        if self._is_worker:
            placeholder = self.tr("The Worker’s SHARED_SECRET")
            self.token_block = TokenBlock(self.tr("Secret"), self.tr("the secret"), placeholder, check=check_secret)
        else:
            link = page_link(self.tr("Create a token"), TOKEN_PAGE, self._page.open_page)
            words = self.tr("API token"), self.tr("the token"), self.tr("Paste the token")
            self.token_block = TokenBlock(*words, link, is_needed=True)
        self.gateway_block = TokenBlock(
            self.tr("Gateway token, if it asks for one"),
            self.tr("the gateway token"),
            self.tr("Only for an authenticated gateway"),
            check=check_secret,
        )
        self._secrets = (self.token_block, self.gateway_block) if self._is_gateway else (self.token_block,)
        self.by_header = CheckBox(self.tr("Use Cloudflare’s address with a header"))
        self.paid_plan = CheckBox(self.tr("It is on the Workers Paid plan"))
        self.collect = CollectBlock()
        boxes = {"by_header": self.by_header, "paid_plan": self.paid_plan, "collects": self.collect.switch}
        self._values: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
            **{name: (partial(_typed_in, block.field), block.field.setText) for name, block in self.blocks.items()},
            **{name: (box.isChecked, box.setChecked) for name, box in boxes.items()},
            "keep_days": (self.collect.days.value, self.collect.days.setValue),
        }
        for name, (_, show) in self._values.items():
            show(getattr(self.record, name))
        for block, forget in ((self.token_block, self._page.forget), (self.gateway_block, self._page.forget_gateway)):
            block.unlock.clicked.connect(self._page.unlock)
            block.remove.clicked.connect(lambda _, forget=forget: self._page.start(self, forget))
            block.edited.connect(self.update_buttons)
        for each in (*self.blocks.values(), *self._secrets):
            self._watch(each.field)
        for changed in (*(box.toggled for box in boxes.values()), self.collect.days.valueChanged):
            changed.connect(self.update_buttons)

    def _lay_out(self) -> None:
        about = self.tr(
            "On the Free plan a Worker has 10 ms for each batch, so batches are kept under 1 MB. On the Paid plan they"
            " may have 10 MB."
        )
        fields: list[QWidget] = [*self.blocks.values(), *self._secrets]
        if self._is_gateway:
            fields.append(self.by_header)
        if self._is_worker:
            fields += [boxed(column(self.paid_plan, Label(about, "small", wrap=True), gap=TINY)), self.collect]
        buttons = Flow(self.save_button, self.test_button, self.check_button, self._doing, gap=MEDIUM)
        self._fields = boxed(column(*fields, gap=MEDIUM))
        below = column(boxed(buttons), margins=(0, TINY, 0, 0))
        left = boxed(column(self._fields, self.found, below, None, gap=MEDIUM))
        columns = Flow(left, self.checks, gap=WIDE)
        for part, least in ((left, _LEAST_FIELDS), (self.checks, _LEAST_CHECKS)):
            part.setMinimumWidth(scaled(least))
            part.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            columns.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        rest = (boxed(columns), LARGE - SMALL, line(), TINY, self._privacy)
        self.body.addLayout(column(self._problem, SMALL, *rest, gap=SMALL))

    def _add_menu(self) -> None:
        page = self._page
        for text, icon, act, is_there in (
            (self.tr("In your account…"), "inbox", lambda: page.account_wanted.emit(self.record.id), self._is_worker),
            (self.tr("Rename…"), "pencil", partial(page.start, self, page.rename), True),
            (self.tr("Remove…"), "trash-2", partial(page.start, self, page.remove), self.record.id != CLOUDFLARE),
            (self.tr("Remove from my account…"), "unplug", partial(page.take_down, self), self._is_worker),
        ):
            if is_there:
                self.more.add(text, act, icon)
        self.more.show()

    def _watch(self, field: QLineEdit) -> None:
        field.returnPressed.connect(lambda: None if self.save_button.isHidden() else self.save_button.click())
        field.textChanged.connect(lambda text: None if text else self._before.pop(field, None))
        field.textEdited.connect(lambda text: self._edited(field, text))

    # What is shown

    def show_record(self, record: SavedConnection) -> None:
        before, self.record = self.record, record
        for name, (value, show) in self._values.items():
            if value() in ("", getattr(before, name)):
                show(getattr(record, name))
        self.set_words(record.name, kind_sentence(record), self.tr("Use {name} for new jobs").format(name=record.name))
        if self._is_worker:
            self.more.menu().actions()[0].setVisible(bool(record.id))
        self.update_buttons()

    def show_state(self, token: SecretState, gateway_token: SecretState, *, is_ready: bool) -> None:
        self._is_ready, self._token = is_ready, token
        if self.record.id == CLOUDFLARE:
            self._show_environment()
        self.token_block.show_state(token)
        self.gateway_block.show_state(gateway_token)
        self._show_tested()
        why_not = "" if is_ready else self.tr("Save and test it first.")
        self.choice.setEnabled(is_ready)
        self.choice.setToolTip(why_not)
        self.choice.setAccessibleDescription(why_not)
        self.update_buttons()

    def _show_environment(self) -> None:
        """What the environment sets of the first account instead of the settings."""
        book, address, problem = self._page.program.address_book, "", ""
        held = book.held_by_environment()
        self._account_is_fixed = ACCOUNT_VARIABLE in held
        try:
            address = book.connection(CLOUDFLARE).base_url if BASE_URL_VARIABLE in held else ""
        except NotConnected as error:
            problem = said(error.message) if book.account_id else ""
        self._problem.say(problem)
        where = self.tr("Requests go to {address}, as {variable} says.")
        where = where.format(address=address, variable=BASE_URL_VARIABLE)
        self._privacy.set_line(where if address else _privacy(self.record.kind))
        if self._account_is_fixed:
            self.account.setText(self.record.account_id)
            self.account.setReadOnly(True)
            fixed = self.tr("Set by {variable}; change it there.").format(variable=ACCOUNT_VARIABLE)
            self.blocks["account_id"].set_hint(fixed)
        self.more.setVisible(bool(self.record.account_id) and not self._account_is_fixed)

    def is_ready(self) -> bool:
        return self._is_ready

    def typed(self) -> SavedConnection:
        return replace(self.record, **{name: value() for name, (value, _) in self._values.items()})

    def has_news(self) -> bool:
        return (
            not self.record.id
            or self.typed() != self.record
            or bool(self.gateway_block.field.text())
            or (bool(self.token_block.field.text()) if self._is_worker else self.token_block.takes_text())
        )

    def first_field(self) -> QLineEdit:
        return self.blocks[_FIELDS[self.record.kind][0]].field

    def forget_typed(self) -> None:
        """Also of the fields: the record holds the cleaned form of what was pasted into them."""
        for secret in self._secrets:
            secret.forget_typed()
        for block in self.blocks.values():
            block.field.clear()

    def update_buttons(self) -> None:
        is_fixed = self._account_is_fixed and self._token.is_fixed
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
        self._fields.setEnabled(not doing)
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
        self.checks.show_results(results)
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
                self.blocks[name].field.setText(value)
                names.append(words)
        if pasted.token and not self._token.is_fixed:
            self.token_block.put(pasted.token)
            names.append(self.tr("a secret") if self._is_worker else self.tr("an API token"))
        if pasted.problem:
            self.found.set_line(said(pasted.problem), "circle-x", "error")
        elif names:
            words = self.tr("Found in what you pasted: {things}.").format(things=figures.listed(names))
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
            self._page.route(found, self)
        self._before[field] = field.text()
        self.update_buttons()

    def _try_to_save(self) -> None:
        if not has_problem(*self.blocks.values(), *self._secrets):
            self._page.start(self, self._page.save)


def _typed_in(field: QLineEdit) -> str:
    return field.text().strip()


class CheckList(Card):
    def __init__(self, titles: Sequence[str]) -> None:
        self.rows = tuple(StepRow(said(title)) for title in titles)
        self._foot = Label("", "small", wrap=True)
        super().__init__(Label(self.tr("Test"), "strong"), *self.rows, None, self._foot, inset=True, gap=MEDIUM)
        self.setAccessibleName(self.tr("Test of the connection"))
        self.show_results(())

    def show_running(self) -> None:
        for each in self.rows:
            each.show_step("loader", "accent", self.tr("Asking…"))

    def show_results(self, results: Sequence[CheckResult]) -> None:
        """None is not tested yet. The last row of a Worker has no result where nobody asked whether it collects."""
        if not results:
            self._foot.setText(self.tr("Free of charge. No text of yours is sent."))
            for each in self.rows:
                each.show_step("circle-dashed", "quiet", self.tr("Not tested yet"))
            return
        asked = True
        for each, result in zip(self.rows, (*results, _NOT_ASKED), strict=False):
            was_asked = result is not _NOT_ASKED and (asked or not result.is_needed)
            icon, role, word = _result_words(result, asked=was_asked)
            each.show_step(icon, role, word, said(result.sentence))
            each.note.set_role("small" if role == "quiet" else "body")
            asked = asked and result.ok is True
        now = QLocale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        self._foot.setText(self.tr("Tested at {time}, free of charge.").format(time=now))


def _result_words(result: CheckResult, *, asked: bool) -> tuple[str, Role, str]:
    """The icon, its colour and the word; without a result, `asked` tells an uncertain answer from no question."""
    if result.ok:
        return "circle-check", "done", tr("Yes")
    if result.ok is False:
        return ("circle-x", "error", tr("No")) if result.is_needed else ("triangle-alert", "attention", tr("No"))
    return ("triangle-alert", "attention", tr("Not certain")) if asked else ("circle-dashed", "quiet", tr("Not asked"))


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
