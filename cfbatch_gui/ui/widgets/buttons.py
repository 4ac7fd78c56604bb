"""Buttons in the kinds of the visual system; each shows a ring when it has the focus by a key."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QMenu, QSizePolicy, QStyle, QStyleOptionButton, QWidget

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.icons import icon, paint_icon
from cfbatch_gui.ui.icons import icon as make_icon
from cfbatch_gui.ui.theme import RADIUS_CONTROL, SMALL
from cfbatch_gui.ui.widgets.box_layouts import Flow, column, discard, row
from cfbatch_gui.ui.widgets.keyboard import KeyboardRing
from cfbatch_gui.ui.widgets.labels import Label
from cfbatch_gui.words.languages import tr


def paint_focus_ring(painter: QPainter, widget: QWidget, radius: float, colour_role: str = "accent") -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.colour(colour_role), 2))
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(1, 1, -1, -1), radius, radius)


_BEFORE_WORDS = 3  # pixels between an icon and its words, besides Qt's own 4


class Button(KeyboardRing, QtWidgets.QPushButton):
    kind = "plain"
    icon_role = "text"
    icon_name = ""

    def __init__(
        self, text: str = "", icon: str = "", on_click: Callable[[], object] | None = None, *, tip: str = ""
    ) -> None:
        super().__init__()
        if on_click is not None:
            self.clicked.connect(lambda _checked=False: on_click())
        self.setText(text)
        self.setProperty("kind", self.kind)
        self.setAutoDefault(False)
        if icon:
            self.set_icon(icon)
        self.setToolTip(tip)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setIconSize(QSize(16 + (_BEFORE_WORDS if text else 0), 16))

    def set_icon(self, name: str, colour_role: str = "") -> None:
        self.icon_name = name
        self.setIcon(make_icon(name, colour_role or self.icon_role))

    def add(
        self, text: str, on_chosen: Callable[[], object], icon: str = "", *, checked: bool | None = None
    ) -> QAction:
        """Add an entry to the menu of the button, which must have one."""
        return add_action(self.menu(), text, on_chosen, icon, checked=checked)

    def set_possible(self, why_not: str) -> None:
        """Enable the button with "", or disable it with the reason, its tooltip and description."""
        self.setEnabled(not why_not)
        self.setToolTip(why_not)
        self.setAccessibleDescription(why_not)

    def initStyleOption(self, option: QStyleOptionButton) -> None:
        super().initStyleOption(option)
        if self.menu() is not None:  # asked for at every layout and paint, and a flag is slow
            option.features &= ~QStyleOptionButton.ButtonFeature.HasMenu  # it would shift the text; we draw the chevron

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()  # Qt itself does so in dialogs only
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.has_ring:
            painter = QPainter(self)
            paint_focus_ring(painter, self, RADIUS_CONTROL - 1, "text" if self.kind == "primary" else "accent")


class PrimaryButton(Button):
    kind = "primary"
    icon_role = "on_accent"


class QuietButton(Button):
    kind = "quiet"


class KeyedButton(Button):
    """Shows the name of the key that does the same."""

    def __init__(self, text: str, icon: str, key: str, on_click: Callable[[], object]) -> None:
        super().__init__(text, icon, on_click)
        self.setProperty("keyed", "true")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._key = Label(key, "small")
        self._key.setProperty("kind", "key")
        self.setLayout(row(None, column(None, self._key, None), gap=0, margins=(SMALL, 0, SMALL, 0)))

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width() + self._key.sizeHint().width(), hint.height())


class DangerButton(Button):
    kind = "danger"
    icon_role = "error"


class LinkButton(Button):
    kind = "link"
    icon_role = "accent"

    def __init__(
        self, text: str = "", icon: str = "", on_click: Callable[[], object] | None = None, *, tip: str = ""
    ) -> None:
        super().__init__(text, icon, on_click, tip=tip)
        self.setCursor(Qt.CursorShape.PointingHandCursor)


class IconButton(Button):
    """`name` is its accessible name and its tooltip."""

    kind = "icon"
    icon_role = "quiet"

    def __init__(self, icon: str, name: str, on_click: Callable[[], object] | None = None) -> None:
        super().__init__("", icon, on_click, tip=name)
        self.setAccessibleName(name)


class MenuButton(Button):
    def __init__(self, text: str = "", icon: str = "", *, tip: str = "") -> None:
        super().__init__(text, icon, tip=tip)
        self.setMenu(QMenu(self))
        self.setProperty("menu", "true")

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_chevron(self)


class MoreButton(IconButton):
    def __init__(self, name: str) -> None:
        super().__init__("ellipsis", name)
        self.setMenu(QMenu(self))


def add_action(
    menu: QMenu, text: str, on_chosen: Callable[[], object], icon: str = "", *, checked: bool | None = None
) -> QAction:
    """Add an entry to any menu; with `checked` it is checkable and has that state."""
    action = menu.addAction(text)
    if icon:
        action.setIcon(make_icon(icon, "text"))
    if checked is not None:
        action.setCheckable(True)
        action.setChecked(checked)
    action.triggered.connect(lambda _checked=False: on_chosen())
    return action


def paint_chevron(widget: QWidget) -> None:
    painter = QPainter(widget)
    side = 14
    box = widget.rect()
    box.setLeft(box.right() - side - 8)
    box.setTop((widget.height() - side) // 2)
    box.setSize(QSize(side, side))
    paint_icon(painter, QStyle.visualRect(widget.layoutDirection(), widget.rect(), box), "chevron-down", "quiet")


class SearchField(QLineEdit):
    """`searched` carries the text after every change."""

    searched = Signal(str)

    def __init__(self, hint: str) -> None:
        super().__init__()
        self.setPlaceholderText(hint)
        self.setAccessibleName(hint)
        self.setClearButtonEnabled(False)
        magnifier = self.addAction(icon("search", "quiet"), QLineEdit.ActionPosition.LeadingPosition)
        magnifier.setText(self.tr("Find"))  # both are buttons for a screen reader
        magnifier.triggered.connect(self._take_focus)
        self._clear = self.addAction(icon("x", "quiet"), QLineEdit.ActionPosition.TrailingPosition)
        self._clear.setText(self.tr("Clear"))
        self._clear.setVisible(False)
        self._clear.triggered.connect(self.clear)
        self.textChanged.connect(lambda text: self._clear.setVisible(bool(text)))
        self.textChanged.connect(self.searched)

    def reset(self) -> None:
        self.blockSignals(True)
        self.clear()
        self.blockSignals(False)
        self._clear.setVisible(False)

    def _take_focus(self) -> None:
        if self.isVisible():
            self.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class CheckBox(QtWidgets.QCheckBox):
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isChecked():
            option = QStyleOptionButton()
            self.initStyleOption(option)
            box = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
            spot = QRect(0, 0, 12, 12)
            spot.moveCenter(box.center())
            paint_icon(QPainter(self), spot, "check", "on_accent" if self.isEnabled() else "quiet")


class Choice(QComboBox):
    """A choice of one of several texts; `picked` carries the value that the user chose."""

    picked = Signal(object)

    def __init__(
        self, name: str, choices: Iterable[tuple[str, object]] = (), on_picked: Callable[[Any], object] | None = None
    ) -> None:
        super().__init__()
        self.refill(choices)
        if on_picked is not None:
            self.picked.connect(on_picked)
        self.setAccessibleName(name)
        self.setAccessibleDescription(name)  # Qt takes the chosen text for the name, except on Windows
        self.setView(QtWidgets.QListView(self))  # the plain list takes the stylesheet; the native popup does not
        self.setIconSize(QSize(16, 16))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaxVisibleItems(16)
        self.activated.connect(lambda index: self.picked.emit(self.itemData(index)))

    def add(self, text: str, value: object, icon_name: str = "") -> None:
        self.addItem(icon(icon_name, "text") if icon_name else QIcon(), text, value)

    def refill(self, choices: Iterable[tuple[str, object]], usual: object = None) -> None:
        """Offer other texts with their values, without a signal; what was chosen stays, else it is the usual one."""
        before = self.value()
        self.clear()
        for text, value in choices:
            self.addItem(text, value)
        self.set_value(usual)
        self.set_value(before)

    def value(self) -> object:
        return self.currentData()

    def set_value(self, value: object) -> None:
        """Choose the text of this value without a signal; an unknown value changes nothing."""
        for index in range(self.count()):
            if self.itemData(index) == value:
                self.setCurrentIndex(index)
                return

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # a page that scrolls under the mouse must not change a choice

    def paintEvent(self, event: QPaintEvent) -> None:
        """As Qt does, but a text that is too long ends with "…"."""
        painter, option = QtWidgets.QStylePainter(self), QtWidgets.QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width()
        room -= 0 if option.currentIcon.isNull() else self.iconSize().width() + SMALL
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()
        paint_chevron(self)


_SIDE_BY_SIDE = 3  # words of a switch, before those of "More"


class Switch(QWidget):
    """One of a few words side by side; further ones are in the menu of "More", which shows the one that is chosen."""

    def __init__(self, name: str, on_picked: Callable[[], object], names: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._on_picked, self.value = on_picked, ""
        self._names: Mapping[str, str] = {}
        self._buttons: dict[str, Button] = {}
        self._flow = Flow(gap=0)
        self.setLayout(self._flow)
        if names is not None:
            self.offer(names)

    def offer(self, names: Mapping[str, str]) -> None:
        """Words by their values; what was chosen stays, else it is the first."""
        discard(self._flow, *self._buttons.values())
        self._names, shown = names, list(names)[:_SIDE_BY_SIDE]
        self._buttons = {value: Button(names[value], on_click=partial(self.choose, value)) for value in shown}
        if more := list(names)[_SIDE_BY_SIDE:]:
            self._buttons[""] = menu = MenuButton(tr("More"))
            for value in more:
                menu.add(names[value], partial(self.choose, value))
        values = list(self._buttons)
        for value, button in self._buttons.items():
            button.setProperty("kind", "segment")
            button.setProperty("end", {values[0]: "first", values[-1]: "last"}.get(value, ""))
            button.setCheckable(True)
            self._flow.addWidget(button)
        self.set_value(self.value if self.value in names else shown[0])

    def choose(self, value: str) -> None:
        self.set_value(value)
        self._on_picked()

    def set_value(self, value: str) -> None:
        """Show another one as chosen, which calls nothing."""
        self.value = value
        chosen = value if value in self._buttons else ""
        for each, button in self._buttons.items():
            button.setChecked(each == chosen)
        if "" in self._buttons:
            self._buttons[""].setText(tr("More") if chosen else self._names[value])
