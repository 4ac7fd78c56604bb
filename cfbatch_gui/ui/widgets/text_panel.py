"""A text with the places of what is searched for marked in it."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetrics, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QTextEdit

from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Card, ElidedLabel, IconButton, Label, row
from cfbatch_gui.ui.widgets.marks import mark_format, marked_spans

_FOLDED_LINES, _OPEN_LINES = 3, 14
_MOST_MARKS = 1_000
_LONGEST = 200_000  # characters that are shown; copying the row copies all of them


class TextPanel(Card):
    """`lines` is the number of lines shown while it is folded."""

    def __init__(self, *, lines: int = _FOLDED_LINES) -> None:
        super().__init__(inset=True, gap=2, margins=(LARGE, 6, SMALL, MEDIUM))
        self._lines = lines
        self._is_open = False
        self._sought = ""
        self._heading = Label("", "strong")
        self._about = ElidedLabel("", "quiet")
        self._about.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._fold = IconButton("chevron-up", self.tr("Show the whole text"))
        self._fold.clicked.connect(lambda: self.set_open(not self._is_open))
        self._text = PlainText(self.tr("Text"))
        self._text.document().documentLayout().documentSizeChanged.connect(self._show_fold)
        self._problem = Label("", "attention", wrap=True)
        self._rest = ElidedLabel("", "small")
        self.body.addLayout(row(self._heading, 8, (self._about, 1), self._fold))
        for part in (self._text, self._problem, self._rest):
            self.body.addWidget(part)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._keep_head_height()
        self.set_open(False)
        self.show_text("", "")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._keep_head_height()
            self._text.mark(self._sought)  # in the colours of the theme

    def show_text(self, heading: str, text: str, *, about: str = "", problem: str = "", rest: str = "") -> None:
        """`about` stands beside the heading, `problem` says why there is no result, `rest` is the rest of its row."""
        self._heading.setText(heading)
        self._about.setText(about)
        if text != self._text.toPlainText():
            self._text.setPlainText(text[:_LONGEST] + ("…" if len(text) > _LONGEST else ""))
            self._text.mark(self._sought)
        self._problem.say(problem)
        self._rest.say(rest)

    def mark(self, sought: str) -> None:
        """Mark the places of `sought`, and scroll to the first; "" marks none."""
        self._sought = sought
        self._text.mark(sought)

    def text(self) -> str:
        return self._text.toPlainText()

    def heading(self) -> str:
        return self._heading.text()

    def problem(self) -> str:
        return self._problem.text()

    def set_open(self, is_open: bool) -> None:
        """Open the panel or fold it; the height does not depend on the text, so the page stays still."""
        self._is_open = is_open
        self._text.set_lines(_OPEN_LINES if is_open else self._lines)
        name = self.tr("Show less") if is_open else self.tr("Show the whole text")
        self._fold.set_icon("chevron-down" if is_open else "chevron-up")
        self._fold.setAccessibleName(name)
        self._fold.setToolTip(name)
        self._show_fold()

    def unfold(self) -> None:
        if not self._fold.isHidden():
            self.set_open(True)

    def _keep_head_height(self) -> None:
        self._heading.setMinimumHeight(self._fold.sizeHint().height())

    def _show_fold(self) -> None:
        is_more = self._is_open or self._text.document().size().height() > self._lines
        self._fold.setVisible(is_more)
        self._about.setContentsMargins(0, 0, 0 if is_more else LARGE - SMALL, 0)  # aligned with the text below


class PlainText(QPlainTextEdit):
    """Read-only text without a frame; each paragraph runs in its own direction."""

    def __init__(self, name: str) -> None:
        super().__init__(readOnly=True, tabChangesFocus=True)
        self.setAccessibleName(name)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # else it begins scrolled by some pixels
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setStyleSheet("QPlainTextEdit { background: transparent; border: none; padding: 0; }")
        self.document().setDocumentMargin(0)

    def mark(self, sought: str) -> None:
        """Mark the places of `sought`, and scroll to the first; "" marks none."""
        spans = marked_spans(self.toPlainText(), sought)
        self.mark_spans(spans)
        if spans:
            cursor = QTextCursor(self.document())
            cursor.setPosition(spans[0][0])
            self.setTextCursor(cursor)
            self.ensureCursorVisible()

    def mark_spans(self, spans: Sequence[tuple[int, int]]) -> None:
        """Start and length of each place, in UTF-16 code units."""
        marks: list[QTextEdit.ExtraSelection] = []
        for start, length in spans[:_MOST_MARKS]:
            mark = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
            mark.cursor, mark.format = cursor, mark_format()
            marks.append(mark)
        self.setExtraSelections(marks)

    def set_lines(self, lines: int) -> None:
        self.setFixedHeight(QFontMetrics(self.font()).lineSpacing() * lines + 4)

    def sizeHint(self) -> QSize:
        return QSize(200, self.minimumHeight())
