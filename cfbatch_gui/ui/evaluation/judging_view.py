"""One query with one text, large, with the grades below, which are given by single keys."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QLineEdit,
    QSizePolicy,
    QWidget,
)

from cfbatch_gui.core.judgements.session import Shown
from cfbatch_gui.core.judgements.values import Grade, Scale
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.notices import announce
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Card,
    Clickable,
    ElidedLabel,
    Flow,
    IconLine,
    Label,
    LinkButton,
    ThinProgress,
    boxed,
    column,
    line,
    restyle,
    row,
)
from cfbatch_gui.ui.widgets.text_panel import PlainText

_WIDEST_NAME = 180  # pixels; a longer one ends in "…"


class KeyCap(Label):
    def __init__(self, text: str) -> None:
        super().__init__(text, "small")
        self.setProperty("kind", "key")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)


class _GradeCard(Clickable):
    def __init__(self, grade: Grade) -> None:
        super().__init__()
        self.grade = grade
        self.setProperty("kind", "choice")
        self.setProperty("selected", "false")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        words, explained = said(grade.name), said(grade.meaning)
        self.setAccessibleName(words)
        self.setAccessibleDescription(explained)
        name, meaning = ElidedLabel(words, "strong"), ElidedLabel(explained, "small")
        margins = (LARGE, MEDIUM, SMALL, MEDIUM)
        self.setLayout(column(row(KeyCap(str(grade.value)), None), TINY, name, meaning, gap=2, margins=margins))
        self.setMinimumWidth(min(name.sizeHint().width(), scaled(_WIDEST_NAME)) + LARGE + SMALL + 2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_chosen(self, chosen: bool) -> None:
        restyle(self, "selected", "true" if chosen else "false")


_FEWEST_LINES = 2  # of the text, in a small window
_LONGEST = 50_000  # characters of a text that are laid out
_MINUTE = 60.0


class JudgingView(QWidget):
    """`answer` is called with a grade, or None for "cannot tell"; `undo` goes back to the text before."""

    accessible_role = QAccessible.Role.Document

    def __init__(self, answer: Callable[[int | None], object], undo: Callable[[], object]) -> None:
        super().__init__()
        self._answer, self._go_back = answer, undo
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._grades = 0
        self._count, self._left, self._query_number = Label("", "strong"), Label("", "quiet"), Label("", "quiet")
        self.progress = ThinProgress()
        self._query = Label("", "title", wrap=True)
        self._given = Label("", "attention", wrap=True)
        self._text = _LargeText(self.tr("The text to judge"))
        self._cards = Flow(gap=MEDIUM)
        self.cards: list[_GradeCard] = []
        self._note = QLineEdit()
        self._note.setPlaceholderText(self.tr("A note on this text; Enter goes on"))
        self._note.setAccessibleName(self.tr("Note"))
        self._note.setMaxLength(2000)
        self._note.returnPressed.connect(self._leave_note)
        self._note.hide()
        self._saved = Label("", "quiet")
        self._foot = IconLine("", "eye-off")
        card = Card((self._text, 1), inset=True, margins=(WIDE, MEDIUM, SMALL, MEDIUM))
        self._make_links()
        content = column(
            row(self._count, MEDIUM, self._left, None, self._query_number),
            self.progress,
            LARGE,
            Label(self.tr("Somebody asks"), "quiet"),
            self._query,
            SMALL,
            Label(self.tr("Would this text help?"), "quiet"),
            self._given,
            (card, 3),
            SMALL,
            boxed(self._cards),
            self._note,
            self._keys,
            None,
            margins=(WIDE, SMALL, WIDE, LARGE),
        )
        foot = column(self._foot, margins=(WIDE, SMALL, WIDE, MEDIUM))
        self.setLayout(column((content, 1), line(), foot, gap=0))

    def _make_links(self) -> None:
        self._untold = LinkButton(self.tr("Cannot tell"), on_click=lambda: self._answer(None))
        self._undo = LinkButton(self.tr("Undo"), on_click=self._go_back)
        self._write = LinkButton(self.tr("Note"), on_click=self._open_note)
        for link in (self._untold, self._undo, self._write):
            link.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # each has a key, and Space is one of them
        pairs = ((self.tr("Space"), self._untold), ("⌫", self._undo), ("N", self._write))
        hints = [boxed(row(KeyCap(key), link, gap=TINY)) for key, link in pairs]
        self._keys = column(boxed(Flow(*hints, None, self._saved, gap=LARGE)), margins=(0, SMALL, 0, 0))

    def show_scale(self, scale: Scale, foot: str) -> None:
        self._grades = len(scale.grades)
        for card in self.cards:
            self._cards.removeWidget(card)
            card.deleteLater()
        self.cards = [_GradeCard(grade) for grade in scale.grades]
        for card in self.cards:
            card.clicked.connect(partial(self._answer, card.grade.value))
            self._cards.addWidget(card)
        self._foot.set_line(foot)

    def show_pair(self, shown: Shown, *, chosen: int | None = None, given: str = "") -> None:
        self._query.setText(shown.query.text or shown.query.id)
        self._text.show_text(shown.document.text or shown.document.id)
        self._given.setText(given)
        self._given.setVisible(bool(given))
        for card in self.cards:
            card.set_chosen(card.grade.value == chosen)
        self._note.clear()
        self._note.hide()
        self.setAccessibleName(self._query.text())
        self.setAccessibleDescription(self._text.toPlainText())
        announce(self, f"{self._query.text()}: {self._text.toPlainText()}")

    def show_progress(self, done: int, total: int, seconds: float, query: str) -> None:
        self._count.setText(self.tr("{n} of {all}").format(n=display.number(done), all=display.number(total)))
        self._left.setText(_time_left(seconds) if done < total else "")
        self._query_number.setText(query)
        self.progress.set_parts(done, total)
        self._undo.setEnabled(done > 0)
        self._saved.setText(self.tr("Saved") if done else "")

    def note(self) -> str:
        return self._note.text().strip()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        has_modifier = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        if event.isAutoRepeat() or has_modifier:
            super().keyPressEvent(event)
        elif event.text().isdecimal() and event.text().isascii() and int(event.text()) < self._grades:
            self._answer(int(event.text()))
        elif event.key() == Qt.Key.Key_Space:
            self._answer(None)
        elif event.key() == Qt.Key.Key_Backspace:
            self._go_back()
        elif event.key() == Qt.Key.Key_N:
            self._open_note()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            QAbstractScrollArea.keyPressEvent(self._text, event)
        else:
            super().keyPressEvent(event)

    def _open_note(self) -> None:
        self._note.show()
        self._note.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_note(self) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)


class _LargeText(PlainText):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setProperty("kind", "large")

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), _FEWEST_LINES * self.fontMetrics().lineSpacing())

    def show_text(self, text: str) -> None:
        self.setPlainText(text[:_LONGEST] + ("…" if len(text) > _LONGEST else ""))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # the page has the keys, also after a click into the text


def _time_left(seconds: float) -> str:
    minutes = round(seconds / _MINUTE)
    if minutes < 1:
        return tr("less than a minute left")
    return display.plural(minutes, "about {n} minute left", "about {n} minutes left")
