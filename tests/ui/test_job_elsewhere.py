"""Jobs that leave the usual way: run at once, copied as code, begun by someone else; and what has left the computer."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import Action
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, JobState
from cfbatch_gui.ui.jobs.elsewhere import AttachDialog
from cfbatch_gui.ui.settings import DATA, SettingsPage, TrafficPage
from cfbatch_gui.ui.theme import Scheme, Theme
from tests.canary import TOKEN
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.conftest import ACCOUNT
from tests.screen.stage import Stage, opened
from tests.support.faulty_service import FaultyService
from tests.support.keyrings import MemoryKeyring
from tests.ui.conftest import Until
from tests.ui.connections import choose_path, click, entries, shown
from tests.ui.job_page_driver import MODEL, TIED, JobPageDriver

REFUSED = "This model takes no batches."
QUERIES = {
    "reset my password": ("Choose a new password", "Invoices"),
    "cancel an order": ("You can cancel it", "Reset it"),
}
BODY = {
    "requests": [
        {"query": query, "contexts": [{"text": text} for text in contexts]} for query, contexts in QUERIES.items()
    ]
}
CODE = {
    "Copy as Python": ("import", "CLOUDFLARE_API_TOKEN", "batch-0001.json"),
    "Copy as Worker code": ("env.AI.run", "queueRequest"),
    "Copy as curl": ("curl ", "$CLOUDFLARE_API_TOKEN", "batch-0001.json"),
}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[FaultyService]:
    async with FaultyService(stand_ins.service(tmp_path / "service")) as faulty:
        yield faulty


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme, service: FaultyService, until: Until) -> AsyncIterator[Stage]:
    """The whole window, with an account that is connected."""
    environ = {"CLOUDFLARE_API_BASE_URL": service.url}
    credentials = Credentials(MemoryKeyring(), environ)
    async with opened(tmp_path / "data", Theme(Scheme.LIGHT), environ=environ, credentials=credentials) as stage:
        await stage.program.connections.save_cloudflare(ACCOUNT, TOKEN)
        yield stage
        for job in stage.program.ledger.jobs():
            await stage.program.runner.wait(job.id)
        await until(lambda: not stage.workspace.tasks.is_running("connection"))


async def by_curl(service: FaultyService, body: object = BODY) -> str:
    """What someone's own script gets for a batch."""
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            f"{service.url}/accounts/{ACCOUNT}/ai/run/{MODEL}?queueRequest=true",
            headers={"Authorization": f"Bearer {TOKEN}"},
            json=body,
        )
    return answer.text


async def test_a_batch_that_the_queue_did_not_take_is_run_synchronously(driver: JobPageDriver, until: Until) -> None:
    job = await driver.finished(TIED, Kind.RANK)
    refused = replace(
        job.batches[0],
        state=BatchState.FAILED,
        request_id="",
        error=REFUSED,
        error_action=str(Action.RUN_SYNCHRONOUSLY),
        tokens=0,
    )
    await driver.show(driver.pretend(job, [refused]))
    (bar,) = driver.page.progress.trouble_bars
    assert REFUSED in bar.text() and [link.text() for link in bar.links()] == ["Run at once"]
    QTest.mouseClick(bar.links()[0], Qt.MouseButton.LeftButton)
    await until(lambda: driver.program.ledger.job(job.id).state is JobState.DONE)
    assert all(batch.at_once for batch in driver.program.ledger.job(job.id).batches)
    await driver.idle()


async def test_a_job_is_copied_as_code_with_its_requests(driver: JobPageDriver, until: Until, tmp_path: Path) -> None:
    job = await driver.finished(TIED, Kind.RANK)
    await driver.show(job)
    for entry, marks in CODE.items():
        entries(driver.page.header.more.menu())[entry].trigger()
        copied = QGuiApplication.clipboard().text()
        assert all(mark in copied for mark in marks), copied
        assert driver.notices.texts()[0].startswith("Copied.")
    target = tmp_path / "code"
    target.mkdir()
    bar = driver.notices.bars()[0]
    QTest.mouseClick(bar.links()[0], Qt.MouseButton.LeftButton)
    await choose_path(driver.page, target, until)
    await until(lambda: "Wrote 1 file to “code”." in driver.notices.texts())
    body = json.loads((target / "batch-0001.json").read_bytes())
    assert len(body["requests"]) == 2
    QGuiApplication.clipboard().clear()
    await driver.idle()


async def test_a_job_begun_by_curl_is_added_and_its_results_shown(
    stage: Stage, service: FaultyService, until: Until
) -> None:
    answer = await by_curl(service)
    request_id = json.loads(answer)["result"]["request_id"]
    stage.workspace.menus.attach()
    dialog = await shown(AttachDialog, until)
    await until(lambda: dialog.connection.count() == 2)
    assert dialog.connection.currentText() == "Cloudflare" and not dialog.add_button.isEnabled()
    dialog.text.setPlainText("good morning!")
    assert "no request ID" in dialog.understood.text() and not dialog.add_button.isEnabled()
    dialog.text.setPlainText(f"$ curl https://example.org …\n{answer}\n")
    assert dialog.understood.text() == "There is a request ID in it." and dialog.model.text() == MODEL
    click(dialog.add_button)
    await until(lambda: [job.state for job in stage.program.ledger.jobs()] == [JobState.DONE])
    (job,) = stage.program.ledger.jobs()
    assert job.attached and job.state is JobState.DONE and job.texts == 4
    assert job.name.startswith("Added job, ") and job.batches[0].request_id == request_id
    await until(lambda: stage.workspace.window.library.opened_job() == job.id)
    await until(lambda: stage.person.sees("Query 1"))
    assert not entries(stage.workspace.job_page.header.more.menu())["Duplicate"].isEnabled()
    await until(lambda: not stage.workspace.results.pages["ranking"].view.tasks.running())


async def test_what_leaves_this_computer_is_listed(stage: Stage, service: FaultyService, until: Until) -> None:
    window, workspace = stage.workspace.window, stage.workspace
    window.notices.connection_wanted.emit()
    await until(lambda: isinstance(window.pages.currentWidget(), SettingsPage))
    workspace.settings.page.choose(DATA)
    click(workspace.settings.page.traffic_link)
    await until(lambda: isinstance(window.pages.currentWidget(), TrafficPage))
    page = workspace.settings.traffic
    await until(lambda: not page.tasks.is_running("read"))
    assert page.empty.text() == "Nothing has left this computer." and page.empty.isVisible()
    await stage.program.connections.check("cloudflare", MODEL)
    click(page.refresh_button)
    await until(page.rows.rows)
    (row,) = page.rows.rows()
    assert row.host in service.url and row.connection == "cloudflare" and row.count >= 1
    cells = [str(page.rows.index(0, place).data()) for place in range(page.rows.columnCount())]
    assert cells[1:3] == ["Cloudflare", "Tests and lists of models"] and not page.empty.isVisible()
    click(page.done_button)
    assert window.pages.currentWidget() is workspace.settings.page


async def test_a_synchronous_request_of_unknown_outcome_asks_for_no_id(driver: JobPageDriver) -> None:
    job = await driver.finished(TIED, Kind.RANK)
    lost = replace(
        job.batches[0], state=BatchState.OUTCOME_UNKNOWN, at_once=True, request_id="", error="No answer came."
    )
    await driver.show(driver.pretend(replace(job, finished_at=0.0), [lost]))
    (card,) = driver.page.progress.cards.values()
    assert not card.id_field.isVisible() and not card.adopt_button.isVisible()
    assert card.again_button.isVisible() and card.dismiss_button.isVisible()
    await driver.idle()


async def test_queries_and_contexts_of_two_files_and_a_folder_of_texts(
    stage: Stage, service: FaultyService, until: Until, tmp_path: Path
) -> None:
    shared = ("Choose a new password", "Invoices")
    body = {"requests": [{"query": query, "contexts": [{"text": text} for text in shared]} for query in QUERIES]}
    queries, contexts, folder = tmp_path / "queries.csv", tmp_path / "answers.csv", tmp_path / "texts"
    queries.write_text("question\n" + "".join(f"{query}\n" for query in QUERIES), encoding="utf-8")
    contexts.write_text("answer\n" + "".join(f"{text}\n" for text in shared), encoding="utf-8")
    folder.mkdir()
    for number, text in enumerate(shared):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    request_id = json.loads(await by_curl(service, body))["result"]["request_id"]
    stage.workspace.menus.attach()
    dialog = await shown(AttachDialog, until)
    await until(lambda: dialog.connection.count() == 2)
    dialog.text.setPlainText(request_id)
    files = dialog.files
    files.open(folder)
    await until(files.inputs)
    assert files.kind.value() == Kind.EMBED and files.names[0].whole_text() == "texts"
    click(files.removes[0])
    assert files.choose_folder.isVisible() and files.inputs() is None and dialog.add_button.isEnabled()
    files.open(queries)
    await until(files.inputs)
    files.kind.set_value(Kind.RANK)
    files.kind.picked.emit(Kind.RANK)
    await until(files.missing)
    await until(lambda: not dialog.tasks.is_running("choose"))
    assert files.missing() and not dialog.add_button.isEnabled() and files.add_second.isVisible()
    files.open(queries, contexts)
    await until(files.inputs)
    assert [name.whole_text() for name in files.names] == ["queries.csv", "answers.csv"]
    click(dialog.add_button)
    await until(lambda: [job.state for job in stage.program.ledger.jobs()] == [JobState.DONE])
    (job,) = stage.program.ledger.jobs()
    assert (job.queries, job.texts) == (2, 4)
    await until(lambda: stage.person.sees("cancel an order"))
    await until(lambda: not stage.workspace.results.pages["ranking"].view.tasks.running())
