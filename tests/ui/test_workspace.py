"""The whole window: what leads where, and what stays as it was; tests/journeys goes the main way."""

import asyncio
import sys
import threading
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent

from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.system.paths import Paths, resource
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.ui.jobs.job_page import JobPage
from cfbatch_gui.ui.settings import WINDOW
from cfbatch_gui.ui.theme import Scheme, Theme
from tests.screen.stage import Stage, opened

CTRL = Qt.KeyboardModifier.ControlModifier
HELP_CENTRE = resource("examples/help-centre-ranking.csv")
EXAMPLE = "Help centre ranking"


async def finished(stage: Stage, name: str = EXAMPLE) -> None:
    await stage.person.until(lambda: stage.state(name) is JobState.DONE)


async def test_a_job_at_work_is_deleted_only_after_a_word_and_comes_back_whole(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, practice_times=(0.3, 0.3)) as stage:
        person = stage.person
        await person.click("Start with the example")
        await person.click("Send 1 batch")
        await person.until(lambda: stage.state(EXAMPLE) is JobState.WORKING)
        await person.click("More")
        await person.choose("Delete")
        await person.until_sees("Delete what is at work?")
        await person.click("Delete")
        await person.click("Undo")
        await finished(stage)


def _is_kept(stage: Stage, look: str) -> bool:
    return stage.program.settings.theme == look.lower()


async def test_a_busy_disk_holds_up_no_window_and_all_is_kept_at_the_end(tmp_path: Path, theme: Theme) -> None:
    free = threading.Event()
    async with opened(tmp_path / "data", theme) as stage:
        in_front = asyncio.ensure_future(stage.program.store.on_disk(free.wait))
        try:
            await stage.person.press(Qt.Key.Key_Comma, CTRL)
            await stage.person.until_sees("New jobs use the practice service")
            stage.workspace.settings.page.choose(WINDOW)
            await stage.person.click("Dark")
            await stage.person.until(partial(_is_kept, stage, "Dark"))
            stage.workspace.window.close()
            await stage.person.until(stage.workspace.closed.is_set)
            assert Settings.load(stage.program.paths.settings).theme == "system", "the window's thread wrote"
        finally:
            theme.set_scheme(Scheme.LIGHT)
            free.set()
            await in_front
    kept = Settings.load(Paths(tmp_path / "data").settings)
    assert kept.theme == "dark" and kept.table_layouts["window/geometry"]


async def test_closing_with_jobs_at_work_asks_once(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, practice_times=(60.0, 60.0)) as stage:
        person = stage.person
        await person.click("Start with the example")
        await person.click("Send 1 batch")
        await person.until(lambda: stage.state(EXAMPLE) is JobState.WORKING)
        stage.workspace.window.close()
        await person.until_sees("Close while jobs are at work?")
        await person.until_sees("waits on this computer")  # where practice is, and no service goes on with it
        await person.click("Cancel")
        assert stage.workspace.window.isVisible() and not stage.workspace.closed.is_set()
        stage.workspace.window.close()
        await person.click("Close")
        await person.until(stage.workspace.closed.is_set)
    async with opened(tmp_path / "data", theme) as stage:
        await stage.person.until_sees("Check now")
        stage.workspace.window.close()
        await stage.person.until(stage.workspace.closed.is_set)


async def test_one_empty_draft_is_enough(stage: Stage) -> None:
    for _ in range(2):
        await stage.person.press(Qt.Key.Key_N, CTRL)
        await stage.person.until_sees("Your data", "nothing is sent before you say so")
    assert len(stage.program.ledger.jobs()) == 1


async def test_two_files_and_folders_are_dropped_like_one(stage: Stage, tmp_path: Path) -> None:
    queries, answers, notes = tmp_path / "queries.csv", tmp_path / "answers.csv", tmp_path / "field notes"
    queries.write_text("id,question\n1,why\n2,how\n")
    answers.write_text("id,answer\n1,because\n2,so\n3,then\n")
    notes.mkdir()
    (notes / "monday.txt").write_text("It rained.")
    for paths, sentence in (
        ([queries, answers], "all contexts of the second file are ranked for each: 2 queries, 6 contexts."),
        ([notes], "Each row is one text: 1 text."),
    ):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
        stage.workspace.window.dropEvent(QDropEvent(QPoint(600, 400), Qt.DropAction.CopyAction, data, left, none))
        await stage.person.until_sees(sentence)


async def test_a_page_that_is_opened_as_a_job_is_sent_stays_wanted(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, with_example=True) as stage:
        await stage.person.until_sees("Send 1 batch")
        space = stage.workspace
        assert JobPage.__module__ in sys.modules  # so that it would be opened at once
        space.settings.show_connections()
        space._sent(space.draft_page.job_id())
        await stage.person.until_sees("New jobs use the practice service")
