"""The editors below a file's name: columns joined to one text, long texts cut into parts, candidates chosen."""

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QButtonGroup, QLineEdit, QRadioButton, QSpinBox

from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind, Mapping, Role, Split
from cfbatch_gui.core.inputs.layouts import read_template
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.ui.display import number, one_line
from cfbatch_gui.ui.inputs.draft_reading import DraftState, OpenFile
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import Card, ElidedLabel, Flow, Label, LinkButton, MenuButton, boxed, column, row

_MARGINS = (MEDIUM, SMALL, MEDIUM, SMALL)
_SHOWN = 2  # rows
_PAUSE = 350  # milliseconds after a key until the file is read again
_TITLES = ("title", "titel", "titre", "título", "titolo", "name", "headline", "heading", "subject", "betreff", "标题")


class TemplateEditor(Card):
    """Emits a valid template shortly after the last key, or "" for a single column."""

    template_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(inset=True, margins=_MARGINS)
        self._file: OpenFile | None = None
        self._used = ""
        self.field = QLineEdit()
        self.field.setAccessibleName(self.tr("Template for the text"))
        self.field.setPlaceholderText(self.tr("{title}. {body}"))
        self.field.textEdited.connect(self._edited)
        self.field.returnPressed.connect(self._choose)
        self.insert = MenuButton(self.tr("Insert a column"))
        self.insert.menu().aboutToShow.connect(self._fill_menu)
        self.end_link = LinkButton(self.tr("Use one column"), on_click=lambda: self.template_chosen.emit(""))
        self.results = tuple(ElidedLabel("", "body") for _ in range(_SHOWN))
        self._numbers = tuple(Label("", "quiet") for _ in range(_SHOWN))
        self.wrong = Label("", "attention", wrap=True)
        self.wrong.hide()
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE)
        self._timer.timeout.connect(self._choose)
        title = Label(self.tr("Text of each row"), "strong")
        title.setBuddy(self.field)
        self.body.addLayout(row((boxed(Flow(title, self.field, self.insert)), 1), self.end_link))
        lines = column(gap=TINY, margins=(0, SMALL, 0, 0))
        for label, result in zip(self._numbers, self.results, strict=True):
            label.setFixedWidth(scaled(64))
            lines.addLayout(row(label, (result, 1)))
        self.body.addLayout(lines)
        self.body.addWidget(self.wrong)

    def show_file(self, file: OpenFile, template: str) -> None:
        """What is being typed stays."""
        is_other = self._file is None or self._file.source.columns != file.source.columns
        self._file = file
        if is_other or template != self._used:
            self._used = template
            if template != self.field.text():
                self._timer.stop()
                self.field.setText(template)
        self._show_results()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()  # the field has handled it
        else:
            super().keyPressEvent(event)

    def _edited(self) -> None:
        self._show_results()
        self._timer.start()

    def _choose(self) -> None:
        self._timer.stop()
        text = self.field.text()
        if self._file is not None and text != self._used and self.wrong.isHidden():
            self._used = text
            self.template_chosen.emit(text)

    def _show_results(self) -> None:
        columns = self._file.source.columns if self._file else ()
        found = read_template(self.field.text(), columns)
        self.wrong.setText(found if isinstance(found, str) else "")
        self.wrong.setVisible(isinstance(found, str))
        sample = [each for each in self._file.sample if not each.problem][:_SHOWN] if self._file else []
        for index, (label, result) in enumerate(zip(self._numbers, self.results, strict=True)):
            is_shown = not isinstance(found, str) and index < len(sample)
            label.setVisible(is_shown)
            result.setVisible(is_shown)
            if not isinstance(found, str) and index < len(sample):
                label.setText(self.tr("Row {n}").format(n=number(sample[index].number)))
                text = one_line(found.render(sample[index].cells))
                result.setText(text or self.tr("nothing: every column of the template is empty here"))
                result.set_role("body" if text else "quiet")

    def _fill_menu(self) -> None:
        menu = self.insert.menu()
        menu.clear()
        for name in self._file.source.columns[:60] if self._file else ():
            self.insert.add(one_line(name, 60).replace("&", "&&"), self._inserting(name))

    def _inserting(self, name: str) -> Callable[[], None]:
        def insert() -> None:
            self.field.insert("{" + name + "}")
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
            self._edited()

        return insert


def proposed_template(mapping: Mapping, columns: tuple[str, ...], column: int, *, second: bool) -> str:
    """The current text column, a title column if there is one, and `column` (an index, -1 for none), in file order."""
    roles = mapping.second_roles if second else mapping.roles
    chosen = [index for index, role in enumerate(roles) if role in (Role.TEXT, Role.CONTEXT)][:1]
    free = [index for index, role in enumerate(roles) if role in (Role.KEEP, Role.IGNORE)]
    chosen += [index for index in free if columns[index].strip().casefold() in _TITLES][:1]
    if 0 <= column < len(columns):
        chosen.append(column)
    names = [columns[index] for index in sorted(set(chosen)) if _is_usable(columns[index])]
    return ". ".join("{" + name + "}" for name in names or [each for each in columns[:2] if _is_usable(each)])


def _is_usable(name: str) -> bool:
    return not set(name) & {"{", "}"}


DEFAULT_SPLIT = Split(400, 40)
_LEAST, _MOST = 16, 8_192  # tokens
_SPLIT_PAUSE = 500  # milliseconds after a change until the file is read again


class SplitEditor(Card):
    """Emits a Split shortly after the last change, or None for whole texts."""

    split_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(inset=True, margins=_MARGINS)
        self._used: Split | None = None
        self.tokens = _spin(_LEAST, _MOST, 50, self.tr("Tokens of a part"))
        self.overlap = _spin(0, _MOST // 2, 10, self.tr("Tokens that two parts share"))
        self.end_link = LinkButton(self.tr("Do not cut"), on_click=lambda: self.split_chosen.emit(None))
        self.about = Label("", "quiet", wrap=True)
        self._timer = QTimer(self, singleShot=True, interval=_SPLIT_PAUSE)
        self._timer.timeout.connect(self._choose)
        for field in (self.tokens, self.overlap):
            field.valueChanged.connect(self._edited)
        sentence = Flow(
            Label(self.tr("Cut texts of more than"), "strong"),
            self.tokens,
            Label(self.tr("tokens into parts that overlap by")),
            boxed(row(self.overlap, Label(self.tr("tokens")))),
        )
        self.body.addLayout(row((boxed(sentence), 1), self.end_link))
        self.body.addWidget(self.about)

    def split(self) -> Split:
        return Split(self.tokens.value(), min(self.overlap.value(), self.tokens.value() // 2))

    def show_split(self, split: Split, kind: Kind) -> None:
        if split != self._used:
            self._used = split
            if split != self.split():
                for field, value in ((self.tokens, split.tokens), (self.overlap, split.overlap)):
                    field.blockSignals(True)
                    field.setValue(value)
                    field.blockSignals(False)
        self.about.setText(
            self.tr("A text counts as its best part.")
            if kind is Kind.RANK
            else self.tr("Each part gets a vector of its own.")
        )

    def _edited(self) -> None:
        self.overlap.setMaximum(self.tokens.value() // 2)
        self._timer.start()

    def _choose(self) -> None:
        if self.split() != self._used:
            self._used = self.split()
            self.split_chosen.emit(self._used)


def whole_reading(metadata: ModelMetadata) -> Split:
    return Split(metadata.max_tokens * 15 // 16, metadata.max_tokens // 16)


def _spin(least: int, most: int, step: int, name: str) -> QSpinBox:
    field = QSpinBox()
    field.setRange(least, most)
    field.setSingleStep(step)
    field.setAccessibleName(name)
    field.setKeyboardTracking(False)
    field.setFixedWidth(scaled(84))
    field.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it
    return field


class CandidateChoice(Card):
    rule_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(inset=True, margins=_MARGINS)
        self._rules: dict[CandidatePool, CandidateRule] = {}
        self.question = Label(
            self.tr("No file says which texts are the candidates of each query. Take:"), "strong", wrap=True
        )
        self.body.addWidget(self.question)
        self._group = QButtonGroup(self)
        self.choices: dict[CandidatePool, QRadioButton] = {}
        for pool in CandidatePool:
            choice = self.choices[pool] = QRadioButton()
            self._group.addButton(choice)
            choice.clicked.connect(lambda _checked=False, pool=pool: self.rule_chosen.emit(self._rules[pool]))
            self.body.addWidget(choice)

    def show_state(self, state: DraftState) -> None:
        rule = state.file.source.candidates if state.file else None
        self.setVisible(rule is not None)
        if rule is None:
            return
        for pool, choice in self.choices.items():
            self._rules[pool] = rule if pool is rule.pool else CandidateRule(pool)
            choice.setText(self._words(self._rules[pool]))
            choice.setChecked(pool is rule.pool)

    def _words(self, rule: CandidateRule) -> str:
        if rule.pool is CandidatePool.JUDGED:
            return self.tr("Judged texts only")
        if rule.pool is CandidatePool.CORPUS:
            return self.tr("The whole corpus")
        return self.tr("A sample of {n} for each query").format(n=number(rule.size))
