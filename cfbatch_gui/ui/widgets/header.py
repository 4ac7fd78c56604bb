"""The header of every page: its title, a line with state and details below, and the page's buttons at the right."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QSizePolicy, QVBoxLayout, QWidget

from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets.box_layouts import Flow, boxed, column
from cfbatch_gui.ui.widgets.buttons import Button, MoreButton
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order
from cfbatch_gui.ui.widgets.labels import ElidedLabel, Label, Role, StateLabel

_LEAST_WORDS = 110  # pixels of the title, before the buttons stand below it


class PageHeader(QWidget):
    """The title, if there is one, the state line below it, and buttons at the right.

    `more` is the "…" menu, hidden until the page shows it. With `renamable`, a click on the title edits it, and
    `renamed` is emitted with the new, non-empty name.
    """

    renamed = Signal(str)

    def __init__(self, title: str = "", *, renamable: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = _Title(title, "title")
        self._title.setContentsMargins(0, 1, 0, 0)
        self._title.setVisible(bool(title) or renamable)
        self._editor = _TitleEditor(self)
        self._editor.hide()
        self._editor.finished.connect(self._finish_renaming)
        self._renamable = renamable
        if renamable:
            self._title.setCursor(Qt.CursorShape.IBeamCursor)
            self._title.pressed.connect(self.rename)
        self.state = StateLabel()
        self.state.hide()
        self._dot = Label("·", "quiet")
        self._dot.hide()
        self._facts = ElidedLabel("", "quiet")
        below = QHBoxLayout()
        below.setSpacing(SMALL)
        below.addWidget(self.state)
        below.addWidget(self._dot)
        below.addWidget(self._facts, 1)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._title)
        texts.addWidget(self._editor)
        texts.addLayout(below)
        self._elsewhere: list[Button] = []  # on the page
        self._at_right: list[Button] = []
        self.more = MoreButton(self.tr("More"))
        self.more.hide()
        self._buttons = Flow(self.more)
        words = boxed(texts)
        texts.addStrut(scaled(_LEAST_WORDS))
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        texts.setContentsMargins(0, 0, 0, 0)
        # In a narrow window, or with a large font, the buttons stand below the words.
        self.setLayout(column(boxed(Flow(words, boxed(self._buttons))), margins=(WIDE, LARGE + 2, WIDE, 0)))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_title(self, title: str) -> None:
        """Replace the title, without `renamed`."""
        self._title.setText(title)
        self._title.setVisible(bool(title) and self._editor.isHidden())

    def title(self) -> str:
        """The whole title, also while it is shown elided."""
        return self._title.whole_text()

    def set_state(self, text: str, icon: str, colour_role: Role = "quiet") -> None:
        """Show a state as word, icon and colour; an empty word hides it."""
        self.state.set_state(text, icon, colour_role)
        self.state.setVisible(bool(text))
        self._dot.setVisible(bool(text and self._facts.whole_text()))

    def set_facts(self, *facts: str) -> None:
        """Show texts beside the state, joined by middle dots; empty ones are left out."""
        self._facts.setText(" · ".join(text for text in facts if text))
        self._dot.setVisible(bool(self.state.text() and any(facts)))

    def facts(self) -> str:
        """The texts beside the state, as one line."""
        return self._facts.whole_text()

    def add_button(self, button: Button) -> Button:
        """Add a button at the right, before the "…" menu."""
        self._buttons.removeWidget(self.more)
        for each in (button, self.more):  # which stays the last one
            self._buttons.addWidget(each)
        follow_in_tab_order(self._at_right[-1] if self._at_right else self._editor, button, self.more)
        self._at_right.append(button)
        return button

    def also_offer(self, *buttons: Button) -> None:
        """Offer buttons that stand elsewhere on the page in the menu bar too, before those of the header."""
        self._elsewhere.extend(buttons)

    def fill_menu(self, menu: QMenu) -> None:
        """Add what the page offers: its buttons, then the entries of its "…" menu; what is not possible is disabled."""
        for button in (*self._elsewhere, *self._at_right):
            if not button.isHidden():
                action = menu.addAction(button.icon(), button.text())
                action.setEnabled(button.isEnabled())
                action.setToolTip(button.toolTip())
                action.triggered.connect(lambda _checked=False, button=button: button.click())
        menu.addSeparator()
        menu.addActions(self.more.menu().actions())

    def rename(self) -> None:
        """Turn the title into a field: Enter and leaving it keep the new name, Escape keeps the old one."""
        if not self._renamable:
            return
        self._editor.setText(self.title())
        self._title.hide()
        self._editor.show()
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self._editor.selectAll()

    def _finish_renaming(self, keep: bool) -> None:
        if self._editor.isHidden():
            return
        name = self._editor.text().strip()
        self._editor.hide()
        self._title.show()
        if keep and name and name != self.title():
            self._title.setText(name)
            self.renamed.emit(name)


class _Title(ElidedLabel):
    pressed = Signal()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pressed.emit()


class _TitleEditor(QLineEdit):
    finished = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Name"))
        self.setMaxLength(200)
        self.editingFinished.connect(lambda: self.finished.emit(True))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.finished.emit(False)
        else:
            super().keyPressEvent(event)
