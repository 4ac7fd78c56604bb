"""The forms that results can be taken home in, to be ticked: one or several."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import Target
from cfbatch_gui.ui.results.export_words import target_words
from cfbatch_gui.ui.theme import SMALL
from cfbatch_gui.ui.widgets import CheckBox, Label, column, row, scrolled

_INDENT = 24  # below the words of a box, not below its tick
_HEIGHT = 330  # more of them are scrolled to


class ExportForms(QWidget):
    """A tick box for each form with a line about it. The first one is ticked until another one is."""

    changed = Signal()

    def __init__(self, targets: Sequence[Target], kind: Kind, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._targets = tuple(targets)
        self._impossible: set[str] = set()
        self._proposed = targets[0].name
        self.boxes: Mapping[str, CheckBox] = {target.name: CheckBox(target.title) for target in targets}
        forms = column(gap=10, margins=(2, 2, SMALL, 2))
        for place, target in enumerate(targets):
            box = self.boxes[target.name]
            box.setChecked(place == 0)
            box.toggled.connect(self._toggled)
            forms.addLayout(_form(box, target_words(target, kind)))
        content = QWidget()
        content.setLayout(forms)
        self._area = scrolled(content)
        self._wanted = content.sizeHint()
        self._area.setMinimumHeight(min(self._wanted.height(), _HEIGHT))
        self.setLayout(column(self._area))

    def chosen(self) -> tuple[Target, ...]:
        """Those that are ticked, in the order of the list."""
        return tuple(target for target in self._targets if self.boxes[target.name].isChecked())

    def choose(self, *names: str) -> None:
        """Tick these forms and no others."""
        self._proposed = ""
        for name, box in self.boxes.items():
            box.setChecked(name in names)

    def set_impossible(self, name: str, why: str) -> None:
        """A form that there is nothing for."""
        self._impossible.add(name)
        box = self.boxes[name]
        box.setChecked(False)
        box.setEnabled(False)
        box.setToolTip(why)

    def set_open(self, is_open: bool) -> None:
        """Whether ticks can be changed."""
        for name, box in self.boxes.items():
            box.setEnabled(is_open and name not in self._impossible)

    def _toggled(self, ticked: bool) -> None:
        # Who ticks Excel first of all wants Excel, and not what was proposed as well.
        proposed, self._proposed = self._proposed, ""
        if proposed and ticked:
            self.boxes[proposed].setChecked(False)
        self.changed.emit()

    def sizeHint(self) -> QSize:
        return QSize(self._wanted.width(), min(self._wanted.height(), _HEIGHT))


def _form(box: CheckBox, about: str) -> QVBoxLayout:
    form = column(box, gap=1)
    if about:
        box.setAccessibleDescription(about)
        form.addLayout(row(_INDENT, Label(about, "small"), gap=0))
    return form
