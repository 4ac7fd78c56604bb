"""The frame of a connection's card, and the card that chooses light or dark."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY, WIDE, Scheme
from cfbatch_gui.ui.widgets import Card, IconLabel, Label, MoreButton, StateLabel, column, row

_LINE = 20  # pixels: the height of the choice beside it


class ConnectionCard(Card):
    """A connection: icon, name, state, description, and the choice to use it for new jobs; subclasses add content."""

    def __init__(self, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._title = Label("", "part")
        self._sentence = Label("", "quiet", wrap=True)
        self.state = StateLabel()
        self.state.hide()
        self.mark = StateLabel()
        self.mark.hide()
        self.choice = QRadioButton(self.tr("Use for new jobs"))
        self.more = MoreButton("")
        self.more.setStyleSheet(f"min-height: {_LINE}px; max-height: {_LINE}px")
        self.more.hide()
        texts = column(row(self._title, self.state, self.mark, None, gap=MEDIUM), self._sentence, gap=TINY)
        right = column(row(self.choice, self.more, gap=TINY), None)
        line = row(column(IconLabel(icon, "accent", 24), None), texts, right, gap=MEDIUM)
        line.setStretch(1, 1)
        self.body.addLayout(line)

    def set_words(self, title: str, sentence: str, choice_name: str) -> None:
        """Show its name and description, and set the accessible name of the choice."""
        self._title.setText(title)
        self._sentence.setText(sentence)
        self.choice.setAccessibleName(choice_name)
        more = self.tr("More about {name}").format(name=title)
        self.more.setAccessibleName(more)
        self.more.setToolTip(display.plain_tip(more))

    def title(self) -> str:
        """The name of the connection."""
        return self._title.text()

    def set_choice_possible(self, why_not: str) -> None:
        """Enable the choice with "", or disable it with the sentence that says why it cannot be used."""
        self.choice.setEnabled(not why_not)
        self.choice.setToolTip(why_not)
        self.choice.setAccessibleDescription(why_not)


class AppearanceCard(Card):
    """The choice of light, dark, or the system's scheme. Only the user's choice emits `chosen`."""

    chosen = Signal(str)  # a `Scheme`

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.choices = {
            Scheme.SYSTEM: QRadioButton(self.tr("As the system")),
            Scheme.LIGHT: QRadioButton(self.tr("Light")),
            Scheme.DARK: QRadioButton(self.tr("Dark")),
        }
        self._group = QButtonGroup(self)
        line = row(Label(self.tr("Appearance"), "part"), None, gap=WIDE)
        for scheme, choice in self.choices.items():
            choice.setAccessibleName(self.tr("Appearance: {choice}").format(choice=choice.text()))
            self._group.addButton(choice)
            choice.toggled.connect(lambda on, scheme=scheme: self._toggled(scheme, on))
            line.addWidget(choice)
        self._quiet = False
        self.body.setSpacing(SMALL)
        self.body.addLayout(line)

    def show_scheme(self, scheme: str) -> None:
        """Mark a scheme without a signal; an unknown name stands for the system's."""
        known = Scheme(scheme) if scheme in set(Scheme) else Scheme.SYSTEM
        self._quiet = True
        self.choices[known].setChecked(True)
        self._quiet = False

    def _toggled(self, scheme: Scheme, on: bool) -> None:
        if on and not self._quiet:
            self.chosen.emit(scheme.value)
