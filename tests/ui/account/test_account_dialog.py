"""The dialog “In your account…”: what it lists, taking over with and without the file, removing, and its errors."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job, JobState, account_progress
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.jobs.elsewhere import AccountDialog, TakeOverDialog
from tests.screen.stage import Stage
from tests.screen.worker_stage import WorkerStage
from tests.support import faults
from tests.ui.conftest import Until
from tests.ui.connections import answer, click, entries, offered, shown

TEXTS = "id,text\n" + "".join(f"{n},a lamp of brass {n}\n" for n in range(20))


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "lamps.csv"
    path.write_text(TEXTS, encoding="utf-8")
    return path


async def sent_elsewhere(tmp_path: Path, worker: WorkerStage, path: Path, until: Until) -> Job:
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


async def account_dialog(stage: Stage, until: Until) -> AccountDialog:
    """As the menu opens it, when it has its answer."""
    job_menu = stage.workspace.menus._job
    job_menu.aboutToShow.emit()
    entries(job_menu)["In your account…"].trigger()
    dialog = await shown(AccountDialog, until)
    await until(lambda: not stage.workspace.tasks.is_running("account list"))
    return dialog


def cells(dialog: AccountDialog) -> list[list[str]]:
    return [[dialog.rows.text(row, column) for column in range(5)] for row in range(dialog.rows.rowCount())]


async def test_an_empty_account_and_one_without_a_worker_say_so(stage: Stage, until: Until) -> None:
    dialog = await account_dialog(stage, until)
    assert dialog.nothing.isVisible() and dialog.nothing.sentence().startswith("Nothing is in this account.")
    assert not dialog.take_button.isEnabled() and dialog.take_button.toolTip() == "Choose a job first."
    assert not dialog.problem.isVisible()
    dialog.close()
    await until(lambda: not any(isinstance(each, AccountDialog) for each in QApplication.topLevelWidgets()))

    await stage.program.connections.remove(stage.program.address_book.saved()[1].id)
    dialog = await account_dialog(stage, until)
    assert dialog.nothing.sentence().startswith("A Worker of your own can collect answers")
    assert not dialog.take_button.isVisible() and not dialog.connection.isVisible()
    click(dialog.nothing.button)
    await until(stage.workspace.settings.page.isVisible)


async def test_a_job_is_taken_over_with_its_file_and_opened(
    stage: Stage, worker: WorkerStage, tmp_path: Path, texts: Path, until: Until
) -> None:
    job = await sent_elsewhere(tmp_path, worker, texts, until)
    dialog = await account_dialog(stage, until)
    assert cells(dialog) == [["Lamps", "Vectors", "1", "just now", "not here"]]
    assert dialog.table.hasFocus() and dialog.take_button.text() == "Take over…"
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    taking = await shown(TakeOverDialog, until)
    assert not taking.files.kind.isVisible()  # it is known
    taking.files.open(texts)
    await until(lambda: taking.files.inputs() is not None)
    click(taking.take_button)
    await until(lambda: stage.workspace.window.library.opened_job() == job.id)
    await until(lambda: not any(isinstance(each, AccountDialog) for each in QApplication.topLevelWidgets()))
    known = await stage.program.runner.wait(job.id)
    assert known.state is JobState.DONE and known.taken_over and known.source_name == "lamps.csv"
    actions = offered(stage.workspace.job_page.header.more.menu())
    assert "Duplicate" in actions and not {"Collect in my account", "Delete the copies in my account"} & actions
    dialog = await account_dialog(stage, until)
    assert cells(dialog)[0][4] == "Finished" and dialog.take_button.text() == "Open"


async def test_a_job_is_taken_over_without_its_file(
    stage: Stage, worker: WorkerStage, tmp_path: Path, texts: Path, until: Until
) -> None:
    job = await sent_elsewhere(tmp_path, worker, texts, until)
    dialog = await account_dialog(stage, until)
    click(dialog.take_button)
    taking = await shown(TakeOverDialog, until)
    other = tmp_path / "other.csv"
    other.write_text("id,text\n1,other\n", encoding="utf-8")
    taking.files.open(other)
    await until(lambda: taking.files.inputs() is not None)
    click(taking.take_button)
    await until(taking.problem.isVisible)
    assert taking.problem.text().startswith("This is not the file that was sent")
    assert stage.program.ledger.jobs() == () and taking.take_button.isEnabled()
    click(taking.files.removes[0])
    assert not taking.problem.isVisible()
    click(taking.take_button)
    await until(lambda: stage.workspace.window.library.opened_job() == job.id)
    assert (await stage.program.runner.wait(job.id)).has_named_texts
    await until(lambda: stage.workspace.job_page.job() == stage.program.ledger.job(job.id))
    assert not {"Duplicate", "Copy as curl"} & offered(stage.workspace.job_page.header.more.menu())


async def test_removing_asks_and_says_what_is_lost(
    stage: Stage, worker: WorkerStage, tmp_path: Path, texts: Path, until: Until
) -> None:
    await sent_elsewhere(tmp_path, worker, texts, until)
    dialog = await account_dialog(stage, until)
    for words in ("Cancel", "Remove"):
        assert len(worker.room.shards) == 1
        click(dialog.remove_button)
        said = await answer(dialog, words, until)
        assert "Answers that no computer has fetched yet are lost" in said
    await until(lambda: dialog.nothing.isVisible() and dialog.nothing.sentence().startswith("Nothing is"))
    assert worker.room.shards == {}


async def test_an_error_is_a_sentence_with_one_button(stage: Stage, worker: WorkerStage, until: Until) -> None:
    worker.room.put("abcdefgh", "Orders, spring", kind="rank", batches=12)
    worker.service.follow(faults.page(on="check", times=1))
    dialog = await account_dialog(stage, until)
    assert dialog.problem.isVisible() and "sign in first" in dialog.problem.text()
    (again,) = dialog.problem.links()
    assert again.text() == "Try again" and not dialog.table.isVisible()
    click(again)
    await until(dialog.table.isVisible)
    assert cells(dialog)[0][:3] == ["Orders, spring", "Ranking", "12"] and not dialog.problem.isVisible()
