"""The whole window: selections, tags and the archive; and what is wrong, after which a job comes to its end."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtWidgets import QMenu

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import STOPPED_HERE, BatchState, JobState
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.jobs.library import Group, GroupEntry
from cfbatch_gui.ui.memory import memory
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.words.states import state_words
from tests.canary import OTHER_TOKEN, TOKEN
from tests.core.endpoints.conftest import service
from tests.journeys.terminal import EXAMPLE
from tests.screen.past import Clock, draft, run
from tests.screen.stage import Stage, opened
from tests.support import faults
from tests.support.clients import save_cloudflare
from tests.support.disks import fill_up, free_up, small_disk
from tests.support.faulty_service import FaultyService, ThreadedService
from tests.support.keyrings import MemoryKeyring
from tests.support.sentences import shows
from tests.ui.connections import answer_line, entries, until

NAMES = ("April", "May", "June")


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    program = await Program.open(tmp_path / "data", environ={}, practice_times=(0.0, 0.0))
    for name in NAMES:
        await run(program, name, EXAMPLE, Kind.RANK)
    await program.close()
    async with opened(tmp_path / "data", theme) as stage:
        await stage.person.click_row("Jobs", "April")
        yield stage


def select(stage: Stage, *names: str) -> None:
    library = stage.workspace.window.library
    for name in names:
        index = library.rows.index_of(stage.job(name).id)
        library.list.selectionModel().select(index, QItemSelectionModel.SelectionFlag.Select)


def listed(stage: Stage) -> set[str]:
    rows = stage.workspace.window.library.rows
    return {name for line in range(rows.rowCount()) if (name := rows.index(line).data())}


async def offered(stage: Stage, job_id: str) -> list[str]:
    """The entries of the menu of a line, when it is gone and has given the keyboard back."""
    library = stage.workspace.window.library
    library._menu(stage.program.ledger.job(job_id), QPoint(0, 0))
    menu = library.findChildren(QMenu)[-1]
    texts = list(entries(menu))
    menu.close()
    await stage.person.until(lambda: not library.findChildren(QMenu))
    return texts


async def menu_job(stage: Stage, text: str) -> None:
    """Choose an entry of the menu Job."""
    menu = stage.workspace.menus._job
    menu.aboutToShow.emit()
    entries(menu)[text].trigger()


async def test_three_jobs_are_archived_and_taken_out_again(stage: Stage) -> None:
    person, rows = stage.person, stage.workspace.window.library.rows
    select(stage, "May", "June")
    await menu_job(stage, "Archive 3 jobs")
    await person.until(lambda: rows.entries()[0] == GroupEntry(Group.ARCHIVED, 3))
    assert stage.workspace.window.library.opened_job() == stage.job("April").id, "the page goes on showing it"
    await person.click_row("Jobs", "May")
    await person.click("More")
    await person.choose("Take out of the archive")
    await person.until(lambda: GroupEntry(Group.ARCHIVED, 2) in rows.entries())
    for _ in range(2):
        stage.workspace.window.notices.undos.undo()
    await person.until(lambda: rows.entries()[0] == GroupEntry(Group.FINISHED, 3))


async def test_each_menu_names_what_can_be_done_with_its_jobs(stage: Stage) -> None:
    new = await draft(stage.program, "New", EXAMPLE, Kind.RANK)
    stage.workspace.show_jobs()
    ranking = ["Compare with…", "Judge its texts…"]
    for job, expected in (
        (stage.job("May"), ["Rename", "Duplicate", *ranking, "Tags…", "Archive", "Delete"]),
        (new, ["Rename", "Duplicate", "Tags…", "Delete"]),
    ):
        assert await offered(stage, job.id) == expected
    menu, button = stage.workspace.menus._job, stage.workspace.job_page.compare_button
    await stage.person.until(button.isVisible)
    menu.aboutToShow.emit()
    assert "Compare with…" in entries(menu) and button.text() not in entries(menu), "it is there once"
    select(stage, "May", "New")
    expected = ["Compare these 2…", "Tag 3 jobs…", "Archive 2 jobs", "Delete 3 jobs"]
    assert await offered(stage, new.id) == expected, "a draft has no results, and stays"
    await menu_job(stage, "Compare these 2…")
    page = stage.workspace.comparison_page
    await stage.person.until(lambda: stage.workspace.window.pages.currentWidget() is page)
    assert page._jobs[0].id == stage.job("April").id, "the open one comes first"


async def test_tags_are_given_to_all_selected_jobs_and_found(stage: Stage) -> None:
    person, field = stage.person, "Tags, with commas between them"
    stage.workspace.job_actions.tag(stage.job("April").id)
    await person.type(field, "old")
    await person.click("Save")
    await person.until(lambda: stage.job("April").tags == ("old",))
    select(stage, "May")
    await menu_job(stage, "Tag 2 jobs…")
    await person.until_sees("In use: old")
    await person.type(field, "spring, Quarter 2")
    await person.click("Save")
    await person.until(lambda: stage.job("May").tags == ("Quarter 2", "spring"))
    assert stage.job("April").tags == ("old", "Quarter 2", "spring") and stage.job("June").tags == ()
    await person.type("Find a job", "SPRING")
    await person.until(lambda: listed(stage) == {"April", "May"})
    stage.workspace.window.notices.undos.undo()
    await person.until(lambda: stage.job("May").tags == ())


async def test_a_job_that_was_paused_stays_so_when_it_comes_back(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, practice_times=(60.0, 60.0)) as stage:
        job = await draft(stage.program, "May", EXAMPLE, Kind.RANK)
        await stage.program.actions.send(job.id)
        await stage.program.runner.pause(job.id)
        stage.workspace.job_actions.delete(job.id)
        await stage.person.click("Undo")
        await stage.person.until_sees("Carry on")
        assert stage.state("May") is JobState.PAUSED and stage.job("May").paused_because == STOPPED_HERE


async def test_the_job_that_was_open_opens_again(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme) as stage:
        for name in NAMES:
            await draft(stage.program, name, EXAMPLE, Kind.RANK)
        stage.workspace.show_jobs()
        may = stage.job("May").id
        await stage.person.click_row("Jobs", "May")
        await stage.person.until(lambda: memory.get("window/job") == may)
        stage.workspace.window.resize(1000, 700)
        stage.workspace.window.close()
    async with opened(tmp_path / "data", theme) as stage:
        assert stage.workspace.window.library.opened_job() == may and stage.workspace.window.height() == 700
        stage.workspace.job_actions.delete(may)
        await stage.person.until(lambda: stage.state("May") is None)
        memory.set("window/job", may)  # as if the program had ended here
    async with opened(tmp_path / "data", theme) as stage:
        assert stage.workspace.window.library.opened_job() == stage.job("June").id, "the newest, as the other is gone"
    async with opened(tmp_path / "data", theme, file=EXAMPLE) as stage:
        await stage.person.until(lambda: stage.program.ledger.jobs()[0].name not in NAMES)  # that of the file
        newest = stage.program.ledger.jobs()[0].id
        await stage.person.until(lambda: stage.workspace.window.library.opened_job() == newest)


ACCOUNT = "0123456789abcdef0123456789abcdef"
NAME = "Support articles"
REFUSED = faults.refusal(on="any", times=0, status=401, code=10000, message="Authentication error")


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[ThreadedService]:
    with ThreadedService(tmp_path / "service", clock=Clock()).opened() as faulty:
        yield faulty


@asynccontextmanager
async def connected(
    root: Path, theme: Theme, faulty: ThreadedService, credentials: Credentials | None = None
) -> AsyncIterator[Stage]:
    """The window with a Cloudflare account behind the faulty service, and a draft that is ready to go there."""
    async with opened(root, theme, service=faulty.url, credentials=credentials) as stage:
        if not stage.program.address_book.account_id:
            await save_cloudflare(stage.program, ACCOUNT, TOKEN)
            await draft(stage.program, NAME, EXAMPLE, Kind.RANK, "cloudflare")
            stage.workspace.show_jobs()
        await stage.person.click_row("Jobs", NAME)
        yield stage


@pytest.fixture
async def at_account(tmp_path: Path, theme: Theme, faulty: ThreadedService) -> AsyncIterator[Stage]:
    async with connected(tmp_path / "data", theme, faulty) as stage:
        yield stage


async def finished(stage: Stage) -> None:
    await stage.person.until(lambda: stage.state(NAME) is JobState.DONE)
    await stage.person.until_sees("Export…", "how do I reset my password")


async def test_a_refused_token_stops_says_so_and_leads_to_the_connection(
    at_account: Stage, faulty: ThreadedService
) -> None:
    stage, person = at_account, at_account.person
    faulty.follow(REFUSED)
    await person.click("Send 1 batch")
    await person.until_sees(message("service_refused_api_token_sending_stopped", service="Cloudflare"))
    assert stage.job(NAME).batches[0].state is BatchState.PLANNED
    await person.click("Open connection")
    faulty.follow()
    await person.type("API token", OTHER_TOKEN)
    await person.click("Save and test")
    await person.until(lambda: stage.state(NAME) is JobState.DONE)
    await person.click_row("Jobs", NAME)
    await finished(stage)
    assert len(faulty.accepted()) == 1


async def test_an_unknown_outcome_waits_for_a_word_or_the_right_id(at_account: Stage, faulty: ThreadedService) -> None:
    stage, person = at_account, at_account.person
    faulty.follow(faults.reset_after_body(on="submit", billed=True))
    await person.click("Send 1 batch")
    await person.click("Send again…")
    await person.click("Cancel")
    (card,) = stage.workspace.job_page.progress.cards.values()
    await person.type(card.id_field.accessibleName(), "00000000-not-an-id")
    await person.press(Qt.Key.Key_Return)
    await person.until(card.problem.text)
    assert card.isVisible() and stage.state(NAME) is JobState.OUTCOME_UNKNOWN
    await person.type(card.id_field.accessibleName(), f"  {faulty.accepted()[0]} ")
    await person.press(Qt.Key.Key_Return)
    await finished(stage)
    assert len(faulty.accepted()) == 1


async def test_what_the_service_refused_is_sent_again_alone(at_account: Stage, faulty: ThreadedService) -> None:
    stage, person = at_account, at_account.person
    faulty.follow(faults.fail_requests(on="poll", requests=(1, 3)))
    await person.click("Send 1 batch")
    await person.until_sees(state_words(JobState.PARTLY_DONE).text)
    await person.click("Progress")
    await person.until_sees(message("service_refused_failed_requests_requests", failed=2, requests=12))
    await person.click("Send these again")
    await person.until(lambda: stage.job(NAME).batches_done == 2)
    assert [batch.requests for batch in stage.job(NAME).batches] == [12, 2]


async def test_a_full_disk_is_a_sentence_and_room_lets_it_go_on(tmp_path: Path, theme: Theme) -> None:
    with small_disk(tmp_path / "disk", 4) as disk:
        async with opened(disk / "data", theme) as stage:
            person = stage.person
            await draft(stage.program, NAME, EXAMPLE, Kind.RANK)
            stage.workspace.show_jobs()
            await person.click_row("Jobs", NAME)
            await person.until_sees("Send 1 batch")
            stage.program.ledger.make_room()
            fill_up(disk)
            await person.click("Send 1 batch")
            await person.until(lambda: any(shows(text, "disk_is_full_nothing_was_lost") for text in person.seen()))
            await person.press(Qt.Key.Key_F2)
            await person.type("Name", "Another name")
            await person.press(Qt.Key.Key_Return)
            await person.until(lambda: not stage.workspace.tasks.is_running(f"rename {stage.job(NAME).id}"))
            assert stage.job(NAME).state is JobState.DRAFT, "the name that could not be written is not shown"
            free_up(disk)
            await person.click("Carry on" if person.sees("Carry on") else "Send 1 batch")
            await finished(stage)


async def unsent(root: Path, theme: Theme, faulty: ThreadedService, credentials: Credentials) -> None:
    """A job that could not be sent because there was no network; the network is back when this returns."""
    async with connected(root, theme, faulty, credentials) as stage:
        faulty.shut()
        await stage.person.click("Send 1 batch")
        await stage.person.until(lambda: stage.state(NAME) is JobState.PAUSED)
    faulty.follow()


async def test_a_moved_folder_asks_once_and_goes_on(tmp_path: Path, theme: Theme, faulty: ThreadedService) -> None:
    credentials = Credentials(MemoryKeyring(), {})
    await unsent(tmp_path / "data", theme, faulty, credentials)
    moved = (tmp_path / "data").rename(tmp_path / "moved")
    async with opened(moved, theme, service=faulty.url, credentials=credentials) as stage:
        await stage.person.click("Not now")
        await stage.person.click("Carry on")
        await stage.person.until(lambda: stage.state(NAME) is JobState.WAITING)
        assert stage.job(NAME).batches[0].state is BatchState.PLANNED and not faulty.accepted()
        await stage.person.click("Say what happened")
        await stage.person.click("Only moved")
        await finished(stage)
        assert not stage.person.sees("Say what happened")
    async with connected(moved, theme, faulty, credentials) as stage:
        assert not stage.person.sees("Not now")
    assert len(faulty.accepted()) == 1


CONNECTION = (Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
FAILED = "its last test failed"


async def test_a_failed_test_of_the_connection_stands_there_until_one_succeeds(tmp_path: Path, theme: Theme) -> None:
    async with (
        FaultyService(service(tmp_path / "service")) as faulty,
        opened(tmp_path / "data", theme, service=faulty.url) as stage,
    ):
        await save_cloudflare(stage.program, ACCOUNT, TOKEN)
        await stage.program.keep_settings(connection="cloudflare")
        person, gear = stage.person, stage.workspace.window.library.foot._gear
        await person.press(*CONNECTION)
        faulty.follow(faults.refusal(status=404, code=7003, message="Could not route"))
        await person.click("Test")
        await person.until_sees(message("service_no_account_id_copy_from", service="Cloudflare"))
        await until(lambda: FAILED in gear.accessibleDescription())
        await person.click("Test again")
        await until(lambda: FAILED not in gear.accessibleDescription())


async def test_renaming_keeps_the_place_in_the_list_and_the_keyboard(stage: Stage) -> None:
    window, jobs = stage.workspace.window, stage.workspace.window.library.list
    window.resize(1000, 500)
    for number in range(12):
        await draft(stage.program, f"Draft {number}", EXAMPLE, Kind.RANK)
    stage.workspace.show_jobs()
    await stage.person.click_row("Jobs", "Draft 2")
    jobs.setFocus()
    place = jobs.verticalScrollBar().value()
    stage.workspace.job_actions.rename(stage.job("Draft 2").id)
    await answer_line("Second")
    await until(lambda: jobs.currentIndex().data() == "Second")
    assert window.focusWidget() is jobs and jobs.verticalScrollBar().value() == place > 0
