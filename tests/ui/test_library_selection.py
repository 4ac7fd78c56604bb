"""Several jobs selected in the sidebar, the archive, and tags: what the list itself does."""

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QMenu

from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.ui.jobs.library import Library, TagDialog
from tests.ui.test_library import ALL, DONE, DRAFT, MANY, NOW, UNKNOWN, WORKING, job, lines

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
PLAIN = Qt.KeyboardModifier.NoModifier
OLD = replace(job(5, BatchState.DONE), archived=True)


@pytest.fixture
def library(qtbot: Any) -> Library:
    library = Library(clock=lambda: NOW)
    qtbot.addWidget(library)
    library.resize(276, 820)
    library.show_jobs(ALL)
    library.show()
    return library


def click(qtbot: Any, library: Library, job_id: str, keys: Qt.KeyboardModifier = PLAIN) -> None:
    rect = library.list.visualRect(library.rows.index_of(job_id))
    qtbot.mouseClick(library.list.viewport(), Qt.MouseButton.LeftButton, keys, pos=rect.center())


def selected(library: Library) -> list[str]:
    return [job.id for job in library.selection()]


def entries(library: Library, job_id: str) -> dict[str, Any]:
    library._menu(job_id, QPoint(0, 0))
    menu = library.findChildren(QMenu)[-1]
    menu.close()
    return {action.text(): action for action in menu.actions() if action.text()}


def test_ctrl_and_shift_select_and_the_open_job_stays(qtbot: Any, library: Library) -> None:
    opened = QSignalSpy(library.opened)
    click(qtbot, library, "1")
    click(qtbot, library, "3", CTRL)
    assert selected(library) == ["1", "3"] and library.opened_job() == "1"
    click(qtbot, library, "4", SHIFT)
    assert library.opened_job() == "1" and opened.count() == 1
    click(qtbot, library, "2")
    assert selected(library) == [] and library.opened_job() == "2"


def test_shift_and_arrows_select_and_an_arrow_alone_opens(qtbot: Any, library: Library) -> None:
    click(qtbot, library, "1")
    library.list.setFocus()
    for _ in range(2):
        qtbot.keyClick(library.list, Qt.Key.Key_Down, SHIFT)
    assert selected(library) == ["1", "2", "3"] and library.opened_job() == "1"
    qtbot.keyClick(library.list, Qt.Key.Key_Down)
    assert selected(library) == [] and library.opened_job() == "4"


def test_a_selection_outlasts_changes_of_its_jobs(qtbot: Any, library: Library) -> None:
    click(qtbot, library, "2")
    click(qtbot, library, "4", CTRL)
    library.show_jobs((DONE, DRAFT, replace(WORKING, batches=DONE.batches), UNKNOWN))  # to another group
    assert selected(library) == ["2", "4"] and library.opened_job() == "2"
    library.show_jobs((DRAFT, replace(WORKING, batches=DONE.batches), UNKNOWN))  # one of them was deleted
    assert selected(library) == [] and library.list.currentIndex() == library.rows.index_of("2")


def test_the_menu_counts_the_jobs_that_each_entry_concerns(qtbot: Any, library: Library) -> None:
    click(qtbot, library, "2")
    for other in ("3", "4"):
        click(qtbot, library, other, CTRL)
    compared, tagged, archived, deleted = (
        QSignalSpy(signal)
        for signal in (library.comparison_wanted, library.tags_wanted, library.archived, library.deleted)
    )
    found = entries(library, "3")
    assert list(found) == ["Compare these 2…", "Tag 3 jobs…", "Archive 2 jobs", "Delete 3 jobs"]
    for action in found.values():
        action.trigger()
    assert [spy.at(0)[0] for spy in (compared, archived)] == [["2", "4"]] * 2, "a draft has no results, and stays"
    assert [spy.at(0)[0] for spy in (tagged, deleted)] == [["2", "3", "4"]] * 2
    assert "Rename" in entries(library, "1"), "the menu of a job that is not selected is its own"


def test_the_right_button_keeps_a_selection(qtbot: Any, library: Library) -> None:
    click(qtbot, library, "1")
    click(qtbot, library, "3", CTRL)
    place = library.list.visualRect(library.rows.index_of("3")).center()
    qtbot.mouseClick(library.list.viewport(), Qt.MouseButton.RightButton, pos=place)
    assert selected(library) == ["1", "3"]


def test_the_delete_key_concerns_the_whole_selection(qtbot: Any, library: Library) -> None:
    deleted = QSignalSpy(library.deleted)
    click(qtbot, library, "1")
    click(qtbot, library, "4", CTRL)
    qtbot.keyClick(library.list, Qt.Key.Key_Delete)
    assert deleted.at(0)[0] == ["1", "4"]


def test_all_of_ten_thousand_jobs_are_selected_also_those_not_scrolled_to(qtbot: Any, library: Library) -> None:
    library.show_jobs(MANY)
    library.list.selectAll()
    assert len(library.selection()) == len(MANY)
    library.show_jobs((*MANY, WORKING))
    assert len(library.selection()) == len(MANY)


def test_the_archive_is_shown_by_a_click_and_left_by_another(qtbot: Any, library: Library) -> None:
    assert not library.archive_button.isVisible()
    library.show_jobs((*ALL, OLD))
    assert library.archive_button.text() == "Archive (1)" and len(lines(library)) == 8
    qtbot.mouseClick(library.archive_button, Qt.MouseButton.LeftButton)
    assert lines(library) == ["archived 1", "Job 5"] and library.archive_button.text() == "All other jobs"
    assert "Take out of the archive" in entries(library, "5")
    click(qtbot, library, "5")
    assert library.opened_job() == "5"
    qtbot.mouseClick(library.archive_button, Qt.MouseButton.LeftButton)
    assert len(lines(library)) == 8
    qtbot.mouseClick(library.archive_button, Qt.MouseButton.LeftButton)
    library.show_jobs(ALL)  # the last one was taken out
    assert len(lines(library)) == 8 and not library.archive_button.isVisible()


def test_an_archive_of_ten_thousand_grows_as_it_is_scrolled(library: Library) -> None:
    library.show_jobs((*(replace(each, archived=True) for each in MANY), DONE))
    library.toggle_archive()
    assert library.rows.archived() == len(MANY) and library.rows.rowCount() < 1_000
    library.list.selectAll()
    assert len(library.selection()) == len(MANY)


def test_the_search_finds_tags_and_the_archive(qtbot: Any, library: Library) -> None:
    library.show_jobs((*ALL, replace(OLD, tags=("May report", "old"))))
    qtbot.keyClicks(library.find_field, "may R")
    qtbot.waitUntil(lambda: lines(library) == ["archived 1", "Job 5"])
    library.grab()  # with its tags


def tagged(number: int, *tags: str) -> Job:
    return replace(job(number), tags=tags)


def test_tags_are_ticked_typed_and_left_as_they_are(qtbot: Any) -> None:
    first, second = tagged(1, "May", "old"), tagged(2, "May")
    dialog = TagDialog((first, second), ("May", "old", "June"))
    qtbot.addWidget(dialog)
    assert dialog.boxes["old"].checkState() is Qt.CheckState.PartiallyChecked
    assert dialog.boxes["May"].isChecked() and not dialog.boxes["June"].isChecked()
    dialog.boxes["May"].setChecked(False)
    dialog.boxes["June"].setChecked(True)
    qtbot.keyClicks(dialog.field, "urgent, ")
    assert {key: set(tags) for key, tags in dialog.chosen().items()} == {
        "1": {"old", "June", "urgent"},
        "2": {"June", "urgent"},
    }
