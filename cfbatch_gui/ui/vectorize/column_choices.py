"""Which columns become ids, namespaces and metadata of the vectors."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from cfbatch_gui.core.vectorize.push_values import IdSource, MetadataColumn, PushOptions
from cfbatch_gui.core.vectorize.rows import usual_key
from cfbatch_gui.core.workers_ai.limits import MAX_METADATA_BYTES
from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import LARGE, SMALL, TINY
from cfbatch_gui.ui.vectorize.push_words import short_name
from cfbatch_gui.ui.widgets import CheckBox, Choice, Flow, Label, boxed, column

_FEWEST_LETTERS = 14  # of a choice between columns
_COLUMN = "column/"  # before the name of a column, in the values of the choice of ids


class ColumnChoices(QWidget):
    """`changed` is emitted when the user has chosen something else."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns: tuple[str, ...] = ()
        self.ids = _column_choice(self.tr("ID of each vector"))
        self.namespace = _column_choice(self.tr("Namespace"))
        for choice in (self.ids, self.namespace):
            choice.picked.connect(lambda _: self.changed.emit())
        self.metadata: tuple[CheckBox, ...] = ()
        self._boxes = Flow(gap=LARGE)
        self._limit = Label("", "small", wrap=True)
        self.as_text = CheckBox("")
        self.as_text.toggled.connect(lambda _: self.changed.emit())
        beside = Label(self.tr("Beside each vector"), "quiet")
        fields = Flow(_field(self.ids), _field(self.namespace), gap=LARGE)
        self.setLayout(column(boxed(fields), beside, boxed(self._boxes), self._limit, self.as_text, gap=SMALL))

    def offer(self, columns: Sequence[str], *, has_ids: bool, options: PushOptions) -> None:
        """Offer these columns, with what was chosen before."""
        self._columns = tuple(columns)
        self.ids.clear()
        if has_ids:
            self.ids.add(self.tr("The IDs of the job"), IdSource.OWN.value)
        self.ids.add(self.tr("Row numbers"), IdSource.ROWS.value)
        self.namespace.clear()
        self.namespace.add(self.tr("None"), "")
        for each in columns:
            self.ids.add(short_name(each), _COLUMN + each)
            self.namespace.add(short_name(each), each)
        if options.ids is IdSource.COLUMN:
            self.ids.set_value(_COLUMN + options.id_column)
        elif has_ids:
            self.ids.set_value(options.ids.value)
        self.namespace.set_value(options.namespace)
        self._offer_metadata({each.column for each in options.metadata})
        self.show_numbers((), as_text=options.numbers_as_text)

    def options(self) -> PushOptions:
        """What is chosen; `delete_removed` and `everything` are not chosen here."""
        ids = str(self.ids.value())
        is_column = ids.startswith(_COLUMN)
        chosen: list[MetadataColumn] = []
        for name, box in zip(self._columns, self.metadata, strict=True):
            if box.isChecked():
                chosen.append(MetadataColumn(name, usual_key(name, [each.key for each in chosen])))
        return PushOptions(
            ids=IdSource.COLUMN if is_column else IdSource(ids),
            id_column=ids.removeprefix(_COLUMN) if is_column else "",
            namespace=str(self.namespace.value() or ""),
            metadata=tuple(chosen),
            numbers_as_text=self.as_text.isChecked(),
        )

    def show_numbers(self, numbers: Sequence[str], *, as_text: bool | None = None) -> None:
        """Say which columns are sent as numbers, with the choice to send them as texts."""
        if as_text is not None:
            self.as_text.blockSignals(True)
            self.as_text.setChecked(as_text)
            self.as_text.blockSignals(False)
        if numbers:
            names = display.listed([short_name(each) for each in numbers])
            words = self.tr("Send the numbers of {columns} as texts").format(columns=names)
            self.as_text.setText(words.replace("&", "&&"))
        self.as_text.setVisible(bool(numbers) or self.as_text.isChecked())

    def _offer_metadata(self, chosen: set[str]) -> None:
        for box in self.metadata:
            self._boxes.removeWidget(box)
            box.hide()
            box.deleteLater()
        self.metadata = tuple(CheckBox(short_name(each).replace("&", "&&")) for each in self._columns)
        before: QWidget = self.namespace
        for name, box in zip(self._columns, self.metadata, strict=True):
            box.setChecked(name in chosen)
            box.setToolTip(display.plain_tip(name))
            box.toggled.connect(lambda _: self.changed.emit())
            self._boxes.addWidget(box)
            box.setVisible(True)
            QWidget.setTabOrder(before, box)
            before = box
        some = self.tr(
            "Vectorize keeps up to {n} bytes beside each vector. A search brings them back, and they stay in your "
            "account."
        ).format(n=display.number(MAX_METADATA_BYTES))
        none = self.tr("The file has no other columns that could be sent.")
        self._limit.setText(some if self._columns else none)


def _column_choice(name: str) -> Choice:
    choice = Choice(name)
    choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    choice.setMinimumContentsLength(_FEWEST_LETTERS)
    return choice


def _field(choice: Choice) -> QWidget:
    """A choice below its name."""
    label = Label(choice.accessibleName(), "quiet")
    label.setBuddy(choice)
    return boxed(column(label, choice, gap=TINY))
