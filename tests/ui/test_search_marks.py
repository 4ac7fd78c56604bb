"""What a search has found is marked where it stands, in every script, as the search itself looks for it."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QImage

from cfbatch_gui.core.results.text_search import found_spans
from cfbatch_gui.ui import theme as look
from cfbatch_gui.ui.tables.table_view import Column, Rows, TableView
from cfbatch_gui.ui.widgets.text_panel import TextPanel, marked_spans

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


def table(qtbot: Any, *texts: str) -> TableView:
    view = TableView("texts")
    qtbot.addWidget(view)
    view.resize(360, 200)
    columns = (
        Column("Text", lambda text: text, key="text", stretch=True, is_searched=True),
        Column("Beside", lambda text: text, key="beside", hidden=True),
    )
    view.show_rows(Rows[str](columns, texts))
    view.show()
    return view


@pytest.mark.parametrize("text", ["Desk lamp of brass", LONG + "The lamp.", "lamp " + LONG, "مصباح lamp المكتب"])
def test_a_cell_marks_it_also_where_the_line_would_be_cut_before(qtbot: Any, text: str) -> None:
    view = table(qtbot, text)
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
