"""The whole window: what leads where, begins a job, is kept, is undone; tests/journeys goes the main way."""

import os
import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, JobState, Purpose
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Budget, FolderUse, Settings
from cfbatch_gui.ui.settings import DATA, SPENDING, WINDOW, SettingsPage
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window.workspace import Request
from cfbatch_gui.words.states import DraftPhase, state_words
from tests.screen.past import draft, run
from tests.screen.stage import Stage, opened
from tests.ui.connections import click, until

CTRL = Qt.KeyboardModifier.ControlModifier
HELP_CENTRE = resource("examples/help-centre-ranking.csv")
EXAMPLE = "Help centre ranking"


async def finished(stage: Stage, name: str = EXAMPLE) -> None:
    await stage.person.until(lambda: stage.state(name) is JobState.DONE)


async def test_a_job_at_work_is_deleted_only_after_a_word_and_comes_back_whole(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, practice_times=(0.3, 0.3)) as stage:
        person = stage.person
        await person.click("Start with an example")
        await person.click("Send 1 batch")
        await person.until(lambda: stage.state(EXAMPLE) is JobState.WORKING)
        await person.click("More")
        await person.choose("Delete")
        await person.click("Delete")
        await person.click("Undo")
        await finished(stage)


async def test_closing_with_jobs_at_work_asks_once(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, practice_times=(60.0, 60.0)) as stage:
        person = stage.person
        await person.click("Start with an example")
        await person.click("Send 1 batch")
        await person.until(lambda: stage.state(EXAMPLE) is JobState.WORKING)
        stage.workspace.window.close()
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
    for title in ("Rank answers", "Search my texts"):
        await stage.person.press(Qt.Key.Key_N, CTRL)
        await stage.person.click(title)
        await stage.person.until_sees("Your data")
    assert [job.purpose for job in jobs(stage)] == [Purpose.SEARCH]


async def test_two_files_and_folders_are_dropped_like_one(stage: Stage, tmp_path: Path) -> None:
    queries, answers, notes = tmp_path / "queries.csv", tmp_path / "answers.csv", tmp_path / "field notes"
    queries.write_text("id,question\n1,why\n2,how\n")
    answers.write_text("id,answer\n1,because\n2,so\n3,then\n")
    notes.mkdir()
    (notes / "monday.txt").write_text("It rained.")
    for paths, counts in (([queries, answers], (2, 6)), ([notes], (0, 1))):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
        stage.workspace.window.dropEvent(QDropEvent(QPoint(600, 400), Qt.DropAction.CopyAction, data, left, none))
        await until(lambda counts=counts: counts in [(each.queries, each.texts) for each in jobs(stage)])
    stage.workspace.window.files_dropped.emit([queries, answers, notes])  # more are a job each
    await until(lambda: len(jobs(stage)) == 5)


def file(folder: Path, name: str, *texts: str) -> str:
    path = folder / name
    path.write_text("query,text\n" + "".join(f"clouds,{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def jobs(stage: Stage) -> tuple[Job, ...]:
    return stage.program.ledger.jobs()


def names(stage: Stage) -> list[str]:
    return sorted(job.name for job in jobs(stage))


async def test_each_file_opens_in_a_job_of_its_own_and_the_last_is_shown(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "Articles"
    folder.mkdir()
    (folder / "one.txt").write_text("an orange cloud\n")
    stage.workspace.take(
        Request((file(tmp_path, "first.csv", "a red one"), str(folder), file(tmp_path, "last.csv", "a white one")))
    )
    await stage.person.until_sees("a white one", "last.csv")
    await stage.person.until(lambda: names(stage) == ["Articles", "First", "Last"])
    await stage.person.click_row("Jobs", "First")
    await stage.person.until_sees("a red one")


async def test_what_cannot_be_opened_is_said_and_keeps_nothing_from_opening(stage: Stage, tmp_path: Path) -> None:
    latin = str(tmp_path / os.fsdecode(b"latin-\xe4.csv"))
    missing = str(tmp_path / "missing.csv")
    stage.workspace.new_jobs.open_each((latin, file(tmp_path, "one.csv", "red"), missing))
    stage.workspace.new_jobs.open_each((file(tmp_path, "two.csv", "blue"),))  # while those are being opened
    await stage.person.until(lambda: names(stage) == ["One", "Two"])
    said = " ".join(each.text for each in stage.workspace.window.notices.past())
    assert "“latin-?.csv”" in said and "missing.csv" in said


async def test_too_many_files_are_said_and_none_is_opened(stage: Stage, tmp_path: Path) -> None:
    stage.workspace.new_jobs.open_each([file(tmp_path, f"{number}.csv", "red") for number in range(21)])
    assert len(stage.workspace.window.notices.texts()) == 1
    stage.workspace.new_jobs.open_each([file(tmp_path, "one.csv", "red")])
    await stage.person.until(lambda: names(stage) == ["One"])


def test_files_that_the_system_names_come_to_whoever_asks_also_those_that_came_before() -> None:
    """An application of its own: macOS sends it the event that is sent here."""
    script = """
        from PySide6.QtCore import QUrl
        from PySide6.QtGui import QFileOpenEvent
        from cfbatch_gui.ui.window.app import Application

        app, taken = Application(["cfbatch-gui"]), []
        app.sendEvent(app, QFileOpenEvent("/home/x/100 % Käse.csv"))
        app.sendEvent(app, QFileOpenEvent(QUrl.fromLocalFile("/home/x/two.csv")))
        app.give_files_to(taken.append)
        app.sendEvent(app, QFileOpenEvent("/home/x/three.csv"))
        app.sendEvent(app, QFileOpenEvent(QUrl("mailto:x@example.org")))
        assert taken == [["/home/x/100 % Käse.csv", "/home/x/two.csv"], ["/home/x/three.csv"]], taken
    """
    lines = "\n".join(line.strip() for line in script.splitlines())
    command = [sys.executable, "-c", lines]
    done = subprocess.run(
        command, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


CELLS = "question\tanswer\nwhy\tbecause\nwhy\tno reason\n"
TOKEN = "cfut_practice-takes-any-token-0000000000"


async def paste(stage: Stage, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    await stage.person.press(Qt.Key.Key_V, CTRL)


async def test_cells_begin_a_job_on_the_first_page(stage: Stage) -> None:
    await paste(stage, CELLS)
    await stage.person.until_sees("pasted.tsv", "Send 1 batch")
    assert [job.source_name for job in stage.program.ledger.jobs()] == ["pasted.tsv"]


async def test_a_file_begins_a_job_on_the_page_of_another(stage: Stage) -> None:
    await run(stage.program, "Done before", resource("examples/help-centre-ranking.csv"), Kind.RANK)
    await stage.person.click_row("Jobs", "Done before")
    await stage.person.until_sees("Export…")
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(resource("examples/product-texts.csv")))])
    QGuiApplication.clipboard().setMimeData(files)
    await stage.person.press(Qt.Key.Key_V, CTRL)
    await until(lambda: ("Product texts", 60) in [(each.name, each.texts) for each in jobs(stage)])
    assert len(jobs(stage)) == 2


async def test_a_field_keeps_what_is_pasted_into_it(stage: Stage) -> None:
    await stage.person.type("Find a job", "help", pasted=True)
    assert stage.workspace.window.library.find_field.text() == "help"
    assert not stage.program.ledger.jobs()


async def test_a_token_goes_to_the_connection_and_into_no_file(stage: Stage, tmp_path: Path) -> None:
    await paste(stage, TOKEN)
    field = stage.workspace.connection_page.cloudflare.lines["secret"].field
    await until(lambda: field.isVisible() and field.text() == TOKEN)
    assert not stage.program.ledger.jobs()
    assert not any(TOKEN.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


async def open_settings(stage: Stage) -> SettingsPage:
    await stage.person.press(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    await stage.person.until(lambda: isinstance(stage.workspace.window.pages.currentWidget(), SettingsPage))
    shown = stage.workspace.window.pages.currentWidget()
    assert isinstance(shown, SettingsPage)
    return shown


async def test_the_language_is_kept_and_the_window_opens_again_in_it(stage: Stage, tmp_path: Path) -> None:
    page = await open_settings(stage)
    page.tabs.choose(WINDOW)
    assert page.language.value() == ""
    names = [page.language.itemText(index) for index in range(page.language.count())]
    assert names == ["Match system", "English", "Deutsch"]
    page.language.setCurrentIndex(2)
    page.language.activated.emit(2)
    saved = Paths(tmp_path / "data").settings
    await until(lambda: Settings.load(saved).language == "de")
    click(page.again_button)
    await until(stage.workspace.closed.is_set)
    assert stage.workspace.begins_again


async def test_what_is_ticked_and_a_budget_are_kept(stage: Stage, tmp_path: Path) -> None:
    page = await open_settings(stage)
    page.tabs.choose(WINDOW)
    assert page.boxes["practice_waits"].isChecked()
    page.boxes["practice_waits"].click()
    assert page.boxes["system_notices"].isChecked()
    page.boxes["system_notices"].click()
    assert not page.boxes["for_developers"].isChecked()
    page.boxes["for_developers"].click()
    page.tabs.choose(SPENDING)
    field = page.budget.a_job
    for typed, amount in (("0.001", 0.001), ("0,5", 0.5), ("much", 0.5), ("", 0.0), ("0.5", 0.5)):
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, typed or "\b")
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert stage.program.settings.budget.a_job == amount
    page.tabs.choose(DATA)
    assert not page.boxes["forget_after_export"].isChecked()
    page.boxes["forget_after_export"].click()
    saved = Paths(tmp_path / "data").settings
    await until(lambda: Settings.load(saved).forget_after_export)
    kept = Settings.load(saved)
    assert (
        kept.for_developers and not kept.practice_waits and not kept.system_notices and kept.budget == Budget(a_job=0.5)
    )


async def test_remembered_folders_are_forgotten(stage: Stage, tmp_path: Path) -> None:
    page = await open_settings(stage)
    page.tabs.choose(DATA)
    assert not page.forget_folders.isEnabled()
    remembered = stage.program.remembered_folder(FolderUse.EXPORTS)
    remembered.keep(tmp_path)
    page.hide()
    page.show()
    page.forget_folders.click()
    assert remembered.path is None
    assert not page.forget_folders.isEnabled()
    await until(lambda: Settings.load(Paths(tmp_path / "data").settings).folders == {})


async def test_escape_and_done_leave_the_page(stage: Stage) -> None:
    page = await open_settings(stage)
    click(page.done_button)
    assert stage.workspace.window.pages.currentWidget() is not page
    await open_settings(stage)
    field = stage.workspace.connection_page.cloudflare.lines["account_id"].field
    field.setFocus()
    await until(field.hasFocus)
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, Qt.Key.Key_Escape)
    assert stage.workspace.window.pages.currentWidget() is not page


async def begin(stage: Stage) -> None:
    await stage.person.press(Qt.Key.Key_N, CTRL)  # the keyboard is in the window from here on
    await stage.person.click("Rank answers")
    await stage.person.until_sees("Your data")


async def test_ctrl_z_takes_back_whatever_notice_came_last(stage: Stage) -> None:
    await begin(stage)
    person, workspace = stage.person, stage.workspace
    for name in ("May", "June"):
        await draft(stage.program, name, HELP_CENTRE, Kind.RANK)
    await stage.program.actions.send(stage.job("May").id)
    await person.until(lambda: stage.state("May") is JobState.DONE)
    workspace.job_actions.archive(stage.job("May").id)
    await person.until_sees("“May”")
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
    await begin(stage)
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
    await begin(stage)
    person, window = stage.person, stage.workspace.window
    await draft(stage.program, "May", HELP_CENTRE, Kind.RANK)
    stage.workspace.job_actions.delete(stage.job("May").id)
    await person.until_sees("Deleted: “May”.")
    window.notices.dismiss(window.notices.bars()[-1])
    window.show_notices()
    await person.click("Undo deleting “May”")
    await person.until(lambda: stage.state("May") is JobState.DRAFT)
    await person.until_sees(state_words(DraftPhase.READY).text)
