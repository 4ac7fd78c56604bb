"""The field in which categories are typed or pasted, one a line."""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from cfbatch_gui.ui.theme import scaled
from cfbatch_gui.ui.widgets.box_layouts import column
from cfbatch_gui.ui.widgets.labels import IconLine
from cfbatch_gui.words.languages import tr

_LEAST = 120  # pixels
_PAUSE = 600  # milliseconds after a key until what is typed is taken


class CategoryLines(QWidget):
    """`on_typed` is called with the text once the keys rest."""

    def __init__(self, on_typed: Callable[[str], object]) -> None:
        super().__init__()
        self.field = QPlainTextEdit(tabChangesFocus=True)
        self.field.setAccessibleName(tr("Your categories, one a line"))
        examples = (
            tr("Delivery: parcels that are late, lost or damaged"),
            tr("Invoice and payment: a wrong bill | charged twice"),
            tr("Praise"),
        )
        self.field.setPlaceholderText("\n".join(examples))
        self.field.setMinimumHeight(scaled(_LEAST))
        hint = tr("One a line, with what belongs there after a colon; | stands between several examples.")
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE)
        self._timer.timeout.connect(lambda: on_typed(self.text()))
        self.field.textChanged.connect(self._timer.start)
        self.setLayout(column((self.field, 1), IconLine(hint), gap=6))

    def text(self) -> str:
        return self.field.toPlainText()

    def show_text(self, text: str) -> None:
        """Another text, which nobody has typed."""
        with QSignalBlocker(self.field):
            self.field.setPlainText(text)
        self.field.moveCursor(QTextCursor.MoveOperation.End)
        self.field.verticalScrollBar().setValue(0)
        self._timer.stop()
