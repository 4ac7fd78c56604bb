"""One way to undo: the notice's button, the list of notices, the menu and Ctrl+Z."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.notices import Notices
from tests.screen.past import draft
from tests.screen.stage import Stage

CTRL = Qt.KeyboardModifier.ControlModifier
HELP_CENTRE = resource("examples/help-centre-ranking.csv")


@pytest.fixture
async def stage(stage: Stage) -> Stage:
    await stage.person.press(Qt.Key.Key_N, CTRL)  # the keyboard is in the window from here on
    await stage.person.until_sees("Your data")
    return stage


@pytest.fixture
def notices(qtbot: Any) -> Notices:
    notices = Notices()
    qtbot.addWidget(notices)
    return notices


def test_the_latest_is_undone_first_and_each_once(notices: Notices) -> None:
    undone: list[str] = []
    notices.show_undo("A went.", "Undo A", lambda: undone.append("A"))
    notices.show_notice("Something else.")
    notices.show_undo("B went.", "Undo B", lambda: undone.append("B"))
    notices.dismiss(notices.bars()[0])  # it is in the list still
    latest = notices.undos.latest()
    assert latest is not None and latest.words == "Undo B"
    for _ in range(3):
        notices.undos.undo()
    assert undone == ["B", "A"] and notices.undos.latest() is None
    assert notices.texts() == ["Something else."], "the bar of what was undone goes"


async def test_ctrl_z_takes_back_whatever_notice_came_last(stage: Stage) -> None:
    person, workspace = stage.person, stage.workspace
    for name in ("May", "June"):
        await draft(stage.program, name, HELP_CENTRE, Kind.RANK)
    await stage.program.actions.send(stage.job("May").id)
    await person.until(lambda: stage.state("May") is JobState.DONE)
    workspace.job_actions.archive(stage.job("May").id)
    await person.until_sees("In the archive", "“May”")
    workspace.job_actions.delete(stage.job("June").id)
    await person.until_sees("Deleted: “June”.")
    undo = workspace.menus.undo
    assert undo.text() == "Undo deleting “June”" and undo.isEnabled()
    workspace.window.setFocus()
    await person.press(Qt.Key.Key_Z, CTRL)
    await person.until(lambda: stage.state("June") is JobState.DRAFT)
    assert undo.text() == "Undo archiving “May”"
    workspace.window.setFocus()
    await person.press(Qt.Key.Key_Z, CTRL)
    await person.until(lambda: not stage.job("May").archived)
    assert undo.text() == "Undo" and not undo.isEnabled()


async def test_in_a_field_ctrl_z_is_the_fields_own(stage: Stage) -> None:
    person, workspace = stage.person, stage.workspace
    await draft(stage.program, "May", HELP_CENTRE, Kind.RANK)
    workspace.job_actions.delete(stage.job("May").id)
    await person.until_sees("Deleted: “May”.")
    await person.type("Find a job", "words")
    await person.press(Qt.Key.Key_Z, CTRL)
    field = workspace.window.library.find_field
    assert isinstance(field, QLineEdit)
    await person.until(lambda: not field.text())
    assert stage.state("May") is None and workspace.menus.undo.isEnabled()


async def test_the_list_of_notices_offers_what_can_still_be_undone(stage: Stage) -> None:
    person, window = stage.person, stage.workspace.window
    await draft(stage.program, "May", HELP_CENTRE, Kind.RANK)
    stage.workspace.job_actions.delete(stage.job("May").id)
    await person.until_sees("Deleted: “May”.")
    window.notices.dismiss(window.notices.bars()[-1])
    window.show_notices()
    await person.click("Undo deleting “May”")
    await person.until(lambda: stage.state("May") is JobState.DRAFT)
    await person.until_sees("Ready to send")
