"""The choice of the program's language."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.system.languages import language_in_use, languages
from cfbatch_gui.ui.theme import SMALL, WIDE
from cfbatch_gui.ui.widgets import Card, Choice, Label, row


class LanguageCard(Card):
    """The system's language or one of ours. Only the user's choice emits `chosen`, with a code or "".

    The pages keep the language that they were made in, so a choice holds from the next start; a sentence says so.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.choice = Choice(self.tr("Language"))
        self.choice.add(self.tr("Match system"), "")
        for language in languages():
            self.choice.add(language.name, language.code)
        self.choice.picked.connect(lambda code: self._choose(str(code)))
        self.later = Label("", "quiet", wrap=True)
        self.later.hide()
        self.body.setSpacing(SMALL)
        self.body.addLayout(row(Label(self.tr("Language"), "part"), None, self.choice, gap=WIDE))
        self.body.addWidget(self.later)

    def show_language(self, code: str) -> None:
        """Show what is chosen in the settings; an unknown code stands for the system's language."""
        self.choice.set_value("")
        self.choice.set_value(code)

    def _choose(self, code: str) -> None:
        self.chosen.emit(code)
        names = {language.code: language.name for language in languages()}
        if not code:
            self.later.setText(self.tr("From the next start on, CF Batch has the language of your system."))
        else:
            self.later.setText(
                self.tr("From the next start on, CF Batch speaks {language}.").format(language=names[code])
            )
        self.later.setVisible(code != language_in_use().code)
