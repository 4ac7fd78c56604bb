"""The t-SNE map: made while the other is shown, cached, remembered and stopped."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.text_map import Layout, TextMap, tsne_map
from cfbatch_gui.core.results.unit_vectors import Progress
from cfbatch_gui.ui.results import map_view
from cfbatch_gui.ui.results.map_view import MapView
from tests.ui.conftest import InMemory, Until
from tests.ui.job_page_driver import JobPageDriver
from tests.ui.test_results_vector_pages import TEXTS

Opened = Callable[[], MapView]


@pytest.fixture
def memory() -> InMemory:
    return InMemory()


@pytest.fixture
async def job(driver: JobPageDriver) -> Job:
    made = await driver.finished(TEXTS, Kind.EMBED, "Catalogue")
    await driver.show(made)
    return made


@pytest.fixture
async def show(driver: JobPageDriver, job: Job, memory: InMemory) -> AsyncIterator[Opened]:
    pages: list[MapView] = []

    def opened() -> MapView:
        page = MapView(driver.program, driver.notices, memory=memory)
        pages.append(page)
        page.resize(1_000, 700)
        page.show()
        page.show_job(job)
        return page

    yield opened
    for page in pages:
        await page.tasks.close()
        page.close()
        page.deleteLater()


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The map by neighbours is made only once this is set, so that the time before it can be looked at."""
    event = threading.Event()

    def made_later(folder: JobFolder, embeddings: Embeddings, progress: Progress) -> TextMap:
        assert event.wait(60)
        return tsne_map(folder, embeddings, progress)

    monkeypatch.setattr(map_view, "tsne_map", made_later)
    yield event
    event.set()


def shown(page: MapView) -> Layout | None:
    made = page.map
    return None if made is None else made.layout


async def at_rest(page: MapView, until: Until) -> None:
    await until(lambda: page.map is not None and not page.tasks.running())


async def test_it_replaces_the_first_map_by_itself(show: Opened, begin: threading.Event, until: Until) -> None:
    page = show()
    await until(page.stop_link.isVisible)
    assert shown(page) is Layout.DIRECTION
    assert page.layout_choice.value() == Layout.NEIGHBOURS
    assert page.summary.whole_text().endswith(" % of the spread")
    QTest.mouseClick(page.dots, Qt.MouseButton.LeftButton, pos=page.dots.pixel_of(7).toPoint())
    before = page.dots.pixel_of(7)
    begin.set()
    await at_rest(page, until)
    assert shown(page) is Layout.NEIGHBOURS
    assert page.dots.pixel_of(7) != before
    assert page.list.isVisible()  # the neighbours of what was picked stay
    assert "distances between islands mean little" in page.foot.text()
    assert not page.stop_link.isVisible()
    assert len(page.dots._names) == 4  # each category is an island


async def test_the_choice_is_remembered_and_the_map_there_at_once(show: Opened, memory: InMemory, until: Until) -> None:
    page = show()
    await at_rest(page, until)
    made = page.map
    page._layout_picked(Layout.DIRECTION)
    await at_rest(page, until)
    assert shown(page) is Layout.DIRECTION
    second = show()
    await at_rest(second, until)
    assert shown(second) is Layout.DIRECTION
    second._layout_picked(Layout.NEIGHBOURS)
    await at_rest(second, until)
    third = show()
    await until(lambda: third.map is not None)
    found = third.map
    assert made is not None and found is not None
    assert found.layout is Layout.NEIGHBOURS
    assert np.array_equal(made.points, found.points)
    await at_rest(third, until)
    third._layout_picked(Layout.DIRECTION)
    await at_rest(third, until)
    assert shown(third) is Layout.DIRECTION
