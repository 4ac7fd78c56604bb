"""The smallest window: the main buttons are in reach, texts have room, and nothing hangs out of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QLabel, QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.jobs.job_page import (
    CLUSTERS,
    DETAILS,
    DUPLICATES,
    MAP,
    OVERVIEW,
    QUALITY,
    RANKING,
    SIMILAR,
    VECTORS,
)
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.widgets import Flow, boxed
from tests.screen.past import run
from tests.screen.stage import Stage, opened
from tests.ui.conftest import Until

SMALL = (800, 500)
FIVE_WORDS = "To reset a forgotten password"


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    async with opened(tmp_path / "data", theme) as stage:
        stage.workspace.window.resize(*SMALL)
        yield stage


async def finished(stage: Stage, kind: Kind) -> Job:
    name = "help-centre-ranking" if kind is Kind.RANK else "product-texts"
    job = await run(stage.program, name, resource(f"examples/{name}.csv"), kind)
    stage.workspace._show_jobs()
    stage.workspace._open(job.id)
    return job


def is_inside(widget: QWidget, stage: Stage) -> bool:
    window = stage.workspace.window
    return window.rect().contains(QRect(widget.mapTo(window, QPoint()), widget.size())) and widget.isVisible()


async def test_send_is_in_reach_whatever_the_page_is_scrolled_to(stage: Stage) -> None:
    await stage.workspace._new_jobs.begin_example()
    await stage.person.until_sees("Send 1 batch")
    draft = stage.workspace._draft
    bar = draft.area.verticalScrollBar()
    assert bar.maximum() > 0, "there is more than fits"
    for value in (0, bar.maximum()):
        bar.setValue(value)
        assert is_inside(draft.check.send_button, stage) and is_inside(stage.workspace.window.library.foot, stage)


@pytest.mark.parametrize("kind", list(Kind))
async def test_export_and_the_connection_are_in_reach_on_every_tab(stage: Stage, kind: Kind, until: Until) -> None:
    await finished(stage, kind)
    page = stage.workspace._job
    tabs = (RANKING, QUALITY, OVERVIEW, DETAILS) if kind is Kind.RANK else (VECTORS, MAP, SIMILAR, DUPLICATES, CLUSTERS)
    for tab in tabs:
        page.tabs.choose(tab)
        await until(page.export_button.isVisible)
        await asyncio.sleep(0)
        assert is_inside(page.export_button, stage), tab
        assert is_inside(stage.workspace.window.library.foot, stage), tab
        assert stage.workspace.window.size().toTuple() == SMALL, tab


@pytest.mark.parametrize("width", [800, 920])
async def test_a_ranking_shows_five_words_of_each_text(stage: Stage, width: int, until: Until) -> None:
    stage.workspace.window.resize(width, 560)
    await finished(stage, Kind.RANK)
    table = stage.workspace._results.ranking.view.contexts
    await until(lambda: table.columns() and table.isVisible())
    text = next(section for section, column in enumerate(table.columns()) if column.stretch)
    await until(lambda: table.columnWidth(text) >= table.fontMetrics().horizontalAdvance(FIVE_WORDS) - 20)
    assert table.horizontalScrollBar().maximum() == 0


async def test_columns_that_gave_way_come_back_with_the_room(stage: Stage, until: Until) -> None:
    await finished(stage, Kind.RANK)
    table = stage.workspace._results.ranking.view.contexts
    await until(lambda: table.columns() and any(table.isColumnHidden(at) for at in range(2, 5)))
    stage.workspace.window.resize(1280, 820)
    await until(lambda: not any(table.isColumnHidden(at) for at in range(5)))


@pytest.mark.parametrize("width", [-500, -1, 0, 1])
def test_without_room_each_widget_has_a_line_of_its_own(qtbot: Any, width: int) -> None:
    labels = QLabel("Finished"), QLabel("12 queries"), QLabel("82 contexts")
    flow = Flow(*labels, gap=4)
    owner = boxed(flow)
    qtbot.addWidget(owner)
    assert flow.heightForWidth(width) == sum(label.sizeHint().height() for label in labels) + 2 * 4
