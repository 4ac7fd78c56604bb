"""Labels in the roles of the visual system: plain text, elided text, icons, states and figures with captions."""

from collections.abc import Collection, Sequence

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSizePolicy, QWidget

from cfbatch_gui.ui import display, icons
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY, scaled
from cfbatch_gui.ui.widgets.box_layouts import column, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.states import Role


def restyle(widget: QWidget, name: str, value: str) -> None:
    """Set a property that the stylesheet asks for."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class Label(QLabel):
    """Plain text in a role of the visual system; Qt never interprets it as markup."""

    def __init__(self, text: str = "", role: Role = "body", *, wrap: bool = False) -> None:
        super().__init__()
        self._unbroken = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setWordWrap(wrap)
        self.setText(text)

    def setText(self, text: str) -> None:
        self._unbroken = text
        super().setText(display.breakable(text) if self.wordWrap() else text)

    def say(self, text: str) -> None:
        """Be there only while there is something to say."""
        self.setText(text)
        self.setVisible(bool(text))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.wordWrap() and event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        return QSize(least.width(), self.heightForWidth(self.width())) if self.wordWrap() else least

    def text(self) -> str:
        """The text as it was set, without invisible break points."""
        return self._unbroken

    def set_role(self, role: Role) -> None:
        restyle(self, "role", role)


class Sentence(Label):
    """A text on one line where there is room for it, else on as many as it needs; for the lines of a `Flow`."""

    def __init__(self, text: str = "", role: Role = "body") -> None:
        super().__init__(text, role, wrap=True)

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().horizontalAdvance(self.text()) + 2
        return QSize(line, self.heightForWidth(line))


class Phrase(Sentence):
    """A sentence of which some words stand out in bold; it has the room that all of it would take so."""

    def __init__(self) -> None:
        super().__init__("", "strong")
        self._runs: figures.Runs = ()

    def set_runs(self, runs: figures.Runs) -> None:
        self._runs = runs
        self.setText(figures.plain(runs))
        self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        document = QtGui.QTextDocument()
        document.setDocumentMargin(0)
        document.setDefaultFont(self.font())
        document.setTextWidth(self.width())
        cursor, form = QtGui.QTextCursor(document), QtGui.QTextCharFormat()
        form.setForeground(self.palette().color(self.foregroundRole()))
        for text, stands_out in self._runs:
            form.setFontWeight(QFont.Weight.DemiBold if stands_out else QFont.Weight.Normal)
            cursor.insertText(text, form)
        with QPainter(self) as painter:
            document.drawContents(painter)


class ElidedLabel(Label):
    """One line of text, cut with "…" where the width ends; the tooltip then shows the whole text."""

    def __init__(self, text: str = "", role: Role = "body") -> None:
        self._whole = ""
        super().__init__("", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def setText(self, text: str) -> None:
        self._whole = text
        self.setAccessibleName(text)
        self._elide()

    def whole_text(self) -> str:
        return self._whole

    def sizeHint(self) -> QSize:
        line = figures.one_line(self._whole)
        return QSize(self.fontMetrics().horizontalAdvance(line) + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._elide()
        elif event.type() == QEvent.Type.StyleChange and self.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
            self._elide()  # before it is polished, the stylesheet's font is not set; setting it is a FontChange

    def _elide(self) -> None:
        line = figures.one_line(self._whole)
        shown = self.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, max(self.contentsRect().width(), 24))
        super().setText(shown)
        self.setToolTip(display.plain_tip(self._whole) if shown != self._whole else "")


class IconLabel(QWidget):
    """An icon; decoration, unless it is given an accessible name."""

    def __init__(self, name: str, colour_role: str = "text", size: int = 16) -> None:
        super().__init__()
        self._name, self._role, self._size = name, colour_role, size
        self.setFixedSize(size, size)

    def set_icon(self, name: str, colour_role: str) -> None:
        if (name, colour_role) != (self._name, self._role):
            self._name, self._role = name, colour_role
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        icons.paint_icon(painter, self.rect(), self._name, self._role)


class StateLabel(QWidget):
    """A state as an icon with a word, so that it does not depend on the colour alone."""

    def __init__(self, text: str = "", icon: str = "circle", colour_role: Role = "quiet") -> None:
        super().__init__()
        self._icon = IconLabel(icon, colour_role, 15)
        self._word = Sentence(text, colour_role)
        self._word.setProperty("state", "true")
        self.setLayout(row(self._icon, self._word, gap=5))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    def set_state(self, text: str, icon: str, colour_role: Role = "quiet") -> None:
        self._icon.set_icon(icon, colour_role)
        self._word.setText(text)
        self._word.set_role(colour_role)
        self.setAccessibleName(text)

    def remark(self, text: str, icon: str, *, is_urgent: bool) -> None:
        """Words beside something else, with a ground of their own where they ask for attention; no place without."""
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setContentsMargins(SMALL * is_urgent, 2, SMALL * is_urgent, 2)
        self.set_state(text, icon, "attention" if is_urgent else "quiet")
        restyle(self, "chip", "attention" if is_urgent else "")
        self.setVisible(bool(text))

    def text(self) -> str:
        return self._word.text()


class Figure(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._number, self._caption = Label("", "figure"), Label("", "small")
        self.setLayout(column(self._number, self._caption, gap=1))

    def set_figure(self, number: str, caption: str) -> None:
        self._number.setText(number)
        self._caption.setText(caption)

    def number(self) -> str:
        return self._number.text()


class IconLine(QWidget):
    def __init__(
        self, text: str = "", icon: str = "info", role: Role = "small", *, icon_role: str = "quiet", wrap: bool = True
    ) -> None:
        super().__init__()
        self._icon = IconLabel(icon, icon_role, 15)
        self._label = Label(text, role, wrap=wrap)
        layout = row(self._icon, (self._label, 1), gap=TINY + 3)
        layout.setAlignment(self._icon, Qt.AlignmentFlag.AlignTop if wrap else Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(layout)

    def set_line(self, text: str, icon: str = "", icon_role: str = "quiet") -> None:
        self._label.setText(text)
        if icon:
            self._icon.set_icon(icon, icon_role)

    def text(self) -> str:
        return self._label.text()


class Saying(IconLine):
    """A line that is there only while it says something."""

    def __init__(self, icon: str, icon_role: str = "quiet", role: Role = "small", *, wrap: bool = True) -> None:
        super().__init__("", icon, role, icon_role=icon_role, wrap=wrap)
        self.hide()

    def set_line(self, text: str, icon: str = "", icon_role: str = "quiet") -> None:
        super().set_line(text, icon, icon_role)
        self.setVisible(bool(text))


class LabelGrid(QWidget):
    """A small table. `roles` are those of its columns, `stretches` how these share the room that is left; texts of the
    column `elided` are cut, those of `wrapped` are wrapped and can be selected; with `least`, the least pixels of the
    columns after the first, the titles are wrapped.
    """

    def __init__(
        self,
        *roles: Role,
        stretches: Sequence[int] = (1,),
        gap: int = MEDIUM,
        elided: int | None = None,
        wrapped: int | None = None,
        least: int = 0,
    ) -> None:
        super().__init__()
        self._roles, self._elided, self._wrapped, self._least = roles, elided, wrapped, least
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(gap)
        self._grid.setVerticalSpacing(SMALL)
        for index, stretch in enumerate(stretches):
            self._grid.setColumnStretch(index, stretch)
        self._cells: list[Label | ElidedLabel] = []

    def show_lines(
        self, lines: Sequence[Sequence[str]], titles: Sequence[str] = (), *, right: Collection[int] = ()
    ) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for index, title in enumerate(titles):
            self._put(0, index, Label(title, "small", wrap=self._least > 0), right)
            self._grid.setColumnMinimumWidth(index, scaled(self._least) if index else 0)
        self._cells = []
        for number, line in enumerate(lines, 1):
            for index, text in enumerate(line):
                role = self._roles[index] if index < len(self._roles) else "body"
                is_elided = index == self._elided
                cell = ElidedLabel(text, role) if is_elided else Label(text, role, wrap=index == self._wrapped)
                if index == self._wrapped and text:
                    cell.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                    cell.setAccessibleDescription(line[0])
                self._cells.append(cell)
                self._put(number, index, cell, right)

    def texts(self) -> list[str]:
        """Those of all lines, without the titles."""
        return [cell.whole_text() if isinstance(cell, ElidedLabel) else cell.text() for cell in self._cells]

    def _put(self, number: int, index: int, cell: Label, right: Collection[int]) -> None:
        side = Qt.AlignmentFlag.AlignRight if index in right else Qt.AlignmentFlag.AlignLeft
        fills = isinstance(cell, ElidedLabel) or index == self._wrapped  # else it is wrapped at its own width hint
        self._grid.addWidget(
            cell, number, index, Qt.AlignmentFlag.AlignVCenter | (Qt.AlignmentFlag(0) if fills else side)
        )


class Clickable(QFrame):
    """A double click is one click: what a click shows instead is not what the second one was meant for."""

    clicked = Signal()
    _is_second = False

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        self._is_second = True

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        is_inside = self.rect().contains(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and is_inside and not self._is_second:
            self.clicked.emit()
        self._is_second = False
        super().mouseReleaseEvent(event)
