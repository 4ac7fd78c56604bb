"""What a person sees and does with vectors."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.embeddings import Embeddings
from tests.ui.conftest import Until
from tests.ui.job_page_driver import TEXTS, JobPageDriver, open_job_page


@pytest.fixture
async def driver(tmp_path: Path, until: Until) -> AsyncIterator[JobPageDriver]:
    async with open_job_page(tmp_path) as driver:
        await driver.show(await driver.finished(TEXTS, Kind.EMBED, "Catalogue"))
        await until(lambda: driver.vectors.rows.rowCount() == 4)
        yield driver


async def test_texts_lengths_neighbours_and_checks_are_shown_and_a_vector_is_copied(
    driver: JobPageDriver, until: Until
) -> None:
    first = driver.vectors.rows.row(0)
    assert (first.text.row, first.text.id, first.text.text) == (2, "0007", "Desk lamp of brass")
    assert driver.vectors.rows.text(0, 4) == "1.0000"
    assert driver.vectors.count.text() == "4 texts"

    await until(lambda: "dimensions" in driver.vectors.foot.text())
    assert "all of unit length" in driver.vectors.foot.text()
    assert "1 repeated vector" in driver.vectors.foot.text()
    assert "practice" in driver.vectors.foot.text()

    neighbours = driver.vectors.near.rows
    await until(lambda: neighbours.rowCount() == 3)
    assert neighbours.row(0).text.id == "0010"
    assert neighbours.text(0, 3) == "1.0000"
    assert neighbours.row(2).text.text == "Garden hose"

    job = driver.page.job()
    assert job is not None
    QTest.mouseClick(driver.vectors.copy_button, Qt.MouseButton.LeftButton)
    copied = np.array(json.loads(QGuiApplication.clipboard().text()), dtype=np.float32)
    stored = Embeddings(driver.program.folder(job.id)).vector(1)
    assert stored is not None
    assert np.array_equal(copied, stored)
    await driver.idle()


async def test_a_search_hides_and_finds_also_what_is_typed_before_the_texts_are_read(
    driver: JobPageDriver, until: Until
) -> None:
    QTest.keyClicks(driver.vectors.find_field, "garden")
    await until(lambda: driver.vectors.rows.rowCount() == 1)
    assert driver.vectors.count.text() == "1 of 4 texts"
    await until(lambda: driver.vectors.near.title.whole_text() == "Nearest to “Garden hose”")
    near = driver.vectors.near
    assert {near.rows.row(index).text.id for index in range(3)} == {"0007", "0008", "0010"}
    near.table.selectRow(0)
    wanted = near.rows.row(0).text.text
    QTest.keyClick(near.table, Qt.Key.Key_Return)
    assert driver.vectors.rows.rowCount() == 4
    assert driver.vectors.panel.text() == wanted

    other = await driver.finished(TEXTS.replace("hose", "gate"), Kind.EMBED, "Other texts")
    driver.vectors.show_job(other)
    assert driver.vectors.find_field.isVisible()
    QTest.keyClicks(driver.vectors.find_field, "gate")
    await until(lambda: driver.vectors.count.text() == "1 of 4 texts")
    assert driver.vectors.rows.row(0).text.text == "Garden gate"
    await driver.idle()
