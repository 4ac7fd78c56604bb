"""Categories in a real window: counts that add up, rows that are moved by key, what is right, and other categories."""

from collections import Counter
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, Purpose, SortOptions
from cfbatch_gui.core.results.nearest import asked
from cfbatch_gui.ui.jobs.job_page import CATEGORIES
from cfbatch_gui.ui.results.categories_view import CategoriesDialog, CategoriesView
from tests.support.lists import two_lists
from tests.ui.connections import until
from tests.ui.job_page_driver import JobPageDriver

NAMES = {"Delivery": "parcel late", "Refund": "money back", "Password": "sign in"}
WORDS = ("my parcel is late", "give my money back", "I cannot sign in", "the bird sings", "late money")
A = "id,kind,letter\n" + "".join(
    f"{at},{('Delivery', 'Refund', 'Refund', '', '')[at % 5]},{WORDS[at % 5]} number {at}\n" for at in range(25)
)
B = "category\n" + "".join(f"{name}: {words}\n" for name, words in NAMES.items())


async def sorted_job(driver: JobPageDriver, folder: Path, **options: Any) -> Job:
    job = await two_lists(driver.program, folder, A, B)
    return driver.program.drafts.use_for(job.id, purpose=Purpose.CATEGORIES, **options)


async def opened(driver: JobPageDriver, job: Job) -> CategoriesView:
    await driver.show(job)
    driver.page.tabs.choose(CATEGORIES)
    view: CategoriesView = driver.page.view(CATEGORIES)
    await at_rest(view)
    return view


async def at_rest(view: CategoriesView) -> None:
    await until(lambda: view.shown is not None and not view.tasks.running())


def shown(view: CategoriesView) -> list[int]:
    return [view.rows.row(at).at for at in range(view.rows.rowCount())]


def counts(view: CategoriesView) -> dict[int, int]:
    return {each.at: each.rows for each in view.list_rows.rows()}


async def test_counts_add_up_and_a_row_is_moved_by_key_and_back(driver: JobPageDriver, tmp_path: Path) -> None:
    view = await opened(driver, await sorted_job(driver, tmp_path))
    read = view.now
    assert counts(view) == {at: Counter(read.chosen.tolist())[at] for at in (0, 1, 2, -1)}
    assert sum(counts(view).values()) == 25 and list(counts(view))[-1] == -1
    for at, each in enumerate(view.list_rows.rows()):
        view.list.selectRow(at)
        assert sorted(shown(view)) == [row for row, chosen in enumerate(read.chosen.tolist()) if chosen == each.at]
    view.list.selectRow(list(counts(view)).index(0))
    rows, before = shown(view), counts(view)
    view.table.selectRow(1)
    second = read.options(rows[1])[1][0]
    view.table.setFocus()
    QTest.keyClick(view.table, Qt.Key.Key_2)
    await at_rest(view)
    assert shown(view) == [row for row in rows if row != rows[1]]  # and the next one is chosen
    assert counts(view) == before | {0: before[0] - 1, second: before[second] + 1}
    QTest.keyClick(driver.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: shown(view) == rows and counts(view) == before)
    QTest.keyClicks(view.find_field, "bird")
    await until(lambda: shown(view) == [row for row in range(25) if row % 5 == 3])
    assert counts(view) == before
    view.find_field.clear()
    await until(lambda: shown(view) == rows)

    view.slider.setFocus()
    QTest.keyClick(view.slider, Qt.Key.Key_End)
    await at_rest(view)
    assert counts(view)[-1] == 25 and driver.program.ledger.job(view.now.folder.path.name).options.matching.threshold


async def test_what_is_right_comes_from_a_column_or_from_rows_that_are_checked_by_key(
    driver: JobPageDriver, tmp_path: Path
) -> None:
    view = await opened(driver, await sorted_job(driver, tmp_path))
    found = view._agreement
    assert found is not None and (found.checked, view._column) == (15, "kind")
    assert "kind" in view.agrees.text() and "15" in view.agrees.text()
    view.wrong_link.click()
    assert shown(view) == list(found.wrong) and set(found.wrong) >= {row for row in range(25) if row % 5 == 2}
    assert ("Refund", "Password", 5) in found.confusions

    view._choose_column("")
    await at_rest(view)
    view.check_rows_link.click()
    page = driver.workspace.review_page
    await until(lambda: page.session is not None and page.session.asked is not None)
    assert page.session is not None
    for _ in range(page.session.total):
        page.view.setFocus()
        QTest.keyClick(page.view, Qt.Key.Key_1)
        await until(lambda: not page.tasks.running())
    page.leave()
    await until(lambda: view._agreement is not None and view._agreement.checked == 25)
    assert not view.check_rows_link.isVisible() and not view.now.to_review().size


async def typed(view: CategoriesView, *lines: str) -> None:
    """Open the dialog, put these lines in it, and accept once it says what is sent."""
    view.edit()
    await until(lambda: isinstance(QApplication.activeModalWidget(), CategoriesDialog))
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, CategoriesDialog)
    dialog.lines.field.setPlainText("\n".join(lines))
    await until(lambda: dialog.sent.text().startswith(str(len(lines))) and dialog.accept_button.isEnabled())
    dialog.accept_button.click()


async def test_other_categories_send_their_own_words_only_also_for_a_job_that_had_none(
    driver: JobPageDriver, tmp_path: Path
) -> None:
    job = await sorted_job(driver, tmp_path, sorting=SortOptions(right_column="kind"))
    view = await opened(driver, job)
    lines = view.now.categories
    await typed(view, "Delivery: parcel late", "Refund: money back", "Birds: the bird sings | a tree")
    await until(lambda: len(view.now.categories or ()) == 3 and view.now.categories != lines)
    assert set(asked(view.now.folder)) == {"Birds: the bird sings", "Birds: a tree"}
    assert {row for row in range(25) if view.now.chosen[row] == 2} >= {3, 8, 13, 18, 23}
    driver.notices.undos.undo()
    await until(lambda: view.now.categories == lines)
    assert driver.program.ledger.job(job.id).options.sorting == job.options.sorting

    texts = await driver.finished("id,text\n1,my parcel is late\n2,give my money back\n", Kind.EMBED)
    await driver.show(texts)
    driver.page._use_for(texts.id, Purpose.CATEGORIES)
    await until(lambda: driver.page.tabs.current() == CATEGORIES and view.stack.empty.button.isVisible())
    await typed(view, "Delivery: parcel late", "Refund: money back")
    await until(lambda: view.matches is not None and view.now.chosen.tolist() == [0, 1])
