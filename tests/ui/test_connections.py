"""The page of connections: accounts, a Worker, a gateway, their secrets and tests; and the check of the service."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.practice.app import PREFIX
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system import logs
from cfbatch_gui.core.workers_ai.probe import Outcome
from cfbatch_gui.ui.connections.connection_cards import SavedCard, url_of
from cfbatch_gui.ui.connections.connection_dialogs import FindingRow, ServiceCheck, WorkerGuide
from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from cfbatch_gui.words.connections import ACCOUNT_PAGE, TOKEN_PAGE
from tests.canary import OTHER_TOKEN as OTHER
from tests.canary import SECRET, TOKEN
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.conftest import ACCOUNT, GATEWAY, GATEWAY_TOKEN, CollectingRoom, Endpoints
from tests.support import faults
from tests.support.clients import save_cloudflare
from tests.support.faulty_service import FaultyService
from tests.support.keyrings import MemoryKeyring
from tests.support.practice import PracticeServer
from tests.support.sentences import shows
from tests.ui.connections import (
    WORKER,
    answer,
    answer_line,
    begin,
    choose,
    choose_path,
    click,
    entries,
    everything_said,
    field,
    offered,
    opened_page,
    paste,
    save,
    settled,
    states,
    until,
)

UNTESTED = ["Not tested yet"] * 4
Open = Callable[..., Awaitable[ConnectionPage]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with PracticeServer(tmp_path_factory.mktemp("service"), token=TOKEN) as server:
        yield server.url


async def test_saving_gives_four_check_results_and_makes_it_the_one_for_new_jobs(
    open_page: Open, service: str, backend: MemoryKeyring
) -> None:
    page = await open_page(service)
    changes: list[None] = []
    page.changed.connect(lambda: changes.append(None))
    assert states(page.cloudflare) == UNTESTED
    assert page.practice.choice.isChecked() and not page.cloudflare.choice.isEnabled()

    paste(field(page.cloudflare, "account_id"), ACCOUNT)
    QTest.keyClicks(field(page.cloudflare, "secret"), TOKEN)
    await save(page, page.cloudflare)

    assert states(page.cloudflare) == ["Yes"] * 4
    assert page.cloudflare.state.text() == "Connected"
    account, secret = field(page.cloudflare, "account_id"), page.cloudflare.lines["secret"]
    assert secret.remove.isVisible() and secret.field.text() == ""
    assert backend.stored == {("CF Batch", "cloudflare"): TOKEN}
    assert page.cloudflare.choice.isChecked() and page.header.state.text() == "New jobs use Cloudflare"
    assert len(changes) == 2, "it was saved, and after its test it is the one for new jobs"
    assert page.cloudflare.save_button.isHidden() and page.cloudflare.test_button.text() == "Test again"

    changes.clear()
    click(page.practice.choice)
    await until(lambda: changes)
    assert page.program.settings.connection == "practice"
    assert page.header.state.text() != "New jobs use Cloudflare"
    click(page.cloudflare.choice)
    await until(lambda: len(changes) == 2)
    assert page.program.settings.connection == "cloudflare"

    QTest.keyClicks(secret.field, OTHER)
    paste(account, "f" * 32)
    page.hide()
    page.show()
    await until(lambda: not page.tasks.is_running("refresh"))
    assert secret.field.text() == OTHER and account.text() == "f" * 32 and page.cloudflare.save_button.isVisible()
    secret.field.clear()
    paste(account, ACCOUNT)
    assert page.cloudflare.save_button.isHidden()
    for words in ("Cancel", "Remove"):
        assert backend.stored
        click(secret.remove)
        await answer(page, words)
        await until(lambda: not page.tasks.is_running("account"))
    assert backend.stored == {} and not secret.remove.isVisible() and account.text() == ACCOUNT
    assert page.practice.choice.isChecked() and not page.cloudflare.is_ready
    assert states(page.cloudflare) == UNTESTED


async def test_the_token_is_never_seen_again(
    open_page: Open, service: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    page = await open_page(service)
    handler = logs.set_up(page.program.paths, level=logging.DEBUG)
    for name in ("qasync", "asyncio", "httpcore", "httpx", "keyring"):  # which the program itself keeps quiet
        caplog.set_level(logging.DEBUG, name)
    loop = asyncio.get_running_loop()
    loop.set_debug(True)  # then qasync says what it calls, and with what
    try:
        block = page.cloudflare.lines["secret"]
        for token in (OTHER, TOKEN):  # refused, then accepted
            QTest.keyClicks(block.field, token)
            block.eye.trigger()
            paste(field(page.cloudflare, "account_id"), ACCOUNT)
            click(page.cloudflare.save_button)
            await until(lambda: not page.tasks.is_running("account"))
            block.field.undo()
            assert block.field.echoMode() == QLineEdit.EchoMode.Password
            assert token not in everything_said(page) + everything_said(page._notices) + caplog.text
    finally:
        loop.set_debug(False)
        logs.shut_down(handler)
    assert "qasync" in caplog.text
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert ACCOUNT.encode() in written
    assert TOKEN.encode() not in written and OTHER.encode() not in written


async def test_what_has_the_wrong_form_is_said_beside_its_field_and_an_id_is_cleaned(
    open_page: Open, backend: MemoryKeyring
) -> None:
    page = await open_page()
    card = page.cloudflare
    click(card.save_button)
    missing = card.lines["account_id"].hint()
    assert missing and shows(card.lines["secret"].hint(), "there_is_no_api_token_yet")

    QTest.keyClicks(field(card, "account_id"), "12345")
    assert card.lines["account_id"].hint() != missing
    QTest.keyClicks(field(card, "secret"), "cfk_0123456789abcdefghijklmnop")
    click(card.save_button)
    assert shows(card.lines["account_id"].hint(), "is_not_account_id_32_characters")
    assert shows(card.lines["secret"].hint(), "is_global_api_key_may_do")
    assert field(card, "account_id").text() == "12345" and field(card, "secret").text().startswith("cfk_")
    assert backend.stored == {} and states(page.cloudflare) == UNTESTED

    for pasted in (f'"{ACCOUNT}"', f"  {ACCOUNT.upper()} \n", f"https://dash.cloudflare.com/{ACCOUNT}/ai/workers-ai"):
        paste(field(card, "account_id"), pasted)
        assert field(card, "account_id").text() == ACCOUNT


async def test_what_the_environment_says_cannot_be_changed_here(open_page: Open, service: str) -> None:
    page = await open_page(service, CLOUDFLARE_API_TOKEN=TOKEN, CLOUDFLARE_ACCOUNT_ID=ACCOUNT)
    card = page.cloudflare
    assert field(card, "account_id").isReadOnly() and field(card, "account_id").text() == ACCOUNT
    assert "CLOUDFLARE_ACCOUNT_ID" in card.lines["account_id"].hint()
    assert field(card, "secret").isReadOnly() and card.lines["secret"].remove.isHidden()
    assert card.save_button.isHidden() and service in everything_said(page)
    assert not any("Cloudflare alone" in label.text() for label in card.findChildren(QLabel) if label.isVisible())
    assert TOKEN not in everything_said(page)
    click(card.test_button)
    await until(lambda: states(page.cloudflare) == ["Yes"] * 4)


async def test_the_links_lead_to_the_right_pages_and_without_a_browser_the_address_can_be_copied(
    open_page: Open,
) -> None:
    opened: list[str] = []

    def browser(address: str) -> bool:
        opened.append(address)
        return len(opened) < 3

    page = await open_page(browser=browser)
    for block in (page.cloudflare.lines["account_id"], page.cloudflare.lines["secret"]):
        click(block.link)
    assert opened == [ACCOUNT_PAGE, TOKEN_PAGE]
    assert ACCOUNT_PAGE in page.cloudflare.lines["account_id"].link.toolTip()
    assert page._notices.texts() == []

    click(page.cloudflare.lines["secret"].link)  # no browser was found
    assert len(page._notices.texts()) == 1
    page._notices.bars()[0].links()[0].click()
    assert QGuiApplication.clipboard().text() == TOKEN_PAGE

    for address in (ACCOUNT_PAGE, TOKEN_PAGE):
        assert bytes(url_of(address).toEncoded().data()).decode() == address


@pytest.fixture
async def endpoints(tmp_path: Path) -> AsyncIterator[Endpoints]:
    async with stand_ins.opened(stand_ins.service(tmp_path / "service")) as endpoints:
        yield endpoints


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[tuple[CollectingRoom, str]]:
    """A Worker with a collecting room, and its address."""
    room = CollectingRoom(stand_ins.service(tmp_path / "service"))
    async with FaultyService(room.application) as service:
        yield room, service.url.removesuffix(PREFIX)


async def test_a_worker_is_added_tested_used_for_new_jobs_and_collects(
    open_page: Open, room: tuple[CollectingRoom, str], backend: MemoryKeyring
) -> None:
    page = await open_page()
    card = begin(page, WORKER)
    assert card.record.name == "My Worker" and states(card) == UNTESTED
    assert not card.choice.isEnabled()
    paste(field(card, "url"), room[1])
    QTest.keyClicks(field(card, "secret"), SECRET)
    await save(page, card)
    assert states(card) == ["Yes"] * 4 and card.state.text() == "Connected"
    assert card.lines["secret"].remove.isVisible()
    saved = page.program.address_book.saved()[1]
    assert (saved.name, saved.kind, saved.url) == ("My Worker", "worker", room[1])
    assert backend.stored == {("CF Batch", saved.id): SECRET}
    assert card.choice.isChecked() and page.program.settings.connection == saved.id
    assert page.header.state.text() == "New jobs use My Worker"
    assert SECRET not in everything_said(page)
    assert not saved.paid_plan and card.save_button.isHidden()
    assert card.checks.rows[4].word.text() == "Yes" and card.checks.rows[4].note.text()
    assert not card.rows["keep_days"].field.isVisible()
    card.rows["paid_plan"].field.click()
    card.rows["collects"].field.click()
    assert card.rows["keep_days"].field.isVisible() and card.save_button.isVisible()
    card.rows["keep_days"].field.selectAll()
    QTest.keyClicks(card.rows["keep_days"].field, "7")
    await save(page, card)
    saved = page.program.address_book.saved()[1]
    assert (saved.paid_plan, saved.collects, saved.keep_days) == (True, True, 7) and card.save_button.isHidden()
    assert page.program.address_book.connection(saved.id).body_bytes > 9_000_000
    assert card.rows["keep_days"].field.value() == 7 and card.checks.rows[4].note.text() == ""
    wanted: list[str] = []
    page.account_wanted.connect(wanted.append)
    choose(card, "In your account…")
    assert wanted == [saved.id]


async def test_a_gateway_is_marked_and_its_last_tick_stays_open(
    open_page: Open, endpoints: Endpoints, backend: MemoryKeyring
) -> None:
    page = await open_page(endpoints.locked_gateway.url)
    card = begin(page, "AI Gateway")
    assert card.mark.text() and card.mark.isVisible()
    paste(field(card, "account_id"), ACCOUNT)
    QTest.keyClicks(field(card, "gateway"), GATEWAY)
    QTest.keyClicks(field(card, "secret"), TOKEN)
    QTest.keyClicks(field(card, "gateway_secret"), GATEWAY_TOKEN)
    card.rows["by_header"].field.click()
    await save(page, card)
    assert states(card)[0] == "Yes" and states(card)[3] == "Not certain"
    assert shows(card.checks.rows[3].note.text(), "gateway_answers_cloudflare_does_not_say")
    saved = page.program.address_book.saved()[1]
    assert saved.by_header and saved.gateway == GATEWAY
    assert backend.stored == {("CF Batch", saved.id): TOKEN, ("CF Batch", f"{saved.id}/gateway"): GATEWAY_TOKEN}
    assert page.program.settings.connection != saved.id  # nobody is moved to an unconfirmed way

    click(card.lines["gateway_secret"].remove)
    await answer(page, "Remove")
    await settled(page)
    assert backend.stored == {("CF Batch", saved.id): TOKEN} and not card.lines["gateway_secret"].remove.isVisible()


async def test_more_than_a_field_can_hold_is_understood_wherever_it_is_pasted(open_page: Open) -> None:
    page = await open_page()
    card = page.cloudflare
    both = f"CLOUDFLARE_ACCOUNT_ID={ACCOUNT} CLOUDFLARE_API_TOKEN={TOKEN}"
    paste(field(card, "secret"), both)
    assert (field(card, "account_id").text(), field(card, "secret").text()) == (ACCOUNT, TOKEN)
    field(card, "account_id").clear()
    field(card, "secret").clear()
    paste(field(card, "account_id"), both)
    assert (field(card, "account_id").text(), field(card, "secret").text()) == (ACCOUNT, TOKEN)
    paste(field(card, "account_id"), f"export CLOUDFLARE_API_TOKEN={TOKEN}")
    assert TOKEN not in field(card, "account_id").text() and field(card, "secret").text() == TOKEN

    for name in ("account_id", "secret"):
        field(card, name).clear()
    QGuiApplication.clipboard().setText("two words")
    click(page.paste_button)
    assert len(page._notices.texts()) == 1
    QGuiApplication.clipboard().setText("curl -H 'X-Auth-Key: cfk_0123456789abcdefghijklmnop'")
    click(page.paste_button)
    assert shows(page.cloudflare.found.text(), "is_global_api_key_may_do")
    assert field(page.cloudflare, "secret").text() == ""

    paste(
        field(page.cloudflare, "account_id"),
        f'curl https://batch.mine.workers.dev/ai/run/@cf/baai/bge-m3 -H "Authorization: Bearer {SECRET}"',
    )
    worker = page.cards[0]
    assert worker.record.kind == "worker" and field(worker, "url").text() == "https://batch.mine.workers.dev"
    assert field(worker, "secret").text() == SECRET and field(page.cloudflare, "account_id").text() == ""
    QGuiApplication.clipboard().setText(
        f"https://gateway.ai.cloudflare.com/v1/{ACCOUNT}/my-gateway/workers-ai/@cf/baai/bge-m3"
    )
    click(page.paste_button)
    gateway = page.cards[1]
    assert (gateway.record.kind, field(gateway, "account_id").text(), field(gateway, "gateway").text()) == (
        "gateway",
        ACCOUNT,
        "my-gateway",
    )


async def test_rename_and_remove(open_page: Open, endpoints: Endpoints, backend: MemoryKeyring, tmp_path: Path) -> None:
    page = await open_page()
    unexpected: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unexpected.append(context))
    for _ in range(2):  # the states of those that stay are read while the card of the one that goes is deleted
        card = begin(page, WORKER)
        paste(field(card, "url"), endpoints.worker_url)
        QTest.keyClicks(field(card, "secret"), SECRET)
        await save(page, card)
    other = page.cards[0]
    choose(other, "Remove…")
    await answer(page, "Remove")
    await settled(page)
    assert page.cards == [card] and other not in page.findChildren(SavedCard) and not unexpected
    choose(card, "Rename…")
    await answer_line("Batch in Berlin")
    await settled(page)
    assert card.record.name == "Batch in Berlin" and page.program.address_book.saved()[1].name == "Batch in Berlin"

    program = page.program
    connection = card.record.id
    job = program.drafts.create(Kind.RANK, "Waits", "@cf/baai/bge-m3", connection)
    for words in ("Cancel", "Remove"):
        assert backend.stored
        choose(card, "Remove…")
        await answer(page, words)
        await settled(page)
    assert backend.stored == {} and page.cards == [] and program.settings.connection == "practice"
    await until(page.practice.choice.isChecked)
    assert program.ledger.job(job.id).state is JobState.DRAFT


async def test_the_worker_is_saved_and_its_secret_handed_over(open_page: Open, tmp_path: Path) -> None:
    page = await open_page()
    card = begin(page, WORKER)
    click(card.lines["url"].link)
    guide = page.window().findChild(WorkerGuide)
    assert isinstance(guide, WorkerGuide)
    folder = tmp_path / "cf-batch-worker"
    for is_first in (True, False):
        click(guide.save_button)
        await choose_path(guide, tmp_path)
        await until(lambda: not page.tasks.is_running("worker") and folder.name in guide.saved.text())
        assert guide.saved.text().startswith("Saved") is is_first
    for path in resource("worker").rglob("*"):
        assert path.is_dir() or (folder / path.relative_to(resource("worker"))).read_bytes() == path.read_bytes()

    click(guide.copy_secret)
    secret = QGuiApplication.clipboard().text()
    assert field(card, "secret").text() == secret and len(secret) >= 43
    QTest.keyClick(guide, Qt.Key.Key_Escape)
    QGuiApplication.clipboard().clear()


class Desk:
    """A page with a connected account at a stand-in."""

    def __init__(self, program: Program, page: ConnectionPage, faulty: FaultyService) -> None:
        self.program, self.page, self.faulty = program, page, faulty
        self.changes: list[bool] = []
        page.changed.connect(lambda: self.changes.append(True))

    def open(self) -> ServiceCheck:
        click(self.page.cloudflare.check_button)
        return self.dialog()

    def dialog(self) -> ServiceCheck:
        (dialog,) = self.page.window().findChildren(ServiceCheck)
        return dialog

    async def check(self, dialog: ServiceCheck) -> None:
        click(dialog.start_button)
        await until(lambda: dialog.save_button.isVisible() or dialog.problem.isVisible())

    @property
    def submissions(self) -> list[dict[str, Any]]:
        path = self.program.paths.submissions
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


@pytest.fixture
async def desk(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    """`request.param`, where there is one, is how many seconds a batch is queued."""
    queued: float = getattr(request, "param", 0.0)
    async with (
        FaultyService(stand_ins.service(tmp_path / "service", seconds_queued=queued)) as faulty,
        opened_page(
            tmp_path, MemoryKeyring(), faulty.url, prepare=lambda program: save_cloudflare(program, ACCOUNT, TOKEN)
        ) as page,
    ):
        yield Desk(page.program, page, faulty)


async def test_it_says_its_price_before_anything_is_sent_and_all_that_can_be_seen_is_held(
    desk: Desk, tmp_path: Path
) -> None:
    dialog = desk.open()
    assert dialog.price.text() == "It costs under $0.001." and not dialog.save_button.isVisible()
    click(dialog.close_button)
    await until(lambda: not desk.page.window().findChildren(ServiceCheck))
    assert not desk.faulty.arrivals
    dialog = desk.open()
    await desk.check(dialog)
    assert {each.finding.outcome for each in dialog.findChildren(FindingRow)} == {Outcome.HELD}
    assert len(desk.faulty.submits) == 4
    assert len([each for each in desk.submissions if each["request_id"]]) == 3
    assert desk.changes
    said = everything_said(dialog)
    assert TOKEN not in said and ACCOUNT not in said
    assert "Every element repeats the “external_reference” of its request." in said and "`" not in said
    click(dialog.save_button)
    await choose_path(dialog, tmp_path / "report.json")
    await until(dialog.saved.isVisible)
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["outcomes"]["not held"] == 0


async def test_what_does_not_hold_comes_first_with_what_happens_then(desk: Desk) -> None:
    desk.faulty.follow(faults.mutate(on="poll", times=0, how="references_null"))
    dialog = desk.open()
    await desk.check(dialog)
    first, *others = dialog.findChildren(FindingRow)
    assert first.finding.assumption.id == "references" and first.finding.outcome is Outcome.NOT_HELD
    assert Outcome.NOT_HELD not in [each.finding.outcome for each in others]
    assert first.finding.assumption.otherwise.rpartition(". ")[2] in first.note.text()
    assert first.accessibleName().startswith(first.word.text()) and first.accessibleName().endswith(first.note.text())
    assert desk.program.connections.learned("cloudflare", "@cf/baai/bge-m3").references is False


@pytest.mark.parametrize("desk", [3_600.0], indirect=True)
async def test_closing_ends_the_check_and_what_was_sent_is_written_down(desk: Desk) -> None:
    dialog = desk.open()
    click(dialog.start_button)
    await until(lambda: dialog.doing.text() == message("waiting_results"))
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    await until(lambda: not desk.page.window().findChildren(ServiceCheck))
    await until(lambda: not desk.page.tasks.running())
    assert len([each for each in desk.submissions if each["request_id"]]) == 3
    assert len(desk.faulty.submits) == 3 and not desk.changes


async def test_a_worker_and_a_gateway_are_kinds_for_developers(open_page: Open) -> None:
    page = await open_page()
    assert offered(page.new_button.menu()) == {"Cloudflare account"}
    entries(page.new_button.menu())["Cloudflare account"].trigger()
    assert [card.record.kind for card in page.cards] == ["cloudflare"]
    page.program.change_settings(for_developers=True)
    page.refresh()
    await settled(page)
    assert len(offered(page.new_button.menu())) == 3
