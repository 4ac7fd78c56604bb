"""The choice of candidates for a data set without a run, as a user makes it."""

from pathlib import Path

from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule
from tests.core.inputs.collections import POSITIVES, data_set
from tests.ui.conftest import Until
from tests.ui.inputs.conftest import DraftDriver

JUDGED, SAMPLE, CORPUS = CandidatePool


async def test_what_is_chosen_is_read_and_is_there_when_the_draft_is_opened_again(
    driver: DraftDriver, tmp_path: Path, until: Until
) -> None:
    driver.new_draft()
    driver.page.acts.open_paths([data_set(tmp_path / "set", POSITIVES)])
    await until(driver.is_ready)
    choice = driver.page.data.candidates
    assert choice.isVisible() and choice.choices[SAMPLE].isChecked()
    for pool, texts in ((CORPUS, 240), (JUDGED, 3), (CORPUS, 240)):
        driver.click(choice.choices[pool])
        await until(lambda texts=texts: driver.is_settled() and driver.job.texts == texts)
        assert choice.choices[pool].isChecked()
    draft = driver.program.folder(driver.job.id).draft()
    assert draft is not None
    assert draft.options.candidates == CandidateRule(CORPUS)
    job = driver.job
    driver.page.drafts.forget(job.id)
    driver.new_draft("Another")
    driver.page.show_job(job)
    await until(lambda: driver.is_ready() and choice.isVisible())
    assert choice.choices[CORPUS].isChecked()
    assert driver.job.texts == 240
