"""Whether all words of a window have their room: nothing is cut, hidden, outside of its parent or under a sibling."""

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QRubberBand,
    QScrollBar,
    QSizeGrip,
    QSplitterHandle,
    QStyle,
    QStyleOptionButton,
    QTabBar,
    QToolButton,
    QWidget,
)

from cfbatch_gui.ui.inputs.check_section import ProblemsView
from cfbatch_gui.ui.inputs.preview_table import PreviewTable
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.tables.table_rows import BAR_ROLE, ICON_ROLE
from cfbatch_gui.ui.tables.table_view import Header, TableView
from cfbatch_gui.ui.widgets import ElidedLabel

_SLACK = 1  # pixels, of rounding
_ROWS = 30  # of a table that are measured
_ICON_ROOM = 22
_FEWEST_LETTERS = 12  # of a hint, which ends in "…" where there is no room


def faults(window: QWidget, *, may_scroll_sideways: bool = False) -> list[str]:
    """What does not fit, a sentence each."""
    found: list[str] = []
    for widget in (window, *window.findChildren(QWidget)):
        if widget.isVisible() and widget.window() is window:
            found += _outside(widget, window)
            found += _overlapping(widget)
            found += _cut(widget)
            found += [] if may_scroll_sideways else _sideways(widget)
    return list(dict.fromkeys(found))


def _named(widget: QWidget) -> str:
    text = getattr(widget, "whole_text", None) or getattr(widget, "text", None)
    words = text() if callable(text) else widget.accessibleName()
    return f"{type(widget).__name__} {str(words)[:60]!r} in {type(widget.parentWidget()).__name__}"


# Where it stands


def _outside(widget: QWidget, window: QWidget) -> Iterator[str]:
    parent = widget.parentWidget()
    if parent is None or widget.isWindow() or not _says_something(widget):
        return
    above: QWidget | None = parent
    while above is not None:
        box, inner = QRect(widget.mapTo(above, QPoint()), widget.size()), above.rect()
        area = above.parentWidget()
        if isinstance(area, QAbstractScrollArea) and area.viewport() is above:
            return
        if not inner.adjusted(-_SLACK, -_SLACK, _SLACK, _SLACK).contains(box):
            yield f"{_named(widget)} at {box.getRect()} is outside of {_named(above)} {inner.size().toTuple()}"
            return
        above = None if above is window else area


def _sideways(area: QWidget) -> Iterator[str]:
    """What scrolls sideways hides the ends of its lines."""
    if isinstance(area, QAbstractScrollArea) and not isinstance(area, PreviewTable) and not _shows_data(area):
        hidden = area.horizontalScrollBar().maximum()
        if hidden > _SLACK and area.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff:
            yield f"{_named(area)} has {hidden} pixels beyond its edge"


def _shows_data(area: QWidget) -> bool:
    """Whether it has the columns of the user's file, as many as there are."""
    return isinstance(area.parentWidget(), ProblemsView)


def _says_something(widget: QWidget) -> bool:
    """Whether there is anything to see, as opposed to a box around others."""
    if widget.width() <= 0 or widget.height() <= 0 or isinstance(widget, QScrollBar | QSizeGrip | QRubberBand):
        return False
    return isinstance(widget, QLabel | QAbstractButton | QLineEdit | QAbstractSpinBox | QComboBox | QTabBar | QFrame)


_OVERLAYS = (Notices, QSplitterHandle, QRubberBand, QScrollBar, QSizeGrip)


def _overlapping(parent: QWidget) -> Iterator[str]:
    if isinstance(parent, QLineEdit | QComboBox | QAbstractSpinBox | QAbstractScrollArea):
        return  # their parts lie over their frame by Qt's own design
    children = [
        child
        for child in parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if child.isVisible()
        and not child.isWindow()
        and not isinstance(child, _OVERLAYS)
        and not _is_empty(child)
        and not child.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    ]
    for one, other in combinations(children, 2):
        both = one.geometry().intersected(other.geometry())
        if both.width() > _SLACK and both.height() > _SLACK:
            yield f"{_named(one)} {one.geometry().getRect()} and {_named(other)} {other.geometry().getRect()} overlap"


def _is_empty(widget: QWidget) -> bool:
    """A box for what may come, with nothing in it now."""
    shown = (child for child in widget.findChildren(QWidget) if child.isVisible())
    return type(widget) is QWidget and next(shown, None) is None


# Whether its words have room


def _cut(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QLabel):
        yield from _cut_label(widget)
    elif isinstance(widget, QPushButton | QCheckBox | QRadioButton):
        yield from _cut_button(widget)
    elif isinstance(widget, QTabBar):
        yield from _cut_tabs(widget)
    elif isinstance(widget, Header):
        yield from _cut_header(widget)
    elif isinstance(widget, TableView):
        yield from _cut_cells(widget)
    elif isinstance(widget, QLineEdit):
        yield from _cut_field(widget)
    elif isinstance(widget, QComboBox):
        yield from _too_small(widget, widget.minimumSizeHint())


def _too_small(widget: QWidget, needed: QSize) -> Iterator[str]:
    if widget.width() + _SLACK < needed.width():
        yield f"{_named(widget)} is {widget.width()} pixels wide and needs {needed.width()}"
    if widget.height() + _SLACK < needed.height():
        yield f"{_named(widget)} is {widget.height()} pixels high and needs {needed.height()}"


def _cut_label(label: QLabel) -> Iterator[str]:
    text = QLabel.text(label)
    if not text or not label.pixmap().isNull():
        return
    metrics = label.fontMetrics()
    room = label.contentsRect()
    flags = int(label.alignment())
    if label.wordWrap():
        flags |= int(Qt.TextFlag.TextWordWrap)
        needed = metrics.boundingRect(QRect(0, 0, room.width(), 100_000), flags, text)
    else:
        needed = metrics.boundingRect(QRect(0, 0, 100_000, 100_000), flags, text)
    if needed.width() > room.width() + _SLACK and not isinstance(label, ElidedLabel):
        yield f"{_named(label)} has {room.width()} pixels across for words of {needed.width()}"
    if needed.height() > room.height() + _SLACK:
        yield f"{_named(label)} has {room.height()} pixels for lines of {needed.height()}"


def _cut_button(button: QPushButton | QCheckBox | QRadioButton) -> Iterator[str]:
    if not button.text():
        return
    needed = button.sizeHint()
    if isinstance(button, QPushButton):
        option = QStyleOptionButton()
        button.initStyleOption(option)
        room = button.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, button)
        icon = button.iconSize().width() + 4 if not button.icon().isNull() else 0
        words = QFontMetrics(button.font()).horizontalAdvance(button.text().replace("&", ""))
        needed = QSize(button.width() + max(0, words + icon - room.width() - 2), button.fontMetrics().height())
    yield from _too_small(button, needed)


def _cut_tabs(bar: QTabBar) -> Iterator[str]:
    for index in range(bar.count()):
        if bar.isTabVisible(index):
            box = bar.tabRect(index)
            has_arrows = any(each.isVisible() for each in bar.findChildren(QToolButton))
            leads_there = index != bar.currentIndex() and has_arrows
            is_whole = bar.rect().contains(box)
            if box.width() + _SLACK < bar.tabSizeHint(index).width() or not (is_whole or leads_there):
                yield f"tab {bar.tabText(index)!r} at {box.getRect()} does not fit into {bar.size().toTuple()}"


def _cut_header(header: Header) -> Iterator[str]:
    model = header.model()
    if model is None:
        return
    metrics = QFontMetrics(header.font())
    for section in range(header.count()):
        if header.isSectionHidden(section):
            continue
        title = str(model.headerData(section, header.orientation()) or "")
        needed = metrics.horizontalAdvance(title) + 2 * CELL_MARGIN
        if header.sectionSize(section) + _SLACK < needed:
            yield f"the header {title!r} in {_named(header)} is {header.sectionSize(section)} wide and needs {needed}"
    if header.height() < metrics.height():
        yield f"a header is {header.height()} high for letters of {metrics.height()}"


def _cut_cells(table: TableView) -> Iterator[str]:
    model, metrics = table.model(), table.fontMetrics()
    for section, column in enumerate(table.columns()):
        if table.isColumnHidden(section) or column.stretch:
            continue  # texts are meant to end in "…"
        for row in range(min(_ROWS, model.rowCount())):
            index = model.index(row, section)
            text = str(index.data() or "")
            if index.data(BAR_ROLE) is None and column.align == "left" and index.data(ICON_ROLE) is None:
                continue  # the user's own data, or names
            needed = (
                metrics.horizontalAdvance(text) + 2 * CELL_MARGIN + _ICON_ROOM * (index.data(ICON_ROLE) is not None)
            )
            if table.columnWidth(section) + _SLACK < needed:
                name = f"{table.accessibleName()!r}, {column.title!r}"
                yield f"{text!r} in {name} has {table.columnWidth(section)} and needs {needed}"
                break
    if table.columns() and model.rowCount() and table.rowHeight(0) < metrics.height():
        yield f"rows of {table.accessibleName()!r} are {table.rowHeight(0)} high for letters of {metrics.height()}"


def _cut_field(field: QLineEdit) -> Iterator[str]:
    if field.height() < field.fontMetrics().height():
        yield f"{_named(field)} is {field.height()} high for letters of {field.fontMetrics().height()}"
    if not field.text() and field.placeholderText():
        margins = field.textMargins()
        room = field.contentsRect().width() - margins.left() - margins.right() - 4
        words = field.fontMetrics().horizontalAdvance(field.placeholderText())
        fewest = field.fontMetrics().horizontalAdvance(field.placeholderText()[:_FEWEST_LETTERS])
        if words > room and room < fewest:
            yield f"the hint {field.placeholderText()!r} has {room} pixels for {words}"


def reaches(widget: QWidget, window: QWidget) -> bool:
    """Whether a widget can be seen in the window as a whole."""
    above: QWidget | None = widget
    while above is not None and above is not window:
        above = above.parentWidget()
        if above is None or not above.rect().adjusted(-_SLACK, 0, _SLACK, 0).contains(
            QRect(widget.mapTo(above, QPoint()), widget.size())
        ):
            return False
    return widget.isVisible()
