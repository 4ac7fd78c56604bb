"""A thin progress bar, and the notice bar: a sentence with an icon, a level and link buttons."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.theme import MEDIUM, scaled
from cfbatch_gui.ui.widgets.box_layouts import Flow, boxed
from cfbatch_gui.ui.widgets.buttons import IconButton, LinkButton
from cfbatch_gui.ui.widgets.file_drag import FileDrag
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order
from cfbatch_gui.ui.widgets.labels import IconLabel, Label

Level = Literal["info", "attention", "error", "done"]
LEVEL_ICONS: dict[Level, tuple[str, str]] = {
    "info": ("info", "accent"),
    "attention": ("triangle-alert", "attention"),
    "error": ("circle-x", "error"),
    "done": ("circle-check", "done"),
}


def paint_bar(
    painter: QPainter,
    box: QRectF,
    share: float,
    *,
    direction: Qt.LayoutDirection = Qt.LayoutDirection.LeftToRight,
) -> None:
    """Paint a bar with round ends into `box`, filled from where lines begin up to `share`, from 0 to 1."""
    radius = box.height() / 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("track"))
    painter.drawRoundedRect(box, radius, radius)
    if share > 0:
        filled = QRectF(box)
        filled.setWidth(max(box.height(), box.width() * min(1.0, share)))
        if direction == Qt.LayoutDirection.RightToLeft:
            filled.moveRight(box.right())
        painter.setBrush(theme.colour("accent"))
        painter.drawRoundedRect(filled, radius, radius)


class ThinProgress(QWidget):
    """The share of finished parts as a bar, 4 pixels high. While the total is unknown, the bar is empty."""

    accessible_role = QAccessible.Role.ProgressBar

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._share = 0.0
        self.setFixedHeight(4)

    def set_parts(self, done: int, total: int) -> None:
        """Fill the bar to `done` of `total` parts; a total of 0 means that it is unknown, and empties the bar."""
        share = done / total if total else 0.0
        self.setAccessibleName(self.tr("{done} of {total}").format(done=done, total=total))
        if share != self._share:
            self._share = share
            self.update()

    def share(self) -> float:
        """The filled share of the bar, from 0 to 1."""
        return self._share

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_bar(painter, QRectF(self.rect()), self._share, direction=self.layoutDirection())


class NoticeBar(QFrame):
    """A sentence about what happened, with a link for each possible action; it wraps where one line is too short."""

    dismissed = Signal()

    def __init__(
        self, text: str = "", level: Level = "info", *, dismissable: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", "notice")
        self._icon = IconLabel("info", "accent", 16)
        self._text = Label("", "body", wrap=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._buttons = Flow(gap=MEDIUM)
        self._close = IconButton("x", self.tr("Dismiss"))
        self._close.setVisible(dismissable)
        self._close.clicked.connect(self.dismissed)
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(MEDIUM, 3, MEDIUM if not dismissable else 4, 3)
        row.setSpacing(MEDIUM)
        row.addWidget(self._icon)
        row.addWidget(boxed(Flow(self._text, boxed(self._buttons), gap=MEDIUM)), 1)
        row.addWidget(self._close)
        self.setMinimumHeight(scaled(34))
        self.set_text(text, level)

    def set_text(self, text: str, level: Level = "info") -> None:
        """Replace the sentence, and set the icon and the colours of its level."""
        name, role = LEVEL_ICONS[level]
        self._icon.set_icon(name, role)
        self._text.setText(text)
        self._text.set_role("body" if level == "info" else level)
        self.setAccessibleName(text)
        if self.property("level") != level:
            self.setProperty("level", level)
            self.style().unpolish(self)
            self.style().polish(self)

    def height_for(self, width: int) -> int:
        """The height, in pixels, at which nothing is cut in this width; right also before it was laid out."""
        self._row.invalidate()
        return max(self.minimumHeight(), self._row.totalHeightForWidth(width))

    def text(self) -> str:
        """The sentence as it was set."""
        return self._text.text()

    def offer_files(self, paths: Sequence[Path]) -> None:
        """Let these files be dragged by the sentence or its icon."""
        for part in (self._icon, self._text):
            FileDrag(part, paths)

    def add_link(self, text: str, on_pressed: Callable[[], None]) -> LinkButton:
        """Add a link button at the right end; `on_pressed` is called without arguments on each click."""
        link = LinkButton(text)
        link.clicked.connect(lambda _checked=False: on_pressed())
        links = self.links()
        self._buttons.addWidget(link)
        if self.parentWidget() is not None:
            follow_in_tab_order(links[-1] if links else self, link)
        return link

    def clear_links(self) -> None:
        """Remove all link buttons."""
        for link in self.links():
            self._buttons.removeWidget(link)
            link.hide()
            link.deleteLater()

    def links(self) -> list[LinkButton]:
        """The link buttons, from left to right."""
        items = (self._buttons.itemAt(index) for index in range(self._buttons.count()))
        found = [item.widget() for item in items if item is not None]
        return [widget for widget in found if isinstance(widget, LinkButton)]
