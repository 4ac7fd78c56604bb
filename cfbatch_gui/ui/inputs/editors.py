"""The editors of how a file is read: columns joined to one text, long texts in parts, candidates, its encoding."""

from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import QLineEdit, QRadioButton, QSpinBox, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.encodings import CHOICES, shown_name
from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind, Mapping, Role, Split
from cfbatch_gui.core.inputs.layouts import read_template
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui.display import number, one_line
from cfbatch_gui.ui.inputs.drafts import Drafts, DraftState, OpenFile
from cfbatch_gui.ui.inputs.preview_table import PreviewTable
from cfbatch_gui.ui.theme import MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    Card,
    Choice,
    Flow,
    IconLine,
    Label,
    LabelGrid,
    LinkButton,
    MenuButton,
    PrimaryButton,
    boxed,
    column,
    row,
)

_MARGINS = (MEDIUM, SMALL, MEDIUM, SMALL)
_SHOWN = 2  # rows
_PAUSE = 350  # milliseconds after a key until the file is read again
_TITLES = ("title", "titel", "titre", "título", "titolo", "name", "headline", "heading", "subject", "betreff", "标题")


class TemplateEditor(Card):
    """Takes a valid template shortly after the last key, or "" for a single column."""

    def __init__(self, drafts: Drafts) -> None:
        super().__init__(inset=True, margins=_MARGINS)
        self._drafts = drafts
        self._columns: tuple[str, ...] = ()
        self._used = ""
        self.field = QLineEdit()
        self.field.setAccessibleName(self.tr("Template for the text"))
        self.field.setPlaceholderText(self.tr("{title}. {body}"))
        self.field.textEdited.connect(self._edited)
        self.field.returnPressed.connect(self._choose)
        self.insert = MenuButton(self.tr("Insert a column"))
        self.insert.menu().aboutToShow.connect(self._fill_menu)
        self.end_link = LinkButton(self.tr("Use one column"), on_click=lambda: drafts.choose_template(""))
        self.results = LabelGrid("quiet", "body", stretches=(0, 1), elided=1)
        self.wrong = Label("", "attention", wrap=True)
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE)
        self._timer.timeout.connect(self._choose)
        title = Label(self.tr("Text of each row"), "strong")
        title.setBuddy(self.field)
        self.body.addLayout(row((boxed(Flow(title, self.field, self.insert)), 1), self.end_link))
        self.body.addWidget(self.results)
        self.body.addWidget(self.wrong)

    def show_state(self, state: DraftState) -> None:
        """What is being typed stays."""
        file, template = state.texts, state.mapping.template if state.mapping else ""
        self.setVisible(bool(template) and file is not None)
        if file is None or not template:
            return
        if (file.columns, template) != (self._columns, self._used):
            self._columns, self._used = file.columns, template
            if template != self.field.text():
                self._timer.stop()
                self.field.setText(template)
        self._show_results()

    def _edited(self) -> None:
        self._show_results()
        self._timer.start()

    def _choose(self) -> None:
        self._timer.stop()
        text = self.field.text()
        if text != self._used and self.wrong.isHidden():
            self._used = text
            self._drafts.choose_template(text)

    def _show_results(self) -> None:
        file, found = self._drafts.shown.texts, read_template(self.field.text(), self._columns)
        self.wrong.setText(found if isinstance(found, str) else "")
        self.wrong.setVisible(isinstance(found, str))
        lines = []
        if file is not None and not isinstance(found, str):
            nothing = self.tr("nothing: every column of the template is empty here")
            for each in [each for each in file.sample if not each.problem][:_SHOWN]:
                words = self.tr("Row {n}").format(n=number(each.number))
                lines.append((words, one_line(found.render(each.cells)) or nothing))
        self.results.show_lines(lines)

    def _fill_menu(self) -> None:
        self.insert.menu().clear()
        for name in self._columns[:60]:
            self.insert.add(one_line(name, 60).replace("&", "&&"), partial(self._insert, name))

    def _insert(self, name: str) -> None:
        self.field.insert("{" + name + "}")
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._edited()


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


class SplitEditor(Card):
    def __init__(self, drafts: Drafts) -> None:
        super().__init__(inset=True, margins=_MARGINS)
        self.tokens = _spin(_LEAST, _MOST, 50, self.tr("Tokens of a part"))
        self.overlap = _spin(0, _MOST // 2, 10, self.tr("Tokens that two parts share"))
        self.end_link = LinkButton(self.tr("Do not cut"), on_click=lambda: drafts.choose_mapping(split=None))
        self.about = Label("", "quiet", wrap=True)
        for field in (self.tokens, self.overlap):
            field.valueChanged.connect(lambda _: drafts.choose_mapping(split=self.split()))
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

    def show_state(self, state: DraftState) -> None:
        split = state.mapping.split if state.mapping else None
        self.setVisible(split is not None and state.file is not None)
        if split is not None:
            with QSignalBlocker(self.tokens), QSignalBlocker(self.overlap):
                self.overlap.setMaximum(split.tokens // 2)
                self.tokens.setValue(split.tokens)
                self.overlap.setValue(split.overlap)
        best, own = self.tr("A text counts as its best part."), self.tr("Each part gets a vector of its own.")
        self.about.setText(best if state.kind is Kind.RANK else own)


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
    def __init__(self, drafts: Drafts) -> None:
        super().__init__(inset=True, margins=_MARGINS)
        self._rules: dict[CandidatePool, CandidateRule] = {}
        question = self.tr("No file says which texts are the candidates of each query. Take:")
        self.body.addWidget(Label(question, "strong", wrap=True))
        self.choices: dict[CandidatePool, QRadioButton] = {}
        for pool in CandidatePool:
            choice = self.choices[pool] = QRadioButton()
            choice.clicked.connect(lambda _checked=False, pool=pool: drafts.choose_candidates(self._rules[pool]))
            self.body.addWidget(choice)

    def show_state(self, state: DraftState) -> None:
        rule = state.file.source.candidates if state.file else None
        self.setVisible(rule is not None)
        if rule is None:
            return
        for pool, choice in self.choices.items():
            self._rules[pool] = rule if pool is rule.pool else CandidateRule(pool)
            sample = self.tr("A sample of {n} for each query").format(n=number(self._rules[pool].size))
            words = {
                CandidatePool.JUDGED: self.tr("Judged texts only"),
                CandidatePool.CORPUS: self.tr("The whole corpus"),
            }
            choice.setText(words.get(pool, sample))
            choice.setChecked(pool is rule.pool)


_HEIGHT = 320  # pixels


class EncodingChooser(QWidget):
    def __init__(self, drafts: Drafts) -> None:
        super().__init__()
        self._drafts = drafts
        self._file: OpenFile | None = None
        self._sentence = IconLine("", "info", "body", icon_role="accent")
        self.choice = Choice(self.tr("Encoding"), on_picked=self._look)
        self.preview = PreviewTable(fewest_rows=5)
        self.failure = Label("", "attention", wrap=True)
        frame = Card((self.preview, 1), self.failure, inset=True, margins=_MARGINS)
        self.use_button = PrimaryButton(self.tr("Use it"), on_click=self._answer)
        self.cancel_button = Button(self.tr("Cancel"), on_click=partial(drafts.ask_encoding, second=None))
        question = row((self._sentence, 1), self.choice, gap=MEDIUM)
        self.setLayout(column(question, (frame, 1), row(None, self.cancel_button, self.use_button), gap=MEDIUM))
        self.setMinimumHeight(scaled(_HEIGHT))

    def ask(self, file: OpenFile | None) -> None:
        """In which encoding to read the file; None takes the question back."""
        if file is self._file:
            return
        self._file = file
        if file is None:
            return
        source = file.source
        says_nothing = self.tr("Do these characters look right? {name} does not say its encoding. ")
        says_nothing = says_nothing.format(name=source.path.name)
        choose = self.tr("Choose the encoding in which its text looks right.")
        self._sentence.set_line((says_nothing if source.is_encoding_guessed else "") + choose, "info", "accent")
        present = source.encoding.removesuffix("-sig")
        titles: dict[str, str] = dict(CHOICES)
        likely = {codec: self.tr("{encoding} – likely too") for codec in source.other_encodings}
        if source.is_encoding_guessed:
            likely[present] = self.tr("{encoding} – our guess")
        self.choice.refill(
            (likely.get(codec, "{encoding}").format(encoding=said(titles.get(codec, shown_name(codec)))), codec)
            for codec in dict.fromkeys((present, *source.other_encodings, *titles))
        )
        self.choice.set_value(present)
        self._look(present)
        self.choice.setFocus(Qt.FocusReason.OtherFocusReason)

    def _look(self, codec: str) -> None:
        self.use_button.set_possible("")
        self._drafts.tasks.start("peek", self._peek(codec))

    async def _peek(self, codec: str) -> None:
        """Show the first rows in this encoding, or why they cannot be read in it."""
        if self._file is None:
            return
        why_not = ""
        try:
            found = await self._drafts.peek(self._file, codec)
            self.preview.show()
            self.preview.show_file(found)
        except UserError as error:
            why_not = said(error.message)
            self.preview.hide()
        self.failure.setText(why_not)
        self.failure.setVisible(bool(why_not))
        self.use_button.set_possible(why_not)

    def _answer(self) -> None:
        self._drafts.answer_encoding(str(self.choice.value()))
