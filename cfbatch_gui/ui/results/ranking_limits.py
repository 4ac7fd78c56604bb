"""The limits of a ranking: the first k ranks of each query, and a lowest score."""

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QKeyEvent, QRegularExpressionValidator
from PySide6.QtWidgets import QLineEdit, QSpinBox, QWidget

from cfbatch_gui.core.results.exports.base import ExportOptions
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.theme import MEDIUM, scaled
from cfbatch_gui.ui.widgets import Flow, Label, boxed, row

_MOST = 99_999
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

    def __init__(self) -> None:
        super().__init__()
        self.top = QSpinBox()
        self.top.setRange(0, _MOST)
        self.top.setSpecialValueText(self.tr("All ranks"))
        self.top.setPrefix(self.tr("Top") + " ")
        self.top.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.top.setAccessibleName(self.tr("How many of each query"))
        self.top.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the wheel scrolls
        self.top.valueChanged.connect(lambda _: self.changed.emit())
        self.threshold = ThresholdField()
        self.threshold.changed.connect(self.changed)
        label = Label(self.tr("Score from"), "quiet")
        label.setBuddy(self.threshold)
        self.setLayout(Flow(self.top, boxed(row(label, self.threshold)), gap=MEDIUM))

    def limits(self) -> ExportOptions:
        return ExportOptions(top_k=self.top.value() or None, threshold=self.threshold.value())

    def show_limits(self, limits: ExportOptions) -> None:
        for field in (self.top, self.threshold):
            field.blockSignals(True)
        self.top.setValue(limits.top_k or 0)
        self.threshold.setText("" if limits.threshold is None else score_text(limits.threshold))
        for field in (self.top, self.threshold):
            field.blockSignals(False)
