"""Another scheme reaches what is on the screen at once, and hidden pages soon after it, with nothing left behind."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLineEdit, QListWidget, QStackedWidget, QWidget

from cfbatch_gui.ui.theme import DARK, Scheme, Theme
from cfbatch_gui.ui.widgets import (
    CheckBox,
    Choice,
    ElidedLabel,
    Label,
    LinkButton,
    PageHeader,
    PrimaryButton,
    SearchField,
    column,
)
from cfbatch_gui.ui.widgets.text_panel import TextPanel

Pages = tuple[QStackedWidget, "Counted", "Counted"]


class Counted(QWidget):
    """One of everything, and how often it was told that its style has changed."""

    def __init__(self) -> None:
        super().__init__()
        self.told = 0
        header, choice, lines = PageHeader("Reviews"), Choice("Kind"), QListWidget()
        header.set_state("Done", "check", "done")
        choice.add("Ranking", 1)
        lines.addItems(["one", "two"])
        own = QLineEdit("with a stylesheet of its own")
        own.setStyleSheet("min-height: 40px")
        labels = (Label("quiet", "quiet"), Label("error", "error"), ElidedLabel("A sentence", "small"))
        buttons = (PrimaryButton("Send", "send"), LinkButton("Open", "folder-open"), CheckBox("Paid"))
        self.setLayout(column(header, *labels, *buttons, choice, SearchField("Find"), lines, own, TextPanel()))

    def changeEvent(self, event: QEvent) -> None:
        self.told += event.type() == QEvent.Type.StyleChange
        super().changeEvent(event)


@pytest.fixture
def pages(qtbot: Any, theme: Theme) -> Iterator[Pages]:
    """A window with two pages that were both looked at; the first one is shown."""
    stack, pages = QStackedWidget(), (Counted(), Counted())
    qtbot.addWidget(stack)
    for each in pages:
        stack.addWidget(each)
    stack.resize(500, 700)
    stack.show()
    for each in reversed(pages):
        stack.setCurrentWidget(each)
        stack.grab()
        each.told = 0
    yield stack, *pages
    theme.set_scheme(Scheme.LIGHT)


def is_styled(widget: QWidget) -> bool:
    marks = (Qt.WidgetAttribute.WA_WState_Polished, Qt.WidgetAttribute.WA_SetStyle)
    return all([each.testAttribute(mark) for mark in marks] == [True, False] for each in widget.findChildren(QWidget))


def seen(stack: QStackedWidget, page: QWidget) -> QImage:
    stack.setCurrentWidget(page)
    return stack.grab().toImage()


def styled_by_qt(stack: QStackedWidget, page: QWidget) -> QImage:
    """As it is when every widget is styled in one go."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    sheet = app.styleSheet()
    app.setStyleSheet("")
    app.setStyleSheet(sheet)
    return seen(stack, page)


def test_what_is_shown_changes_at_once_and_the_rest_afterwards(qtbot: Any, theme: Theme, pages: Pages) -> None:
    _, shown, hidden = pages
    theme.set_scheme(Scheme.DARK)
    assert shown.told > 0 and hidden.told == 0
    qtbot.waitUntil(lambda: is_styled(hidden))
    assert hidden.told == 1


@pytest.mark.parametrize("way", [(Scheme.DARK,), (Scheme.DARK, Scheme.LIGHT), (Scheme.HIGH_CONTRAST, Scheme.DARK)])
def test_a_hidden_page_looks_as_if_it_had_been_shown(
    qtbot: Any, theme: Theme, pages: Pages, way: tuple[Scheme, ...]
) -> None:
    stack, _, hidden = pages
    for scheme in way:
        theme.set_scheme(scheme)
        qtbot.waitUntil(lambda: is_styled(hidden))
    assert seen(stack, hidden) == styled_by_qt(stack, hidden)


def test_changes_that_follow_each_other_end_with_the_last(qtbot: Any, theme: Theme, pages: Pages) -> None:
    stack, _, hidden = pages
    for scheme in (Scheme.DARK, Scheme.LIGHT, Scheme.DARK):
        theme.set_scheme(scheme)
    qtbot.waitUntil(lambda: is_styled(hidden))
    image = seen(stack, hidden)
    assert image == styled_by_qt(stack, hidden)
    assert image.pixelColor(2, 690).name() == DARK.inset


def test_a_page_that_is_opened_before_its_turn_gets_its_turn(qtbot: Any, theme: Theme, pages: Pages) -> None:
    stack, _, hidden = pages
    theme.set_scheme(Scheme.DARK)
    stack.setCurrentWidget(hidden)
    qtbot.waitUntil(lambda: is_styled(hidden))
    assert seen(stack, hidden) == styled_by_qt(stack, hidden)


def test_a_widget_that_moves_to_another_page_before_its_turn_has_the_styles_of_the_rest(
    qtbot: Any, theme: Theme, pages: Pages
) -> None:
    stack, shown, hidden = pages
    button = hidden.findChild(LinkButton)
    assert button is not None
    theme.set_scheme(Scheme.DARK)
    layout = shown.layout()
    assert layout is not None
    layout.addWidget(button)
    button.hide()
    qtbot.waitUntil(lambda: is_styled(hidden) and is_styled(shown))
    theme.set_scheme(Scheme.LIGHT)
    button.show()
    qtbot.waitUntil(lambda: is_styled(hidden) and is_styled(shown))
    assert button.style() is stack.style(), "none of its own, which Qt would keep to the end"
    assert seen(stack, shown) == styled_by_qt(stack, shown)


@pytest.mark.parametrize("remove", [QWidget.deleteLater, lambda page: page.setParent(None)], ids=["deleted", "taken"])
def test_a_page_that_goes_before_its_turn_stops_nothing(
    qtbot: Any, theme: Theme, pages: Pages, remove: Callable[[QWidget], None]
) -> None:
    stack, _, hidden = pages
    third = Counted()
    stack.addWidget(third)
    seen(stack, third)
    stack.setCurrentIndex(0)
    theme.set_scheme(Scheme.DARK)
    stack.removeWidget(third)
    remove(third)
    qtbot.waitUntil(lambda: is_styled(hidden))
    assert seen(stack, hidden) == styled_by_qt(stack, hidden)
