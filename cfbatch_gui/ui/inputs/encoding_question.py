"""The choice of a file's encoding with a preview, and the question before sending when two readings are about as
likely.
"""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QDialog, QPushButton, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.encodings import CHOICES, shown_name
from cfbatch_gui.core.inputs.input_values import Source
from cfbatch_gui.core.job_folder.encoding_doubts import EncodingDoubt, Reading
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui.dialogs import finished
from cfbatch_gui.ui.inputs.draft_files import OpenFile
from cfbatch_gui.ui.inputs.drafts import Drafts
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
    def __init__(self, drafts: Drafts) -> None:
        super().__init__()
        self._drafts = drafts
        self._file: OpenFile | None = None
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
        frame = Card((self.preview, 1), self.failure, inset=True, margins=(MEDIUM, SMALL, MEDIUM, SMALL))
        self.use_button = PrimaryButton("", on_click=self._answer)
        self.cancel_button = Button(self.tr("Cancel"), on_click=drafts.drop_question)
        lists = row((choices, 1), (frame, 1), gap=MEDIUM)
        self.setLayout(column(self._sentence, lists, row(None, self.cancel_button, self.use_button), gap=MEDIUM))
        self.setMinimumHeight(scaled(_HEIGHT))

    def codec(self) -> str:
        index = self.list.currentIndex()
        return self._rows.row(index.row()).codec if index.isValid() else ""

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

    def _look(self) -> None:
        if codec := self.codec():
            self.use_button.setText(self.tr("Use {encoding}").format(encoding=shown_name(codec)))
            self.use_button.set_possible("")
            self._drafts.tasks.start("peek", self._peek(codec))

    async def _peek(self, codec: str) -> None:
        """Show the first rows in this encoding, or why they cannot be read in it."""
        if self._file is None:
            return
        why_not = ""
        try:
            self.preview.show_file(await self._drafts.peek(self._file, codec))
        except UserError as error:
            why_not = said(error.message)
        self.preview.setVisible(not why_not)
        self.failure.setText(why_not)
        self.failure.setVisible(bool(why_not))
        self.use_button.set_possible(why_not)

    def _answer(self) -> None:
        if self.codec() and self.use_button.isEnabled():
            self._drafts.answer_encoding(self.codec())


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
