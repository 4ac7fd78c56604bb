"""Tables: sorting, copying, columns, pages of rows; and what a search has found is marked where it stands."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, QLocale, Qt
from PySide6.QtGui import QFocusEvent, QGuiApplication, QImage
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QMenu, QWidget

from cfbatch_gui.core.results.text_search import found_spans
from cfbatch_gui.ui import theme as look
from cfbatch_gui.ui.memory import memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tables.table_rows import Column, PagedRows, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.widgets import column
from cfbatch_gui.ui.widgets.marks import marked_spans
from cfbatch_gui.ui.widgets.text_panel import TextPanel


@dataclass(frozen=True)
class Hit:
    number: int
    text: str
    score: float | None


COLUMNS: tuple[Column[Hit], ...] = (
    Column("#", lambda hit: hit.number, align="right", width=60),
    Column("Text", lambda hit: hit.text, stretch=True),
    Column("Score", lambda hit: hit.score, show=lambda score: f"{score:.4f}", bar=lambda hit: hit.score),
)
TIED: Column[Hit] = Column("Rank", lambda hit: hit.number, text=lambda hit: f"{hit.number:,}=")
SHARE: Column[Hit] = Column("Of", lambda hit: 1 / 9, text=lambda hit: "1 of 9", copies_text=True)
HITS = (Hit(1, "beta", 0.5), Hit(2, "Alpha", None), Hit(3, "gamma\twith tab", 0.75), Hit(4, 'say "so"\nagain', 0.5))


def numbers(rows: Rows[Hit]) -> list[int]:
    return [rows.row(at).number for at in range(rows.rowCount())]


@pytest.fixture
def view(qtbot: Any) -> TableView:
    view = TableView("hits")
    qtbot.addWidget(view)
    view.resize(640, 300)
    view.show_rows(Rows(COLUMNS, HITS, key=lambda hit: hit.number))
    view.show()
    return view


def test_the_first_row_is_chosen_when_tab_comes_to_a_table(view: TableView) -> None:
    view.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)  # as Qt does when it moves the focus by Tab
    assert view.selected_rows() == []
    QCoreApplication.sendEvent(view, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    assert view.selected_rows() == [0]


def test_a_cell_runs_in_the_direction_of_its_script_where_its_column_begins(view: TableView) -> None:
    """A question mark stands at the left end of Hebrew, and text at the left end of its column all the same."""
    rows = Rows(COLUMNS, [Hit(1, "", 0.5), Hit(2, "איך מאפסים", 0.5), Hit(3, "איך מאפסים?", 0.5)])
    view.resize(600, 300)
    view.show_rows(rows)

    def inked(place: int) -> list[set[int]]:
        """The colours of each column of pixels but for the hairline below."""
        image = view.viewport().grab(view.visualRect(rows.index(place, 1)).adjusted(0, 0, 0, -2)).toImage()
        return [{image.pixel(x, y) for y in range(image.height())} for x in range(image.width())]

    without, asked = inked(1), inked(2)
    first = next(x for x, colours in enumerate(without) if len(colours) > 1)
    assert first < 20
    assert next(x for x, colours in enumerate(asked) if len(colours) > 1) < 20
    assert without[first : first + 6] != asked[first : first + 6]


def test_sorting_is_stable_and_missing_values_come_last() -> None:
    rows = Rows(COLUMNS, HITS)
    rows.sort(2, Qt.SortOrder.AscendingOrder)
    assert numbers(rows) == [1, 4, 3, 2]
    rows.sort(2, Qt.SortOrder.DescendingOrder)
    assert numbers(rows) == [3, 1, 4, 2]
    rows.sort(1)
    assert numbers(rows) == [2, 1, 3, 4]
    rows.sort(-1)
    assert numbers(rows) == [1, 2, 3, 4]


def test_an_update_with_the_same_keys_keeps_the_selection(view: TableView) -> None:
    view.selectRow(2)
    model = view.model()
    assert isinstance(model, Rows)
    changed, reset = QSignalSpy(model.dataChanged), QSignalSpy(model.modelReset)
    model.set_rows((HITS[0], HITS[1], replace(HITS[2], score=0.8), HITS[3]))
    assert view.selected_rows() == [2]
    assert (changed.count(), reset.count()) == (1, 0)
    assert model.index(2, 2).data() == "0.8000"
    model.set_rows(HITS[:2])
    assert (reset.count(), model.rowCount()) == (1, 2)


def test_copy_takes_what_is_seen_as_a_spreadsheet_takes_it(qtbot: Any, view: TableView) -> None:
    view.setColumnHidden(0, True)
    view.horizontalHeader().moveSection(2, 0)
    view.selectAll()
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    titles = "\t".join(view.columns()[section].title for section in (2, 1))
    expected = titles + '\n0.5\tbeta\n\tAlpha\n0.75\t"gamma\twith tab"\n0.5\t"say ""so""\nagain"'
    assert QGuiApplication.clipboard().text() == expected


@pytest.mark.parametrize(("locale", "copied"), [("en_US", "0.3333333333333333"), ("de_DE", "0,3333333333333333")])
def test_numbers_are_copied_whole_with_the_decimal_sign_of_the_locale(
    view: TableView, locale: str, copied: str
) -> None:
    before = QLocale()
    QLocale.setDefault(QLocale(locale))
    try:
        view.show_rows(Rows((*COLUMNS, TIED, SHARE), (Hit(1_000, "a", 1 / 3), Hit(2, "b", math.nan))))
        assert view.model().index(0, 3).data() == "1,000="
        view.selectAll()
        view.copy()
    finally:
        QLocale.setDefault(before)
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().split("\n")]
    assert lines == [
        ["#", "Text", "Score", "Rank", "Of"],
        ["1000", "a", copied, "1000", "1 of 9"],
        ["2", "b", "", "2", "1 of 9"],
    ]


def test_columns_are_remembered(qtbot: Any) -> None:
    first = TableView("hits")
    qtbot.addWidget(first)
    first.show_rows(Rows(COLUMNS, HITS))
    first.horizontalHeader().resizeSection(0, 99)
    first.show_column(2, shown=False)
    first.horizontalHeader().moveSection(0, 1)
    first.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    again = TableView("hits")
    qtbot.addWidget(again)
    rows = Rows(COLUMNS, HITS)
    again.show_rows(rows)
    assert again.horizontalHeader().sectionSize(0) == 99
    assert again.isColumnHidden(2)
    assert again.horizontalHeader().visualIndex(0) == 1
    assert numbers(rows) == [4, 3, 1, 2]
    wider = TableView("hits")
    qtbot.addWidget(wider)
    wider.show_rows(Rows((TIED, *COLUMNS), HITS))
    assert [wider.horizontalHeader().logicalIndex(at) for at in range(4)] == [0, 2, 1, 3], "the new one keeps its place"


@pytest.mark.parametrize("kept", ["[]", "[[]]", '[["Name", Infinity, true]]', '[["Name", 99999999999, true]]', "5"])
def test_a_layout_changed_by_hand_opens_all_the_same(qtbot: Any, kept: str) -> None:
    memory.open({"table/by-hand": f'{{"columns": {kept}}}'})
    view = TableView("by-hand", "By hand", Rows([Column("Name", str), Column("Size", str)], ["a"]))
    qtbot.addWidget(view)
    assert not view.isColumnHidden(0)


def test_the_last_column_cannot_be_hidden(view: TableView) -> None:
    menu = QMenu(view)
    view.fill_columns_menu(menu)
    for action in menu.actions()[:3]:
        action.trigger()
    assert [view.isColumnHidden(at) for at in range(3)] == [True, True, False]


def test_a_million_rows_come_page_by_page(qtbot: Any) -> None:
    asked: list[tuple[int, int]] = []

    def fetch(start: int, stop: int) -> list[Hit]:
        asked.append((start, stop))
        return [Hit(number, f"text {number}", number / 1e6) for number in range(start, stop)]

    rows = PagedRows(COLUMNS, count=1_000_000, fetch=fetch)
    window = QWidget()
    view, notices = TableView(), Notices(window)
    window.setLayout(column(view))
    qtbot.addWidget(window)
    window.resize(640, 400)
    view.show_rows(rows)
    window.show()
    view.grab()
    view.scrollToBottom()
    view.grab()
    assert rows.row(999_999).text == "text 999999"
    assert sum(stop - start for start, stop in asked) < 3000
    view.selectAll()
    view.copy()
    assert len(notices.texts()) == 1, "so many are not copied"


LONG = "A sentence that says nothing of it, and goes on for a while before it comes to anything at all. " * 4


@pytest.mark.parametrize(
    ("text", "sought", "found"),
    [
        ("Reset the password", "PASSWORD", ["password"]),
        ("Straße und STRASSE", "strasse", ["Straße", "STRASSE"]),
        ("Straße", "s", ["S", "ß"]),  # two folded letters of one are one place
        ("Maße", "ss", ["ß"]),
        ("Счёт счёт", "СЧЁТ", ["Счёт", "счёт"]),
        ("ΟΔΟΣ οδος", "οδος", ["ΟΔΟΣ", "οδος"]),
        ("東京都の天気", "天気", ["天気"]),
        ("كلمة المرور", "المرور", ["المرور"]),
        ("İstanbul", "i", ["İ"]),
        ("🙂 lamp 🙂 lamp", "LAMP", ["lamp", "lamp"]),
        ("lamp", "", []),
        ("lamp", "desk", []),
    ],
)
def test_the_places_are_those_of_the_search(text: str, sought: str, found: list[str]) -> None:
    assert [text[start:stop] for start, stop in found_spans(text, sought)] == found
    units = text.encode("utf-16-le")
    shown = [
        units[2 * start : 2 * (start + length)].decode("utf-16-le") for start, length in marked_spans(text, sought)
    ]
    assert shown == found, "Qt counts code units"


@given(st.text(), st.text(min_size=1))
def test_a_text_has_places_exactly_where_the_search_finds_it(text: str, sought: str) -> None:
    spans = found_spans(text, sought)
    assert bool(spans) is (sought.casefold() in text.casefold())
    assert all(sought.casefold() in text[start:stop].casefold() for start, stop in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


def marked(image: QImage) -> int:
    """How many pixels have the colour of the marks."""
    colour = look.colour("found").rgb()
    return sum(image.pixel(x, y) == colour for x in range(image.width()) for y in range(image.height()))


@pytest.mark.parametrize("text", ["Desk lamp of brass", LONG + "The lamp.", "lamp " + LONG, "مصباح lamp المكتب"])
def test_a_cell_marks_it_also_where_the_line_would_be_cut_before(qtbot: Any, text: str) -> None:
    view = TableView("texts")
    qtbot.addWidget(view)
    view.resize(360, 200)
    shown: Column[str] = Column("Text", str, stretch=True, is_searched=True)
    hidden: Column[str] = Column("Beside", str, hidden=True)
    view.show_rows(Rows[str]((shown, hidden), [text]))
    view.show()
    assert marked(view.grab().toImage()) == 0
    view.mark("LAMP")
    before = marked(view.grab().toImage())
    assert before > 40
    view.selectRow(0)
    assert abs(marked(view.grab().toImage()) - before) < before / 4, "a selection does not cover it"
    view.mark("")
    assert marked(view.grab().toImage()) == 0


def test_the_whole_text_is_marked_and_scrolled_to_the_first_place(qtbot: Any) -> None:
    panel = TextPanel()
    qtbot.addWidget(panel)
    panel.resize(360, 200)
    panel.show()
    panel.mark("lamp")
    panel.show_text("Row 2", f"{LONG}\n🙂 The LAMP, and a lamp.")
    assert [mark.cursor.selectedText() for mark in panel._text.extraSelections()] == ["LAMP", "lamp"]
    assert marked(panel.grab().toImage()) > 40
    panel.mark("")
    assert panel._text.extraSelections() == []
