"""What a person sees and does in a ranking, and of all its scores."""

import csv
import io
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import note_results
from cfbatch_gui.core.jobs.states import BatchState
from cfbatch_gui.core.results.exports import ExportOptions
from cfbatch_gui.ui.jobs.job_page import OVERVIEW
from cfbatch_gui.ui.plots import Mark, Steps
from cfbatch_gui.ui.results.export_dialog import ExportDialog
from cfbatch_gui.ui.results.ranking_view import OverviewView
from cfbatch_gui.ui.widgets import EmptyPlace, Label
from tests.core.results.folders import note_all
from tests.support.sentences import shows
from tests.ui.connections import shown, until
from tests.ui.job_page_driver import TIED, JobPageDriver, open_job_page

RANK, SCORE, TEXT, WAS, MOVED = range(5)


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[JobPageDriver]:
    async with open_job_page(tmp_path) as driver:
        await driver.show(await driver.finished(TIED, Kind.RANK))
        await until(lambda: driver.ranking.contexts_model.rowCount() == 4)
        yield driver


def sentences(driver: JobPageDriver) -> list[str]:
    shown = [each for each in driver.ranking.findChildren(EmptyPlace) if each.isVisible()]
    return [" ".join(label.text().split()) for each in shown for label in each.findChildren(Label)]


def column_of(driver: JobPageDriver, column: int) -> list[str]:
    model = driver.ranking.contexts_model
    return [model.text(index, column) for index in range(model.rowCount())]


async def test_ranks_scores_and_the_chosen_text_are_shown(driver: JobPageDriver) -> None:
    assert column_of(driver, RANK) == ["1", "2", "3=", "3="]
    scores = [float(score) for score in column_of(driver, SCORE)]
    assert scores == sorted(scores, reverse=True)
    assert all(len(score.split(".")[1]) == 4 for score in column_of(driver, SCORE))
    assert sorted(column_of(driver, WAS)) == ["1", "2", "3", "4"]
    assert set(column_of(driver, MOVED)[2:]) <= {"↓ 1", "–", "↑ 0", "↓ 2"}

    first = driver.ranking.contexts_model.row(0)
    assert driver.ranking.panel.text() == first.text
    assert driver.ranking.panel.heading() == f"Rank 1, score {first.score:.4f}"

    assert "Practice scores" in driver.ranking.foot.text()
    assert "percentages" in driver.ranking.foot.text()

    driver.ranking.contexts.selectRow(0)
    QTest.keyClick(driver.ranking.contexts, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    titles, copied = QGuiApplication.clipboard().text().split("\n")
    cells = copied.split("\t")
    assert titles.split("\t")[1:3] == ["Score", "Text"]
    best = driver.ranking.contexts_model.row(0)
    assert cells[:3] == ["1", repr(best.score), best.text]

    margins = [query.margin or 0.0 for query in driver.ranking.queries_model.rows()]
    driver.ranking.queries.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert [driver.ranking.queries_model.row(index).margin for index in range(2)] == sorted(margins)


async def test_arrow_keys_walk_and_a_search_leaves_what_has_it(driver: JobPageDriver) -> None:
    for index in range(2):
        driver.ranking.queries.selectRow(index)
        await until(lambda: not driver.ranking.tasks.is_running("contexts"))

    driver.ranking.queries.selectRow(0)
    await until(lambda: driver.ranking.contexts_model.rowCount() == 4)
    QTest.keyClick(driver.ranking.queries, Qt.Key.Key_Down)
    await until(lambda: driver.ranking.contexts_model.rowCount() == 2)
    QTest.keyClick(driver.ranking.contexts, Qt.Key.Key_Down)
    assert driver.ranking.panel.text() == driver.ranking.contexts_model.row(1).text
    QTest.keyClick(driver.ranking.queries, Qt.Key.Key_Up)
    await until(lambda: driver.ranking.contexts_model.rowCount() == 4)

    QTest.keyClicks(driver.ranking.find_field, "PACKED")
    await until(lambda: driver.ranking.queries_model.rowCount() == 1)
    await until(lambda: column_of(driver, TEXT) == ["You can cancel an order until it is packed"])
    assert driver.ranking.kept.text() == "1 query"
    QTest.keyClick(driver.ranking.find_field, Qt.Key.Key_Escape)
    await until(lambda: driver.ranking.queries_model.rowCount() == 2)
    await until(lambda: len(column_of(driver, TEXT)) == 2)  # the query that was chosen stays chosen

    QTest.keyClicks(driver.ranking.find_field, "no such thing")
    await until(lambda: driver.ranking.queries_model.rowCount() == 0)
    assert not driver.ranking.panel.isVisible()
    QTest.keyClick(driver.ranking.find_field, Qt.Key.Key_Escape)
    await until(lambda: len(column_of(driver, TEXT)) == 4)
    assert driver.ranking.panel.isVisible()


async def test_limits_keep_ties_count_what_they_keep_and_belong_to_their_job(driver: JobPageDriver) -> None:
    driver.ranking.limits_bar.top.setValue(3)
    assert column_of(driver, RANK) == ["1", "2", "3=", "3="]
    await until(lambda: driver.ranking.kept.text() == "keeps 6 of 6")
    driver.ranking.limits_bar.top.setValue(1)
    assert column_of(driver, RANK) == ["1"]
    await until(lambda: driver.ranking.kept.text() == "keeps 2 of 6")

    driver.ranking.limits_bar.top.setValue(0)
    second = column_of(driver, SCORE)[1]
    threshold = f"{float(second) - 0.0001:.4f}".replace(".", ",")  # as it is typed in half of Europe
    QTest.keyClicks(driver.ranking.limits_bar.threshold, threshold)
    assert column_of(driver, RANK) == ["1", "2"]
    await until(lambda: driver.ranking.kept.text().startswith("keeps "))
    driver.ranking.limits_bar.threshold.setText("2")
    assert column_of(driver, RANK) == []
    await until(lambda: driver.ranking.kept.text() == "keeps 0 of 6")

    driver.ranking.limits_bar.threshold.clear()
    first = driver.page.job()
    assert first is not None
    driver.ranking.limits_bar.top.setValue(5)
    await driver.show(await driver.finished(TIED, Kind.RANK, "Another"))
    assert driver.ranking.limits() == ExportOptions()
    await driver.show(first)
    assert driver.ranking.limits().top_k == 5
    driver.workspace.menus.show_export(first.id)
    dialog = await shown(ExportDialog)
    assert dialog.limits_bar.limits().top_k == 5
    dialog.reject()
    await until(lambda: driver.ranking.contexts_model.rowCount() == 4)


async def test_without_a_score_a_text_stands_last_and_a_whole_job_says_so(driver: JobPageDriver) -> None:
    job = driver.page.job()
    assert job is not None
    with driver.program.folder(job.id).open() as database:
        database.execute("UPDATE items SET score = NULL WHERE query_no = 1 AND position = 1")
        database.execute("UPDATE requests SET state = 'failed', error = 'too long' WHERE request_no = 1")
        note_all(database)
        note_results(database, 2)
    failed = [replace(batch, state=BatchState.DONE, failed_requests=1) for batch in job.batches]
    await driver.show(driver.pretend(replace(job, name="again"), [*failed, replace(failed[0], number=2)]))
    await until(lambda: column_of(driver, RANK) == ["1", "2=", "2=", ""])
    assert column_of(driver, SCORE)[-1] == "Failed: too long"
    driver.ranking.contexts.selectRow(3)
    assert driver.ranking.panel.problem() == "Failed: too long"

    again = await driver.finished(TIED, Kind.RANK, "Another")
    with driver.program.folder(again.id).open() as database:
        database.execute("UPDATE items SET score = NULL")
        note_all(database)
    await driver.show(again)
    await until(lambda: driver.ranking.is_empty() and len(sentences(driver)) == 1)
    assert not driver.ranking.find_field.isVisible()


async def test_what_is_found_or_selected_can_be_exported_alone(driver: JobPageDriver) -> None:
    await driver.show(await driver.finished(TIED, Kind.RANK))
    ranking = driver.ranking
    assert {choice.words() for choice in ranking.row_choices()} == {"These 4 · this query"}
    ranking.queries.selectAll()
    assert {choice.name: choice.items for choice in ranking.row_choices()} == {
        "selected queries": frozenset(range(1, 7)),
        "this query": frozenset(range(1, 5)),
    }
    ranking.queries.selectRow(0)
    ranking.contexts.selectAll()
    await driver.idle()
    assert [choice.name for choice in ranking.row_choices()] == ["selected"], "the same rows are offered once"
    ranking.contexts.selectRow(0)
    QTest.keyClicks(ranking.find_field, "INVOICES")
    await until(lambda: ranking.row_choices()[0].name == "“INVOICES”")
    assert [mark.cursor.selectedText() for mark in ranking.panel._text.extraSelections()] == ["Invoices"]
    assert ranking.row_choices()[0].items == frozenset({2, 3})
    ranking.find_field.setText("cancel an order")
    await until(lambda: ranking.row_choices()[0].name == "“cancel an order”")
    assert ranking.row_choices()[0].items == frozenset({5}), "the text that has it, of a query that has it too"


async def test_results_that_the_data_lost_are_put_back_from_the_answer_or_said(driver: JobPageDriver) -> None:
    job = await driver.finished(TIED.replace(" ", " now "), Kind.RANK, "Put back")
    folder = driver.program.folder(job.id)

    async def shown_without_results() -> None:
        with folder.open() as database:
            database.executescript("UPDATE items SET score = NULL; UPDATE requests SET state = 'waiting';")
            database.execute("UPDATE batches SET results = NULL")
        other = next(each for each in driver.program.ledger.jobs() if each.id != job.id)
        await driver.show(other)
        await driver.show(job)

    def stored() -> list[float | None]:
        with folder.open(read_only=True) as database:
            return [score for (score,) in database.execute("SELECT score FROM items ORDER BY item_no")]

    right = stored()
    await shown_without_results()
    assert stored() == right and not sentences(driver)
    folder.reply(1).unlink()
    await shown_without_results()
    await until(lambda: any(f"cfbatch verify {job.id} --mend" in sentence for sentence in sentences(driver)))


QUERIES = (
    *("reset my password", "cancel an order", "change the invoice address", "export my data", "pay by card"),
    *("share a list", "where is my order", "password too short", "invoice as a file", "data of last year"),
)
TEXTS = tuple(f"{word} number {number}" for word in ("password", "order", "invoice", "data") for number in range(4))
CROSSED = "query,context\n" + "".join(f"{query},{text}\n" for query in QUERIES for text in TEXTS)


async def overview_of(driver: JobPageDriver, content: str) -> OverviewView:
    await driver.show(await driver.finished(content, Kind.RANK))
    driver.page.tabs.choose(OVERVIEW)
    await until(lambda: driver.overview.scores.number() != "")
    return driver.overview


async def test_a_score_can_be_judged_by_texts_of_other_questions(driver: JobPageDriver) -> None:
    view = await overview_of(driver, CROSSED)
    assert (view.queries.number(), view.scores.number()) == ("10", "160")
    assert shows(view.reading.text(), "how_to_read_scores")
    assert any(isinstance(layer, Steps) for layer in view.chart.layers)
    assert any(isinstance(layer, Mark) for layer in view.chart.layers)
    assert not view.partial_bar.isVisible()
    rows = list(csv.DictReader(io.StringIO(view.chart.data().csv().decode("utf-8-sig"))))
    assert sum(int(row[view.chart._titles[1]]) for row in rows if row["series"] == "All scores") == 160
    assert {row["series"] for row in rows} == {"All scores", view.spread.texts()[7]}
    # The same figures are in the foot of the ranking.
    await until(lambda: shows(driver.ranking.foot.text(), "others_mean_and_ninetieth"))


async def test_without_such_pairs_it_says_so_and_results_so_far_are_called_partial(driver: JobPageDriver) -> None:
    view = await overview_of(driver, TIED.replace("order", "parcel"))
    assert shows(view.reading.text(), "not_enough_data_for_unrelated")
    assert not any(isinstance(layer, Steps) for layer in view.chart.layers)
    assert view.spread.texts()[0] == "All scores"
    assert len(view.spread.texts()) == 7
    assert "%" not in view.reading.text()
    await driver.idle()
    assert not shows(driver.ranking.foot.text(), "others_mean_and_ninetieth")

    job = driver.page.job()
    assert job is not None
    with driver.program.folder(job.id).open() as database:
        database.execute("UPDATE items SET score = NULL WHERE query_no = 2")
        note_all(database)
    batches = [*job.batches, replace(job.batches[0], number=2, state=BatchState.FAILED)]
    await driver.show(driver.pretend(replace(job, name="again"), batches))
    await until(view.partial_bar.isVisible)
    assert view.scores.number() == "4"
    await driver.idle()
    driver.page.tabs.choose("ranking")
    await until(lambda: view.partial_bar.text() in driver.ranking.foot.text())
