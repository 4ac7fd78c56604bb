"""Rows whose quotation marks or line breaks look misplaced: shown as they stand and as read, sent or left out."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind
from tests.ui.connections import until
from tests.ui.inputs.conftest import DraftDriver

# Row 3 goes on after a closing quotation mark, row 5 has one of no pair, row 7 may be two rows.
TEXTS = (
    'id,text,price\n1,a lamp,12\n2,"the ""old"" lamp" of <b>brass</b>,14\n3,a chair,20\n4,a 27" screen,99\n'
    '5,a table,31\n6,"a sofa\n7,a shelf, blue",12\n8,a bed,14\n9,"a rug, red",15\n'
)
LEFT_OUT, SENT = ProblemKind.DOUBTFUL_ROW, ProblemKind.DOUBTFUL_SENT
SHOW, DECIDE = 0, 1  # links of both bars


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text(TEXTS, encoding="utf-8")
    return path


async def settled(driver: DraftDriver, kind: ProblemKind, count: int = 3) -> None:
    await until(lambda: driver.is_settled() and driver.is_ready() and driver.problems() == {kind: count})


async def test_they_are_shown_as_they_stand_beside_what_was_read(driver: DraftDriver, texts: Path) -> None:
    driver.begin(texts, kind=Kind.EMBED)
    await settled(driver, LEFT_OUT)
    assert driver.counts()[1] == 5
    driver.press(LEFT_OUT, SHOW)
    view = driver.page.check.problems
    await until(view.isVisible)
    assert [(each.row, each.raw, each.cells) for each in view.found.rows] == [
        (3, '2,"the ""old"" lamp" of <b>brass</b>,14', ("2", 'the "old" lamp of <b>brass</b>', "14")),
        (5, '4,a 27" screen,99', ("4", 'a 27" screen', "99")),
        (7, '6,"a sofa\n7,a shelf, blue",12', ("6", "a sofa\n7,a shelf, blue", "12")),
    ]
    assert [column.title for column in view.table.columns()][2:5] == ["id", "text", "price"]
    view.table.setFocus()
    driver.qtbot.keyClick(view.table, Qt.Key.Key_Down)
    driver.qtbot.keyClick(view.table, Qt.Key.Key_Down)
    in_file, _, read = view.panel.text().partition("\n\n")
    assert view.panel.isVisible() and in_file == '6,"a sofa↵\n7,a shelf, blue",12'
    assert read.splitlines()[1:] == ["id: 6", "text: a sofa↵", "7,a shelf, blue", "price: 12"]
    driver.qtbot.keyClick(view.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert '"6,""a sofa\n7,a shelf, blue"",12"' in QGuiApplication.clipboard().text()


async def test_nobody_has_decided_about_other_rows(driver: DraftDriver, texts: Path, tmp_path: Path) -> None:
    driver.begin(texts, kind=Kind.EMBED)
    await settled(driver, LEFT_OUT)
    driver.press(LEFT_OUT, DECIDE)
    await settled(driver, SENT)
    with texts.open("a") as file:
        file.write('10,"a vase" of glass,5\n')
    driver.start_again()
    await settled(driver, LEFT_OUT, 4)
    driver.press(LEFT_OUT, DECIDE)
    await settled(driver, SENT, 4)
    other = tmp_path / "other.csv"
    other.write_text(TEXTS, encoding="utf-8")
    driver.page.drafts.open_paths([other])
    await settled(driver, LEFT_OUT)
    driver.press(LEFT_OUT, DECIDE)
    await settled(driver, SENT)
    driver.click(driver.page.data.first.header)
    await settled(driver, LEFT_OUT)
