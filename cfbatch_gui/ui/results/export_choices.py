"""What the user chooses for an export: the forms to write, and which columns they have."""

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from cfbatch_gui.core.results.exports import Target
from cfbatch_gui.ui import display
from cfbatch_gui.ui.results.export_plan import target_words
from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, CheckBox, Label, LinkButton, PrimaryButton, column, row, scrolled

_INDENT = 24  # to the left edge of the words of a box
_FORMS_HEIGHT = 330  # more of them are scrolled to
_COLUMNS_HEIGHT = 300
_LONGEST_NAME = 60


class ExportForms(QWidget):
    """A tick box for each form with a line about it. The first one is ticked until another one is."""

    changed = Signal()

    def __init__(self, targets: Sequence[Target], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._targets = tuple(targets)
        self._impossible: set[str] = set()
        self._proposed = targets[0].name
        self.boxes: Mapping[str, CheckBox] = {target.name: CheckBox(target.title) for target in targets}
        forms = column(gap=10, margins=(2, 2, SMALL, 2))
        for index, target in enumerate(targets):
            box = self.boxes[target.name]
            box.setChecked(index == 0)
            box.toggled.connect(self._toggled)
            forms.addLayout(_form(box, target_words(target)))
        content = QWidget()
        content.setLayout(forms)
        self._area = scrolled(content)
        self._wanted = content.sizeHint()
        self._area.setMinimumHeight(min(self._wanted.height(), _FORMS_HEIGHT))
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
        """Disable a form, with the reason as its tip."""
        self._impossible.add(name)
        box = self.boxes[name]
        box.setChecked(False)
        box.setEnabled(False)
        box.setToolTip(why)

    def set_open(self, is_open: bool) -> None:
        """Enable or disable the boxes of all forms that are possible."""
        for name, box in self.boxes.items():
            box.setEnabled(is_open and name not in self._impossible)

    def _toggled(self, ticked: bool) -> None:
        # The first tick replaces the proposal: a user who ticks Excel wants Excel only.
        proposed, self._proposed = self._proposed, ""
        if proposed and ticked:
            self.boxes[proposed].setChecked(False)
        self.changed.emit()

    def sizeHint(self) -> QSize:
        return QSize(self._wanted.width(), min(self._wanted.height(), _FORMS_HEIGHT))


class ColumnsDialog(QDialog):
    """A tick box for each column. With `needs_one` the dialog cannot be accepted without any."""

    def __init__(
        self,
        names: Sequence[str],
        chosen: Collection[str],
        *,
        about: str,
        needs_one: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Columns"))
        self._names, self._needs_one = tuple(names), needs_one
        self.boxes = tuple(CheckBox(_shown(name)) for name in names)
        for name, box in zip(names, self.boxes, strict=True):
            box.setToolTip(display.plain_tip(name))
            box.setChecked(name in chosen)
            box.toggled.connect(self._show_possible)
        everything, nothing = LinkButton(self.tr("All")), LinkButton(self.tr("None"))
        everything.clicked.connect(lambda: self._tick_all(True))
        nothing.clicked.connect(lambda: self._tick_all(False))
        cancel = Button(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.accept_button = PrimaryButton(self.tr("Use these columns"))
        self.accept_button.setDefault(True)
        self.accept_button.clicked.connect(self.accept)
        content = QWidget()
        content.setLayout(column(*self.boxes, gap=SMALL, margins=(2, 2, SMALL, 2)))
        area = scrolled(content)
        area.setMinimumHeight(min(content.sizeHint().height(), _COLUMNS_HEIGHT))
        self.setLayout(
            column(
                row(Label(self.tr("Columns to write"), "part"), None, everything, nothing, gap=LARGE),
                Label(about, "small", wrap=True),
                area,
                4,
                row(None, cancel, self.accept_button),
                gap=LARGE,
                margins=(WIDE, 20, WIDE, 20),
            )
        )
        self._show_possible()

    def chosen(self) -> tuple[str, ...]:
        """The names that are ticked, in the order of the list."""
        return tuple(name for name, box in zip(self._names, self.boxes, strict=True) if box.isChecked())

    def sizeHint(self) -> QSize:
        return QSize(400, super().sizeHint().height())

    def _tick_all(self, ticked: bool) -> None:
        for box in self.boxes:
            box.setChecked(ticked)

    def _show_possible(self) -> None:
        is_empty = self._needs_one and not self.chosen()
        self.accept_button.set_possible(self.tr("Tick at least one column.") if is_empty else "")


def _form(box: CheckBox, about: str) -> QVBoxLayout:
    form = column(box, gap=1)
    if about:
        box.setAccessibleDescription(about)
        form.addLayout(row(_INDENT, Label(about, "small"), gap=0))
    return form


def _shown(name: str) -> str:
    """A name as the label of a box, shortened; "&" is doubled, since Qt takes a single one for a mnemonic."""
    text = display.one_line(name)
    short = text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"
    return short.replace("&", "&&")
