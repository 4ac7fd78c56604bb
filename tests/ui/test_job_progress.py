"""Work under way and what needs the user: unknown outcomes, failures, pauses, and what the account has of it."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions, JobState
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection, worker
from cfbatch_gui.ui.jobs.job_summary import (
    account_words,
    can_change_account,
    can_clear_account,
)
from cfbatch_gui.ui.jobs.progress_view import UnknownOutcomeCard
from tests.ui.conftest import Until
from tests.ui.job_page_driver import TIED, JobPageDriver

SEEN = "The program ended while this batch was being sent."


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


async def test_what_was_typed_stays_when_the_job_changes_and_an_unknown_outcome_can_be_dismissed(
    driver: JobPageDriver, until: Until
) -> None:
    card = await card_of(driver)
    QTest.keyClicks(card.id_field, "768f15b7")
    job = driver.page.job()
    assert job is not None
    await driver.show(driver.pretend(replace(job, name="Another name"), job.batches))
    assert driver.page.progress.cards[1] is card
    assert card.id_field.text() == "768f15b7"

    QTest.mouseClick(card.dismiss_button, Qt.MouseButton.LeftButton)
    await until(lambda: driver.program.ledger.job(job.id).batches[0].state is BatchState.DISMISSED)
    await until(lambda: driver.page.progress.trouble_bars)
    assert driver.page.progress.trouble_bars[0].text() == "Batch 1: left as it is; it may or may not have arrived."
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


NOW = 2_000.0
WORKER = worker("https://batch.example.workers.dev", connection_id="worker", title="Mine", collects=True)
DIRECT = replace(WORKER, collects=False)


def batch(number: int, where: str) -> Batch:
    made = Batch(
        "job", number, BatchState.QUEUED, 10, 100, 900_000, request_id=f"id-{number}", sent_at=1_000.0, changed_at=1_000
    )
    handed = replace(made, shard=1, handed_over_at=1_100.0, next_check_at=NOW + 3_600)
    return {
        "planned": replace(made, state=BatchState.PLANNED, request_id="", sent_at=0.0),
        "sending": replace(made, state=BatchState.SENDING, request_id=""),
        "direct": replace(made, next_check_at=NOW + 12),
        "service": handed,
        "account": replace(handed, stored_bytes=9_400_000, next_check_at=NOW - 2),
        "collecting": replace(handed, state=BatchState.COLLECTING),
        "here": replace(handed, state=BatchState.DONE, changed_at=NOW),
        "unknown": replace(made, state=BatchState.OUTCOME_UNKNOWN, request_id=""),
    }[where]


def job(*where: str, **changes: object) -> Job:
    batches = tuple(batch(number, each) for number, each in enumerate(where, 1))
    made = Job("job", "Texts", Kind.EMBED, "@cf/baai/bge-m3", "worker", 0.0, is_sent=True, sent_at=1_000.0, texts=900)
    return replace(made, batches=batches, **changes)  # type: ignore[arg-type]  # the names of its fields


def test_the_computer_may_close_once_nothing_is_left_to_hand_over() -> None:
    with_account = (job("service"), job("here", "service"), job("service", "service", "account"))
    others = (job("service", "direct"), job("service", "planned"), job("service", "unknown"))
    paused = job("service", "direct", paused_because="You stopped watching.")
    for known in (*with_account, *others, paused):
        words = account_words(known, WORKER)
        assert words is not None and words.line and words.may_close is (known in with_account)


@pytest.mark.parametrize(
    ("known", "connection"),
    [
        (job("direct"), DIRECT),
        (job("direct"), PRACTICE),
        (job("direct"), None),
        (job("here"), WORKER),
        (job("direct", account_problem="It has stopped."), WORKER),
        (job("direct", options=JobOptions(collect_in_account=False)), WORKER),
    ],
)
def test_nothing_is_said_where_the_account_has_nothing_to_do(known: Job, connection: Connection | None) -> None:
    assert account_words(known, connection) is None


def test_what_can_be_done_goes_by_the_job() -> None:
    at_work, over = job("service"), job("here", finished_at=NOW)
    assert can_change_account(at_work, WORKER) and can_change_account(at_work, DIRECT)
    assert not any(can_change_account(*each) for each in ((at_work, PRACTICE), (at_work, None), (over, WORKER)))
    assert not can_change_account(replace(at_work, taken_over=True), WORKER)
    assert can_clear_account(over) and not can_clear_account(at_work)
    assert not can_clear_account(replace(over, account_cleared_at=NOW))
    assert not can_clear_account(replace(over, taken_over=True))
