"""Selections, tags, the archive and the job that is open, in the whole window."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtWidgets import QInputDialog, QMenu

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import STOPPED_HERE, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.theme import Theme
from tests.screen.past import draft, run
from tests.screen.stage import Stage, opened
from tests.ui.conftest import Until
from tests.ui.connections import entries, shown

CTRL = Qt.KeyboardModifier.ControlModifier
HELP_CENTRE = resource("examples/help-centre-ranking.csv")
NAMES = ("April", "May", "June")


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    program = await Program.open(tmp_path / "data", environ={}, practice_times=(0.0, 0.0))
    for name in NAMES:
        await run(program, name, HELP_CENTRE, Kind.RANK)
    await program.close()
    async with opened(tmp_path / "data", theme) as stage:
        await stage.person.click_row("Jobs", "April")
        yield stage


def select(stage: Stage, *names: str) -> None:
    library = stage.workspace.window.library
    for name in names:
        index = library.rows.index_of(stage.job(name).id)
        library.list.selectionModel().select(index, QItemSelectionModel.SelectionFlag.Select)


def listed(stage: Stage) -> set[str]:
    rows = stage.workspace.window.library.rows
    return {name for line in range(rows.rowCount()) if (name := rows.index(line).data())}


async def offered(stage: Stage, job_id: str) -> list[str]:
    """The entries of the menu of a line, when it is gone and has given the keyboard back."""
    library = stage.workspace.window.library
    library._menu(stage.program.ledger.job(job_id), QPoint(0, 0))
    menu = library.findChildren(QMenu)[-1]
    texts = list(entries(menu))
    menu.close()
    await stage.person.until(lambda: not library.findChildren(QMenu))
    return texts


async def menu_job(stage: Stage, text: str) -> None:
    """Choose an entry of the menu Job."""
    menu = stage.workspace.menus._job
    menu.aboutToShow.emit()
    entries(menu)[text].trigger()


async def test_three_jobs_are_archived_found_and_taken_out_again(stage: Stage) -> None:
    person = stage.person
    select(stage, "May", "June")
    await menu_job(stage, "Archive 3 jobs")
    await person.until_sees("In the archive", "3 jobs")
    await person.until(lambda: listed(stage) == set())
    assert stage.workspace.window.library.opened_job() == stage.job("April").id, "the page goes on showing it"
    await person.click("Archive (3)")
    await person.until(lambda: listed(stage) == set(NAMES))
    await person.click_row("Jobs", "May")
    await person.click("More")
    await person.choose("Take out of the archive")
    await person.until(lambda: listed(stage) == {"April", "June"})
    await person.click("All other jobs")
    assert listed(stage) == {"May"}
    for _ in range(2):
        stage.workspace.window.notices.undos.undo()
    await person.until(lambda: listed(stage) == set(NAMES))


async def test_each_menu_names_what_can_be_done_with_its_jobs(stage: Stage, until: Until) -> None:
    new = await draft(stage.program, "New", HELP_CENTRE, Kind.RANK)
    stage.workspace.show_jobs()
    ranking = ["Compare with…", "Judge its texts…"]
    for job, expected in (
        (stage.job("May"), ["Rename", "Duplicate", *ranking, "Tags…", "Archive", "Delete"]),
        (new, ["Rename", "Duplicate", "Tags…", "Delete"]),
    ):
        assert await offered(stage, job.id) == expected
    select(stage, "May", "New")
    expected = ["Compare these 2…", "Tag 3 jobs…", "Archive 2 jobs", "Delete 3 jobs"]
    assert await offered(stage, new.id) == expected, "a draft has no results, and stays"
    stage.workspace.job_actions.ask_name(new.id)
    dialog = await shown(QInputDialog, until)
    dialog.setTextValue("  Better name ")
    dialog.accept()
    await until(lambda: stage.program.ledger.job(new.id).name == "Better name")


async def test_the_selected_rankings_are_compared_with_the_open_one(stage: Stage) -> None:
    select(stage, "May", "June")
    await menu_job(stage, "Compare these 3…")
    page = stage.workspace.evaluating.comparison
    await stage.person.until(lambda: stage.workspace.window.pages.currentWidget() is page)
    await stage.person.until_sees("May", "June")
    assert page._jobs[0].id == stage.job("April").id


async def test_tags_are_given_to_all_selected_jobs_and_found(stage: Stage) -> None:
    person = stage.person
    select(stage, "May")
    await menu_job(stage, "Tag 2 jobs…")
    await person.type("New tags", "spring, Quarter 2")
    await person.click("Save")
    await person.until(lambda: stage.job("May").tags == ("Quarter 2", "spring"))
    assert stage.job("April").tags == stage.job("May").tags and stage.job("June").tags == ()
    await person.type("Find a job", "SPRING")
    await person.until(lambda: listed(stage) == {"April", "May"})
    stage.workspace.window.notices.undos.undo()
    await person.until(lambda: stage.job("May").tags == ())


async def test_a_job_that_was_paused_stays_so_when_it_comes_back(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, practice_times=(60.0, 60.0)) as stage:
        job = await draft(stage.program, "May", HELP_CENTRE, Kind.RANK)
        await stage.program.actions.send(job.id)
        await stage.program.runner.pause(job.id)
        stage.workspace.job_actions.delete(job.id)
        await stage.person.click("Undo")
        await stage.person.until_sees("Carry on")
        assert stage.state("May") is JobState.PAUSED and stage.job("May").paused_because == STOPPED_HERE


async def test_the_job_that_was_open_opens_again(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        for name in NAMES:
            await draft(stage.program, name, HELP_CENTRE, Kind.RANK)
        stage.workspace.show_jobs()
        may = stage.job("May").id
        await stage.person.click_row("Jobs", "May")
        await stage.person.until(lambda: stage.workspace.memory.get("window/job") == may)
        stage.workspace.window.resize(1000, 700)
        stage.workspace.window.close()
    async with opened(tmp_path / "data", theme) as stage:
        assert stage.workspace.window.library.opened_job() == may and stage.workspace.window.height() == 700
        stage.workspace.job_actions.delete(may)
        await stage.person.until(lambda: stage.state("May") is None)
        stage.workspace.memory.set("window/job", may)  # as if the program had ended here
    async with opened(tmp_path / "data", theme) as stage:
        assert stage.workspace.window.library.opened_job() == stage.job("June").id, "the newest, as the other is gone"
    async with opened(tmp_path / "data", theme, file=HELP_CENTRE) as stage:
        await stage.person.until(lambda: stage.program.ledger.jobs()[0].name not in NAMES)  # that of the file
        newest = stage.program.ledger.jobs()[0].id
        await stage.person.until(lambda: stage.workspace.window.library.opened_job() == newest)
