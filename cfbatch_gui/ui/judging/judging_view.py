"""One query and one text, large, with the grades below; everything by single keys."""

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QKeyEvent, QTextOption
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from cfbatch_gui.core.judgements.session import Shown
from cfbatch_gui.core.judgements.values import Scale
from cfbatch_gui.ui import display
from cfbatch_gui.ui.accessibility import announce
from cfbatch_gui.ui.judging.grade_cards import GradeCards, KeyCap
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE
from cfbatch_gui.ui.widgets import Card, Flow, IconLine, Label, LinkButton, ThinProgress, boxed, column, line, row

_FEWEST_LINES = 2  # of the text, in a small window
_LONGEST = 50_000  # characters of a text that are laid out
_MINUTE = 60.0


class JudgingView(QWidget):
    """`answered` has a grade, or None for "cannot tell"; `undo_wanted` asks for the text before.

    It shows what it is told and keeps no answers.
    """

    accessible_role = QAccessible.Role.Document
    answered = Signal(object)
    undo_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._grades = 0
        self._count, self._left, self._query_number = Label("", "strong"), Label("", "quiet"), Label("", "quiet")
        self.progress = ThinProgress()
        self._query = Label("", "title", wrap=True)
        self._given = Label("", "attention", wrap=True)
        self._text = _LargeText(self.tr("The text to judge"))
        self.cards = GradeCards()
        self.cards.given.connect(self.answered.emit)
        self._note = QLineEdit()
        self._note.setPlaceholderText(self.tr("A note on this text; Enter goes on"))
        self._note.setAccessibleName(self.tr("Note"))
        self._note.setMaxLength(2000)
        self._note.returnPressed.connect(self._leave_note)
        self._note.hide()
        self._saved = Label("", "quiet")
        self._foot = IconLine("", "eye-off")
        card = Card(inset=True)
        card.body.setContentsMargins(WIDE, MEDIUM, SMALL, MEDIUM)
        card.body.addWidget(self._text, 1)
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
            margins=(WIDE, SMALL, WIDE, LARGE),
        )
        content.addWidget(card, 3)
        content.addSpacing(SMALL)
        content.addWidget(self.cards)
        content.addWidget(self._note)
        content.addLayout(self._keys)
        content.addStretch(1)
        whole = column(gap=0)
        whole.addLayout(content, 1)
        whole.addWidget(line())
        whole.addLayout(column(self._foot, margins=(WIDE, SMALL, WIDE, MEDIUM)))
        self.setLayout(whole)

    def _make_links(self) -> None:
        self._untold = LinkButton(self.tr("Cannot tell"))
        self._untold.clicked.connect(lambda: self.answered.emit(None))
        self._undo = LinkButton(self.tr("Undo"))
        self._undo.clicked.connect(self.undo_wanted)
        self._write = LinkButton(self.tr("Note"))
        self._write.clicked.connect(self._open_note)
        for link in (self._untold, self._undo, self._write):
            link.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # each has a key, and Space is one of them
        pairs = ((self.tr("Space"), self._untold), ("⌫", self._undo), ("N", self._write))
        hints = [boxed(row(KeyCap(key), link, gap=TINY)) for key, link in pairs]
        self._keys = column(boxed(Flow(*hints, None, self._saved, gap=LARGE)), margins=(0, SMALL, 0, 0))

    def show_scale(self, scale: Scale, foot: str) -> None:
        """Show the grades to choose from, and a sentence at the foot."""
        self._grades = len(scale.grades)
        self.cards.show_scale(scale)
        self._foot.set_line(foot)

    def show_pair(self, shown: Shown, *, chosen: int | None = None, given: str = "") -> None:
        """Show a query with a text. `chosen` marks the grade given before, `given` says what judges have said."""
        self._query.setText(shown.query.text or shown.query.id)
        self._text.show_text(shown.document.text or shown.document.id)
        self._given.setText(given)
        self._given.setVisible(bool(given))
        self.cards.choose(chosen)
        self._note.clear()
        self._note.hide()
        self.setAccessibleName(self._query.text())
        self.setAccessibleDescription(self._text.toPlainText())
        announce(self, f"{self._query.text()}: {self._text.toPlainText()}")

    def show_progress(self, done: int, total: int, seconds: float, query: str) -> None:
        """Show how many are judged, how long the rest takes, and at which query this is."""
        self._count.setText(self.tr("{n} of {all}").format(n=display.number(done), all=display.number(total)))
        self._left.setText(_time_left(seconds) if done < total else "")
        self._query_number.setText(query)
        self.progress.set_parts(done, total)
        self._undo.setEnabled(done > 0)
        self._saved.setText(self.tr("Saved") if done else "")

    def note(self) -> str:
        """The note on the text that is shown."""
        return self._note.text().strip()

    def words(self) -> list[str]:
        """The query, the text, the progress and the time left, as they are shown."""
        return [self._query.text(), self._text.toPlainText(), self._count.text(), self._left.text()]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        has_modifier = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        if event.isAutoRepeat() or has_modifier:
            super().keyPressEvent(event)
        elif event.text().isdecimal() and event.text().isascii() and int(event.text()) < self._grades:
            self.answered.emit(int(event.text()))
        elif event.key() == Qt.Key.Key_Space:
            self.answered.emit(None)
        elif event.key() == Qt.Key.Key_Backspace:
            self.undo_wanted.emit()
        elif event.key() == Qt.Key.Key_N:
            self._open_note()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self._text.scroll_by_key(event)
        else:
            super().keyPressEvent(event)

    def _open_note(self) -> None:
        self._note.show()
        self._note.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_note(self) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)


class _LargeText(QPlainTextEdit):
    """Read-only text in a large font, which scrolls if it is longer than the page."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setProperty("kind", "large")
        self.document().setDocumentMargin(0)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), _FEWEST_LINES * self.fontMetrics().lineSpacing())

    def show_text(self, text: str) -> None:
        """Show a text from its beginning."""
        self.setPlainText(text[:_LONGEST] + ("…" if len(text) > _LONGEST else ""))

    def scroll_by_key(self, event: QKeyEvent) -> None:
        """Scroll by an arrow or page key that the page got."""
        bar = self.verticalScrollBar()
        page = event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
        step = bar.pageStep() if page else bar.singleStep()
        forward = event.key() in (Qt.Key.Key_Down, Qt.Key.Key_PageDown)
        bar.setValue(bar.value() + (step if forward else -step))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # the page has the keys, also after a click into the text


def _time_left(seconds: float) -> str:
    minutes = round(seconds / _MINUTE)
    if minutes < 1:
        return _tr("less than a minute left")
    return display.plural(minutes, "about {n} minute left", "about {n} minutes left")


def _tr(text: str) -> str:
    return QCoreApplication.translate("JudgingView", text)
