"""Another scheme reaches what is on the screen at once, and hidden pages soon after it, with nothing left behind."""

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QImage
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListWidget, QStackedWidget, QWidget

from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui import display, icons, theme
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
    boxed,
    column,
)
from cfbatch_gui.ui.widgets.text_panel import TextPanel

NAMES = sorted(path.stem for path in resource("icons").glob("*.svg"))


@pytest.fixture
def dark(theme: Theme) -> Iterator[None]:
    theme.set_scheme(Scheme.DARK)
    yield
    theme.set_scheme(Scheme.LIGHT)


def test_the_palette_carries_the_theme(theme: Theme) -> None:
    assert tokens() == LIGHT
    told: list[str] = []
    theme.changed.connect(lambda: told.append(tokens().window))
    theme.set_scheme(Scheme.DARK)
    theme.set_scheme(Scheme.LIGHT)
    assert told == [DARK.window, LIGHT.window]


@pytest.mark.parametrize("name", NAMES)
def test_every_icon_draws_in_the_colour_asked_for(qapp: QApplication, name: str) -> None:
    image = icons.pixmap(name, "accent", 16, 2.0).toImage()
    assert (image.width(), image.devicePixelRatio()) == (32, 2.0)
    strong = [image.pixelColor(x, y) for x in range(32) for y in range(32) if image.pixelColor(x, y).alpha() > 250]
    assert strong
    assert all(abs(each.blue() - QColor(LIGHT.accent).blue()) < 8 for each in strong)


def test_icons_follow_a_change_of_theme(qtbot: Any, theme: Theme) -> None:
    button = PrimaryButton("Send", "send")
    qtbot.addWidget(button)

    def darkest(icon: QIcon) -> int:
        image = icon.pixmap(QSize(16, 16), 1.0).toImage()
        seen = [image.pixelColor(x, y) for x in range(16) for y in range(16)]
        return min(each.lightness() for each in seen if each.alpha() > 200)

    before = darkest(button.icon())
    theme.set_scheme(Scheme.DARK)
    after = darkest(button.icon())
    theme.set_scheme(Scheme.LIGHT)
    assert before > 200 > 60 > after


def test_figures_are_tabular(qtbot: Any) -> None:
    label = Label("0", "figure")
    qtbot.addWidget(label)
    label.ensurePolished()
    metrics = QFontMetrics(label.font())
    assert len({metrics.horizontalAdvance(digit) for digit in "0123456789"}) == 1


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


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (9_432_000, "9.4 MB")],
)
def test_sizes(value: int, expected: str) -> None:
    assert display.size(value) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0 s"), (59.9, "59 s"), (362, "6 min 02 s"), (3900, "1 h 05 min"), (260_000, "3 days"), (-5, "0 s")],
)
def test_durations(seconds: float, expected: str) -> None:
    assert display.duration(seconds) == expected


def test_ages() -> None:
    from datetime import datetime

    now = datetime(2025, 11, 20, 15, 0).astimezone().timestamp()  # a Thursday
    hour, day = 3600.0, 86400.0
    said = [display.age(now - ago, now) for ago in (5, 240, 3 * hour, 16 * hour, 2 * day, 17 * day, 400 * day)]
    expected = ["just now", "4 min ago", "3 h ago", "yesterday", "Tuesday", "3 Nov", "16 Oct 2024"]
    assert said == expected


def test_one_line_and_colours() -> None:
    assert display.one_line("a\n\tb  c") == "a b c"
    assert display.one_line("x" * 600).endswith("…")
    assert theme.colour("accent") == QColor(LIGHT.accent)
    assert display.plural(1, "{n} row", "{n} rows") == "1 row"
    assert display.plural(3816, "{n} row", "{n} rows") == "3,816 rows"


def test_a_title_has_the_height_that_its_font_needs(qtbot: Any) -> None:
    header = PageHeader(renamable=True)
    header.set_facts("below it")
    title = header.findChild(ElidedLabel)
    assert title is not None
    title.setStyleSheet("font-size: 40px")
    page = boxed(column(header, Label("the page")))
    qtbot.addWidget(page)
    page.resize(600, 400)
    page.show()
    header.set_title("Gypsy")
    QApplication.processEvents()
    assert title.height() >= QFontMetrics(title.font()).height() > 40


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


def test_changes_that_follow_each_other_end_with_the_last(qtbot: Any, theme: Theme, pages: Pages) -> None:
    stack, _, hidden = pages
    for scheme in (Scheme.DARK, Scheme.LIGHT, Scheme.DARK):
        theme.set_scheme(scheme)
    qtbot.waitUntil(lambda: is_styled(hidden))
    image = seen(stack, hidden)
    assert image == styled_by_qt(stack, hidden)
    assert image.pixelColor(2, 690).name() == DARK.inset


def test_a_page_that_is_shown_before_its_turn_changes_with_what_is_shown(theme: Theme, pages: Pages) -> None:
    stack, _, hidden = pages
    theme.set_scheme(Scheme.LIGHT)  # puts the hidden page behind
    stack.setCurrentWidget(hidden)
    theme.set_scheme(Scheme.DARK)
    (title,) = (each for each in hidden.findChildren(ElidedLabel) if each.whole_text() == "Reviews")
    assert title.palette().windowText().color() == QColor(DARK.text)


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
