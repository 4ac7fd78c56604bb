"""Fields: a search field, a check box, and a choice from a list."""

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QShortcut, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QListView, QStyle, QStyleOptionButton, QWidget

from cfbatch_gui.ui.icons import icon, paint_icon
from cfbatch_gui.ui.widgets.buttons import paint_chevron


class SearchField(QLineEdit):
    """A field with a magnifier, and a cross that clears it, as Escape does.

    `searched` carries the text after every change. With `shortcut`, Ctrl+F moves the focus here while the field is
    visible.
    """

    searched = Signal(str)

    def __init__(self, hint: str, *, shortcut: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        if shortcut:
            find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
            find.activated.connect(self._take_focus)

    def reset(self) -> None:
        """Clear the field without emitting `searched`."""
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


class CheckBox(QCheckBox):
    """A check box whose check mark is one of the program's icons."""

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
    """A choice of one of several texts, each with a value. `picked` carries the value that the user chose."""

    picked = Signal(object)

    def __init__(self, name: str, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setAccessibleDescription(name)  # Qt takes the chosen text for the name, except on Windows
        self.setView(QListView(self))  # the plain list takes the stylesheet; the native popup does not
        self.setIconSize(QSize(16, 16))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaxVisibleItems(16)
        self.activated.connect(lambda index: self.picked.emit(self.itemData(index)))

    def add(self, text: str, value: object, icon_name: str = "") -> None:
        """Add a text with its value, at the end."""
        if icon_name:
            self.addItem(icon(icon_name, "text"), text, value)
        else:
            self.addItem(text, value)

    def value(self) -> object:
        """The value of the chosen text; None when none is chosen."""
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
        super().paintEvent(event)
        paint_chevron(self)
