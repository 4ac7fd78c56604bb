"""The editor for cutting long texts into parts: length, overlap, and the number of parts in the first rows."""

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QSpinBox, QWidget

from cfbatch_gui.core.inputs.cell_texts import read_template, split_contexts, split_text
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, Role, Split
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.estimate import tokens_upper
from cfbatch_gui.ui.display import number, plural
from cfbatch_gui.ui.inputs.draft_state import OpenFile
from cfbatch_gui.ui.theme import MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import Card, Flow, Label, LinkButton, boxed, row

DEFAULT_SPLIT = Split(400, 40)
_LEAST, _MOST = 16, 8_192  # tokens
_PAUSE = 500  # milliseconds after a change until the file is read again
_COUNTED = 300_000  # characters; counting them takes no noticeable time


class SplitEditor(Card):
    """Emits `split_chosen` with a Split shortly after the last change, or with None for whole texts."""

    split_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(inset=True, parent=parent)
        self._rows: Sequence[Sequence[str]] = ()
        self._kind = Kind.RANK
        self._used: Split | None = None
        self.tokens = _spin(_LEAST, _MOST, 50, self.tr("Tokens of a part"))
        self.overlap = _spin(0, _MOST // 2, 10, self.tr("Tokens that two parts share"))
        self.end_link = LinkButton(self.tr("Do not cut"))
        self.end_link.clicked.connect(lambda: self.split_chosen.emit(None))
        self.count = Label("", "quiet", wrap=True)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE)
        self._timer.timeout.connect(self._choose)
        for field in (self.tokens, self.overlap):
            field.valueChanged.connect(self._edited)
        self.body.setContentsMargins(MEDIUM, SMALL, MEDIUM, SMALL)
        sentence = Flow(
            Label(self.tr("Cut texts of more than"), "strong"),
            self.tokens,
            Label(self.tr("tokens into parts that overlap by")),
            boxed(row(self.overlap, Label(self.tr("tokens")))),
        )
        line = row(boxed(sentence), self.end_link)
        line.setStretch(0, 1)
        self.body.addLayout(line)
        self.body.addWidget(self.count)

    def split(self) -> Split:
        """The lengths in the fields, in tokens."""
        return Split(self.tokens.value(), min(self.overlap.value(), self.tokens.value() // 2))

    def show_file(self, file: OpenFile, mapping: Mapping, split: Split, *, second: bool) -> None:
        """Show these lengths, and count parts in the texts of this file."""
        self._kind = mapping.kind
        if split != self._used:
            self._used = split
            if split != self.split():
                for field, value in ((self.tokens, split.tokens), (self.overlap, split.overlap)):
                    field.blockSignals(True)
                    field.setValue(value)
                    field.blockSignals(False)
        self._rows = _rows_of(file, mapping, second=second)
        self._show_count()

    def _edited(self) -> None:
        self.overlap.setMaximum(self.tokens.value() // 2)
        self._show_count()
        self._timer.start()

    def _choose(self) -> None:
        if self.split() != self._used:
            self._used = self.split()
            self.split_chosen.emit(self._used)

    def _show_count(self) -> None:
        split, long, parts = self.split(), 0, 0
        for text in (text for texts in self._rows for text in texts):
            spans = split_text(text, split.tokens, split.overlap, tokens_upper)
            if len(spans) > 1:
                long, parts = long + 1, parts + len(spans)
        of = plural(len(self._rows), "In the first row ", "In the first {n} rows ")
        if long:
            texts = plural(long, "{n} text becomes", "{n} texts become")
            said = self.tr("{texts} {parts} parts.").format(texts=texts, parts=number(parts))
        else:
            said = self.tr("no text is that long.")
        what = (
            self.tr(" A text counts as its best part.")
            if self._kind is Kind.RANK
            else self.tr(" Each part gets a vector of its own.")
        )
        self.count.setText(of + said + what)


def whole_reading(metadata: ModelMetadata) -> Split:
    """Parts that are nearly as long as the model reads, for texts that are longer."""
    return Split(metadata.max_tokens * 15 // 16, metadata.max_tokens // 16)


def _rows_of(file: OpenFile, mapping: Mapping, *, second: bool) -> list[list[str]]:
    """The texts of each row of the sample, up to _COUNTED characters in all."""
    roles = mapping.second_roles if second else mapping.roles
    columns = [index for index, role in enumerate(roles) if role in (Role.TEXT, Role.CONTEXT)]
    template = read_template(mapping.template, file.source.columns) if mapping.template else ""
    holds_lists = mapping.layout in (Layout.NESTED, Layout.JUDGED) and not second
    found: list[list[str]] = []
    left = _COUNTED
    for each in file.sample:
        if each.problem or left <= 0:
            continue
        texts = [each.cells[index] for index in columns] if isinstance(template, str) else [template.render(each.cells)]
        if holds_lists:
            lists = [split_contexts(text[:_COUNTED], each.number) for text in texts]
            texts = [context.text for contexts in lists if not isinstance(contexts, str) for context in contexts]
        found.append([text[:left] for text in texts])
        left -= sum(map(len, found[-1]))
    return found


def _spin(least: int, most: int, step: int, name: str) -> QSpinBox:
    field = QSpinBox()
    field.setRange(least, most)
    field.setSingleStep(step)
    field.setAccessibleName(name)
    field.setKeyboardTracking(False)
    field.setFixedWidth(scaled(84))
    field.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it
    return field
