"""Boxes: cards, foldable sections, large choices, and what is shown instead of missing content."""

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QRadioButton,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QStyleOption,
    QVBoxLayout,
    QWidget,
)

from cfbatch_gui.ui.theme import LARGE, MEDIUM, RADIUS_CARD, SMALL, scaled
from cfbatch_gui.ui.widgets.box_layouts import Item, column
from cfbatch_gui.ui.widgets.buttons import IconButton, PrimaryButton, paint_focus_ring
from cfbatch_gui.ui.widgets.keyboard import KeyboardRing
from cfbatch_gui.ui.widgets.labels import Clickable, ElidedLabel, IconLabel, Label

CARD_MARGINS = (20, LARGE, 20, 18)


class Card(QFrame):
    def __init__(
        self, *items: Item, inset: bool = False, gap: int = SMALL, margins: tuple[int, int, int, int] = CARD_MARGINS
    ) -> None:
        super().__init__()
        self.setProperty("kind", "inset" if inset else "card")
        self.body = column(*items, gap=gap, margins=margins)
        self.setLayout(self.body)


class SectionCard(Card):
    """Folds to one line with a summary; `content` is the layout below, `actions_row` the one at its right."""

    folded_changed = Signal(bool)

    def __init__(self, title: str, *, foldable: bool = True) -> None:
        super().__init__()
        self._foldable = foldable
        self._tick = IconLabel("circle", "quiet", 18)
        self._title = Label(title, "part")
        self._summary = ElidedLabel("", "quiet")
        self._summary.hide()
        self._fold = IconButton("chevron-up", self.tr("Fold"))
        self._fold.setVisible(False)
        self._fold.clicked.connect(lambda: self.set_folded(not self.is_folded()))
        self._actions = QWidget()
        self.actions_row = QHBoxLayout(self._actions)
        self.actions_row.setContentsMargins(0, 0, 0, 0)
        self.actions_row.setSpacing(SMALL)
        header = Clickable()
        header.setProperty("kind", "plain")
        header.clicked.connect(lambda: self.set_folded(False))
        line = QHBoxLayout(header)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(SMALL)
        line.addWidget(self._tick)
        line.addWidget(self._title)
        line.addWidget(self._summary, 1)
        line.addStretch(0)
        line.addWidget(self._actions)
        line.addWidget(self._fold)
        header.setMinimumHeight(scaled(30))  # with buttons or without
        self._content = QWidget()
        self.content = QVBoxLayout(self._content)
        self.content.setContentsMargins(0, SMALL, 0, 0)
        self.content.setSpacing(MEDIUM)
        self.body.setContentsMargins(20, MEDIUM, 20, 18)
        self.body.setSpacing(0)
        self.body.addWidget(header)
        self.body.addWidget(self._content, 1)
        self._filler = QWidget()
        line.insertWidget(3, self._filler, 1)

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
        self.body.setContentsMargins(20, MEDIUM, 20, MEDIUM if folded else 18)
        self._summary.setVisible(folded)
        self._filler.setVisible(not folded)
        self._fold.set_icon("chevron-down" if folded else "chevron-up")
        self._fold.setAccessibleName(self.tr("Open") if folded else self.tr("Fold"))
        self._fold.setToolTip(self._fold.accessibleName())
        self.folded_changed.emit(folded)

    def is_folded(self) -> bool:
        return self._content.isHidden()


class ChoiceCard(KeyboardRing, QRadioButton):
    """A radio button whose group are its siblings; `chosen` is only a request: the page calls `set_chosen`."""

    chosen = Signal()

    def __init__(self, icon: str, title: str, subtitle: str) -> None:
        super().__init__()
        self.setProperty("kind", "choice")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(title)
        self.setAccessibleDescription(subtitle)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setMinimumHeight(scaled(61))
        self._icon_name = icon
        self._icon = IconLabel(icon, "quiet", 20)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addStretch(1)
        texts.addWidget(Label(title, "strong", wrap=True))
        texts.addWidget(Label(subtitle, "small", wrap=True))
        texts.addStretch(1)
        self._line = layout = QHBoxLayout(self)
        layout.setContentsMargins(18, SMALL, LARGE, SMALL)
        layout.setSpacing(13)
        layout.addWidget(self._icon)
        layout.addLayout(texts, 1)
        self.toggled.connect(self._show_chosen)
        self.clicked.connect(lambda _checked=False: self.chosen.emit())

    def is_chosen(self) -> bool:
        return self.isChecked()

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
        option = QStyleOption()
        option.initFrom(self)
        if self.isChecked():
            option.state |= QStyle.StateFlag.State_On
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        if self.has_ring:
            paint_focus_ring(painter, self, RADIUS_CARD - 1, "text" if self.is_chosen() else "accent")

    def _share_tab(self) -> None:
        """Let Tab come to the marked one of the group, or to each while none is, which Qt does not do."""
        parent = self.parentWidget()
        group = [self] if parent is None else parent.findChildren(ChoiceCard)
        is_open = not any(card.isChecked() for card in group)
        for card in group:
            tab = is_open or card.isChecked()
            card.setFocusPolicy(Qt.FocusPolicy.StrongFocus if tab else Qt.FocusPolicy.ClickFocus)

    def _show_chosen(self, chosen: bool) -> None:
        self._icon.set_icon(self._icon_name, "accent" if chosen else "quiet")


class EmptyPlace(QWidget):
    pressed = Signal()

    def __init__(self, icon: str, sentence: str, button: str = "", button_icon: str = "") -> None:
        super().__init__()
        self._sentence = Label(sentence, "quiet", wrap=True)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._sentence.setMaximumWidth(scaled(420))
        middle = QHBoxLayout()  # an alignment would make Qt guess the height of wrapped text
        middle.addStretch(1)
        middle.addWidget(self._sentence, 1000)
        middle.addStretch(1)
        column = QVBoxLayout(self)
        column.setSpacing(MEDIUM)
        column.addStretch(1)
        column.addWidget(IconLabel(icon, "quiet", 28), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addLayout(middle)
        self.button = PrimaryButton(button, button_icon, self.pressed.emit)
        self.button.setVisible(bool(button))
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)

    def set_sentence(self, sentence: str) -> None:
        self._sentence.setText(sentence)

    def sentence(self) -> str:
        return self._sentence.text()


class MaybeEmpty(QStackedWidget):
    def __init__(self, icon: str, content: QWidget | None = None) -> None:
        super().__init__()
        self._empty = EmptyPlace(icon, "")
        self.addWidget(self._empty)
        if content is not None:
            self.set_content(content)

    def set_content(self, content: QWidget) -> None:
        self.addWidget(content)

    def show_content(self) -> None:
        self.setCurrentIndex(1)

    def show_sentence(self, sentence: str) -> None:
        self._empty.set_sentence(sentence)
        self.setCurrentIndex(0)
