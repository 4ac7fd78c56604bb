"""Which columns an export writes."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QWidget

from cfbatch_gui.ui import words
from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, CheckBox, Label, LinkButton, PrimaryButton, column, row, scrolled

_HEIGHT = 300
_LONGEST_NAME = 60


class ColumnsDialog(QDialog):
    """A tick box for each column. `needs_one`: without any there would be nothing to write."""

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
            box.setToolTip(words.plain_tip(name))
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
        area.setMinimumHeight(min(content.sizeHint().height(), _HEIGHT))
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


def _shown(name: str) -> str:
    """A name as the words of a box, whose "&" would be the key that presses it."""
    text = words.one_line(name)
    short = text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"
    return short.replace("&", "&&")
