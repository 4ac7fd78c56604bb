"""The texts of a finished job go when the user says so, or after an export if the settings do; its results stay."""

from itertools import product
from pathlib import Path

import pytest
from PySide6.QtGui import QAction

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import ExportOptions
from cfbatch_gui.ui.results.export_dialog import ExportDialog
from tests.journeys.terminal import EXAMPLE
from tests.screen.past import run
from tests.screen.stage import Stage
from tests.ui.connections import entries, shown, until

JOB, SHOWN, FORGET = "Help centre", "To reset a forgotten password", "Remove its texts…"


@pytest.fixture
async def stage(stage: Stage) -> Stage:
    await run(stage.program, JOB, EXAMPLE, Kind.RANK)
    stage.workspace.show_jobs()
    stage.workspace.open_job(stage.job(JOB).id)
    await stage.person.until(lambda: rows_say(stage, SHOWN))
    return stage


def rows_say(stage: Stage, words: str) -> bool:
    table = stage.workspace.job_page.view("ranking").contexts
    model = table.model()
    if model is None:  # nothing is read yet
        return False
    places = product(range(model.rowCount()), range(model.columnCount()))
    return any(words in str(model.index(row, column).data()) for row, column in places)


def job_menu(stage: Stage) -> dict[str, QAction]:
    return entries(stage.workspace.job_page.header.more.menu())


async def test_after_a_question_texts_go_and_scores_stay(stage: Stage) -> None:
    job_menu(stage)[FORGET].trigger()
    await stage.person.click("Cancel")
    await until(lambda: not stage.workspace.tasks.is_running(f"forget {stage.job(JOB).id}"))
    assert not stage.job(JOB).texts_forgotten_at
    job_menu(stage)[FORGET].trigger()
    await stage.person.click("Remove texts")
    await until(lambda: stage.job(JOB).texts_forgotten_at)
    await until(lambda: rows_say(stage, "A-0113") and not rows_say(stage, SHOWN))
    await until(lambda: FORGET not in job_menu(stage))
    assert "Judge its texts…" not in job_menu(stage) and not job_menu(stage)["Duplicate"].isEnabled()
    shown = stage.workspace.window.pages.currentWidget()
    stage.workspace.judge(stage.job(JOB).id)
    assert stage.workspace.window.pages.currentWidget() is shown
    await until(stage.workspace.window.notices.texts)


@pytest.mark.parametrize(("is_wanted", "is_whole"), [(True, True), (True, False), (False, True)])
async def test_after_an_export_of_everything_if_the_settings_say_so(
    stage: Stage, tmp_path: Path, is_wanted: bool, is_whole: bool
) -> None:
    stage.program.change_settings(forget_after_export=is_wanted)
    stage.workspace.menus.show_export(stage.job(JOB).id)
    export = await shown(ExportDialog)
    if not is_whole:
        export.limits_bar.show_limits(ExportOptions(top_k=3))
    target = export.forms.chosen()[0]
    await export.write([(tmp_path / "all.xlsx", target)])
    assert (tmp_path / "all.xlsx").exists()
    if is_whole and is_wanted:
        await until(lambda: stage.job(JOB).texts_forgotten_at)
        await until(lambda: not rows_say(stage, SHOWN))
    else:
        await until(lambda: not stage.workspace.tasks.is_running(f"forget {stage.job(JOB).id}"))
        assert not stage.job(JOB).texts_forgotten_at and rows_say(stage, SHOWN)
