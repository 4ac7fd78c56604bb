"""The choice of a file's encoding with a preview, and the question before sending when two readings are about as
likely.
"""

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QDialog, QPushButton, QWidget

from cfbatch_gui.core.inputs.encodings import CHOICES, shown_name
from cfbatch_gui.core.inputs.input_values import Source
from cfbatch_gui.core.job_folder.encoding_doubts import EncodingDoubt, Reading
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui.dialogs import finished
from cfbatch_gui.ui.inputs.draft_reading import EncodingQuestion, OpenFile
from cfbatch_gui.ui.inputs.preview_table import PreviewTable
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import Button, Card, IconLine, Label, PrimaryButton, column, row

_WIDTH, _LEAST_WIDTH, _HEIGHT = 372, 250, 320  # pixels of the list of encodings, and of all
_ROW_HEIGHT = 30
_CARD_WIDTH = 240


@dataclass(frozen=True, slots=True)
class _Offer:
    codec: str
    title: str
    remark: str


def _offer_columns() -> tuple[Column[_Offer], ...]:
    return (
        Column("", lambda offer: offer.title, key="title", sortable=False, stretch=True),
        Column("", lambda offer: offer.remark, key="remark", sortable=False, colour=lambda _: "quiet", width=84),
    )


class EncodingChooser(QWidget):
    """`looked_at` asks for the rows in an encoding; `show_preview` or `show_failure` answers it.

    `answered` carries the codec.
    """

    looked_at = Signal(str)
    answered = Signal(str)
    refused = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._question: EncodingQuestion | None = None
        self._sentence = IconLine("", "info", "body", icon_role="accent")
        self._rows: Rows[_Offer] = Rows(_offer_columns(), parent=self)
        self.list = TableView(title=self.tr("Encoding"), rows=self._rows, inset=True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.horizontalHeader().hide()
        self.list.verticalHeader().setDefaultSectionSize(scaled(_ROW_HEIGHT))
        self.list.picked.connect(lambda _: self._look())
        self.list.opened.connect(lambda _: self._answer())
        choices = Card(self.list, inset=True, margins=(6, SMALL, 6, SMALL))
        choices.setMinimumWidth(scaled(_LEAST_WIDTH))
        choices.setMaximumWidth(scaled(_WIDTH))
        self.preview = PreviewTable(fewest_rows=5)
        self.failure = Label("", "attention", wrap=True)
        self.failure.hide()
        frame = Card((self.preview, 1), self.failure, inset=True, margins=(MEDIUM, SMALL, MEDIUM, SMALL))
        self.use_button = PrimaryButton("", on_click=self._answer)
        self.cancel_button = Button(self.tr("Cancel"), on_click=self.refused.emit)
        lists = row((choices, 1), (frame, 1), gap=MEDIUM)
        self.setLayout(column(self._sentence, lists, row(None, self.cancel_button, self.use_button), gap=MEDIUM))
        self.setMinimumHeight(scaled(_HEIGHT))

    def codec(self) -> str:
        index = self.list.currentIndex()
        return self._rows.row(index.row()).codec if index.isValid() else ""

    def ask(self, question: EncodingQuestion | None) -> None:
        if question == self._question:
            return
        self._question = question
        if question is None:
            return
        source = question.file.source
        name = source.path.name
        says_nothing = self.tr("Do these characters look right? {name} does not say its encoding. ").format(name=name)
        choose = self.tr("Choose the encoding in which its text looks right.")
        self._sentence.set_line((says_nothing if source.is_encoding_guessed else "") + choose, "info", "accent")
        present = source.encoding.removesuffix("-sig")
        known = [codec for codec, _ in CHOICES]
        more = [] if present in known else [(present, shown_name(present))]
        offers = [_Offer(codec, said(title), self._remark(source, codec)) for codec, title in (*more, *CHOICES)]
        self._rows.set_rows(offers)
        self.choose(present)
        self.list.scrollTo(self.list.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _remark(self, source: Source, codec: str) -> str:
        if codec == source.encoding and source.is_encoding_guessed:
            return self.tr("our guess")
        return self.tr("likely too") if codec in source.other_encodings else ""

    def choose(self, codec: str) -> None:
        for number, offer in enumerate(self._rows.rows()):
            if offer.codec == codec:
                self.list.setCurrentIndex(self._rows.index(number, 0))

    def show_preview(self, file: OpenFile) -> None:
        self.failure.hide()
        self.preview.show()
        self.preview.show_file(file)

    def show_failure(self, sentence: str) -> None:
        self.preview.hide()
        self.failure.setText(sentence)
        self.failure.show()
        self.use_button.set_possible(sentence)

    def _look(self) -> None:
        if self.codec():
            self.use_button.setText(self.tr("Use {encoding}").format(encoding=shown_name(self.codec())))
            self.use_button.set_possible("")
            self.looked_at.emit(self.codec())

    def _answer(self) -> None:
        if self.codec() and self.use_button.isEnabled():
            self.answered.emit(self.codec())


class ReadingsDialog(QDialog):
    """The readings of a file side by side; `codec` is what was taken, "" for none."""

    def __init__(self, doubt: EncodingDoubt, parent: QWidget) -> None:
        super().__init__(parent)
        self.codec = ""
        self.setWindowTitle(self.tr("Do these characters look right?"))
        self.buttons: list[QPushButton] = []
        why = self.tr("{name} does not say its encoding, and these readings are about as likely.")
        asked = self.tr("Nothing was sent yet. Your answer is kept for this job.")
        cards = [self._card(reading, is_guess=number == 0) for number, reading in enumerate(doubt.readings)]
        cancel = Button(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        lines = (Label(why.format(name=doubt.name), wrap=True), Label(asked, "quiet", wrap=True))
        self.setLayout(
            column(*lines, row(*cards, gap=MEDIUM), row(None, cancel), gap=MEDIUM, margins=(LARGE, LARGE, LARGE, LARGE))
        )

    def _card(self, reading: Reading, *, is_guess: bool) -> Card:
        words = shown_name(reading.codec)
        remark = Label(self.tr("our guess") if is_guess else "", "quiet")
        button = Button(self.tr("Use {encoding}").format(encoding=words), on_click=lambda: self._take(reading.codec))
        self.buttons.append(button)
        examples = (Label(example, wrap=True) for example in reading.examples)
        card = Card(row(Label(words, "strong"), remark, None), *examples, None, button, inset=True)
        card.setMinimumWidth(_CARD_WIDTH)
        return card

    def _take(self, codec: str) -> None:
        self.codec = codec
        self.accept()


async def choose_reading(doubt: EncodingDoubt, parent: QWidget) -> str:
    """The codec of the right reading, "" when the user cancels."""
    dialog = ReadingsDialog(doubt, parent)
    code = await finished(dialog)
    return dialog.codec if code == QDialog.DialogCode.Accepted else ""
