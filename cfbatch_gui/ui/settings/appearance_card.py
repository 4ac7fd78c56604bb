"""The choice of light, dark, high contrast, or what the system has."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from cfbatch_gui.ui.theme import SMALL, WIDE, Scheme
from cfbatch_gui.ui.widgets import Card, Flow, Label, boxed


class AppearanceCard(Card):
    """The choice of light, dark, high contrast, or the system's scheme. Only the user's choice emits `chosen`."""

    chosen = Signal(str)  # a `Scheme`

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.choices = {
            Scheme.SYSTEM: QRadioButton(self.tr("Match system")),
            Scheme.LIGHT: QRadioButton(self.tr("Light")),
            Scheme.DARK: QRadioButton(self.tr("Dark")),
            Scheme.HIGH_CONTRAST: QRadioButton(self.tr("High contrast")),
        }
        self._group = QButtonGroup(self)
        line = Flow(Label(self.tr("Appearance"), "part"), None, gap=WIDE)
        for scheme, choice in self.choices.items():
            choice.setAccessibleName(self.tr("Appearance: {choice}").format(choice=choice.text()))
            self._group.addButton(choice)
            choice.toggled.connect(lambda on, scheme=scheme: self._toggled(scheme, on))
            line.addWidget(choice)
        self._quiet = False
        self.body.setSpacing(SMALL)
        self.body.addWidget(boxed(line))

    def show_scheme(self, scheme: str) -> None:
        """Mark a scheme without a signal; an unknown name stands for the system's."""
        known = Scheme(scheme) if scheme in set(Scheme) else Scheme.SYSTEM
        self._quiet = True
        self.choices[known].setChecked(True)
        self._quiet = False

    def _toggled(self, scheme: Scheme, on: bool) -> None:
        if on and not self._quiet:
            self.chosen.emit(scheme.value)
