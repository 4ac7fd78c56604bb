"""The stylesheet of the application, without the time that Qt takes for it: as widgets are made, and as it changes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import getCppPointer

_POLISHED, _HAS_STYLE = Qt.WidgetAttribute.WA_WState_Polished, Qt.WidgetAttribute.WA_SetStyle
_TURN = 0.008  # seconds that a turn of the loop gives to hidden widgets


@contextmanager
def styled_once() -> Iterator[None]:
    """Widgets made in this block get their style at its end; for the parts of a window before it is shown.

    With a stylesheet, Qt styles a widget and all in it anew whenever one of them is put into another: two thirds of
    the time it takes to make the main window.
    """
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        raise TypeError("there is no Qt application with windows in this process")
    sheet = app.styleSheet()
    app.setStyleSheet("")
    try:
        yield
    finally:
        app.setStyleSheet(sheet)


class Restyling(QObject):
    """Another stylesheet, without holding up the window: widgets on the screen first, hidden ones after it.

    Qt styles every widget there is in one go, hidden pages too, which takes 0.2 s in a window whose pages have all been
    opened. It leaves out what is not polished, and tells no change of style to what has a style of its own; hidden
    widgets are marked as such for the time of the change (QApplication::setStyle in Qt's qapplication.cpp), and styled
    afterwards, some in each turn of the loop.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: set[int] = set()  # where Qt keeps them: it may delete one at any time, and Python is not told
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._style_some)

    @contextmanager
    def shown_first(self) -> Iterator[None]:
        """A stylesheet that is set in this block is applied to what is on the screen; to the rest soon after it."""
        widgets = QApplication.allWidgets()
        # These are left to Qt: their style is the application's and their own in one.
        apart = {each for root in widgets if root.styleSheet() for each in (root, *root.findChildren(QWidget))}
        left_out = [
            widget
            for widget in widgets
            if not (widget.isVisible() or widget.testAttribute(_HAS_STYLE) or widget in apart)
            and (widget.testAttribute(_POLISHED) or _place(widget) in self._waiting)
        ]
        for widget in left_out:
            widget.setAttribute(_POLISHED, False)
            widget.setAttribute(_HAS_STYLE, True)
        try:
            yield
        finally:
            # At once: Qt gives a widget with this mark a style of its own when it is put into another.
            for widget in left_out:
                widget.setAttribute(_HAS_STYLE, False)
            self._waiting.update(map(_place, left_out))
            self._turn.start()

    def _style_some(self) -> None:
        end = time.monotonic() + _TURN
        style = QApplication.style()
        for widget in QApplication.allWidgets():
            if (place := _place(widget)) in self._waiting:
                self._waiting.remove(place)
                style.polish(widget)
                widget.setAttribute(_POLISHED, True)
                QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
                if time.monotonic() > end:
                    self._turn.start()
                    return
        self._waiting.clear()  # what is left of them is gone


def _place(widget: QWidget) -> int:
    return int(getCppPointer(widget)[0])
