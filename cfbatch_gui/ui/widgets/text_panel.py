"""The whole of one text: plain, selectable, in any script; three lines, or as much as there is room for."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Card, ElidedLabel, IconButton, Label, row

_FOLDED_LINES, _OPEN_LINES = 3, 14
_LONGEST = 200_000  # characters that are laid out; the rest is copied with the row


class TextPanel(Card):
    """A heading, what belongs to the text at the right, the text, and a quiet line for the rest of its row."""

    def __init__(self, *, lines: int = _FOLDED_LINES, parent: QWidget | None = None) -> None:
        super().__init__(inset=True, parent=parent)
        self._lines = lines
        self._is_open = False
        self._heading = Label("", "strong")
        self._about = ElidedLabel("", "quiet")
        self._about.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._fold = IconButton("chevron-up", self.tr("Show the whole text"))
        self._fold.clicked.connect(lambda: self.set_open(not self._is_open))
        self._text = _PlainText(self.tr("Text"))
        self._text.document().documentLayout().documentSizeChanged.connect(self._show_fold)
        self._problem = Label("", "attention", wrap=True)
        self._rest = ElidedLabel("", "small")
        self.body.setContentsMargins(LARGE, 6, SMALL, MEDIUM)
        self.body.setSpacing(2)
        head = row(self._heading, 8)
        head.addWidget(self._about, 1)
        head.addWidget(self._fold)
        head.addStrut(self._fold.sizeHint().height())  # with the button or without it, nothing below moves
        self.body.addLayout(head)
        self.body.addWidget(self._text)
        self.body.addWidget(self._problem)
        self.body.addWidget(self._rest)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_open(False)
        self.show_text("", "")

    def show_text(self, heading: str, text: str, *, about: str = "", problem: str = "", rest: str = "") -> None:
        """Show another text; `problem` says why it has no result, `rest` what else stands in its row."""
        self._heading.setText(heading)
        self._about.setText(about)
        if text != self._text.toPlainText():
            self._text.setPlainText(text[:_LONGEST] + ("…" if len(text) > _LONGEST else ""))
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self._rest.setText(rest)
        self._rest.setVisible(bool(rest))

    def text(self) -> str:
        """What is shown."""
        return self._text.toPlainText()

    def heading(self) -> str:
        """The words above it."""
        return self._heading.text()

    def problem(self) -> str:
        """Why it has no result."""
        return self._problem.text()

    def set_open(self, is_open: bool) -> None:
        """Unfold, or fold to a few lines. The height does not depend on the text, so that nothing jumps."""
        self._is_open = is_open
        self._text.set_lines(_OPEN_LINES if is_open else self._lines)
        name = self.tr("Show less") if is_open else self.tr("Show the whole text")
        self._fold.set_icon("chevron-down" if is_open else "chevron-up")
        self._fold.setAccessibleName(name)
        self._fold.setToolTip(name)
        self._show_fold()

    def unfold(self) -> None:
        """Show the whole text, where there is more of it than is seen."""
        if not self._fold.isHidden():
            self.set_open(True)

    def _show_fold(self) -> None:
        """The button stands only where there is more to see; the size of plain text is counted in lines."""
        is_more = self._is_open or self._text.document().size().height() > self._lines
        self._fold.setVisible(is_more)
        self._about.setContentsMargins(0, 0, 0 if is_more else LARGE - SMALL, 0)  # in line with the text below


class _PlainText(QPlainTextEdit):
    """Read-only text without a frame; each paragraph runs in its own direction."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setStyleSheet("QPlainTextEdit { background: transparent; border: none; padding: 0; }")
        self.document().setDocumentMargin(0)

    def set_lines(self, lines: int) -> None:
        """As high as that many lines."""
        self.setFixedHeight(QFontMetrics(self.font()).lineSpacing() * lines + 4)

    def sizeHint(self) -> QSize:
        return QSize(200, self.minimumHeight())
