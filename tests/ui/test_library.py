from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QLineEdit, QMenu

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.ui.jobs.library import Library
from cfbatch_gui.ui.jobs.library_list import ENTRY_ROLE, LINES, Group, GroupEntry, arrange
from cfbatch_gui.ui.state_names import DraftPhase, batch_words, draft_words, job_words, library_words

NOW = 1_750_000_000.0


def job(number: int, *states: BatchState, name: str = "", **more: Any) -> Job:
    batches = tuple(
        Batch(str(number), at, state, requests=1, texts=10, bytes=100) for at, state in enumerate(states, 1)
    )
    return Job(
        id=str(number),
        name=name or f"Job {number}",
        kind=Kind.RANK,
        model="m",
        connection="practice",
        created_at=NOW - number,
        is_sent=bool(states),
        sent_at=NOW - number if states else 0.0,
        batches=batches,
        **more,
    )


UNKNOWN = job(1, BatchState.OUTCOME_UNKNOWN)
WORKING = job(2, BatchState.DONE, BatchState.RUNNING)
DRAFT = job(3)
DONE = job(4, BatchState.DONE, queries=212)
ALL = (DONE, DRAFT, WORKING, UNKNOWN)


@pytest.fixture
def library(qtbot: Any) -> Library:
    library = Library(clock=lambda: NOW)
    qtbot.addWidget(library)
    library.resize(276, 820)
    library.show_jobs(ALL)
    library.show()
    return library


def lines(library: Library) -> list[str]:
    return [
        f"{entry.group} {entry.count}" if isinstance(entry, GroupEntry) else entry.name
        for entry in library.rows.entries()
    ]


def click(qtbot: Any, library: Library, job_id: str) -> None:
    rect = library.list.visualRect(library.rows.index(library.rows.line_of(job_id)))
    qtbot.mouseClick(library.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())


def test_groups_stand_in_their_order_and_empty_ones_vanish(library: Library) -> None:
    expected = ["needs_you 1", "Job 1", "working 1", "Job 2", "drafts 1", "Job 3", "finished 1", "Job 4"]
    assert lines(library) == expected
    library.show_jobs((DRAFT,))
    assert lines(library) == ["drafts 1", "Job 3"]
    library.show_jobs(())
    assert lines(library) == []


def test_each_line_says_all_that_it_shows_to_a_screen_reader(library: Library) -> None:
    spoken = [
        library.rows.index(line).data(Qt.ItemDataRole.AccessibleTextRole) for line in range(library.rows.rowCount())
    ]
    assert spoken[:2] == ["Needs you, 1", "Job 1, Outcome unknown"]
    assert spoken[3].startswith("Job 2, Running · 1 of 2 batches")
    assert spoken[7].startswith("Job 4, Finished · ")


def test_the_latest_stands_first_and_archived_ones_only_when_looked_for() -> None:
    jobs = (job(9), job(5), replace(job(6, BatchState.DONE), archived=True))
    assert [entry.name for entry in arrange(jobs) if isinstance(entry, Job)] == ["Job 5", "Job 9"]
    assert arrange(jobs, "job 6")[0] == GroupEntry(Group.ARCHIVED, 1)


def test_a_list_without_jobs_is_no_stop_for_the_tab_key(library: Library) -> None:
    assert library.list.focusPolicy() is Qt.FocusPolicy.StrongFocus
    library.show_jobs([])
    assert library.list.focusPolicy() is Qt.FocusPolicy.NoFocus


def test_a_click_opens_and_arrow_keys_move_on(qtbot: Any, library: Library) -> None:
    opened = QSignalSpy(library.opened)
    click(qtbot, library, "1")
    qtbot.keyClick(library.list, Qt.Key.Key_Down)
    assert [opened.at(at)[0] for at in range(opened.count())] == ["1", "2"]
    assert library.opened_job() == "2"


def test_marking_says_nothing_and_an_update_keeps_the_mark(qtbot: Any, library: Library) -> None:
    opened = QSignalSpy(library.opened)
    library.open_job("2")
    library.show_jobs((DONE, DRAFT, replace(WORKING, batches=(replace(WORKING.batches[0]),)), UNKNOWN))
    assert library.list.currentIndex().row() == library.rows.line_of("2")
    library.show_jobs((UNKNOWN, job(7)))
    assert opened.count() == 0


def test_an_update_touches_only_what_changed(library: Library) -> None:
    changed, inserted, removed = (
        QSignalSpy(signal) for signal in (library.rows.dataChanged, library.rows.rowsInserted, library.rows.rowsRemoved)
    )
    library.show_jobs((DONE, replace(DRAFT, texts=5), WORKING, UNKNOWN))
    assert changed.count() == 1
    assert changed.at(0)[0].row() == library.rows.line_of("3")
    library.show_jobs((DONE, replace(DRAFT, texts=5), WORKING, UNKNOWN))
    assert (changed.count(), inserted.count(), removed.count()) == (1, 0, 0)


def test_f2_renames_in_place(qtbot: Any, library: Library) -> None:
    renamed = QSignalSpy(library.renamed)
    click(qtbot, library, "3")
    qtbot.keyClick(library.list, Qt.Key.Key_F2)
    editor = library.list.findChild(QLineEdit)
    assert editor is not None and editor.text() == "Job 3"
    editor.setText("  Better name ")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: renamed.count() == 1)
    assert list(renamed.at(0)) == ["3", "Better name"]


def test_the_menu_offers_what_can_be_done(qtbot: Any, library: Library) -> None:
    duplicated, archived, deleted = (
        QSignalSpy(signal) for signal in (library.duplicated, library.archived, library.deleted)
    )
    library._menu("4", QPoint(0, 0))
    menu = library.findChild(QMenu)
    assert menu is not None
    actions = {action.text(): action for action in menu.actions() if action.text()}
    assert list(actions) == ["Rename", "Duplicate", "Compare with…", "Judge its texts…", "Tags…", "Archive", "Delete"]
    for name in ("Duplicate", "Archive", "Delete"):
        actions[name].trigger()
    menu.close()
    assert [spy.at(0)[0] for spy in (duplicated, archived, deleted)] == ["4", ["4"], ["4"]]


def test_the_delete_key_asks_for_the_current_job(qtbot: Any, library: Library) -> None:
    deleted = QSignalSpy(library.deleted)
    click(qtbot, library, "1")
    qtbot.keyClick(library.list, Qt.Key.Key_Delete)
    assert deleted.at(0)[0] == ["1"]


def test_finding_shows_only_names_that_fit(qtbot: Any, library: Library) -> None:
    qtbot.keyClicks(library.find_field, "JOB 4")
    assert lines(library) == ["finished 1", "Job 4"]
    qtbot.keyClicks(library.find_field, "nothing")
    assert lines(library) == []
    assert library._nothing.isVisible()
    qtbot.keyClick(library.find_field, Qt.Key.Key_Escape)
    assert len(lines(library)) == 8


def test_the_title_of_a_group_is_seen_with_its_first_job(library: Library) -> None:
    library.show_jobs([job(number, BatchState.DONE) for number in range(60)])
    bar = library.list.verticalScrollBar()
    bar.setValue(bar.maximum())
    library.open_job("0")
    assert library.rows.line_of("0") == 1 and bar.value() == 0


def test_finding_marks_no_job_that_is_not_open(qtbot: Any, library: Library) -> None:
    library.show_jobs([job(number, BatchState.DONE) for number in range(60)])
    library.open_job("7")
    qtbot.keyClicks(library.find_field, "job 4")
    qtbot.waitUntil(lambda: library.rows.line_of("7") < 0)
    assert not library.list.currentIndex().isValid() and not library.list.selectedIndexes()
    assert library.list.verticalScrollBar().value() == 0
    library.find_field.clear()
    qtbot.waitUntil(lambda: library.rows.line_of("7") >= 0)
    assert library.list.currentIndex().row() == library.rows.line_of("7")


def test_the_foot_opens_the_connection(qtbot: Any, library: Library) -> None:
    wanted = QSignalSpy(library.connection_opened)
    library.show_connection("Practice", "on this computer", "practice")
    qtbot.mouseClick(library.foot, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(library.foot._gear, Qt.MouseButton.LeftButton)
    assert wanted.count() == 2


def test_one_of_ten_thousand_jobs_that_changes_is_one_line_anew(qtbot: Any, library: Library) -> None:
    many = tuple(job(number, BatchState.DONE, queries=number) for number in range(10, 10_010))
    library.show_jobs((*many, WORKING))
    library.grab()
    reset, changed = QSignalSpy(library.rows.modelReset), QSignalSpy(library.rows.dataChanged)
    checked = replace(WORKING, batches=(WORKING.batches[0], replace(WORKING.batches[1], checked_at=1.0)))
    library.show_jobs((*many, checked))
    lines = [(changed.at(n)[0].row(), changed.at(n)[1].row()) for n in range(changed.count())]
    assert set(lines) <= {(library.rows.line_of(WORKING.id),) * 2} and reset.count() == 0


MANY = tuple(job(number, BatchState.DONE, queries=number) for number in range(10, 10_010))


def test_the_list_of_ten_thousand_jobs_grows_as_it_is_scrolled(library: Library) -> None:
    library.show_jobs(MANY)
    assert lines(library)[0] == "finished 10000" and library.rows.rowCount() == LINES
    bar = library.list.verticalScrollBar()
    for pages in (2, 3, 4):
        library.grab()
        bar.setValue(bar.maximum())
        assert library.rows.rowCount() == pages * LINES
    names = [name for name in lines(library) if name.startswith("Job")]
    assert names == [f"Job {number}" for number in range(10, 10 + 4 * LINES - 1)]


def test_the_end_key_goes_to_the_last_of_ten_thousand_jobs(qtbot: Any, library: Library) -> None:
    library.show_jobs(MANY)
    library.list.setFocus()
    qtbot.keyClick(library.list, Qt.Key.Key_End)
    assert library.opened_job() == "10009" and library.list.currentIndex().row() == 10_000


def test_a_job_far_down_is_marked_when_it_is_opened(library: Library) -> None:
    library.show_jobs(MANY)
    library.open_job("9000")
    assert library.list.currentIndex().data(ENTRY_ROLE).id == "9000"
    assert library.list.visualRect(library.list.currentIndex()).intersects(library.list.viewport().rect())
    assert library.rows.rowCount() < 10_001


def test_a_new_job_above_many_is_one_line_more(library: Library) -> None:
    library.show_jobs(MANY)
    library.open_job("20")
    inserted, removed = QSignalSpy(library.rows.rowsInserted), QSignalSpy(library.rows.rowsRemoved)
    library.show_jobs((job(5, BatchState.DONE), *MANY))
    assert (inserted.count(), removed.count()) == (1, 0)
    assert inserted.at(0)[1:] == [1, 1]
    assert library.list.currentIndex().data(ENTRY_ROLE).id == "20"
    assert library.rows.rowCount() == LINES + 1


def test_after_a_search_the_list_begins_at_its_top(qtbot: Any, library: Library) -> None:
    library.show_jobs(MANY)
    qtbot.keyClicks(library.find_field, "Job 10009")
    qtbot.waitUntil(lambda: lines(library) == ["finished 1", "Job 10009"])
    library.find_field.clear()
    qtbot.waitUntil(lambda: library.rows.rowCount() == LINES)
    assert lines(library)[1] == "Job 10"


def test_every_state_has_words_and_an_icon(library: Library) -> None:
    from cfbatch_gui.core.jobs.states import JobState
    from cfbatch_gui.core.system.paths import resource

    for words in [*map(batch_words, BatchState), *map(job_words, JobState), *map(draft_words, DraftPhase)]:
        assert words.text and resource(f"icons/{words.icon}.svg").exists()


def test_the_second_line_says_where_it_stands() -> None:
    assert library_words(WORKING, NOW + 120).text == "Running · 1 of 2 batches · 2 min"
    assert library_words(DONE, NOW + 300).text == "Finished · 5 min ago · 212 queries"
    assert library_words(UNKNOWN, NOW).text == "Outcome unknown"
    failed = job(8, BatchState.FAILED)
    failed = replace(failed, batches=(replace(failed.batches[0], error="The token was refused."),))
    assert library_words(failed, NOW).text == "Failed · The token was refused."
