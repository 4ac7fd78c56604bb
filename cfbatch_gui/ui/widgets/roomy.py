"""Room for pages that fill the window: they scroll where the window is smaller than the least they need."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLayout, QScrollArea, QStackedWidget, QWidget


class Roomy(QScrollArea):
    """Gives its content all the room there is, and scrolls only what cannot get smaller; a stack, by its open page.

    A large font in a small window would otherwise press the parts of a page over each other.
    """

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content.setProperty("kind", "page")
        self.setWidget(content)
        content.installEventFilter(self)
        if isinstance(content, QStackedWidget):
            content.currentChanged.connect(self._fit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self._fit()
        return super().eventFilter(watched, event)

    def minimumSizeHint(self) -> QSize:
        side = 2 * self.horizontalScrollBar().sizeHint().height()
        return QSize(side, side)

    def _fit(self) -> None:
        room = self.maximumViewportSize()
        wanted = self._wanted(room)
        if wanted.height() > room.height():
            room.setWidth(room.width() - self.verticalScrollBar().sizeHint().width())
            wanted = self._wanted(room)
        if wanted.width() > room.width():
            room.setHeight(room.height() - self.horizontalScrollBar().sizeHint().height())
            wanted = self._wanted(room)
        if (content := self.widget()) is not None:
            content.resize(wanted)

    def _layout(self) -> QLayout | None:
        content = self.widget()
        page = content.currentWidget() if isinstance(content, QStackedWidget) else content
        return page.layout() if page is not None else None

    def _wanted(self, room: QSize) -> QSize:
        layout = self._layout()
        if layout is None:
            return room
        least = layout.totalMinimumSize()
        width = max(room.width(), least.width())
        height = layout.totalMinimumHeightForWidth(width) if layout.hasHeightForWidth() else least.height()
        return QSize(width, max(room.height(), height))
