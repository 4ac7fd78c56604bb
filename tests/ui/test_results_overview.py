"""What a person sees of all the scores of a ranking."""

import csv
import io
from dataclasses import replace

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState
from cfbatch_gui.ui.jobs.job_page import OVERVIEW
from cfbatch_gui.ui.plots import Mark, Steps
from cfbatch_gui.ui.results.ranking_view import OverviewView
from tests.core.results.folders import note_all
from tests.ui.conftest import Until
from tests.ui.job_page_driver import TIED, JobPageDriver

QUERIES = (
    *("reset my password", "cancel an order", "change the invoice address", "export my data", "pay by card"),
    *("share a list", "where is my order", "password too short", "invoice as a file", "data of last year"),
)
TEXTS = tuple(f"{word} number {number}" for word in ("password", "order", "invoice", "data") for number in range(4))
CROSSED = "query,context\n" + "".join(f"{query},{text}\n" for query in QUERIES for text in TEXTS)


async def overview_of(driver: JobPageDriver, content: str, until: Until) -> OverviewView:
    await driver.show(await driver.finished(content, Kind.RANK))
    driver.page.tabs.choose(OVERVIEW)
    await until(lambda: driver.overview.scores.number() != "")
    return driver.overview


async def test_a_score_can_be_judged_by_texts_of_other_questions(driver: JobPageDriver, until: Until) -> None:
    view = await overview_of(driver, CROSSED, until)
    assert (view.queries.number(), view.scores.number()) == ("10", "160")
    assert "9 in 10 of these" in view.reading.text()
    assert any(isinstance(layer, Steps) for layer in view.chart.layers)
    assert any(isinstance(layer, Mark) for layer in view.chart.layers)
    assert view.spread.texts()[7:9][0] == "Texts that suit another question better"
    assert not view.partial_bar.isVisible()
    rows = list(csv.DictReader(io.StringIO(view.chart.data().csv().decode("utf-8-sig"))))
    assert sum(int(row["Contexts"]) for row in rows if row["series"] == "All scores") == 160
    assert {row["series"] for row in rows} == {"All scores", "Texts that suit another question better"}
    # The same figures are in the foot of the ranking.
    await until(lambda: "Texts that suit another question better have a mean score of" in driver.ranking.foot.text())
    await driver.idle()


async def test_without_such_pairs_it_says_so_and_results_so_far_are_called_partial(
    driver: JobPageDriver, until: Until
) -> None:
    view = await overview_of(driver, TIED, until)
    assert view.reading.text().startswith("Not enough data to show a typical unrelated score")
    assert not any(isinstance(layer, Steps) for layer in view.chart.layers)
    assert view.spread.texts()[0] == "All scores"
    assert len(view.spread.texts()) == 7
    assert "%" not in view.reading.text()
    await driver.idle()
    assert "9 in 10" not in driver.ranking.foot.text()

    job = driver.page.job()
    assert job is not None
    with driver.program.folder(job.id).open() as database:
        database.execute("UPDATE items SET score = NULL WHERE query_no = 2")
        note_all(database)
    batches = [*job.batches, replace(job.batches[0], number=2, state=BatchState.FAILED)]
    await driver.show(driver.pretend(replace(job, name="again"), batches))
    await until(view.partial_bar.isVisible)
    assert view.partial_bar.text() == "Partial: 4 of 6 contexts have a score."
    assert view.scores.number() == "4"
    await driver.idle()
    driver.page.tabs.choose("ranking")
    await until(lambda: "Partial: 4 of 6" in driver.ranking.foot.text())
    await driver.idle()
