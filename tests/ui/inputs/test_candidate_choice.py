"""The choice of candidates for a data set without a run, as a user makes it."""

from pathlib import Path

from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule
from tests.core.inputs.collections import POSITIVES, Labels, data_set
from tests.ui.conftest import Until
from tests.ui.inputs.conftest import DraftDriver

JUDGED, SAMPLE, CORPUS = CandidatePool


async def opened(driver: DraftDriver, folder: Path, until: Until, labels: Labels = POSITIVES) -> None:
    driver.new_draft()
    driver.page.open_paths([data_set(folder, labels)])
    await until(lambda: driver.is_ready() and bool(driver.state.offers))


def figures(driver: DraftDriver) -> list[str]:
    return [driver.page.data.candidates.figures[pool].text() for pool in CandidatePool]


async def test_each_choice_says_what_it_comes_to(driver: DraftDriver, tmp_path: Path, until: Until) -> None:
    await opened(driver, tmp_path / "set", until)
    choice = driver.page.data.candidates
    assert choice.isVisible()
    assert [choice.choices[pool].text() for pool in CandidatePool] == [
        "Judged texts only",
        "A sample of 50 for each query",
        "The whole corpus",
    ]
    assert choice.choices[SAMPLE].isChecked()
    said = figures(driver)
    assert said[0].startswith("· 3 pairs · about ")
    assert said[0].endswith("nothing can be measured: all candidates of a query have the same grade")
    assert said[1].startswith("· 100 pairs · about ")
    assert said[2].startswith("· 240 pairs · about ")
    assert "3 pairs" in choice.choices[JUDGED].accessibleName()


async def test_what_is_chosen_is_read_and_is_there_when_the_draft_is_opened_again(
    driver: DraftDriver, tmp_path: Path, until: Until
) -> None:
    await opened(driver, tmp_path / "set", until)
    choice = driver.page.data.candidates
    for pool, texts in ((CORPUS, 240), (JUDGED, 3), (CORPUS, 240)):
        driver.click(choice.choices[pool])
        await until(lambda texts=texts: driver.is_settled() and driver.job.texts == texts)
        assert choice.choices[pool].isChecked()
        assert figures(driver)[1].startswith("· 100 pairs")
    draft = driver.program.folder(driver.job.id).draft()
    assert draft is not None
    assert draft.options.candidates == CandidateRule(CORPUS)
    job = driver.job
    driver.page.drafts.forget(job.id)
    driver.new_draft("Another")
    driver.page.show_job(job)
    await until(lambda: driver.is_ready() and choice.isVisible() and bool(driver.state.offers))
    assert choice.choices[CORPUS].isChecked()
    assert driver.job.texts == 240
