"""The user's account in the whole window: a job whose answers it collects, and the dialog “In your account…”."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, JobState, account_progress
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai import connection_kinds
from cfbatch_gui.ui.jobs.elsewhere import AccountDialog
from cfbatch_gui.ui.jobs.progress_view import ProgressView
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.words.states import AnswerPlace, state_words
from tests.screen.stage import Stage
from tests.screen.worker_stage import WorkerStage, on_stage, served
from tests.support import faults
from tests.support.sentences import shows
from tests.ui.connections import answer, click, entries, offered, shown, until


@pytest.fixture
async def worker(tmp_path: Path) -> AsyncIterator[WorkerStage]:
    async with served(tmp_path / "service") as worker:
        yield worker


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme, worker: WorkerStage) -> AsyncIterator[Stage]:
    async with on_stage(tmp_path / "data", theme, worker) as stage:
        yield stage
        await until(lambda: not stage.workspace.tasks.is_running("connection"))


DIRECT, COLLECT, CLEAR = "Ask the service directly", "Collect in my account", "Delete the copies in my account"
AT_SERVICE, IN_ACCOUNT = (state_words(each).text for each in (AnswerPlace.AT_SERVICE, AnswerPlace.IN_ACCOUNT))


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Texts for three batches of a Worker whose batches are small."""
    monkeypatch.setattr(connection_kinds, "MAX_FREE_WORKER_BODY_BYTES", 100_000)
    path = tmp_path / "texts.csv"
    words = "an orange cloud over the harbour with a small boat and many words "
    path.write_text("id,text\n" + "".join(f'id-{n},"{n} {words * 60}"\n' for n in range(60)), encoding="utf-8")
    return path


async def handed_over(stage: Stage, worker: WorkerStage, harbour: Path) -> Job:
    """Send a job, open its page, and wait until the account has all of it."""
    job = await worker.send(stage.program, "Harbour", harbour, Kind.EMBED)
    stage.workspace.show_jobs()
    stage.workspace.open_job(job.id)
    await until(lambda: account_progress(stage.program.ledger.job(job.id)).lid_may_close)
    await until(lambda: progress(stage).account.line.text() == message("all_is_with_your_account"))
    return stage.program.ledger.job(job.id)


def progress(stage: Stage) -> ProgressView:
    return stage.workspace.job_page.progress


def menu(stage: Stage) -> QMenu:
    return stage.workspace.job_page.header.more.menu()


def states(stage: Stage) -> list[str]:
    rows = progress(stage).table.batches
    column = next(index for index, each in enumerate(rows.columns) if each.icon)
    return [rows.text(index, column) for index in range(rows.rowCount())]


def figures(stage: Stage) -> list[str]:
    """How many batches are at the service, in the account, and here."""
    return [label.text().split()[0] for label in progress(stage).account.figures if label.isVisible()]


async def test_from_the_service_to_here_by_way_of_the_account(stage: Stage, worker: WorkerStage, harbour: Path) -> None:
    job = await handed_over(stage, worker, harbour)
    page = stage.workspace.job_page
    assert page.header.state.text() == AT_SERVICE and states(stage) == [AT_SERVICE] * 3
    assert figures(stage) == ["3", "0", "0"] and not progress(stage)._foot.isVisible()
    assert DIRECT in offered(menu(stage)) and COLLECT not in offered(menu(stage))
    # A look that has begun would see the first batch at work and the last one done.
    await until(lambda: not worker.room.looking)
    worker.room.collects = lambda number: number != 2
    worker.room.gives.clear()
    worker.finish()
    click(page.check_button)
    await until(lambda: states(stage) == [IN_ACCOUNT, AT_SERVICE, IN_ACCOUNT])
    assert page.header.state.text() == IN_ACCOUNT and figures(stage)[1] == "2"
    assert account_progress(stage.program.ledger.job(job.id)).bytes_in_account > 50_000
    worker.room.gives.set()
    worker.room.collects = lambda number: True
    click(page.check_button)
    await stage.program.runner.wait(job.id)
    await until(lambda: page.header.state.text() == state_words(JobState.DONE).text)
    await until(lambda: worker.room.shards == {})  # deleted there, once all is here
    await until(lambda: CLEAR not in offered(menu(stage)))


async def test_the_service_is_asked_directly_and_the_account_again(
    stage: Stage, worker: WorkerStage, harbour: Path
) -> None:
    job = await handed_over(stage, worker, harbour)
    worker.room.collects = lambda number: False
    worker.finish()
    entries(menu(stage))[DIRECT].trigger()
    await until(lambda: stage.program.ledger.job(job.id).state is JobState.DONE)  # though the account has nothing
    other = await worker.send(stage.program, "Another", harbour, Kind.EMBED)
    stage.workspace.open_job(other.id)
    await until(lambda: stage.workspace.job_page.header.title() == "Another" and DIRECT in offered(menu(stage)))
    await stage.program.runner.pause(other.id)
    entries(menu(stage))[DIRECT].trigger()
    await until(lambda: COLLECT in offered(menu(stage)))
    entries(menu(stage))[COLLECT].trigger()
    await until(lambda: account_progress(stage.program.ledger.job(other.id)).lid_may_close)


async def test_closing_warns_of_what_is_not_handed_over_and_of_nothing_else(
    stage: Stage, worker: WorkerStage, harbour: Path
) -> None:
    job = await handed_over(stage, worker, harbour)
    assert await stage.workspace.menus.may_close()
    assert not stage.program.settings.seen_close_note  # it is still told of jobs that it concerns

    first, *others = stage.program.ledger.job(job.id).batches
    waiting = (replace(first, shard=0, handed_over_at=0.0), *others)
    await stage.program.runner.stop(job.id)
    await stage.program.store.change(job.id, lambda now: replace(now, batches=waiting))
    stage.workspace.show_jobs()
    await until(progress(stage)._foot.isVisible)
    stage.workspace.window.close_requested.emit()

    await answer(stage.workspace.window, "Cancel")


async def test_copies_that_are_kept_can_be_deleted(stage: Stage, worker: WorkerStage, harbour: Path) -> None:
    saved = stage.program.address_book.saved()[1]
    await stage.program.connections.save(replace(saved, keep_days=7))
    job = await handed_over(stage, worker, harbour)
    worker.finish()
    click(stage.workspace.job_page.check_button)
    await stage.program.runner.wait(job.id)
    page = stage.workspace.job_page
    await until(lambda: CLEAR in offered(menu(stage)))
    entries(menu(stage))["Details"].trigger()
    kept = page.details.lines()
    entries(menu(stage))[CLEAR].trigger()
    await until(lambda: worker.room.shards == {})
    await until(stage.workspace.window.notices.texts)
    await until(lambda: CLEAR not in offered(menu(stage)))
    assert len(set(kept) - set(page.details.lines())) == 1, "it says that they are gone"


TEXTS = "id,text\n" + "".join(f"{n},a lamp of brass {n}\n" for n in range(20))


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "lamps.csv"
    path.write_text(TEXTS, encoding="utf-8")
    return path


async def sent_elsewhere(tmp_path: Path, worker: WorkerStage, path: Path) -> Job:
    """Another computer hands a job over and is switched off; its answers wait in the account."""
    here = worker.connection_id
    program = await Program.open(tmp_path / "elsewhere", environ={})
    await worker.connect(program)
    job = await worker.send(program, "Lamps", path, Kind.EMBED)
    await until(lambda: account_progress(program.ledger.job(job.id)).lid_may_close)
    await program.close()
    worker.finish()
    worker.connection_id = here
    return job


async def account_dialog(stage: Stage) -> AccountDialog:
    """As the menu opens it, when it has its answer."""
    job_menu = stage.workspace.menus._job
    job_menu.aboutToShow.emit()
    entries(job_menu)["In your account…"].trigger()
    dialog = await shown(AccountDialog)
    await until(lambda: not dialog.tasks.is_running("look"))
    return dialog


def cells(dialog: AccountDialog) -> list[list[str]]:
    return [[dialog.rows.text(row, column) for column in range(5)] for row in range(dialog.rows.rowCount())]


async def test_an_empty_account_and_one_without_a_worker_say_so(stage: Stage) -> None:
    dialog = await account_dialog(stage)
    assert dialog.places.empty.isVisible() and (empty := dialog.places.empty.sentence())
    assert not dialog.take_button.isEnabled() and dialog.take_button.toolTip()
    assert not dialog.problem.isVisible()
    dialog.close()
    await until(lambda: not any(isinstance(each, AccountDialog) for each in QApplication.topLevelWidgets()))

    await stage.program.connections.remove(stage.program.address_book.saved()[1].id)
    stage.program.change_settings(for_developers=True)
    dialog = await account_dialog(stage)
    assert dialog.places.empty.sentence() != empty
    assert not dialog.take_button.isVisible() and not dialog.connection.isVisible()


async def test_a_job_is_taken_over_with_its_file_and_opened(
    stage: Stage, worker: WorkerStage, tmp_path: Path, texts: Path
) -> None:
    job = await sent_elsewhere(tmp_path, worker, texts)
    dialog = await account_dialog(stage)
    ((*found, _, here),) = cells(dialog)
    assert (*found, here) == ("Lamps", "Vectors", "1", "not here")
    assert dialog.table.hasFocus() and dialog.files.isVisible()
    assert not dialog.files.kind.isVisible()  # it is known
    dialog.files.open(texts)
    await until(lambda: dialog.files.inputs() is not None)
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    await until(lambda: stage.workspace.window.library.opened_job() == job.id)
    await until(lambda: not any(isinstance(each, AccountDialog) for each in QApplication.topLevelWidgets()))
    known = await stage.program.runner.wait(job.id)
    assert known.state is JobState.DONE and known.taken_over and known.source_name == "lamps.csv"
    actions = offered(stage.workspace.job_page.header.more.menu())
    assert "Duplicate" in actions and not {COLLECT, CLEAR} & actions
    dialog = await account_dialog(stage)
    assert cells(dialog)[0][4] == state_words(JobState.DONE).text and not dialog.files.isVisible()
    click(dialog.take_button)
    await until(lambda: not any(isinstance(each, AccountDialog) for each in QApplication.topLevelWidgets()))


async def test_a_job_is_taken_over_without_its_file(
    stage: Stage, worker: WorkerStage, tmp_path: Path, texts: Path
) -> None:
    job = await sent_elsewhere(tmp_path, worker, texts)
    dialog = await account_dialog(stage)
    other = tmp_path / "other.csv"
    other.write_text("id,text\n1,other\n", encoding="utf-8")
    dialog.files.open(other)
    await until(lambda: dialog.files.inputs() is not None)
    click(dialog.take_button)
    await until(dialog.problem.isVisible)
    assert shows(dialog.problem.text(), "is_not_file_was_sent_or")
    assert stage.program.ledger.jobs() == () and dialog.take_button.isEnabled()
    click(dialog.files.remove)
    assert not dialog.problem.isVisible()
    click(dialog.take_button)
    await until(lambda: stage.workspace.window.library.opened_job() == job.id)
    assert (await stage.program.runner.wait(job.id)).has_named_texts
    await until(lambda: stage.workspace.job_page.job() == stage.program.ledger.job(job.id))
    assert "Duplicate" not in offered(stage.workspace.job_page.header.more.menu())


async def test_removing_asks_and_says_what_is_lost(
    stage: Stage, worker: WorkerStage, tmp_path: Path, texts: Path
) -> None:
    await sent_elsewhere(tmp_path, worker, texts)
    dialog = await account_dialog(stage)
    for words in ("Cancel", "Remove"):
        assert len(worker.room.shards) == 1
        click(dialog.remove_button)
        await answer(dialog, words)
    await until(dialog.places.empty.isVisible)
    assert worker.room.shards == {}


async def test_after_an_error_it_can_be_looked_again(stage: Stage, worker: WorkerStage) -> None:
    worker.room.put("abcdefgh", "Orders, spring", kind="rank", batches=12)
    worker.service.follow(faults.page(on="check", times=1))
    dialog = await account_dialog(stage)
    assert dialog.problem.isVisible() and shows(dialog.problem.text(), "something_other_than_title_answered_if")
    assert not dialog.table.isVisible()
    click(dialog.look_button)
    await until(dialog.table.isVisible)
    assert cells(dialog)[0][:3] == ["Orders, spring", "Ranking", "12"] and not dialog.problem.isVisible()
