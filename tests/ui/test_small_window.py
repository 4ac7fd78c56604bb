"""The smallest window: the main buttons are in reach, texts have room, and nothing hangs out of it."""

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.paths import resource
from tests.screen.past import run
from tests.screen.stage import Stage
from tests.ui.conftest import Until

FIVE_WORDS = "To reset a forgotten password"


@pytest.fixture
async def stage(stage: Stage) -> Stage:
    stage.workspace.window.resize(800, 500)
    return stage


async def finished(stage: Stage, kind: Kind) -> Job:
    name = "help-centre-ranking" if kind is Kind.RANK else "product-texts"
    job = await run(stage.program, name, resource(f"examples/{name}.csv"), kind)
    stage.workspace.show_jobs()
    stage.workspace.open_job(job.id)
    return job


@pytest.mark.parametrize("width", [800, 920])
async def test_a_ranking_shows_five_words_of_each_text(stage: Stage, width: int, until: Until) -> None:
    stage.workspace.window.resize(width, 560)
    await finished(stage, Kind.RANK)
    table = stage.workspace.results.pages["ranking"].view.contexts
    await until(lambda: table.columns() and table.isVisible())
    text = next(section for section, column in enumerate(table.columns()) if column.stretch)
    await until(lambda: table.columnWidth(text) >= table.fontMetrics().horizontalAdvance(FIVE_WORDS) - 20)
    assert table.horizontalScrollBar().maximum() == 0


async def test_columns_that_gave_way_come_back_with_the_room(stage: Stage, until: Until) -> None:
    await finished(stage, Kind.RANK)
    table = stage.workspace.results.pages["ranking"].view.contexts
    await until(lambda: table.columns() and any(table.isColumnHidden(at) for at in range(2, 5)))
    stage.workspace.window.resize(1280, 820)
    await until(lambda: not any(table.isColumnHidden(at) for at in range(5)))
