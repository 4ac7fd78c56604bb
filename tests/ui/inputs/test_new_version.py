"""A new version of a file in the window: what is new in it, what is taken, and what the user may say about it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.ui.theme import Theme
from tests.screen import material
from tests.screen.past import run
from tests.screen.stage import Stage, opened

COUNT = 1_000
SWITCH = "Take what earlier jobs have, and send only the rest"


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    async with opened(tmp_path / "data", theme) as found:
        await run(found.program, "May", material.products(tmp_path / "may.csv", count=COUNT), Kind.EMBED)
        await found.person.click("New job")
        await found.person.click("Vectors for another program")
        await found.person.until(lambda: found.workspace.is_shown("draft_page"))
        yield found


async def test_nothing_is_sent_of_a_file_of_which_everything_is_known(stage: Stage, tmp_path: Path) -> None:
    person = stage.person
    await stage.open_file(material.products(tmp_path / "again.csv", count=COUNT))
    await person.until_sees("Nothing is sent: earlier jobs have every result.")
    await person.click("Finish without sending")
    await person.until(lambda: stage.state("Again") is JobState.DONE)
    assert stage.job("Again").batches == () and stage.job("Again").reused == COUNT


async def test_the_lists_say_what_is_sent_and_the_user_chooses_otherwise(stage: Stage, tmp_path: Path) -> None:
    person = stage.person
    await stage.open_file(material.products(tmp_path / "june.csv", june=True, count=COUNT))
    await person.until_sees("A newer version of “May”", "19 to send")
    page = stage.workspace.draft_page
    page.what.set_folded(True)
    page.data.set_folded(True)
    section = page.version
    await person.until_sees("12 new · 7 changed", "989 as before", "1 under another ID", "4 gone")
    model = section.table.model()
    assert {str(model.index(row, 0).data()) for row in range(model.rowCount())} == {"new", "changed"}
    await person.click("4 gone")
    await person.until_sees("gone")
    model = section.table.model()
    assert [str(model.index(row, 0).data()) for row in range(4)] == ["gone"] * 4
    await person.click("989 as before")
    await person.until_sees("Send these again all the same")
    assert section.table.columns()[-1].title == "Taken from"
    assert section.table.model().index(0, 4).data() == "May"
    section.table.selectRow(2)
    await person.click("Send these again all the same")
    await person.until_sees("20 to send", "988 as before")
    await person.click("20 to send")
    await person.until_sees("1 sent again")
    await person.click("Take back what was chosen to be sent again")
    await person.until_sees("19 to send", "989 as before")
    await person.click(SWITCH)
    await person.until_sees("Everything is sent, also what earlier jobs have.", "1,008 to send")
    await person.click(SWITCH)
    await person.until_sees("19 to send")
    await person.click("Compare with…")
    await person.choose("With none")
    await person.until_sees("What earlier jobs have", "19 to send")
    assert not section.tabs.is_shown("gone")
    await person.click("Compare with…")
    await person.choose("May")
    await person.until_sees("A newer version of “May”", "4 gone")
    await person.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await person.until(lambda: stage.state("June") is JobState.DONE)
    await person.until_sees("989 from earlier jobs")
    await person.until(lambda: not stage.workspace._settle.isActive())  # no loop runs between a test and its end
    assert stage.job("June").reused == 989 and sum(each.texts for each in stage.job("June").batches) == 19
