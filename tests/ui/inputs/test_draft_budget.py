"""What a job may cost: figures, the user's own past, and a budget that asks for a second word."""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QMessageBox

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import Budget, SavedConnection, Settings
from tests.canary import TOKEN
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.conftest import ACCOUNT
from tests.support.faulty_service import FaultyService
from tests.ui.inputs.conftest import DraftDriver

Until = Callable[..., Awaitable[None]]


@pytest.fixture
async def connected(tmp_path: Path, qtbot: Any) -> AsyncIterator[DraftDriver]:
    """A draft page with an account."""
    async with FaultyService(stand_ins.service(tmp_path / "service")) as api:
        environ = {"CLOUDFLARE_API_BASE_URL": api.url}
        program = await Program.open(
            tmp_path / "program", environ=environ, credentials=Credentials(environ=environ), practice_times=(0.0, 0.0)
        )
        await program.connections.save_cloudflare(ACCOUNT, TOKEN)
        driver = DraftDriver(program, qtbot)
        yield driver
        await driver.page.close_work()
        await program.close()


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Too much for a run without the queue."""
    path = tmp_path / "many.csv"
    path.write_text("question,answer\n" + "".join(f"question {n},answer {n}\n" for n in range(200)), encoding="utf-8")
    return path


def box(driver: DraftDriver) -> QMessageBox | None:
    return next((each for each in driver.page.findChildren(QMessageBox) if each.isVisible()), None)


async def test_above_the_budget_a_confirmation_is_asked(connected: DraftDriver, many: Path, until: Until) -> None:
    connected.new_draft(connection="cloudflare")
    connected.page.open_path(many)
    await until(connected.is_ready)
    assert connected.figures()[3][1].startswith("tokens · ") and connected.figures()[3][1].endswith(" neurons")
    connected.click(connected.page.check.options_button)
    fields = connected.page.check.options.budget
    assert fields.a_job.text() == "no limit"
    fields.unit.setCurrentIndex(1)
    fields.unit.activated.emit(1)
    fields.a_job.setValue(1.0)
    await until(lambda: connected.why_not().endswith("your budget for a job is 1 neurons."))
    assert Settings.load(connected.program.paths.settings).budget == Budget(a_job=1.0, unit="neurons")
    assert connected.is_ready()
    connected.click(connected.page.check.send_button)
    await until(lambda: box(connected) is not None)
    asked = box(connected)
    assert asked is not None and asked.text() == "Send above your budget?"
    asked.reject()
    await until(lambda: box(connected) is None)
    assert connected.job.state is JobState.DRAFT and connected.sent == []
    connected.click(connected.page.check.send_button)
    await until(lambda: box(connected) is not None)
    asked = box(connected)
    assert asked is not None
    next(button for button in asked.buttons() if button.text() == "Send anyway").click()
    await until(lambda: connected.sent != [])
    done = await connected.program.runner.wait(connected.sent[0])
    # What stands on this computer is not Cloudflare, whatever it is called: nothing is learned from it.
    connected.new_draft(connection="cloudflare")
    connected.page.open_path(many)
    await until(connected.is_ready)
    found = connected.state.preflight
    assert done.tokens > 0 and found is not None and found.learned_from == 0


async def test_what_was_spent_today_is_taken_from_what_is_free(
    connected: DraftDriver, many: Path, until: Until
) -> None:
    draft = connected.program.drafts.create(Kind.RANK, "This morning", "@cf/baai/bge-m3", "cloudflare")
    now = time.time()
    batch = Batch(draft.id, 1, BatchState.DONE, 1, 9, 1, sent_at=now, tokens=2_700_000)
    connected.program.ledger.save_plan(replace(draft, is_sent=True, sent_at=now, finished_at=now), [batch])
    connected.new_draft(connection="cloudflare")
    connected.page.open_path(many)
    await until(connected.is_ready)
    assert "of today's free use; 70 % left till " in connected.figures()[4][1]
    connected.program.change_settings(budget=Budget(a_day=0.03))
    connected.page.show_job(connected.job)
    assert connected.why_not().startswith("With what was sent since midnight UTC, this job may come to $0.03")


async def test_practice_costs_nothing_and_asks_nothing(driver: DraftDriver, many: Path, until: Until) -> None:
    driver.program.change_settings(budget=Budget(a_job=0.001, unit="neurons"))
    driver.new_draft()
    driver.page.open_path(many)
    await until(driver.is_ready)
    assert driver.why_not() == "Practice takes a few seconds."
    driver.click(driver.page.check.send_button)
    await until(lambda: driver.sent != [])
    await driver.program.runner.wait(driver.sent[0])


async def test_how_long_it_takes_is_this_users_own_past(connected: DraftDriver, many: Path, until: Until) -> None:
    connected.new_draft(connection="cloudflare")
    connected.page.open_path(many)
    await until(connected.is_ready)
    assert connected.why_not().startswith("Cloudflare says: usually within 5 minutes")
    for number, minutes in enumerate((4, 9)):
        draft = connected.program.drafts.create(connected.job.kind, f"Past {number}", connected.job.model, "cloudflare")
        batch = Batch(draft.id, 1, BatchState.DONE, 1, 200, 1)
        past = replace(draft, is_sent=True, sent_at=1_000.0, finished_at=1_000.0 + 60 * minutes, texts=200)
        connected.program.ledger.save_plan(past, [batch])
    connected.page.show_job(connected.job)
    await until(lambda: connected.why_not() == "Your jobs of this size usually take 4–9 min.")


async def test_estimates_say_that_they_were_learned(tmp_path: Path, many: Path, qtbot: Any, until: Until) -> None:
    root = tmp_path / "program"
    root.mkdir()
    seen = {
        "job": "before",
        "model": "@cf/baai/bge-m3",
        "kind": "rank",
        "estimated": {"latin": 1_000.0},
        "counted": 800,
    }
    (root / "calibration.json").write_text(json.dumps({"version": 1, "observations": [seen]}))
    program = await Program.open(root, environ={}, credentials=Credentials(environ={"CLOUDFLARE_API_TOKEN": TOKEN}))
    program.change_settings(connections=(SavedConnection("cloudflare", "Cloudflare", "cloudflare", ACCOUNT),))
    driver = DraftDriver(program, qtbot)
    driver.new_draft(connection="practice")
    driver.page.open_path(many)
    await until(driver.is_ready)
    by_rules = driver.state.preflight
    assert not driver.page.check.problem_bars.notes.isVisible()
    driver.new_draft(connection="cloudflare")
    driver.page.open_path(many)
    await until(lambda: driver.state.preflight is not None)
    learned = driver.state.preflight
    assert by_rules is not None and learned is not None
    middle = (by_rules.tokens_low + by_rules.tokens_high) / 2
    assert (learned.tokens_low, learned.tokens_high) == (round(middle * 0.72), round(middle * 0.88))
    notes = driver.page.check.problem_bars.notes
    assert notes.isVisible() and notes.text() == (
        "Tokens and price are estimated by what your last job like this took."
    )
    await driver.page.close_work()
    await program.close()
