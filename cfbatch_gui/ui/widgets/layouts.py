"""Rows and columns without ceremony, in the distances of the visual system."""

from typing import TypeVar

from PySide6.QtCore import QEvent, QMargins, QObject, Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLayout, QScrollArea, QVBoxLayout, QWidget

from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE

BoxT = TypeVar("BoxT", bound=QBoxLayout)

PAGE_MARGINS = (WIDE, LARGE, WIDE, LARGE)

Item = QWidget | QLayout | int | None
"""A widget, a layout, a distance in pixels, or None for a place that stretches."""


def row(*items: Item, gap: int = SMALL, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QHBoxLayout:
    """Side by side; `margins` are left, top, right, bottom."""
    return _fill(QHBoxLayout(), items, gap, margins)


def column(*items: Item, gap: int = SMALL, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QVBoxLayout:
    """One under the other."""
    return _fill(QVBoxLayout(), items, gap, margins)


def boxed(layout: QLayout, parent: QWidget | None = None) -> QWidget:
    """A widget that holds the layout, to be hidden and shown as one."""
    widget = QWidget(parent)
    widget.setLayout(layout)
    return widget


def line(*, vertical: bool = False) -> QFrame:
    """A hairline."""
    frame = QFrame()
    frame.setProperty("kind", "line")
    if vertical:
        frame.setFixedWidth(1)
    else:
        frame.setFixedHeight(1)
    return frame


def scrolled(content: QWidget, *, sideways: bool = False) -> QScrollArea:
    """The content, scrolled up and down where the window is too small for it; its layout must be set before.

    `sideways` too, where something could not be reached otherwise with a large font.
    """
    area = _Scrolled(content)
    if not sideways:
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area


class _Scrolled(QScrollArea):
    """The bar stands in the content's right margin, so that nothing is pushed aside when it comes and goes."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content.setProperty("kind", "page")
        self.setWidget(content)
        layout = content.layout()
        self._layout, self._margins = layout, layout.contentsMargins() if layout is not None else QMargins()
        self.verticalScrollBar().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.verticalScrollBar() and event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._give_way(self.verticalScrollBar().width() if event.type() == QEvent.Type.Show else 0)
        return super().eventFilter(watched, event)

    def _give_way(self, width: int) -> None:
        if self._layout is not None:
            margins = QMargins(self._margins)
            margins.setRight(max(0, margins.right() - width))
            self._layout.setContentsMargins(margins)


def _fill(layout: BoxT, items: tuple[Item, ...], gap: int, margins: tuple[int, int, int, int]) -> BoxT:
    layout.setSpacing(gap)
    layout.setContentsMargins(*margins)
    for item in items:
        if item is None:
            layout.addStretch(1)
        elif isinstance(item, int):
            layout.addSpacing(item)
        elif isinstance(item, QWidget):
            layout.addWidget(item)
        else:
            layout.addLayout(item)
    return layout
