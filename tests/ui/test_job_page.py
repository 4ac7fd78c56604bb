"""The page of a job that was sent: its head, its tabs, its details."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import STOPPED_HERE, Job, JobState
from cfbatch_gui.ui.jobs.batch_table import RawAnswerDialog
from tests.ui.conftest import Until
from tests.ui.job_page_driver import TEXTS, TIED, JobPageDriver, open_job_page


@pytest.fixture
async def slow_desk(tmp_path: Path) -> AsyncIterator[JobPageDriver]:
    async with open_job_page(tmp_path, practice_times=(0.3, 0.5)) as driver:
        yield driver


async def send(driver: JobPageDriver, content: str, kind: Kind) -> Job:
    job = await driver.draft(content, kind)
    await driver.program.actions.send(job.id)
    driver.workspace.open_job(job.id)
    return job


async def test_another_kind_of_job_has_other_tabs_and_practice_has_no_price(
    driver: JobPageDriver, until: Until
) -> None:
    await driver.show(await driver.finished(TIED, Kind.RANK))
    facts = driver.page.header.facts()
    assert "2 queries · 6 contexts · Practice · finished in " in facts
    assert "$" not in facts

    ranked, embedded = await driver.finished(TIED, Kind.RANK), await driver.finished(TEXTS, Kind.EMBED, "Catalogue")
    await driver.show(ranked)
    assert driver.page.tabs.current() == "ranking"
    await driver.show(embedded)
    assert driver.page.tabs.current() == "vectors"
    assert not driver.page.tabs.is_shown("ranking")
    await until(lambda: driver.vectors.rows.rowCount() == 4)
    await driver.idle()


async def test_stop_watching_and_carry_on(slow_desk: JobPageDriver, until: Until) -> None:
    job = await send(slow_desk, TIED, Kind.RANK)
    page = slow_desk.page
    QTest.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    await until(lambda: page.header.state.text() == "Paused")
    assert page.progress.pause_bar.isVisible()
    assert page.progress.pause_bar.text() == STOPPED_HERE
    QTest.mouseClick(page.carry_on_button, Qt.MouseButton.LeftButton)
    await until(lambda: slow_desk.program.ledger.job(job.id).state is JobState.DONE)
    await until(lambda: not page.progress.pause_bar.isVisible())
    await slow_desk.idle()


async def test_details_hold_what_someone_will_ask_for_and_the_answer_as_it_came(
    driver: JobPageDriver, until: Until
) -> None:
    job = await driver.finished(TIED, Kind.RANK)
    await driver.show(job)
    driver.page.tabs.choose("details")
    await until(lambda: dict(driver.page.details.lines())["Tokens expected"] != "not known")
    lines = dict(driver.page.details.lines())
    assert lines["Source"] == "Support articles.csv · 6 rows"
    assert lines["SHA-256 of the file"] == job.source_sha256
    assert lines["Tokens counted"] == str(job.tokens)
    assert lines["Price"] == "nothing, practice is free"
    QTest.mouseClick(driver.page.details.copy_button, Qt.MouseButton.LeftButton)
    assert job.batches[0].request_id in QGuiApplication.clipboard().text()

    driver.page.details.table.selectRow(0)
    QTest.keyClick(driver.page.details.table, Qt.Key.Key_Return)
    dialog = driver.page.details.findChild(RawAnswerDialog)
    assert isinstance(dialog, RawAnswerDialog)
    await until(lambda: '"success":true' in dialog.text.toPlainText().replace(" ", ""))
    assert dialog.text.isReadOnly()
    dialog.accept()
    await driver.idle()
