"""Vectors: their table, the map, similar texts, near duplicates and clusters of a job of the practice service."""

import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.embeddings import Embeddings, Progress
from cfbatch_gui.core.results.nearest import asked
from cfbatch_gui.core.results.text_map import Layout, TextMap, tsne_map
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.ui.results import map_view
from cfbatch_gui.ui.results.search_view import ListDialog
from cfbatch_gui.ui.tasks import close_all
from tests.ui.connections import choose_path, drag, pick, shown, until
from tests.ui.job_page_driver import TEXTS as FOUR
from tests.ui.job_page_driver import JobPageDriver, open_job_page

WORDS = ("Desk lamp of brass", "Garden hose with a nozzle", "Saucepan of steel", "Cotton towel in green")
TEXTS = "id,text,category,price\n" + "".join(
    f'{number:04},"{WORDS[number % 4]}, number {number // 8}",{WORDS[number % 4].split()[0]},{number * 1.5}\n'
    for number in range(80)
)


@dataclass
class Pages:
    driver: JobPageDriver
    job: Job

    def begin(self, key: str) -> Any:
        self.driver.page.tabs.choose(key)
        page = self.driver.page.view(key)
        page.show_job(self.job)
        return page

    async def open(self, key: str) -> Any:
        page = self.begin(key)
        await until(lambda: page.vectors_read is not None and not page.tasks.running())
        return page


@pytest.fixture
async def pages(tmp_path: Path) -> AsyncIterator[Pages]:
    async with open_job_page(tmp_path) as driver:
        job = await driver.finished(TEXTS, Kind.EMBED, "Catalogue")
        await driver.show(job)
        yield Pages(driver, job)
        await close_all(driver.page)


async def test_the_map_is_read_searched_coloured_and_selected(pages: Pages) -> None:
    page = await pages.open("map")
    assert offered(page) == {}, "nothing is chosen"
    made = page.map
    assert made is not None
    assert len(made.points) == 80
    assert page.summary.whole_text() == "80 texts"
    assert page.colour_choice.currentText() == "Colour by category"
    assert "Practice vectors" in page.foot.text()
    assert page._describe(5) == "Garden hose with a nozzle, number 0\n0005 · Garden"
    columns, rows = page.dots.data().columns, list(page.dots.data().rows)
    assert columns == ("row", "id", "text", "x", "y", "category")
    assert (len(rows), rows[5][:3], rows[5][5]) == (80, (7, "0005", "Garden hose with a nozzle, number 0"), "Garden")

    QTest.keyClicks(page.find_field, "hose")
    await until(page.list.isVisible)
    assert page.list.title.whole_text() == "20 texts · “hose”"
    assert offered(page) == {"“hose”": 20}
    page.find_field.clear()
    await until(lambda: not page.list.isVisible())

    QTest.mouseClick(page.dots, Qt.MouseButton.LeftButton, pos=page.dots.pixel_of(0).toPoint())
    await until(lambda: page.list.isVisible() and not page.tasks.running())
    assert page.list.title.whole_text().startswith("Most like “")
    (near,) = page.row_choices()
    assert len(near.items) == 26 and near.is_proposed
    first = page.list.rows.row(0).text.item_no
    page.list.opened.emit(first)
    await until(lambda: not page.tasks.running())
    assert page.list.of == (first,)
    page.close_button.click()
    assert not page.list.isVisible()

    seen = {}
    for key in ("one", "clusters", "column/2", "column/1"):
        pick(page.colour_choice, key)
        await until(lambda: not page.tasks.running())
        seen[key] = page._colours
    assert seen["column/2"].ordered
    assert len(seen["clusters"].names) == 2 and set(seen["clusters"].codes) == {0, 1}
    assert (seen["one"].title, seen["column/1"].title) == ("", "category")
    page.lasso_button.click()
    box = page.dots.rect().adjusted(2, 2, -2, -2)
    corners = (box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft())
    drag(page.dots, *corners, box.topLeft() + QPoint(0, 1))
    assert page.list.title.whole_text() == "80 texts · Lasso"
    assert offered(page) == {"Lasso": 80}
    assert not page.lasso_button.isChecked()
    page.rows_wanted.emit(pages.job, (3, 9), "Lasso")
    assert pages.driver.page.tabs.current() == "vectors"
    table = await pages.open("vectors")
    assert table.list.rows.rowCount() == 2
    assert table.count.text() == "2 of 80 texts · Lasso"
    assert [choice.words() for choice in table.row_choices() if choice.is_proposed] == ["These 2 · Lasso"]
    assert table.window().focusWidget() is table.list.table
    table.all_link.setFocus()
    table.all_link.click()
    assert table.list.rows.rowCount() == 80
    assert table.window().focusWidget() is table.list.table  # the link is gone


@pytest.fixture
def may_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The map by neighbours is made only once this is set, so that the time before it can be looked at."""
    event = threading.Event()

    def made_later(folder: JobFolder, embeddings: Embeddings, progress: Progress) -> TextMap:
        assert event.wait(60)
        return tsne_map(folder, embeddings, progress)

    monkeypatch.setattr(map_view, "tsne_map", made_later)
    yield event
    event.set()


async def test_the_map_by_neighbours_replaces_the_first_by_itself_and_is_kept(
    pages: Pages, may_end: threading.Event
) -> None:
    page = pages.begin("map")
    await until(lambda: page.tasks.is_running("layout"))
    assert page.map.layout is Layout.DIRECTION
    assert page.layout_choice.value() == Layout.NEIGHBOURS
    QTest.mouseClick(page.dots, Qt.MouseButton.LeftButton, pos=page.dots.pixel_of(7).toPoint())
    before = page.dots.pixel_of(7)
    may_end.set()
    await until(lambda: not page.tasks.running())
    made = page.map
    assert made.layout is Layout.NEIGHBOURS
    assert page.dots.pixel_of(7) != before
    assert page.list.isVisible()  # the neighbours of what was picked stay
    assert "distances between islands mean little" in page.foot.text()
    assert len(page.dots._names) == 4  # each category is an island

    for layout in (Layout.DIRECTION, Layout.NEIGHBOURS):
        page._layout_picked(layout)
        await until(lambda: not page.tasks.running())
        assert page.map.layout is layout
        page.shown = None
        await pages.open("map")
        assert page.map.layout is layout, "the choice is remembered"
    assert np.array_equal(made.points, page.map.points)


def shown_texts(page: Any) -> list[str]:
    return [each.text.text for each in page.found.found.rows()]


async def test_a_question_is_asked_once_and_finds_its_like(pages: Pages) -> None:
    page = pages.begin("search")
    page.show_job(pages.job)
    question = "a lamp of brass for my desk"
    QTest.keyClicks(page.field, question)
    QTest.keyClick(page.field, Qt.Key.Key_Return)  # before the vectors are read
    assert not page.tasks.is_running("ask")
    await until(lambda: page.found.found.rowCount() == 20 and not page.tasks.running())
    found = page.found.found.rows()
    assert found[0].text.text.startswith("Desk lamp of brass")
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert offered(page) == {f"Most like “{question}”": 20}
    assert [each.text for each in page.questions.rows()] == [question]
    page.search()
    assert page.tasks.running() == ("compare",)  # the same question is not asked for twice
    await until(lambda: not page.tasks.running())
    page.only.setChecked(True)
    pick(page.best, 100)
    await until(lambda: not page.tasks.running())
    assert len(shown_texts(page)) == 20 and all("lamp" in text for text in shown_texts(page))
    page.only.setChecked(False)
    page.least.setText("0,5")
    await until(lambda: not page.tasks.running())
    assert 0 < len(shown_texts(page)) < 80 and page.found.found.rows()[-1].score >= 0.5

    second = page.found.item(1)
    page.field.setFocus()
    QTest.keyClick(page.field, Qt.Key.Key_Down)
    assert page.window().focusWidget() is page.found
    page.found.selectRow(1)
    QTest.keyClick(page.found, Qt.Key.Key_Return)
    await until(lambda: page.like == second and not page.tasks.running())
    assert second not in page.found.items()
    page.back_link.click()
    await until(lambda: not page.tasks.running())
    assert page.like == 0 and page.found.item(1) == second
    table = await pages.open("vectors")
    table.list.table.selectRow(2)
    table.similar_button.click()
    await until(lambda: page.like == 3 and not page.tasks.running())
    assert pages.driver.page.tabs.current() == "search"


async def test_a_pasted_list_is_kept_removed_put_back_and_written(pages: Pages, tmp_path: Path) -> None:
    page = await pages.open("search")
    page.field.setText("a hose\na saucepan\na hose\nquantum physics of markets")  # as it is pasted
    dialog = await shown(ListDialog)
    assert dialog.questions() == ["a hose", "a saucepan", "quantum physics of markets"]
    dialog.ask_button.click()
    await until(lambda: page.questions.rowCount() == 3 and not page.tasks.running())
    assert page.question == "a hose" and "hose" in shown_texts(page)[0]
    assert [each.is_close for each in page.questions.rows()] == [True, True, False]

    page.question_table.selectRow(1)
    await until(lambda: page.question == "a saucepan" and not page.tasks.running())
    QTest.keyClick(page.question_table, Qt.Key.Key_Delete)
    await until(lambda: page.questions.rowCount() == 2 and not page.tasks.running())
    pages.driver.notices.undos.undo()
    await until(lambda: page.questions.rowCount() == 3 and page.question == "a saucepan" and not page.tasks.running())

    page.table_link.click()
    await choose_path(page, tmp_path / "found.jsonl")
    await until(lambda: (tmp_path / "found.jsonl").exists() and not page.tasks.running())
    rows = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert [(row["query"], row["rank"]) for row in rows[::20]] == [(each, 1) for each in asked(page.embeddings.folder)]

    other = await pages.driver.finished(FOUR, Kind.EMBED, "Another")
    page.show_job(other)
    await until(lambda: page.vectors_read is not None and not page.tasks.running())
    assert page.questions.rowCount() == 0 and not shown_texts(page)
    page.show_job(pages.job)  # what was asked is there again, and nothing is sent
    await until(lambda: page.questions.rowCount() == 3 and bool(shown_texts(page)) and not page.tasks.running())


async def test_scores_of_a_ranking_beside_similarities(pages: Pages) -> None:
    driver = pages.driver
    assert driver.page.compare_button.isHidden(), "there is no ranking"
    first, second = "Desk lamp of brass, number 0", "Garden hose with a nozzle, number 0"
    pairs = f'query,context\n"{first}","{second}"\n"{first}","Saucepan of steel, number 0"\n"{first}",elsewhere\n'
    ranking = await driver.finished(pairs, Kind.RANK, "Ranked")
    await driver.show(pages.job)
    assert not driver.page.compare_button.isHidden()
    driver.workspace.compare(pages.job.id, ranking.id)
    page = driver.workspace.comparison_page
    await until(lambda: page.compared is not None and not page.tasks.running())
    found = page.compared
    assert found is not None
    own, scores = found.comparison.scores
    assert own == pytest.approx(scores, abs=1e-3)  # the practice service scores by its own vectors
    assert len(own) == 2 and found.comparison.runs[0].job.id == pages.job.id  # of three; the older one is A
    page.tabs.choose("scores")
    assert page.scores.chart.isVisible()
    other = await driver.finished("query,context\nhere,there\n", Kind.RANK, "Other words")
    driver.workspace.compare(pages.job.id, other.id)
    await until(lambda: page.compared is None and not page.tasks.running())


def offered(view: ResultView) -> dict[str, int]:
    """What the view offers to export instead of all rows, and how many rows that is."""
    return {choice.name: len(choice.items) for choice in view.row_choices()}


@pytest.fixture
async def four(tmp_path: Path) -> AsyncIterator[JobPageDriver]:
    async with open_job_page(tmp_path) as driver:
        await driver.show(await driver.finished(FOUR, Kind.EMBED, "Catalogue"))
        await until(lambda: driver.vectors.list.rows.rowCount() == 4)
        yield driver


async def test_texts_and_checks_are_shown_and_a_vector_is_copied(four: JobPageDriver) -> None:
    first = four.vectors.list.rows.row(0)
    assert (first.text.row, first.text.id, first.text.text) == (2, "0007", "Desk lamp of brass")
    assert four.vectors.count.text() == "4 texts"

    await until(lambda: "numbers a text" in four.vectors.foot.text())
    assert "repeated: 1" in four.vectors.foot.text()
    assert "practice" in four.vectors.foot.text()

    job = four.page.job()
    assert job is not None
    QTest.mouseClick(four.vectors.copy_button, Qt.MouseButton.LeftButton)
    copied = np.array(json.loads(QGuiApplication.clipboard().text()), dtype=np.float32)
    stored = Embeddings(four.program.folder(job.id)).vector(1)
    assert stored is not None
    assert np.array_equal(copied, stored)


async def test_a_search_leaves_the_texts_that_have_it(four: JobPageDriver) -> None:
    QTest.keyClicks(four.vectors.find_field, "garden")
    await until(lambda: four.vectors.list.rows.rowCount() == 1)
    assert four.vectors.count.text() == "1 of 4 texts"
    assert four.vectors.list.panel.text() == "Garden hose"
    four.vectors.find_field.setText("no such thing")
    await until(lambda: four.vectors.list.panel.isHidden() or not four.vectors.list.panel.isVisible())
    four.vectors.show_all()
    assert four.vectors.list.rows.rowCount() == 4
