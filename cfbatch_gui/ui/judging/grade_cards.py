"""The grades of a scale as cards in a row, each with the digit that gives it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from cfbatch_gui.core.judgements.values import Grade, Scale
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import ElidedLabel, Flow, Label, column, row

_WIDEST_NAME = 180  # pixels; a longer one ends in "…"


class KeyCap(Label):
    """A key as it looks on a keyboard."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, "small", parent=parent)
        self.setProperty("kind", "key")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)


class GradeCards(QWidget):
    """`given` has the grade of a card that was clicked. The keys are those of the page, so no card takes the focus."""

    given = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = Flow(gap=MEDIUM)
        self.setLayout(self._row)
        self._cards: list[_GradeCard] = []

    def show_scale(self, scale: Scale) -> None:
        """Show the grades of this scale, none chosen."""
        for card in self._cards:
            self._row.removeWidget(card)
            card.deleteLater()
        self._cards = [_GradeCard(grade) for grade in scale.grades]
        for card in self._cards:
            card.clicked.connect(self.given)
            self._row.addWidget(card)

    def choose(self, value: int | None) -> None:
        """Mark the card of a grade as chosen, None for no card."""
        for card in self._cards:
            card.set_chosen(card.grade.value == value)

    def chosen(self) -> int | None:
        """The grade whose card is marked."""
        return next((card.grade.value for card in self._cards if card.property("selected") == "true"), None)


class _GradeCard(QFrame):
    clicked = Signal(int)

    def __init__(self, grade: Grade) -> None:
        super().__init__()
        self.grade = grade
        self.setProperty("kind", "choice")
        self.setProperty("selected", "false")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        words, explained = said(grade.name), said(grade.meaning)
        self.setAccessibleName(words)
        self.setAccessibleDescription(explained)
        texts = (KeyCap(str(grade.value)), ElidedLabel(words, "strong"), ElidedLabel(explained, "small"))
        cap, name, meaning = texts
        margins = (LARGE, MEDIUM, SMALL, MEDIUM)
        self.setLayout(column(row(cap, None), TINY, name, meaning, gap=2, margins=margins))
        self.setMinimumWidth(min(name.sizeHint().width(), scaled(_WIDEST_NAME)) + LARGE + SMALL + 2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_chosen(self, chosen: bool) -> None:
        """Mark the card as chosen or not."""
        value = "true" if chosen else "false"
        if self.property("selected") != value:
            self.setProperty("selected", value)
            self.style().unpolish(self)
            self.style().polish(self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit(self.grade.value)
