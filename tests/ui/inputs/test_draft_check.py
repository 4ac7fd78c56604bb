"""What a draft comes to: connection, model, price, the budget, and why it cannot be sent."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind, Role
from cfbatch_gui.core.jobs.states import Batch, BatchState, JobState
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.workers_ai.catalogue import FREE_NEURONS_A_DAY
from cfbatch_gui.words.plans import headline
from tests.core.test_threads import ENDLESS
from tests.ui.conftest import Until
from tests.ui.connections import answer, answer_line, pick
from tests.ui.inputs.conftest import DraftDriver


async def test_a_connection_that_is_not_ready_is_named(driver: DraftDriver, questions: Path, until: Until) -> None:
    wanted: list[bool] = []
    driver.notices.connection_wanted.connect(lambda: wanted.append(True))
    await driver.open(questions, until)
    driver.click(driver.page.check.options_button)
    choice = driver.page.check.options.connection
    assert [choice.itemText(index) for index in range(choice.count())] == ["Practice service", "Cloudflare (not ready)"]
    pick(choice, "cloudflare")
    await until(lambda: driver.job.connection == "cloudflare" and driver.why_not() == "Cloudflare: Not connected yet.")
    assert not driver.page.check.send_button.isEnabled()
    driver.click(driver.page.check.cure)
    assert wanted == [True]


async def test_a_model_that_cannot_rank_is_refused_with_its_cure(
    driver: DraftDriver, questions: Path, until: Until
) -> None:
    await driver.open(questions, until, kind=Kind.EMBED)
    driver.choose_kind(Kind.EMBED)
    await until(driver.is_ready)
    driver.click(driver.page.check.options_button)
    options = driver.page.check.options
    assert not options.only_model.isVisible()
    pick(options.model, "")
    await answer_line("@cf/baai/bge-small-en-v1.5", until)
    await until(lambda: options.model.value() == "@cf/baai/bge-small-en-v1.5" and driver.is_ready())
    driver.choose_kind(Kind.RANK)
    await until(lambda: "cannot rank" in driver.why_not())
    assert not driver.page.check.send_button.isEnabled()
    driver.click(driver.page.check.cure)
    await until(driver.is_ready)
    assert driver.job.model == "@cf/baai/bge-m3"
    assert options.only_model.isVisible() and not options.model.isVisible()


async def test_counts_are_shown_before_tokens_are_counted_which_another_choice_stops(
    driver: DraftDriver, questions: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    examine, ended = driver.program.examine, []

    def count_without_end(job_id: str) -> None:
        try:
            with driver.program.folder(job_id).open() as database:
                database.execute(ENDLESS)
        finally:
            ended.append(job_id)

    monkeypatch.setattr(driver.program, "examine", count_without_end)
    driver.begin(questions)
    await until(lambda: driver.state.is_read)
    assert (driver.job.queries, driver.job.texts, driver.state.preflight) == (2, 4, None)
    monkeypatch.setattr(driver.program, "examine", examine)
    driver.choose_role(1, Role.KEEP)
    driver.choose_role(1, Role.CONTEXT)
    await until(driver.is_ready)
    assert set(ended) == {driver.job.id}


async def test_above_the_budget_a_confirmation_is_asked(connected: DraftDriver, many: Path, until: Until) -> None:
    await connected.open(many, until, connection="cloudflare")
    wanted = Budget(a_job=1.0, unit="neurons")
    connected.program.change_settings(budget=wanted)
    connected.page.show_job(connected.job)
    await until(lambda: connected.why_not().endswith("your budget for a job is 1 neurons."))
    assert connected.is_ready()
    connected.click(connected.page.check.send_button)
    assert "your budget for a job is 1 neurons" in await answer(connected.page, "Cancel", until)
    assert connected.job.state is JobState.DRAFT and connected.sent == []
    connected.click(connected.page.check.send_button)
    await answer(connected.page, "Send anyway", until)
    await until(lambda: connected.sent != [])
    done = await connected.program.runner.wait(connected.sent[0])
    # What stands on this computer is not Cloudflare, whatever it is called: nothing is learned from it.
    await connected.open(many, until, connection="cloudflare")
    found = connected.state.preflight
    assert done.tokens > 0 and found is not None and found.learned_from == 0


async def test_a_time_is_said_of_few_batches_only(driver: DraftDriver, questions: Path, until: Until) -> None:
    await driver.open(questions, until)
    found = driver.state.preflight
    assert found is not None
    few, many = (headline(replace(found, batches=found.batches * count), driver.job, None) for count in (1, 150))
    assert few.startswith(f"{many} · ")


async def test_what_was_spent_today_is_taken_from_what_is_free(
    connected: DraftDriver, many: Path, until: Until
) -> None:
    draft = connected.program.drafts.create(Kind.RANK, "This morning", "@cf/baai/bge-m3", "cloudflare")
    now = time.time()
    batch = Batch(draft.id, 1, BatchState.DONE, 1, 9, 1, sent_at=now, tokens=2_700_000)
    connected.program.ledger.put(replace(draft, is_sent=True, sent_at=now), [batch])
    await connected.open(many, until, connection="cloudflare")
    assert round(connected.state.spent.free_left / FREE_NEURONS_A_DAY, 1) == 0.7
    connected.program.change_settings(budget=Budget(a_day=0.03))
    connected.page.show_job(connected.job)
    assert connected.why_not().startswith("With what was sent since midnight UTC, this job may come to $0.03")
