"""The sidebar: groups, selection, archive, tags, search; and that it says of a job’s state what the job’s page says."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy

from cfbatch_gui.core.inputs.input_values import Kind, Role
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.ui.inputs.draft_page import DraftPage
from cfbatch_gui.ui.jobs.job_page import JobPage
from cfbatch_gui.ui.jobs.library import Group, GroupEntry, Library, LibraryRows
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.words.states import DraftPhase, state_words
from tests.journeys.terminal import EXAMPLE
from tests.screen.stage import Stage, opened

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


def test_finding_shows_only_names_that_fit(qtbot: Any, library: Library) -> None:
    qtbot.keyClicks(library.find_field, "JOB 4")
    assert lines(library) == ["finished 1", "Job 4"]
    qtbot.keyClicks(library.find_field, "nothing")
    assert lines(library) == []
    assert library._nothing.isVisible()
    qtbot.keyClick(library.find_field, Qt.Key.Key_Escape)
    assert len(lines(library)) == 8


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


def test_a_changed_job_stands_where_it_would_stand_anew() -> None:
    rows = LibraryRows()
    finished = replace(WORKING, batches=tuple(replace(batch, changed_at=NOW) for batch in DONE.batches))
    for jobs in (ALL, (DONE, DRAFT, finished, UNKNOWN), (DRAFT, replace(DONE, archived=True), finished), ()):
        rows.show_jobs(jobs)
        anew = LibraryRows()
        anew.show_jobs(jobs)
        assert rows.entries() == anew.entries()
    rows.show_jobs((DONE, finished))
    assert rows.entries() == [GroupEntry(Group.FINISHED, 2), finished, DONE]


READY = state_words(DraftPhase.READY).text


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    async with opened(tmp_path / "data", theme, practice_times=(0.05, 0.05)) as stage:
        yield stage


def state(stage: Stage) -> str:
    """Of the open job, as its page and the list both say it."""
    page, library = stage.workspace.window.pages.currentWidget(), stage.workspace.window.library
    entry = library.rows.entries()[library.rows.line_of(library.opened_job())]
    assert isinstance(page, JobPage | DraftPage) and isinstance(entry, Job)
    words, shown = library.rows.words(entry), page.header.state
    assert (shown.text(), shown._icon._name) == (words.text.split(" · ")[0], words.icon)
    return shown.text()


async def test_a_draft_that_is_read_changed_and_sent(stage: Stage) -> None:
    person = stage.person
    await person.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    await person.click("Rank answers")
    await person.until_sees("Your data")
    assert state(stage) == "Draft"
    draft = stage.workspace.draft_page
    draft.drafts.open_paths([EXAMPLE])
    await person.until(lambda: state(stage) == READY)
    mapping = draft.drafts.state(draft.job_id()).mapping
    assert mapping is not None
    query = mapping.roles.index(Role.QUERY)
    draft.drafts.choose_role(query, Role.KEEP)
    await person.until(lambda: state(stage) == "Draft")
    draft.drafts.choose_role(query, Role.QUERY)
    await person.until(lambda: state(stage) == READY)
    await person.click("Send 1 batch")
    await person.until(lambda: state(stage) == "Finished")
