"""The frame of a connection's card, and the card that chooses light or dark."""

from PySide6.QtWidgets import QRadioButton, QWidget

from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import MEDIUM, TINY
from cfbatch_gui.ui.widgets import Card, Flow, IconLabel, Label, MoreButton, StateLabel, boxed, column, row

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
        head = boxed(Flow(self._title, self.state, self.mark, gap=MEDIUM))
        texts = column(head, self._sentence, gap=TINY)
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
