"""Questions are awaited, and nothing else stops while they stand."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from cfbatch_gui.core.system.settings import FolderUse, RememberedFolder, SettingsStore
from cfbatch_gui.ui.dialogs import Question, ask, open_file, save_file
from cfbatch_gui.ui.widgets import Tabs
from tests.ui.connections import choose_path, shown, until


@pytest.fixture
def parent(qtbot: Any) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    return widget


@pytest.mark.parametrize(("words", "expected"), [("Delete", True), ("Cancel", False), ("", False)])
async def test_a_question_is_answered_by_its_button_or_escape_and_holds_up_nothing(
    parent: QWidget, words: str, expected: bool
) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.create_task(tick())
    asking = asyncio.create_task(
        ask(parent, "Delete the job?", "Its answers go with it.", accept="Delete", danger=True)
    )
    box = await shown(Question)
    before = ticks
    await until(lambda: ticks > before + 3)
    buttons = {button.text(): button for button in box.findChildren(QPushButton)}
    assert list(buttons) == ["Cancel", "Delete"] and buttons["Cancel"].isDefault()
    assert box.focusWidget() is buttons["Cancel"]
    if words:
        QTest.mouseClick(buttons[words], Qt.MouseButton.LeftButton)
    else:
        QTest.keyClick(box, Qt.Key.Key_Escape)
    assert await asyncio.wait_for(asking, 240) is expected
    ticking.cancel()


async def test_a_cancelled_question_goes_away(parent: QWidget) -> None:
    asking = asyncio.create_task(ask(parent, "Wait?", "For ever.", accept="Yes"))
    await shown(Question)
    asking.cancel()
    await asyncio.wait({asking})
    await until(lambda: parent.findChild(Question) is None)


async def test_files_are_chosen(parent: QWidget, tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("text\nhello\n")
    opening = asyncio.create_task(open_file(parent, "Open", filters=("Spreadsheets (*.csv)",), folder=tmp_path))
    await choose_path(parent, file)
    assert await asyncio.wait_for(opening, 240) == file
    forms = ("PNG (*.png)", "CSV (*.csv)")
    saving = asyncio.create_task(save_file(parent, "Save", name="old/new: map.png", filters=forms, folder=tmp_path))
    dialog = await shown(QFileDialog)
    dialog.selectNameFilter(forms[1])
    dialog.filterSelected.emit(forms[1])  # as the list of filters does
    dialog.accept()
    assert await asyncio.wait_for(saving, 240) == tmp_path / "old-new- map.csv"


async def test_a_dialog_begins_where_the_last_file_of_its_kind_was_saved(parent: QWidget, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    with ThreadPoolExecutor(1) as disk:
        pictures = RememberedFolder(SettingsStore(tmp_path / "settings.json", disk), FolderUse.PICTURES)
        pictures.keep(here)
        for chosen, accepts in ((there, False), (there, True)):
            saving = asyncio.create_task(save_file(parent, "Save", name="a.png", folder=pictures))
            dialog = await shown(QFileDialog)
            assert Path(dialog.directory().path()) == here, "a dialog that was cancelled changes nothing"
            dialog.setDirectory(str(chosen))
            dialog.selectFile("a.png")
            (dialog.accept if accepts else dialog.reject)()
            await asyncio.wait_for(saving, 240)
            await until(lambda: parent.findChild(QFileDialog) is None)
        assert pictures.path == there


def test_tabs_are_chosen_by_keys_and_one_that_is_not_shown_is_not_in_the_bar(qtbot: Any) -> None:
    tabs = Tabs()
    qtbot.addWidget(tabs)
    for key in ("progress", "ranking", "details"):
        tabs.add(key, key.title())
    told: list[str] = []
    tabs.chosen.connect(told.append)
    tabs.choose("details")
    qtbot.keyClick(tabs, Qt.Key.Key_Left)
    assert told == ["details", "ranking"]
    tabs.set_shown("progress", False)
    assert (tabs.count(), tabs.current(), tabs.is_shown("progress")) == (2, "ranking", False)
