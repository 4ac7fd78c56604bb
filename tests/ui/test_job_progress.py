"""Work under way, and what needs the user: unknown outcomes, failures, pauses."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QMessageBox

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.checksums import forget_checksums
from cfbatch_gui.core.jobs.plan.planned import Planned
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobState
from cfbatch_gui.ui.jobs.job_summary import running_words, summary_words, usual_words
from cfbatch_gui.ui.jobs.progress_view import UnknownOutcomeCard, batch_row
from tests.ui.conftest import Until
from tests.ui.job_page_driver import TIED, JobPageDriver, open_job_page

SEEN = "The program ended while this batch was being sent."


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[JobPageDriver]:
    async with open_job_page(tmp_path) as driver:
        yield driver


async def job_with(driver: JobPageDriver, state: BatchState, **changes: object) -> Job:
    """A job that ran to its end, made to look as if its batch had not."""
    job = await driver.finished(TIED, Kind.RANK)
    fields = {"state": state, "tokens": 0, **changes}
    shown = driver.pretend(replace(job, finished_at=0.0), [replace(job.batches[0], **fields)])  # type: ignore[arg-type]
    await driver.show(shown)
    return shown


async def card_of(driver: JobPageDriver) -> UnknownOutcomeCard:
    await job_with(driver, BatchState.OUTCOME_UNKNOWN, error=SEEN)
    (card,) = driver.page.progress.cards.values()
    return card


async def test_an_unknown_outcome_says_what_was_seen_and_takes_its_own_id(driver: JobPageDriver, until: Until) -> None:
    card = await card_of(driver)
    assert driver.page.tabs.current() == "progress"
    job = driver.page.job()
    assert job is not None
    request_id = job.batches[0].request_id
    QTest.keyClicks(card.id_field, "00000000-not-an-id")
    QTest.mouseClick(card.adopt_button, Qt.MouseButton.LeftButton)
    await until(card.error)
    assert card.error().endswith(".")
    assert card.isVisible()
    card.id_field.setText(f"  {request_id} ")
    QTest.keyClick(card.id_field, Qt.Key.Key_Return)
    await until(lambda: driver.program.ledger.job(job.id).state is JobState.DONE)
    assert not driver.page.progress.cards
    await driver.idle()


async def test_what_was_typed_stays_when_the_job_changes(driver: JobPageDriver) -> None:
    card = await card_of(driver)
    QTest.keyClicks(card.id_field, "768f15b7")
    job = driver.page.job()
    assert job is not None
    await driver.show(driver.pretend(replace(job, name="Another name"), job.batches))
    assert driver.page.progress.cards[1] is card
    assert card.id_field.text() == "768f15b7"
    await driver.idle()


@pytest.mark.parametrize("sure", [False, True])
async def test_sending_again_asks_a_second_time(driver: JobPageDriver, until: Until, sure: bool) -> None:
    card = await card_of(driver)
    job = driver.page.job()
    assert job is not None
    first_id = job.batches[0].request_id
    QTest.mouseClick(card.again_button, Qt.MouseButton.LeftButton)
    await until(lambda: driver.window.findChild(QMessageBox) is not None)
    box = driver.window.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    assert "billed twice" in box.informativeText()
    words = "Send again" if sure else "Cancel"
    QTest.mouseClick(next(each for each in box.buttons() if each.text() == words), Qt.MouseButton.LeftButton)
    await until(lambda: driver.window.findChild(QMessageBox) is None)
    if sure:
        await until(lambda: driver.program.ledger.job(job.id).state is JobState.DONE)
        assert driver.program.ledger.job(job.id).batches[0].request_id != first_id
    else:
        assert driver.program.ledger.job(job.id).state is JobState.OUTCOME_UNKNOWN
    await driver.idle()


async def test_an_unknown_outcome_can_be_dismissed(driver: JobPageDriver, until: Until) -> None:
    card = await card_of(driver)
    QTest.mouseClick(card.dismiss_button, Qt.MouseButton.LeftButton)
    job = driver.page.job()
    assert job is not None
    await until(lambda: driver.program.ledger.job(job.id).batches[0].state is BatchState.DISMISSED)
    await until(lambda: driver.page.progress.trouble_bars)
    assert driver.page.progress.trouble_bars[0].text() == "Batch 1: left as it is; it may or may not have arrived."
    await driver.idle()


async def test_a_note_has_its_place_in_the_smallest_window(driver: JobPageDriver, until: Until) -> None:
    await job_with(driver, BatchState.FAILED)
    driver.window.resize(700, 560)  # what the library leaves of 920
    table = driver.page.progress.table
    note = next(place for place, column in enumerate(table.columns()) if column.key == "note")
    await until(lambda: table.isVisible() and table.width() < 700)
    await until(lambda: table.columnWidth(note) >= 90)
    assert table.horizontalScrollBar().maximum() == 0
    await driver.idle()


async def test_a_failed_batch_says_why_and_is_sent_again(driver: JobPageDriver, until: Until) -> None:
    sentence = "The model reads at most 8,192 tokens of a text, and one is longer."
    job = await job_with(driver, BatchState.FAILED, error=sentence, error_detail="code 5023", request_id="")
    assert driver.page.tabs.current() == "progress"
    (bar,) = driver.page.progress.trouble_bars
    assert bar.text() == f"Batch 1: {sentence}"
    copy, again = bar.links()
    QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == f"{sentence}\ncode 5023"
    QTest.mouseClick(again, Qt.MouseButton.LeftButton)
    await until(lambda: driver.program.ledger.job(job.id).state is JobState.DONE)
    assert not driver.page.progress.trouble_bars
    await driver.idle()


async def test_batches_with_the_same_reason_are_one_line(driver: JobPageDriver) -> None:
    job = await driver.finished(TIED, Kind.RANK)
    failed = replace(job.batches[0], state=BatchState.FAILED, error="Not sent, because batch 2 was refused.")
    batches = [job.batches[0], *(replace(failed, number=number) for number in (3, 4, 5, 7))]
    await driver.show(driver.pretend(job, batches))
    texts = [bar.text() for bar in driver.page.progress.trouble_bars]
    assert texts == ["Batches 3–5, 7: Not sent, because batch 2 was refused."]
    await driver.idle()


async def test_a_request_id_is_copied_from_the_details_and_shown_nowhere_else(driver: JobPageDriver) -> None:
    job = await job_with(driver, BatchState.QUEUED)
    request_id = job.batches[0].request_id
    rows = driver.page.progress.table.model()
    shown = [str(rows.index(0, column).data()) for column in range(rows.columnCount())]
    assert request_id and not any(request_id in cell for cell in shown)
    driver.page.tabs.choose("details")
    menu = QMenu()
    driver.page.details._add_to_menu(menu, 0)
    next(action for action in menu.actions() if action.text() == "Copy request ID").trigger()
    assert QGuiApplication.clipboard().text() == request_id
    await driver.idle()


def made(state: BatchState, **known: object) -> Batch:
    return Batch("job", 4, state, 26, 2600, 9_500_000, **known)  # type: ignore[arg-type]


def test_the_next_check_counts_down_and_is_still_while_paused() -> None:
    running = made(BatchState.RUNNING, sent_at=1000.0, changed_at=1240.0, next_check_at=1492.0)
    assert batch_row(running, paused=False, now=1480.0).next_check == "in 12 s"
    assert batch_row(running, paused=False, now=1491.5).next_check == "now"
    assert batch_row(running, paused=True, now=1480.0).next_check == ""
    assert batch_row(running, paused=False, now=1480.0).time == "4 min"
    done = made(BatchState.DONE, sent_at=1000.0, changed_at=1362.0)
    assert batch_row(done, paused=False, now=9000.0).time == "took 6 min 02 s"


def test_a_word_of_the_service_that_we_do_not_know_is_shown() -> None:
    assert batch_row(made(BatchState.QUEUED, service_word="paused"), paused=False, now=0.0).note == (
        "The service says: paused"
    )


def past(seconds: float, number: int, texts: int = 18_000) -> Job:
    return Job(
        f"past{number}", "Past", Kind.EMBED, "@cf/baai/bge-m3", "cloudflare", 0.0, texts=texts,
        is_sent=True, sent_at=100.0, finished_at=100.0 + seconds, batches=(made(BatchState.DONE),),
    )  # fmt: skip


def test_the_usual_time_is_that_of_the_users_own_jobs_of_the_same_size() -> None:
    now = replace(past(0, 9), finished_at=0.0, batches=(made(BatchState.QUEUED),))
    others = [past(480, 1), past(900, 2), past(60, 3, texts=100), replace(past(5, 4), connection="practice")]
    assert usual_words(now, others) == "Your jobs of this size usually take 8–15 min."
    assert usual_words(now, others[:1]) == "Your last job of this size took 8 min."
    assert usual_words(now, others[2:]) == ""


def test_facts_say_how_much_how_long_and_what_it_costs() -> None:
    ranked = replace(
        past(240, 1), kind=Kind.RANK, queries=212, texts=3816, batches=(made(BatchState.DONE, tokens=339_000),)
    )
    assert summary_words(ranked, Planned(None, 18)) == (
        "212 queries × 18 contexts",
        "bge-m3",
        "finished in 4 min",
        "$0.004",
    )
    working = replace(past(0, 1), finished_at=0.0, texts=18_204, batches=(made(BatchState.QUEUED),))
    assert summary_words(working, Planned((4_000_000, 6_000_000))) == ("18,204 texts", "bge-m3", "", "about $0.060")
    assert running_words(working, 100.0 + 545) == "Running for 9 minutes."


async def test_refused_requests_are_sent_again_and_nothing_else(driver: JobPageDriver, until: Until) -> None:
    job = await driver.finished(TIED, Kind.RANK)
    with driver.program.folder(job.id).open() as database:
        forget_checksums(database)  # changed on purpose
        database.execute("UPDATE items SET score = NULL WHERE query_no = 2")
        database.execute("UPDATE requests SET state = 'failed', error = 'too long' WHERE request_no = 2")
    refused = replace(job.batches[0], failed_requests=1, error="The service refused 1 of 2 requests.")
    await driver.show(driver.pretend(job, [refused]))
    assert driver.page.tabs.current() == "ranking"  # there is something to read
    driver.page.tabs.choose("progress")
    (bar,) = driver.page.progress.trouble_bars
    assert bar.text() == "Batch 1: The service refused 1 of 2 requests."
    QTest.mouseClick(bar.links()[0], Qt.MouseButton.LeftButton)
    await until(lambda: len(driver.program.ledger.job(job.id).batches) == 2)
    await until(lambda: driver.program.ledger.job(job.id).state is JobState.DONE)
    sent = [batch.texts for batch in driver.program.ledger.job(job.id).batches]
    assert sent == [5, 2]  # a text that stands twice was sent once
    await driver.idle()


async def test_a_pause_is_said_beside_an_unknown_outcome_too(driver: JobPageDriver) -> None:
    job = await job_with(driver, BatchState.OUTCOME_UNKNOWN, error=SEEN)
    reason = "Cloudflare refused the token. Sending has stopped; nothing was lost."
    waiting = replace(job.batches[0], number=2, state=BatchState.QUEUED, error="")
    await driver.show(driver.pretend(replace(job, paused_because=reason), [*job.batches, waiting]))
    assert driver.page.progress.pause_bar.text() == reason
    assert driver.page.carry_on_button.isVisible()
    assert driver.page.progress.cards
    await driver.idle()
