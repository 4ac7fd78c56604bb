"""The bases of the cards of connections: the frame, and fields at the left with the checks of a test at the right."""

from collections.abc import Awaitable, Sequence

from PySide6.QtCore import QLocale, Qt, QTime, Signal
from PySide6.QtWidgets import QApplication, QLineEdit, QRadioButton, QSizePolicy, QWidget

from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, read_pasted
from cfbatch_gui.core.workers_ai.checking import TITLES, CheckResult, has_failed, has_passed
from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    Card,
    Flow,
    IconLabel,
    IconLine,
    Label,
    LinkButton,
    MoreButton,
    PrimaryButton,
    Role,
    StateLabel,
    boxed,
    column,
    line,
    row,
)

_LINE = 20  # pixels: the height of the choice beside it


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


_ICON = 18  # pixels
_LEAST_FIELDS, _LEAST_CHECKS = 340, 240  # pixels; with less the test is below the fields


class TestedCard(ConnectionCard):
    """`pasted` carries a `Pasted` with more than the field that it was pasted into can hold."""

    save_pressed = Signal()  # only while `problems` finds none
    test_pressed = Signal()
    remove_pressed = Signal()
    rename_pressed = Signal()
    unlock_pressed = Signal()  # of the keyring
    check_pressed = Signal()  # of what is assumed of the service
    page_wanted = Signal(str)  # an address of the dashboard
    pasted = Signal(object)

    def __init__(self, icon: str, titles: Sequence[str] = TITLES, *, optional_title: str = "") -> None:
        super().__init__(icon)
        self._working = False
        self._had_focus = False
        self._results: tuple[CheckResult, ...] = ()
        self._before: dict[QLineEdit, str] = {}
        self.save_button = PrimaryButton(self.tr("Save and test"), "check")
        self.test_button = Button(self.tr("Test"), "refresh-cw")
        self.check_button = LinkButton(self.tr("Check the service…"), "search")
        self._doing = IconLine("", "loader", "quiet", icon_role="accent", wrap=False)
        self.found = IconLine("", "circle-check", icon_role="done", wrap=True)
        self.found.hide()
        self.checks = CheckList(titles, optional_title)
        self.save_button.clicked.connect(self._try_to_save)
        self.test_button.clicked.connect(self.test_pressed)
        self.check_button.clicked.connect(self.check_pressed)

    # Implemented by each kind of card

    def is_ready(self) -> bool:
        raise NotImplementedError

    def has_news(self) -> bool:
        raise NotImplementedError

    def can_save(self) -> bool:
        return True

    def problems(self) -> list[tuple[QWidget, str]]:
        raise NotImplementedError

    def fill(self, pasted: Pasted) -> list[str]:
        raise NotImplementedError

    def set_fields_possible(self, possible: bool) -> None:
        raise NotImplementedError

    # Shared by all kinds

    def set_working(self, doing: str) -> None:
        focused = QApplication.focusWidget()
        if doing and not self._working:
            self._had_focus = focused is not None and self.isAncestorOf(focused)
        self._working = bool(doing)
        self._doing.set_line(doing)
        self._doing.setVisible(bool(doing))
        self.set_fields_possible(not doing)
        self.update_buttons()
        if not doing and self._had_focus:  # Qt moved it when its widget was disabled
            button = self.test_button if self.save_button.isHidden() else self.save_button
            button.setFocus(Qt.FocusReason.ActiveWindowFocusReason)
            self._had_focus = False

    def doing(self) -> str:
        return self._doing.text()

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
        self.show_tested()
        self.update_buttons()

    def has_failed(self) -> bool:
        return has_failed(self._results)

    def has_passed(self) -> bool:
        """Whether there was a test in which everything worked; what is asked last stays open for a gateway."""
        return has_passed(self._results)

    def show_tested(self) -> None:
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

    def take(self, pasted: Pasted) -> bool:
        names = self.fill(pasted)
        if pasted.problem:
            self.found.set_line(said(pasted.problem), "circle-x", "error")
        elif names:
            words = self.tr("Found in what you pasted: {things}.").format(things=display.listed(names))
            self.found.set_line(words, "circle-check", "done")
        self.found.setVisible(bool(pasted.problem or names))
        self.update_buttons()
        return bool(names)

    def update_buttons(self) -> None:
        saving = self.can_save() and (self.has_news() or not self.is_ready())
        self.save_button.setVisible(saving)
        self.test_button.setVisible(not saving)
        self.test_button.setText(self.tr("Test again") if self._results else self.tr("Test"))
        busy = self.tr("Wait until this is done.") if self._working else ""
        self.save_button.set_possible(busy)
        self.check_button.setVisible(not saving and not self._working)
        unready = "" if self.is_ready() else self.tr("There is nothing to test yet.")
        self.test_button.set_possible(busy or unready)

    def watch(self, field: QLineEdit) -> None:
        field.returnPressed.connect(self._enter_pressed)
        field.textChanged.connect(lambda text: None if text else self._before.pop(field, None))
        field.textEdited.connect(lambda text: self._edited(field, text))

    def lay_out(self, fields: Sequence[QWidget], foot: Sequence[QWidget]) -> None:
        form = column(
            *fields,
            self.found,
            column(
                boxed(Flow(self.save_button, self.test_button, self.check_button, self._doing, gap=MEDIUM)),
                margins=(0, TINY, 0, 0),
            ),
            None,
            gap=MEDIUM,
        )
        left = boxed(form)
        columns = Flow(left, self.checks, gap=WIDE)
        for part, least in ((left, _LEAST_FIELDS), (self.checks, _LEAST_CHECKS)):
            part.setMinimumWidth(scaled(least))
            part.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            columns.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        self.body.addSpacing(SMALL)
        self.body.addWidget(boxed(columns))
        self.body.addSpacing(LARGE - SMALL)
        self.body.addWidget(line())
        self.body.addSpacing(TINY)
        for each in foot:
            self.body.addWidget(each)

    def link(self, text: str, address: str) -> LinkButton:
        link = LinkButton(text, "external-link", tip=display.plain_tip(address))
        link.setAccessibleDescription(self.tr("Opens {address} in the browser").format(address=address))
        link.clicked.connect(lambda: self.page_wanted.emit(address))
        return link

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

    def _enter_pressed(self) -> None:
        if not self.save_button.isHidden():
            self.save_button.click()

    def _try_to_save(self) -> None:
        found = self.problems()
        if found:
            found[0][0].setFocus()
        else:
            self.save_pressed.emit()


class CheckList(Card):
    """The one of `optional_title` is shown where it was asked for, or where there is a result."""

    def __init__(self, titles: Sequence[str] = TITLES, optional_title: str = "") -> None:
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
        self._wants_optional = self._has_optional_result = self._is_tested = False
        self.reset()

    def show_optional(self, shown: bool) -> None:
        self._wants_optional = shown
        self._show_optional()

    def _show_optional(self) -> None:
        is_shown = self._wants_optional or self._has_optional_result
        self.optional.setVisible(is_shown)
        if not self._is_tested:
            words = self.tr("Four questions, free of charge. No text of yours is sent.")
            more = self.tr("Five questions, free of charge. No text of yours is sent.")
            self._foot.setText(more if is_shown else words)

    def reset(self) -> None:
        self._is_tested = self._has_optional_result = False
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
        self._is_tested, self._has_optional_result = True, bool(more)
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

    def foot(self) -> str:
        return self._foot.text()


class CheckRow(QWidget):
    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._icon = IconLabel("circle-dashed", "quiet", _ICON)
        self._word = Label("", "quiet")
        self._reason = Label("", "small", wrap=True)
        self._below = boxed(row(self._reason, margins=(_ICON + SMALL, 0, 0, 0)))
        self.setLayout(column(row(self._icon, Label(title), None, self._word), self._below, gap=2))
        self.show_state(self.tr("Not tested yet"), "circle-dashed")

    def show_result(self, result: CheckResult, *, asked: bool) -> None:
        """Show a result. Without one, `asked` distinguishes an uncertain answer from a check that was not made."""
        if result.ok:
            self.show_state(self.tr("Yes"), "circle-check", "done", result.sentence)
        elif result.ok is False and not result.is_needed:
            self.show_state(self.tr("No"), "triangle-alert", "attention", result.sentence)
        elif result.ok is False:
            self.show_state(self.tr("No"), "circle-x", "error", result.sentence)
        elif asked:
            self.show_state(self.tr("Not certain"), "triangle-alert", "attention", result.sentence)
        else:
            self.show_state(self.tr("Not asked"), "circle-dashed", "quiet", result.sentence)

    def show_state(self, word: str, icon: str, role: Role = "quiet", reason: str = "") -> None:
        self._icon.set_icon(icon, role)
        self._word.setText(word)
        self._word.set_role(role)
        self._reason.setText(said(reason))
        self._reason.set_role("small" if role == "quiet" else "body")
        self._below.setVisible(bool(reason))
        self.setAccessibleName(": ".join(part for part in (self._title, word, reason) if part))

    def state(self) -> str:
        return self._word.text()

    def reason(self) -> str:
        return self._reason.text()
