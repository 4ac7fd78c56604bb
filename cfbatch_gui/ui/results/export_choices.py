"""What the user chooses for an export: the forms to write, and which columns they have."""

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QButtonGroup, QDialog, QRadioButton, QVBoxLayout, QWidget

from cfbatch_gui.core.results.exports import Target
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display
from cfbatch_gui.ui.result_view import RowChoice
from cfbatch_gui.ui.results.export_plan import target_words
from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, CheckBox, Flow, Label, LinkButton, PrimaryButton, column, row, scrolled

_INDENT = 24  # to the left edge of the words of a box
_FORMS_HEIGHT = 330  # more of them are scrolled to
_LEAST_FORMS = 110  # so that the dialog fits a small screen
_COLUMNS_HEIGHT = 300
_LONGEST_NAME = 60
_RANK = {"xlsx": 0, "xlsx-rows": 1, "csv-excel": 2}  # of the forms for people


class RowsBar(QWidget):
    """Which rows are written: all, or some that were selected, found or drawn around. Hidden without such a choice."""

    changed = Signal()

    def __init__(self, choices: Sequence[RowChoice], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._everything = QRadioButton(self.tr("All rows"))
        self.buttons: dict[QRadioButton, frozenset[int] | None] = {self._everything: None}
        self._everything.setChecked(True)
        self._flow = Flow(Label(self.tr("Rows"), "quiet"), self._everything, gap=LARGE)
        self._watch(self._everything)
        self.setLayout(self._flow)
        self.setVisible(False)
        for choice in choices:
            button = self.add(choice.words(), choice.items)
            if choice.is_proposed:
                button.setChecked(True)

    def add(self, words: str, items: frozenset[int]) -> QRadioButton:
        """Offer some rows alone."""
        button = QRadioButton(words.replace("&", "&&"))
        self.buttons[button] = items
        self._watch(button)
        self._flow.addWidget(button)
        self.setVisible(True)
        return button

    def _watch(self, button: QRadioButton) -> None:
        self._group.addButton(button)
        button.toggled.connect(lambda on: self.changed.emit() if on else None)

    def show_count(self, count: int) -> None:
        """Say how many rows all of them are."""
        self._everything.setText(self.tr("All {n}").format(n=display.number(count)))

    def items(self) -> frozenset[int] | None:
        """The numbers of the rows that are written, None for all."""
        return next((items for button, items in self.buttons.items() if button.isChecked()), None)


class ExportForms(QWidget):
    """A tick box for each form, those for people first. The first one is ticked until another one is."""

    changed = Signal()

    def __init__(self, targets: Sequence[Target], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        people = [target for target in targets if target.is_for_people]
        people.sort(key=lambda target: _RANK.get(target.name, len(_RANK)))
        programs = [target for target in targets if not target.is_for_people]
        self._targets = (*people, *programs)
        self._impossible: set[str] = set()
        self._proposed = self._targets[0].name
        self.boxes: Mapping[str, CheckBox] = {target.name: CheckBox(said(target.title)) for target in self._targets}
        self.boxes[self._proposed].setChecked(True)
        for box in self.boxes.values():
            box.toggled.connect(self._toggled)
        sides = []
        for title, group in ((self.tr("For people"), people), (self.tr("For programs"), programs)):
            side = column(Label(title, "strong"), gap=10)
            for target in group:
                side.addLayout(_form(self.boxes[target.name], target_words(target)))
            side.addStretch(1)
            sides.append(side)
        forms = row(*sides, gap=WIDE, margins=(2, 2, SMALL, 2))
        for index in range(len(sides)):
            forms.setStretch(index, 1)
        content = QWidget()
        content.setLayout(forms)
        self._area = scrolled(content)
        self._wanted = content.sizeHint()
        self._area.setMinimumHeight(_LEAST_FORMS)
        self.setLayout(column(self._area))

    def chosen(self) -> tuple[Target, ...]:
        """Those that are ticked, in the order of the list."""
        return tuple(target for target in self._targets if self.boxes[target.name].isChecked())

    def choose(self, *names: str) -> None:
        """Tick these forms and no others."""
        self._proposed = ""
        for name, box in self.boxes.items():
            box.setChecked(name in names)

    def set_possible(self, name: str, why_not: str) -> None:
        """Disable a form with the reason as its tip, or enable it where there is none."""
        box = self.boxes[name]
        box.setToolTip(why_not)
        if why_not:
            self._impossible.add(name)
            box.setChecked(False)
            box.setEnabled(False)
        elif name in self._impossible:
            self._impossible.discard(name)
            box.setEnabled(True)

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
        line = row(_INDENT, gap=0)
        line.addWidget(Label(about, "small", wrap=True), 1)
        form.addLayout(line)
    return form


def _shown(name: str) -> str:
    """A name as the label of a box, shortened; "&" is doubled, since Qt takes a single one for a mnemonic."""
    text = display.one_line(name)
    short = text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"
    return short.replace("&", "&&")
