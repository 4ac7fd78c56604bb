"""What is asked before judging: the book, the judge, how many texts of each ranking, the scale of a new book."""

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCompleter, QGridLayout, QLineEdit, QWidget

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.judgements.values import FOUR, THREE, TWO, Scale, own_scale
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import Card, Choice, Label, PrimaryButton, QuietButton, boxed, column, row, scrolled

_TOPS = (3, 5, 10, 20)
_OWN = "own"
_WIDTH = 640
_FIELD_WIDTH = 360


@dataclass(frozen=True, slots=True)
class Asked:
    """The choices: `top` texts of each ranking; `scale` is for a new book only."""

    book: str
    judge: str
    top: int
    scale: Scale


class StartPanel(QWidget):
    """`changed` follows each choice, `begun` and `settle_wanted` the buttons."""

    changed = Signal()
    begun = Signal()
    settle_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.book = QLineEdit()
        self.book.setMaxLength(80)
        self.judge = QLineEdit()
        self.judge.setMaxLength(80)
        self.judge.setPlaceholderText(self.tr("me"))
        self.tops = Choice(self.tr("How many of each ranking"))
        for count in _TOPS:
            self.tops.add(self.tr("the first {n} of each").format(n=count), count)
        self.tops.set_value(10)
        self.scales = Choice(self.tr("Grades"))
        for scale in (TWO, THREE, FOUR):
            self.scales.add(" · ".join(said(grade.name) for grade in scale.grades), scale)
        self.scales.add(self.tr("Words of your own…"), _OWN)
        self.scales.set_value(FOUR)
        self.words = QLineEdit()
        self.words.setPlaceholderText(self.tr("the least relevant first, separated by commas"))
        self._own_scale = Label("", "quiet", wrap=True)
        self.counts = Label("", "strong", wrap=True)
        self.trouble = Label("", "error", wrap=True)
        self.begin_button = PrimaryButton(self.tr("Start judging"), "play")
        self.settle_button = QuietButton("")
        self._book_scale: Scale | None = None
        self._lay_out()
        self.begin_button.clicked.connect(self.begun)
        self.settle_button.clicked.connect(self.settle_wanted)
        for field in (self.book, self.judge, self.words):
            field.editingFinished.connect(self.changed)
        self.tops.picked.connect(lambda _: self.changed.emit())
        self.scales.picked.connect(lambda _: self._scale_picked())

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(LARGE)
        grid.setVerticalSpacing(MEDIUM)
        self._labels = []
        fields: tuple[tuple[str, QWidget], ...] = (
            (self.tr("Kept in the book"), self.book),
            (self.tr("Your name"), self.judge),
            (self.tr("Texts to judge"), self.tops),
            (self.tr("Grades"), self.scales),
            (self.tr("Your words"), self.words),
        )
        for number, (name, field) in enumerate(fields):
            label = Label(name, "quiet")
            label.setBuddy(field)
            field.setAccessibleName(name)
            if not isinstance(field, Choice):  # which is as wide as its longest text
                field.setFixedWidth(scaled(_FIELD_WIDTH))
            grid.addWidget(label, number, 0)
            grid.addWidget(field, number, 1, Qt.AlignmentFlag.AlignLeft)
            self._labels.append(label)
        grid.addWidget(self._own_scale, 3, 1)
        grid.setColumnStretch(1, 1)
        explained = self.tr(
            "You see one text at a time and say with one key how well it answers its query. Scores, ranks and jobs stay"
            " hidden, so that they cannot sway you. Every answer is saved at once; stop whenever you like."
        )
        card = Card()
        card.body.setContentsMargins(WIDE, 20, WIDE, 20)
        card.body.addWidget(Label(explained, "body", wrap=True))
        card.body.addSpacing(SMALL)
        card.body.addLayout(grid)
        card.body.addSpacing(SMALL)
        card.body.addWidget(self.counts)
        card.body.addWidget(self.trouble)
        card.body.addLayout(row(self.begin_button, self.settle_button, None))
        card.setMaximumWidth(scaled(_WIDTH))
        self.trouble.hide()
        self._show_words()
        content = boxed(column(row(card, None), None, margins=(WIDE, LARGE, WIDE, LARGE)))
        self.setLayout(column(scrolled(content), gap=0))

    def show_choices(self, books: tuple[str, ...], book: str, judge: str) -> None:
        """Fill the fields in; `books` are offered while a name is typed."""
        self.book.setText(book)
        self.judge.setText(judge)
        completer = QCompleter(list(books), self.book)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.book.setCompleter(completer)

    def show_scale(self, scale: Scale | None) -> None:
        """Show the scale of the book, which cannot be changed; None lets the user choose one for a new book."""
        self._book_scale = scale
        self._own_scale.setText(" · ".join(said(grade.name) for grade in scale.grades) if scale is not None else "")
        self._show_words()

    def show_counts(self, words: str, *, can_begin: bool, disagreements: str = "") -> None:
        """Say how much there is to judge; the button to settle is shown with its text."""
        self.counts.setText(words)
        self.trouble.hide()
        self.begin_button.setEnabled(can_begin)
        self.settle_button.setText(disagreements)
        self.settle_button.setVisible(bool(disagreements))

    def show_trouble(self, sentence: str) -> None:
        """Say why judging cannot start with these choices."""
        self.trouble.setText(sentence)
        self.trouble.setVisible(bool(sentence))
        self.begin_button.setEnabled(not sentence)

    def asked(self) -> Asked:
        """The choices. Raises UsageError for words that make no scale."""
        top = self.tops.value()
        return Asked(self.book.text().strip(), self._judge_name(), top if isinstance(top, int) else 10, self._scale())

    def _judge_name(self) -> str:
        return " ".join(self.judge.text().split()) or self.tr("me")

    def _scale(self) -> Scale:
        if self._book_scale is not None:
            return self._book_scale
        chosen = self.scales.value()
        if isinstance(chosen, Scale):
            return chosen
        if not self.words.text().strip():
            raise UsageError(self.tr("Type the words for your grades, the least relevant first."))
        return own_scale(tuple(self.words.text().split(",")))

    def _scale_picked(self) -> None:
        self._show_words()
        self.changed.emit()

    def _show_words(self) -> None:
        is_new = self._book_scale is None
        self.scales.setVisible(is_new)
        self._own_scale.setVisible(not is_new)
        has_own = is_new and self.scales.value() == _OWN
        self.words.setVisible(has_own)
        self._labels[4].setVisible(has_own)
