"""Someone in front of the window: looks at what can be seen, clicks with the mouse, types."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenu,
    QPlainTextEdit,
    QRadioButton,
    QTabBar,
    QTableView,
    QWidget,
)

LEFT = Qt.MouseButton.LeftButton
_TICK = 0.01
_TEXTS_TOLD = 80
_ROWS = 60  # of a table that are read; no screen has more


class Person:
    """Every wish waits until it can be done; `patience` is how many seconds that may take."""

    def __init__(self, patience: float = 240.0) -> None:
        self._patience = patience

    # Looking

    def seen(self) -> list[str]:
        """Every text on the screen, in no order."""
        return [text for widget in self._shown() for text in _texts(widget) if text]

    def sees(self, *words: str) -> bool:
        """Whether each of these stands somewhere, perhaps within a longer text."""
        seen = self.seen()
        return all(any(each in text for text in seen) for each in words)

    async def until_sees(self, *words: str) -> None:
        """Wait for these words."""
        await self.until(lambda: self.sees(*words), f"{words} did not come")

    async def until_row(self, table: str, text: str) -> None:
        """Wait for a cell with this text in the table or list of this name."""
        await self.until(lambda: self._row(table, text))

    async def until(self, happens: Callable[[], object], failure: str = "what was waited for did not come") -> None:
        """Wait for something."""
        await self._again(lambda: asyncio.sleep(_TICK), happens, failure)

    # Mouse

    async def click(self, text: str) -> None:
        """Click a button, link, choice or tab by its words; the topmost window's first."""
        await self.until(lambda: self._clickable(text), f"“{text}” cannot be clicked")
        clicked: list[object] = []

        def click() -> None:
            widget, place = self._clickable(text) or (None, QPoint())
            if widget is None:
                return
            if isinstance(widget, QAbstractButton):
                widget.clicked.connect(lambda: clicked.append(widget), Qt.ConnectionType.SingleShotConnection)
            _click_now(widget, place)
            if not isinstance(widget, QAbstractButton) or QApplication.activePopupWidget() is not None:
                clicked.append(widget)  # a menu opens without a click

        await self._again(lambda: _do(click), lambda: clicked, f"“{text}” could not be clicked")

    async def click_row(self, table: str, text: str, *, double: bool = False) -> None:
        """Click the line with this text in the table or list of this name."""
        await self.until(lambda: self._row(table, text))
        clicked: list[QModelIndex] = []

        def click() -> None:
            view, index = self._row(table, text) or (None, QModelIndex())
            if view is not None:
                view.clicked.connect(clicked.append, Qt.ConnectionType.SingleShotConnection)
                view.scrollTo(index)
                _click_now(view.viewport(), view.visualRect(index).center(), double=double)

        await self._again(lambda: _do(click), lambda: clicked, f"{text} in {table} could not be clicked")

    async def choose(self, text: str) -> None:
        """Click an entry of the menu that is open."""
        await self.until(lambda: self._entry(text))
        menu, place = self._entry(text) or (None, QPoint())
        assert menu is not None
        await _click(menu, place)

    async def rest(self, window: QWidget, place: QPoint) -> None:
        """Move the mouse to where nothing answers to it."""
        await _do(lambda: QTest.mouseMove(window.windowHandle(), place))

    # Keyboard

    async def type(self, name: str, text: str, *, pasted: bool = False) -> None:
        """Click the field of this name, and type in place of what is there."""
        await self.until(lambda: self._field(name))
        field = self._field(name)
        assert field is not None
        await _click(field, field.rect().center())

        def has_focus() -> bool:
            if QGuiApplication.focusWindow() is None:  # a menu or a dialog has closed, perhaps only just now
                _manage_windows()
            return field.hasFocus()

        await self.until(has_focus)
        await self.press(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        if text.isascii() and not pasted:
            await _do(lambda: QTest.keyClicks(field, text))
        else:  # QTest knows no other keys
            QGuiApplication.clipboard().setText(text)
            await self.press(Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)

    async def name_file(self, path: object) -> None:
        """Paste a path into Qt’s own file dialog; Enter until it is taken, for a list of completions takes one."""
        await self.type("fileNameEdit", str(path), pasted=True)

        async def enter() -> None:
            await self.press(Qt.Key.Key_Return)
            await asyncio.sleep(_TICK)

        await self._again(enter, lambda: self._field("fileNameEdit") is None, f"{path} was not taken")

    async def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the keyboard is.

        The window is looked up as the key is pressed: a dialog that has closed since has taken the keyboard with it,
        and QTest ends the process where it gets no window.
        """
        pressed: list[QWindow] = []

        def press() -> None:
            window = QGuiApplication.focusWindow()
            if window is not None:
                pressed.append(window)
                QTest.keyClick(window, key, modifier)

        while not pressed:
            if QGuiApplication.focusWindow() is None:
                _manage_windows()
            await self.until(QGuiApplication.focusWindow)
            await _do(press)

    async def _again(self, act: Callable[[], Awaitable[None]], is_done: Callable[[], object], failure: str) -> None:
        """Do it until it is done. A click may be none: pages and lists arrange themselves anew at any time, and if they
        do so between press and release, Qt takes that for no click.
        """
        deadline = time.monotonic() + self._patience
        while not is_done():
            if time.monotonic() > deadline:
                raise AssertionError(f"{failure}; there is: {self.seen()[:_TEXTS_TOLD]}")
            await act()

    # Finding

    def _shown(self) -> Iterator[QWidget]:
        windows = [each for each in QApplication.topLevelWidgets() if each.isVisible()]
        modal = QApplication.activeModalWidget()
        for window in sorted(windows, key=lambda each: (each is not modal, not isinstance(each, QMenu))):
            yield window
            for widget in window.findChildren(QWidget):
                if widget.isVisible() and widget.window() is window and not widget.visibleRegion().isEmpty():
                    yield widget

    def _clickable(self, text: str) -> tuple[QWidget, QPoint] | None:
        found: list[tuple[QWidget, QPoint]] = []
        for widget in self._shown():
            if isinstance(widget, QTabBar):
                tabs = (place for place in range(widget.count()) if widget.isTabVisible(place))
                found += [(widget, widget.tabRect(place).center()) for place in tabs if widget.tabText(place) == text]
            elif widget.isEnabled() and text in _names(widget):
                is_wide = isinstance(widget, QRadioButton | QCheckBox)
                found.append((widget, QPoint(10, widget.height() // 2) if is_wide else widget.rect().center()))
        return found[0] if found else None

    def _row(self, table: str, text: str) -> tuple[QAbstractItemView, QModelIndex] | None:
        for view in self._shown():
            if isinstance(view, QAbstractItemView) and view.accessibleName() == table:
                cells = [(str(index.data() or ""), index) for index in _cells(view)]
                # The very text first, then what has it in it.
                for fits in (text.__eq__, lambda shown: text in shown):
                    for shown, index in cells:
                        if fits(shown):
                            return view, index
        return None

    def _entry(self, text: str) -> tuple[QMenu, QPoint] | None:
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu):
            for action in menu.actions():
                if action.isEnabled() and action.text().replace("&", "").startswith(text):
                    return menu, menu.actionGeometry(action).center()
        return None

    def _field(self, name: str) -> QLineEdit | None:
        for widget in self._shown():
            if isinstance(widget, QLineEdit) and widget.isEnabled() and name in _names_of_field(widget):
                return widget
        return None


async def _click(widget: QWidget, point: QPoint) -> None:
    await _do(lambda: _click_now(widget, point))


def _click_now(widget: QWidget, point: QPoint, *, double: bool = False) -> None:
    """Through the window, as the mouse does: what lies above the widget gets it."""
    window = widget.window().windowHandle()
    at = widget.mapTo(widget.window(), point)
    QTest.mouseClick(window, LEFT, pos=at)
    if double:
        QTest.mouseDClick(window, LEFT, pos=at)


async def _do(act: Callable[[], None]) -> None:
    """Outside of any task: QTest lets Qt work off its events, and the loop could not enter another task from here."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def do() -> None:
        try:
            act()
        except Exception as error:
            done.set_exception(error)
        else:
            done.set_result(None)

    loop.call_soon(do)
    await done


def _manage_windows() -> None:
    """Give the keyboard back when a dialog has closed, as a window manager does; the screens of tests have none."""
    for window in QApplication.topLevelWidgets():
        if isinstance(window, QMainWindow) and window.isVisible():
            window.activateWindow()


def _names(widget: QWidget) -> tuple[str, ...]:
    if isinstance(widget, QAbstractButton):
        return widget.text().replace("&", ""), widget.accessibleName()
    return (widget.accessibleName(),) if widget.focusPolicy() & Qt.FocusPolicy.TabFocus else ()


def _names_of_field(field: QLineEdit) -> tuple[str, ...]:
    return field.accessibleName(), field.placeholderText(), field.objectName()


def _texts(widget: QWidget) -> Iterator[str]:
    yield widget.windowTitle() if widget.isWindow() else ""
    if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
        has_key = isinstance(widget, QAbstractButton) or (isinstance(widget, QLabel) and widget.buddy())
        yield widget.text().replace("&", "") if has_key else widget.text()
        yield widget.accessibleName()
    elif isinstance(widget, QPlainTextEdit):
        yield widget.toPlainText()
    elif isinstance(widget, QComboBox):
        yield widget.currentText()
    elif isinstance(widget, QTabBar):
        yield from (widget.tabText(place) for place in range(widget.count()) if widget.isTabVisible(place))
    elif isinstance(widget, QMenu):
        yield from (action.text().replace("&", "") for action in widget.actions())
    elif isinstance(widget, QAbstractItemView):
        yield from (str(index.data() or "") for index in _cells(widget))


def _cells(view: QAbstractItemView) -> Iterator[QModelIndex]:
    model = view.model()
    if model is None:
        return
    columns = model.columnCount() if isinstance(view, QTableView) else 1
    for row in range(min(model.rowCount(), _ROWS)):
        for column in range(columns):
            yield model.index(row, column)
