"""The question for the encoding of a file, shown on the page with a preview in each encoding."""

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QWidget

from cfbatch_gui.core.inputs.files.encodings import CHOICES
from cfbatch_gui.ui.inputs.draft_state import EncodingQuestion, OpenFile
from cfbatch_gui.ui.inputs.input_labels import encoding_words
from cfbatch_gui.ui.inputs.preview_table import PreviewTable
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Button, Card, IconLine, Label, PrimaryButton, column, row

_ROW_HEIGHT = 30


@dataclass(frozen=True, slots=True)
class _Offer:
    codec: str
    title: str
    is_guess: bool


def _offer_columns(owner: QWidget) -> tuple[Column[_Offer], ...]:
    guess = owner.tr("our guess")
    return (
        Column("", lambda offer: offer.title, key="title", sortable=False, stretch=True),
        Column("", lambda offer: guess if offer.is_guess else "", key="guess", sortable=False, colour=_quiet, width=84),
    )


def _quiet(offer: _Offer) -> str:
    return "quiet"


class EncodingChooser(QWidget):
    """The question, the encodings with the guess preselected, and the first rows in the one that is marked.

    `looked_at` asks for the rows in an encoding; `show_preview` or `show_failure` answers it. `answered` carries the
    codec that was chosen.
    """

    looked_at = Signal(str)
    answered = Signal(str)
    refused = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._question: EncodingQuestion | None = None
        self._sentence = IconLine("", "info", "body", icon_role="accent")
        self._rows: Rows[_Offer] = Rows(_offer_columns(self), parent=self)
        self.list = TableView(inset=True)
        self.list.setAccessibleName(self.tr("Encoding"))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.horizontalHeader().hide()
        self.list.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.list.show_rows(self._rows)
        self.list.picked.connect(lambda _: self._look())
        self.list.opened.connect(lambda _: self._answer())
        choices = Card(inset=True)
        choices.setFixedWidth(372)
        choices.body.setContentsMargins(6, SMALL, 6, SMALL)
        choices.body.addWidget(self.list)
        self.preview = PreviewTable(fewest_rows=5)
        self.failure = Label("", "attention", wrap=True)
        self.failure.hide()
        frame = Card(inset=True)
        frame.body.setContentsMargins(MEDIUM, SMALL, MEDIUM, SMALL)
        frame.body.addWidget(self.preview, 1)
        frame.body.addWidget(self.failure)
        self.use_button = PrimaryButton("")
        self.use_button.clicked.connect(self._answer)
        self.cancel_button = Button(self.tr("Do not open it"))
        self.cancel_button.clicked.connect(self.refused)
        lists = row(choices, frame, gap=MEDIUM)
        self.setLayout(
            column(self._sentence, lists, row(None, self.cancel_button, self.use_button, gap=SMALL), gap=MEDIUM)
        )
        self.setMinimumHeight(320)

    def codec(self) -> str:
        """The encoding that is marked."""
        index = self.list.currentIndex()
        return self._rows.row(index.row()).codec if index.isValid() else ""

    def ask(self, question: EncodingQuestion | None) -> None:
        """Show a question; None removes it."""
        if question == self._question:
            return
        self._question = question
        if question is None:
            return
        self._sentence.set_line(question.sentence, "info", "accent")
        known = [codec for codec, _ in CHOICES]
        guessed = () if question.guess in known else ((question.guess, encoding_words(question.guess)),)
        offers = [_Offer(codec, title, codec == question.guess) for codec, title in (*guessed, *CHOICES)]
        self._rows.set_rows(offers)
        guess = next(index for index, offer in enumerate(offers) if offer.is_guess)
        self.choose(offers[guess].codec)
        self.list.scrollTo(self._rows.index(guess, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def choose(self, codec: str) -> None:
        """Mark an encoding, as by the user."""
        for number, offer in enumerate(self._rows.rows()):
            if offer.codec == codec:
                self.list.setCurrentIndex(self._rows.index(number, 0))

    def show_preview(self, file: OpenFile) -> None:
        """Show the first rows in the marked encoding."""
        self.failure.hide()
        self.preview.show()
        self.preview.show_file(file)

    def show_failure(self, sentence: str) -> None:
        """Show why the file cannot be read in the marked encoding."""
        self.preview.hide()
        self.failure.setText(sentence)
        self.failure.show()
        self.use_button.set_possible(sentence)

    def _look(self) -> None:
        if self.codec():
            self.use_button.setText(self.tr("Use {encoding}").format(encoding=encoding_words(self.codec())))
            self.use_button.set_possible("")
            self.looked_at.emit(self.codec())

    def _answer(self) -> None:
        if self.codec() and self.use_button.isEnabled():
            self.answered.emit(self.codec())
