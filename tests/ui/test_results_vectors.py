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
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from tests.ui.conftest import Until
from tests.ui.practice_desk import TEXTS, Desk, open_desk


@pytest.fixture
async def desk(tmp_path: Path, until: Until) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        await desk.show(await desk.finished(TEXTS, Kind.EMBED, "Catalogue"))
        await until(lambda: desk.vectors.rows.rowCount() == 4)
        yield desk


async def test_shows_texts_with_ids_as_they_were_and_the_lengths(desk: Desk) -> None:
    first = desk.vectors.rows.row(0)
    assert (first.text.row, first.text.id, first.text.text) == (2, "0007", "Desk lamp of brass")
    assert desk.vectors.rows.text(0, 4) == "1.0000"
    assert desk.vectors.count.text() == "4 texts"
    await desk.idle()


async def test_the_foot_tells_how_the_vectors_are(desk: Desk, until: Until) -> None:
    await until(lambda: "dimensions" in desk.vectors.checks())
    assert "all of unit length" in desk.vectors.checks()
    assert "1 repeated vector" in desk.vectors.checks()
    assert "practice" in desk.vectors.checks()
    await desk.idle()


async def test_the_nearest_texts_stand_beside_the_chosen_one(desk: Desk, until: Until) -> None:
    neighbours = desk.vectors.panel.neighbours
    await until(lambda: neighbours.rowCount() == 3)
    assert neighbours.row(0).text.id == "0010"
    assert neighbours.text(0, 2) == "1.0000"
    assert neighbours.row(2).text.text == "Garden hose"
    await desk.idle()


async def test_a_neighbour_is_opened_even_where_a_search_hides_it(desk: Desk, until: Until) -> None:
    QTest.keyClicks(desk.vectors.find_field, "garden")
    await until(lambda: desk.vectors.rows.rowCount() == 1)
    assert desk.vectors.count.text() == "1 of 4 texts"
    await until(lambda: desk.vectors.panel.nearest_title.whole_text() == "Nearest to “Garden hose”")
    await until(lambda: {each.text.id for each in desk.vectors.panel.neighbours.rows()} == {"0007", "0008", "0010"})
    desk.vectors.panel.table.selectRow(0)
    wanted = desk.vectors.panel.neighbours.row(0).text.text
    QTest.keyClick(desk.vectors.panel.table, Qt.Key.Key_Return)
    assert desk.vectors.rows.rowCount() == 4
    assert desk.vectors.panel.text_panel.text() == wanted
    await desk.idle()


async def test_what_is_typed_before_the_texts_are_read_is_found(desk: Desk, until: Until) -> None:
    other = await desk.finished(TEXTS.replace("hose", "gate"), Kind.EMBED, "Other texts")
    desk.vectors.show_job(other)
    assert desk.vectors.find_field.isVisible()
    QTest.keyClicks(desk.vectors.find_field, "gate")
    await until(lambda: desk.vectors.count.text() == "1 of 4 texts")
    assert desk.vectors.rows.row(0).text.text == "Garden gate"
    await desk.idle()


async def test_copies_a_vector_that_reads_back_as_it_is(desk: Desk) -> None:
    job = desk.page.job()
    assert job is not None
    QTest.mouseClick(desk.vectors.panel.copy_button, Qt.MouseButton.LeftButton)
    copied = np.array(json.loads(QGuiApplication.clipboard().text()), dtype=np.float32)
    stored = Embeddings(desk.program.folder(job.id)).vector(1)
    assert stored is not None
    assert np.array_equal(copied, stored)
    await desk.idle()


async def test_a_text_without_a_vector_says_why(desk: Desk, until: Until) -> None:
    job = desk.page.job()
    assert job is not None
    with desk.program.folder(job.id).open() as database:
        database.execute("UPDATE requests SET state = 'failed', error = 'too long'")
        database.execute(
            "INSERT INTO requests(request_no, reference, batch, position, state) VALUES(9, 'x', 1, 9, 'done')"
        )
        database.execute("UPDATE items SET request_no = 9, request_position = 0 WHERE item_no = 1")
    another = await desk.finished(TEXTS, Kind.EMBED, "Another")
    await desk.show(another)
    await until(lambda: desk.vectors.count.text() == "4 texts")
    await desk.show(job)
    await until(lambda: desk.vectors.count.text() == "1 of 4 texts have a vector")
    assert desk.vectors.rows.text(1, 4) == "Failed: too long"
    await desk.idle()
