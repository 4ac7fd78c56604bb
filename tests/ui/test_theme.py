"""Another scheme reaches what is on the screen at once, and hidden pages soon after it, with nothing left behind."""

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListWidget, QStackedWidget, QWidget

from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui import icons
from cfbatch_gui.ui.theme import DARK, LIGHT, Scheme, Theme, tokens
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

NAMES = sorted(path.stem for path in resource("icons").glob("*.svg"))


def test_the_palette_carries_the_theme(theme: Theme) -> None:
    for scheme, colours in ((Scheme.DARK, DARK), (Scheme.LIGHT, LIGHT)):
        theme.set_scheme(scheme)
        assert tokens() == colours and QGuiApplication.palette().window().color().name() == colours["window"]


@pytest.mark.parametrize("name", NAMES)
def test_every_icon_draws_in_the_colour_asked_for(qapp: QApplication, name: str) -> None:
    image = icons.pixmap(name, "accent", 16, 2.0).toImage()
    assert (image.width(), image.devicePixelRatio()) == (32, 2.0)
    strong = [image.pixelColor(x, y) for x in range(32) for y in range(32) if image.pixelColor(x, y).alpha() > 250]
    assert strong
    assert all(abs(each.blue() - QColor(LIGHT["accent"]).blue()) < 8 for each in strong)


def test_data_never_becomes_markup(qtbot: Any) -> None:
    text = "<img src='/etc/passwd'> <b>bold</b>"
    label = ElidedLabel(text)
    qtbot.addWidget(label)
    label.resize(60, 20)
    label.show()
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert label.whole_text() == text
    assert "&lt;img" in label.toolTip()
    assert isinstance(label, QLabel)


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


def test_what_is_shown_changes_at_once_and_the_rest_afterwards_to_the_last_of_several(
    qtbot: Any, theme: Theme, pages: Pages
) -> None:
    stack, shown, hidden = pages
    theme.set_scheme(Scheme.DARK)
    assert shown.told > 0 and hidden.told == 0
    qtbot.waitUntil(lambda: is_styled(hidden))
    assert hidden.told == 1
    for scheme in (Scheme.LIGHT, Scheme.DARK, Scheme.LIGHT, Scheme.DARK):
        theme.set_scheme(scheme)
    qtbot.waitUntil(lambda: is_styled(hidden))
    image = seen(stack, hidden)
    assert image == styled_by_qt(stack, hidden)
    assert image.pixelColor(2, 690).name() == DARK["inset"]


def test_a_page_that_goes_before_its_turn_stops_nothing(qtbot: Any, theme: Theme, pages: Pages) -> None:
    stack, _, hidden = pages
    third = Counted()
    stack.addWidget(third)
    seen(stack, third)
    stack.setCurrentIndex(0)
    theme.set_scheme(Scheme.DARK)
    stack.removeWidget(third)
    third.deleteLater()
    qtbot.waitUntil(lambda: is_styled(hidden))
    assert seen(stack, hidden) == styled_by_qt(stack, hidden)
