"""Rows whose quotation marks or line breaks look misplaced: shown as they stand and as read, sent or left out."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.ui.widgets import LinkButton, NoticeBar
from tests.ui.conftest import Until
from tests.ui.inputs.conftest import DraftDriver

# Row 3 goes on after a closing quotation mark, row 5 has one of no pair, row 7 may be two rows.
TEXTS = (
    'id,text,price\n1,a lamp,12\n2,"the ""old"" lamp" of <b>brass</b>,14\n3,a chair,20\n4,a 27" screen,99\n'
    '5,a table,31\n6,"a sofa\n7,a shelf, blue",12\n8,a bed,14\n9,"a rug, red",15\n'
)
LEFT_OUT = "3 rows may have been misread and will be left out."
SENT = "3 rows that may have been misread will be sent as they were read."


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text(TEXTS, encoding="utf-8")
    return path


def bar(driver: DraftDriver, sentence: str) -> NoticeBar | None:
    return next((bar for bar in driver.page.check.problem_bars.bars if bar.text() == sentence), None)


def link(driver: DraftDriver, sentence: str, text: str) -> LinkButton:
    found = bar(driver, sentence)
    assert found is not None
    return next(link for link in found.links() if link.text() == text)


async def opened(driver: DraftDriver, path: Path, until: Until, sentence: str = LEFT_OUT) -> None:
    driver.begin(path, kind=Kind.EMBED)
    await settled(driver, sentence, until)


async def settled(driver: DraftDriver, sentence: str, until: Until) -> None:
    await until(lambda: driver.is_settled() and driver.is_ready() and bar(driver, sentence))


async def test_they_are_shown_as_they_stand_beside_what_was_read(
    driver: DraftDriver, texts: Path, until: Until
) -> None:
    await opened(driver, texts, until)
    assert driver.counts()[1] == 5
    driver.click(link(driver, LEFT_OUT, "Show rows"))
    view = driver.page.check.problems
    await until(view.isVisible)
    assert [(each.row, each.raw, each.cells) for each in view.found.rows] == [
        (3, '2,"the ""old"" lamp" of <b>brass</b>,14', ("2", 'the "old" lamp of <b>brass</b>', "14")),
        (5, '4,a 27" screen,99', ("4", 'a 27" screen', "99")),
        (7, '6,"a sofa\n7,a shelf, blue",12', ("6", "a sofa\n7,a shelf, blue", "12")),
    ]
    assert [column.title for column in view.table.columns()] == ["Row", "In the file", "id", "text", "price", "Why"]
    panel = view.panel
    assert panel.isVisible() and panel.problem().startswith("After a closing quotation mark")
    assert panel.text().splitlines() == [
        *('2,"the ""old"" lamp" of <b>brass</b>,14', "", "As read:"),
        *("id: 2", 'text: the "old" lamp of <b>brass</b>', "price: 14"),
    ]
    view.table.setFocus()
    driver.qtbot.keyClick(view.table, Qt.Key.Key_Down)
    driver.qtbot.keyClick(view.table, Qt.Key.Key_Down)
    assert panel.heading() == "Row 7, as it stands in the file:"
    read = "id: 6\ntext: a sofa↵\n7,a shelf, blue\nprice: 12"
    assert panel.text() == f'6,"a sofa↵\n7,a shelf, blue",12\n\nAs read:\n{read}'
    driver.qtbot.keyClick(view.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert '"6,""a sofa\n7,a shelf, blue"",12"' in QGuiApplication.clipboard().text()


async def test_nobody_has_decided_about_other_rows(
    driver: DraftDriver, texts: Path, tmp_path: Path, until: Until
) -> None:
    await opened(driver, texts, until)
    driver.click(link(driver, LEFT_OUT, "Send them as read"))
    await settled(driver, SENT, until)
    job = driver.job
    with texts.open("a") as file:
        file.write('10,"a vase" of glass,5\n')
    driver.page.drafts.forget(job.id)  # as after a new start
    driver.page.show_job(job)
    await settled(driver, LEFT_OUT.replace("3", "4"), until)
    driver.click(link(driver, LEFT_OUT.replace("3", "4"), "Send them as read"))
    await settled(driver, SENT.replace("3", "4"), until)
    other = tmp_path / "other.csv"
    other.write_text(TEXTS, encoding="utf-8")
    driver.page.drafts.open_paths([other])
    await settled(driver, LEFT_OUT, until)
    driver.click(link(driver, LEFT_OUT, "Send them as read"))
    await settled(driver, SENT, until)
    driver.click(driver.page.data.first.header)
    await settled(driver, LEFT_OUT, until)


async def test_rows_of_both_files_are_decided_about(driver: DraftDriver, tmp_path: Path, until: Until) -> None:
    queries, contexts = tmp_path / "queries.csv", tmp_path / "contexts.csv"
    queries.write_text('id,query\n1,why\n2,"what" is it\n3,how\n', encoding="utf-8")
    contexts.write_text('sku,text\nA,one\nB,"two" and more\nC,three\nD,5" screen\nE,six\n', encoding="utf-8")
    driver.begin(queries, contexts, kind=Kind.RANK)
    await settled(driver, LEFT_OUT, until)
    assert driver.counts() == (2, 6)
    driver.click(link(driver, LEFT_OUT, "Show rows"))
    view = driver.page.check.problems
    await until(view.isVisible)
    assert [(each.file, each.row) for each in view.found.rows] == [(1, 3), (2, 3), (2, 5)]
    driver.click(link(driver, LEFT_OUT, "Send them as read"))
    await settled(driver, SENT, until)
    assert driver.counts() == (3, 15)
    driver.click(link(driver, SENT, "Leave them out"))
    await settled(driver, LEFT_OUT, until)
    assert driver.counts() == (2, 6)
