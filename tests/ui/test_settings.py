"""The page Settings: what is chosen there is kept, and what is kept is shown."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Budget, FolderUse, Settings
from cfbatch_gui.ui.settings import DATA, SPENDING, WINDOW, SettingsPage
from tests.screen.stage import Stage
from tests.ui.conftest import Until
from tests.ui.connections import click


@pytest.fixture
async def stage(stage: Stage) -> Stage:
    await open_settings(stage)
    return stage


async def open_settings(stage: Stage) -> None:
    await stage.person.press(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    await stage.person.until(lambda: isinstance(stage.workspace.window.pages.currentWidget(), SettingsPage))


def page_of(stage: Stage) -> SettingsPage:
    shown = stage.workspace.window.pages.currentWidget()
    assert isinstance(shown, SettingsPage)
    return shown


async def test_the_language_is_kept_and_holds_from_the_next_start(stage: Stage, tmp_path: Path, until: Until) -> None:
    page = page_of(stage)
    page.choose(WINDOW)
    assert page.language.value() == ""
    names = [page.language.itemText(index) for index in range(page.language.count())]
    assert names == ["Match system", "English", "Deutsch"]
    page.language.setCurrentIndex(2)
    page.language.activated.emit(2)
    assert stage.person.sees("From the next start on, CF Batch speaks Deutsch.")
    saved = Paths(tmp_path / "data").settings
    await until(lambda: Settings.load(saved).language == "de")
    page.show_language("tlh")
    assert page.language.value() == ""


async def test_what_is_ticked_and_a_budget_are_kept(stage: Stage, tmp_path: Path, until: Until) -> None:
    page = page_of(stage)
    page.choose(WINDOW)
    assert page.boxes["practice_waits"].isChecked()
    page.boxes["practice_waits"].click()
    assert page.boxes["system_notices"].isChecked()
    page.boxes["system_notices"].click()
    page.choose(SPENDING)
    page.budget.a_job.setValue(0.5)
    page.choose(DATA)
    assert not page.boxes["forget_after_export"].isChecked()
    page.boxes["forget_after_export"].click()
    saved = Paths(tmp_path / "data").settings
    await until(lambda: Settings.load(saved).forget_after_export)
    kept = Settings.load(saved)
    assert not kept.practice_waits and not kept.system_notices and kept.budget == Budget(a_job=0.5)


async def test_remembered_folders_are_forgotten(stage: Stage, tmp_path: Path, until: Until) -> None:
    page = page_of(stage)
    page.choose(DATA)
    assert not page.forget_folders.isEnabled()
    remembered = stage.program.remembered_folder(FolderUse.EXPORTS)
    remembered.keep(tmp_path)
    page.hide()
    page.show()
    page.forget_folders.click()
    assert remembered.path is None
    assert not page.forget_folders.isEnabled()
    await until(lambda: Settings.load(Paths(tmp_path / "data").settings).folders == {})


async def test_escape_and_done_leave_the_page(stage: Stage, until: Until) -> None:
    page = page_of(stage)
    click(page.done_button)
    assert stage.workspace.window.pages.currentWidget() is not page
    await open_settings(stage)
    field = stage.workspace.settings.connection.cloudflare.account
    field.setFocus()
    await until(field.hasFocus)
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, Qt.Key.Key_Escape)
    assert stage.workspace.window.pages.currentWidget() is not page
