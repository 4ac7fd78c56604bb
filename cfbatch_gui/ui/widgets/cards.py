"""Boxes: cards, foldable sections, large choices, and what is shown instead of missing content."""

from PySide6 import QtWidgets
from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QWidget

from cfbatch_gui.ui.theme import LARGE, MEDIUM, RADIUS_CARD, SMALL, scaled
from cfbatch_gui.ui.widgets.box_layouts import Item, boxed, column, row
from cfbatch_gui.ui.widgets.buttons import IconButton, LinkButton, PrimaryButton, paint_focus_ring
from cfbatch_gui.ui.widgets.keyboard import KeyboardRing
from cfbatch_gui.ui.widgets.labels import Clickable, ElidedLabel, IconLabel, Label
from cfbatch_gui.words.languages import tr

CARD_MARGINS = (20, LARGE, 20, 18)


class Card(QtWidgets.QFrame):
    def __init__(
        self, *items: Item, inset: bool = False, gap: int = SMALL, margins: tuple[int, int, int, int] = CARD_MARGINS
    ) -> None:
        super().__init__()
        self.setProperty("kind", "inset" if inset else "card")
        self.body = column(*items, gap=gap, margins=margins)
        self.setLayout(self.body)


class SectionCard(Card):
    """Folds to one line with a summary; `content` is the layout below, `actions_row` the one at its right. `unfold` is
    the text of a link that is there while it is folded.
    """

    folded_changed = Signal(bool)

    def __init__(self, title: str, *, foldable: bool = True, unfold: str = "") -> None:
        super().__init__(gap=0, margins=(20, MEDIUM, 20, 18))
        self._foldable = foldable
        self._tick = IconLabel("circle", "quiet", 18)
        self._title = ElidedLabel(title, "part")
        self._title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._summary = ElidedLabel("", "quiet")
        self._summary.hide()
        self._fold = IconButton("chevron-up", self.tr("Fold"))
        self._fold.setVisible(False)
        self._fold.clicked.connect(lambda: self.set_folded(not self.is_folded()))
        self.unfold_link = LinkButton(unfold, on_click=lambda: self.set_folded(False))
        self.unfold_link.hide()
        self.actions_row = row()
        self._actions, self._filler = boxed(self.actions_row), QWidget()
        header = Clickable()
        header.setProperty("kind", "plain")
        header.clicked.connect(lambda: self.set_folded(False))
        parts = (self._tick, self._title, (self._summary, 1), (self._filler, 1))
        header.setLayout(row(*parts, self._actions, self.unfold_link, self._fold))
        header.setMinimumHeight(scaled(30))  # with buttons or without
        self.content = column(gap=MEDIUM, margins=(0, SMALL, 0, 0))
        self._content = boxed(self.content)
        self.body.addWidget(header)
        self.body.addWidget(self._content, 1)

    def set_done(self, done: bool) -> None:
        """Check or uncheck the section; only a checked one shows the chevron that folds it."""
        self._tick.set_icon("circle-check" if done else "circle", "done" if done else "quiet")
        self._title.setAccessibleDescription(self.tr("done") if done else "")
        self._fold.setVisible(done and self._foldable)

    def set_title(self, title: str) -> None:
        self._title.setText(title)

    def set_summary(self, text: str) -> None:
        self._summary.setText(text)

    def set_folded(self, folded: bool) -> None:
        if folded == self.is_folded():
            return
        self._content.setHidden(folded)
        self._actions.setHidden(folded)
        self.body.setContentsMargins(20, 9 if folded else MEDIUM, 20, 9 if folded else 18)
        self._summary.setVisible(folded)
        self._filler.setVisible(not folded)
        self.unfold_link.setVisible(folded and bool(self.unfold_link.text()))
        self._fold.set_icon("chevron-down" if folded else "chevron-up")
        words = tr("Show {what}").format(what=self._title.whole_text()) if folded else self.tr("Fold")
        self._fold.setAccessibleName(words)
        self._fold.setToolTip(words)
        self.folded_changed.emit(folded)

    def is_folded(self) -> bool:
        return self._content.isHidden()


class ChoiceCard(KeyboardRing, QtWidgets.QRadioButton):
    """A radio button whose group are its siblings; `chosen` is only a request: the page calls `set_chosen`. `content`
    is shown instead of the icon and the words, which it is then only called by.
    """

    chosen = Signal()

    def __init__(self, icon: str, title: str, subtitle: str, content: QtWidgets.QBoxLayout | None = None) -> None:
        super().__init__()
        self.setProperty("kind", "choice")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(title)
        self.setAccessibleDescription(subtitle)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setMinimumHeight(scaled(61))
        self._icon = IconLabel(icon, "quiet", 20)
        if content is None:
            words = column(None, Label(title, "strong", wrap=True), Label(subtitle, "small", wrap=True), None, gap=2)
            content = row(self._icon, (words, 1), gap=13, margins=(18, SMALL, LARGE, SMALL))
        self._line = content
        self.setLayout(self._line)
        self.toggled.connect(lambda chosen: self._icon.set_icon(icon, "accent" if chosen else "quiet"))
        self.clicked.connect(lambda _checked=False: self.chosen.emit())

    def set_chosen(self, chosen: bool) -> None:
        self.setAutoExclusive(chosen)  # Qt takes a mark away only where there is no group
        self.setChecked(chosen)
        self.setAutoExclusive(True)
        self._share_tab()

    def sizeHint(self) -> QSize:
        return self._line.totalSizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._line.totalMinimumSize()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QtWidgets.QStyleOption()
        option.initFrom(self)
        if self.isChecked():
            option.state |= QStyle.StateFlag.State_On
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        if self.has_ring:
            paint_focus_ring(painter, self, RADIUS_CARD - 1, "text" if self.isChecked() else "accent")

    def _share_tab(self) -> None:
        """Let Tab come to the marked one of the group, or to each while none is, which Qt does not do."""
        parent = self.parentWidget()
        group = [self] if parent is None else parent.findChildren(ChoiceCard)
        is_open = not any(card.isChecked() for card in group)
        for card in group:
            tab = is_open or card.isChecked()
            card.setFocusPolicy(Qt.FocusPolicy.StrongFocus if tab else Qt.FocusPolicy.ClickFocus)


class EmptyPlace(QWidget):
    pressed = Signal()

    def __init__(self, icon: str, sentence: str, button: str = "") -> None:
        super().__init__()
        self._sentence = Label(sentence, "quiet", wrap=True)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._sentence.setMaximumWidth(scaled(420))
        self.button = PrimaryButton(button, on_click=self.pressed.emit)
        # An alignment would make Qt guess the height of wrapped text.
        words = row(None, (self._sentence, 1000), None, gap=0)
        parts = (row(None, IconLabel(icon, "quiet", 28), None), words, row(None, self.button, None))
        self.setLayout(column(None, *parts, None, gap=MEDIUM, margins=(SMALL, SMALL, SMALL, SMALL)))
        self.button.setVisible(bool(button))

    def set_sentence(self, sentence: str) -> None:
        self._sentence.setText(sentence)

    def sentence(self) -> str:
        return self._sentence.text()


class MaybeEmpty(QtWidgets.QStackedWidget):
    """`content` may be added later; `empty.pressed` tells that the button below a sentence was pressed."""

    def __init__(self, icon: str, *content: QWidget) -> None:
        super().__init__()
        self.empty = EmptyPlace(icon, "")
        for each in (self.empty, *content):
            self.addWidget(each)

    def show_content(self) -> None:
        self.setCurrentIndex(1)

    def show_sentence(self, sentence: str, button: str = "") -> None:
        self.empty.set_sentence(sentence)
        self.empty.button.setText(button)
        self.empty.button.setVisible(bool(button))
        self.setCurrentIndex(0)
