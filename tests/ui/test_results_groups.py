"""The pages of groups and duplicates of a job of the practice service, and what is kept of them with the job."""

import csv
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results import groups
from cfbatch_gui.ui.results.export_dialog import ExportDialog
from cfbatch_gui.ui.tasks import close_all
from cfbatch_gui.words.figures import one_line
from tests.ui import test_results_vector_pages
from tests.ui.connections import pick, shown, until
from tests.ui.job_page_driver import TEXTS as FOUR
from tests.ui.job_page_driver import JobPageDriver, open_job_page
from tests.ui.test_results_vector_pages import TEXTS, Pages, offered

SIZES = "id,text\n1,Saucepan of steel with a lid 8 l\n2,Saucepan of steel with a lid 10 l\n3,Garden hose\n4,Garden hose"


pages = test_results_vector_pages.pages  # the same fixture


async def four_groups(pages: Pages) -> Any:
    page = await pages.open("groups")
    page.field.setValue(4)
    await until(lambda: page.rows.rowCount() == 4 and not page.tasks.running())
    return page


def listed(page: Any, what: str) -> list[Any]:
    return [getattr(page.rows.row(index), what) for index in range(page.rows.rowCount())]


def choose(menu: QMenu, *texts: str) -> None:
    """Choose an entry of a menu, or of a menu in it, by the beginnings of their texts."""
    for text in texts[:-1]:
        inner = next(each.menu() for each in menu.actions() if each.text().startswith(text))
        assert isinstance(inner, QMenu)
        menu = inner
    next(each for each in menu.actions() if each.text().startswith(texts[-1])).trigger()


async def undo(driver: JobPageDriver, page: Any) -> None:
    driver.notices.undos.undo()
    await until(lambda: not page.tasks.running())


async def test_the_number_and_the_names_of_groups_are_kept_and_found_again(tmp_path: Path) -> None:
    async with open_job_page(tmp_path) as driver:
        job = await driver.finished(TEXTS, Kind.EMBED, "Catalogue")
        await driver.show(job)
        page = await four_groups(Pages(driver, job))
        assert listed(page, "size") == [20, 20, 20, 20]
        page.table.selectRow(1)
        words, items = page.name_field.text(), set(page.members.items)
        page.table.setFocus()
        QTest.keyClick(page.table, Qt.Key.Key_F2)
        assert page.name_field.selectedText() == words
        QTest.keyClicks(page.name_field, "Mine & <b>yours</b>")
        QTest.keyClick(page.name_field, Qt.Key.Key_Return)
        await until(lambda: "Mine & <b>yours</b>" in listed(page, "name") and not page.tasks.running())
        assert driver.window.focusWidget() is page.table
        other = await driver.finished(FOUR, Kind.EMBED, "Another")
        await driver.show(other)
        driver.page.tabs.choose("groups")
        await until(lambda: page.found is not None and sum(listed(page, "size")) == 4 and not page.tasks.running())
        assert "Mine & <b>yours</b>" not in listed(page, "name")
        await close_all(driver.page)
    async with open_job_page(tmp_path) as driver:
        job = driver.program.ledger.job(job.id)
        await driver.show(job)
        page = await Pages(driver, job).open("groups")
        assert (page.field.value(), page.rows.rowCount()) == (4, 4)
        (named,) = (index for index, name in enumerate(listed(page, "name")) if name == "Mine & <b>yours</b>")
        page.table.selectRow(named)
        assert set(page.members.items) == items
        assert offered(page) == {"Mine & <b>yours</b>": 20}
        page.edit_name()
        QTest.keyClick(page.name_field, Qt.Key.Key_Backspace)
        QTest.keyClick(page.name_field, Qt.Key.Key_Return)
        await until(lambda: words in listed(page, "name") and not page.tasks.running())
        await undo(driver, page)
        assert "Mine & <b>yours</b>" in listed(page, "name")
        await close_all(driver.page)


async def test_groups_are_joined_and_texts_removed_until_it_is_undone(pages: Pages) -> None:
    page, driver = await four_groups(pages), pages.driver
    page.table.selectRow(0)
    page.more_button.menu().aboutToShow.emit()
    choose(page.more_button.menu(), "Join with…", listed(page, "name")[1])
    await until(lambda: listed(page, "size") == [40, 20, 20] and not page.tasks.running())
    page.members.table.selectRow(0)  # by which the group was known
    gone = page.members.items[0]
    QTest.keyClick(page.members.table, Qt.Key.Key_Delete)
    await until(lambda: listed(page, "size") == [39, 20, 20, 1] and not page.tasks.running())
    assert page.table.currentIndex().row() == 0
    page.table.selectRow(3)
    assert list(page.members.items) == [gone] and not page.name_field.isEnabled()
    assert page.bars.data().rows[1][1] == 39
    await undo(driver, page)
    assert listed(page, "size") == [40, 20, 20]
    page.more_button.menu().aboutToShow.emit()
    choose(page.more_button.menu(), "Take apart")
    await until(lambda: listed(page, "size") == [20, 20, 20, 20] and not page.tasks.running())
    await undo(driver, page)
    assert listed(page, "size") == [40, 20, 20]
    await undo(driver, page)
    assert listed(page, "size") == [20, 20, 20, 20]
    page.table.selectAll()
    assert offered(page) == {"selected groups": 80}
    menu = QMenu()
    page._fill_menu(menu, 0)
    choose(menu, "Show on the map")
    map_page = driver.page.view("map")
    await until(lambda: map_page.list.isVisible() and not map_page.tasks.running())
    assert len(map_page.list.items) == 80
    pick(map_page.colour_choice, "clusters")
    await until(lambda: not map_page.tasks.running())
    assert list(map_page._colours.names) == [one_line(name, 28) for name in listed(page, "name")]


async def test_by_likeness_the_rest_is_in_no_group_and_a_column_is_shared_out(pages: Pages, tmp_path: Path) -> None:
    page = await pages.open("groups")
    page.way.choose("likeness")
    await until(lambda: page.found is not None and page.found.likeness is not None and not page.tasks.running())
    page.field.setValue(1.0)
    await until(lambda: page.found.likeness == 1.0 and not page.tasks.running())
    assert listed(page, "size") == [2] * 40, "each text is there twice"
    assert pages.driver.program.ledger.job(pages.job.id).options.grouping.by_likeness
    pick(page.column_choice, 1)
    page.way.choose("number")
    await until(lambda: page.found.likeness is None and not page.tasks.running())
    await page.picture.write(tmp_path / "shares.csv")
    rows = list(csv.reader((tmp_path / "shares.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert rows[0][2:6] == ["Desk", "Garden", "Saucepan", "Cotton"]
    assert np.array(rows[1][1:6], int).tolist() == [80, 20, 20, 20, 20]
    assert np.array([row[2:6] for row in rows[2:]], int).sum(axis=0).tolist() == [20, 20, 20, 20]
    page.look_link.click()
    assert pages.driver.page.tabs.current() == "duplicates"


async def test_what_takes_long_is_said_and_can_be_stopped_and_begun_again(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, found = threading.Event(), groups.find_clusters

    def found_later(*arguments: Any) -> Any:
        while not may_end.wait(0.01):
            arguments[-1](0.5)
        return found(*arguments)

    monkeypatch.setattr("cfbatch_gui.core.results.job_groups.find_clusters", found_later)
    page = pages.begin("groups")
    button = page.stack.empty.button
    await until(lambda: page.is_empty() and bool(page.stack.empty.sentence()) and button.isVisible())
    button.click()
    assert not page.tasks.is_running("group") and page.is_empty()
    may_end.set()
    button.click()
    await until(lambda: not page.is_empty() and not page.tasks.running())


async def test_near_duplicates_change_with_the_threshold_and_are_left_out_of_an_export(pages: Pages) -> None:
    page = await pages.open("duplicates")
    found = page.found
    assert found.gone >= 40  # each text is there twice
    assert page.count.text().startswith(f"{found.gone} would go · ")
    choices = offered(page)
    assert choices["without near duplicates"] == 80 - found.gone and choices["near duplicates that go"] == found.gone
    assert choices["this group"] == page.members.rows.rowCount() == len(page.rows.row(0).group.goes) + 1
    (proposed,) = (each for each in page.row_choices() if each.is_proposed)
    page.save_button.click()
    dialog = await shown(ExportDialog)
    assert dialog.rows.value() == proposed.items
    dialog.reject()
    page.threshold.setValue(1.0)
    await until(lambda: page.found is not found and not page.tasks.running())
    assert page.found.threshold == 1 and page.found.gone == 40
    assert pages.driver.program.ledger.job(pages.job.id).options.duplicates.similarity == 1


async def test_any_text_of_a_group_can_be_the_one_that_stays(pages: Pages) -> None:
    driver = pages.driver
    job = await driver.finished(SIZES, Kind.EMBED, "Sizes")
    await driver.show(job)
    page = await Pages(driver, job).open("duplicates")
    page.threshold.setValue(0.7)
    await until(lambda: page.rows.rowCount() == 2 and not page.tasks.running())
    page.differing_button.click()
    assert page.rows.rowCount() == 1 and list(page.members.items) == [1, 2]
    page.members.table.selectRow(1)
    page.members.table.setFocus()
    QTest.keyClick(page.members.table, Qt.Key.Key_Return)
    await until(lambda: list(page.members.items) == [2, 1] and not page.tasks.running())
    assert driver.window.focusWidget() is page.members.table
    assert 2 in next(each.items for each in page.row_choices() if each.is_proposed)
    assert driver.program.ledger.job(job.id).options.duplicates.kept == (2,)
    await undo(driver, page)
    assert list(page.members.items) == [1, 2]
