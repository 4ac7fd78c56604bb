"""The sidebar: its jobs in groups, one open, several selected, the archive, tags, the search."""

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.ui.job_actions import TagDialog
from cfbatch_gui.ui.jobs.library import Library
from cfbatch_gui.ui.jobs.library_list import LINES, Group, GroupEntry, JobGroups

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


def test_groups_stand_in_their_order_and_each_line_is_said_to_a_screen_reader(library: Library) -> None:
    spoken = [
        library.rows.index(line).data(Qt.ItemDataRole.AccessibleTextRole) for line in range(library.rows.rowCount())
    ]
    assert spoken[:2] == ["Needs you, 1", "Job 1, Outcome unknown"]
    assert spoken[3].startswith("Job 2, Running · 1 of 2 batches")
    assert spoken[7].startswith("Job 4, Finished · ")

    expected = ["needs_you 1", "Job 1", "working 1", "Job 2", "drafts 1", "Job 3", "finished 1", "Job 4"]
    assert lines(library) == expected
    library.show_jobs((DRAFT,))
    assert lines(library) == ["drafts 1", "Job 3"]
    library.show_jobs(())
    assert lines(library) == []
    assert library.list.focusPolicy() is Qt.FocusPolicy.NoFocus


def test_a_click_opens_and_arrow_keys_move_on(qtbot: Any, library: Library) -> None:
    opened = QSignalSpy(library.opened)
    click(qtbot, library, "1")
    qtbot.keyClick(library.list, Qt.Key.Key_Down)
    assert [opened.at(at)[0] for at in range(opened.count())] == ["1", "2"]
    assert library.opened_job() == "2"


def test_an_update_touches_only_what_changed(library: Library) -> None:
    changed, inserted, removed = (
        QSignalSpy(signal) for signal in (library.rows.dataChanged, library.rows.rowsInserted, library.rows.rowsRemoved)
    )
    library.show_jobs((DONE, replace(DRAFT, texts=5), WORKING, UNKNOWN))
    assert changed.count() == 1
    assert changed.at(0)[0].row() == library.rows.line_of("3")
    library.show_jobs((DONE, replace(DRAFT, texts=5), WORKING, UNKNOWN))
    assert (changed.count(), inserted.count(), removed.count()) == (1, 0, 0)


def test_finding_shows_only_names_that_fit(qtbot: Any, library: Library) -> None:
    qtbot.keyClicks(library.find_field, "JOB 4")
    assert lines(library) == ["finished 1", "Job 4"]
    qtbot.keyClicks(library.find_field, "nothing")
    assert lines(library) == []
    assert library._nothing.isVisible()
    qtbot.keyClick(library.find_field, Qt.Key.Key_Escape)
    assert len(lines(library)) == 8


MANY = tuple(job(number, BatchState.DONE, queries=number) for number in range(10, 1_010))


def test_the_list_of_a_thousand_jobs_grows_as_it_is_scrolled(library: Library) -> None:
    library.show_jobs(MANY)
    assert lines(library)[0] == "finished 1000" and library.rows.rowCount() == LINES
    bar = library.list.verticalScrollBar()
    for pages in (2, 3, 4):
        library.grab()
        bar.setValue(bar.maximum())
        assert library.rows.rowCount() == pages * LINES
    names = [name for name in lines(library) if name.startswith("Job")]
    assert names == [f"Job {number}" for number in range(10, 10 + 4 * LINES - 1)]


CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
PLAIN = Qt.KeyboardModifier.NoModifier


def click(qtbot: Any, library: Library, job_id: str, keys: Qt.KeyboardModifier = PLAIN) -> None:
    rect = library.list.visualRect(library.rows.index_of(job_id))
    qtbot.mouseClick(library.list.viewport(), Qt.MouseButton.LeftButton, keys, pos=rect.center())


def selected(library: Library) -> list[str]:
    return [job.id for job in library.selection()]


def test_ctrl_and_shift_select_and_the_open_job_stays(qtbot: Any, library: Library) -> None:
    opened = QSignalSpy(library.opened)
    click(qtbot, library, "1")
    click(qtbot, library, "3", CTRL)
    assert selected(library) == ["1", "3"] and library.opened_job() == "1"
    click(qtbot, library, "4", SHIFT)
    assert library.opened_job() == "1" and opened.count() == 1
    click(qtbot, library, "2")
    assert selected(library) == [] and library.opened_job() == "2"


def test_a_selection_outlasts_changes_of_its_jobs(qtbot: Any, library: Library) -> None:
    click(qtbot, library, "2")
    click(qtbot, library, "4", CTRL)
    library.show_jobs((DONE, DRAFT, replace(WORKING, batches=DONE.batches), UNKNOWN))  # to another group
    assert selected(library) == ["2", "4"] and library.opened_job() == "2"
    library.show_jobs((DRAFT, replace(WORKING, batches=DONE.batches), UNKNOWN))  # one of them was deleted
    assert selected(library) == [] and library.list.currentIndex() == library.rows.index_of("2")


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


def test_a_changed_job_stands_where_it_would_stand_anew() -> None:
    groups = JobGroups()
    finished = replace(WORKING, batches=DONE.batches, finished_at=NOW)
    for jobs in (ALL, (DONE, DRAFT, finished, UNKNOWN), (DRAFT, replace(DONE, archived=True), finished), ()):
        groups.show(jobs)
        anew = JobGroups()
        anew.show(jobs)
        assert groups.lines() == anew.lines() and groups.archived() == anew.archived()
    groups.show((DONE, finished))
    assert groups.lines() == [GroupEntry(Group.FINISHED, 2), finished, DONE]
