"""A job whose answers the user's account collects, in the whole window: its page, its actions, and closing."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, JobState, account_progress
from cfbatch_gui.core.workers_ai import connection_kinds
from cfbatch_gui.ui.jobs.progress_view import ProgressView
from tests.screen.stage import Stage
from tests.screen.worker_stage import WorkerStage
from tests.ui.conftest import Until
from tests.ui.connections import answer, click, entries, offered

CLOSE = "You can close this computer"


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Texts for three batches of a Worker whose batches are small."""
    monkeypatch.setattr(connection_kinds, "MAX_FREE_WORKER_BODY_BYTES", 100_000)
    path = tmp_path / "texts.csv"
    words = "an orange cloud over the harbour with a small boat and many words "
    path.write_text("id,text\n" + "".join(f'id-{n},"{n} {words * 60}"\n' for n in range(60)), encoding="utf-8")
    return path


async def handed_over(stage: Stage, worker: WorkerStage, texts: Path, until: Until) -> Job:
    """Send a job, open its page, and wait until the account has all of it."""
    job = await worker.send(stage.program, "Harbour", texts, Kind.EMBED)
    stage.workspace.show_jobs()
    stage.workspace.open_job(job.id)
    await until(lambda: account_progress(stage.program.ledger.job(job.id)).lid_may_close)
    await until(lambda: shown(stage).account.line.text().startswith("All that is not here yet"))
    return stage.program.ledger.job(job.id)


def shown(stage: Stage) -> ProgressView:
    return stage.workspace.job_page.progress


def menu(stage: Stage) -> QMenu:
    return stage.workspace.job_page.header.more.menu()


def states(stage: Stage) -> list[str]:
    rows = shown(stage).table.batches
    column = [each.name for each in rows.columns].index("state")
    return [rows.text(index, column) for index in range(rows.rowCount())]


def figures(stage: Stage) -> list[str]:
    return [label.text() for label in shown(stage).account.figures if label.isVisible()]


async def test_from_the_service_to_here_by_way_of_the_account(
    stage: Stage, worker: WorkerStage, texts: Path, until: Until
) -> None:
    job = await handed_over(stage, worker, texts, until)
    page = stage.workspace.job_page
    assert page.header.state.text() == "At the service" and states(stage) == ["At the service"] * 3
    assert figures(stage) == ["3 at the service", "0 waiting in your account", "0 here"]
    assert CLOSE in shown(stage).account.line.text() and not shown(stage)._foot.isVisible()
    assert page.check_button.text() == "Fetch now"
    assert "Ask the service directly" in offered(menu(stage)) and "Collect in my account" not in offered(menu(stage))
    # A look that has begun would see the first batch at work and the last one done.
    await until(lambda: not worker.room.looking)
    worker.room.collects = lambda number: number != 2
    worker.room.gives.clear()
    worker.finish()
    click(page.check_button)
    await until(lambda: states(stage) == ["Waiting in your account", "At the service", "Waiting in your account"])
    assert page.header.state.text() == "Waiting in your account"
    waiting = account_progress(stage.program.ledger.job(job.id)).bytes_in_account
    assert waiting > 50_000 and figures(stage)[1].startswith("2 waiting in your account · ")
    worker.room.gives.set()
    worker.room.collects = lambda number: True
    click(page.check_button)
    await stage.program.runner.wait(job.id)
    await until(lambda: page.header.state.text() == "Finished")
    page.tabs.choose("details")
    assert page.details.as_text().count(": Here, ") == 3
    await until(lambda: worker.room.shards == {})  # deleted there, once all is here
    await until(lambda: "copies in your account" not in page.header.facts())
    assert "Delete the copies in my account" not in offered(menu(stage))


async def test_the_service_is_asked_directly_and_the_account_again(
    stage: Stage, worker: WorkerStage, texts: Path, until: Until
) -> None:
    job = await handed_over(stage, worker, texts, until)
    worker.room.collects = lambda number: False
    worker.finish()
    entries(menu(stage))["Ask the service directly"].trigger()
    await until(lambda: stage.program.ledger.job(job.id).state is JobState.DONE)  # though the account has nothing
    other = await worker.send(stage.program, "Another", texts, Kind.EMBED)
    stage.workspace.open_job(other.id)
    await until(
        lambda: (
            stage.workspace.job_page.header.title() == "Another" and "Ask the service directly" in offered(menu(stage))
        )
    )
    await stage.program.runner.pause(other.id)
    entries(menu(stage))["Ask the service directly"].trigger()
    await until(lambda: "Collect in my account" in offered(menu(stage)))
    entries(menu(stage))["Collect in my account"].trigger()
    await until(lambda: account_progress(stage.program.ledger.job(other.id)).lid_may_close)


async def test_closing_warns_of_what_is_not_handed_over_and_of_nothing_else(
    stage: Stage, worker: WorkerStage, texts: Path, until: Until
) -> None:
    job = await handed_over(stage, worker, texts, until)
    assert await stage.workspace.menus.may_close()
    assert not stage.program.settings.seen_close_note  # it is still told of jobs that it concerns

    first, *others = stage.program.ledger.job(job.id).batches
    waiting = (replace(first, shard=0, handed_over_at=0.0), *others)
    await stage.program.runner.stop(job.id)
    await stage.program.store.change(job.id, lambda now: replace(now, batches=waiting))
    stage.workspace.show_jobs()
    await until(lambda: shown(stage).account.line.text().startswith("1 batch is not handed over yet."))
    assert shown(stage)._foot.isVisible()
    stage.workspace.window.close_requested.emit()

    words = await answer(stage.workspace.window, "Cancel", until)
    assert words.endswith("What your account was not handed yet is handed over then.")


async def test_copies_that_are_kept_can_be_deleted(
    stage: Stage, worker: WorkerStage, texts: Path, until: Until
) -> None:
    saved = stage.program.address_book.saved()[1]
    await stage.program.connections.save(replace(saved, keep_days=7))
    job = await handed_over(stage, worker, texts, until)
    worker.finish()
    click(stage.workspace.job_page.check_button)
    await stage.program.runner.wait(job.id)
    page = stage.workspace.job_page
    await until(lambda: page.header.facts().endswith("copies in your account"))
    page.tabs.choose("details")
    kept = dict(page.details.lines())["In your account"]
    assert kept.startswith("3 batches handed over · copies kept until ")
    entries(menu(stage))["Delete the copies in my account"].trigger()
    await until(lambda: worker.room.shards == {})
    await until(lambda: "results are here" in " ".join(stage.workspace.window.notices.texts()))
    await until(lambda: "Delete the copies in my account" not in offered(menu(stage)))
    assert "copies deleted " in dict(page.details.lines())["In your account"]
