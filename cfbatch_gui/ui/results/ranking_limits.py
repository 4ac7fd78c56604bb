"""The limits of a ranking: the first k ranks of each query, and a lowest score."""

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QKeyEvent, QRegularExpressionValidator
from PySide6.QtWidgets import QLineEdit, QWidget

from cfbatch_gui.core.results.exports.base import ExportOptions
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, scaled
from cfbatch_gui.ui.widgets import Choice, Flow, Label, boxed, row

_USUAL = (3, 5, 10, 20)
_OTHER = "other"
_NUMBER = QRegularExpression(r"-?\d{0,4}([.,]\d{0,6})?")
_STEP = 0.01


class ThresholdField(QLineEdit):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setPlaceholderText(self.tr("any"))
        self.setAccessibleName(self.tr("Score from"))
        self.setFixedWidth(scaled(84))
        self.setMaxLength(12)
        self.setValidator(QRegularExpressionValidator(_NUMBER, self))
        self.textChanged.connect(self.changed)

    def value(self) -> float | None:
        try:
            return float(self.text().replace(",", "."))
        except ValueError:
            return None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        value = self.value()
        steps = {Qt.Key.Key_Up: _STEP, Qt.Key.Key_Down: -_STEP}.get(Qt.Key(event.key()))
        if steps is not None and value is not None:
            self.setText(score_text(value + steps))
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class LimitsBar(QWidget):
    changed = Signal()

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self._tasks = tasks
        self._chosen: int | None = None
        self.top = Choice(self.tr("How many of each query"))
        self.top.add(self.tr("All ranks"), 0)
        for count in _USUAL:
            self.top.add(self.tr("Top {n}").format(n=count), count)
        self.top.add(self.tr("Other…"), _OTHER)
        self.top.picked.connect(self._picked)
        self.threshold = ThresholdField()
        self.threshold.changed.connect(self.changed)
        label = Label(self.tr("Score from"), "quiet")
        label.setBuddy(self.threshold)
        self.setLayout(Flow(self.top, boxed(row(label, self.threshold)), gap=MEDIUM))

    def limits(self) -> ExportOptions:
        return ExportOptions(top_k=self._chosen, threshold=self.threshold.value())

    def show_limits(self, limits: ExportOptions) -> None:
        self.threshold.blockSignals(True)
        self.threshold.setText("" if limits.threshold is None else score_text(limits.threshold))
        self.threshold.blockSignals(False)
        self._show_top(limits.top_k)

    def set_top(self, count: int | None) -> None:
        if count != self._chosen:
            self._show_top(count)
            self.changed.emit()

    def _show_top(self, count: int | None) -> None:
        self._chosen = count
        if count is not None and self.top.findData(count) < 0:
            self.top.insertItem(self.top.count() - 1, self.tr("Top {n}").format(n=count), count)
        self.top.set_value(count or 0)

    def _picked(self, value: object) -> None:
        if isinstance(value, int):
            self.set_top(value or None)
        else:
            self.top.set_value(self._chosen or 0)
            self._tasks.start("ask for a number", self._ask())

    async def _ask(self) -> None:
        text = await dialogs.ask_text(
            self, self.tr("How many of each query"), self.tr("Keep so many contexts of each query:"), text="50"
        )
        if text is not None and text.strip().isdecimal() and int(text) > 0:
            self.set_top(int(text))
