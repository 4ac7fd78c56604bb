"""The whole window, by mouse and keyboard: what leads where, and what stays as it was."""

import asyncio
import csv
import sys
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.system.paths import Paths, resource
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.ui.jobs.job_page import JobPage
from cfbatch_gui.ui.settings import WINDOW
from cfbatch_gui.ui.theme import Scheme, Theme
from tests.screen.past import draft, run
from tests.screen.stage import Stage, opened

CTRL = Qt.KeyboardModifier.ControlModifier
HELP_CENTRE = resource("examples/help-centre-ranking.csv")
EXAMPLE = "Help centre ranking"


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    async with opened(tmp_path / "data", theme) as stage:
        yield stage


async def finished(stage: Stage, name: str = EXAMPLE) -> None:
    await stage.person.until(lambda: stage.state(name) is JobState.DONE)


async def send_example(stage: Stage) -> None:
    await stage.person.click("Start with the example")
    await stage.person.click("Send 1 batch")
    await finished(stage)


async def test_from_the_first_start_to_a_file_by_mouse(stage: Stage, tmp_path: Path) -> None:
    person, path = stage.person, tmp_path / "out" / "ranked.csv"
    path.parent.mkdir()
    assert person.sees("Rank and embed your texts", "Not connected")
    welcome = stage.workspace._welcome
    widths = {button.width() for button in (welcome.try_button, welcome.connect_button)}
    assert len(widths) == 1, "the two ways stand in cards of the same width"
    await person.click("Start with the example")
    await person.until_sees("12 queries, about 7 contexts each", "Practice: costs nothing", EXAMPLE)
    await person.click("Send 1 batch")
    await person.until_sees("Finished", "how do I reset my password", "Practice scores")
    await person.click("Export…")
    await person.until_sees("82 rows")
    await person.click("Change…")
    await person.name_file(path)
    await person.until_sees("ranked.csv")
    await person.click("Save")
    await person.until_sees("Wrote 82 rows to “ranked.csv”.", "Show file")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 82 and rows[0]["rank"] == "1"
    sent = csv.DictReader(HELP_CENTRE.read_text(encoding="utf-8").splitlines())
    assert {(row["query"], row["doc_id"]) for row in rows} == {(row["question"], row["sku"]) for row in sent}


async def test_keys_begin_open_rename_and_export(stage: Stage, tmp_path: Path) -> None:
    person = stage.person
    await person.press(Qt.Key.Key_N, CTRL)
    await person.until_sees("Your data", "nothing is sent before you say so")
    await person.press(Qt.Key.Key_N, CTRL)
    assert len(stage.program.ledger.jobs()) == 1, "one empty draft is enough"
    await person.press(Qt.Key.Key_O, CTRL)
    await person.name_file(HELP_CENTRE)
    await person.until_sees("Send 1 batch")
    await person.press(Qt.Key.Key_F2)
    await person.type("Name", "Support articles")
    await person.press(Qt.Key.Key_Return)
    await person.until(lambda: stage.workspace._draft.header.title() == "Support articles")
    await person.press(Qt.Key.Key_Return, CTRL)
    await finished(stage, "Support articles")
    await person.until_sees("Export…")
    await person.press(Qt.Key.Key_F2)
    await person.type("Name", "Support articles, May")
    await person.press(Qt.Key.Key_Return)
    await person.until(lambda: stage.state("Support articles, May") is JobState.DONE)
    await person.press(Qt.Key.Key_E, CTRL)
    await person.until_sees("For people")
    await person.press(Qt.Key.Key_Escape)
    await person.press(Qt.Key.Key_F1)
    await person.until_sees("Find in this page", "Ctrl+N")
    await person.click("Close")


async def test_duplicate_archive_delete_and_undo(stage: Stage) -> None:
    person = stage.person
    await send_example(stage)
    await person.click("More")
    await person.choose("Duplicate")
    await person.until_sees(f"{EXAMPLE}, copy", "Finish without sending")
    await person.click_row("Jobs", EXAMPLE)
    await person.until_sees("Finished")
    await person.click_row("Jobs", f"{EXAMPLE}, copy")
    await person.until_sees("Finish without sending")
    await person.press(Qt.Key.Key_Tab)
    await person.click("More")
    await person.choose("Delete")
    await person.until_sees("Undo")
    assert [job.name for job in stage.program.ledger.jobs()] == [EXAMPLE]
    await person.click("Undo")
    await person.until(lambda: len(stage.program.ledger.jobs()) == 2)
    await person.until_row("Jobs", f"{EXAMPLE}, copy")
    await person.click_row("Jobs", EXAMPLE)
    await person.until_sees("Export…")
    await person.click("More")
    await person.choose("Archive")
    await person.until(lambda: stage.job(EXAMPLE).archived)
    archived = f"{EXAMPLE}, copy", EXAMPLE
    await person.until(lambda: _jobs_listed(stage) == archived[:1])
    await person.click("Undo")
    await person.until(lambda: EXAMPLE in _jobs_listed(stage))
    await person.click("More")
    await person.choose("Archive")
    await person.until(lambda: _jobs_listed(stage) == archived[:1])
    await person.type("Find a job", "help")
    await person.until(lambda: _jobs_listed(stage) == archived)


def _jobs_listed(stage: Stage) -> tuple[str, ...]:
    rows = stage.workspace.window.library.rows
    names = (rows.index(place).data() for place in range(rows.rowCount()))
    return tuple(name for name in names if name)


async def test_a_job_at_work_is_deleted_only_after_a_word_and_comes_back_whole(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, practice_times=(0.3, 0.3)) as stage:
        person = stage.person
        await person.click("Start with the example")
        await person.click("Send 1 batch")
        await person.until(lambda: stage.state(EXAMPLE) is JobState.WORKING)
        await person.click("More")
        await person.choose("Delete")
        await person.until_sees("Delete a job that is at work?")
        await person.click("Delete")
        await person.click("Undo")
        await finished(stage)


async def test_the_look_changes_while_jobs_run(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, practice_times=(0.2, 0.2)) as stage:
        person = stage.person
        await person.click("Start with the example")
        await person.click("Send 1 batch")
        await person.press(Qt.Key.Key_Comma, CTRL)
        await person.until_sees("New jobs use the practice service")
        stage.workspace._settings.page.choose(WINDOW)
        try:
            for look in ("Dark", "Light", "Dark"):
                await person.click(look)
                await person.until(partial(_is_kept, stage, look))
                lightness = stage.workspace.window.palette().window().color().lightness()
                assert (lightness < 128) == (look == "Dark")
            await finished(stage)
        finally:
            theme.set_scheme(Scheme.LIGHT)


def _is_kept(stage: Stage, look: str) -> bool:
    return stage.program.settings.theme == look.lower()


async def test_a_busy_disk_holds_up_no_window_and_all_is_kept_at_the_end(tmp_path: Path, theme: Theme) -> None:
    free = threading.Event()
    async with opened(tmp_path / "data", theme) as stage:
        in_front = asyncio.ensure_future(stage.program.store.on_disk(free.wait))
        try:
            await stage.person.press(Qt.Key.Key_Comma, CTRL)
            await stage.person.until_sees("New jobs use the practice service")
            stage.workspace._settings.page.choose(WINDOW)
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


async def test_two_files_and_folders_are_dropped_like_one(stage: Stage, tmp_path: Path) -> None:
    queries, answers, notes = tmp_path / "queries.csv", tmp_path / "answers.csv", tmp_path / "field notes"
    queries.write_text("id,question\n1,why\n2,how\n")
    answers.write_text("id,answer\n1,because\n2,so\n3,then\n")
    notes.mkdir()
    (notes / "monday.txt").write_text("It rained.")
    for paths, sentence in (
        ([queries, answers], "all contexts of the second file are ranked for each: 2 queries, 3 contexts each."),
        ([notes], "Each row is one text: 1 text."),
    ):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
        stage.workspace.window.dropEvent(QDropEvent(QPoint(600, 400), Qt.DropAction.CopyAction, data, left, none))
        await stage.person.until_sees(sentence)


async def test_what_was_open_and_arranged_is_there_at_the_next_start(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        await draft(stage.program, "Ready", HELP_CENTRE, Kind.RANK)
        await run(stage.program, "Done before", HELP_CENTRE, Kind.RANK)
        stage.workspace.window.resize(1000, 700)
        stage.workspace.window.close()
    async with opened(tmp_path / "data", theme) as stage:
        await stage.person.until_sees("Done before", "how do I reset my password")
        assert stage.workspace.window.height() == 700
        await stage.person.click_row("Jobs", "Ready")
        await stage.person.until_sees("Send 1 batch", "help-centre-ranking.csv")


async def test_a_page_that_is_opened_as_a_job_is_sent_stays_wanted(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, with_example=True) as stage:
        await stage.person.until_sees("Send 1 batch")
        space = stage.workspace
        assert JobPage.__module__ in sys.modules  # so that it would be opened at once
        space._settings.show_connections()
        space._sent(space._draft.job_id())
        await stage.person.until_sees("New jobs use the practice service")
