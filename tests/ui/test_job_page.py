"""The page of a job that was sent: its tabs, its progress, what needs the user, and jobs that leave the usual way."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from cfbatch_gui.core.errors import Action
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import STOPPED_HERE, BatchState, Job, JobState, Purpose
from cfbatch_gui.core.messages import message
from cfbatch_gui.ui.jobs.elsewhere import AttachDialog
from cfbatch_gui.ui.jobs.progress_view import RawAnswerDialog
from cfbatch_gui.ui.settings import DATA, SettingsPage, TrafficPage
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.words.purposes import other_uses
from tests.canary import TOKEN
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.conftest import ACCOUNT
from tests.screen.stage import Stage, opened
from tests.support.clients import save_cloudflare
from tests.support.faulty_service import FaultyService
from tests.support.sentences import shows
from tests.ui.connections import choose_path, click, entries, pick, shown, until
from tests.ui.job_page_driver import MODEL, TEXTS, TIED, JobPageDriver, open_job_page


@pytest.fixture
async def slow_desk(tmp_path: Path) -> AsyncIterator[JobPageDriver]:
    async with open_job_page(tmp_path, practice_times=(0.3, 0.5)) as driver:
        yield driver


async def send(driver: JobPageDriver, content: str, kind: Kind) -> Job:
    job = await driver.draft(content, kind)
    await driver.program.actions.send(job.id)
    driver.workspace.open_job(job.id)
    return job


async def test_another_kind_of_job_has_other_tabs_and_practice_has_no_price(driver: JobPageDriver) -> None:
    await driver.show(await driver.finished(TIED, Kind.RANK))
    facts = driver.page.header.facts()
    assert "2 queries · 6 candidates · Practice · finished in " in facts
    assert "$" not in facts

    assert driver.page.tabs.current() == "ranking"
    await driver.show(await driver.finished(TEXTS, Kind.EMBED, "Catalogue"))
    assert driver.page.tabs.current() == "vectors"
    assert not driver.page.tabs.is_shown("ranking")
    await until(lambda: driver.vectors.list.rows.rowCount() == 4)


async def test_a_job_of_texts_is_used_for_something_else_without_sending(driver: JobPageDriver) -> None:
    job = await driver.finished(TEXTS, Kind.EMBED)
    await driver.show(job)
    page, sent = driver.page, driver.program.paths.submissions.read_bytes()
    for purpose, tab in ((Purpose.GROUPS, "groups"), (Purpose.MATCH, "matches"), (Purpose.VECTORS, "vectors")):
        uses = other_uses(driver.program.ledger.job(job.id), has_lists=False)
        offered = entries(page.use_button.menu())
        assert list(offered) == [words for words, _ in uses]
        next(offered[words] for words, each in uses if each is purpose).trigger()
        await until(lambda tab=tab: page.tabs.current() == tab)
        await driver.idle()
    now = driver.program.ledger.job(job.id)
    assert now.batches == job.batches and driver.program.paths.submissions.read_bytes() == sent
    assert now.purpose is Purpose.VECTORS


async def test_stop_watching_and_carry_on(slow_desk: JobPageDriver) -> None:
    job = await send(slow_desk, TIED, Kind.RANK)
    page = slow_desk.page
    QTest.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    await until(lambda: page.header.state.text() == "Paused")
    assert [bar.text() for bar in page.progress.bars] == [STOPPED_HERE]
    QTest.mouseClick(page.carry_on_button, Qt.MouseButton.LeftButton)
    await until(lambda: slow_desk.program.ledger.job(job.id).state is JobState.DONE)
    await until(lambda: not page.progress.bars)


async def test_details_hold_what_someone_will_ask_for_and_the_answer_as_it_came(driver: JobPageDriver) -> None:
    job = await driver.finished(TIED, Kind.RANK)
    await driver.show(job)
    assert not driver.page.tabs.is_shown("details")
    entries(driver.page.header.more.menu())["Details"].trigger()
    await until(lambda: dict(driver.page.details.lines())["Tokens expected"] != "not known")
    lines = dict(driver.page.details.lines())
    assert lines["Source"] == "Support articles.csv · 6 rows"
    assert "SHA-256" not in " ".join(lines), "until developers ask for it"
    assert lines["Tokens counted"] == str(job.tokens) and "$" not in lines["Price"]
    QTest.mouseClick(driver.page.details.copy_button, Qt.MouseButton.LeftButton)
    assert job.batches[0].request_id in QGuiApplication.clipboard().text()

    driver.page.tabs.choose("progress")
    table = driver.page.progress.table
    table.selectRow(0)
    QTest.keyClick(table, Qt.Key.Key_Return)
    dialog = table.findChild(RawAnswerDialog)
    assert isinstance(dialog, RawAnswerDialog)
    await until(lambda: '"success":true' in dialog.text.toPlainText().replace(" ", ""))
    assert dialog.text.isReadOnly()
    dialog.accept()


async def job_with(driver: JobPageDriver, state: BatchState, **changes: object) -> Job:
    """A job that ran to its end, made to look as if its batch had not."""
    job = await driver.finished(TIED, Kind.RANK)
    fields = {"state": state, "tokens": 0, **changes}
    shown = driver.pretend(job, [replace(job.batches[0], **fields)])  # type: ignore[arg-type]
    await driver.show(shown)
    return shown


async def test_what_was_typed_stays_when_the_job_changes_and_an_unknown_outcome_can_be_dismissed(
    driver: JobPageDriver,
) -> None:
    await job_with(driver, BatchState.OUTCOME_UNKNOWN, error="No answer came.")
    (card,) = driver.page.progress.cards.values()
    QTest.keyClicks(card.id_field, "768f15b7")
    job = driver.page.job()
    assert job is not None
    await driver.show(driver.pretend(replace(job, name="Another name"), job.batches))
    assert driver.page.progress.cards[1] is card
    assert card.id_field.text() == "768f15b7"

    QTest.mouseClick(card.dismiss_button, Qt.MouseButton.LeftButton)
    await until(lambda: driver.program.ledger.job(job.id).batches[0].state is BatchState.DISMISSED)
    await until(lambda: len(driver.page.progress.bars) == 1)


async def test_a_failed_batch_says_why_and_is_sent_again(driver: JobPageDriver) -> None:
    sentence = "The model reads at most 8,192 tokens of a text, and one is longer."
    job = await job_with(driver, BatchState.FAILED, error=sentence, error_detail="code 5023", request_id="")
    assert driver.page.tabs.current() == "progress"
    (bar,) = driver.page.progress.bars
    assert bar.text() == f"Batch 1: {sentence}"
    copy, again = bar.links()
    QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == f"{sentence}\ncode 5023"
    QTest.mouseClick(again, Qt.MouseButton.LeftButton)
    await until(lambda: driver.program.ledger.job(job.id).state is JobState.DONE)
    assert not driver.page.progress.bars


async def test_batches_with_the_same_reason_are_one_line(driver: JobPageDriver) -> None:
    job = await driver.finished(TIED, Kind.RANK)
    reason = message("not_sent_because_batch_number_was", number=2)
    failed = replace(job.batches[0], state=BatchState.FAILED, error=reason)
    batches = [job.batches[0], *(replace(failed, number=number) for number in (3, 4, 5, 7))]
    await driver.show(driver.pretend(job, batches))
    texts = [bar.text() for bar in driver.page.progress.bars]
    assert texts == [f"Batches 3–5, 7: {reason}"]


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
async def stage(tmp_path: Path, theme: Theme, service: FaultyService) -> AsyncIterator[Stage]:
    """The whole window, with an account that is connected."""
    async with opened(tmp_path / "data", theme, service=service.url) as stage:
        await save_cloudflare(stage.program, ACCOUNT, TOKEN)
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


async def test_a_batch_that_the_queue_did_not_take_is_run_synchronously(driver: JobPageDriver) -> None:
    refused = {"request_id": "", "error": REFUSED, "error_action": str(Action.RUN_SYNCHRONOUSLY)}
    job = await job_with(driver, BatchState.FAILED, **refused)
    (bar,) = driver.page.progress.bars
    (at_once,) = bar.links()
    assert REFUSED in bar.text()
    QTest.mouseClick(at_once, Qt.MouseButton.LeftButton)
    await until(lambda: driver.program.ledger.job(job.id).state is JobState.DONE)
    assert all(batch.at_once for batch in driver.program.ledger.job(job.id).batches)


async def test_a_job_is_copied_as_code_with_its_requests(driver: JobPageDriver, tmp_path: Path) -> None:
    job = await driver.finished(TIED, Kind.RANK)
    await driver.show(job)
    assert not CODE.keys() & entries(driver.page.header.more.menu()).keys()
    driver.program.change_settings(for_developers=True)
    for entry, marks in CODE.items():
        entries(driver.page.header.more.menu())[entry].trigger()
        copied = QGuiApplication.clipboard().text()
        assert all(mark in copied for mark in marks), copied
        assert driver.notices.texts()[0].startswith("Copied.")
    target = tmp_path / "code"
    target.mkdir()
    bar = driver.notices.bars()[0]
    QTest.mouseClick(bar.links()[0], Qt.MouseButton.LeftButton)
    await choose_path(driver.page, target)
    await until(lambda: "Wrote 1 file to “code”." in driver.notices.texts())
    body = json.loads((target / "batch-0001.json").read_bytes())
    assert len(body["requests"]) == 2
    QGuiApplication.clipboard().clear()


async def test_a_job_begun_by_curl_is_added_and_its_results_shown(stage: Stage, service: FaultyService) -> None:
    answer = await by_curl(service)
    request_id = json.loads(answer)["result"]["request_id"]
    stage.workspace.menus.attach()
    dialog = await shown(AttachDialog)
    await until(lambda: dialog.connection.count() == 2)
    assert dialog.connection.currentText() == "Cloudflare" and not dialog.add_button.isEnabled()
    dialog.text.setPlainText("good morning!")
    assert shows(dialog.understood.text(), "holds_no_request_id_paste_id") and not dialog.add_button.isEnabled()
    dialog.text.setPlainText(f"$ curl https://example.org …\n{answer}\n")
    assert dialog.add_button.isEnabled() and dialog.model.text() == MODEL
    click(dialog.add_button)
    await until(lambda: [job.state for job in stage.program.ledger.jobs()] == [JobState.DONE])
    (job,) = stage.program.ledger.jobs()
    assert job.attached and job.state is JobState.DONE and job.texts == 4
    assert job.name.startswith("Added job, ") and job.batches[0].request_id == request_id
    await until(lambda: stage.workspace.window.library.opened_job() == job.id)
    await until(lambda: stage.person.sees("Query 1"))
    assert not entries(stage.workspace.job_page.header.more.menu())["Duplicate"].isEnabled()
    await until(lambda: not stage.workspace.job_page.view("ranking").tasks.running())


async def test_what_leaves_this_computer_is_listed(stage: Stage, service: FaultyService) -> None:
    window, workspace = stage.workspace.window, stage.workspace
    window.notices.connection_wanted.emit()
    await until(lambda: isinstance(window.pages.currentWidget(), SettingsPage))
    workspace.settings_page.tabs.choose(DATA)
    click(workspace.settings_page.traffic_link)
    await until(lambda: isinstance(window.pages.currentWidget(), TrafficPage))
    page = workspace.traffic_page
    await until(lambda: not page.tasks.is_running("read"))
    assert page.empty.text() and page.empty.isVisible()
    await stage.program.connections.check("cloudflare", MODEL)
    click(page.refresh_button)
    await until(page.rows.rows)
    (row,) = page.rows.rows()
    assert row.host in service.url and row.connection == "cloudflare" and row.count >= 1
    assert page.rows.index(0, 1).data() == "Cloudflare" and row.what == "check" and not page.empty.isVisible()
    click(page.done_button)
    assert window.pages.currentWidget() is workspace.settings_page


async def test_a_synchronous_request_of_unknown_outcome_asks_for_no_id(driver: JobPageDriver) -> None:
    await job_with(driver, BatchState.OUTCOME_UNKNOWN, at_once=True, request_id="", error="No answer came.")
    (card,) = driver.page.progress.cards.values()
    assert not card.id_field.isVisible() and not card.adopt_button.isVisible()
    assert card.again_button.isVisible() and card.dismiss_button.isVisible()


async def test_queries_and_contexts_of_two_files_and_a_folder_of_texts(
    stage: Stage, service: FaultyService, tmp_path: Path
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
    dialog = await shown(AttachDialog)
    await until(lambda: dialog.connection.count() == 2)
    dialog.text.setPlainText(request_id)
    files = dialog.files
    files.open(folder)
    await until(files.inputs)
    assert files.kind.value() == Kind.EMBED and files.names.whole_text() == "texts"
    click(files.remove)
    assert files.choose_folder.isVisible() and files.inputs() is None and dialog.add_button.isEnabled()
    files.open(queries)
    await until(files.inputs)
    pick(files.kind, Kind.RANK)
    await until(files.missing)
    await until(lambda: not dialog.tasks.is_running("read"))
    assert files.missing() and not dialog.add_button.isEnabled() and files.add_second.isVisible()
    files.open(queries, contexts)
    await until(files.inputs)
    assert files.names.whole_text() == "queries.csv and answers.csv"
    click(dialog.add_button)
    await until(lambda: [job.state for job in stage.program.ledger.jobs()] == [JobState.DONE])
    (job,) = stage.program.ledger.jobs()
    assert (job.queries, job.texts) == (2, 4)
    await until(lambda: stage.person.sees("cancel an order"))
    await until(lambda: not stage.workspace.job_page.view("ranking").tasks.running())
