"""A dialog whose content scrolls above its buttons, where the screen is not high enough for all of it."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QLayout, QWidget

from cfbatch_gui.ui.theme import LARGE, MEDIUM, WIDE, scaled
from cfbatch_gui.ui.widgets import boxed, column, line, scrolled

_LEAST = 480  # pixels that it may have above a window that is lower


class TallDialog(QDialog):
    """Opened with `open()`; deletes itself when it is closed."""

    def __init__(self, title: str, parent: QWidget, *, width: int) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self._window, self._width = parent.window(), width
        self._is_placed = False
        self._content: QWidget | None = None
        self._foot: QWidget | None = None

    def lay_out(self, content: QLayout, foot: QLayout) -> None:
        """Lay out the content, which scrolls, and below it what always stays in sight."""
        content.setContentsMargins(WIDE, WIDE - 4, WIDE, LARGE)
        self._content = boxed(content)
        foot.setContentsMargins(WIDE, MEDIUM, WIDE, LARGE)
        self._foot = boxed(foot)
        self._area = scrolled(self._content)
        whole = column(self._area, line(), self._foot, gap=0)
        whole.setStretch(0, 1)
        self.setLayout(whole)

    def fit(self) -> None:
        """Take the height of the content, as far as the window behind has it; never less than while it was shown."""
        if self._content is None or self._foot is None:
            return
        screen = self.screen().availableGeometry()
        width = self.width()
        if not self._is_placed:
            width = max(self.minimumSizeHint().width(), min(scaled(self._width), self._window.width() - 2 * WIDE))
        needed = _height(self._content, width) + _height(self._foot, width) + 2
        room = min(max(self._window.height(), _LEAST), screen.height()) - 2 * WIDE
        height = max(self.height() if self._is_placed else 0, min(needed, room))
        if self._is_placed and height == self.height():
            return
        place = QRect(0, 0, width, height)
        place.moveCenter(self._window.frameGeometry().center())
        place.moveTop(max(screen.top() + WIDE, min(place.top(), screen.bottom() - WIDE - height)))
        self.setGeometry(place)
        self._is_placed = True

    def scroll_to(self, part: QWidget) -> None:
        """Bring a part of the content into sight."""
        self._area.ensureWidgetVisible(part, 0, LARGE)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.fit()  # the height of wrapped texts is known only once the width is


def _height(widget: QWidget, width: int) -> int:
    layout = widget.layout()
    if layout is None:
        return widget.sizeHint().height()
    layout.activate()
    return layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
