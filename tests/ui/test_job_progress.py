"""Work under way, and what needs the user: unknown outcomes, failures, pauses."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.planned import Planned
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobState
from cfbatch_gui.ui.jobs.batch_rows import batch_row
from cfbatch_gui.ui.jobs.job_summary import fact_words, running_words, usual_words
from cfbatch_gui.ui.jobs.unknown_outcome_card import UnknownOutcomeCard
from tests.ui.conftest import Until
from tests.ui.practice_desk import TIED, Desk, open_desk

SEEN = "The program ended while this batch was being sent."


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        yield desk


async def job_with(desk: Desk, state: BatchState, **changes: object) -> Job:
    """A job that ran to its end, made to look as if its batch had not."""
    job = await desk.finished(TIED, Kind.RANK)
    fields = {"state": state, "tokens": 0, **changes}
    shown = desk.pretend(replace(job, finished_at=0.0), [replace(job.batches[0], **fields)])  # type: ignore[arg-type]
    await desk.show(shown)
    return shown


async def card_of(desk: Desk) -> UnknownOutcomeCard:
    await job_with(desk, BatchState.OUTCOME_UNKNOWN, error=SEEN)
    (card,) = desk.page.progress.cards.values()
    return card


async def test_an_unknown_outcome_says_what_was_seen_and_takes_its_own_id(desk: Desk, until: Until) -> None:
    card = await card_of(desk)
    assert desk.page.tabs.current() == "progress"
    job = desk.page.job()
    assert job is not None
    request_id = job.batches[0].request_id
    QTest.keyClicks(card.id_field, "00000000-not-an-id")
    QTest.mouseClick(card.adopt_button, Qt.MouseButton.LeftButton)
    await until(card.error)
    assert card.error().endswith(".")
    assert card.isVisible()
    card.id_field.setText(f"  {request_id} ")
    QTest.keyClick(card.id_field, Qt.Key.Key_Return)
    await until(lambda: desk.program.ledger.job(job.id).state is JobState.DONE)
    assert not desk.page.progress.cards
    await desk.idle()


async def test_what_was_typed_stays_when_the_job_changes(desk: Desk) -> None:
    card = await card_of(desk)
    QTest.keyClicks(card.id_field, "768f15b7")
    job = desk.page.job()
    assert job is not None
    await desk.show(desk.pretend(replace(job, name="Another name"), job.batches))
    assert desk.page.progress.cards[1] is card
    assert card.id_field.text() == "768f15b7"
    await desk.idle()


@pytest.mark.parametrize("sure", [False, True])
async def test_sending_again_asks_a_second_time(desk: Desk, until: Until, sure: bool) -> None:
    card = await card_of(desk)
    job = desk.page.job()
    assert job is not None
    first_id = job.batches[0].request_id
    QTest.mouseClick(card.again_button, Qt.MouseButton.LeftButton)
    await until(lambda: desk.window.findChild(QMessageBox) is not None)
    box = desk.window.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    assert "billed twice" in box.informativeText()
    words = "Send again" if sure else "Cancel"
    QTest.mouseClick(next(each for each in box.buttons() if each.text() == words), Qt.MouseButton.LeftButton)
    await until(lambda: desk.window.findChild(QMessageBox) is None)
    if sure:
        await until(lambda: desk.program.ledger.job(job.id).state is JobState.DONE)
        assert desk.program.ledger.job(job.id).batches[0].request_id != first_id
    else:
        assert desk.program.ledger.job(job.id).state is JobState.OUTCOME_UNKNOWN
    await desk.idle()


async def test_an_unknown_outcome_can_be_laid_to_rest(desk: Desk, until: Until) -> None:
    card = await card_of(desk)
    QTest.mouseClick(card.dismiss_button, Qt.MouseButton.LeftButton)
    job = desk.page.job()
    assert job is not None
    await until(lambda: desk.program.ledger.job(job.id).batches[0].state is BatchState.DISMISSED)
    await until(lambda: desk.page.progress.trouble_bars)
    assert desk.page.progress.trouble_bars[0].text() == "Batch 1: laid to rest; nobody knows whether it arrived."
    await desk.idle()


async def test_a_request_id_has_its_place_in_the_smallest_window(desk: Desk, until: Until) -> None:
    await job_with(desk, BatchState.FAILED)
    desk.window.resize(700, 560)  # what the library leaves of 920
    table = desk.page.progress.table
    request = next(place for place, column in enumerate(table.columns()) if column.key == "request")
    await until(lambda: table.isVisible() and table.width() < 700)
    await until(lambda: table.columnWidth(request) >= 90)
    assert table.horizontalScrollBar().maximum() == 0
    await desk.idle()


async def test_a_failed_batch_says_why_and_is_sent_again(desk: Desk, until: Until) -> None:
    sentence = "The model reads at most 8,192 tokens of a text, and one is longer."
    job = await job_with(desk, BatchState.FAILED, error=sentence, error_detail="code 5023", request_id="")
    assert desk.page.tabs.current() == "progress"
    (bar,) = desk.page.progress.trouble_bars
    assert bar.text() == f"Batch 1: {sentence}"
    copy, again = bar.links()
    QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == f"{sentence}\ncode 5023"
    QTest.mouseClick(again, Qt.MouseButton.LeftButton)
    await until(lambda: desk.program.ledger.job(job.id).state is JobState.DONE)
    assert not desk.page.progress.trouble_bars
    await desk.idle()


async def test_batches_with_the_same_reason_are_one_line(desk: Desk) -> None:
    job = await desk.finished(TIED, Kind.RANK)
    failed = replace(job.batches[0], state=BatchState.FAILED, error="Not sent, because batch 2 was refused.")
    batches = [job.batches[0], *(replace(failed, number=number) for number in (3, 4, 5, 7))]
    await desk.show(desk.pretend(job, batches))
    texts = [bar.text() for bar in desk.page.progress.trouble_bars]
    assert texts == ["Batches 3–5, 7: Not sent, because batch 2 was refused."]
    await desk.idle()


async def test_a_request_id_is_copied_by_its_row(desk: Desk) -> None:
    job = await job_with(desk, BatchState.QUEUED)
    desk.page.progress.table.selectRow(0)
    QTest.keyClick(desk.page.progress.table, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == job.batches[0].request_id
    await desk.idle()


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
    assert fact_words(ranked, Planned(None, 18)) == (
        "212 queries × 18 contexts",
        "bge-m3",
        "finished in 4 min",
        "$0.004",
    )
    working = replace(past(0, 1), finished_at=0.0, texts=18_204, batches=(made(BatchState.QUEUED),))
    assert fact_words(working, Planned((4_000_000, 6_000_000))) == ("18,204 texts", "bge-m3", "", "about $0.059")
    assert running_words(working, 100.0 + 545) == "Running for 9 minutes."


async def test_refused_requests_are_sent_again_and_nothing_else(desk: Desk, until: Until) -> None:
    job = await desk.finished(TIED, Kind.RANK)
    with desk.program.folder(job.id).open() as database:
        database.execute("UPDATE items SET score = NULL WHERE query_no = 2")
        database.execute("UPDATE requests SET state = 'failed', error = 'too long' WHERE request_no = 2")
    refused = replace(job.batches[0], failed_requests=1, error="The service refused 1 of 2 requests.")
    await desk.show(desk.pretend(job, [refused]))
    assert desk.page.tabs.current() == "ranking"  # there is something to read
    desk.page.tabs.choose("progress")
    (bar,) = desk.page.progress.trouble_bars
    assert bar.text() == "Batch 1: The service refused 1 of 2 requests."
    QTest.mouseClick(bar.links()[0], Qt.MouseButton.LeftButton)
    await until(lambda: len(desk.program.ledger.job(job.id).batches) == 2)
    await until(lambda: desk.program.ledger.job(job.id).state is JobState.DONE)
    sent = [batch.texts for batch in desk.program.ledger.job(job.id).batches]
    assert sent == [5, 2]  # a text that stands twice was sent once
    await desk.idle()


async def test_a_pause_is_said_beside_an_unknown_outcome_too(desk: Desk) -> None:
    job = await job_with(desk, BatchState.OUTCOME_UNKNOWN, error=SEEN)
    reason = "Cloudflare refused the token. Sending has stopped; nothing was lost."
    waiting = replace(job.batches[0], number=2, state=BatchState.QUEUED, error="")
    await desk.show(desk.pretend(replace(job, paused_because=reason), [*job.batches, waiting]))
    assert desk.page.progress.pause_bar.text() == reason
    assert desk.page.carry_on_button.isVisible()
    assert desk.page.progress.cards
    await desk.idle()
